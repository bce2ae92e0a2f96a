// SPDX-License-Identifier: Apache-2.0
//! The interrupt controller: flags, enables, priorities and vector offsets of 214 interrupts.

use crate::board::Lines;

const CON: u32 = 0x00;
const PRISS: u32 = 0x10;
const STAT: u32 = 0x20;
const IPTMR: u32 = 0x30;
const IFS: std::ops::Range<u32> = 0x40..0xB0;
const IEC: std::ops::Range<u32> = 0xC0..0x130;
const IPC: std::ops::Range<u32> = 0x140..0x4A0;
const OFF: u32 = 0x540;
const IRQS: usize = 214;

const MVEC: u32 = 1 << 12;

pub struct Intc {
    con: u32,
    priss: u32,
    iptmr: u32,
    flags: [u32; 7],
    enables: [u32; 7],
    priorities: [u32; 54],
    offsets: [u32; IRQS],
}

impl Intc {
    pub fn new() -> Self {
        Intc { con: 0, priss: 0, iptmr: 0, flags: [0; 7], enables: [0; 7], priorities: [0; 54], offsets: [0; IRQS] }
    }

    /// Sets the flag if the source is high. A caller that passes a level sets the flag again after
    /// each clear; a caller that passes an edge sets the flag once.
    pub fn raise(&mut self, irq: usize, high: bool) {
        self.flags[irq / 32] |= u32::from(high) << (irq % 32);
    }

    /// Priority and sub-priority.
    fn priority(&self, irq: usize) -> u32 {
        self.priorities[irq / 4] >> (8 * (irq % 4)) & 0x1F
    }

    /// The pending interrupt with the highest priority, then sub-priority, then the lowest number.
    /// Priority 0 disables an interrupt.
    fn best(&self) -> Option<(u32, usize)> {
        let mut best: Option<(u32, usize)> = None;
        for word in 0..self.flags.len() {
            let mut pending = self.flags[word] & self.enables[word];
            while pending != 0 {
                let irq = word * 32 + pending.trailing_zeros() as usize;
                pending &= pending - 1;
                let priority = self.priority(irq);
                if priority >> 2 != 0 && best.is_none_or(|(most, _)| priority > most) {
                    best = Some((priority, irq));
                }
            }
        }
        best
    }

    pub fn lines(&self) -> Lines {
        let Some((priority, irq)) = self.best() else { return Lines::default() };
        let level = priority >> 2;
        let offset = (self.con & MVEC != 0).then(|| self.offsets.get(irq).copied().unwrap_or(0));
        Lines { ip: 0, level, offset, set: self.priss >> (4 * level) & 0xF }
    }

    pub fn read(&self, at: u32) -> u32 {
        let word = |range: &std::ops::Range<u32>| ((at - range.start) / 16) as usize;
        match at {
            CON => self.con,
            PRISS => self.priss,
            STAT => self.best().map_or(0, |(priority, irq)| priority >> 2 << 8 | irq as u32),
            IPTMR => self.iptmr,
            _ if IFS.contains(&at) => self.flags[word(&IFS)],
            _ if IEC.contains(&at) => self.enables[word(&IEC)],
            _ if IPC.contains(&at) => self.priorities[word(&IPC)],
            _ => self.offset(at).map_or(0, |n| self.offsets[n]),
        }
    }

    fn offset(&self, at: u32) -> Option<usize> {
        let n = (at.checked_sub(OFF)? / 4) as usize;
        (n < IRQS).then_some(n)
    }

    pub fn write(&mut self, at: u32, value: u32) {
        let word = |range: &std::ops::Range<u32>| ((at - range.start) / 16) as usize;
        match at {
            CON => self.con = value & 0x007F_171F,
            PRISS => self.priss = value & 0xFFFF_FFF1,
            IPTMR => self.iptmr = value,
            _ if IFS.contains(&at) => self.flags[word(&IFS)] = value,
            _ if IEC.contains(&at) => self.enables[word(&IEC)] = value,
            _ if IPC.contains(&at) => self.priorities[word(&IPC)] = value & 0x1F1F_1F1F,
            _ => {
                if let Some(n) = self.offset(at) {
                    self.offsets[n] = value & 0x3_FFFE;
                }
            }
        }
    }
}
