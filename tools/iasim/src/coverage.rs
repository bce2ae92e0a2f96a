// SPDX-License-Identifier: Apache-2.0
//! Observer that records which of the root's instructions were executed, and after each whether the
//! next instruction or another one followed: for a conditional branch, its direction. A new fact is
//! written to the file immediately, so that none is lost when the simulator is killed.

use std::collections::HashMap;
use std::io::{self, Write};

use crate::cpu::{Cpu, Mode};
use crate::isa::Op;
use crate::observe::Observer;

const EXECUTED: u8 = b'x';
const NEXT: u8 = b'n';
const JUMPED: u8 = b'j';

/// The previous instruction.
struct Last {
    at: u32,
    /// Address of the next instruction, known for microMIPS code only, whose branches may have no
    /// delay slot. For a branch with a delay slot, the direction is determined in the slot; a
    /// branch likely that is not taken skips its slot.
    next: Option<u32>,
}

pub struct Coverage {
    out: Box<dyn Write>,
    /// What was recorded for each address.
    seen: HashMap<u32, Vec<u8>>,
    last: Option<Last>,
    /// The first error because of which the file is incomplete.
    write_error: Option<io::Error>,
}

impl Coverage {
    /// Writes lines such as `9d000120 x` to `out`, without buffering.
    pub fn new(out: Box<dyn Write>) -> Self {
        Coverage { out, seen: HashMap::new(), last: None, write_error: None }
    }

    fn note(&mut self, at: u32, what: u8) {
        let known = self.seen.entry(at).or_default();
        if !known.contains(&what) {
            known.push(what);
            let written = self.out.write_all(format!("{at:x} {}\n", what as char).as_bytes());
            self.write_error = self.write_error.take().or(written.err());
        }
    }

    /// Records what followed the previous instruction. In a delay slot, the branch's direction is
    /// already known.
    fn arrive(&mut self, last: Last, cpu: &Cpu, at: u32) {
        let sequential = if cpu.branch { cpu.branch_falls_through() } else { last.next.is_none_or(|next| next == at) };
        self.note(last.at, if sequential { NEXT } else { JUMPED });
    }
}

impl Observer for Coverage {
    fn before(&mut self, cpu: &mut Cpu, _: Op) -> bool {
        if cpu.mode != Mode::RootKernel {
            self.last = None;
            return true;
        }
        let at = cpu.pc & !1;
        let last = self.last.take();
        if let Some(last) = last {
            self.arrive(last, cpu, at);
        }
        self.note(at, EXECUTED);
        self.last = Some(Last { at, next: (cpu.pc & 1 != 0).then_some(at.wrapping_add(cpu.micro.size)) });
        true
    }
    fn incomplete(&self) -> Option<String> {
        self.write_error.as_ref().map(|error| format!("the coverage is incomplete: {error}"))
    }
}
