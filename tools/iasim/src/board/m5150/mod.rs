// SPDX-License-Identifier: Apache-2.0
//! The devices of a PIC32MZ-EF: six UARTs, nine timers, the interrupt controller, software reset.
//! Each register is followed by three addresses that clear, set and invert its bits.

mod intc;
mod timers;
mod uart;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::console::Console;
use super::{Board, CoreLines, Lines};
use crate::memory::Memory;
use intc::Intc;
use timers::Timers;
use uart::Uart;

const SFRS: u32 = 0x1F80_0000;
const SFRS_SIZE: u32 = 0x10_0000;

const DEVID_AT: u32 = 0x0020;
const SYSKEY: u32 = 0x0030;
const RSWRST: u32 = 0x1250;
const INTC: std::ops::Range<u32> = 0x1_0000..0x1_1000;
/// OFF0 to OFF213 are contiguous; they alone have no clear, set and invert addresses.
const OFFSETS: std::ops::Range<u32> = 0x1_0540..0x1_0898;
const UARTS: std::ops::Range<u32> = 0x2_2000..0x2_2C00;
const TIMERS: std::ops::Range<u32> = 0x4_0000..0x4_1200;

const KEYS: [u32; 2] = [0xAA99_6655, 0x5566_99AA];

/// The core timer and the two software interrupts (Cause.IP1:0).
const CORE_TIMER_IRQ: usize = 0;
const SOFTWARE_IRQS: [usize; 2] = [1, 2];
/// The error interrupt of each UART; those of its receiver and its transmitter follow.
const UART_IRQS: [usize; 6] = [112, 145, 157, 170, 179, 188];
/// PBCLK2 and PBCLK3 run at half the core's clock.
const PERIPHERAL: u64 = 2;

/// A PIC32MZ2048EFG144 of revision A1: revision in bits 31:28, device in 27:0.
const DEVID: u32 = 0x1722_2053;

/// Registers that are modelled as storage, with their reset values. Registers that are not listed
/// reset to zero.
const PRESET: [(u32, u32); 11] = [
    (DEVID_AT, DEVID),
    (0x1200, 0x0131_0201),
    (0x1300, 0x8801),
    (0x1310, 0x8801),
    (0x1320, 0x8801),
    (0x1330, 0x8801),
    (0x1340, 0x8801),
    (0x1350, 0x8801),
    (0x1360, 0x8800),
    (0x1370, 0x8801),
    (0xE_0000, 0x7),
];

pub struct M5150 {
    console: Console,
    /// The UART that the console is connected to.
    console_uart: usize,
    intc: Intc,
    timers: Timers,
    uarts: [Uart; 6],
    storage: BTreeMap<u32, u32>,
    /// Registers without a model that the program wrote.
    unknown: BTreeSet<u32>,
    keys: VecDeque<u32>,
    reset_armed: bool,
    reset: bool,
    /// The core's lines at the last poll, to detect rising edges.
    core: CoreLines,
}

/// The base address of a register, and the operation of a write at this address.
fn register(at: u32) -> (u32, u32) {
    if OFFSETS.contains(&at) {
        (at & !3, 0)
    } else {
        (at & !0xF, at >> 2 & 3)
    }
}

/// The register's new value after a write with this operation.
fn combine(old: u32, how: u32, value: u32) -> u32 {
    match how {
        0 => value,
        1 => old & !value,
        2 => old | value,
        _ => old ^ value,
    }
}

impl M5150 {
    /// `console_uart`: number, from 1, of the UART that the console is connected to.
    pub fn new(console: Console, console_uart: usize) -> Self {
        M5150 {
            console,
            console_uart: console_uart - 1,
            intc: Intc::new(),
            timers: Timers::new(PERIPHERAL),
            uarts: Default::default(),
            storage: PRESET.into_iter().collect(),
            unknown: BTreeSet::new(),
            keys: VecDeque::new(),
            reset_armed: false,
            reset: false,
            core: CoreLines::default(),
        }
    }

    pub fn memory(ram: u32) -> Memory {
        let mut mem = Memory::default();
        mem.add("SRAM", 0, ram, true);
        mem.add("program flash", 0x1D00_0000, 0x20_0000, false);
        mem.add("boot flash", 0x1FC4_0000, 0x4_0000, false);
        mem.alias("lower boot flash", 0x1FC0_0000, 0x1FC4_0000, 0x2_0000, false);
        mem.alias("upper boot flash", 0x1FC2_0000, 0x1FC6_0000, 0x2_0000, false);
        mem
    }

    fn unlocked(&self) -> bool {
        self.keys.iter().eq(KEYS.iter())
    }

    /// A register's value, without the side effects of a read.
    fn peek(&self, register: u32, now: u64) -> u32 {
        match register {
            _ if INTC.contains(&register) => self.intc.read(register - INTC.start),
            _ if UARTS.contains(&register) => self.uart(register).map_or(0, |uart| uart.read(register & 0x1F0)),
            _ if TIMERS.contains(&register) => self.timers.read(register - TIMERS.start, now),
            _ => self.storage.get(&register).copied().unwrap_or(0),
        }
    }

    fn uart(&self, register: u32) -> Option<&Uart> {
        self.uarts.get(((register - UARTS.start) / 0x200) as usize)
    }

    fn read_effects(&mut self, register: u32) {
        if UARTS.contains(&register) && register & 0x1F0 == uart::RXREG {
            self.uarts[((register - UARTS.start) / 0x200) as usize].pop();
        }
        if register == RSWRST && self.reset_armed {
            self.reset = true;
        }
    }

    fn poke(&mut self, register: u32, value: u32, now: u64) {
        match register {
            SYSKEY => {
                self.keys.push_back(value);
                while self.keys.len() > KEYS.len() {
                    self.keys.pop_front();
                }
            }
            RSWRST => self.reset_armed = value & 1 != 0 && self.unlocked(),
            _ if INTC.contains(&register) => self.intc.write(register - INTC.start, value),
            _ if UARTS.contains(&register) => self.poke_uart(register, value),
            _ if TIMERS.contains(&register) => self.timers.write(register - TIMERS.start, value, now),
            DEVID_AT => {} // read-only
            _ => {
                self.storage.insert(register, value);
                self.unknown.insert(register);
            }
        }
    }

    fn poke_uart(&mut self, register: u32, value: u32) {
        let n = ((register - UARTS.start) / 0x200) as usize;
        let sent = self.uarts[n].write(register & 0x1F0, value);
        if let Some(byte) = sent.filter(|_| n == self.console_uart) {
            self.console.put(byte);
        }
    }

    /// The core's interrupts, 0 to 2, set their flags on the rising edge, because software may
    /// clear the flag before or after it writes Compare or Cause.
    fn latch_core(&mut self, core: CoreLines) {
        let risen = core.software & !self.core.software;
        self.intc.raise(CORE_TIMER_IRQ, core.timer && !self.core.timer);
        self.intc.raise(SOFTWARE_IRQS[0], risen & 1 != 0);
        self.intc.raise(SOFTWARE_IRQS[1], risen & 2 != 0);
        self.core = core;
    }

    fn receive(&mut self, now: u64) {
        let uart = &mut self.uarts[self.console_uart];
        while uart.has_space() {
            let Some(byte) = self.console.take(now) else { break };
            uart.push(byte);
        }
    }
}

impl Board for M5150 {
    fn has_eic(&self) -> bool {
        true
    }

    fn read(&mut self, pa: u32, size: u32, now: u64) -> Option<u32> {
        let at = pa.wrapping_sub(SFRS);
        if at >= SFRS_SIZE {
            return None;
        }
        // The clear, set and invert addresses read as the register; on the real part the value is
        // undefined.
        let (register, _) = register(at);
        let word = self.peek(register, now);
        self.read_effects(register);
        Some(word >> (8 * (pa & 3)) & (u32::MAX >> (32 - 8 * size)))
    }

    fn write(&mut self, pa: u32, size: u32, value: u32, now: u64) -> Option<()> {
        let at = pa.wrapping_sub(SFRS);
        if at >= SFRS_SIZE {
            return None;
        }
        let (register, how) = register(at);
        let (shift, mask) = (8 * (pa & 3), u32::MAX >> (32 - 8 * size));
        let old = self.peek(register, now);
        // A narrow write leaves the other bytes unchanged.
        let kept = if how == 0 { old & !(mask << shift) } else { 0 };
        self.poke(register, combine(old, how, kept | (value & mask) << shift), now);
        Some(())
    }

    fn poll(&mut self, now: u64, core: CoreLines) -> Lines {
        self.receive(now);
        let fired = self.timers.advance(now);
        self.latch_core(core);
        for irq in fired {
            self.intc.raise(irq, true);
        }
        for (uart, irq) in self.uarts.iter().zip(UART_IRQS) {
            self.intc.raise(irq + 1, uart.rx_interrupt());
            self.intc.raise(irq + 2, uart.tx_interrupt());
        }
        self.intc.lines()
    }

    fn next(&self) -> u64 {
        let typed = if self.uarts[self.console_uart].has_space() { self.console.next() } else { u64::MAX };
        self.timers.next().min(typed)
    }

    fn console(&mut self) -> &mut Console {
        &mut self.console
    }

    fn notes(&self) -> Vec<String> {
        let note = |at: &u32| format!("0x{:08x} was written, but is modelled as storage only", 0xA000_0000 | SFRS | at);
        self.unknown.iter().map(note).collect()
    }

    fn take_reset(&mut self) -> bool {
        if !self.reset {
            return false;
        }
        let console = std::mem::take(&mut self.console);
        *self = M5150::new(console, self.console_uart + 1);
        true
    }
}
