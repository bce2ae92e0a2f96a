// SPDX-License-Identifier: Apache-2.0
//! Observers: instruction trace, instructions by function, markers at addresses, non-preemptible
//! sections.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::cpu::{Cpu, Mode};
use crate::disasm;
use crate::image::Symbols;
use crate::isa::Op;
use crate::observe::Observer;

/// Context and mode as text: R (root kernel), Ru (root user), G2 (kernel of guest 2), G2u (its user
/// mode).
pub fn mode_tag(cpu: &Cpu) -> String {
    match cpu.mode {
        Mode::RootKernel => "R".into(),
        Mode::RootUser => "Ru".into(),
        Mode::GuestKernel => format!("G{}", cpu.guest_id()),
        Mode::GuestUser => format!("G{}u", cpu.guest_id()),
    }
}

/// Writes one line per instruction: its number, context and mode, address, word, text, function.
pub struct Trace {
    out: Box<dyn Write>,
    symbols: Symbols,
    /// The register written by the previous instruction; its value is known only now.
    written: Option<usize>,
    /// The error because of which the trace is incomplete.
    write_error: Option<io::Error>,
}

impl Trace {
    pub fn new(out: Box<dyn Write>, symbols: Symbols) -> Self {
        Trace { out, symbols, written: None, write_error: None }
    }

    fn note(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let written = write(&mut self.out);
        self.write_error = self.write_error.take().or(written.err());
    }

    /// Ends the previous instruction's line with the value that the instruction wrote.
    fn finish(&mut self, cpu: &Cpu) {
        let end = match self.written.take() {
            Some(reg) => format!("  {}=0x{:08x}\n", disasm::REGS[reg & 31], cpu.gpr[reg]),
            None => "\n".to_string(),
        };
        self.note(|out| out.write_all(end.as_bytes()));
    }
}

impl Observer for Trace {
    fn before(&mut self, cpu: &mut Cpu, op: Op) -> bool {
        if cpu.instructions() > 0 {
            self.finish(cpu);
        }
        let (word, text) = cpu.disassemble(op, cpu.pc);
        let function = self.symbols.function(cpu.pc).unwrap_or("");
        let (number, mode) = (cpu.instructions(), mode_tag(cpu));
        let line = format!("{number:>10} {mode:<4} {:08x} {word:08x} {text:<32} {function}", cpu.pc);
        self.note(|out| out.write_all(line.as_bytes()));
        self.written = (op.rd() < 32).then_some(op.rd());
        true
    }

    fn report(&mut self) -> String {
        self.note(|out| out.write_all(b"\n").and_then(|()| out.flush()));
        String::new()
    }

    fn incomplete(&self) -> Option<String> {
        self.write_error.as_ref().map(|error| format!("the trace is incomplete: {error}"))
    }
}

/// Key of a page's counts: GuestID, whether a guest executed, address of the page.
type Page = (u8, bool, u32);

/// Counts instructions by function.
pub struct Profile {
    symbols: Symbols,
    counts: HashMap<Page, Box<[u64; 1024]>>,
    /// The page of the previous instruction, and its counts.
    last: (Page, Box<[u64; 1024]>),
}

impl Profile {
    pub fn new(symbols: Symbols) -> Self {
        Profile { symbols, counts: HashMap::new(), last: ((0, false, 1), Box::new([0; 1024])) }
    }

    fn select_page(&mut self, page: Page) {
        let counts = self.counts.remove(&page).unwrap_or_else(|| Box::new([0; 1024]));
        let (before, old) = std::mem::replace(&mut self.last, (page, counts));
        self.counts.insert(before, old);
    }

    fn by_function(&mut self) -> HashMap<(u8, bool, String), u64> {
        self.select_page((0, false, 1));
        let mut totals = HashMap::new();
        for ((guest, is_guest, page), counts) in &self.counts {
            for (n, count) in counts.iter().enumerate().filter(|(_, count)| **count != 0) {
                let at = page.wrapping_add(4 * n as u32);
                let name = self.symbols.function(at).map_or(format!("0x{page:08x}.."), str::to_string);
                *totals.entry((*guest, *is_guest, name)).or_default() += count;
            }
        }
        totals
    }
}

impl Observer for Profile {
    fn before(&mut self, cpu: &mut Cpu, _: Op) -> bool {
        let guest = cpu.mode.is_guest();
        let page = (if guest { cpu.guest_id() } else { 0 }, guest, cpu.pc & !0xFFF);
        if page != self.last.0 {
            self.select_page(page);
        }
        self.last.1[(cpu.pc >> 2) as usize & 1023] += 1;
        true
    }

    fn report(&mut self) -> String {
        let mut functions: Vec<_> = self.by_function().into_iter().collect();
        functions.sort_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
        let total: u64 = functions.iter().map(|(_, count)| count).sum();
        let mut text = String::from("instructions by function\n");
        for ((guest, is_guest, name), count) in functions {
            let owner = if is_guest { format!("guest {guest}") } else { "root".to_string() };
            let share = 100.0 * count as f64 / total as f64;
            let _ = writeln!(text, "  {owner:<10} {count:>13} {share:>5.1} %  {name}");
        }
        text
    }
}

/// Markers at addresses instead of in the program.
pub struct AddressMarkers(pub Vec<(u32, u32)>);

impl Observer for AddressMarkers {
    fn before(&mut self, cpu: &mut Cpu, _: Op) -> bool {
        for (_, marker) in self.0.iter().filter(|(at, _)| *at == cpu.pc & !1) {
            cpu.stats.account(cpu.instructions());
            cpu.stats.mark(*marker);
        }
        true
    }
}

/// Measures the root's non-preemptible sections: from an exception, or a polling point for
/// interrupts, to the next polling point or guest entry.
pub struct Sections {
    polling_points: Vec<u32>,
    paths: Vec<(u32, String)>,
    /// Set at the first guest entry; the boot code before it delays no guest.
    guest_has_run: bool,
    /// The open section: the instruction count at its start, and a bit for each path passed.
    open: Option<(u64, u32)>,
    /// By the paths passed: number of sections, and the longest.
    found: BTreeMap<u32, (u64, u64)>,
}

impl Sections {
    /// There are at most 32 paths.
    pub fn new(polling_points: Vec<u32>, paths: Vec<(u32, String)>) -> Self {
        Sections { polling_points, paths, guest_has_run: false, open: None, found: BTreeMap::new() }
    }

    fn close(&mut self, now: u64) {
        if let Some((since, passed)) = self.open.take() {
            let (count, most) = self.found.entry(passed).or_default();
            *count += 1;
            *most = (*most).max(now - since);
        }
    }

    fn names(&self, passed: u32) -> String {
        let names =
            self.paths.iter().enumerate().filter(|(n, _)| passed >> n & 1 != 0).map(|(_, path)| path.1.as_str());
        let names = names.collect::<Vec<_>>().join("+");
        if names.is_empty() {
            "-".to_string()
        } else {
            names
        }
    }
}

impl Observer for Sections {
    fn before(&mut self, cpu: &mut Cpu, _: Op) -> bool {
        let now = cpu.instructions();
        if cpu.mode.is_guest() {
            self.close(now);
            self.guest_has_run = true;
            return true;
        }
        if !self.guest_has_run {
            return true;
        }
        if self.polling_points.contains(&(cpu.pc & !1)) {
            self.close(now);
        }
        let open = self.open.get_or_insert((now, 0));
        self.paths.iter().enumerate().filter(|(_, path)| path.0 == cpu.pc & !1).for_each(|(n, _)| open.1 |= 1 << n);
        true
    }

    fn report(&mut self) -> String {
        let mut lines: Vec<_> = self.found.iter().map(|(passed, counts)| (counts.1, counts.0, *passed)).collect();
        lines.sort_unstable_by(|one, other| other.cmp(one));
        let line = |(most, count, passed)| format!("section {} n {count} max {most}\n", self.names(passed));
        lines.into_iter().map(line).collect()
    }
}
