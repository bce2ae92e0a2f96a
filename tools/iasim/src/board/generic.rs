// SPDX-License-Identifier: Apache-2.0
//! A board without an external interrupt controller: memory, and a 16550 at the address that QEMU's
//! `mipssim` uses, so that a program runs on both.

use super::console::Console;
use super::{Board, CoreLines, Lines};
use crate::memory::Memory;
use std::collections::VecDeque;

const UART: u32 = 0x1FD0_03F8;
/// The UART's interrupt is Cause.IP4.
const UART_IP: u8 = 1 << 4;
const FIFO: usize = 16;

const IER_RX: u8 = 1;
const IER_TX: u8 = 2;
const LCR_DLAB: u8 = 0x80;
/// The transmitter is always empty.
const LSR_IDLE: u8 = 0x60;

pub struct Generic {
    console: Console,
    received: VecDeque<u8>,
    ier: u8,
    lcr: u8,
    mcr: u8,
    scratch: u8,
    divisor: [u8; 2],
    /// The transmitter's interrupt; reading IIR clears it.
    sent: bool,
}

impl Generic {
    pub fn new(console: Console) -> Self {
        let (ier, lcr, mcr, scratch) = (0, 0, 0, 0);
        Generic { console, received: VecDeque::new(), ier, lcr, mcr, scratch, divisor: [0; 2], sent: true }
    }

    /// RAM at 0 and the boot ROM at the reset vector.
    pub fn memory(ram: u32) -> Memory {
        let mut mem = Memory::default();
        mem.add("RAM", 0, ram, true);
        mem.add("boot ROM", 0x1FC0_0000, 0x10_0000, false);
        mem
    }

    fn dlab(&self) -> bool {
        self.lcr & LCR_DLAB != 0
    }

    fn iir(&self) -> u8 {
        match () {
            () if self.ier & IER_RX != 0 && !self.received.is_empty() => 0x4,
            () if self.ier & IER_TX != 0 && self.sent => 0x2,
            () => 0x1,
        }
    }

    fn get(&mut self, register: u32) -> u8 {
        match register {
            0 | 1 if self.dlab() => self.divisor[register as usize],
            0 => self.received.pop_front().unwrap_or(0),
            1 => self.ier,
            2 => {
                let iir = self.iir();
                self.sent &= iir != 0x2;
                iir
            }
            3 => self.lcr,
            4 => self.mcr,
            5 => LSR_IDLE | u8::from(!self.received.is_empty()),
            6 => 0xB0,
            _ => self.scratch,
        }
    }

    fn put(&mut self, register: u32, value: u8) {
        match register {
            0 | 1 if self.dlab() => self.divisor[register as usize] = value,
            0 => {
                self.console.put(value);
                self.sent = true;
            }
            1 => {
                self.sent |= value & !self.ier & IER_TX != 0;
                self.ier = value & 0xF;
            }
            3 => self.lcr = value,
            4 => self.mcr = value,
            7 => self.scratch = value,
            _ => {}
        }
    }
}

impl Board for Generic {
    fn has_eic(&self) -> bool {
        false
    }

    fn read(&mut self, pa: u32, _size: u32, _now: u64) -> Option<u32> {
        let register = pa.wrapping_sub(UART);
        (register < 8).then(|| self.get(register).into())
    }

    fn write(&mut self, pa: u32, _size: u32, value: u32, _now: u64) -> Option<()> {
        let register = pa.wrapping_sub(UART);
        (register < 8).then(|| self.put(register, value as u8))
    }

    fn poll(&mut self, now: u64, _core: CoreLines) -> Lines {
        while self.received.len() < FIFO {
            let Some(byte) = self.console.take(now) else { break };
            self.received.push_back(byte);
        }
        let ip = if self.iir() == 1 { 0 } else { UART_IP };
        Lines { ip, ..Lines::default() }
    }

    fn next(&self) -> u64 {
        if self.received.len() < FIFO {
            self.console.next()
        } else {
            u64::MAX
        }
    }

    fn console(&mut self) -> &mut Console {
        &mut self.console
    }
}
