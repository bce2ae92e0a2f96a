// SPDX-License-Identifier: Apache-2.0
//! The VM being debugged: VCPUs, memory as a VCPU addresses it, breakpoints, single steps.

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

/// c.ebreak, also in place of a 4-byte instruction: 2 bytes never cross a page.
const EBREAK: [u8; 2] = [0x02, 0x90];
const PAGE: u64 = 0x1000;
const WORDS: usize = DATA / 8;
const OFF_ERROR: u8 = 4;
const RUNNING_ERROR: u8 = 6;
const VCPU_ERROR: u8 = 7;
const ADDRESS_ERROR: u8 = 9;

/// Interval of status requests while the VM runs and no event arrives; limit of a wait for the VM
/// to halt.
const STATUS_INTERVAL: Duration = Duration::from_millis(200);
const HALT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest restart backoff to wait for.
const RESTART_TIMEOUT: Duration = Duration::from_secs(2);
/// How long memory contents are cached.
const CACHE_LIFETIME: Duration = Duration::from_millis(100);
const EVENT_TIMEOUT: Duration = Duration::from_millis(5);

const OFF: u8 = 0;
const VM_STOPPED: u8 = 0;
const VM_WAITING: u8 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaltReason {
    Requested,
    Breakpoint,
    Restart,
}

pub struct Status {
    pub vm_state: u8,
    pub halted: bool,
    pub reason: Option<HaltReason>,
    pub vcpu: u8,
    pub starts: u32,
}

/// Why a VM that was resumed has halted.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    Requested,
    Breakpoint(u8),
    Stepped(u8),
    /// The next instruction cannot be fetched, so that no step is possible.
    StepFault(u8),
    Restarted,
    Off,
}

struct Breakpoint {
    gpa: u64,
    saved: [u8; 2],
}

/// A single step in progress.
struct Step {
    vcpu: u8,
    from: u64,
    /// Its temporary breakpoints by address.
    temporary: BTreeMap<u64, Breakpoint>,
    /// The user's breakpoint at the start of the step, which is removed during the step.
    covered: Option<u64>,
    /// A step over a breakpoint that GDB did not request; the VM continues afterwards.
    internal: bool,
}

pub struct Vm {
    link: Link,
    pub vcpus: u8,
    breakpoints: BTreeMap<u64, Breakpoint>,
    step: Option<Step>,
    /// The VCPU that could not be stepped or resumed.
    unsteppable: Option<u8>,
    /// The VM's number of starts when it was last halted.
    starts: u32,
    /// The VCPU that was resumed, or ALL.
    resumed: u8,
    registers: HashMap<(u8, u32), u64>,
    cache: HashMap<u64, [u8; DATA]>,
    cached_since: Instant,
    online: Vec<bool>,
    last_status: Instant,
}

fn state(number: u8) -> &'static str {
    ["stopped", "loading", "running", "stopping", "waiting for restart"].get(usize::from(number)).unwrap_or(&"?")
}

impl Vm {
    /// Attaches to a VM and halts it.
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
            unsteppable: None,
            starts: 0,
            resumed: ALL,
            registers: HashMap::new(),
            cache: HashMap::new(),
            cached_since: Instant::now(),
            online: Vec::new(),
            last_status: Instant::now(),
        };
        match vm.wait_halted() {
            Ok(()) => Ok(vm),
            Err(error) => {
                // Detach, or the VM would stay halted. The first error is reported even if this
                // fails.
                let _ = vm.ask(Operation::Detach, 0, 0, &[]);
                Err((vm.link, error))
            }
        }
    }

    /// Removes the breakpoints and resumes the VM.
    pub fn detach(mut self) -> (Link, Result<(), Error>) {
        let done = self.remove_breakpoints().and_then(|()| self.ask(Operation::Detach, 0, 0, &[]));
        (self.link, done)
    }

    fn remove_breakpoints(&mut self) -> Result<(), Error> {
        let status = self.status()?;
        if status.vm_state == VM_STOPPED || (self.breakpoints.is_empty() && self.step.is_none()) {
            return Ok(());
        }
        if !status.halted {
            self.halt()?;
            self.wait_halted()?;
        }
        self.end_step()?;
        for (_, breakpoint) in std::mem::take(&mut self.breakpoints) {
            self.remove_ebreak(&breakpoint)?;
        }
        Ok(())
    }

    fn ask(&mut self, operation: Operation, vcpu: u8, address: u64, data: &[u8]) -> Result<(), Error> {
        self.link.request(operation, vcpu, 0, address, data).map(drop)
    }

    // --- halt and resume ---

    pub fn status(&mut self) -> Result<Status, Error> {
        const HEAD: usize = 8;
        self.last_status = Instant::now();
        let mut online = Vec::new();
        loop {
            let first = online.len() as u8;
            let data = self.link.request(Operation::Status, first, 0, 0, &[])?;
            if data.len() <= HEAD {
                return Err(Error::NoAnswer);
            }
            online.extend(data[HEAD..].iter().map(|state| *state != OFF));
            if online.len() >= usize::from(self.vcpus) {
                online.truncate(self.vcpus.into());
                self.online = online;
                return Ok(Status {
                    vm_state: data[0],
                    halted: data[1] != 0,
                    reason: match data[2] {
                        1 => Some(HaltReason::Requested),
                        2 => Some(HaltReason::Breakpoint),
                        3 => Some(HaltReason::Restart),
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
        let halted = if status.halted { ", halted" } else { "" };
        let online: Vec<String> = self.online().iter().map(ToString::to_string).collect();
        Ok(format!(
            "{}{halted}, started {} times, VCPUs online: {}",
            state(status.vm_state),
            status.starts,
            online.join(" ")
        ))
    }

    /// The VCPUs that are on, as of the last status. Never empty, because GDB requires a thread.
    pub fn online(&self) -> Vec<u8> {
        let online: Vec<u8> = (0..self.vcpus).filter(|vcpu| self.online[usize::from(*vcpu)]).collect();
        if online.is_empty() {
            vec![0]
        } else {
            online
        }
    }

    fn wait_halted(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < HALT_TIMEOUT {
            let status = self.status()?;
            if status.halted {
                self.starts = status.starts;
                self.registers.clear();
                self.cache.clear();
                return Ok(());
            }
            if status.vm_state == VM_STOPPED {
                return Err(Error::Refused(OFF_ERROR));
            }
            if status.vm_state == VM_WAITING && start.elapsed() > RESTART_TIMEOUT {
                return Err(Error::WaitsForRestart);
            }
            self.link.wait_event(EVENT_TIMEOUT)?;
        }
        Err(Error::NoAnswer)
    }

    pub fn halt(&mut self) -> Result<(), Error> {
        match self.ask(Operation::Stop, 0, 0, &[]) {
            Err(Error::Refused(OFF_ERROR)) => Ok(()), // the next status reports it
            other => other,
        }
    }

    /// Resumes all VCPUs or one.
    pub fn resume(&mut self, vcpu: u8) -> Result<(), Error> {
        self.resumed = vcpu;
        if self.is_unchanged()? {
            self.run(vcpu)?;
        }
        Ok(())
    }

    /// False if the console has restarted or stopped the VM since it was halted. The caller must
    /// not resume the VM then; the next status reports the change.
    fn is_unchanged(&mut self) -> Result<bool, Error> {
        let status = self.status()?;
        Ok(status.halted && status.starts == self.starts)
    }

    fn run(&mut self, vcpu: u8) -> Result<(), Error> {
        self.registers.clear();
        self.cache.clear();
        self.last_status = Instant::now();
        match self.ask(Operation::Continue, vcpu, 0, &[]) {
            Err(Error::Refused(OFF_ERROR | RUNNING_ERROR)) => Ok(()), // as in is_unchanged()
            // A client named a thread that does not exist or is off; the VM stays halted.
            Err(Error::Refused(VCPU_ERROR)) => {
                self.unsteppable = Some(vcpu);
                Ok(())
            }
            other => other,
        }
    }

    /// Restarts the VM and halts it before its first instruction.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.clear_state();
        self.ask(Operation::Restart, 0, 0, &[])?;
        self.wait_halted()
    }

    pub fn off(&mut self) -> Result<(), Error> {
        self.clear_state();
        self.ask(Operation::Off, 0, 0, &[])
    }

    /// Forgets breakpoints, which a restart or stop has removed from memory, and cached state.
    fn clear_state(&mut self) {
        self.breakpoints.clear();
        self.step = None;
        self.registers.clear();
        self.cache.clear();
    }

    /// Whether the resumed VM has halted, and why. Waits up to EVENT_TIMEOUT.
    pub fn poll_stop(&mut self) -> Result<Option<Stop>, Error> {
        if let Some(vcpu) = self.unsteppable.take() {
            return Ok(Some(Stop::StepFault(vcpu)));
        }
        match self.poll() {
            // The console has stopped or restarted the VM; the next status reports it.
            Err(Error::Refused(OFF_ERROR | RUNNING_ERROR) | Error::WaitsForRestart) => Ok(None),
            other => other,
        }
    }

    fn poll(&mut self) -> Result<Option<Stop>, Error> {
        if !self.link.wait_event(EVENT_TIMEOUT)? && self.last_status.elapsed() < STATUS_INTERVAL {
            return Ok(None);
        }
        let status = self.status()?;
        if status.vm_state == VM_STOPPED {
            self.clear_state();
            return Ok(Some(Stop::Off));
        }
        let Some(mut reason) = status.reason else { return Ok(None) };
        if !status.halted || status.starts != self.starts {
            self.wait_halted()?;
            // The previous reason may be from before a restart.
            reason = self.status()?.reason.unwrap_or(reason);
        }
        self.registers.clear();
        self.cache.clear();
        match reason {
            HaltReason::Restart => {
                self.clear_state();
                Ok(Some(Stop::Restarted))
            }
            HaltReason::Requested => {
                self.end_step()?;
                Ok(Some(Stop::Requested))
            }
            HaltReason::Breakpoint => self.breakpoint_hit(status.vcpu),
        }
    }

    /// Handles a breakpoint exception of a VCPU.
    fn breakpoint_hit(&mut self, vcpu: u8) -> Result<Option<Stop>, Error> {
        let pc = self.register(vcpu, PC)?;
        let gpa = self.translate(vcpu, pc)?;
        let ends_step = self.step.as_ref().is_some_and(|step| step.vcpu == vcpu && step.temporary.contains_key(&pc));
        if ends_step {
            return self.stepped(vcpu);
        }
        if self.breakpoints.contains_key(&pc) {
            self.end_step()?;
            return Ok(Some(Stop::Breakpoint(vcpu)));
        }
        if self.inserted().any(|breakpoint| Some(breakpoint.gpa) == gpa) {
            // The breakpoint's memory at another virtual address: step over it.
            self.end_step()?;
            self.begin_step(vcpu, true)?;
            return Ok(None);
        }
        self.ask(Operation::Exception, vcpu, 0, &[])?; // an ebreak of the guest
        self.registers.clear();
        match &self.step {
            Some(step) if step.from == pc => self.stepped(vcpu),
            Some(step) => self.run(step.vcpu).map(|()| None), // in a trap handler during the step
            None => self.run(self.resumed).map(|()| None),
        }
    }

    fn stepped(&mut self, vcpu: u8) -> Result<Option<Stop>, Error> {
        let internal = self.step.as_ref().is_some_and(|step| step.internal);
        self.end_step()?;
        if internal {
            self.run(self.resumed)?;
        }
        Ok((!internal).then_some(Stop::Stepped(vcpu)))
    }

    // --- single steps ---

    pub fn step(&mut self, vcpu: u8) -> Result<(), Error> {
        if !self.is_unchanged()? {
            return Ok(());
        }
        match self.begin_step(vcpu, false) {
            Err(Error::Refused(OFF_ERROR | RUNNING_ERROR)) => Ok(()), // as in is_unchanged()
            Err(Error::Refused(ADDRESS_ERROR | VCPU_ERROR)) => {
                self.unsteppable = Some(vcpu);
                Ok(())
            }
            other => other,
        }
    }

    /// Lets one VCPU execute one instruction, with temporary breakpoints at all addresses it can
    /// lead to.
    fn begin_step(&mut self, vcpu: u8, internal: bool) -> Result<(), Error> {
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
        let mut step = Step { vcpu, from: state.pc, temporary: BTreeMap::new(), covered, internal };
        for va in places {
            // At an unmapped address the step ends with an exception of the guest instead.
            if let Some(breakpoint) = self.insert_ebreak(vcpu, va)? {
                step.temporary.insert(va, breakpoint);
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
        for breakpoint in step.temporary.values() {
            self.remove_ebreak(breakpoint)?;
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

    /// False if the address is not mapped.
    pub fn add_breakpoint(&mut self, vcpu: u8, va: u64) -> Result<bool, Error> {
        if self.breakpoints.contains_key(&va) {
            return Ok(true);
        }
        let inserted = self.insert_ebreak(vcpu, va)?;
        let there = inserted.is_some();
        self.breakpoints.extend(inserted.map(|breakpoint| (va, breakpoint)));
        Ok(there)
    }

    pub fn remove_breakpoint(&mut self, va: u64) -> Result<(), Error> {
        match self.breakpoints.remove(&va) {
            Some(breakpoint) => self.remove_ebreak(&breakpoint),
            None => Ok(()), // removed by a restart
        }
    }

    fn insert_ebreak(&mut self, vcpu: u8, va: u64) -> Result<Option<Breakpoint>, Error> {
        let mut saved = [0; 2];
        let Some(gpa) = self.translate(vcpu, va)? else { return Ok(None) };
        if self.read_physical(gpa, &mut saved)? < saved.len() {
            return Ok(None);
        }
        self.write_physical(gpa, &EBREAK)?;
        Ok(Some(Breakpoint { gpa, saved }))
    }

    /// Restores the saved instruction, unless the guest has written other data.
    fn remove_ebreak(&mut self, breakpoint: &Breakpoint) -> Result<(), Error> {
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
        // x1 to x31 and pc are numbers 1 to 32 and are requested in groups.
        let (first, count) =
            if number <= PC { ((number - 1) / WORDS as u32 * WORDS as u32 + 1, WORDS) } else { (number, 1) };
        let data = self.link.request(Operation::Get, vcpu, count as u8, first.into(), &[])?;
        for (index, word) in data.chunks_exact(8).enumerate() {
            let value = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            self.registers.insert((vcpu, first + index as u32), value);
        }
        self.registers.get(&(vcpu, number)).copied().ok_or(Error::NoAnswer)
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
            Err(Error::Refused(ADDRESS_ERROR)) => Ok(None), // an invalid page table
            other => other,
        }
    }

    /// Returns the number of bytes read from the start.
    fn read_physical(&mut self, gpa: u64, data: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < data.len() {
            let at = gpa + done as u64;
            let Some(cache_line) = self.cache_line(at & !(DATA as u64 - 1))? else { break };
            let first = at as usize % DATA;
            let size = (data.len() - done).min(DATA - first);
            data[done..done + size].copy_from_slice(&cache_line[first..first + size]);
            done += size;
        }
        Ok(done)
    }

    /// Memory of the size of a request's data. Cached because GDB reads single bytes, but for a
    /// short time only, since running VMs may share the memory.
    fn cache_line(&mut self, gpa: u64) -> Result<Option<[u8; DATA]>, Error> {
        if self.cached_since.elapsed() > CACHE_LIFETIME {
            self.cache.clear();
            self.cached_since = Instant::now();
        }
        if let Some(cache_line) = self.cache.get(&gpa) {
            return Ok(Some(*cache_line));
        }
        match self.link.request(Operation::Read, 0, DATA as u8, gpa, &[]) {
            Ok(bytes) => {
                let cache_line = bytes.try_into().map_err(|_| Error::NoAnswer)?;
                self.cache.insert(gpa, cache_line);
                Ok(Some(cache_line))
            }
            Err(Error::Refused(ADDRESS_ERROR)) => Ok(None), // memory regions consist of whole pages
            Err(error) => Err(error),
        }
    }

    fn write_physical(&mut self, gpa: u64, data: &[u8]) -> Result<(), Error> {
        self.cache.clear();
        for (index, piece) in data.chunks(DATA).enumerate() {
            self.ask(Operation::Write, 0, gpa + (index * DATA) as u64, piece)?;
        }
        Ok(())
    }

    /// Reads as the VCPU addresses it, with breakpoints replaced by the original instructions.
    /// Returns the number of bytes read.
    pub fn read(&mut self, vcpu: u8, va: u64, data: &mut [u8]) -> Result<usize, Error> {
        let mut done = 0;
        while done < data.len() {
            let at = va.wrapping_add(done as u64);
            let size = (data.len() - done).min((PAGE - at % PAGE) as usize);
            let Some(gpa) = self.translate(vcpu, at)? else { break };
            let read = self.read_physical(gpa, &mut data[done..done + size])?;
            self.hide_breakpoints(gpa, &mut data[done..done + read]);
            done += read;
            if read < size {
                break;
            }
        }
        Ok(done)
    }

    fn inserted(&mut self) -> impl Iterator<Item = &mut Breakpoint> {
        let temporary = self.step.iter_mut().flat_map(|step| step.temporary.values_mut());
        self.breakpoints.values_mut().chain(temporary)
    }

    fn hide_breakpoints(&mut self, gpa: u64, data: &mut [u8]) {
        for breakpoint in self.inserted() {
            for (at, byte) in (breakpoint.gpa..).zip(breakpoint.saved) {
                if let Some(place) = at.checked_sub(gpa).and_then(|offset| data.get_mut(offset as usize)) {
                    *place = byte;
                }
            }
        }
    }

    /// Writes as the VCPU addresses it; data under a breakpoint becomes its saved instruction.
    /// False if part of the range is not memory.
    pub fn write(&mut self, vcpu: u8, va: u64, data: &[u8]) -> Result<bool, Error> {
        let mut done = 0;
        while done < data.len() {
            let at = va.wrapping_add(done as u64);
            let size = (data.len() - done).min((PAGE - at % PAGE) as usize);
            let Some(gpa) = self.translate(vcpu, at)? else { return Ok(false) };
            let mut piece = data[done..done + size].to_vec();
            for breakpoint in self.inserted() {
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
