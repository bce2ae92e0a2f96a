// SPDX-License-Identifier: Apache-2.0
//! Compares every encoding of the table, and words given in the manual, with the GNU disassembler
//! (of gdb-multiarch).

mod common;

use std::process::Command;

use iasim::disasm;
use iasim::isa::{self, Form, ROWS};

/// Address that GDB disassembles at; the file has no symbol there.
const AT: u32 = 0x8000_0000;

/// GNU disassembly of each word.
fn gnu(words: &[u32]) -> Vec<String> {
    let dir = std::env::temp_dir().join(format!("iasim-encodings-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let object = dir.join("words.s.elf");
    std::fs::write(&object, elf_of(words)).unwrap();
    let end = AT + 4 * words.len() as u32;
    let output = Command::new("gdb-multiarch")
        .args(["-nx", "-batch", "-ex", "set architecture mips:isa32r5"])
        .args(["-ex", "set disassembler-options no-aliases,cp0-names=numeric,hwr-names=numeric,virt,xpa,mcu"])
        .args(["-ex", &format!("disassemble /r 0x{AT:x},0x{end:x}")])
        .arg(&object)
        .output()
        .expect("gdb-multiarch runs");
    std::fs::remove_dir_all(dir).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<String> = text.lines().filter(|line| line.trim_start().starts_with("0x")).map(instruction).collect();
    assert_eq!(lines.len(), words.len(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    lines
}

/// Mnemonic and operands, without address and bytes.
fn instruction(line: &str) -> String {
    let fields: Vec<&str> = line.split('\t').collect();
    fields[2..].join(" ").trim().to_string()
}

/// A minimal ELF file: header, one segment, and one section, which GDB requires to find the bytes.
fn elf_of(words: &[u32]) -> Vec<u8> {
    let names = b"\0.text\0.shstrtab\0";
    let size = 4 * words.len() as u32;
    let (code, strings) = (52 + 32, 52 + 32 + size);
    let sections = (strings + names.len() as u32 + 3) & !3;
    let mut file = vec![0x7F, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // e_type, e_machine, e_entry; program and section headers; e_flags: o32, MIPS32 release 2.
    push16(&mut file, &[2, 8]);
    push32(&mut file, &[1, AT, 52, sections, 0x7000_1000]);
    push16(&mut file, &[52, 32, 1, 40, 3, 2]);
    push32(&mut file, &[1, code, AT, AT, size, size, 5, 4]);
    push32(&mut file, words);
    file.extend(names);
    file.resize(sections as usize, 0);
    push32(&mut file, &[0; 10]);
    push32(&mut file, &[1, 1, 6, AT, code, size, 0, 0, 4, 0]);
    push32(&mut file, &[7, 3, 0, 0, strings, names.len() as u32, 0, 0, 1, 0]);
    file
}

fn push16(file: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
}

fn push32(file: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
}

/// Normalizes differences of notation: decimal numbers, registers by number.
fn normal(text: &str) -> String {
    let text = text.split('<').next().unwrap_or("").trim();
    let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
    // GNU prints division with a third register, which does not exist.
    let operands = if name.starts_with("div") { operands.trim_start_matches("zero,") } else { operands };
    // GNU prints names for some CP0 registers with a select, and the target's instruction set in
    // bit 0.
    let names = [("c0_perfcnt", "$25"), ("c0_watchhi", "$19"), ("hwr_cpunum", "$0"), ("hwr_synci_step", "$1")];
    let names = names.into_iter().chain([("hwr_ccres", "$3"), ("hwr_cc", "$2"), ("hwr_ulr", "$29")]);
    let operands = names.fold(operands.to_string(), |text, (name, number)| text.replace(name, number));
    let name = name.replace("rorv", "rotrv").replace("ror", "rotr");
    let jalx = u32::from(name == "jalx");
    let parts: Vec<String> = operands.split(',').map(|part| normal_operand(part, jalx)).collect();
    let parts = parts.join(",");
    format!("{name} {parts}").trim().to_string()
}

fn normal_operand(text: &str, isa: u32) -> String {
    let text = text.trim();
    let (number, rest) = match text.find('(') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    if let Some(n) = number.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok()) {
        return format!("{}{rest}", n & !i64::from(isa));
    }
    let found = iasim::cp0::SPECS.iter().find(|spec| spec.name == number);
    found.map_or(text.to_string(), |spec| match spec.reg % 8 {
        0 => format!("${}", spec.reg / 8),
        select => format!("${},{select}", spec.reg / 8),
    })
}

/// Operand bits of a form; samples keep the other bits fixed.
fn free_bits(form: Form) -> u32 {
    match form {
        Form::Three | Form::ShiftBy => 0x03FF_F800,
        Form::Shift => 0x001F_FFC0,
        Form::Two | Form::From | Form::LinkTo => 0x03E0_0000,
        Form::Swap | Form::ShadowTo | Form::ShadowFrom => 0x001F_F800,
        Form::Pair => 0x03FF_0000,
        Form::Trap => 0x03FF_FFC0,
        Form::To => 0x0000_F800,
        Form::Upper | Form::Old => 0x001F_FFFF,
        Form::Jump | Form::Signed | Form::Unsigned | Form::Load | Form::Store | Form::StoreTest => 0x03FF_FFFF,
        Form::TrapImm | Form::Branch1 | Form::Address | Form::Branch2 | Form::Hint => 0x03FF_FFFF,
        Form::Bit => 0x03E0_7FFF,
        Form::HwReg => 0x001F_F800,
        Form::Cp0To | Form::Cp0From => 0x001F_F807,
        Form::Code20 | Form::Break => 0x03FF_FFC0,
        Form::Code10 => 0x001F_F800,
        Form::Code5 => 0x07C0,
        Form::Ext | Form::Ins | Form::None => 0,
    }
}

/// Samples of the row: its fixed bits with various operand bits.
fn samples(n: usize) -> Vec<u32> {
    let row = &ROWS[n];
    let free = free_bits(row.form) & !row.mask;
    let patterns = [0x0123_4567u32, 0x89AB_CDEF, 0x0246_8ACE, 0x1357_9BDF, 0x0062_1864];
    let word = |pattern: &u32| row.bits | pattern & free;
    let mut all: Vec<u32> = patterns.iter().map(word).collect();
    if row.form == Form::Ext || row.form == Form::Ins {
        let fields = [(4, 2, 3, 7), (31, 30, 0, 31), (8, 9, 12, 12)];
        all.extend(
            fields.map(|(rs, rt, low, high): (u32, u32, u32, u32)| {
                row.bits | rs << 21 | rt << 16 | high << 11 | low << 6
            }),
        );
        all.drain(..5);
    }
    // clz and clo encode their destination twice.
    if row.form == Form::Two {
        all.iter_mut().for_each(|word| *word |= 9 << 16 | 9 << 11);
    }
    all.retain(|word| isa::find(*word).is_some_and(|found| std::ptr::eq(found, row)));
    assert!(!all.is_empty(), "{}", row.name);
    all
}

/// False for rows of unimplemented instructions and for the marker, which GNU prints as an ordinary
/// instruction.
fn described(n: usize) -> bool {
    !["cop1", "cop2", "cop1x", "movf", "movt", "lwc1", "lwc2", "ldc1", "ldc2", "swc1", "swc2", "sdc1", "sdc2"]
        .contains(&ROWS[n].name)
}

#[test]
fn disassembly_equals_gnus() {
    let words: Vec<u32> = (0..ROWS.len()).filter(|n| described(*n)).flat_map(samples).collect();
    let theirs = gnu(&words);
    let mut wrong = Vec::new();
    for (n, (word, theirs)) in words.iter().zip(&theirs).enumerate() {
        let ours = disasm::text(*word, AT + 4 * n as u32);
        if normal(&ours) != normal(theirs) {
            wrong.push(format!("{word:08x}: we say '{ours}', GNU '{theirs}'"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), words.len(), wrong.join("\n"));
    assert!(words.len() > 400, "only {} words", words.len());
}

/// Words from the description of the virtualization module, assembled by binutils.
#[test]
fn words_of_the_description_decode() {
    let words = [
        ("mfgc0 v0,GuestCtl0", 0x4062_6006),
        ("mtgc0 v0,GuestCtl0", 0x4062_6206),
        ("mfhgc0 v0,EntryLo0", 0x4062_1400),
        ("mthgc0 v0,EntryLo0", 0x4062_1600),
        ("hypcall", 0x4200_0028),
        ("hypcall 0x5", 0x4200_2828),
        ("tlbgr", 0x4200_0009),
        ("tlbgwi", 0x4200_000A),
        ("tlbginv", 0x4200_000B),
        ("tlbginvf", 0x4200_000C),
        ("tlbgwr", 0x4200_000E),
        ("tlbgp", 0x4200_0010),
        ("tlbr", 0x4200_0001),
        ("tlbwi", 0x4200_0002),
        ("tlbinv", 0x4200_0003),
        ("tlbinvf", 0x4200_0004),
        ("tlbwr", 0x4200_0006),
        ("tlbp", 0x4200_0008),
        ("eret", 0x4200_0018),
        ("eretnc", 0x4200_0058),
        ("deret", 0x4200_001F),
        ("wait", 0x4200_0020),
        ("iret", 0x4200_0038),
        ("di", 0x4160_6000),
        ("ei", 0x4160_6020),
        ("rdpgpr v0,v1", 0x4143_1000),
        ("wrpgpr v0,v1", 0x41C3_1000),
        ("mfc0 v0,GuestCtl0", 0x4002_6006),
        ("mtc0 v0,GuestCtl0", 0x4082_6006),
        ("mfhc0 v0,EntryLo0", 0x4042_1000),
        ("mthc0 v0,EntryLo0", 0x40C2_1000),
        ("cache 0x15,16(v1)", 0xBC75_0010),
        ("synci 16(v1)", 0x047F_0010),
        ("ext v0,v1,0x4,0x8", 0x7C62_3900),
        ("ins v0,v1,0x4,0x8", 0x7C62_5904),
        ("wsbh v0,v1", 0x7C03_10A0),
        ("seb v0,v1", 0x7C03_1420),
        ("seh v0,v1", 0x7C03_1620),
        ("rotr v0,v1,0x5", 0x0023_1142),
        ("rotrv v0,v1,a0", 0x0083_1046),
        ("rdhwr v0,$29", 0x7C02_E83B),
        ("ehb", 0x0000_00C0),
        ("jr.hb ra", 0x03E0_0408),
        ("jalr.hb v1", 0x0060_FC09),
        ("aset 0x1,4(v1)", 0x0467_9004),
        ("aclr 0x1,4(v1)", 0x0467_1004),
    ];
    for (text, word) in words {
        assert_eq!(disasm::text(word, 0), text, "{word:08x}");
        assert_eq!(common::asm::assemble(text, 0), [word], "{text}");
    }
}
