// SPDX-License-Identifier: Apache-2.0
//! What surrounds the core: devices, the interrupt controller, reset.

pub mod console;
pub mod generic;
pub mod m5150;

use console::{Console, Waited};

/// What the core drives towards the board.
#[derive(Clone, Copy, Default)]
pub struct CoreLines {
    pub timer: bool,
    /// Cause.IP1:0.
    pub software: u32,
}

/// What the board drives towards the core.
#[derive(Clone, Copy, Default, Debug)]
pub struct Lines {
    /// Cause.IP7:2, where there is no external controller.
    pub ip: u8,
    /// The level an external controller requests, 0 for none; the vector's offset from EBase (None: its one common
    /// vector) and the shadow set for it.
    pub level: u32,
    pub offset: Option<u32>,
    pub set: u32,
}

/// A board. All methods are mandatory but those that have a body.
pub trait Board {
    /// Whether interrupts come from an external controller (Config3.VEIC).
    fn has_eic(&self) -> bool;

    /// A device's register, of 1, 2 or 4 bytes at a physical address that is a multiple of that; None: nothing is there,
    /// which is a bus error.
    fn read(&mut self, pa: u32, size: u32, now: u64) -> Option<u32>;

    fn write(&mut self, pa: u32, size: u32, value: u32, now: u64) -> Option<()>;

    /// Brings devices up to the time, and says which interrupts there are. Called whenever something may have changed.
    fn poll(&mut self, now: u64, core: CoreLines) -> Lines;

    /// When something happens by itself next; u64::MAX: never.
    fn next(&self) -> u64;

    fn console(&mut self) -> &mut Console;

    /// Whether a device has asked for a reset of everything.
    fn take_reset(&mut self) -> bool {
        false
    }

    /// The exit code, when a device has asked for the end.
    fn take_exit(&mut self) -> Option<i32> {
        None
    }

    /// What the user should know of the run, a line each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Nothing will ever happen by itself: waits for somebody to type.
    fn wait_for_input(&mut self) -> Waited {
        self.console().wait()
    }
}
