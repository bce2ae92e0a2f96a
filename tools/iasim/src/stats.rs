// SPDX-License-Identifier: Apache-2.0
//! Statistics: instructions by context and mode, exceptions and exits by cause, instructions
//! between markers.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cpu::{Context, Mode};
use crate::exception::{Fault, CODE_NAMES, GEXC_NAMES};

/// An exception: the guest that executed (None: the root), whether it went to the guest, ExcCode
/// and GExcCode.
type Cause = (Option<u8>, bool, u8, Option<u8>);

/// Two markers between which instructions are counted.
#[derive(Default)]
pub struct Span {
    pub name: String,
    pub from: u32,
    pub to: u32,
    /// Counts at the last passage of `from`: of all instructions, of the root's.
    open: Option<(u64, u64)>,
    /// Counts of each passage.
    pub all: Vec<u64>,
    pub root: Vec<u64>,
}

impl Span {
    pub fn new(name: String, from: u32, to: u32) -> Self {
        Span { name, from, to, ..Span::default() }
    }
}

pub struct Stats {
    /// Kernel-mode and user-mode instructions by GuestID; 0 is the root.
    by_guest: Vec<[u64; 2]>,
    /// GuestID and mode that execute now, and the instruction count at which they were last
    /// accounted.
    current: (usize, usize),
    since: u64,
    exceptions: BTreeMap<Cause, u64>,
    pub spans: Vec<Span>,
    /// Number of entries into each guest.
    entries: Vec<u64>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats {
            by_guest: vec![[0; 2]; 256],
            current: (0, 0),
            since: 0,
            exceptions: BTreeMap::new(),
            spans: Vec::new(),
            entries: vec![0; 256],
        }
    }
}

impl Stats {
    /// Adds the instructions since the last call to the current context and mode.
    pub fn account(&mut self, instructions: u64) {
        let (guest, user) = self.current;
        self.by_guest[guest][user] += instructions - self.since;
        self.since = instructions;
    }

    /// Sets the current context and mode. A guest with GuestID 0 is counted together with the root.
    pub fn set_current(&mut self, guest: u8, is_guest: bool, kernel: bool) {
        let guest = usize::from(guest);
        if is_guest && self.current.0 != guest {
            self.entries[guest] += 1;
        }
        self.current = (guest, usize::from(!kernel));
    }

    pub fn exception(&mut self, mode: Mode, guest: u8, fault: &Fault) {
        let from_guest = mode.is_guest().then_some(guest);
        let key = (from_guest, fault.to == Context::Guest, fault.code, fault.gexc);
        *self.exceptions.entry(key).or_default() += 1;
    }

    /// Number of exceptions with this cause.
    pub fn exceptions(&self, key: Cause) -> u64 {
        self.exceptions.get(&key).copied().unwrap_or(0)
    }

    fn root_total(&self) -> u64 {
        self.by_guest[0].iter().sum()
    }

    /// Records the passage of a marker. The marker instruction itself counts towards the span that
    /// it ends, not towards the one that it starts.
    pub fn mark(&mut self, marker: u32) {
        let now = (self.since, self.root_total());
        for span in &mut self.spans {
            if span.to == marker {
                if let Some((all, root)) = span.open.take() {
                    span.all.push(now.0 - all);
                    span.root.push(now.1 - root);
                }
            }
            if span.from == marker {
                span.open = Some(now);
            }
        }
    }

    /// Instructions of the root (0) or a guest: in kernel mode, in user mode.
    pub fn instructions(&self, guest: u8) -> [u64; 2] {
        self.by_guest[usize::from(guest)]
    }

    /// The statistics as text.
    pub fn report(&self) -> String {
        let mut text = String::from("instructions          kernel          user       entered\n");
        for (guest, [kernel, user]) in self.by_guest.iter().enumerate().filter(|(_, counts)| **counts != [0; 2]) {
            let name = if guest == 0 { "root".to_string() } else { format!("guest {guest}") };
            let _ = writeln!(text, "  {name:<10} {kernel:>15} {user:>13} {:>13}", self.entries[guest]);
        }
        if !self.exceptions.is_empty() {
            text += "exceptions and exits\n";
        }
        for ((from_guest, to_guest, code, gexc), count) in &self.exceptions {
            let from = from_guest.map_or("root".to_string(), |guest| format!("guest {guest}"));
            let to = if *to_guest { "itself" } else { "root" };
            let _ = writeln!(text, "  {from:<10} to {to:<8} {:<14} {count:>10}", cause_name(*code, *gexc));
        }
        self.spans.iter().filter(|span| !span.all.is_empty()).for_each(|span| report_span(&mut text, span));
        text
    }
}

fn cause_name(code: u8, gexc: Option<u8>) -> String {
    let name = CODE_NAMES[usize::from(code & 31)];
    match gexc.and_then(|gexc| GEXC_NAMES.get(usize::from(gexc))) {
        Some(reason) => format!("{name} {reason}"),
        None => name.to_string(),
    }
}

/// Minimum, median and maximum.
pub fn summary(counts: &[u64]) -> Option<(u64, u64, u64)> {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    Some((*sorted.first()?, sorted[sorted.len() / 2], *sorted.last()?))
}

fn report_span(text: &mut String, span: &Span) {
    for (what, counts) in [("all", &span.all), ("root", &span.root)] {
        if let Some((least, median, most)) = summary(counts) {
            let _ = writeln!(
                text,
                "span {} {what:<5} n {} min {least} median {median} max {most}",
                span.name,
                counts.len()
            );
        }
    }
}
