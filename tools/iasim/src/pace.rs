// SPDX-License-Identifier: Apache-2.0
//! Keeps simulated time from running faster than real time, for interactive use.

use std::thread;
use std::time::{Duration, Instant};

/// Duration of a clock of the 100 MHz core.
const CLOCK_NS: u64 = 10;
/// Permitted difference between simulated and real time.
const SLACK: Duration = Duration::from_millis(1);

/// Delays execution until real time reaches simulated time. When the simulation is late, the delay
/// is not made up for: later pauses keep their length.
pub struct Pace {
    since: Instant,
    at: u64,
}

impl Pace {
    pub fn new(now: u64) -> Self {
        Pace { since: Instant::now(), at: now }
    }

    /// Sleeps if the simulated time `now` is ahead of real time.
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
        pace.keep(21 * CLOCKS_PER_MS); // late by now
        assert!(took(&mut pace, 31 * CLOCKS_PER_MS) >= Duration::from_millis(9));
    }
}
