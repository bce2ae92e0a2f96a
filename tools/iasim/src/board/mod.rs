// SPDX-License-Identifier: Apache-2.0
//! Boards: devices, interrupt controller, reset.

pub mod console;
pub mod generic;
pub mod m5150;

use console::{Console, Waited};

/// Signals from the core to the board.
#[derive(Clone, Copy, Default)]
pub struct CoreLines {
    pub timer: bool,
    /// Cause.IP1:0.
    pub software: u32,
}

/// Signals from the board to the core.
#[derive(Clone, Copy, Default, Debug)]
pub struct Lines {
    /// Cause.IP7:2, without an external interrupt controller.
    pub ip: u8,
    /// Request of an external interrupt controller: its level (0: none), the vector's offset from
    /// EBase (None: the common vector), and the shadow set.
    pub level: u32,
    pub offset: Option<u32>,
    pub set: u32,
}

/// A board. Methods with a default are optional.
pub trait Board {
    /// Whether interrupts come from an external controller (Config3.VEIC).
    fn has_eic(&self) -> bool;

    /// Reads a device register of 1, 2 or 4 bytes at an aligned physical address. None: bus error,
    /// because no device is at the address.
    fn read(&mut self, pa: u32, size: u32, now: u64) -> Option<u32>;

    fn write(&mut self, pa: u32, size: u32, value: u32, now: u64) -> Option<()>;

    /// Advances devices to the time and returns their interrupt lines. Called whenever these may
    /// have changed.
    fn poll(&mut self, now: u64, core: CoreLines) -> Lines;

    /// Time of the next event of a device; u64::MAX: none.
    fn next(&self) -> u64;

    fn console(&mut self) -> &mut Console;

    /// Whether a device requested a reset of core and board.
    fn take_reset(&mut self) -> bool {
        false
    }

    /// The exit code, if a device requested the end of the run.
    fn take_exit(&mut self) -> Option<i32> {
        None
    }

    /// Notes for the user about the run, one line each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Waits for input; called when no other event is left.
    fn wait_for_input(&mut self) -> Waited {
        self.console().wait()
    }
}
