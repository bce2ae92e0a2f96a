// SPDX-License-Identifier: Apache-2.0
//! microMIPS32: the core's other instruction set, of 16 and 32 bits. Bit 0 of pc, and of every address to return to, says
//! which one executes.
//!
//! Most instructions mean what a MIPS32 instruction means, and are executed as that one (decode.rs); the others are in
//! exec.rs. What was decoded is kept by the instruction's own bits, so that stores into code need no care.

mod decode;
mod exec;

pub use decode::{decode, names, patterns};

use crate::cpu::Cpu;
use crate::exception::{code, Fault};
use crate::isa::{self, Op};
use crate::memory::PAGE;
use crate::mmu::Access;

/// Entries of what was decoded.
const ENTRIES: usize = 4096;

/// No page's address.
const NO_PAGE: u32 = u32::MAX;

/// What the instruction set needs beside the core's state.
pub struct Micro {
    /// By a hash of the instruction: the instruction and what executes it.
    decoded: Vec<(u32, Op)>,
    /// The page that was fetched from last, and where it lies in memory.
    page: u32,
    place: u32,
    /// The instruction under way: its bits, a half alone in 31:16; its size in bytes.
    pub bits: u32,
    pub size: u32,
    /// The size of the branch before the delay slot, and whether it is taken.
    branch_size: u32,
    taken: bool,
}

impl Micro {
    pub fn new() -> Self {
        Micro {
            decoded: vec![(0, decode(0)); ENTRIES],
            page: NO_PAGE,
            place: 0,
            bits: 0,
            size: 4,
            branch_size: 4,
            taken: false,
        }
    }

    pub fn close(&mut self) {
        self.page = NO_PAGE;
    }
}

impl Default for Micro {
    fn default() -> Self {
        Micro::new()
    }
}

/// Whether an instruction that begins with this half has only this one.
pub fn is_16_bit(half: u32) -> bool {
    matches!(half >> 10 & 7, 1..=3)
}

/// An instruction as BadInstr has it and as it is written: a half alone stands right.
pub fn word(bits: u32) -> u32 {
    if is_16_bit(bits >> 16) {
        bits >> 16
    } else {
        bits
    }
}

impl Cpu {
    /// Executes until something wants attention or the other instruction set begins.
    pub(crate) fn run_micro(&mut self) {
        let observed = self.observer.is_some();
        while self.pc & 1 != 0 && self.before_deadline() {
            match self.fetch_micro() {
                Ok(bits) => {
                    let op = self.decoded_micro(bits);
                    if observed && !self.observe(op) {
                        return;
                    }
                    self.step_micro(op);
                }
                Err(fault) => {
                    self.cur_pc = self.pc;
                    self.slot = self.branch;
                    self.now += 1;
                    self.raise(&fault, None);
                }
            }
        }
    }

    fn fetch_micro(&mut self) -> Result<u32, Box<Fault>> {
        let at = self.pc & !1;
        let first = self.fetch_half(at)?;
        let short = is_16_bit(first);
        self.micro.size = if short { 2 } else { 4 };
        let second = if short { 0 } else { self.fetch_half(at.wrapping_add(2))? };
        self.micro.bits = first << 16 | second;
        Ok(self.micro.bits)
    }

    fn fetch_half(&mut self, va: u32) -> Result<u32, Box<Fault>> {
        if va & !(PAGE - 1) != self.micro.page {
            let pa = self.translate(va, Access::Fetch)?;
            let place = self.mem.find(pa).ok_or(Fault::boxed(crate::cpu::Context::Root, code::IBE))?;
            self.micro.page = va & !(PAGE - 1);
            self.micro.place = place.offset & !(PAGE - 1);
        }
        Ok(self.mem.read::<2>(self.micro.place | va & (PAGE - 1)))
    }

    fn decoded_micro(&mut self, bits: u32) -> Op {
        let slot = (bits.wrapping_mul(0x9E37_79B1) >> 20) as usize & (ENTRIES - 1);
        let (known, op) = self.micro.decoded[slot];
        if known == bits {
            return op;
        }
        let op = decode(bits);
        self.micro.decoded[slot] = (bits, op);
        op
    }

    fn step_micro(&mut self, op: Op) {
        let next = self.pc.wrapping_add(self.micro.size);
        self.cur_pc = self.pc;
        self.slot = self.branch;
        self.branch = false;
        self.pc = if self.slot && self.micro.taken { self.npc } else { next };
        self.npc = self.pc.wrapping_add(4);
        self.now += 1;
        if let Err(fault) = (op.run)(self, op) {
            let word = word(self.micro.bits);
            self.raise(&fault, Some(word));
        }
    }

    /// Where an exception's handler returns to: the branch, if the instruction stands in its delay slot.
    pub fn resume(&self) -> u32 {
        match (self.slot, self.cur_pc & 1) {
            (false, _) => self.cur_pc,
            (true, 0) => self.cur_pc.wrapping_sub(4),
            (true, _) => self.cur_pc.wrapping_sub(self.micro.branch_size),
        }
    }

    /// In a delay slot: the branch before it is not taken.
    pub fn branch_falls_through(&self) -> bool {
        if self.pc & 1 == 0 {
            self.npc == self.pc.wrapping_add(4)
        } else {
            !self.micro.taken
        }
    }

    /// The instruction that was decoded to this, as a word and as text.
    pub fn disassemble(&self, op: Op, pc: u32) -> (u32, String) {
        if pc & 1 == 0 {
            return (op.word(), crate::disasm::text(op.word(), pc));
        }
        (word(self.micro.bits), text(self.micro.bits, pc & !1))
    }
}

/// The instruction at an address: as the MIPS32 instruction that does the same, where there is one.
pub fn text(bits: u32, pc: u32) -> String {
    match names(bits) {
        Some((name, operands)) => format!("{name} {}", operands(bits, pc)).trim_end().to_string(),
        None if decode(bits).row() == isa::ROWS.len() => format!(".micro 0x{:x}", word(bits)),
        None => crate::disasm::text(decode(bits).word(), pc),
    }
}
