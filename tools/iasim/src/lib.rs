// SPDX-License-Identifier: Apache-2.0
//! An instruction-accurate simulator of an M5150-class core: MIPS32 Release 5 with the virtualization module. See
//! docs/iasim.md.

#![forbid(unsafe_code)]

pub mod board;
pub mod cli;
pub mod coverage;
pub mod cp0;
pub mod cpu;
pub mod disasm;
pub mod exception;
pub mod exec;
pub mod gdb;
pub mod image;
pub mod isa;
pub mod memory;
pub mod micro;
pub mod mmu;
pub mod model;
pub mod observe;
pub mod pace;
pub mod semihosting;
pub mod stats;
pub mod timer;
pub mod tlb;
pub mod trace;
