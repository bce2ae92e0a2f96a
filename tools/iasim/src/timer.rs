// SPDX-License-Identifier: Apache-2.0
//! Count and Compare of both contexts.

use crate::cp0::{self, cause};
use crate::cpu::{Context, Cpu};

pub struct Timer {
    divider: u64,
    /// Root.Count minus the ticks since the start.
    bias: u32,
    /// Root.Count while Cause.DC stops it.
    held: Option<u32>,
    /// Clock of the next match of Count and Compare, by context.
    matches: [u64; 2],
}

impl Timer {
    pub fn new(divider: u64) -> Self {
        Timer { divider, bias: 0, held: None, matches: [u64::MAX; 2] }
    }

    pub fn reset(&mut self, now: u64) {
        *self = Timer { bias: 0u32.wrapping_sub(self.ticks(now)), ..Timer::new(self.divider) };
    }

    pub fn next(&self) -> u64 {
        self.matches[0].min(self.matches[1])
    }

    fn ticks(&self, now: u64) -> u32 {
        (now / self.divider) as u32
    }

    fn count(&self, now: u64) -> u32 {
        self.held.unwrap_or(self.ticks(now).wrapping_add(self.bias))
    }

    /// The next clock after `now` at which a counter with the value `count` reaches `compare`.
    fn next_match(&self, now: u64, count: u32, compare: u32) -> u64 {
        let steps = u64::from(compare.wrapping_sub(count).wrapping_sub(1)) + 1;
        (now / self.divider + steps) * self.divider
    }
}

impl Cpu {
    pub fn count(&self, context: Context) -> u32 {
        let count = self.timer.count(self.now);
        match context {
            Context::Root => count,
            Context::Guest => count.wrapping_add(self.gtoffset()),
        }
    }

    /// GTOffset, sign-extended from its implemented width.
    fn gtoffset(&self) -> u32 {
        let spare = 32 - self.model.gtoffset_bits;
        ((self.root[cp0::GTOFFSET] << spare) as i32 >> spare) as u32
    }

    pub fn set_count(&mut self, count: u32) {
        match &mut self.timer.held {
            Some(held) => *held = count,
            None => self.timer.bias = count.wrapping_sub(self.timer.ticks(self.now)),
        }
        self.timer_arm();
    }

    pub fn set_compare(&mut self, context: Context, compare: u32) {
        self.timer_set_matches();
        let cp0 = self.cp0_mut(context);
        cp0[cp0::COMPARE] = compare;
        cp0[cp0::CAUSE] &= !cause::TI;
        self.timer.matches[context as usize] = u64::MAX;
        self.timer_arm();
    }

    /// Stops or restarts Count after a write of the root's Cause.DC.
    pub fn timer_update_hold(&mut self) {
        let hold = self.root.has(cp0::CAUSE, cause::DC);
        match (hold, self.timer.held) {
            (true, None) => self.timer.held = Some(self.timer.count(self.now)),
            (false, Some(count)) => {
                self.timer.held = None;
                self.timer.bias = count.wrapping_sub(self.timer.ticks(self.now));
            }
            _ => return,
        }
        self.timer_arm();
    }

    /// Recomputes the next matches; called after every change of Count, Compare or GTOffset. A
    /// match at the current clock is recorded first, because the recomputation would lose it.
    pub fn timer_arm(&mut self) {
        self.timer_set_matches();
        for (n, context) in [Context::Root, Context::Guest].into_iter().enumerate() {
            let count = self.count(context);
            let at = self.timer.next_match(self.now, count, self.cp0(context)[cp0::COMPARE]);
            self.timer.matches[n] = if self.timer.held.is_some() { u64::MAX } else { at };
        }
        self.request_service();
    }

    /// Sets TI for each counter that has matched; true if one has.
    fn timer_set_matches(&mut self) -> bool {
        let due = self.timer.matches.map(|at| at <= self.now);
        if due[0] {
            self.root[cp0::CAUSE] |= cause::TI;
        }
        if due[1] {
            self.guest[cp0::CAUSE] |= cause::TI;
        }
        due[0] || due[1]
    }

    /// Records matches that are due and computes the next ones.
    pub fn timer_advance(&mut self) {
        if self.timer_set_matches() {
            self.timer_arm();
        }
    }
}
