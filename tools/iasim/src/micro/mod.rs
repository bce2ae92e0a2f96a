// SPDX-License-Identifier: Apache-2.0
//! microMIPS32, the core's second instruction set, with instructions of 16 and 32 bits. Bit 0 of
//! pc, and of every return address, selects the instruction set.
//!
//! Most instructions have a MIPS32 equivalent and are executed by it (decode.rs); the others are in
//! exec.rs. Decoded instructions are cached by their bits, not by address, so that stores into code
//! need no invalidation.

mod decode;
mod exec;

pub use decode::{decode, names, patterns};

use crate::cpu::Cpu;
use crate::exception::{code, Fault};
use crate::isa::{self, Op};
use crate::memory::PAGE;
use crate::mmu::Access;

/// Entries of the cache of decoded instructions.
const ENTRIES: usize = 4096;

/// Matches no page.
const NO_PAGE: u32 = u32::MAX;

/// State that microMIPS needs in addition to the core's.
pub struct Micro {
    /// Direct-mapped cache, indexed by a hash of the instruction's bits: the bits, and their
    /// decoded form.
    decoded: Vec<(u32, Op)>,
    /// The page fetched from last: its address, and its offset in memory.
    page: u32,
    place: u32,
    /// The current instruction: its bits (a 16-bit instruction in 31:16) and its size in bytes.
    pub bits: u32,
    pub size: u32,
    /// The branch before the delay slot: its size, and whether it is taken.
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

/// Whether the instruction that starts with this halfword has 16 bits.
pub fn is_16_bit(half: u32) -> bool {
    matches!(half >> 10 & 7, 1..=3)
}

/// An instruction as BadInstr holds it and as it is printed: a 16-bit instruction in bits 15:0.
pub fn word(bits: u32) -> u32 {
    if is_16_bit(bits >> 16) {
        bits >> 16
    } else {
        bits
    }
}

impl Cpu {
    /// Executes until service is requested or MIPS32 code is entered.
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

    /// The address an exception handler returns to: that of the branch if the instruction is in its
    /// delay slot.
    pub fn resume(&self) -> u32 {
        match (self.slot, self.cur_pc & 1) {
            (false, _) => self.cur_pc,
            (true, 0) => self.cur_pc.wrapping_sub(4),
            (true, _) => self.cur_pc.wrapping_sub(self.micro.branch_size),
        }
    }

    /// For an instruction in a delay slot: whether the branch before it is not taken.
    pub fn branch_falls_through(&self) -> bool {
        if self.pc & 1 == 0 {
            self.npc == self.pc.wrapping_add(4)
        } else {
            !self.micro.taken
        }
    }

    /// The instruction's word and text.
    pub fn disassemble(&self, op: Op, pc: u32) -> (u32, String) {
        if pc & 1 == 0 {
            return (op.word(), crate::disasm::text(op.word(), pc));
        }
        (word(self.micro.bits), text(self.micro.bits, pc & !1))
    }
}

/// Text of the instruction at pc; with the name of its MIPS32 equivalent if it has one.
pub fn text(bits: u32, pc: u32) -> String {
    match names(bits) {
        Some((name, operands)) => format!("{name} {}", operands(bits, pc)).trim_end().to_string(),
        None if decode(bits).row() == isa::ROWS.len() => format!(".micro 0x{:x}", word(bits)),
        None => crate::disasm::text(decode(bits).word(), pc),
    }
}
