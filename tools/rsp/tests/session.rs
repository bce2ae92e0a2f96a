// SPDX-License-Identifier: Apache-2.0
//! Sessions of gdbstub behind the filter, with targets of one thread and of several: packets that
//! gdbstub does not serve end a session, so random ones show which packets the filter misses.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use gdbstub::arch::{Arch, RegId, Registers};
use gdbstub::common::{Pid, Signal, Tid};
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{GdbStub, MultiThreadStopReason};
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::ext::extended_mode::{
    Args, AttachKind, CurrentActivePid, CurrentActivePidOps, ExtendedMode, ExtendedModeOps, ShouldTerminate,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetResult};
use tessera_rsp::{Filter, Layout};

const REGISTERS: usize = 16;

/// A connection in memory, which ends after the bytes for the server.
struct Wire(VecDeque<u8>, Vec<u8>);

impl Connection for Wire {
    type Error = &'static str;

    fn write(&mut self, byte: u8) -> Result<(), Self::Error> {
        self.1.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl ConnectionExt for Wire {
    fn read(&mut self) -> Result<u8, Self::Error> {
        self.0.pop_front().ok_or("the end")
    }

    fn peek(&mut self) -> Result<Option<u8>, Self::Error> {
        Ok(self.0.front().copied())
    }
}

#[derive(Debug, Default, Clone, PartialEq)]
struct Core([u8; REGISTERS]);

impl Registers for Core {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.0.iter().for_each(|byte| write_byte(Some(*byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.try_into().map_err(|_| ())?;
        Ok(())
    }
}

#[derive(Debug)]
struct Number;

impl RegId for Number {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        (id < 64).then_some((Number, NonZeroUsize::new(8)))
    }
}

#[derive(Debug)]
enum Machine64 {}

impl Arch for Machine64 {
    type Usize = u64;
    type Registers = Core;
    type BreakpointKind = usize;
    type RegId = Number;
}

/// A target with the extensions of tools/gdb (with threads) or tools/iasim (without). It stops
/// whenever it is resumed.
struct Machine {
    threads: bool,
}

impl Target for Machine {
    type Arch = Machine64;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Machine64, Self::Error> {
        if self.threads {
            BaseOps::MultiThread(self)
        } else {
            BaseOps::SingleThread(self)
        }
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_extended_mode(&mut self) -> Option<ExtendedModeOps<'_, Self>> {
        self.threads.then_some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadBase for Machine {
    fn read_registers(&mut self, _: &mut Core) -> TargetResult<(), Self> {
        Ok(())
    }

    fn write_registers(&mut self, _: &Core) -> TargetResult<(), Self> {
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, (), Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, _: u64, data: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(data.len())
    }

    fn write_addrs(&mut self, _: u64, _: &[u8]) -> TargetResult<(), Self> {
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Machine {
    fn read_registers(&mut self, _: &mut Core, _: Tid) -> TargetResult<(), Self> {
        Ok(())
    }

    fn write_registers(&mut self, _: &Core, _: Tid) -> TargetResult<(), Self> {
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, _: u64, data: &mut [u8], _: Tid) -> TargetResult<usize, Self> {
        Ok(data.len())
    }

    fn write_addrs(&mut self, _: u64, _: &[u8], _: Tid) -> TargetResult<(), Self> {
        Ok(())
    }

    fn list_active_threads(&mut self, is_active: &mut dyn FnMut(Tid)) -> Result<(), Self::Error> {
        [1, 2].into_iter().filter_map(Tid::new).for_each(is_active);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

macro_rules! single_register_access {
    ($id:ty) => {
        impl SingleRegisterAccess<$id> for Machine {
            fn read_register(&mut self, _: $id, _: Number, _: &mut [u8]) -> TargetResult<usize, Self> {
                Ok(8)
            }

            fn write_register(&mut self, _: $id, _: Number, _: &[u8]) -> TargetResult<(), Self> {
                Ok(())
            }
        }
    };
}
single_register_access!(());
single_register_access!(Tid);

impl ThreadExtraInfo for Machine {
    fn thread_extra_info(&self, _: Tid, _: &mut [u8]) -> Result<usize, Self::Error> {
        Ok(1)
    }
}

impl SingleThreadResume for Machine {
    fn resume(&mut self, _: Option<Signal>) -> Result<(), Self::Error> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for Machine {
    fn step(&mut self, _: Option<Signal>) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl MultiThreadResume for Machine {
    fn resume(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Self::Error> {
        Ok(())
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSchedulerLocking for Machine {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl MultiThreadSingleStep for Machine {
    fn set_resume_action_step(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl Breakpoints for Machine {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Machine {
    fn add_sw_breakpoint(&mut self, _: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, _: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(true)
    }
}

impl ExtendedMode for Machine {
    fn run(&mut self, _: Option<&[u8]>, _: Args<'_, '_>) -> TargetResult<Pid, Self> {
        Ok(Pid::new(1).expect("not 0"))
    }

    fn attach(&mut self, _: Pid) -> TargetResult<(), Self> {
        Ok(())
    }

    fn query_if_attached(&mut self, _: Pid) -> TargetResult<AttachKind, Self> {
        Ok(AttachKind::Attach)
    }

    fn kill(&mut self, _: Option<Pid>) -> TargetResult<ShouldTerminate, Self> {
        Ok(ShouldTerminate::No)
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    fn support_current_active_pid(&mut self) -> Option<CurrentActivePidOps<'_, Self>> {
        Some(self)
    }
}

impl CurrentActivePid for Machine {
    fn current_active_pid(&mut self) -> Result<Pid, Self::Error> {
        Ok(Pid::new(1).expect("not 0"))
    }
}

impl MonitorCmd for Machine {
    fn handle_monitor_cmd(&mut self, _: &[u8], _: ConsoleOutput<'_>) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl TargetDescriptionXmlOverride for Machine {
    fn target_description_xml(&self, _: &[u8], _: u64, length: usize, buf: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(length.min(buf.len()))
    }
}

enum Loop {}

impl BlockingEventLoop for Loop {
    type Target = Machine;
    type Connection = Filter<Wire>;
    type StopReason = MultiThreadStopReason<u64>;

    fn wait_for_stop_reason(
        _: &mut Machine,
        _: &mut Filter<Wire>,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<&'static str, &'static str>> {
        // Without a thread, so that the thread of Hc stays.
        Ok(Event::TargetStopped(MultiThreadStopReason::Signal(Signal::SIGTRAP)))
    }

    fn on_interrupt(_: &mut Machine) -> Result<Option<Self::StopReason>, &'static str> {
        Ok(None)
    }
}

fn frame(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// A session that lasts until the end of the connection, or until GDB detaches or kills.
fn assert_survives<'a>(threads: bool, packets: impl IntoIterator<Item = &'a [u8]> + Clone) {
    let sent = packets.clone().into_iter().flat_map(frame).collect();
    let filter = Filter::new(Wire(sent, Vec::new()), Layout { address: 8, registers: REGISTERS, threads });
    if let Err(error) = GdbStub::new(filter).run_blocking::<Loop>(&mut Machine { threads }) {
        let packets: Vec<_> = packets.into_iter().map(String::from_utf8_lossy).collect();
        assert!(error.is_connection_error(), "threads: {threads}: {packets:?}: {error}");
    }
}

#[test]
fn threads_that_gdbstub_does_not_serve() {
    let cases: [&[&str]; 14] = [
        &["Hgp1.-1"],
        &["Hgp-1.-1"],
        &["Hc-1", "s"],
        &["Hcp1.-1", "s0"],
        &["Hcp-1.-1", "c", "s"],
        &["vCont;c:p0.1"],
        &["vCont;C05:p0.-1"],
        &["vCont;s:p0.1"],
        &["vCont;s:p1.1;c:p0.-1"],
        &["vCont;s:-1"],
        &["vCont;s:0"],
        &["T-1"],
        &["Tp1.-1"],
        &["qThreadExtraInfo,p-1.1"],
    ];
    for threads in [false, true] {
        for packets in cases {
            assert_survives(threads, packets.iter().map(|packet| packet.as_bytes()));
        }
    }
}

/// Random changes of valid packets.
#[test]
fn random_packets() {
    let valid =
        "?|!|g|k|qC|qfThreadInfo|vCont?|qSupported:multiprocess+;swbreak+|qXfer:features:read:target.xml:0,100|\
        qThreadExtraInfo,p1.1|qRcmd,746c62|qAttached:1|vCont;c:p1.1|vCont;s:p1.1;c|vCont;C05:-1;c:2|vRun;61;62|\
        vAttach;1|vKill;1|D;1|R00|Hgp1.1|Hg0|Hcp1.1|Hc-1|Tp1.1|G00000000000000000000000000000000|p1|P4=00000000|c|s|\
        m80001000,4|M80001000,2:3132|X80001000,2:ab|Z0,80001000,4|z0,80001000,4|S05|C05";
    let valid: Vec<_> = valid.split('|').map(str::as_bytes).collect();
    let odd = b"01f,:;=-p.zXQ}\x80#$";
    let mut seed = 1u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut packet = || {
        let mut body = valid[random(valid.len())].to_vec();
        for _ in 0..random(4) {
            let at = random(body.len() + 1);
            match random(4) {
                0 => body.truncate(at),
                1 if at < body.len() => body[at] = odd[random(odd.len())],
                2 => body.extend_from_within(at..),
                _ => body.insert(at, odd[random(odd.len())]),
            }
        }
        body
    };
    for threads in [false, true] {
        for _ in 0..10_000 {
            let packets: Vec<_> = (0..4).map(|_| packet()).collect();
            assert_survives(threads, packets.iter().map(Vec::as_slice));
        }
    }
}
