// SPDX-License-Identifier: Apache-2.0
//! GDB's remote protocol, through the crate gdbstub. GDB sees a MIPS core, the CP0 registers of
//! both contexts (root_Status, guest_Status, ...), the current mode, and memory as the current or a
//! chosen mode addresses it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::time::Duration;

use gdbstub::arch::{Arch, RegId, Registers};
use gdbstub::common::Signal;
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, SingleThreadStopReason};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, SwBreakpoint, SwBreakpointOps,
};
use gdbstub::target::ext::monitor_cmd::{outputln, ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{Target, TargetError, TargetResult};
use tessera_rsp::{Filter, Layout};

use crate::cp0;
use crate::cpu::{Context, Cpu, Mode, Stop};
use crate::isa::Op;
use crate::mmu::Access;
use crate::observe::Observer;
use crate::tlb::Tlb;
use crate::trace::mode_tag;

const HELP: &str = "view root|guest|auto: whose address translation memory accesses use (auto: the current mode's)
tlb: print the entries of both TLBs
stats: print the statistics so far";

/// Instructions between checks of the connection for data from GDB.
const CHUNK: u64 = 200_000;

/// Limit of a wait for console input, so that GDB can interrupt the program.
const INPUT_TIMEOUT: Duration = Duration::from_millis(50);

/// GDB's register numbers: 32 GPRs, these, floating point (not implemented), then the registers of
/// this simulator.
const STATUS: u32 = 32;
const LO: u32 = 33;
const HI: u32 = 34;
const BADVADDR: u32 = 35;
const CAUSE: u32 = 36;
const PC: u32 = 37;
const STANDARD: u32 = 72;
const MODE: u32 = STANDARD + 2 * cp0::SPECS.len() as u32;
const LAST: u32 = MODE;

const LAYOUT: Layout = Layout { address: 4, registers: 4 * STANDARD as usize, threads: false };

#[derive(Debug)]
pub enum M5150 {}

#[derive(Debug)]
pub struct Number(u32);

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        (id <= LAST as usize).then_some((Number(id as u32), NonZeroUsize::new(4)))
    }
}

/// The registers of GDB's `g` packet, in its order; GDB requests the others one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Core([u32; STANDARD as usize]);

impl Default for Core {
    fn default() -> Self {
        Core([0; STANDARD as usize])
    }
}

impl Registers for Core {
    type ProgramCounter = u32;

    fn pc(&self) -> u32 {
        self.0[PC as usize]
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.0.iter().flat_map(|value| value.to_le_bytes()).for_each(|byte| write_byte(Some(byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        for (register, bytes) in self.0.iter_mut().zip(bytes.chunks_exact(4)) {
            *register = u32::from_le_bytes(bytes.try_into().map_err(|_| ())?);
        }
        Ok(())
    }
}

impl Arch for M5150 {
    type Usize = u32;
    type Registers = Core;
    type BreakpointKind = usize;
    type RegId = Number;
}

fn reg_xml(name: &str, number: u32, kind: &str) -> String {
    format!("<reg name=\"{name}\" bitsize=\"32\" regnum=\"{number}\" type=\"{kind}\"/>")
}

fn feature_xml(name: &str, registers: impl Iterator<Item = String>) -> String {
    format!("<feature name=\"{name}\">{}</feature>", registers.collect::<String>())
}

/// The target description (GDB manual, "MIPS Features").
fn description() -> String {
    let general = (0..32).map(|n| reg_xml(&format!("r{n}"), n, "int32"));
    let more = [("lo", LO, "int32"), ("hi", HI, "int32"), ("pc", PC, "code_ptr")];
    let control = [("status", STATUS), ("badvaddr", BADVADDR), ("cause", CAUSE)];
    let float = (0..32).map(|n| reg_xml(&format!("f{n}"), 38 + n, "ieee_single"));
    let float_control = [("fcsr", 70), ("fir", 71)];
    let context = |name: &'static str, first: u32| {
        let registers = cp0::SPECS.iter().zip(first..);
        let registers = registers.map(move |(spec, n)| reg_xml(&format!("{name}_{}", spec.name), n, "uint32"));
        feature_xml(&format!("org.tessera.iasim.{name}"), registers)
    };
    format!(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>mips</architecture><osabi>none</osabi>{}{}{}{}{}{}</target>",
        feature_xml("org.gnu.gdb.mips.cpu", general.chain(more.map(|(name, n, kind)| reg_xml(name, n, kind)))),
        feature_xml("org.gnu.gdb.mips.cp0", control.into_iter().map(|(name, n)| reg_xml(name, n, "int32"))),
        feature_xml("org.gnu.gdb.mips.fpu", float.chain(float_control.map(|(name, n)| reg_xml(name, n, "int32")))),
        context("root", STANDARD),
        context("guest", STANDARD + cp0::SPECS.len() as u32),
        feature_xml("org.tessera.iasim.mode", [reg_xml("mode", MODE, "uint32")].into_iter()),
    )
}

/// Breakpoint addresses; the breakpoint at the pc of the last resume is skipped once.
#[derive(Default)]
struct Points {
    at: BTreeSet<u32>,
    /// The clock at the last resume.
    resumed: u64,
}

struct Watcher(Rc<RefCell<Points>>);

impl Observer for Watcher {
    fn before(&mut self, cpu: &mut Cpu, _: Op) -> bool {
        let points = self.0.borrow();
        points.resumed == cpu.now || !points.at.contains(&(cpu.pc & !1))
    }
}

/// Target errors do not occur: a failure ends the program instead.
#[derive(Debug)]
pub enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter) -> fmt::Result {
        match *self {}
    }
}

pub struct Debugged {
    cpu: Cpu,
    points: Rc<RefCell<Points>>,
    /// The mode whose translation memory accesses use; None: the current mode.
    view: Option<Mode>,
    step: bool,
    /// Why the program ended.
    ended: Option<Stop>,
    limit: u64,
}

impl Debugged {
    fn new(mut cpu: Cpu) -> Self {
        let points = Rc::new(RefCell::new(Points::default()));
        cpu.observer = Some(Box::new(Watcher(points.clone())));
        cpu.board.console().input_timeout = Some(INPUT_TIMEOUT);
        let limit = cpu.limit;
        Debugged { cpu, points, view: None, step: false, ended: None, limit }
    }

    fn get(&self, number: u32) -> u32 {
        let cpu = &self.cpu;
        let context = cpu.mode.context();
        match number {
            0..=31 => cpu.gpr[number as usize],
            STATUS => cpu.read_cp0(context, cp0::STATUS),
            LO => cpu.lo,
            HI => cpu.hi,
            BADVADDR => cpu.read_cp0(context, cp0::BADVADDR),
            CAUSE => cpu.read_cp0(context, cp0::CAUSE),
            PC => cpu.pc,
            MODE => cpu.mode as u32,
            _ => self.context_register(number).map_or(0, |(context, reg)| cpu.read_cp0(context, reg)),
        }
    }

    /// The CP0 register and its context by GDB's register number.
    fn context_register(&self, number: u32) -> Option<(Context, cp0::Reg)> {
        let n = number.checked_sub(STANDARD)? as usize;
        let specs = cp0::SPECS.len();
        let context = if n < specs { Context::Root } else { Context::Guest };
        (n < 2 * specs).then(|| (context, cp0::SPECS[n % specs].reg))
    }

    fn put(&mut self, number: u32, value: u32) {
        let cpu = &mut self.cpu;
        match number {
            0 => {}
            1..=31 => cpu.gpr[number as usize] = value,
            LO => cpu.lo = value,
            HI => cpu.hi = value,
            // A new pc also leaves the delay slot that the old one may be in.
            PC if value != cpu.pc => {
                cpu.waiting = false;
                cpu.jump(value);
            }
            _ => self.write_context_register(number, value),
        }
    }

    fn write_context_register(&mut self, number: u32, value: u32) {
        match self.context_register(number) {
            Some((Context::Root, reg)) => self.cpu.write_root(reg, value),
            Some((Context::Guest, reg)) => {
                let mask = cp0::find(reg).map_or(0, |spec| spec.mtgc0);
                self.cpu.write_cp0(Context::Guest, reg, mask, value);
            }
            None => {}
        }
    }

    fn physical(&mut self, va: u32) -> Option<u32> {
        let mode = self.cpu.mode;
        self.cpu.mode = self.view.unwrap_or(mode);
        let pa = self.cpu.translate(va, Access::Read).ok();
        self.cpu.mode = mode;
        pa
    }

    /// Executes up to CHUNK instructions; None: no stop reason occurred.
    fn advance(&mut self) -> Option<SingleThreadStopReason<u32>> {
        let before = self.cpu.instructions();
        let chunk = if self.step { 1 } else { CHUNK };
        self.cpu.limit = self.limit.min(before + chunk);
        match self.cpu.run() {
            Stop::Observer => Some(SingleThreadStopReason::SwBreak(())),
            // Stops in the debugger instead of ending the program.
            Stop::Endless(_) => Some(SingleThreadStopReason::Signal(Signal::SIGILL)),
            Stop::Limit if self.cpu.instructions() >= self.limit => self.end(Stop::Limit),
            Stop::Limit => self.step.then_some(SingleThreadStopReason::DoneStep),
            stop => self.end(stop),
        }
    }

    fn end(&mut self, stop: Stop) -> Option<SingleThreadStopReason<u32>> {
        let code = match stop {
            Stop::Exit(code) => code as u8,
            _ => crate::cli::EXIT_STUCK,
        };
        self.ended = Some(stop);
        Some(SingleThreadStopReason::Exited(code))
    }
}

fn tlb_text(name: &str, tlb: &Tlb) -> String {
    let mut text = format!("{name}: entry guest asid g      va     mask      lo0      lo1\n");
    for (n, entry) in tlb.entries().iter().enumerate().filter(|(_, entry)| !entry.invalid) {
        let (guest, asid, global) = (entry.guest, entry.asid, u8::from(entry.global));
        let [lo0, lo1] = entry.lo;
        let (va, mask) = (entry.vpn2, entry.mask);
        let _ = writeln!(text, "{n:>11} {guest:>5} {asid:>4} {global} {va:08x} {mask:08x} {lo0:08x} {lo1:08x}");
    }
    text
}

impl Target for Debugged {
    type Arch = M5150;
    type Error = Never;

    fn base_ops(&mut self) -> BaseOps<'_, M5150, Never> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadBase for Debugged {
    fn read_registers(&mut self, regs: &mut Core) -> TargetResult<(), Self> {
        (0..STANDARD).for_each(|n| regs.0[n as usize] = self.get(n));
        Ok(())
    }

    fn write_registers(&mut self, regs: &Core) -> TargetResult<(), Self> {
        (0..STANDARD).for_each(|n| self.put(n, regs.0[n as usize]));
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, (), Self>> {
        Some(self)
    }

    /// Does not read device registers: a read may have side effects.
    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        for (n, byte) in data.iter_mut().enumerate() {
            let pa = self.physical(start.wrapping_add(n as u32));
            match pa.and_then(|pa| self.cpu.mem.peek(pa)) {
                Some(value) => *byte = value,
                None if n == 0 => return Err(TargetError::NonFatal),
                None => return Ok(n),
            }
        }
        Ok(data.len())
    }

    fn write_addrs(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        for (n, byte) in data.iter().enumerate() {
            let pa = self.physical(start.wrapping_add(n as u32)).ok_or(TargetError::NonFatal)?;
            if !self.cpu.mem.load(pa, &[*byte]) {
                return Err(TargetError::NonFatal);
            }
        }
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<()> for Debugged {
    fn read_register(&mut self, _: (), id: Number, buf: &mut [u8]) -> TargetResult<usize, Self> {
        buf[..4].copy_from_slice(&self.get(id.0).to_le_bytes());
        Ok(4)
    }

    fn write_register(&mut self, _: (), id: Number, value: &[u8]) -> TargetResult<(), Self> {
        let bytes = value.get(..4).and_then(|bytes| bytes.try_into().ok()).ok_or(TargetError::NonFatal)?;
        self.put(id.0, u32::from_le_bytes(bytes));
        Ok(())
    }
}

impl SingleThreadResume for Debugged {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), Never> {
        self.step = false;
        self.points.borrow_mut().resumed = self.cpu.now;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for Debugged {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), Never> {
        self.step = true;
        self.points.borrow_mut().resumed = self.cpu.now;
        Ok(())
    }
}

impl Breakpoints for Debugged {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debugged {
    fn add_sw_breakpoint(&mut self, addr: u32, _kind: usize) -> TargetResult<bool, Self> {
        self.points.borrow_mut().at.insert(addr & !1);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, addr: u32, _kind: usize) -> TargetResult<bool, Self> {
        // GDB may set a breakpoint twice and remove it twice.
        self.points.borrow_mut().at.remove(&(addr & !1));
        Ok(true)
    }
}

impl HwBreakpoint for Debugged {
    fn add_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(addr, kind)
    }

    fn remove_hw_breakpoint(&mut self, addr: u32, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(addr, kind)
    }
}

impl MonitorCmd for Debugged {
    fn handle_monitor_cmd(&mut self, cmd: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Never> {
        match String::from_utf8_lossy(cmd).trim() {
            "view root" => self.view = Some(Mode::RootKernel),
            "view guest" => self.view = Some(Mode::GuestKernel),
            "view auto" => self.view = None,
            "tlb" => {
                outputln!(out, "{}{}", tlb_text("root", &self.cpu.root_tlb), tlb_text("guest", &self.cpu.guest_tlb));
            }
            "stats" => outputln!(out, "{}", self.cpu.stats.report()),
            _ => outputln!(out, "{HELP}\nnow: {}, {} instructions", mode_tag(&self.cpu), self.cpu.instructions()),
        }
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Debugged {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let text = description();
        let rest = text.as_bytes().get(offset as usize..).unwrap_or(&[]);
        let size = rest.len().min(length).min(buf.len());
        buf[..size].copy_from_slice(&rest[..size]);
        Ok(size)
    }
}

/// A connection to GDB.
type Wire = Box<dyn ConnectionExt<Error = io::Error>>;

enum Loop {}

impl BlockingEventLoop for Loop {
    type Target = Debugged;
    type Connection = Filter<Wire>;
    type StopReason = SingleThreadStopReason<u32>;

    fn wait_for_stop_reason(
        target: &mut Debugged,
        conn: &mut Filter<Wire>,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<Never, io::Error>> {
        loop {
            if let Some(reason) = target.advance() {
                return Ok(Event::TargetStopped(reason));
            }
            if conn.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = ConnectionExt::read(conn).map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(_: &mut Debugged) -> Result<Option<Self::StopReason>, Never> {
        Ok(Some(SingleThreadStopReason::Signal(Signal::SIGINT)))
    }
}

fn accept_tcp(port: u16) -> io::Result<Wire> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let at = listener.local_addr()?.port();
    let _ = writeln!(io::stderr(), "iasim: waiting for GDB (target remote :{at})");
    let _ = writeln!(io::stderr(), "iasim: warning: every user of this machine can connect; --gdb PATH is a socket");
    let connection = listener.accept()?.0;
    let _ = connection.set_nodelay(true);
    Ok(Box::new(connection))
}

/// The protocol has no authentication, so only the simulator's user may connect.
fn accept_unix(path: &str) -> io::Result<Wire> {
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    let _ = writeln!(io::stderr(), "iasim: waiting for GDB (target remote {path})");
    let connection = listener.accept()?.0;
    let _ = fs::remove_file(path);
    Ok(Box::new(connection))
}

/// Waits for GDB at `place`, a TCP port or a socket's path, and serves it; returns the machine and
/// its stop reason. When GDB detaches, the program continues.
pub fn serve(cpu: Cpu, place: &str) -> Result<(Cpu, Stop), String> {
    let accepted = place.parse().map_or_else(|_| accept_unix(place), accept_tcp);
    let connection = accepted.map_err(|error| format!("--gdb {place}: {error}"))?;
    let mut debugged = Debugged::new(cpu);
    let done = GdbStub::new(Filter::new(connection, LAYOUT)).run_blocking::<Loop>(&mut debugged);
    if let Err(error) = &done {
        let _ = writeln!(io::stderr(), "iasim: GDB disconnected: {error}; the program runs on");
    }
    let killed = matches!(done, Ok(DisconnectReason::Kill));
    let Debugged { mut cpu, ended, limit, .. } = debugged;
    cpu.observer = None;
    cpu.board.console().input_timeout = None;
    cpu.limit = limit;
    let stop = match ended {
        Some(stop) => stop,
        None if killed => Stop::Exit(0),
        None => cpu.run(),
    };
    Ok((cpu, stop))
}
