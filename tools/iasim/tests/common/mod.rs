// SPDX-License-Identifier: Apache-2.0
//! Shared by the tests: machines, the assembler, and the guest that most tests of the
//! virtualization module use.
#![allow(dead_code)] // each test uses a part of this module

pub mod asm;
pub mod micro;
pub mod random;

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use iasim::board::console::Console;
use iasim::board::generic::Generic;
use iasim::board::m5150::M5150;
use iasim::cp0::{self, Reg};
use iasim::cpu::{Cpu, Stop};
use iasim::model::Model;

/// Output of the machine.
#[derive(Clone, Default)]
pub struct Printed(Rc<RefCell<Vec<u8>>>);

impl Printed {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Address of the root's code in tests: in kseg0, and the physical address.
pub const ROOT: u32 = 0x8000_4000;
/// The root's exception vectors with the reset value of EBase.
pub const VECTORS: u32 = 0x8000_0000;
/// The guest's memory: two pages of 4 KiB; guest-physical 0 is physical 0x10000.
pub const GUEST_MEMORY: u32 = 0x1_0000;

pub const GUEST_ID: u32 = 3;

pub fn m5150() -> Cpu {
    m5150_with(Model::default(), Console::default())
}

pub fn m5150_with(model: Model, console: Console) -> Cpu {
    Cpu::new(model, M5150::memory(512 << 10), Box::new(M5150::new(console, 2)))
}

pub fn generic() -> Cpu {
    let model = Model { guest_timer_wired: true, ..Model::default() };
    generic_with(model, Console::default())
}

pub fn generic_with(model: Model, console: Console) -> Cpu {
    Cpu::new(model, Generic::memory(1 << 20), Box::new(Generic::new(console)))
}

pub fn put(cpu: &mut Cpu, pa: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(cpu.mem.load(pa, &bytes), "no memory at {pa:x}");
}

/// Loads code at ROOT and starts the root there, with BEV and ERL cleared.
pub fn root_code(cpu: &mut Cpu, text: &str) {
    put(cpu, ROOT & 0x1FFF_FFFF, &asm::assemble(text, ROOT));
    cpu.write_root(cp0::STATUS, 0);
    cpu.jump(ROOT);
}

/// Executes `count` instructions.
pub fn steps(cpu: &mut Cpu, count: u64) {
    cpu.limit = cpu.instructions() + count;
    assert_eq!(cpu.run(), Stop::Limit);
}

/// Executes until pc is reached, within at most `most` instructions.
pub fn run_to(cpu: &mut Cpu, pc: u32, most: u64) {
    for _ in 0..most {
        if cpu.pc == pc {
            return;
        }
        steps(cpu, 1);
    }
    panic!("0x{pc:08x} was not reached; pc is 0x{:08x}, root cause 0x{:08x}", cpu.pc, cpu.root[cp0::CAUSE]);
}

pub const GM: u32 = cp0::guestctl0::GM;
pub const CP0: u32 = cp0::guestctl0::CP0;
pub const AT3: u32 = cp0::guestctl0::AT;

/// Writes an entry of the root's TLB, with the effect of the root's TLBWI.
pub fn root_map(cpu: &mut Cpu, index: u32, guest: u32, va: u32, lo: [u32; 2]) {
    let id = cpu.root[cp0::GUESTCTL1];
    cpu.write_root(cp0::GUESTCTL1, id & 0xFF | guest << 16);
    write_entry(cpu, index, va, lo);
    cpu.write_root(cp0::GUESTCTL1, id);
}

fn write_entry(cpu: &mut Cpu, index: u32, va: u32, lo: [u32; 2]) {
    let saved = [cp0::INDEX, cp0::ENTRYHI, cp0::ENTRYLO0, cp0::ENTRYLO1].map(|reg| (reg, cpu.root[reg]));
    cpu.write_root(cp0::INDEX, index);
    cpu.write_root(cp0::ENTRYHI, va);
    cpu.write_root(cp0::ENTRYLO0, lo[0]);
    cpu.write_root(cp0::ENTRYLO1, lo[1]);
    let work = iasim::exec::cop0::TlbWork { context: iasim::cpu::Context::Root, tag: cpu.rid(), by_root: true };
    cpu.tlb_write(work, false).expect("no clash");
    saved.into_iter().for_each(|(reg, value)| cpu.root[reg] = value);
}

/// EntryLo of a valid, writable page at a physical address.
pub fn lo(pa: u32) -> u32 {
    pa >> 12 << 6 | 3 << 3 | iasim::tlb::D | iasim::tlb::V
}

/// A guest in kernel mode about to execute `text` at its kseg0 address 0x80000400. Guest-physical 0
/// to 0x1FFF is mapped, and the guest's vector at 0x180 holds `vector_text`. GuestCtl0 is GM and
/// `control`.
pub fn guest(cpu: &mut Cpu, control: u32, text: &str) {
    cpu.write_root(cp0::GUESTCTL1, GUEST_ID << 16 | GUEST_ID);
    root_map(cpu, 0, GUEST_ID, 0, [lo(GUEST_MEMORY), lo(GUEST_MEMORY + 0x1000)]);
    put(cpu, GUEST_MEMORY + 0x400, &asm::assemble(text, GUEST_CODE));
    cpu.write_root(cp0::STATUS, cp0::status::EXL);
    cpu.write_cp0(iasim::cpu::Context::Guest, cp0::STATUS, u32::MAX, 0);
    cpu.write_root(cp0::GUESTCTL0, GM | control);
    cpu.write_root(cp0::EPC, GUEST_CODE);
    put(cpu, ROOT & 0x1FFF_FFFF, &asm::assemble("eret", ROOT));
    cpu.jump(ROOT);
    steps(cpu, 1);
    assert!(cpu.mode.is_guest());
    assert_eq!(cpu.pc, GUEST_CODE);
}

pub const GUEST_CODE: u32 = 0x8000_0400;

/// ExcCode and GExcCode of an exit.
pub fn exit_codes(cpu: &Cpu) -> (u32, u32) {
    (cpu.root[cp0::CAUSE] >> 2 & 0x1F, cpu.root[cp0::GUESTCTL0] >> 2 & 0x1F)
}

/// Executes one instruction of the guest, which must exit to this vector; returns its codes.
pub fn exits(cpu: &mut Cpu, vector: u32) -> (u32, u32) {
    steps(cpu, 1);
    assert!(!cpu.mode.is_guest(), "no exit; guest cause 0x{:08x}", cpu.guest[cp0::CAUSE]);
    assert_eq!(cpu.pc, VECTORS + vector, "vector");
    exit_codes(cpu)
}

pub fn guest_code(cpu: &Cpu) -> u32 {
    cpu.guest[cp0::CAUSE] >> 2 & 0x1F
}

/// Executes one instruction of the guest, which must raise an exception in the guest; returns its
/// ExcCode.
pub fn stays(cpu: &mut Cpu, vector: u32) -> u32 {
    steps(cpu, 1);
    assert!(cpu.mode.is_guest(), "an exit: {:?}", exit_codes(cpu));
    assert_eq!(cpu.pc, cpu.guest[cp0::EBASE] + vector, "vector");
    guest_code(cpu)
}

pub fn root(cpu: &Cpu, reg: Reg) -> u32 {
    cpu.read_cp0(iasim::cpu::Context::Root, reg)
}
