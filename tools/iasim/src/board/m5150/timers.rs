// SPDX-License-Identifier: Apache-2.0
//! Timers 1 to 9. An even-numbered timer can be joined with the next one to 32 bits.

const CON: u32 = 0x00;
const TMR: u32 = 0x10;
const PR: u32 = 0x20;

const ON: u32 = 1 << 15;
const T32: u32 = 1 << 3;

const IRQS: [usize; 9] = [4, 9, 14, 19, 24, 28, 32, 36, 40];
const PRESCALE_A: [u64; 4] = [1, 8, 64, 256];
const PRESCALE_B: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 256];

#[derive(Clone, Copy)]
struct Timer {
    con: u32,
    /// The count at `since`.
    count: u64,
    since: u64,
    period: u64,
}

pub struct Timers {
    clock: u64,
    timers: [Timer; 9],
}

impl Timers {
    pub fn new(clock: u64) -> Self {
        Timers { clock, timers: [Timer { con: 0, count: 0, since: 0, period: 0xFFFF }; 9] }
    }

    /// Clocks per step of the timer.
    fn step(&self, n: usize) -> u64 {
        let con = self.timers[n].con;
        let scale = match n {
            0 => PRESCALE_A[(con >> 4 & 3) as usize],
            _ => PRESCALE_B[(con >> 4 & 7) as usize],
        };
        scale * self.clock
    }

    /// Whether the timer is the lower half of a 32-bit timer.
    fn is_joined(&self, n: usize) -> bool {
        n % 2 == 1 && n < 8 && self.timers[n].con & T32 != 0
    }

    /// Whether the timer counts; the upper half of a 32-bit timer does not count by itself.
    fn runs(&self, n: usize) -> bool {
        self.timers[n].con & ON != 0 && !(n >= 2 && n % 2 == 0 && self.is_joined(n - 1))
    }

    fn period(&self, n: usize) -> u64 {
        let low = self.timers[n].period;
        if self.is_joined(n) {
            low | self.timers[n + 1].period << 16
        } else {
            low
        }
    }

    fn count(&self, n: usize, now: u64) -> u64 {
        let timer = &self.timers[n];
        if !self.runs(n) {
            return timer.count;
        }
        let period = self.period(n) + 1;
        (timer.count + (now - timer.since) / self.step(n)) % period
    }

    /// When the count exceeds the period next; never with a period of 0.
    fn due(&self, n: usize) -> u64 {
        let timer = &self.timers[n];
        if !self.runs(n) || self.period(n) == 0 {
            return u64::MAX;
        }
        timer.since + (self.period(n) + 1).saturating_sub(timer.count).max(1) * self.step(n)
    }

    pub fn next(&self) -> u64 {
        (0..9).map(|n| self.due(n)).min().unwrap_or(u64::MAX)
    }

    /// The interrupts of the timers whose periods have elapsed.
    pub fn advance(&mut self, now: u64) -> Vec<usize> {
        let mut fired = Vec::new();
        for n in 0..9 {
            if self.due(n) <= now {
                let (count, step) = (self.count(n, now), self.step(n));
                let since = now - (now - self.timers[n].since) % step;
                self.timers[n] = Timer { count, since, ..self.timers[n] };
                fired.push(IRQS[if self.is_joined(n) { n + 1 } else { n }]);
            }
        }
        fired
    }

    pub fn read(&self, at: u32, now: u64) -> u32 {
        let (n, register) = ((at / 0x200) as usize, at & 0x1F0);
        let upper = n >= 2 && n % 2 == 0 && self.is_joined(n - 1);
        match register {
            CON => self.timers[n].con,
            TMR if upper => (self.count(n - 1, now) >> 16) as u32,
            TMR if self.is_joined(n) => self.count(n, now) as u32,
            TMR => self.count(n, now) as u32 & 0xFFFF,
            PR => self.period(n) as u32,
            _ => 0,
        }
    }

    pub fn write(&mut self, at: u32, value: u32, now: u64) {
        let (n, register) = ((at / 0x200) as usize, at & 0x1F0);
        let count = self.count(n, now);
        let wide = self.is_joined(n);
        self.timers[n].count = count;
        self.timers[n].since = now;
        match register {
            CON => self.timers[n].con = value & 0xFFFF,
            TMR => self.timers[n].count = u64::from(if wide { value } else { value & 0xFFFF }),
            PR => {
                self.timers[n].period = u64::from(value & 0xFFFF);
                if wide {
                    self.timers[n + 1].period = u64::from(value >> 16);
                }
            }
            _ => {}
        }
    }
}
