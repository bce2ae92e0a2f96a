// SPDX-License-Identifier: Apache-2.0
//! The effect of each instruction.

pub mod alu;
pub mod branch;
pub mod cop0;
pub mod memory;
pub mod system;
pub mod vz;

use crate::cpu::Cpu;
use crate::isa::Op;

impl Cpu {
    #[inline(always)]
    pub fn rs(&self, op: Op) -> u32 {
        self.gpr[op.rs()]
    }

    #[inline(always)]
    pub fn rt(&self, op: Op) -> u32 {
        self.gpr[op.rt()]
    }

    /// Writes the destination register.
    #[inline(always)]
    pub fn set(&mut self, op: Op, value: u32) {
        self.gpr[op.rd()] = value;
    }
}
