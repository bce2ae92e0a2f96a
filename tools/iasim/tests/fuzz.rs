// SPDX-License-Identifier: Apache-2.0
//! Random images and random state: the simulator does not panic, and its invariants hold.

mod common;

use common::random::Rng;
use common::*;
use iasim::board::console::Console;
use iasim::cp0::{self, guestctl0};
use iasim::cpu::{Context, Cpu, Stop};
use iasim::image;
use iasim::isa::ROWS;
use iasim::memory::Memory;
use iasim::model::Model;

/// A random word, or an instruction with random operands; coprocessor 0 is preferred.
fn word(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => rng.next(),
        1..=3 => {
            let rows: Vec<_> = ROWS.iter().filter(|row| row.bits >> 26 == 0x10).collect();
            let row = *rng.pick(&rows);
            row.bits | rng.next() & !row.mask
        }
        _ => {
            let row = rng.pick(ROWS);
            row.bits | rng.next() & !row.mask
        }
    }
}

fn model(rng: &mut Rng) -> Model {
    let mut model = Model::default();
    for choice in iasim::model::CHOICES {
        let values: Vec<&str> = choice.values.split('|').collect();
        let value = *rng.pick(&values);
        if !value.contains("..") {
            model.set(&format!("{}={value}", choice.name)).expect("a value that it names itself");
        }
    }
    model.stop_unimplemented = false;
    model
}

/// Random state: registers of both contexts, TLB entries that map parts of memory.
fn scramble(cpu: &mut Cpu, rng: &mut Rng) {
    for n in 1..32 {
        cpu.gpr[n] = if rng.below(2) == 0 { 0x8000_0000 | rng.below(0x8_0000) } else { rng.value() };
    }
    for spec in cp0::SPECS {
        let value = rng.value();
        cpu.write_root(spec.reg, value);
        cpu.write_cp0(Context::Guest, spec.reg, spec.mtgc0, rng.value());
    }
    for n in 0..cpu.root_tlb.size() as u32 {
        let entry = |rng: &mut Rng| {
            iasim::tlb::Entry::new(rng.below(0x8_0000), 0, [lo(rng.below(0x8_0000)), rng.next()], rng.below(4) as u8)
        };
        let (root, guest) = (entry(rng), entry(rng));
        cpu.root_tlb.write(n, root);
        cpu.guest_tlb.write(n, guest);
    }
    cpu.root[cp0::GUESTCTL0] |= guestctl0::GM & rng.next();
    cpu.soft.flush();
    cpu.update_mode();
}

/// Invariants: the mode matches the registers, register 0 is 0, Index and the shadow set are in
/// range.
fn check(cpu: &mut Cpu, seed: u64) {
    let mode = cpu.mode;
    cpu.update_mode();
    assert_eq!(cpu.mode, mode, "seed {seed}: the mode went stale");
    assert_eq!(cpu.gpr[0], 0, "seed {seed}");
    assert!(cpu.set < 16 && cpu.root[cp0::INDEX] & 0x7FFF_FFFF < 64, "seed {seed}");
}

fn random_image(seed: u64) {
    let mut rng = Rng::new(seed);
    let model = model(&mut rng);
    let mut cpu =
        if rng.below(2) == 0 { m5150_with(model, Console::default()) } else { generic_with(model, Console::default()) };
    let words: Vec<u32> = (0..0x2000).map(|_| word(&mut rng)).collect();
    put(&mut cpu, 0, &words);
    put(&mut cpu, 0x1FC0_0000, &words);
    scramble(&mut cpu, &mut rng);
    cpu.jump(if rng.below(4) == 0 { 0xBFC0_0000 } else { 0x8000_0000 | rng.below(0x8000) });
    for _ in 0..20 {
        cpu.limit = cpu.instructions() + 1000;
        match cpu.run() {
            Stop::Limit => {}
            // A program may end, wait forever or raise endless exceptions.
            Stop::Exit(_) | Stop::Asleep | Stop::Endless(_) => scramble(&mut cpu, &mut rng),
            stop => panic!("seed {seed}: {stop:?}"),
        }
        check(&mut cpu, seed);
    }
}

#[test]
fn random_images_do_not_break_the_simulator() {
    // The default suits `make check`; IASIM_FUZZ=100000 for a long run.
    let most = std::env::var("IASIM_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    (0..most).for_each(random_image);
}

/// Every word has a disassembly that starts with the mnemonic of its row.
#[test]
fn any_word_is_decoded_and_disassembled() {
    let mut rng = Rng::new(1);
    for _ in 0..300_000 {
        let word = if rng.below(2) == 0 { rng.next() } else { self::word(&mut rng) };
        let op = iasim::isa::decode(word);
        let name = ROWS.get(op.row()).map_or(".word", |row| row.name);
        assert!(iasim::disasm::text(word, 0x8000_0000).starts_with(name), "{word:08x}");
    }
}

/// Damaged ELF files are refused with one line or loaded.
#[test]
fn damaged_images_are_refused() {
    let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let mut header = whole[..4096].to_vec();
    // The first bytes are those of a 32-bit MIPS file, the others are random.
    header[4] = 1;
    header[18] = 8;
    header[19] = 0;
    let mut rng = Rng::new(9);
    for _ in 0..3000 {
        let mut bytes = header.clone();
        let length = 1 + rng.below(bytes.len() as u32 - 1) as usize;
        for _ in 0..rng.below(60) {
            let at = rng.below(120) as usize;
            bytes[at] = rng.next() as u8;
        }
        bytes.truncate(length);
        let mut mem = Memory::default();
        mem.add("RAM", 0, 1 << 16, true);
        if let Err(text) = image::load(&mut mem, &mut Vec::new(), &bytes) {
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }
}
