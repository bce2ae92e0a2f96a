// SPDX-License-Identifier: Apache-2.0
//! An observer that notes which of the root's instructions were executed, and whether each was followed by the next one
//! or by another: of a conditional branch, which way it went. A line goes to the file as soon as something is seen for the
//! first time, so that nothing is lost when the simulator is killed.

use std::collections::HashMap;
use std::io::Write;

use crate::cpu::{Cpu, Mode};
use crate::isa::Op;
use crate::observe::Observer;

const EXECUTED: u8 = b'x';
const NEXT: u8 = b'n';
const JUMPED: u8 = b'j';

/// What was executed last.
struct Last {
    at: u32,
    /// What comes behind it, where a branch may have no delay slot. A branch that has one is looked at there; a likely
    /// branch that is not taken skips its own.
    next: Option<u32>,
}

pub struct Coverage {
    out: Box<dyn Write>,
    /// What was noted of each address.
    seen: HashMap<u32, Vec<u8>>,
    last: Option<Last>,
}

impl Coverage {
    /// The observer writes lines such as `9d000120 x` to `out`, without waiting for more.
    pub fn new(out: Box<dyn Write>) -> Self {
        Coverage { out, seen: HashMap::new(), last: None }
    }

    fn note(&mut self, at: u32, what: u8) {
        let known = self.seen.entry(at).or_default();
        if !known.contains(&what) {
            known.push(what);
            // There is nobody to tell: who reads the file finds it short.
            let _ = self.out.write_all(format!("{at:x} {}\n", what as char).as_bytes());
        }
    }

    /// Where the last instruction has led. In a delay slot it is known where the branch goes from there.
    fn arrive(&mut self, last: Last, cpu: &Cpu, at: u32) {
        let straight = if cpu.branch { cpu.branch_falls_through() } else { last.next.is_none_or(|next| next == at) };
        self.note(last.at, if straight { NEXT } else { JUMPED });
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
}
