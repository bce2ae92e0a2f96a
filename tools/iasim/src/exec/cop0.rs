// SPDX-License-Identifier: Apache-2.0
//! Coprocessor 0 instructions of both contexts.

use crate::cp0::{self, cause, entryhi, guestctl0, pagegrain, status, Reg};
use crate::cpu::{Context, Cpu, Done};
use crate::exception::{code, gexc, Fault};
use crate::exec::{system, vz};
use crate::isa::Op;
use crate::tlb::{Entry, Key, Tlb, G};

/// Checks that coprocessor 0 is usable in the current context.
pub fn usable(c: &Cpu) -> Done {
    let context = c.mode.context();
    if c.mode.is_kernel() || c.cp0(context).has(cp0::STATUS, status::CU0) {
        return Ok(());
    }
    Err(Fault::unusable(context, 0))
}

/// Checks usable(), and for a guest that GuestCtl0.CP0 is set.
pub fn privileged(c: &Cpu) -> Done {
    usable(c)?;
    if c.mode.is_guest() && !c.root.has(cp0::GUESTCTL0, guestctl0::CP0) {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    Ok(())
}

/// MFHC0 and the like: this core has no registers wider than 32 bits.
pub fn absent(c: &mut Cpu, o: Op) -> Done {
    usable(c)?;
    system::reserved(c, o)
}

pub fn mfc0(c: &mut Cpu, o: Op) -> Done {
    privileged(c)?;
    let context = c.mode.context();
    let value = match context {
        Context::Root => c.read_cp0(context, o.cp0()),
        Context::Guest => vz::guest_read(c, o.cp0())?,
    };
    c.set(o, value);
    Ok(())
}

pub fn mtc0(c: &mut Cpu, o: Op) -> Done {
    privileged(c)?;
    let value = c.rt(o);
    match c.mode.context() {
        Context::Root => c.write_root(o.cp0(), value),
        Context::Guest => vz::guest_write(c, o.cp0(), value)?,
    }
    Ok(())
}

fn set_ie(c: &mut Cpu, o: Op, ie: u32) -> Done {
    privileged(c)?;
    let cp0 = c.cp0_mut(c.mode.context());
    let old = cp0[cp0::STATUS];
    cp0[cp0::STATUS] = old & !status::IE | ie;
    c.set(o, old);
    c.request_service();
    Ok(())
}

pub fn di(c: &mut Cpu, o: Op) -> Done {
    set_ie(c, o, 0)
}

pub fn ei(c: &mut Cpu, o: Op) -> Done {
    set_ie(c, o, status::IE)
}

/// The shadow set that RDPGPR and WRPGPR access.
fn previous_set(c: &Cpu) -> Result<usize, Box<Fault>> {
    let previous = |reg: u32| reg >> 6 & 0xF;
    if !c.mode.is_guest() {
        return Ok(previous(c.root[cp0::SRSCTL]) as usize);
    }
    let has_sets = c.guest[cp0::SRSCTL] >> 26 & 0xF != 0;
    if !has_sets || !c.model.guest_pgpr {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    Ok(((c.root[cp0::GUESTCTL3] & 0xF) + previous(c.guest[cp0::SRSCTL])) as usize & 0xF)
}

pub fn rdpgpr(c: &mut Cpu, o: Op) -> Done {
    privileged(c)?;
    let set = previous_set(c)?;
    let value = *c.shadow_reg(set, o.rt());
    c.set(o, value);
    Ok(())
}

pub fn wrpgpr(c: &mut Cpu, o: Op) -> Done {
    privileged(c)?;
    let set = previous_set(c)?;
    let value = c.rt(o);
    if o.field_rd() != 0 {
        *c.shadow_reg(set, o.rd()) = value;
    }
    Ok(())
}

/// Returns from an exception; clears ERL if it is set, else EXL.
fn return_from(c: &mut Cpu, unlink: bool) -> Done {
    privileged(c)?;
    let context = c.mode.context();
    let cp0 = c.cp0_mut(context);
    let error = cp0.has(cp0::STATUS, status::ERL);
    let was_exl = cp0.has(cp0::STATUS, status::EXL);
    let (flag, target) = if error { (status::ERL, cp0[cp0::ERROREPC]) } else { (status::EXL, cp0[cp0::EPC]) };
    cp0[cp0::STATUS] &= !flag;
    let control = cp0[cp0::SRSCTL];
    if !error && control >> 26 & 0xF != 0 && !cp0.has(cp0::STATUS, status::BEV) {
        cp0[cp0::SRSCTL] = control & !0xF | control >> 6 & 0xF;
    }
    if unlink {
        c.llbit[context as usize] = false;
    }
    if error {
        c.soft.flush();
    }
    c.jump(target);
    c.update_mode();
    if context == Context::Guest && was_exl && !error && c.model.ghfc_eret {
        c.field_changed();
    }
    Ok(())
}

pub fn eret(c: &mut Cpu, _: Op) -> Done {
    return_from(c, true)
}

pub fn eretnc(c: &mut Cpu, _: Op) -> Done {
    return_from(c, false)
}

pub fn deret(c: &mut Cpu, o: Op) -> Done {
    usable(c)?;
    if !c.root.has(cp0::DEBUG, crate::exception::DM) {
        return system::reserved(c, o);
    }
    c.root[cp0::DEBUG] &= !crate::exception::DM;
    c.jump(c.root[cp0::DEPC]);
    c.soft.flush();
    c.update_mode();
    Ok(())
}

pub fn wait(c: &mut Cpu, _: Op) -> Done {
    usable(c)?;
    if c.mode.is_guest() {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    c.waiting = true;
    c.request_service();
    Ok(())
}

/// What a TLB instruction accesses: the context of its registers and TLB, and the GuestID of its
/// entries.
#[derive(Clone, Copy)]
pub struct TlbWork {
    /// Context of Index, EntryHi and the other registers, and of the TLB.
    pub context: Context,
    pub tag: u8,
    /// The root executes the instruction: a read sets GuestCtl1.RID.
    pub by_root: bool,
}

impl TlbWork {
    fn asid_key(&self, c: &Cpu) -> Key {
        Key { asid: Some(c.cp0(self.context)[cp0::ENTRYHI] as u8), guest: self.tag }
    }
}

/// The access of a TLB instruction to the current context.
fn own_tlb(c: &Cpu) -> Result<TlbWork, Box<Fault>> {
    privileged(c)?;
    if c.mode.is_guest() {
        vz::guest_mmu(c)?;
        return Ok(TlbWork { context: Context::Guest, tag: c.guest_id(), by_root: false });
    }
    Ok(TlbWork { context: Context::Root, tag: c.rid(), by_root: true })
}

pub fn tlbr(c: &mut Cpu, _: Op) -> Done {
    own_tlb(c).map(|work| c.tlb_read(work))
}

pub fn tlbwi(c: &mut Cpu, _: Op) -> Done {
    let work = own_tlb(c)?;
    c.tlb_write(work, false)
}

pub fn tlbwr(c: &mut Cpu, _: Op) -> Done {
    let work = own_tlb(c)?;
    c.tlb_write(work, true)
}

pub fn tlbp(c: &mut Cpu, _: Op) -> Done {
    own_tlb(c).map(|work| c.tlb_probe(work))
}

pub fn tlbinv(c: &mut Cpu, _: Op) -> Done {
    own_tlb(c).map(|work| c.tlb_invalidate(work, false))
}

pub fn tlbinvf(c: &mut Cpu, _: Op) -> Done {
    own_tlb(c).map(|work| c.tlb_invalidate(work, true))
}

impl Cpu {
    fn tlb(&mut self, context: Context) -> &mut Tlb {
        match context {
            Context::Root => &mut self.root_tlb,
            Context::Guest => &mut self.guest_tlb,
        }
    }

    fn tlb_index(&mut self, context: Context) -> u32 {
        self.cp0(context)[cp0::INDEX] & 0x7FFF_FFFF
    }

    pub fn tlb_read(&mut self, work: TlbWork) {
        let index = self.tlb_index(work.context);
        let entry = self.tlb(work.context).read(index);
        let foreign = !work.by_root && entry.guest != work.tag;
        let shown = if foreign || entry.invalid { Entry { invalid: true, ..Entry::NONE } } else { entry };
        let cp0 = self.cp0_mut(work.context);
        let global = if shown.global { G } else { 0 };
        cp0[cp0::ENTRYLO0] = shown.lo[0] | global;
        cp0[cp0::ENTRYLO1] = shown.lo[1] | global;
        cp0[cp0::PAGEMASK] = shown.mask;
        cp0[cp0::ENTRYHI] = if shown.invalid { entryhi::EHINV } else { shown.vpn2 | u32::from(shown.asid) };
        if work.by_root {
            self.root.merge(cp0::GUESTCTL1, 0xFF << 16, u32::from(shown.guest) << 16);
        }
        self.soft.flush();
        self.close_window();
    }

    pub fn tlb_write(&mut self, work: TlbWork, random: bool) -> Done {
        let index = if random { self.random(work.context) } else { self.tlb_index(work.context) };
        let cp0 = self.cp0(work.context);
        // Only TLBWI invalidates an entry by EHINV.
        let hi = if random { cp0[cp0::ENTRYHI] & !entryhi::EHINV } else { cp0[cp0::ENTRYHI] };
        let lo = [cp0[cp0::ENTRYLO0], cp0[cp0::ENTRYLO1]];
        let mut entry = Entry::new(hi, cp0[cp0::PAGEMASK], lo, work.tag);
        // The root's entries for a guest match with any ASID of the root.
        entry.global |= work.context == Context::Root && work.tag != 0;
        if self.model.tlb_machine_check && self.tlb(work.context).clashes(index, &entry) {
            // The machine check goes to the context that executes: the root when it writes the
            // guest's TLB.
            let to = self.mode.context();
            self.cp0_mut(to)[cp0::STATUS] |= status::TS;
            return Err(Fault::boxed(to, code::MCHECK));
        }
        self.tlb(work.context).write(index, entry);
        self.soft.flush();
        self.close_window();
        Ok(())
    }

    pub fn tlb_probe(&mut self, work: TlbWork) {
        let key = work.asid_key(self);
        let va = self.cp0(work.context)[cp0::ENTRYHI];
        let found = self.tlb(work.context).probe(va, key);
        let index = &mut self.cp0_mut(work.context)[cp0::INDEX];
        *index = found.map_or(*index | 0x8000_0000, |n| n as u32);
    }

    pub fn tlb_invalidate(&mut self, work: TlbWork, all: bool) {
        let mut key = work.asid_key(self);
        if all {
            key.asid = None;
        }
        self.tlb(work.context).invalidate(key);
        self.soft.flush();
        self.close_window();
    }

    /// Random counts down from the last entry to Wired, one step per instruction.
    fn random(&self, context: Context) -> u32 {
        let size = match context {
            Context::Root => self.root_tlb.size(),
            Context::Guest => self.guest_tlb.size(),
        } as u32;
        let wired = self.cp0(context)[cp0::WIRED].min(size - 1);
        size - 1 - (self.instructions() % u64::from(size - wired)) as u32
    }

    /// A register's value as its context reads it.
    pub fn read_cp0(&self, context: Context, reg: Reg) -> u32 {
        let cp0 = self.cp0(context);
        match reg {
            cp0::COUNT => self.count(context),
            cp0::RANDOM => self.random(context),
            cp0::CAUSE => self.cause(context),
            cp0::VIEW_IPL => status::ipl(cp0[cp0::STATUS]) << 2 | cp0[cp0::STATUS] >> 8 & 3,
            cp0::VIEW_RIPL => self.requested(context) << 2 | cp0[cp0::CAUSE] >> 8 & 3,
            _ => cp0[reg],
        }
    }

    /// Cause with the interrupt lines that are high, if there is no external controller.
    fn cause(&self, context: Context) -> u32 {
        let cause = self.cp0(context)[cp0::CAUSE];
        match context {
            _ if self.cp0(context).veic() => cause,
            Context::Root => cause & !0xFC00 | self.root_ip() << 8,
            Context::Guest => cause & !0xFC00 | self.guest_ip() << 8,
        }
    }

    fn requested(&self, context: Context) -> u32 {
        match context {
            _ if !self.cp0(context).veic() => self.cause(context) >> 10 & 0x3F,
            Context::Root => self.lines.level,
            Context::Guest => self.root[cp0::GUESTCTL2] >> 24,
        }
    }

    /// MTC0 in the root.
    pub fn write_root(&mut self, reg: Reg, value: u32) {
        let Some(spec) = cp0::find(reg) else { return };
        match reg {
            cp0::COUNT => self.set_count(value),
            cp0::GUESTCTL0 => self.write_guestctl0(value),
            cp0::GUESTCTL1 => {
                let ids = (1 << self.model.guest_id_bits) - 1;
                self.root.merge(reg, ids << 16 | ids, value);
                self.soft.flush();
                self.request_service();
            }
            cp0::GUESTCTL2 => self.write_guestctl2(value),
            cp0::GTOFFSET => {
                self.root[reg] = value & (u32::MAX >> (32 - self.model.gtoffset_bits));
                self.timer_arm();
            }
            _ => self.write_cp0(Context::Root, reg, spec.root, value),
        }
    }

    fn write_guestctl0(&mut self, value: u32) {
        let mut mask = cp0::find(cp0::GUESTCTL0).map_or(0, |spec| spec.root);
        // GuestCtl0.AT: only 1 and 3 are defined.
        if !self.model.at_writable || value >> 26 & 1 == 0 {
            mask &= !guestctl0::AT;
        }
        if !self.model.drg_writable {
            mask &= !guestctl0::DRG;
        }
        if !self.model.pass_through {
            mask &= !guestctl0::PIP;
        }
        self.root.merge(cp0::GUESTCTL0, mask, value);
        self.soft.flush();
        self.update_mode();
    }

    fn write_guestctl2(&mut self, value: u32) {
        let mask = if self.root.veic() { 0xFF3C_FFFF } else { 0x3F00_FC00 };
        self.root[cp0::GUESTCTL2] = value & mask;
        self.request_service();
    }

    /// Whether the model has the feature that the register's writable bits belong to.
    fn is_implemented(&self, reg: Reg) -> bool {
        match reg {
            cp0::SRSCTL | cp0::SRSMAP | cp0::SRSMAP2 | cp0::GUESTCTL3 => self.model.hss != 0,
            cp0::CONFIG3 => self.model.micromips,
            _ => true,
        }
    }

    /// Writes the bits of the mask, with their side effects.
    pub fn write_cp0(&mut self, context: Context, reg: Reg, mask: u32, value: u32) {
        let mask = if self.is_implemented(reg) { mask } else { 0 };
        match reg {
            cp0::INDEX | cp0::WIRED => {
                let size = self.tlb(context).size() as u32;
                self.cp0_mut(context).merge(reg, size.next_power_of_two() - 1, value);
            }
            // RI and XI are writable only if PageGrain enables them.
            cp0::ENTRYLO0 | cp0::ENTRYLO1 => {
                let cp0 = self.cp0_mut(context);
                let inhibits = cp0[cp0::PAGEGRAIN] & (pagegrain::RIE | pagegrain::XIE);
                cp0.merge(reg, mask, value & (0x3FFF_FFFF | inhibits));
            }
            cp0::COMPARE => self.set_compare(context, value),
            cp0::STATUS => self.write_status(context, mask, value),
            cp0::VIEW_IPL => {
                let ipl = value >> 2 & 0xFF;
                let bits = (ipl & 0x7F) << 10 | (ipl >> 7) << 18 | (value & 3) << 8;
                self.write_status(context, 0x0005_FF00, bits);
            }
            cp0::VIEW_RIPL => self.cp0_mut(context).merge(cp0::CAUSE, cause::IP10, value << 8),
            _ => self.cp0_mut(context).merge(reg, mask, value),
        }
        match reg {
            cp0::CAUSE => self.timer_update_hold(),
            cp0::ENTRYHI | cp0::PAGEGRAIN => {
                self.soft.flush();
                self.close_window();
            }
            _ => {}
        }
        self.request_service();
    }

    fn write_status(&mut self, context: Context, mask: u32, value: u32) {
        self.cp0_mut(context).merge(cp0::STATUS, mask, value);
        self.soft.flush();
        self.update_mode();
    }
}
