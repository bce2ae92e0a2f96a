// SPDX-License-Identifier: Apache-2.0
//! A UART. A byte is sent immediately; the baud rate is not modelled.

use std::collections::VecDeque;

const MODE: u32 = 0x00;
const STA: u32 = 0x10;
const TXREG: u32 = 0x20;
pub const RXREG: u32 = 0x30;
const BRG: u32 = 0x40;

const ON: u32 = 1 << 15;
const URXDA: u32 = 1;
const OERR: u32 = 1 << 1;
const RIDLE: u32 = 1 << 4;
const TRMT: u32 = 1 << 8;
const UTXEN: u32 = 1 << 10;
const URXEN: u32 = 1 << 12;
/// The bits of STA that software writes: all except the status bits. OERR can be cleared.
const STA_BITS: u32 = 0x0000_FCE0 & !(1 << 9);

const FIFO: usize = 8;

#[derive(Default)]
pub struct Uart {
    mode: u32,
    sta: u32,
    brg: u32,
    received: VecDeque<u8>,
}

impl Uart {
    pub fn read(&self, register: u32) -> u32 {
        match register {
            MODE => self.mode,
            STA => self.sta | RIDLE | TRMT | if self.received.is_empty() { 0 } else { URXDA },
            RXREG => self.received.front().copied().unwrap_or(0).into(),
            BRG => self.brg,
            _ => 0,
        }
    }

    /// Returns the byte that the write sends, if any.
    pub fn write(&mut self, register: u32, value: u32) -> Option<u8> {
        match register {
            MODE => self.mode = value & 0xFFFF,
            STA => self.sta = value & (STA_BITS | UTXEN | URXEN) | value & self.sta & OERR,
            BRG => self.brg = value & 0xFFFF,
            TXREG if self.mode & ON != 0 && self.sta & UTXEN != 0 => return Some(value as u8),
            _ => {}
        }
        None
    }

    fn receives(&self) -> bool {
        self.mode & ON != 0 && self.sta & URXEN != 0
    }

    /// The console keeps the input while the FIFO is full, so that no overrun occurs.
    pub fn has_space(&self) -> bool {
        self.receives() && self.received.len() < FIFO
    }

    pub fn push(&mut self, byte: u8) {
        self.received.push_back(byte);
    }

    pub fn pop(&mut self) {
        self.received.pop_front();
    }

    /// URXISEL: interrupt with one character, half or three quarters of the FIFO.
    pub fn rx_interrupt(&self) -> bool {
        let least = match self.sta >> 6 & 3 {
            0 => 1,
            1 => FIFO / 2,
            _ => FIFO * 3 / 4,
        };
        self.receives() && self.received.len() >= least
    }

    /// Always requests an interrupt while enabled: the transmitter is empty for each setting of
    /// UTXISEL.
    pub fn tx_interrupt(&self) -> bool {
        self.mode & ON != 0 && self.sta & UTXEN != 0
    }
}
