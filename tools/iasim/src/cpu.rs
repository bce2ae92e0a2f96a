// SPDX-License-Identifier: Apache-2.0
//! The core: its state, the execution loop, and the work between instructions (timers, devices,
//! interrupts).
//!
//! An instruction takes one clock, whether it completes or ends in an exception. The inner loop
//! compares the clock with `deadline` only. Anything that needs service earlier (an event's time,
//! an interrupt that a register write enables) lowers `deadline`.

use std::rc::Rc;

use crate::board::console::Waited;
use crate::board::{Board, CoreLines, Lines};
use crate::cp0::{self, cause, guestctl0, status, Cp0};
use crate::exception::{code, Fault};
use crate::isa::Op;
use crate::memory::{self, Code, Memory};
use crate::micro::Micro;
use crate::mmu::SoftTlb;
use crate::model::Model;
use crate::observe::Observer;
use crate::pace::Pace;
use crate::stats::Stats;
use crate::timer::Timer;
use crate::tlb::Tlb;

/// Result of an instruction. A fault is boxed: faults are rare, and a one-word result is fast.
pub type Done = Result<(), Box<Fault>>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    Root,
    Guest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    RootKernel,
    RootUser,
    GuestKernel,
    GuestUser,
}

impl Mode {
    pub fn is_guest(self) -> bool {
        matches!(self, Mode::GuestKernel | Mode::GuestUser)
    }

    pub fn is_kernel(self) -> bool {
        matches!(self, Mode::RootKernel | Mode::GuestKernel)
    }

    pub fn context(self) -> Context {
        if self.is_guest() {
            Context::Guest
        } else {
            Context::Root
        }
    }
}

/// Why the simulator stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The program requested the end, with this exit code.
    Exit(i32),
    /// The instruction limit was reached.
    Limit,
    /// The core waits in WAIT and no event can wake it; events of a masked timer do not.
    Asleep,
    /// The root's exception handlers raise exceptions endlessly; the exception's name.
    Endless(String),
    /// The terminal's output cannot be written.
    Output(String),
    /// The program used a feature that this simulator does not model.
    Unimplemented(String),
    /// An observer requested the stop.
    Observer,
}

/// Matches no page: fetch addresses are compared with all their low bits.
const NO_WINDOW: u32 = 0xFFFF_FFFF;
const WINDOW: u32 = 0xFFFF_F003;

/// Bounds of a single WAIT. In MAX_SLEEP_CLOCKS, Count wraps around eight times.
const MAX_SLEEP_EVENTS: u32 = 1 << 20;
const MAX_SLEEP_CLOCKS: u64 = 1 << 36;

pub struct Cpu {
    /// The active shadow set; gpr[SINK] takes the writes to register 0.
    pub gpr: [u32; 64],
    pub hi: u32,
    pub lo: u32,
    pub pc: u32,
    /// Address of the instruction after the one at pc.
    pub npc: u32,
    /// Of the current instruction: its address, whether it is in a delay slot, and the word of the
    /// branch before it.
    pub cur_pc: u32,
    pub slot: bool,
    pub branch_word: u32,
    /// The next instruction is in a delay slot.
    pub branch: bool,
    /// The next instruction is not simply the next word: a jump, or service was requested.
    pub diverted: bool,
    /// State of the microMIPS instruction set.
    pub micro: Micro,
    window: u32,
    code: Rc<Code>,
    /// Offset in memory of the page that instructions are fetched from.
    page: u32,

    /// Clocks since the start, and how many of them passed in WAIT.
    pub now: u64,
    pub idle: u64,
    deadline: u64,
    pub limit: u64,
    pub mode: Mode,

    pub root: Cp0,
    pub guest: Cp0,
    pub root_tlb: Tlb,
    pub guest_tlb: Tlb,
    pub soft: SoftTlb,
    /// Indexed by context.
    pub llbit: [bool; 2],
    pub shadow: [[u32; 32]; 16],
    pub set: usize,
    pub timer: Timer,
    /// Interrupt lines of the board at the last poll.
    pub lines: Lines,
    /// Lines passed through to the guest at the last poll.
    pub passed: u32,
    pub waiting: bool,
    /// Exceptions of the root since EXL was last 0.
    pub nested: u32,

    pub mem: Memory,
    pub board: Box<dyn Board>,
    pub model: Model,
    pub stats: Stats,
    pub observer: Option<Box<dyn Observer>>,
    /// Slows execution to real time.
    pub pace: Option<Pace>,
    pub stop: Option<Stop>,
}

impl Cpu {
    pub fn new(model: Model, mem: Memory, board: Box<dyn Board>) -> Self {
        let mut cpu = Cpu {
            gpr: [0; 64],
            hi: 0,
            lo: 0,
            pc: 0,
            npc: 0,
            cur_pc: 0,
            slot: false,
            branch_word: 0,
            branch: false,
            diverted: false,
            micro: Micro::new(),
            window: NO_WINDOW,
            page: 0,
            code: memory::no_code(),
            now: 0,
            idle: 0,
            deadline: 0,
            limit: u64::MAX,
            mode: Mode::RootKernel,
            root: Cp0::new(),
            guest: Cp0::new(),
            root_tlb: Tlb::new(model.root_tlb),
            guest_tlb: Tlb::new(model.guest_tlb),
            soft: SoftTlb::new(),
            llbit: [false; 2],
            shadow: [[0; 32]; 16],
            set: 0,
            timer: Timer::new(model.count_divider),
            lines: Lines::default(),
            passed: 0,
            waiting: false,
            nested: 0,
            mem,
            board,
            model,
            stats: Stats::default(),
            observer: None,
            pace: None,
            stop: None,
        };
        cpu.reset();
        cpu
    }

    /// Sets the state after reset. Memory, GPRs and TLBs, which are undefined after reset, keep
    /// their values.
    pub fn reset(&mut self) {
        self.root = Cp0::new();
        self.guest = Cp0::new();
        self.reset_model();
        self.timer.reset(self.now);
        self.llbit = [false; 2];
        self.waiting = false;
        self.select_set(0);
        self.jump(0xBFC0_0000);
        self.soft.flush();
        self.timer_arm();
        self.update_mode();
    }

    /// Sets the reset values that depend on the model and the board.
    fn reset_model(&mut self) {
        let mmu = |entries: usize| 0x8000_0000 | (entries as u32 - 1) << 25 | 0x1E9B_0D9A & 0x01FF_FFFF;
        self.root[cp0::CONFIG1] = mmu(self.model.root_tlb);
        self.guest[cp0::CONFIG1] = mmu(self.model.guest_tlb);
        self.root[cp0::RANDOM] = self.model.root_tlb as u32 - 1;
        self.guest[cp0::RANDOM] = self.model.guest_tlb as u32 - 1;
        self.root[cp0::SRSCTL] = self.model.hss << 26;
        if !self.board.has_eic() {
            self.root[cp0::CONFIG3] &= !cp0::config3::VEIC;
            self.root[cp0::INTCTL] |= 7 << 29;
        }
        if !self.model.micromips {
            self.root[cp0::CONFIG3] &= !cp0::config3::ISA;
        }
        self.guest[cp0::CONFIG3] = self.root[cp0::CONFIG3] & !cp0::config3::VZ;
        self.guest[cp0::INTCTL] = self.root[cp0::INTCTL];
        if !self.model.pass_through {
            self.root[cp0::GUESTCTL0] &= !guestctl0::PT;
        }
    }

    pub fn cp0(&self, context: Context) -> &Cp0 {
        match context {
            Context::Root => &self.root,
            Context::Guest => &self.guest,
        }
    }

    pub fn cp0_mut(&mut self, context: Context) -> &mut Cp0 {
        match context {
            Context::Root => &mut self.root,
            Context::Guest => &mut self.guest,
        }
    }

    /// GuestCtl1.ID: the guest that runs in guest mode.
    pub fn guest_id(&self) -> u8 {
        self.root[cp0::GUESTCTL1] as u8
    }

    /// GuestCtl1.RID: the guest whose TLB entries the root's TLB instructions access.
    pub fn rid(&self) -> u8 {
        (self.root[cp0::GUESTCTL1] >> 16) as u8
    }

    pub fn jump(&mut self, target: u32) {
        self.pc = target;
        self.npc = target.wrapping_add(4);
        self.branch = false;
        self.diverted = true;
    }

    /// Number of instructions executed.
    pub fn instructions(&self) -> u64 {
        self.now - self.idle
    }

    /// Checks timers, devices and interrupts before the next instruction.
    pub fn request_service(&mut self) {
        self.deadline = 0;
        self.diverted = true;
    }

    pub fn halt(&mut self, stop: Stop) {
        self.stop = Some(stop);
        self.request_service();
    }

    /// Translates the next fetch address again.
    pub fn close_window(&mut self) {
        self.window = NO_WINDOW;
        self.micro.close();
    }

    /// Whether the inner loop may execute the next instruction without service.
    pub(crate) fn before_deadline(&self) -> bool {
        self.now < self.deadline
    }

    /// Computes the mode from Status and GuestCtl0 and updates all state that depends on the mode.
    pub fn update_mode(&mut self) {
        let debug = self.root.has(cp0::DEBUG, crate::exception::DM);
        let guest = self.root.has(cp0::GUESTCTL0, guestctl0::GM) && !self.root.at_exception() && !debug;
        let mode = match (guest, if guest { self.guest.is_kernel() } else { debug || self.root.is_kernel() }) {
            (false, true) => Mode::RootKernel,
            (false, false) => Mode::RootUser,
            (true, true) => Mode::GuestKernel,
            (true, false) => Mode::GuestUser,
        };
        self.stats.account(self.instructions());
        self.stats.set_current(if guest { self.guest_id() } else { 0 }, guest, mode.is_kernel());
        self.mode = mode;
        self.select_set(self.active_set());
        self.close_window();
        self.request_service();
    }

    fn active_set(&self) -> usize {
        let css = |cp0: &Cp0| cp0[cp0::SRSCTL] & 0xF;
        let set = match self.mode.context() {
            Context::Root => css(&self.root),
            Context::Guest => (self.root[cp0::GUESTCTL3] & 0xF) + css(&self.guest),
        };
        (set & 0xF) as usize
    }

    fn select_set(&mut self, set: usize) {
        if set != self.set {
            self.shadow[self.set].copy_from_slice(&self.gpr[..32]);
            self.gpr[..32].copy_from_slice(&self.shadow[set]);
            self.set = set;
        }
    }

    /// A GPR of any shadow set.
    pub fn shadow_reg(&mut self, set: usize, n: usize) -> &mut u32 {
        if set == self.set {
            &mut self.gpr[n & 31]
        } else {
            &mut self.shadow[set & 15][n & 31]
        }
    }

    /// Executes until a stop reason occurs.
    pub fn run(&mut self) -> Stop {
        loop {
            self.service();
            if let Some(stop) = self.stop.take() {
                self.stats.account(self.instructions());
                return stop;
            }
            if self.observer.is_some() {
                self.run_pages::<true>();
            } else {
                self.run_pages::<false>();
            }
        }
    }

    fn run_pages<const OBSERVED: bool>(&mut self) {
        while self.now < self.deadline {
            if self.pc & WINDOW != self.window && !self.open_window() {
                continue;
            }
            if !OBSERVED && !self.branch {
                self.run_page();
                continue;
            }
            let op = self.code[(self.pc >> 2) as usize & 1023].get();
            if OBSERVED {
                if !op.is_decoded() {
                    self.decode_at_pc();
                    continue;
                }
                if !self.observe(op) {
                    return;
                }
            }
            self.cur_pc = self.pc;
            self.slot = self.branch;
            self.branch = false;
            self.pc = self.npc;
            self.npc = self.npc.wrapping_add(4);
            self.now += 1;
            if let Err(fault) = (op.run)(self, op) {
                self.raise(&fault, Some(op.word()));
            }
        }
    }

    /// Executes unobserved instructions of the current page until execution leaves the page.
    /// Equivalent to the loop of run_pages(), but keeps pc and the clock in registers, and handles
    /// a branch within the page without leaving the loop.
    fn run_page(&mut self) {
        let mut pc = self.pc;
        let mut now = self.now;
        let deadline = self.deadline;
        self.slot = false;
        self.diverted = false;
        while now < deadline {
            let op = self.code[(pc >> 2) as usize & 1023].get();
            now += 1;
            self.now = now;
            self.cur_pc = pc;
            pc = pc.wrapping_add(4);
            self.pc = pc;
            self.npc = pc.wrapping_add(4);
            if let Err(fault) = (op.run)(self, op) {
                return self.raise(&fault, Some(op.word()));
            }
            if pc % memory::PAGE == 0 {
                return;
            }
            if self.diverted {
                if !self.branch || now >= deadline || !self.delay_slot() {
                    return;
                }
                now += 1;
                pc = self.pc;
            }
        }
    }

    /// Executes the delay slot at pc. False if the next instruction is not in the current page or
    /// service was requested.
    #[inline(always)]
    fn delay_slot(&mut self) -> bool {
        let op = self.code[(self.pc >> 2) as usize & 1023].get();
        self.now += 1;
        self.cur_pc = self.pc;
        self.slot = true;
        self.branch = false;
        self.diverted = false;
        self.pc = self.npc;
        self.npc = self.npc.wrapping_add(4);
        if let Err(fault) = (op.run)(self, op) {
            self.raise(&fault, Some(op.word()));
            return false;
        }
        self.slot = false;
        !self.diverted && self.pc & WINDOW == self.window
    }

    #[cold]
    pub(crate) fn observe(&mut self, op: Op) -> bool {
        let Some(mut observer) = self.observer.take() else { return true };
        let go = observer.before(self, op);
        self.observer = Some(observer);
        if !go {
            self.halt(Stop::Observer);
        }
        go
    }

    /// Selects the decoded instructions of the page at pc. False if the fetch raised an exception,
    /// or if pc is in microMIPS code, which this function executes.
    #[cold]
    #[inline(never)]
    fn open_window(&mut self) -> bool {
        if self.pc & 1 != 0 && self.model.micromips {
            self.run_micro();
            return false;
        }
        match self.fetch_place(self.pc) {
            Ok(offset) => {
                let (code, new) = self.mem.code(offset);
                if new {
                    self.soft.flush();
                }
                self.code = code;
                self.page = offset & !0xFFF;
                self.window = self.pc & !0xFFF;
                true
            }
            Err(fault) => {
                self.cur_pc = self.pc;
                self.slot = self.branch;
                self.now += 1;
                self.raise(&fault, None);
                false
            }
        }
    }

    /// The word at pc, which is in the current page.
    pub fn word_at_pc(&self) -> u32 {
        self.mem.read::<4>(self.page | self.pc & 0xFFC)
    }

    /// Stores the decoded form of the word at pc.
    pub fn cache_decoded(&mut self, op: Op) {
        self.code[(self.pc >> 2) as usize & 1023].set(op);
    }

    /// Updates timers, devices and interrupts, and computes the next deadline.
    fn service(&mut self) {
        self.timer_advance();
        self.board_poll();
        self.sleep();
        self.keep_pace();
        if self.stop.is_none() {
            self.stop = self.board.console().output_error().map(|error| Stop::Output(error.to_string()));
        }
        if self.stop.is_none() && self.instructions() >= self.limit {
            self.stop = Some(Stop::Limit);
        }
        if self.stop.is_none() {
            self.take_interrupt();
        }
        self.deadline = match self.stop {
            Some(_) => 0,
            None => self.next_event().min(self.limit.saturating_add(self.idle)),
        };
    }

    fn keep_pace(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.keep(self.now);
        }
    }

    fn board_poll(&mut self) {
        let core = CoreLines { timer: self.timer_irq(), software: self.root[cp0::CAUSE] >> 8 & 3 };
        self.lines = self.board.poll(self.now, core);
        self.pass_through();
        if self.board.take_reset() {
            self.reset();
        }
        if let Some(code) = self.board.take_exit() {
            self.stop = Some(Stop::Exit(code));
        }
    }

    /// The root's timer interrupt, and the guest's where the model raises the root's line for it.
    fn timer_irq(&self) -> bool {
        let spurious = self.model.guest_timer_spurious && self.guest.has(cp0::CAUSE, cause::TI);
        self.root.has(cp0::CAUSE, cause::TI) || spurious
    }

    fn next_event(&self) -> u64 {
        self.timer.next().min(self.board.next())
    }

    /// Advances time while the core is in WAIT, from event to event, until an event wakes the core
    /// or none can.
    fn sleep(&mut self) {
        let (mut start, mut events) = (self.now, 0);
        while self.stop.is_none() && self.waiting && !self.wakes() && self.instructions() < self.limit {
            events += 1;
            if events <= MAX_SLEEP_EVENTS && self.now - start <= MAX_SLEEP_CLOCKS {
                self.pass_event();
            } else if self.wait_for_input() {
                (start, events) = (self.now, 0);
            }
        }
        // Reaching the limit does not end WAIT.
        self.waiting &= !self.wakes() && self.stop != Some(Stop::Asleep);
    }

    /// False if no input arrived, which ends the run.
    fn wait_for_input(&mut self) -> bool {
        match self.board.wait_for_input() {
            Waited::Received => return true,
            Waited::TimedOut => self.stop = Some(Stop::Limit),
            Waited::Closed => self.stop = Some(Stop::Asleep),
        }
        false
    }

    fn pass_event(&mut self) {
        match self.next_event() {
            u64::MAX => {
                self.wait_for_input();
            }
            next => {
                self.idle += next.saturating_sub(self.now);
                self.now = self.now.max(next);
                self.keep_pace();
            }
        }
        self.timer_advance();
        self.board_poll();
    }

    /// Whether a pending interrupt ends WAIT: one that would be taken with Status.IE set
    /// (Config7.WII).
    fn wakes(&self) -> bool {
        self.root_requests()
    }

    /// Cause.IP7:2 of the root, without an external interrupt controller.
    pub fn root_ip(&self) -> u32 {
        let timer = match self.timer_irq() {
            true => 1 << (self.root[cp0::INTCTL] >> 29),
            false => 0,
        };
        u32::from(self.lines.ip) | timer & 0xFC
    }

    /// Cause.IP7:2 of the guest, without an external interrupt controller.
    pub fn guest_ip(&self) -> u32 {
        let virt = self.root[cp0::GUESTCTL2] >> 10 & 0x3F;
        let pip = self.root[cp0::GUESTCTL0] >> 10 & 0x3F;
        let wired = self.model.guest_timer_wired && self.guest.has(cp0::CAUSE, cause::TI);
        let timer = if wired { 1 << (self.guest[cp0::INTCTL] >> 29) } else { 0 };
        virt << 2 | u32::from(self.lines.ip) & pip << 2 | timer & 0xFC
    }

    fn root_requests(&self) -> bool {
        let status = self.root[cp0::STATUS];
        if self.root.veic() {
            return self.lines.level > status::ipl(status);
        }
        let pending = self.root_ip() | self.root[cp0::CAUSE] >> 8 & 3;
        pending & status >> 8 & 0xFF != 0
    }

    fn guest_requests(&self) -> bool {
        let status = self.guest[cp0::STATUS];
        if self.guest.veic() {
            return self.root[cp0::GUESTCTL2] >> 24 > status::ipl(status);
        }
        let pending = self.guest_ip() | self.guest[cp0::CAUSE] >> 8 & 3;
        pending & status >> 8 & 0xFF != 0
    }

    fn take_interrupt(&mut self) {
        let enabled = |cp0: &Cp0| cp0.has(cp0::STATUS, status::IE) && !cp0.at_exception();
        let debug = self.root.has(cp0::DEBUG, crate::exception::DM);
        let context = if enabled(&self.root) && !debug && self.root_requests() {
            Context::Root
        } else if self.mode.is_guest() && enabled(&self.guest) && self.guest_requests() {
            Context::Guest
        } else {
            return;
        };
        self.cur_pc = self.pc;
        self.slot = self.branch;
        self.raise(&Fault::new(context, code::INT), None);
    }
}
