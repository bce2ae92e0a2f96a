// SPDX-License-Identifier: Apache-2.0
//! Compares random programs in qemu-system-mipsel and iasim: all of memory, which holds all
//! registers after every block of sixty instructions and every exception. More than a million
//! instructions; see docs/iasim.md.

mod common;

use std::path::Path;
use std::process::Command;

use common::random::{program, Kind, Program, LOG};
use iasim::board::console::Console;
use iasim::board::generic::Generic;
use iasim::cpu::{Cpu, Stop};
use iasim::model::Model;

const RAM: u32 = 16 << 20;
const ROM: u32 = 0x1FC0_0000;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// All of memory after a run in QEMU.
fn qemu(words: &[u32], cpu: &str, dir: &Path) -> Vec<u8> {
    let (rom, ram) = (dir.join("rom"), dir.join("ram"));
    let mut image = bytes(words);
    image.resize(4 << 20, 0);
    std::fs::write(&rom, image).unwrap();
    let _ = std::fs::remove_file(&ram);
    let memory = format!("memory-backend-file,id=ram,size=16M,share=on,mem-path={}", ram.display());
    let output = Command::new("timeout")
        .args(["-k", "1", "100", "qemu-system-mipsel", "-M", "mipssim,memory-backend=ram", "-m", "16", "-cpu", cpu])
        .args(["-display", "none", "-monitor", "none", "-serial", "none", "-semihosting", "-object", &memory, "-bios"])
        .arg(&rom)
        .output()
        .expect("qemu-system-mipsel runs");
    assert!(output.status.success(), "QEMU: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&ram).unwrap()
}

/// All of memory after a run in iasim, and the number of instructions.
fn ours(words: &[u32], root_tlb: usize) -> (Vec<u8>, u64) {
    let model = Model { tlb_machine_check: false, root_tlb, ..Model::default() };
    let mut cpu = Cpu::new(model, Generic::memory(RAM), Box::new(Generic::new(Console::default())));
    assert!(cpu.mem.load(ROM, &bytes(words)));
    cpu.limit = 100_000_000;
    assert_eq!(cpu.run(), Stop::Exit(0), "pc {:x}", cpu.pc);
    ((0..RAM).step_by(4).flat_map(|pa| cpu.mem.peek_word(pa).unwrap().to_le_bytes()).collect(), cpu.instructions())
}

fn word(memory: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(memory[at..at + 4].try_into().unwrap())
}

/// The first difference, with the log before it.
fn difference(program: &Program, ours: &[u8], theirs: &[u8]) -> Option<String> {
    let differs = |at: &usize| ours[*at..*at + 4] != theirs[*at..*at + 4];
    let log = (LOG as usize..RAM as usize).step_by(4).find(differs);
    let at = log.or_else(|| (0..LOG as usize).step_by(4).find(differs))?;
    let from = at.saturating_sub(300).max(LOG as usize) & !3;
    let lines = (from..at + 160).step_by(4).filter(|_| log.is_some()).map(|at| {
        let mark = if differs(&at) { "  <--" } else { "" };
        format!("{at:08x}: {:08x} QEMU {:08x}{mark}\n", word(ours, at), word(theirs, at))
    });
    Some(format!("first difference at 0x{at:x}, {} blocks\n{}", program.blocks.len(), lines.collect::<String>()))
}

fn compare(name: &str, cpu: &str, seeds: std::ops::Range<u64>, kind: Kind) -> u64 {
    let dir = std::env::temp_dir().join(format!("iasim-qemu-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let mut total = 0;
    for seed in seeds {
        let program = program(seed, 1800, 3, kind);
        let theirs = qemu(&program.words, cpu, &dir);
        let (ours, instructions) = ours(&program.words, if kind == Kind::Release5 { 64 } else { 16 });
        if let Some(text) = difference(&program, &ours, &theirs) {
            panic!("seed {seed}: {text}");
        }
        total += instructions;
    }
    std::fs::remove_dir_all(dir).unwrap();
    total
}

#[test]
fn random_instructions_match_qemu() {
    assert!(compare("integer", "24Kc", 1..4, Kind::Integer) > 1_000_000);
}

#[test]
fn random_tlb_operations_match_qemu() {
    assert!(compare("tlb", "24Kc", 11..14, Kind::Tlb) > 1_000_000);
}

/// The P5600 implements BadInstr and BadInstrP, RI and XI with both exception codes, EHINV, TLBINV.
#[test]
fn random_tlb_operations_of_release_5_match_qemu() {
    assert!(compare("release5", "P5600", 21..24, Kind::Release5) > 1_000_000);
}

/// Frequent switches between both instruction sets; exceptions from microMIPS enter MIPS32
/// handlers.
#[test]
fn random_micromips_matches_qemu() {
    assert!(compare("micro", "M14Kc", 31..35, Kind::Micro) > 1_000_000);
}
