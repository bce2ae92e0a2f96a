// SPDX-License-Identifier: Apache-2.0
//! What looks at every instruction before it executes. While nothing does, execution is several times faster.

use crate::cpu::Cpu;
use crate::isa::Op;

pub trait Observer {
    /// The instruction at pc is next; false stops before it.
    fn before(&mut self, cpu: &mut Cpu, op: Op) -> bool;

    /// Hands over what was gathered, at the end.
    fn report(&mut self) -> String {
        String::new()
    }
}

/// Several of them.
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
}
