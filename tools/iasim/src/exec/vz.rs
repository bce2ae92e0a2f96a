// SPDX-License-Identifier: Apache-2.0
//! The virtualization module: access of the root to the guest context, and exits caused by the
//! guest.

use crate::cp0::{self, cause, guestctl0, guestctl0ext, status, InGuest, Reg};
use crate::cpu::{Context, Cpu, Done, Mode};
use crate::exception::{gexc, Fault};
use crate::exec::cop0::{privileged, usable, TlbWork};
use crate::exec::system::reserved;
use crate::isa::Op;

/// Checks that the root executes. In a guest the instruction is reserved; the model says whether
/// GuestCtl0.CP0 is checked before that.
fn root_only(c: &mut Cpu, o: Op) -> Done {
    usable(c)?;
    if !c.mode.is_guest() {
        return Ok(());
    }
    if !c.model.reserved_first {
        privileged(c)?;
    }
    reserved(c, o)
}

pub fn mfgc0(c: &mut Cpu, o: Op) -> Done {
    root_only(c, o)?;
    let value = match cp0::find(o.cp0()) {
        Some(spec) if spec.in_guest != InGuest::Hidden => c.read_cp0(Context::Guest, spec.reg),
        _ => 0,
    };
    c.set(o, value);
    Ok(())
}

pub fn mtgc0(c: &mut Cpu, o: Op) -> Done {
    root_only(c, o)?;
    let value = c.rt(o);
    if let Some(spec) = cp0::find(o.cp0()) {
        c.write_cp0(Context::Guest, spec.reg, spec.mtgc0, value);
    }
    Ok(())
}

pub fn hypcall(c: &mut Cpu, o: Op) -> Done {
    if c.mode == Mode::GuestUser && !c.model.hypcall_user {
        usable(c)?;
    }
    if c.mode.is_guest() {
        return Err(Fault::guest_exit(gexc::HC));
    }
    usable(c)?;
    reserved(c, o)
}

/// The access of the root to the guest's TLB.
fn guest_tlb(c: &mut Cpu, o: Op) -> Result<TlbWork, Box<Fault>> {
    root_only(c, o)?;
    Ok(TlbWork { context: Context::Guest, tag: c.rid(), by_root: true })
}

pub fn tlbgr(c: &mut Cpu, o: Op) -> Done {
    guest_tlb(c, o).map(|work| c.tlb_read(work))
}

pub fn tlbgwi(c: &mut Cpu, o: Op) -> Done {
    let work = guest_tlb(c, o)?;
    c.tlb_write(work, false)
}

pub fn tlbgwr(c: &mut Cpu, o: Op) -> Done {
    let work = guest_tlb(c, o)?;
    c.tlb_write(work, true)
}

pub fn tlbgp(c: &mut Cpu, o: Op) -> Done {
    guest_tlb(c, o).map(|work| c.tlb_probe(work))
}

pub fn tlbginv(c: &mut Cpu, o: Op) -> Done {
    guest_tlb(c, o).map(|work| c.tlb_invalidate(work, false))
}

pub fn tlbginvf(c: &mut Cpu, o: Op) -> Done {
    guest_tlb(c, o).map(|work| c.tlb_invalidate(work, true))
}

fn gpsi_if(condition: bool) -> Done {
    if condition {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    Ok(())
}

/// A guest may execute TLB instructions only with GuestCtl0.AT = 3.
pub fn guest_mmu(c: &Cpu) -> Done {
    gpsi_if(c.root[cp0::GUESTCTL0] & guestctl0::AT != guestctl0::AT)
}

/// Checks whether a guest's access to a register of this kind exits to the root.
fn permitted(c: &Cpu, kind: InGuest, write: bool) -> Done {
    let control = |bit| c.root.has(cp0::GUESTCTL0, bit);
    let extended = |bit| c.root.has(cp0::GUESTCTL0EXT, bit);
    match kind {
        InGuest::Own => Ok(()),
        InGuest::Mmu => guest_mmu(c).and_then(|()| gpsi_if(extended(guestctl0ext::MG))),
        InGuest::Bad => gpsi_if(extended(guestctl0ext::BG)),
        InGuest::Other => gpsi_if(extended(guestctl0ext::OG)),
        InGuest::Timer => gpsi_if(!control(guestctl0::GT)),
        InGuest::Config => gpsi_if(write && !control(guestctl0::CF)),
        InGuest::WriteEmulated => gpsi_if(write),
        InGuest::Emulated => gpsi_if(true),
        InGuest::Hidden => gpsi_if(c.model.hidden_gpsi),
    }
}

/// MFC0 in a guest.
pub fn guest_read(c: &Cpu, reg: Reg) -> Result<u32, Box<Fault>> {
    let Some(spec) = cp0::find(reg) else { return Ok(0) };
    permitted(c, spec.in_guest, false)?;
    Ok(if spec.in_guest == InGuest::Hidden { 0 } else { c.read_cp0(Context::Guest, reg) })
}

/// Fields whose change by guest software exits to the root (GSFC).
fn watched_fields(c: &Cpu, reg: Reg) -> u32 {
    let control = |bit| c.root.has(cp0::GUESTCTL0, bit);
    let unless = |bit, field| if control(bit) == c.model.sfc_suppresses { 0 } else { field };
    match reg {
        _ if c.root.has(cp0::GUESTCTL0EXT, guestctl0ext::FCD) => 0,
        cp0::STATUS => {
            let modes = status::KSU | status::ERL | status::EXL;
            let always = status::RP | status::FR | status::MX | status::BEV | status::TS | status::SR | status::NMI;
            always
                | unless(guestctl0::SFC1, status::CU1)
                | unless(guestctl0::SFC2, status::CU2)
                | if control(guestctl0::MC) { modes } else { 0 }
        }
        cp0::CAUSE => cause::DC | cause::IV,
        cp0::INTCTL => 0x1F << 5,
        cp0::PAGEGRAIN => u32::MAX,
        _ => 0,
    }
}

/// MTC0 in a guest.
pub fn guest_write(c: &mut Cpu, reg: Reg, value: u32) -> Done {
    let Some(spec) = cp0::find(reg) else { return Ok(()) };
    permitted(c, spec.in_guest, true)?;
    gpsi_if(reg == cp0::COUNT)?;
    if (c.guest[reg] ^ value) & watched_fields(c, reg) & spec.guest != 0 {
        return Err(Fault::guest_exit(gexc::GSFC));
    }
    c.write_cp0(Context::Guest, reg, spec.guest, value);
    Ok(())
}

impl Cpu {
    /// A line passed through to the guest clears the VIP bit that HC ties to it.
    pub fn pass_through(&mut self) {
        if self.root.veic() {
            return;
        }
        let lines = u32::from(self.lines.ip) >> 2 & self.root[cp0::GUESTCTL0] >> 10 & 0x3F;
        let tied = self.root[cp0::GUESTCTL2] >> 24 & 0x3F;
        let low = if self.model.hc_level { !lines } else { self.passed & !lines };
        self.root[cp0::GUESTCTL2] &= !((low & tied) << 10);
        self.passed = lines;
    }
}
