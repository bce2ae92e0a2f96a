// SPDX-License-Identifier: Apache-2.0
//! Addresses: the segments, the two stages of translation, and a cache of translations for fast
//! accesses.

use crate::cp0::{self, guestctl0, pagegrain, status, Cp0};
use crate::cpu::{Context, Cpu, Mode};
use crate::exception::{code, gexc, Fault};
use crate::memory::PAGE;
use crate::tlb::{self, Hit, Key};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    Write,
    Fetch,
}

/// A cached translation of a page that may be accessed without further checks.
#[derive(Clone, Copy)]
struct Soft {
    /// The page's address if reads (writes) may use the entry. The comparison includes the low
    /// address bits that must be zero for the access size.
    read: u32,
    write: u32,
    /// Offset of the page in memory.
    offset: u32,
}

const NO_PAGE: u32 = 0xFFFF_FFFF;
const SLOTS: usize = 64;
const EMPTY: Soft = Soft { read: NO_PAGE, write: NO_PAGE, offset: 0 };

/// Cached translations of each mode. Flushed whenever a state that they depend on changes.
pub struct SoftTlb([[Soft; SLOTS]; 4]);

impl SoftTlb {
    pub fn new() -> Self {
        SoftTlb([[EMPTY; SLOTS]; 4])
    }

    pub fn flush(&mut self) {
        self.0 = [[EMPTY; SLOTS]; 4];
    }

    #[inline(always)]
    fn slot(&self, mode: Mode, va: u32) -> &Soft {
        &self.0[mode as usize][(va / PAGE) as usize % SLOTS]
    }

    fn fill(&mut self, mode: Mode, va: u32, offset: u32, write: bool) {
        let page = va & !(PAGE - 1);
        let slot = &mut self.0[mode as usize][(va / PAGE) as usize % SLOTS];
        if slot.read != page && slot.write != page {
            *slot = EMPTY;
        }
        slot.offset = offset & !(PAGE - 1);
        if write {
            slot.write = page;
        } else {
            slot.read = page;
        }
    }
}

impl Default for SoftTlb {
    fn default() -> Self {
        SoftTlb::new()
    }
}

/// How a segment of a context is translated.
enum Segment {
    Mapped,
    To(u32),
    Forbidden,
}

fn segment(cp0: &Cp0, va: u32, kernel: bool) -> Segment {
    match va >> 29 {
        0..=3 if cp0.has(cp0::STATUS, status::ERL) => Segment::To(va),
        0..=3 => Segment::Mapped,
        _ if !kernel => Segment::Forbidden,
        4 | 5 => Segment::To(va & 0x1FFF_FFFF),
        _ => Segment::Mapped,
    }
}

fn address_error(access: Access) -> u8 {
    match access {
        Access::Write => code::ADES,
        _ => code::ADEL,
    }
}

fn tlb_error(access: Access) -> u8 {
    match access {
        Access::Write => code::TLBS,
        _ => code::TLBL,
    }
}

/// Checks a TLB lookup's permissions: the physical address, or the exception code and whether it is
/// a refill.
fn check_access(hit: Option<Hit>, access: Access, grain: u32) -> Result<u32, (u8, bool)> {
    let Some(Hit { pa, lo }) = hit else { return Err((tlb_error(access), true)) };
    let own_code = grain & pagegrain::IEC != 0;
    let inhibited = |code| Err((if own_code { code } else { code::TLBL }, false));
    match access {
        _ if lo & tlb::V == 0 => Err((tlb_error(access), false)),
        Access::Read if lo & tlb::RI != 0 => inhibited(code::TLBRI),
        Access::Fetch if lo & tlb::XI != 0 => inhibited(code::TLBXI),
        Access::Write if lo & tlb::D == 0 => Err((code::MOD, false)),
        _ => Ok(pa),
    }
}

fn tlb_fault(to: Context, (code, refill): (u8, bool), addr: u32) -> Box<Fault> {
    Box::new(Fault { addr: Some(addr), tlb: true, refill, ..Fault::new(to, code) })
}

impl Cpu {
    /// The physical address of an access in the current mode.
    pub fn translate(&self, va: u32, access: Access) -> Result<u32, Box<Fault>> {
        if self.mode.is_guest() {
            let gpa = self.translate_guest(va, access)?;
            return self.translate_root_stage(va, gpa, access);
        }
        if access != Access::Fetch && self.is_direct_root_access() {
            let key = Key { asid: None, guest: self.rid() };
            let answer = check_access(self.root_tlb.lookup(va, key), access, self.root[cp0::PAGEGRAIN]);
            return answer.map_err(|error| tlb_fault(Context::Root, error, va));
        }
        let asid = Some(self.root[cp0::ENTRYHI] as u8);
        match segment(&self.root, va, self.mode.is_kernel()) {
            Segment::To(pa) => Ok(pa),
            Segment::Forbidden => Err(Fault::at(Context::Root, address_error(access), va)),
            Segment::Mapped => {
                let hit = self.root_tlb.lookup(va, Key { asid, guest: 0 });
                check_access(hit, access, self.root[cp0::PAGEGRAIN])
                    .map_err(|error| tlb_fault(Context::Root, error, va))
            }
        }
    }

    /// Whether GuestCtl0.DRG makes loads and stores of the root kernel guest-physical.
    fn is_direct_root_access(&self) -> bool {
        self.root.has(cp0::GUESTCTL0, guestctl0::DRG) && self.rid() != 0 && self.mode == Mode::RootKernel
    }

    /// The guest's stage of translation; its exceptions go to the guest.
    fn translate_guest(&self, va: u32, access: Access) -> Result<u32, Box<Fault>> {
        match segment(&self.guest, va, self.mode.is_kernel()) {
            Segment::To(gpa) => Ok(gpa),
            Segment::Forbidden => Err(Fault::at(Context::Guest, address_error(access), va)),
            Segment::Mapped => {
                let key = Key { asid: Some(self.guest[cp0::ENTRYHI] as u8), guest: self.guest_id() };
                let hit = self.guest_tlb.lookup(va, key);
                check_access(hit, access, self.guest[cp0::PAGEGRAIN])
                    .map_err(|error| tlb_fault(Context::Guest, error, va))
            }
        }
    }

    /// The root's stage of translation: guest-physical addresses are mapped by root TLB entries
    /// with the guest's GuestID.
    fn translate_root_stage(&self, va: u32, gpa: u32, access: Access) -> Result<u32, Box<Fault>> {
        let key = Key { asid: None, guest: self.guest_id() };
        // GuestID 0 marks entries of the root itself, which must not match for guests.
        let hit = (key.guest != 0).then(|| self.root_tlb.lookup(gpa, key)).flatten();
        check_access(hit, access, self.root[cp0::PAGEGRAIN]).map_err(|error| {
            let (addr, reason) = if self.model.badvaddr_gpa { (gpa, gexc::GPA) } else { (va, gexc::GVA) };
            let fault = *tlb_fault(Context::Root, error, addr);
            Box::new(Fault { gexc: Some(reason), ..fault })
        })
    }

    /// Offset in memory of the instruction at the address.
    pub fn fetch_place(&self, va: u32) -> Result<u32, Box<Fault>> {
        if va & 3 != 0 {
            return Err(Fault::at(self.mode.context(), code::ADEL, va));
        }
        let pa = self.translate(va, Access::Fetch)?;
        self.mem.find(pa).map(|place| place.offset).ok_or(Fault::boxed(Context::Root, code::IBE))
    }

    #[inline(always)]
    pub fn load<const N: usize>(&mut self, va: u32) -> Result<u32, Box<Fault>> {
        let soft = self.soft.slot(self.mode, va);
        if soft.read == va & (!(PAGE - 1) | (N as u32 - 1)) {
            return Ok(self.mem.read::<N>(soft.offset + va % PAGE));
        }
        self.load_slow::<N>(va)
    }

    #[inline(always)]
    pub fn store<const N: usize>(&mut self, va: u32, value: u32) -> Result<(), Box<Fault>> {
        let soft = self.soft.slot(self.mode, va);
        if soft.write == va & (!(PAGE - 1) | (N as u32 - 1)) {
            let offset = soft.offset + va % PAGE;
            self.mem.write::<N>(offset, value);
            return Ok(());
        }
        self.store_slow::<N>(va, value)
    }

    /// The physical address of an access of N bytes; checks the alignment.
    pub fn aligned<const N: usize>(&self, va: u32, access: Access) -> Result<u32, Box<Fault>> {
        if va & (N as u32 - 1) != 0 {
            return Err(Fault::at(self.mode.context(), address_error(access), va));
        }
        self.translate(va, access)
    }

    #[inline(never)]
    fn load_slow<const N: usize>(&mut self, va: u32) -> Result<u32, Box<Fault>> {
        let pa = self.aligned::<N>(va, Access::Read)?;
        if let Some(place) = self.mem.find(pa) {
            self.soft.fill(self.mode, va, place.offset, false);
            return Ok(self.mem.read::<N>(place.offset));
        }
        self.request_service();
        self.board.read(pa, N as u32, self.now).ok_or(Fault::boxed(Context::Root, code::DBE))
    }

    #[inline(never)]
    fn store_slow<const N: usize>(&mut self, va: u32, value: u32) -> Result<(), Box<Fault>> {
        let pa = self.aligned::<N>(va, Access::Write)?;
        match self.mem.find(pa) {
            Some(place) if place.writable => {
                if self.mem.has_code(place.offset) {
                    self.mem.invalidate_decoded(place.offset);
                } else {
                    self.soft.fill(self.mode, va, place.offset, true);
                }
                self.mem.write::<N>(place.offset, value);
                Ok(())
            }
            Some(_) => Err(Fault::boxed(Context::Root, code::DBE)),
            None => {
                self.request_service();
                self.board.write(pa, N as u32, value, self.now).ok_or(Fault::boxed(Context::Root, code::DBE))
            }
        }
    }
}
