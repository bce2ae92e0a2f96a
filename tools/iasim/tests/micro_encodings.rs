// SPDX-License-Identifier: Apache-2.0
//! Compares microMIPS with the GNU disassembler: all 16-bit encodings, and words of every row of
//! the table. A mapped instruction is printed as the MIPS32 instruction, so that its operand fields
//! are compared, too.

mod common;

use std::collections::BTreeSet;
use std::process::Command;

use common::random::Rng;
use iasim::micro;

/// GNU disassembly of instructions at multiples of four; a 16-bit instruction is followed by a
/// 16-bit nop.
fn gnu(all: &[u32]) -> Vec<String> {
    let dir = std::env::temp_dir().join(format!("iasim-micro-{}-{}", std::process::id(), all.len()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("code");
    let bytes: Vec<u8> = all.iter().flat_map(|bits| halves(*bits)).flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, bytes).unwrap();
    let output = Command::new("mipsel-linux-gnu-objdump")
        .args(["-D", "-z", "-b", "binary", "-EL", "-m", "mips:micromips"])
        .args(["-M", "no-aliases,cp0-names=numeric,hwr-names=numeric,virt,xpa,mcu"])
        .arg(&file)
        .output()
        .expect("mipsel-linux-gnu-objdump runs");
    std::fs::remove_dir_all(dir).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = vec![String::new(); all.len()];
    for line in text.lines() {
        let mut fields = line.splitn(3, '\t');
        let (Some(at), Some(_), Some(text)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let Ok(at) = u32::from_str_radix(at.trim().trim_end_matches(':'), 16) else { continue };
        if at % 4 == 0 {
            found[at as usize / 4] = text.replace('\t', " ");
        }
    }
    found
}

const NOP16: u16 = 0x0C00;

fn halves(bits: u32) -> [u16; 2] {
    match micro::is_16_bit(bits >> 16) {
        true => [(bits >> 16) as u16, NOP16],
        false => [(bits >> 16) as u16, bits as u16],
    }
}

/// Normalizes: decimal numbers, CP0 registers by number, no symbol names.
fn normal(text: &str) -> String {
    let text = text.split('<').next().unwrap_or("").trim();
    let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
    let parts: Vec<String> = operands.split(',').map(operand).collect();
    alias(name, &parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect::<Vec<_>>())
}

fn operand(text: &str) -> String {
    let text = text.trim();
    let names = [("c0_perfcnt", "$25"), ("c0_watchhi", "$19"), ("hwr_cpunum", "$0"), ("hwr_synci_step", "$1")];
    let names = names.into_iter().chain([("hwr_ccres", "$3"), ("hwr_cc", "$2"), ("hwr_ulr", "$29")]);
    let text = names.fold(text.to_string(), |text, (name, number)| text.replace(name, number));
    let (number, rest) = text.find('(').map_or((text.as_str(), ""), |at| text.split_at(at));
    if let Some(n) = number.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        return format!("{}{rest}", n & 0xFFFF_FFFF);
    }
    let found = iasim::cp0::SPECS.iter().find(|spec| spec.name == number);
    found.map_or(text.clone(), |spec| match spec.reg % 8 {
        0 => format!("${}", spec.reg / 8),
        select => format!("${},{select}", spec.reg / 8),
    })
}

/// Replaces GNU's aliases of instructions with a zero or two equal registers; targets are
/// hexadecimal there.
fn alias(name: &str, parts: &[&str]) -> String {
    let all = parts.join(",");
    match (name, parts) {
        ("move", ["zero", "zero"]) => "nop".to_string(),
        ("move", [to, from]) => format!("addu {to},{from},zero"),
        ("li", [to, n]) => format!("addiu {to},zero,{n}"),
        ("dli", [to, n]) => format!("ori {to},zero,{n}"),
        ("not", [to, from]) => format!("nor {to},{from},zero"),
        ("jrs" | "jrs.hb", [from]) => format!("{} zero,{from}", name.replace("jr", "jalr")),
        ("wait", _) => name.to_string(),
        ("sll" | "addu", ["zero", "zero", _]) | ("nop" | "ehb" | "ssnop" | "pause", _) => "nop".to_string(),
        ("sdbbp" | "break" | "syscall" | "hypcall" | "sync", []) => format!("{name} 0"),
        ("neg", [to, from]) => format!("sub {to},zero,{from}"),
        ("negu", [to, from]) => format!("subu {to},zero,{from}"),
        ("div" | "divu", ["zero", one, other]) => format!("{name} {one},{other}"),
        ("addiu", [to, "$pc", n]) => format!("addiupc {to},{n}"),
        (_, [reg, cp0, "0"]) if cp0.starts_with('$') => format!("{name} {reg},{cp0}"),
        ("ror", _) => format!("rotr {all}"),
        ("rorv", _) => format!("rotrv {all}"),
        _ => format!("{name} {all}").trim().to_string(),
    }
}

fn same(ours: &str, theirs: &str) -> bool {
    let (ours, theirs) = (normal(ours), normal(theirs));
    if ours == theirs {
        return true;
    }
    let (Some((head, target)), Some((their_head, their_target))) = (split_last(&ours), split_last(&theirs)) else {
        return false;
    };
    // GNU sets bit 0 of targets.
    let number = |text: &str| text.parse::<u64>().ok().map(|n| n & !1);
    head == their_head && BRANCHES.contains(&name(head)) && number(target) == number(their_target)
}

const BRANCHES: [&str; 21] = [
    "b", "beqz", "bnez", "beq", "bne", "bltz", "bgez", "blez", "bgtz", "beqzc", "bnezc", "bltzal", "bltzals", "bgezal",
    "bgezals", "j", "jal", "jals", "jalx", "addiupc", "bc",
];

fn split_last(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind([',', ' '])?;
    Some((&text[..at], &text[at + 1..]))
}

/// Number of implemented instructions, GNU mnemonics of the others, and differences.
fn compare(all: &[u32]) -> (usize, BTreeSet<String>, Vec<String>) {
    let theirs = gnu(all);
    let (mut known, mut strange, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for (n, (bits, theirs)) in all.iter().zip(&theirs).enumerate() {
        let ours = micro::text(*bits, 4 * n as u32);
        if ours.starts_with(".micro") || ours.starts_with("cop") {
            strange.insert(name(theirs).to_string());
            continue;
        }
        known += 1;
        if !same(&ours, theirs) {
            wrong.push(format!("{bits:08x}: we say '{ours}', GNU '{theirs}'"));
        }
    }
    (known, strange, wrong)
}

#[test]
fn every_16_bit_encoding_equals_gnus() {
    let all: Vec<u32> = (0..=0xFFFF).filter(|half| micro::is_16_bit(*half)).map(|half| half << 16).collect();
    let (known, strange, wrong) = compare(&all);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert_eq!(strange, BTreeSet::from([".short".to_string()]), "reserved here");
    assert!(known > 20_000, "{known}");
}

#[test]
fn words_of_every_row_equal_gnus() {
    let mut rng = Rng::new(5);
    let rows: Vec<(u32, u32)> = micro::patterns().collect();
    let all: Vec<u32> = rows.iter().flat_map(|row| [row; 60]).map(|(mask, bits)| bits | rng.next() & !mask).collect();
    let (known, _, wrong) = compare(&all);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong[..wrong.len().min(60)].join("\n"));
    assert!(known > 6_000, "{known}");
}

/// Mnemonics with more forms than this core implements: invalid register lists, the DSP's
/// accumulators.
const EXTENDED: [&str; 12] =
    ["lwm", "swm", "cop2", "mult", "multu", "madd", "maddu", "msub", "msubu", "mfhi", "mthi", "mtlo"];

/// No reserved encoding has a mnemonic that this core implements.
#[test]
fn reserved_encodings_belong_to_other_extensions() {
    let mut rng = Rng::new(6);
    let all: Vec<u32> = (0..200_000).map(|_| rng.next()).filter(|bits| !micro::is_16_bit(bits >> 16)).collect();
    let (_, strange, wrong) = compare(&all);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong[..wrong.len().min(40)].join("\n"));
    let ours: BTreeSet<String> =
        micro::patterns().map(|(_, bits)| micro::text(bits | 1 << 21, 0)).map(|text| name(&text).to_string()).collect();
    let missing: Vec<_> = strange.intersection(&ours).filter(|name| !EXTENDED.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "reserved here: {missing:?}");
    assert!(strange.len() > 100 && ours.len() > 80, "{} {}", strange.len(), ours.len());
}

fn name(text: &str) -> &str {
    text.split(' ').next().unwrap_or("")
}
