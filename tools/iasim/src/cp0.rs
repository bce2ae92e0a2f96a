// SPDX-License-Identifier: Apache-2.0
//! Coprocessor 0: the registers, their writable bits in each context, and a guest's access to them.
//! One table serves the executor, the disassembler and GDB.

use std::ops::{Index, IndexMut};

/// Index of a register: number * 8 + select.
pub type Reg = usize;

const fn reg(number: usize, select: usize) -> Reg {
    number * 8 + select
}

pub const INDEX: Reg = reg(0, 0);
pub const RANDOM: Reg = reg(1, 0);
pub const ENTRYLO0: Reg = reg(2, 0);
pub const ENTRYLO1: Reg = reg(3, 0);
pub const CONTEXT: Reg = reg(4, 0);
pub const USERLOCAL: Reg = reg(4, 2);
pub const PAGEMASK: Reg = reg(5, 0);
pub const PAGEGRAIN: Reg = reg(5, 1);
pub const WIRED: Reg = reg(6, 0);
pub const HWRENA: Reg = reg(7, 0);
pub const BADVADDR: Reg = reg(8, 0);
pub const BADINSTR: Reg = reg(8, 1);
pub const BADINSTRP: Reg = reg(8, 2);
pub const COUNT: Reg = reg(9, 0);
pub const ENTRYHI: Reg = reg(10, 0);
pub const GUESTCTL1: Reg = reg(10, 4);
pub const GUESTCTL2: Reg = reg(10, 5);
pub const GUESTCTL3: Reg = reg(10, 6);
pub const COMPARE: Reg = reg(11, 0);
pub const GUESTCTL0EXT: Reg = reg(11, 4);
pub const STATUS: Reg = reg(12, 0);
pub const INTCTL: Reg = reg(12, 1);
pub const SRSCTL: Reg = reg(12, 2);
pub const SRSMAP: Reg = reg(12, 3);
pub const VIEW_IPL: Reg = reg(12, 4);
pub const SRSMAP2: Reg = reg(12, 5);
pub const GUESTCTL0: Reg = reg(12, 6);
pub const GTOFFSET: Reg = reg(12, 7);
pub const CAUSE: Reg = reg(13, 0);
pub const VIEW_RIPL: Reg = reg(13, 4);
pub const NESTEDEXC: Reg = reg(13, 5);
pub const EPC: Reg = reg(14, 0);
pub const NESTEDEPC: Reg = reg(14, 2);
pub const PRID: Reg = reg(15, 0);
pub const EBASE: Reg = reg(15, 1);
pub const CDMMBASE: Reg = reg(15, 2);
pub const CONFIG: Reg = reg(16, 0);
pub const CONFIG1: Reg = reg(16, 1);
pub const CONFIG2: Reg = reg(16, 2);
pub const CONFIG3: Reg = reg(16, 3);
pub const CONFIG4: Reg = reg(16, 4);
pub const CONFIG5: Reg = reg(16, 5);
pub const CONFIG6: Reg = reg(16, 6);
pub const CONFIG7: Reg = reg(16, 7);
pub const LLADDR: Reg = reg(17, 0);
pub const DEBUG: Reg = reg(23, 0);
pub const DEPC: Reg = reg(24, 0);
pub const ERRCTL: Reg = reg(26, 0);
pub const ERROREPC: Reg = reg(30, 0);
pub const DESAVE: Reg = reg(31, 0);
pub const KSCRATCH1: Reg = reg(31, 2);
pub const KSCRATCH2: Reg = reg(31, 3);

pub mod status {
    pub const IE: u32 = 1;
    pub const EXL: u32 = 1 << 1;
    pub const ERL: u32 = 1 << 2;
    pub const UM: u32 = 1 << 4;
    pub const KSU: u32 = 3 << 3;
    pub const NMI: u32 = 1 << 19;
    pub const SR: u32 = 1 << 20;
    pub const TS: u32 = 1 << 21;
    pub const BEV: u32 = 1 << 22;
    pub const MX: u32 = 1 << 24;
    pub const FR: u32 = 1 << 26;
    pub const RP: u32 = 1 << 27;
    pub const CU0: u32 = 1 << 28;
    pub const CU1: u32 = 1 << 29;
    pub const CU2: u32 = 1 << 30;
    /// The 8-bit interrupt level; its bit 7 is at Status bit 18.
    pub fn ipl(status: u32) -> u32 {
        (status >> 10 & 0x7F) | (status >> 18 & 1) << 7
    }
}

pub mod cause {
    pub const EXC_CODE: u32 = 0x1F << 2;
    pub const IP10: u32 = 3 << 8;
    pub const RIPL: u32 = 0xFF << 10;
    pub const IV: u32 = 1 << 23;
    pub const DC: u32 = 1 << 27;
    pub const CE: u32 = 3 << 28;
    pub const TI: u32 = 1 << 30;
    pub const BD: u32 = 1 << 31;
}

pub mod guestctl0 {
    pub const SFC1: u32 = 1;
    pub const SFC2: u32 = 1 << 1;
    pub const GEXC: u32 = 0x1F << 2;
    pub const DRG: u32 = 1 << 8;
    pub const PIP: u32 = 0x3F << 10;
    pub const PT: u32 = 1 << 18;
    pub const CF: u32 = 1 << 23;
    pub const CG: u32 = 1 << 24;
    pub const GT: u32 = 1 << 25;
    pub const AT: u32 = 3 << 26;
    pub const CP0: u32 = 1 << 28;
    pub const MC: u32 = 1 << 29;
    pub const RI: u32 = 1 << 30;
    pub const GM: u32 = 1 << 31;
}

pub mod guestctl0ext {
    pub const MG: u32 = 1;
    pub const BG: u32 = 1 << 1;
    pub const OG: u32 = 1 << 2;
    pub const FCD: u32 = 1 << 3;
    pub const CGI: u32 = 1 << 4;
    pub const NCC: u32 = 3 << 6;
}

pub mod entryhi {
    pub const EHINV: u32 = 1 << 10;
    pub const VPN2: u32 = 0xFFFF_E000;
    pub const ASID: u32 = 0xFF;
}

pub mod pagegrain {
    pub const IEC: u32 = 1 << 27;
    pub const XIE: u32 = 1 << 30;
    pub const RIE: u32 = 1 << 31;
}

pub mod config3 {
    pub const VEIC: u32 = 1 << 6;
    /// Value 2: both instruction sets, MIPS32 at reset.
    pub const ISA: u32 = 3 << 14;
    /// Exception handlers are microMIPS code.
    pub const ISA_ON_EXC: u32 = 1 << 16;
    pub const VZ: u32 = 1 << 23;
}

/// Effect of a guest's access to the register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InGuest {
    /// Accesses the guest's register.
    Own,
    /// Accesses the guest's register if GuestCtl0.AT and GuestCtl0Ext.MG permit; exits otherwise.
    Mmu,
    /// Accesses the guest's register; exits with GuestCtl0Ext.BG.
    Bad,
    /// Accesses the guest's register; exits with GuestCtl0Ext.OG.
    Other,
    /// Count and Compare: accesses the guest's register with GuestCtl0.GT; exits otherwise.
    Timer,
    /// Config: reads without an exit, writes without an exit only with GuestCtl0.CF.
    Config,
    /// Config6 and Config7: reads without an exit; every write exits.
    WriteEmulated,
    /// Every access exits.
    Emulated,
    /// Registers of the virtualization module, which a guest does not have.
    Hidden,
}

pub struct Spec {
    pub reg: Reg,
    pub name: &'static str,
    /// Bits writable by MTC0 in the root.
    pub root: u32,
    /// Bits writable by MTC0 in a guest, if the write does not exit.
    pub guest: u32,
    /// Bits writable by MTGC0.
    pub mtgc0: u32,
    pub in_guest: InGuest,
    pub reset: u32,
}

const ALL: u32 = 0xFFFF_FFFF;
/// Without MX: there is no DSP (Config3.DSPP). CU1 and CU2 are writable although Config1.FP and C2 are
/// 0, so that an FPU instruction is reported and GuestCtl0.SFC1 and SFC2 have an effect.
const STATUS_BITS: u32 = 0x787D_FF17;
const CAUSE_BITS: u32 = cause::DC | cause::IV | cause::IP10;
const GRAIN_BITS: u32 = pagegrain::RIE | pagegrain::XIE | pagegrain::IEC;
const ENTRYLO_BITS: u32 = 0xC3FF_FFFF;
const ENTRYHI_BITS: u32 = entryhi::VPN2 | entryhi::EHINV | entryhi::ASID;
const SRSCTL_BITS: u32 = 0xF << 12 | 0xF << 6;
/// WR and PC: the root can hide watch registers and performance counters from a guest.
const CONFIG1_HIDEABLE: u32 = 0x18;
const CTL0_BITS: u32 = 0xFF80_0000 | guestctl0::PIP | guestctl0::DRG | guestctl0::GEXC | 3;
const CTL0EXT_BITS: u32 = guestctl0ext::NCC | 0x1F;

const fn spec(reg: Reg, name: &'static str, bits: [u32; 3], in_guest: InGuest, reset: u32) -> Spec {
    Spec { reg, name, root: bits[0], guest: bits[1], mtgc0: bits[2], in_guest, reset }
}

/// The same writable bits for root, guest and MTGC0.
const fn all(bits: u32) -> [u32; 3] {
    [bits; 3]
}

/// Reset values of the root context; the model adjusts Config*.
pub const SPECS: &[Spec] = &[
    spec(INDEX, "Index", all(0), InGuest::Mmu, 0),
    spec(RANDOM, "Random", all(0), InGuest::Mmu, 0),
    spec(ENTRYLO0, "EntryLo0", all(ENTRYLO_BITS), InGuest::Mmu, 0),
    spec(ENTRYLO1, "EntryLo1", all(ENTRYLO_BITS), InGuest::Mmu, 0),
    spec(CONTEXT, "Context", [0xFF80_0000, 0xFF80_0000, 0xFFFF_FFF0], InGuest::Mmu, 0),
    spec(USERLOCAL, "UserLocal", all(ALL), InGuest::Other, 0),
    spec(PAGEMASK, "PageMask", all(0x1FFF_E000), InGuest::Mmu, 0),
    spec(PAGEGRAIN, "PageGrain", all(GRAIN_BITS), InGuest::Mmu, 0),
    spec(WIRED, "Wired", all(0), InGuest::Mmu, 0),
    spec(HWRENA, "HWREna", all(0x2000_000F), InGuest::Other, 0),
    spec(BADVADDR, "BadVAddr", [0, 0, ALL], InGuest::Bad, 0),
    spec(BADINSTR, "BadInstr", [0, 0, ALL], InGuest::Bad, 0),
    spec(BADINSTRP, "BadInstrP", [0, 0, ALL], InGuest::Bad, 0),
    spec(COUNT, "Count", [ALL, 0, 0], InGuest::Timer, 0),
    spec(ENTRYHI, "EntryHi", all(ENTRYHI_BITS), InGuest::Mmu, 0),
    spec(GUESTCTL1, "GuestCtl1", [ALL, 0, 0], InGuest::Hidden, 0),
    spec(GUESTCTL2, "GuestCtl2", [ALL, 0, 0], InGuest::Hidden, 0),
    spec(GUESTCTL3, "GuestCtl3", [0xF, 0, 0], InGuest::Hidden, 0),
    spec(COMPARE, "Compare", all(ALL), InGuest::Timer, 0),
    spec(GUESTCTL0EXT, "GuestCtl0Ext", [CTL0EXT_BITS, 0, 0], InGuest::Hidden, 0),
    spec(STATUS, "Status", all(STATUS_BITS), InGuest::Own, 0x0040_0004),
    spec(INTCTL, "IntCtl", all(0x3E0), InGuest::Own, 0x0003_0000),
    spec(SRSCTL, "SRSCtl", [SRSCTL_BITS, 0, SRSCTL_BITS | 0x3C3C_000F], InGuest::Emulated, 0),
    spec(SRSMAP, "SRSMap", [ALL, 0, ALL], InGuest::Emulated, 0),
    spec(VIEW_IPL, "View_IPL", all(0x3FF), InGuest::Own, 0),
    spec(SRSMAP2, "SRSMap2", [0xFF, 0, 0xFF], InGuest::Emulated, 0),
    spec(GUESTCTL0, "GuestCtl0", [CTL0_BITS, 0, 0], InGuest::Hidden, 0x0C4C_0080),
    spec(GTOFFSET, "GTOffset", [ALL, 0, 0], InGuest::Hidden, 0),
    spec(CAUSE, "Cause", [CAUSE_BITS, CAUSE_BITS, 0xF883_FF7C], InGuest::Own, 0),
    spec(VIEW_RIPL, "View_RIPL", all(3), InGuest::Own, 0),
    spec(NESTEDEXC, "NestedExc", all(0x6), InGuest::Own, 0),
    spec(EPC, "EPC", all(ALL), InGuest::Own, 0),
    spec(NESTEDEPC, "NestedEPC", all(ALL), InGuest::Own, 0),
    spec(PRID, "PRId", all(0), InGuest::Emulated, 0x0001_A700),
    spec(EBASE, "EBase", all(0x3FFF_F000), InGuest::Own, 0x8000_0000),
    spec(CDMMBASE, "CDMMBase", all(0), InGuest::Emulated, 0),
    spec(CONFIG, "Config", all(0x7), InGuest::Config, 0x8000_0482),
    spec(CONFIG1, "Config1", [0, 0, CONFIG1_HIDEABLE], InGuest::Config, 0x9E9B_0D9A),
    spec(CONFIG2, "Config2", all(0), InGuest::Config, 0x8000_0000),
    spec(CONFIG3, "Config3", all(config3::ISA_ON_EXC), InGuest::Config, 0x8CA2_B060),
    spec(CONFIG4, "Config4", all(0), InGuest::Config, 0xC00C_0000),
    spec(CONFIG5, "Config5", all(0), InGuest::Config, 0x0000_0001),
    spec(CONFIG6, "Config6", all(0), InGuest::WriteEmulated, 0),
    spec(CONFIG7, "Config7", all(0), InGuest::WriteEmulated, 0x8004_0000),
    spec(LLADDR, "LLAddr", all(0), InGuest::Other, 0),
    spec(reg(18, 0), "WatchLo0", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(18, 1), "WatchLo1", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(18, 2), "WatchLo2", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(18, 3), "WatchLo3", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(19, 0), "WatchHi0", [0x40FF_0FFF, 0, 0], InGuest::Emulated, 0x8000_0000),
    spec(reg(19, 1), "WatchHi1", [0x40FF_0FFF, 0, 0], InGuest::Emulated, 0x8000_0000),
    spec(reg(19, 2), "WatchHi2", [0x40FF_0FFF, 0, 0], InGuest::Emulated, 0x8000_0000),
    spec(reg(19, 3), "WatchHi3", [0x40FF_0FFF, 0, 0], InGuest::Emulated, 0),
    spec(DEBUG, "Debug", all(0), InGuest::Emulated, 0),
    spec(DEPC, "DEPC", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(25, 0), "PerfCtl0", [0x01FF_FFFF, 0, 0], InGuest::Emulated, 0x8000_0000),
    spec(reg(25, 1), "PerfCnt0", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(25, 2), "PerfCtl1", [0x01FF_FFFF, 0, 0], InGuest::Emulated, 0),
    spec(reg(25, 3), "PerfCnt1", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(ERRCTL, "ErrCtl", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(27, 0), "CacheErr", all(0), InGuest::Emulated, 0),
    spec(reg(28, 0), "TagLo", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(reg(28, 1), "DataLo", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(ERROREPC, "ErrorEPC", all(ALL), InGuest::Own, 0),
    spec(DESAVE, "DESAVE", [ALL, 0, 0], InGuest::Emulated, 0),
    spec(KSCRATCH1, "KScratch1", all(ALL), InGuest::Other, 0),
    spec(KSCRATCH2, "KScratch2", all(ALL), InGuest::Other, 0),
];

const NONE: u8 = u8::MAX;

const fn rows() -> [u8; 256] {
    let mut rows = [NONE; 256];
    let mut n = 0;
    while n < SPECS.len() {
        rows[SPECS[n].reg] = n as u8;
        n += 1;
    }
    rows
}

static ROWS: [u8; 256] = rows();

/// The specification of a register; None if it is not implemented.
pub fn find(reg: Reg) -> Option<&'static Spec> {
    SPECS.get(usize::from(*ROWS.get(reg)?))
}

/// CP0 registers of one context, indexed by Reg.
#[derive(Clone)]
pub struct Cp0([u32; 256]);

impl Cp0 {
    pub fn new() -> Self {
        let mut regs = Cp0([0; 256]);
        for spec in SPECS {
            regs[spec.reg] = spec.reset;
        }
        regs
    }

    pub fn has(&self, reg: Reg, bits: u32) -> bool {
        self[reg] & bits != 0
    }

    /// Writes the register's bits that are set in the mask.
    pub fn merge(&mut self, reg: Reg, mask: u32, value: u32) {
        self[reg] = self[reg] & !mask | value & mask;
    }

    /// Whether EXL or ERL is set.
    pub fn at_exception(&self) -> bool {
        self.has(STATUS, status::EXL | status::ERL)
    }

    pub fn is_kernel(&self) -> bool {
        self.at_exception() || !self.has(STATUS, status::UM)
    }

    pub fn veic(&self) -> bool {
        self.has(CONFIG3, config3::VEIC)
    }
}

impl Default for Cp0 {
    fn default() -> Self {
        Cp0::new()
    }
}

impl Index<Reg> for Cp0 {
    type Output = u32;
    fn index(&self, reg: Reg) -> &u32 {
        &self.0[reg & 0xFF]
    }
}

impl IndexMut<Reg> for Cp0 {
    fn index_mut(&mut self, reg: Reg) -> &mut u32 {
        &mut self.0[reg & 0xFF]
    }
}
