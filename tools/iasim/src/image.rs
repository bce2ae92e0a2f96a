// SPDX-License-Identifier: Apache-2.0
//! ELF files: loading into memory, symbols.

use elf::abi::{EM_MIPS, ET_DYN, ET_EXEC, PT_LOAD, STT_FUNC, STT_NOTYPE};
use elf::endian::AnyEndian;
use elf::segment::ProgramHeader;
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

const MAGIC: &[u8] = b"\x7FELF";
const EI_CLASS: usize = 4;
const EI_DATA: usize = 5;
/// Offset of e_machine in files of both classes.
const E_MACHINE: usize = 18;
const CLASS_32: u8 = 1;
const LITTLE: u8 = 1;

/// Checks what decides how the rest of the file is read. The machine's two bytes also show a byte
/// order that differs from the one that the file claims.
fn check_identity(bytes: &[u8]) -> Result<(), String> {
    let header = bytes.get(..E_MACHINE + 2).filter(|header| header.starts_with(MAGIC));
    let header = header.ok_or("not an ELF file")?;
    let little = u16::from_le_bytes([header[E_MACHINE], header[E_MACHINE + 1]]);
    let claims_little = header[EI_DATA] == LITTLE;
    if little != EM_MIPS && little.swap_bytes() != EM_MIPS {
        let machine = if claims_little { little } else { little.swap_bytes() };
        return Err(format!("machine {machine} is not MIPS"));
    }
    if header[EI_CLASS] != CLASS_32 {
        return Err("the file is for 64-bit MIPS; this core is MIPS32".into());
    }
    if !claims_little || little != EM_MIPS {
        return Err("the file is big-endian; this core is little-endian".into());
    }
    Ok(())
}

fn check(file: &ElfBytes<AnyEndian>) -> Result<(), String> {
    match file.ehdr {
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
    check_identity(bytes)?;
    let file = ElfBytes::<AnyEndian>::minimal_parse(bytes).map_err(|error| format!("damaged ELF file ({error})"))?;
    check(&file)?;
    let segments = file.segments().ok_or("the file has no segment to load")?;
    let segments: Vec<_> = segments
        .iter()
        .filter(|segment| segment.p_type == PT_LOAD && segment.p_memsz.max(segment.p_filesz) != 0)
        .collect();
    if segments.is_empty() {
        return Err("the file has no segment to load".into());
    }
    for segment in segments {
        let (at, data) = contents(&file, &segment)?;
        if contradicts(mem, taken, at, &data) {
            return Err(format!("the segment at 0x{at:08x} of {} bytes overlaps different data", data.len()));
        }
        taken.push((at.into(), u64::from(at) + data.len() as u64));
        if !mem.load(at, &data) {
            return Err(outside(at, segment.p_memsz));
        }
    }
    Ok(Image { entry: file.ehdr.e_entry as u32, symbols: symbols(&file)? })
}

/// The largest RAM.
const MAX_SEGMENT: u64 = 1 << 28;

fn outside(at: u32, size: u64) -> String {
    format!("the segment at 0x{at:08x} of {size} bytes is not entirely in memory")
}

/// The segment's physical address, and its bytes in memory: those of the file, then zeros.
fn contents(file: &ElfBytes<AnyEndian>, segment: &ProgramHeader) -> Result<(u32, Vec<u8>), String> {
    let at = physical(segment.p_paddr as u32);
    if segment.p_filesz > segment.p_memsz {
        let (of_file, of_memory) = (segment.p_filesz, segment.p_memsz);
        return Err(format!("the segment at 0x{at:08x} has {of_file} bytes in the file for {of_memory} in memory"));
    }
    let data = file.segment_data(segment).map_err(|error| format!("invalid segment ({error})"))?;
    if segment.p_memsz > MAX_SEGMENT || u64::from(at) + segment.p_memsz > 1 << 32 {
        return Err(outside(at, segment.p_memsz));
    }
    let mut data = data.to_vec();
    data.resize(segment.p_memsz as usize, 0);
    Ok((at, data))
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
