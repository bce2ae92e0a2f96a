// SPDX-License-Identifier: Apache-2.0
//! The VM under the debugger: its VCPUs, its memory as they see it, breakpoints, single steps.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::decode;
use crate::link::{Error, Link, Operation, ALL, DATA};
use crate::walk;

pub const PC: u32 = 32;
pub const CSR: u32 = 65;
pub const PRIVILEGE: u32 = 4161;
const STVEC: u32 = CSR + 0x105;
const SEPC: u32 = CSR + 0x141;
const SATP: u32 = CSR + 0x180;
const USER: u64 = 0;

/// c.ebreak, also where a longer instruction stands: it never lies across two pages.
const EBREAK: [u8; 2] = [0x02, 0x90];
const PAGE: u64 = 0x1000;
const WORDS: usize = DATA / 8;
const OFF_ERROR: u8 = 4;
const RUNNING_ERROR: u8 = 6;
const VCPU_ERROR: u8 = 7;
const ADDRESS_ERROR: u8 = 9;

/// How often a running VM's status is asked for, beside when an event comes; how long to wait for it to stand still.
const LOOK: Duration = Duration::from_millis(200);
const STILL: Duration = Duration::from_secs(30);
/// The longest pause before its restart that is waited for.
const PAUSE: Duration = Duration::from_secs(2);
/// How long memory that was read counts.
const FRESH: Duration = Duration::from_millis(100);
const TURN: Duration = Duration::from_millis(5);

const OFF: u8 = 0;
const VM_STOPPED: u8 = 0;
const VM_WAITING: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Asked,
    Breakpoint,
    Restart,
}

pub struct Status {
    pub vm_state: u8,
    pub still: bool,
    pub why: Option<Why>,
    pub vcpu: u8,
    pub starts: u32,
}

/// Why a VM that ran stands still now.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    Asked,
    Breakpoint(u8),
    Stepped(u8),
    /// Before no instruction that could be stepped over.
    Nowhere(u8),
    Restarted,
    Off,
}

struct Breakpoint {
    gpa: u64,
    saved: [u8; 2],
}

/// A single step under way.
struct Step {
    vcpu: u8,
    from: u64,
    /// Breakpoints of its own, by address.
    ends: BTreeMap<u64, Breakpoint>,
    /// A user's breakpoint that stands where the step begins, and is not there meanwhile.
    covered: Option<u64>,
    /// Nobody has asked for it: the VM runs on behind it.
    silent: bool,
}

pub struct Vm {
    link: Link,
    pub vcpus: u8,
    breakpoints: BTreeMap<u64, Breakpoint>,
    step: Option<Step>,
    /// The VCPU that was told to step, and could not.
    nowhere: Option<u8>,
    /// Which life of the VM's it is that we know.
    starts: u32,
    /// Who runs when nobody steps: ALL, or one VCPU alone.
    who: u8,
    registers: HashMap<(u8, u32), u64>,
    lines: HashMap<u64, [u8; DATA]>,
    lines_since: Instant,
    alive: Vec<bool>,
    looked: Instant,
}

fn state(number: u8) -> &'static str {
    ["stopped", "loading", "running", "stopping", "waiting to start again"].get(usize::from(number)).unwrap_or(&"?")
}

impl Vm {
    /// Attaches to a VM, which stands still from then on.
    pub fn attach(mut link: Link, name: &str) -> Result<Self, (Link, Error)> {
        let vcpus = match link.attach(name) {
            Ok(vcpus) => vcpus,
            Err(error) => return Err((link, error)),
        };
        let mut vm = Vm {
            link,
            vcpus,
            breakpoints: BTreeMap::new(),
            step: None,
            nowhere: None,
            starts: 0,
            who: ALL,
            registers: HashMap::new(),
            lines: HashMap::new(),
            lines_since: Instant::now(),
            alive: Vec::new(),
            looked: Instant::now(),
        };
        match vm.wait_still() {
            Ok(()) => Ok(vm),
            Err(error) => {
                // It would stand still for ever. Why it does not is what there is to say, also if this fails.
                let _ = vm.ask(Operation::Detach, 0, 0, &[]);
                Err((vm.link, error))
            }
        }
    }

    /// Takes the breakpoints out, lets the VM go.
    pub fn detach(mut self) -> (Link, Result<(), Error>) {
        let done = self.clean().and_then(|()| self.ask(Operation::Detach, 0, 0, &[]));
        (self.link, done)
    }

    fn clean(&mut self) -> Result<(), Error> {
        let status = self.status()?;
        if status.vm_state == VM_STOPPED || (self.breakpoints.is_empty() && self.step.is_none()) {
            return Ok(());
        }
        if !status.still {
            self.stop()?;
            self.wait_still()?;
        }
        self.end_step()?;
        for (_, breakpoint) in std::mem::take(&mut self.breakpoints) {
            self.lift(&breakpoint)?;
        }
        Ok(())
    }

    fn ask(&mut self, operation: Operation, vcpu: u8, address: u64, data: &[u8]) -> Result<(), Error> {
        self.link.request(operation, vcpu, 0, address, data).map(drop)
    }

    // --- standing still, running ---

    pub fn status(&mut self) -> Result<Status, Error> {
        const HEAD: usize = 8;
        self.looked = Instant::now();
        let mut alive = Vec::new();
        loop {
            let first = alive.len() as u8;
            let data = self.link.request(Operation::Status, first, 0, 0, &[])?;
            if data.len() <= HEAD {
                return Err(Error::Silent);
            }
            alive.extend(data[HEAD..].iter().map(|state| *state != OFF));
            if alive.len() >= usize::from(self.vcpus) {
                alive.truncate(self.vcpus.into());
                self.alive = alive;
                return Ok(Status {
                    vm_state: data[0],
                    still: data[1] != 0,
                    why: match data[2] {
                        1 => Some(Why::Asked),
                        2 => Some(Why::Breakpoint),
                        3 => Some(Why::Restart),
                        _ => None,
                    },
                    vcpu: data[3],
                    starts: u32::from_le_bytes([data[4], data[5], data[6], data[7]]),
                });
            }
        }
    }

    pub fn describe(&mut self) -> Result<String, Error> {
        let status = self.status()?;
        let still = if status.still { ", standing still" } else { "" };
        let on: Vec<String> = self.alive().iter().map(ToString::to_string).collect();
        Ok(format!(
            "{}{still}, started {} times, VCPUs that are on: {}",
            state(status.vm_state),
            status.starts,
            on.join(" ")
        ))
    }

    /// The VCPUs that are on, as of the last status; never none, which GDB would not understand.
    pub fn alive(&self) -> Vec<u8> {
        let on: Vec<u8> = (0..self.vcpus).filter(|vcpu| self.alive[usize::from(*vcpu)]).collect();
        if on.is_empty() {
            vec![0]
        } else {
            on
        }
    }

    fn wait_still(&mut self) -> Result<(), Error> {
        let begin = Instant::now();
        while begin.elapsed() < STILL {
            let status = self.status()?;
            if status.still {
                self.starts = status.starts;
                self.registers.clear();
                self.lines.clear();
                return Ok(());
            }
            if status.vm_state == VM_STOPPED {
                return Err(Error::Refused(OFF_ERROR));
            }
            if status.vm_state == VM_WAITING && begin.elapsed() > PAUSE {
                return Err(Error::Waits);
            }
            self.link.wait_event(TURN)?;
        }
        Err(Error::Silent)
    }

    pub fn stop(&mut self) -> Result<(), Error> {
        match self.ask(Operation::Stop, 0, 0, &[]) {
            Err(Error::Refused(OFF_ERROR)) => Ok(()), // the next look at the status tells
            other => other,
        }
    }

    /// Lets all VCPUs run, or one alone.
    pub fn go_on(&mut self, vcpu: u8) -> Result<(), Error> {
        self.who = vcpu;
        if self.is_as_left()? {
            self.run(vcpu)?;
        }
        Ok(())
    }

    /// False: the console has restarted or stopped it meanwhile. Then nothing is to be done to it, and the next look at
    /// the status tells.
    fn is_as_left(&mut self) -> Result<bool, Error> {
        let status = self.status()?;
        Ok(status.still && status.starts == self.starts)
    }

    fn run(&mut self, vcpu: u8) -> Result<(), Error> {
        self.registers.clear();
        self.lines.clear();
        self.looked = Instant::now();
        match self.ask(Operation::Continue, vcpu, 0, &[]) {
            Err(Error::Refused(OFF_ERROR | RUNNING_ERROR)) => Ok(()), // as in is_as_left()
            other => other,
        }
    }

    /// The VM begins anew, and stands before its first instruction.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.forget();
        self.ask(Operation::Restart, 0, 0, &[])?;
        self.wait_still()
    }

    pub fn off(&mut self) -> Result<(), Error> {
        self.forget();
        self.ask(Operation::Off, 0, 0, &[])
    }

    /// Breakpoints have gone with the memory.
    fn forget(&mut self) {
        self.breakpoints.clear();
        self.step = None;
        self.registers.clear();
        self.lines.clear();
    }

    /// Whether the VM, which was told to run, stands still by now, and why. Waits for a short while.
    pub fn stopped(&mut self) -> Result<Option<Stop>, Error> {
        if let Some(vcpu) = self.nowhere.take() {
            return Ok(Some(Stop::Nowhere(vcpu)));
        }
        match self.look() {
            // It does not stand still any more: stopped or restarted by the console. The next look tells.
            Err(Error::Refused(OFF_ERROR | RUNNING_ERROR) | Error::Waits) => Ok(None),
            other => other,
        }
    }

    fn look(&mut self) -> Result<Option<Stop>, Error> {
        if !self.link.wait_event(TURN)? && self.looked.elapsed() < LOOK {
            return Ok(None);
        }
        let status = self.status()?;
        if status.vm_state == VM_STOPPED {
            self.forget();
            return Ok(Some(Stop::Off));
        }
        let Some(mut why) = status.why else { return Ok(None) };
        if !status.still || status.starts != self.starts {
            self.wait_still()?;
            why = self.status()?.why.unwrap_or(why); // the reason before may be of another life
        }
        self.registers.clear();
        self.lines.clear();
        match why {
            Why::Restart => {
                self.forget();
                Ok(Some(Stop::Restarted))
            }
            Why::Asked => {
                self.end_step()?;
                Ok(Some(Stop::Asked))
            }
            Why::Breakpoint => self.met(status.vcpu),
        }
    }

    /// VCPU `vcpu` stands before a breakpoint instruction.
    fn met(&mut self, vcpu: u8) -> Result<Option<Stop>, Error> {
        let pc = self.register(vcpu, PC)?;
        let gpa = self.translate(vcpu, pc)?;
        let ends = self.step.as_ref().is_some_and(|step| step.vcpu == vcpu && step.ends.contains_key(&pc));
        if ends {
            return self.stepped(vcpu);
        }
        if self.breakpoints.contains_key(&pc) {
            self.end_step()?;
            return Ok(Some(Stop::Breakpoint(vcpu)));
        }
        if self.planted().any(|breakpoint| Some(breakpoint.gpa) == gpa) {
            // The same memory at another address, in another address space: nobody's business.
            self.end_step()?;
            self.begin_step(vcpu, true)?;
            return Ok(None);
        }
        self.ask(Operation::Exception, vcpu, 0, &[])?; // the guest's own
        self.registers.clear();
        match &self.step {
            Some(step) if step.from == pc => self.stepped(vcpu),
            Some(step) => self.run(step.vcpu).map(|()| None), // in a trap on its way
            None => self.run(self.who).map(|()| None),
        }
    }

    fn stepped(&mut self, vcpu: u8) -> Result<Option<Stop>, Error> {
        let silent = self.step.as_ref().is_some_and(|step| step.silent);
        self.end_step()?;
        if silent {
            self.run(self.who)?;
        }
        Ok((!silent).then_some(Stop::Stepped(vcpu)))
    }

    // --- single steps ---

    pub fn step(&mut self, vcpu: u8) -> Result<(), Error> {
        if !self.is_as_left()? {
            return Ok(());
        }
        match self.begin_step(vcpu, false) {
            Err(Error::Refused(OFF_ERROR | RUNNING_ERROR)) => Ok(()), // since then
            Err(Error::Refused(ADDRESS_ERROR | VCPU_ERROR)) => {
                self.nowhere = Some(vcpu);
                Ok(())
            }
            other => other,
        }
    }

    /// Lets a VCPU alone execute one instruction: breakpoints stand wherever that can lead.
    fn begin_step(&mut self, vcpu: u8, silent: bool) -> Result<(), Error> {
        let mut x = [0; 32];
        for (number, value) in x.iter_mut().enumerate() {
            *value = self.register(vcpu, number as u32)?;
        }
        let state = decode::State {
            pc: self.register(vcpu, PC)?,
            x,
            sepc: self.register(vcpu, SEPC)?,
            stvec: self.register(vcpu, STVEC)?,
            user: self.register(vcpu, PRIVILEGE)? == USER,
        };
        let places = decode::next(&state, |at| self.fetch(vcpu, at))?;
        let here = self.translate(vcpu, state.pc)?;
        let covered = self.breakpoints.iter().find(|(_, one)| Some(one.gpa) == here).map(|(va, _)| *va);
        if let Some(breakpoint) = covered.and_then(|va| self.breakpoints.get(&va)) {
            let (gpa, saved) = (breakpoint.gpa, breakpoint.saved);
            self.write_physical(gpa, &saved)?;
        }
        let mut step = Step { vcpu, from: state.pc, ends: BTreeMap::new(), covered, silent };
        for va in places {
            // A place that is not mapped yet is one where the instruction faults.
            if let Some(breakpoint) = self.plant(vcpu, va)? {
                step.ends.insert(va, breakpoint);
            }
        }
        self.step = Some(step);
        self.run(vcpu)
    }

    fn end_step(&mut self) -> Result<(), Error> {
        match self.step.take() {
            Some(step) => self.finish(step),
            None => Ok(()),
        }
    }

    fn finish(&mut self, step: Step) -> Result<(), Error> {
        for breakpoint in step.ends.values() {
            self.lift(breakpoint)?;
        }
        let covered = step.covered.and_then(|va| self.breakpoints.get(&va)).map(|one| one.gpa);
        covered.map_or(Ok(()), |gpa| self.write_physical(gpa, &EBREAK))
    }

    fn fetch(&mut self, vcpu: u8, at: u64) -> Result<u32, Error> {
        let mut bytes = [0; 4];
        if self.read(vcpu, at, &mut bytes[..2])? < 2 {
            return Err(Error::Refused(ADDRESS_ERROR));
        }
        if bytes[0] & 3 == 3 && self.read(vcpu, at + 2, &mut bytes[2..])? < 2 {
            return Err(Error::Refused(ADDRESS_ERROR));
        }
        Ok(u32::from_le_bytes(bytes))
    }

    // --- breakpoints ---

    /// False: nothing is mapped there.
    pub fn add_breakpoint(&mut self, vcpu: u8, va: u64) -> Result<bool, Error> {
        if self.breakpoints.contains_key(&va) {
            return Ok(true);
        }
        let planted = self.plant(vcpu, va)?;
        let there = planted.is_some();
        self.breakpoints.extend(planted.map(|breakpoint| (va, breakpoint)));
        Ok(there)
    }

    pub fn remove_breakpoint(&mut self, va: u64) -> Result<(), Error> {
        match self.breakpoints.remove(&va) {
            Some(breakpoint) => self.lift(&breakpoint),
            None => Ok(()), // gone with a restart
        }
    }

    fn plant(&mut self, vcpu: u8, va: u64) -> Result<Option<Breakpoint>, Error> {
        let mut saved = [0; 2];
        let Some(gpa) = self.translate(vcpu, va)? else { return Ok(None) };
        if self.read_physical(gpa, &mut saved)? < saved.len() {
            return Ok(None);
        }
        self.write_physical(gpa, &EBREAK)?;
        Ok(Some(Breakpoint { gpa, saved }))
    }

    /// Unless the guest has put something else there meanwhile.
    fn lift(&mut self, breakpoint: &Breakpoint) -> Result<(), Error> {
        let mut now = [0; 2];
        if self.read_physical(breakpoint.gpa, &mut now)? == now.len() && now == EBREAK {
            self.write_physical(breakpoint.gpa, &breakpoint.saved)?;
        }
        Ok(())
    }

    // --- registers ---

    pub fn register(&mut self, vcpu: u8, number: u32) -> Result<u64, Error> {
        if number == 0 {
            return Ok(0);
        }
        if let Some(value) = self.registers.get(&(vcpu, number)) {
            return Ok(*value);
        }
        // x1 to x31 and pc are numbers 1 to 32: asked for together.
        let (first, count) =
            if number <= PC { ((number - 1) / WORDS as u32 * WORDS as u32 + 1, WORDS) } else { (number, 1) };
        let data = self.link.request(Operation::Get, vcpu, count as u8, first.into(), &[])?;
        for (index, word) in data.chunks_exact(8).enumerate() {
            let value = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            self.registers.insert((vcpu, first + index as u32), value);
        }
        self.registers.get(&(vcpu, number)).copied().ok_or(Error::Silent)
    }

    pub fn set_register(&mut self, vcpu: u8, number: u32, value: u64) -> Result<(), Error> {
        if number == 0 {
            return Ok(());
        }
        self.registers.clear();
        self.ask(Operation::Set, vcpu, number.into(), &value.to_le_bytes())
    }

    // --- memory ---

    fn translate(&mut self, vcpu: u8, va: u64) -> Result<Option<u64>, Error> {
        let satp = self.register(vcpu, SATP)?;
        let walked = walk::translate(satp, va, |at| {
            let mut entry = [0; 8];
            match self.read_physical(at, &mut entry)? {
                8 => Ok(u64::from_le_bytes(entry)),
                _ => Err(Error::Refused(ADDRESS_ERROR)),
            }
        });
        match walked {
            Err(Error::Refused(ADDRESS_ERROR)) => Ok(None), // a table that is nowhere
            other => other,
        }
    }

    /// How many bytes from the beginning on could be read.
    fn read_physical(&mut self, gpa: u64, data: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < data.len() {
            let at = gpa + done as u64;
            let Some(line) = self.line(at & !(DATA as u64 - 1))? else { break };
            let first = at as usize % DATA;
            let size = (data.len() - done).min(DATA - first);
            data[done..done + size].copy_from_slice(&line[first..first + size]);
            done += size;
        }
        Ok(done)
    }

    /// A frame's worth of memory, which is asked for once while a command of GDB's looks at it byte by byte. Not for long:
    /// memory can be shared with VMs that run.
    fn line(&mut self, gpa: u64) -> Result<Option<[u8; DATA]>, Error> {
        if self.lines_since.elapsed() > FRESH {
            self.lines.clear();
            self.lines_since = Instant::now();
        }
        if let Some(line) = self.lines.get(&gpa) {
            return Ok(Some(*line));
        }
        match self.link.request(Operation::Read, 0, DATA as u8, gpa, &[]) {
            Ok(bytes) => {
                let line = bytes.try_into().map_err(|_| Error::Silent)?;
                self.lines.insert(gpa, line);
                Ok(Some(line))
            }
            Err(Error::Refused(ADDRESS_ERROR)) => Ok(None), // regions of memory begin and end with whole pages
            Err(error) => Err(error),
        }
    }

    fn write_physical(&mut self, gpa: u64, data: &[u8]) -> Result<(), Error> {
        self.lines.clear();
        for (index, piece) in data.chunks(DATA).enumerate() {
            self.ask(Operation::Write, 0, gpa + (index * DATA) as u64, piece)?;
        }
        Ok(())
    }

    /// How many bytes from `va` on could be read, as the VCPU sees them and without the breakpoints in them.
    pub fn read(&mut self, vcpu: u8, va: u64, data: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < data.len() {
            let at = va.wrapping_add(done as u64);
            let size = (data.len() - done).min((PAGE - at % PAGE) as usize);
            let Some(gpa) = self.translate(vcpu, at)? else { break };
            let read = self.read_physical(gpa, &mut data[done..done + size])?;
            self.hide(gpa, &mut data[done..done + read]);
            done += read;
            if read < size {
                break;
            }
        }
        Ok(done)
    }

    fn planted(&mut self) -> impl Iterator<Item = &mut Breakpoint> {
        let ends = self.step.iter_mut().flat_map(|step| step.ends.values_mut());
        self.breakpoints.values_mut().chain(ends)
    }

    fn hide(&mut self, gpa: u64, data: &mut [u8]) {
        for breakpoint in self.planted() {
            for (at, byte) in (breakpoint.gpa..).zip(breakpoint.saved) {
                if let Some(place) = at.checked_sub(gpa).and_then(|offset| data.get_mut(offset as usize)) {
                    *place = byte;
                }
            }
        }
    }

    /// Writes as the VCPU sees it; what stands under a breakpoint is written behind it. False: not all of it is memory.
    pub fn write(&mut self, vcpu: u8, va: u64, data: &[u8]) -> Result<bool, Error> {
        let mut done = 0;
        while done < data.len() {
            let at = va.wrapping_add(done as u64);
            let size = (data.len() - done).min((PAGE - at % PAGE) as usize);
            let Some(gpa) = self.translate(vcpu, at)? else { return Ok(false) };
            let mut piece = data[done..done + size].to_vec();
            for breakpoint in self.planted() {
                for (index, there) in (breakpoint.gpa..).zip(EBREAK).enumerate() {
                    let offset = there.0.checked_sub(gpa).filter(|offset| *offset < size as u64);
                    if let Some(offset) = offset {
                        breakpoint.saved[index] = std::mem::replace(&mut piece[offset as usize], there.1);
                    }
                }
            }
            match self.write_physical(gpa, &piece) {
                Err(Error::Refused(ADDRESS_ERROR)) => return Ok(false),
                other => other?,
            }
            done += size;
        }
        Ok(true)
    }
}
