// SPDX-License-Identifier: Apache-2.0
//! The VM as a gdbstub target: one process with a thread for each VCPU.

use std::io;

use gdbstub::common::{Pid, Signal, Tid};
use gdbstub::conn::ConnectionExt;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::ext::extended_mode::{
    Args, AttachKind, CurrentActivePid, CurrentActivePidOps, ExtendedMode, ExtendedModeOps, ShouldTerminate,
};
use gdbstub::target::ext::monitor_cmd::{outputln, ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use gdbstub_arch::riscv::reg::id::RiscvRegId;
use gdbstub_arch::riscv::reg::RiscvCoreRegs;
use gdbstub_arch::riscv::Riscv64;

use crate::link::{Error, Keys, ALL};
use crate::vm::{Stop, Vm, CSR, PC, PRIVILEGE};
use crate::xml;
use tessera_rsp::{Filter, Layout};

/// 32 registers and pc in a `G` packet.
const LAYOUT: Layout = Layout { address: 8, registers: 33 * 8, threads: true };

const HELP: &str = "restart: restart the VM and halt it before its first instruction
status: print the VM's state
type TEXT: send TEXT and return to the VM that has the keyboard
The console (Ctrl-T h) controls other VMs.";

pub struct Debugged {
    vm: Vm,
    keys: Keys,
    /// The VCPU to single-step; None: continue.
    step: Option<u8>,
    /// VCPUs that GDB wants to continue; with `locked`, the others stay halted.
    named: Vec<u8>,
    locked: bool,
    /// The VCPU that GDB accessed last; breakpoint addresses are translated by its page tables.
    last: u8,
}

impl Debugged {
    pub fn new(vm: Vm, keys: Keys) -> Self {
        Debugged { vm, keys, step: None, named: Vec::new(), locked: false, last: 0 }
    }

    pub fn into_vm(self) -> Vm {
        self.vm
    }
}

fn tid(vcpu: u8) -> Tid {
    Tid::new(usize::from(vcpu) + 1).expect("not 0")
}

fn vcpu(tid: Tid) -> u8 {
    (tid.get() - 1).min(254) as u8
}

/// A refused request is an error for GDB to handle; without a connection to the hypervisor the
/// session ends.
fn fault<T>(result: Result<T, Error>) -> Result<T, TargetError<Error>> {
    result.map_err(|error| match error {
        Error::Refused(_) | Error::WaitsForRestart => TargetError::NonFatal,
        other => TargetError::Fatal(other),
    })
}

/// Number and size in bytes of a register, as defined by gdbstub and xml.rs.
fn number(id: RiscvRegId<u64>) -> Option<(u32, usize)> {
    match id {
        RiscvRegId::Gpr(n) => Some((n.into(), 8)),
        RiscvRegId::Pc => Some((PC, 8)),
        RiscvRegId::Fpr(n) => Some((PC + 1 + u32::from(n), 8)),
        RiscvRegId::Csr(n) => Some((CSR + u32::from(n), 8)),
        RiscvRegId::Priv => Some((PRIVILEGE, 1)),
        _ => None,
    }
}

impl Target for Debugged {
    type Arch = Riscv64;
    type Error = Error;

    fn base_ops(&mut self) -> BaseOps<'_, Riscv64, Error> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_extended_mode(&mut self) -> Option<ExtendedModeOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Debugged {
    fn read_registers(&mut self, regs: &mut RiscvCoreRegs<u64>, tid: Tid) -> TargetResult<(), Self> {
        self.last = vcpu(tid);
        for (n, value) in regs.x.iter_mut().enumerate() {
            *value = fault(self.vm.register(vcpu(tid), n as u32))?;
        }
        regs.pc = fault(self.vm.register(vcpu(tid), PC))?;
        Ok(())
    }

    fn write_registers(&mut self, regs: &RiscvCoreRegs<u64>, tid: Tid) -> TargetResult<(), Self> {
        for (n, value) in regs.x.iter().chain([&regs.pc]).enumerate() {
            fault(self.vm.set_register(vcpu(tid), n as u32, *value))?;
        }
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        self.last = vcpu(tid);
        match fault(self.vm.read(vcpu(tid), start, data))? {
            0 => Err(TargetError::NonFatal),
            size => Ok(size),
        }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        if fault(self.vm.write(vcpu(tid), start, data))? {
            Ok(())
        } else {
            Err(TargetError::NonFatal)
        }
    }

    fn list_active_threads(&mut self, is_active: &mut dyn FnMut(Tid)) -> Result<(), Error> {
        self.vm.online().into_iter().for_each(|vcpu| is_active(tid(vcpu)));
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Debugged {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Error> {
        let text = format!("VCPU {}", vcpu(tid));
        let size = text.len().min(buf.len());
        buf[..size].copy_from_slice(&text.as_bytes()[..size]);
        Ok(size)
    }
}

impl SingleRegisterAccess<Tid> for Debugged {
    fn read_register(&mut self, tid: Tid, id: RiscvRegId<u64>, buf: &mut [u8]) -> TargetResult<usize, Self> {
        let (number, size) = number(id).ok_or(TargetError::NonFatal)?;
        let value = match number {
            n if n == CSR + 1 => fault(self.vm.register(vcpu(tid), CSR + 3))? & 0x1f,
            n if n == CSR + 2 => fault(self.vm.register(vcpu(tid), CSR + 3))? >> 5,
            n => fault(self.vm.register(vcpu(tid), n))?,
        };
        let size = size.min(buf.len());
        buf[..size].copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(size)
    }

    /// After an inferior call, GDB writes back all registers that it has read, including read-only
    /// ones; writing the current value is therefore accepted.
    fn write_register(&mut self, tid: Tid, id: RiscvRegId<u64>, val: &[u8]) -> TargetResult<(), Self> {
        let (number, _) = number(id).ok_or(TargetError::NonFatal)?;
        if number >= CSR {
            let mut now = [0; 8];
            let size = self.read_register(tid, id, &mut now)?;
            return if now[..size] == *val { Ok(()) } else { Err(TargetError::NonFatal) };
        }
        let bytes: [u8; 8] = val.try_into().map_err(|_| TargetError::NonFatal)?;
        fault(self.vm.set_register(vcpu(tid), number, u64::from_le_bytes(bytes)))
    }
}

impl MultiThreadResume for Debugged {
    fn resume(&mut self) -> Result<(), Error> {
        match (self.step, self.named.as_slice()) {
            (Some(vcpu), _) => self.vm.step(vcpu),
            (None, [vcpu]) if self.locked => self.vm.resume(*vcpu),
            _ => self.vm.resume(ALL),
        }
    }

    fn clear_resume_actions(&mut self) -> Result<(), Error> {
        self.step = None;
        self.named.clear();
        self.locked = false;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), Error> {
        self.named.push(vcpu(tid));
        Ok(())
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSchedulerLocking for Debugged {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Error> {
        self.locked = true;
        Ok(())
    }
}

impl MultiThreadSingleStep for Debugged {
    fn set_resume_action_step(&mut self, tid: Tid, _signal: Option<Signal>) -> Result<(), Error> {
        self.step = Some(vcpu(tid));
        Ok(())
    }
}

impl Breakpoints for Debugged {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debugged {
    fn add_sw_breakpoint(&mut self, addr: u64, _kind: usize) -> TargetResult<bool, Self> {
        fault(self.vm.add_breakpoint(self.last, addr))
    }

    fn remove_sw_breakpoint(&mut self, addr: u64, _kind: usize) -> TargetResult<bool, Self> {
        fault(self.vm.remove_breakpoint(addr))?;
        Ok(true)
    }
}

impl ExtendedMode for Debugged {
    fn run(&mut self, _filename: Option<&[u8]>, _args: Args<'_, '_>) -> TargetResult<Pid, Self> {
        fault(self.vm.restart())?;
        Ok(Pid::new(1).expect("not 0"))
    }

    fn attach(&mut self, _pid: Pid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn query_if_attached(&mut self, _pid: Pid) -> TargetResult<AttachKind, Self> {
        Ok(AttachKind::Attach)
    }

    fn kill(&mut self, _pid: Option<Pid>) -> TargetResult<ShouldTerminate, Self> {
        fault(self.vm.off())?;
        Ok(ShouldTerminate::No)
    }

    fn restart(&mut self) -> Result<(), Error> {
        self.vm.restart()
    }

    fn support_current_active_pid(&mut self) -> Option<CurrentActivePidOps<'_, Self>> {
        Some(self)
    }
}

impl CurrentActivePid for Debugged {
    fn current_active_pid(&mut self) -> Result<Pid, Error> {
        Ok(Pid::new(1).expect("not 0"))
    }
}

impl MonitorCmd for Debugged {
    fn handle_monitor_cmd(&mut self, cmd: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Error> {
        let line = String::from_utf8_lossy(cmd).into_owned();
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("restart", "") => match self.vm.restart() {
                Ok(()) => {
                    outputln!(
                        out,
                        "The VM is halted before its first instruction; `flushregs` updates GDB's registers."
                    )
                }
                Err(error @ (Error::Refused(_) | Error::WaitsForRestart)) => outputln!(out, "{error}"),
                Err(error) => return Err(error),
            },
            ("status", "") => outputln!(out, "{}", self.vm.describe()?),
            ("type", text) => {
                for key in text.bytes().chain([b'\r']) {
                    self.keys.send_key(key)?;
                }
            }
            _ => outputln!(out, "{HELP}"),
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
        let text = xml::description();
        let rest = text.as_bytes().get(offset as usize..).unwrap_or(&[]);
        let size = rest.len().min(length).min(buf.len());
        buf[..size].copy_from_slice(&rest[..size]);
        Ok(size)
    }
}

pub type Connection = Filter<Box<dyn ConnectionExt<Error = io::Error>>>;

pub fn connection(stream: Box<dyn ConnectionExt<Error = io::Error>>) -> Connection {
    Filter::new(stream, LAYOUT)
}

pub enum Loop {}

impl BlockingEventLoop for Loop {
    type Target = Debugged;
    type Connection = Connection;
    type StopReason = MultiThreadStopReason<u64>;

    fn wait_for_stop_reason(
        target: &mut Debugged,
        conn: &mut Connection,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<Error, io::Error>> {
        loop {
            if conn.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = conn.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
            let Some(stop) = target.vm.poll_stop().map_err(WaitForStopReasonError::Target)? else { continue };
            let with = |vcpu: u8, signal| MultiThreadStopReason::SignalWithThread { tid: tid(vcpu), signal };
            let any = target.vm.online()[0];
            return Ok(Event::TargetStopped(match stop {
                Stop::Requested => with(any, Signal::SIGINT),
                Stop::Breakpoint(vcpu) => MultiThreadStopReason::SwBreak(tid(vcpu)),
                Stop::Stepped(vcpu) => with(vcpu, Signal::SIGTRAP),
                Stop::StepFault(vcpu) => with(vcpu, Signal::SIGSEGV),
                Stop::Restarted => with(any, Signal::SIGHUP),
                Stop::Off => MultiThreadStopReason::Exited(0),
            }));
        }
    }

    fn on_interrupt(target: &mut Debugged) -> Result<Option<Self::StopReason>, Error> {
        target.vm.halt()?;
        Ok(None)
    }
}
