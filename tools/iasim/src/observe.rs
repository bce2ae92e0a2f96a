// SPDX-License-Identifier: Apache-2.0
//! Observers, called before every instruction. Without one, execution is several times faster.

use crate::cpu::Cpu;
use crate::isa::Op;

pub trait Observer {
    /// Called with the next instruction; false stops execution before it.
    fn before(&mut self, cpu: &mut Cpu, op: Op) -> bool;

    /// The text of the report at the end of the run.
    fn report(&mut self) -> String {
        String::new()
    }

    /// Why the observer's file is incomplete; called after report().
    fn incomplete(&self) -> Option<String> {
        None
    }
}

/// A list of observers.
#[derive(Default)]
pub struct Observers(pub Vec<Box<dyn Observer>>);

impl Observer for Observers {
    fn before(&mut self, cpu: &mut Cpu, op: Op) -> bool {
        let mut go = true;
        for observer in &mut self.0 {
            go &= observer.before(cpu, op);
        }
        go
    }

    fn report(&mut self) -> String {
        self.0.iter_mut().map(|observer| observer.report()).collect()
    }

    fn incomplete(&self) -> Option<String> {
        self.0.iter().find_map(|observer| observer.incomplete())
    }
}
