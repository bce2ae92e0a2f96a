// SPDX-License-Identifier: Apache-2.0
//! Exceptions: their destination, the registers they set, and their vectors.

use crate::cp0::{self, cause, config3, entryhi, guestctl0, guestctl0ext, status, Cp0};
use crate::cpu::{Context, Cpu, Stop};
use crate::model::Gvec;

/// Cause.ExcCode.
pub mod code {
    pub const INT: u8 = 0;
    pub const MOD: u8 = 1;
    pub const TLBL: u8 = 2;
    pub const TLBS: u8 = 3;
    pub const ADEL: u8 = 4;
    pub const ADES: u8 = 5;
    pub const IBE: u8 = 6;
    pub const DBE: u8 = 7;
    pub const SYS: u8 = 8;
    pub const BP: u8 = 9;
    pub const RI: u8 = 10;
    pub const CPU: u8 = 11;
    pub const OV: u8 = 12;
    pub const TR: u8 = 13;
    pub const TLBRI: u8 = 19;
    pub const TLBXI: u8 = 20;
    pub const MCHECK: u8 = 24;
    pub const GE: u8 = 27;
}

pub const CODE_NAMES: [&str; 32] = [
    "Int", "Mod", "TLBL", "TLBS", "AdEL", "AdES", "IBE", "DBE", "Sys", "Bp", "RI", "CpU", "Ov", "Tr", "14", "FPE",
    "16", "17", "18", "TLBRI", "TLBXI", "21", "22", "WATCH", "MCheck", "25", "DSPDis", "GE", "28", "29", "CacheErr",
    "31",
];

/// GuestCtl0.GExcCode.
pub mod gexc {
    pub const GPSI: u8 = 0;
    pub const GSFC: u8 = 1;
    pub const HC: u8 = 2;
    pub const GRR: u8 = 3;
    pub const GVA: u8 = 8;
    pub const GHFC: u8 = 9;
    pub const GPA: u8 = 10;
}

pub const GEXC_NAMES: [&str; 11] = ["GPSI", "GSFC", "HC", "GRR", "4", "5", "6", "7", "GVA", "GHFC", "GPA"];

/// Debug.DM and DBp, DBD.
pub const DM: u32 = 1 << 30;
const DBP: u32 = 1 << 1;
const DBD: u32 = 1 << 31;

/// A handler that needs this many exceptions before it clears EXL does not end: TLB refills nest once.
const MAX_NESTED: u32 = 100_000;

#[derive(Clone, Debug)]
pub struct Fault {
    pub to: Context,
    pub code: u8,
    pub gexc: Option<u8>,
    pub addr: Option<u32>,
    /// Raised by a TLB: sets Context and EntryHi as well.
    pub tlb: bool,
    /// No TLB entry matched.
    pub refill: bool,
    /// The coprocessor of a coprocessor-unusable exception.
    pub unit: u32,
    /// A debug exception, which uses Debug and DEPC.
    pub debug: bool,
}

impl Fault {
    pub fn new(to: Context, code: u8) -> Self {
        Fault { to, code, gexc: None, addr: None, tlb: false, refill: false, unit: 0, debug: false }
    }

    pub fn boxed(to: Context, code: u8) -> Box<Self> {
        Box::new(Fault::new(to, code))
    }

    /// An exit: an exception of a guest to the root.
    pub fn guest_exit(reason: u8) -> Box<Self> {
        Box::new(Fault { gexc: Some(reason), ..Fault::new(Context::Root, code::GE) })
    }

    pub fn at(to: Context, code: u8, addr: u32) -> Box<Self> {
        Box::new(Fault { addr: Some(addr), ..Fault::new(to, code) })
    }

    pub fn unusable(to: Context, unit: u32) -> Box<Self> {
        Box::new(Fault { unit, ..Fault::new(to, code::CPU) })
    }
}

impl Cpu {
    /// A fault to the current context.
    pub fn fault(&self, code: u8) -> Box<Fault> {
        Fault::boxed(self.mode.context(), code)
    }

    /// Takes an exception of the instruction at `cur_pc`; `word` is the instruction if it was
    /// fetched.
    #[cold]
    pub fn raise(&mut self, fault: &Fault, word: Option<u32>) {
        let word = word.filter(|_| fault.code != code::INT);
        self.stats.exception(self.mode, self.guest_id(), fault);
        if fault.debug {
            return self.enter_debug();
        }
        let changed = !self.cp0(fault.to).has(cp0::STATUS, status::EXL);
        let endless = fault.to == Context::Root && self.is_endless(fault, changed);
        self.enter(fault, word);
        if endless {
            self.halt(Stop::Endless(CODE_NAMES[usize::from(fault.code & 31)].to_string()));
        }
        if fault.to == Context::Guest && changed {
            self.field_changed();
        }
    }

    /// Whether the root's exceptions repeat: the vector's first instruction raises the exception, or
    /// the handlers have raised MAX_NESTED exceptions while EXL stayed 1. Interrupts are off then.
    fn is_endless(&mut self, fault: &Fault, changed: bool) -> bool {
        self.nested = if changed { 0 } else { self.nested + 1 };
        !changed && (self.vector(fault) == self.cur_pc || self.nested >= MAX_NESTED)
    }

    fn enter(&mut self, fault: &Fault, word: Option<u32>) {
        let vector = self.vector(fault);
        let set = self.exception_set(fault);
        let (at, slot, branch) = (self.resume(), self.slot, self.branch_word);
        let guest = fault.to == Context::Root && self.mode.is_guest();
        let cp0 = self.cp0_mut(fault.to);
        note_nesting(cp0, at);
        if !cp0.has(cp0::STATUS, status::EXL) {
            cp0[cp0::EPC] = at;
            cp0.merge(cp0::CAUSE, cause::BD, if slot { cause::BD } else { 0 });
            push_set(cp0, set);
        }
        cp0.merge(cp0::CAUSE, cause::EXC_CODE, u32::from(fault.code) << 2);
        cp0.merge(cp0::CAUSE, cause::CE, fault.unit << 28);
        note_address(cp0, fault);
        if let Some(word) = word {
            cp0[cp0::BADINSTR] = word;
            if slot {
                cp0[cp0::BADINSTRP] = branch;
            }
        }
        cp0[cp0::STATUS] |= status::EXL;
        if guest {
            let reason = fault.gexc.unwrap_or(0);
            self.root.merge(cp0::GUESTCTL0, guestctl0::GEXC, u32::from(reason) << 2);
        }
        if fault.code == code::INT {
            self.accept_interrupt(fault.to);
        }
        self.jump(vector);
        self.update_mode();
    }

    /// Raises GHFC if the root watches a field that hardware has changed. Call after the guest's
    /// state is updated.
    pub fn field_changed(&mut self) {
        let watched = self.root.has(cp0::GUESTCTL0, guestctl0::MC)
            && !self.root.has(cp0::GUESTCTL0EXT, guestctl0ext::FCD)
            && self.mode.is_guest();
        if watched {
            self.cur_pc = self.pc;
            self.slot = false;
            let fault = Fault::guest_exit(gexc::GHFC);
            self.raise(&fault, None);
        }
    }

    fn enter_debug(&mut self) {
        self.root[cp0::DEPC] = self.resume();
        self.root[cp0::DEBUG] = DM | DBP | if self.slot { DBD } else { 0 };
        self.jump(0xBFC0_0480 | self.handlers(Context::Root));
        self.soft.flush();
        self.update_mode();
    }

    fn vector(&self, fault: &Fault) -> u32 {
        let cp0 = self.cp0(fault.to);
        let bev = cp0.has(cp0::STATUS, status::BEV);
        let base = if bev { 0xBFC0_0200 } else { cp0[cp0::EBASE] & 0xFFFF_F000 };
        let offset = match fault.code {
            code::INT if bev && !self.explicit(fault.to) => interrupt_base(cp0),
            code::INT => self.interrupt_offset(fault.to),
            _ if fault.refill && !cp0.has(cp0::STATUS, status::EXL) => 0,
            _ => 0x180,
        };
        base.wrapping_add(offset) | self.handlers(fault.to)
    }

    /// Bit 0 of the vectors: the instruction set of the handlers.
    fn handlers(&self, to: Context) -> u32 {
        u32::from(self.model.micromips && self.cp0(to).has(cp0::CONFIG3, config3::ISA_ON_EXC))
    }

    /// Whether GuestCtl2 supplies the guest's vector; Cause.IV and IntCtl.VS are ignored then.
    fn explicit(&self, to: Context) -> bool {
        let cp0 = self.cp0(to);
        to == Context::Guest && cp0.veic() && !cp0.has(cp0::STATUS, status::BEV)
    }

    fn interrupt_offset(&self, to: Context) -> u32 {
        let cp0 = self.cp0(to);
        if self.explicit(to) {
            return self.guest_vector();
        }
        let spacing = (cp0[cp0::INTCTL] >> 5 & 0x1F) * 32;
        if !cp0.has(cp0::CAUSE, cause::IV) || spacing == 0 {
            return interrupt_base(cp0);
        }
        if cp0.veic() {
            return self.lines.offset.unwrap_or(0x200);
        }
        0x200 + self.vectored(to) * spacing
    }

    /// Number of the highest pending and enabled interrupt.
    fn vectored(&self, to: Context) -> u32 {
        let cp0 = self.cp0(to);
        let lines = match to {
            Context::Root => self.root_ip(),
            Context::Guest => self.guest_ip(),
        };
        let pending = (lines | cp0[cp0::CAUSE] >> 8 & 3) & cp0[cp0::STATUS] >> 8 & 0xFF;
        pending.checked_ilog2().unwrap_or(0)
    }

    fn guest_vector(&self) -> u32 {
        let gvec = self.root[cp0::GUESTCTL2] & 0xFFFF;
        match self.model.gvec {
            Gvec::ZeroIs200 if gvec == 0 => 0x200,
            Gvec::Offset | Gvec::ZeroIs200 => gvec,
            Gvec::Number => 0x200 + gvec * (self.guest[cp0::INTCTL] >> 5 & 0x1F) * 32,
        }
    }

    /// The shadow set of the handler.
    fn exception_set(&self, fault: &Fault) -> u32 {
        let cp0 = self.cp0(fault.to);
        let normal = cp0[cp0::SRSCTL] >> 12 & 0xF;
        if fault.code != code::INT {
            return normal;
        }
        let spaced = cp0[cp0::INTCTL] >> 5 & 0x1F != 0 && cp0.has(cp0::CAUSE, cause::IV);
        match (cp0.veic(), fault.to) {
            (true, Context::Root) => self.lines.set,
            (true, Context::Guest) => self.root[cp0::GUESTCTL2] >> 18 & 0xF,
            (false, _) if spaced => cp0[cp0::SRSMAP] >> (4 * self.vectored(fault.to)) & 0xF,
            (false, _) => normal,
        }
    }

    /// Sets the registers that change when an interrupt is taken.
    fn accept_interrupt(&mut self, to: Context) {
        if !self.cp0(to).veic() {
            return;
        }
        let (level, set) = match to {
            Context::Root => (self.lines.level, self.lines.set),
            Context::Guest => {
                let control = self.root[cp0::GUESTCTL2];
                self.root[cp0::GUESTCTL2] &= 0x00FF_FFFF;
                (control >> 24, control >> 18 & 0xF)
            }
        };
        let cp0 = self.cp0_mut(to);
        cp0.merge(cp0::CAUSE, cause::RIPL, level << 10);
        cp0.merge(cp0::SRSCTL, 0xF << 18, set << 18);
    }
}

fn interrupt_base(cp0: &Cp0) -> u32 {
    if cp0.has(cp0::CAUSE, cause::IV) {
        0x200
    } else {
        0x180
    }
}

fn note_nesting(cp0: &mut Cp0, at: u32) {
    cp0[cp0::NESTEDEXC] = cp0[cp0::STATUS] & (status::EXL | status::ERL);
    cp0[cp0::NESTEDEPC] = at;
}

/// Saves the current shadow set as the previous one, if shadow sets are implemented.
fn push_set(cp0: &mut Cp0, set: u32) {
    let control = cp0[cp0::SRSCTL];
    let blocked = cp0.has(cp0::STATUS, status::BEV | status::ERL);
    if control >> 26 & 0xF != 0 && !blocked {
        cp0[cp0::SRSCTL] = control & !0x3CF | (control & 0xF) << 6 | set.min(control >> 26 & 0xF);
    }
}

fn note_address(cp0: &mut Cp0, fault: &Fault) {
    let Some(addr) = fault.addr else { return };
    cp0[cp0::BADVADDR] = addr;
    if fault.tlb {
        cp0.merge(cp0::CONTEXT, 0x007F_FFF0, addr >> 9);
        cp0.merge(cp0::ENTRYHI, entryhi::VPN2, addr);
    }
}
