// SPDX-License-Identifier: Apache-2.0
//! The machine's time beside the world's, for whoever sits at the terminal.

use std::thread;
use std::time::{Duration, Instant};

/// Of a core's clock of 100 MHz.
const CLOCK_NS: u64 = 10;
/// By how much the two may differ.
const SLACK: Duration = Duration::from_millis(1);

/// Lets no clock pass before its time. What executes more slowly than the clock says is not made up for later: pauses
/// are as long as they would be.
pub struct Pace {
    since: Instant,
    at: u64,
}

impl Pace {
    pub fn new(now: u64) -> Self {
        Pace { since: Instant::now(), at: now }
    }

    /// Waits if the machine, whose time is `now`, is ahead.
    pub fn keep(&mut self, now: u64) {
        let passed = self.since.elapsed();
        let ours = Duration::from_nanos(now.saturating_sub(self.at).saturating_mul(CLOCK_NS));
        if ours > passed + SLACK {
            thread::sleep(ours - passed);
        } else if passed > ours + SLACK {
            *self = Pace::new(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCKS_PER_MS: u64 = 1_000_000 / CLOCK_NS;

    fn took(pace: &mut Pace, now: u64) -> Duration {
        let start = Instant::now();
        pace.keep(now);
        start.elapsed()
    }

    #[test]
    fn time_never_runs_ahead_and_a_pause_is_never_cut_short() {
        let mut pace = Pace::new(0);
        assert!(took(&mut pace, 20 * CLOCKS_PER_MS) >= Duration::from_millis(18));
        thread::sleep(Duration::from_millis(20));
        pace.keep(21 * CLOCKS_PER_MS); // behind by then
        assert!(took(&mut pace, 31 * CLOCKS_PER_MS) >= Duration::from_millis(9));
    }
}
