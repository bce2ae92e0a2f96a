// SPDX-License-Identifier: Apache-2.0
//! ELF files: loading into memory, symbols.

use elf::abi::{EM_MIPS, ET_DYN, ET_EXEC, PT_LOAD, STT_FUNC, STT_NOTYPE};
use elf::endian::AnyEndian;
use elf::ElfBytes;

use crate::memory::Memory;

pub struct Image {
    pub entry: u32,
    pub symbols: Symbols,
}

/// Symbols sorted by address.
#[derive(Default, Clone)]
pub struct Symbols(Vec<Symbol>);

#[derive(Clone)]
struct Symbol {
    at: u32,
    size: u32,
    function: bool,
    name: String,
}

impl Symbols {
    pub fn address(&self, name: &str) -> Option<u32> {
        self.0.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.at)
    }

    /// The function that contains the address.
    pub fn function(&self, at: u32) -> Option<&str> {
        let end = self.0.partition_point(|symbol| symbol.at <= at);
        let symbol = self.0[..end].iter().rev().find(|symbol| symbol.function || symbol.size == 0)?;
        (symbol.size == 0 || at - symbol.at < symbol.size).then_some(symbol.name.as_str())
    }

    pub fn extend(&mut self, other: Symbols) {
        self.0.extend(other.0);
        self.0.sort_by_key(|symbol| symbol.at);
    }
}

/// The physical address of an address in kseg0, kseg1 or below.
fn physical(address: u32) -> u32 {
    match address >> 29 {
        4 | 5 => address & 0x1FFF_FFFF,
        _ => address,
    }
}

/// Architectures (e_flags 31:28) of Release 6: MIPS32 and MIPS64.
const RELEASE_6: [u32; 2] = [9, 10];

fn check(file: &ElfBytes<AnyEndian>) -> Result<(), String> {
    use elf::file::Class;
    match file.ehdr {
        ref header if header.e_machine != EM_MIPS => Err(format!("machine {} is not MIPS", header.e_machine)),
        ref header if header.class != Class::ELF32 => Err("the file is for 64-bit MIPS; this core is MIPS32".into()),
        ref header if header.endianness != AnyEndian::Little => {
            Err("the file is big-endian; this core is little-endian".into())
        }
        ref header if RELEASE_6.contains(&(header.e_flags >> 28)) => {
            Err("the file is for MIPS Release 6; this core implements Release 5".into())
        }
        ref header if header.e_type != ET_EXEC && header.e_type != ET_DYN => Err("the file is not linked".into()),
        _ => Ok(()),
    }
}

/// Ranges loaded from files: first address and end.
pub type Taken = Vec<(u64, u64)>;

/// Whether the data differs from data that this or another file has loaded to the same addresses.
fn contradicts(mem: &Memory, taken: &Taken, at: u32, data: &[u8]) -> bool {
    let first = u64::from(at);
    let within = |(from, to): &&(u64, u64)| *from < first + data.len() as u64 && first < *to;
    taken.iter().filter(within).any(|(from, to)| {
        let (from, to) = (first.max(*from), (first + data.len() as u64).min(*to));
        (from..to).any(|n| mem.peek(n as u32) != Some(data[(n - first) as usize]))
    })
}

/// Loads a file's segments at their physical addresses. `taken` holds the ranges of all files
/// loaded so far. An error is one line.
pub fn load(mem: &mut Memory, taken: &mut Taken, bytes: &[u8]) -> Result<Image, String> {
    let file = ElfBytes::<AnyEndian>::minimal_parse(bytes).map_err(|error| format!("not an ELF file ({error})"))?;
    check(&file)?;
    let segments = file.segments().ok_or("the file has no segment to load")?;
    let segments: Vec<_> =
        segments.iter().filter(|segment| segment.p_type == PT_LOAD && segment.p_memsz != 0).collect();
    if segments.is_empty() {
        return Err("the file has no segment to load".into());
    }
    for segment in segments {
        let data = file.segment_data(&segment).map_err(|error| format!("invalid segment ({error})"))?;
        let at = physical(segment.p_paddr as u32);
        let zeroes = vec![0; (segment.p_memsz - segment.p_filesz.min(segment.p_memsz)).min(1 << 28) as usize];
        if contradicts(mem, taken, at, data) {
            return Err(format!("the segment at 0x{at:08x} of {} bytes overlaps different data", data.len()));
        }
        taken.push((at.into(), u64::from(at) + data.len() as u64));
        let rest = at.wrapping_add(data.len() as u32);
        if !mem.load(at, data) || !mem.load(rest, &zeroes) {
            return Err(format!("the segment at 0x{at:08x} of {} bytes is not entirely in memory", segment.p_memsz));
        }
    }
    Ok(Image { entry: file.ehdr.e_entry as u32, symbols: symbols(&file)? })
}

fn symbols(file: &ElfBytes<AnyEndian>) -> Result<Symbols, String> {
    let table = file.symbol_table().map_err(|error| format!("invalid symbol table ({error})"))?;
    let Some((table, names)) = table else { return Ok(Symbols::default()) };
    let wanted = table.iter().filter(|symbol| symbol.st_shndx != 0 && symbol.st_symtype() <= STT_FUNC);
    let mut all: Vec<Symbol> = wanted
        .filter_map(|symbol| {
            let name = names.get(symbol.st_name as usize).ok().filter(|name| !name.is_empty())?;
            let function = symbol.st_symtype() == STT_FUNC || symbol.st_symtype() == STT_NOTYPE;
            // Bit 0 marks microMIPS code.
            let at = symbol.st_value as u32 & if function { !1 } else { !0 };
            Some(Symbol { at, size: symbol.st_size as u32, function, name: name.to_string() })
        })
        .collect();
    all.sort_by_key(|symbol| symbol.at);
    Ok(Symbols(all))
}
