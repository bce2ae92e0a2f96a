// SPDX-License-Identifier: Apache-2.0
//! A TLB: dual entries with page masks, tagged with an ASID and a GuestID.

use crate::cp0::entryhi;

pub const RI: u32 = 1 << 31;
pub const XI: u32 = 1 << 30;
pub const D: u32 = 1 << 2;
pub const V: u32 = 1 << 1;
pub const G: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Address of the page pair; bits below the mask are zero.
    pub vpn2: u32,
    /// In the format of PageMask: bits 28:13.
    pub mask: u32,
    pub asid: u8,
    pub global: bool,
    /// GuestID; 0: an entry of the root itself.
    pub guest: u8,
    /// Invalidated by EHINV or TLBINV: matches no address.
    pub invalid: bool,
    /// In the format of EntryLo0 and EntryLo1, without G.
    pub lo: [u32; 2],
}

impl Entry {
    pub const NONE: Entry = Entry { vpn2: 0, mask: 0, asid: 0, global: false, guest: 0, invalid: true, lo: [0; 2] };

    /// An entry from EntryHi, PageMask and both EntryLo. A non-contiguous page mask is cut at its
    /// first gap.
    pub fn new(hi: u32, mask: u32, lo: [u32; 2], guest: u8) -> Self {
        let mask = contiguous_mask(mask);
        Entry {
            vpn2: hi & entryhi::VPN2 & !mask,
            mask,
            asid: (hi & entryhi::ASID) as u8,
            global: lo[0] & lo[1] & G != 0,
            guest,
            invalid: hi & entryhi::EHINV != 0,
            lo: lo.map(|lo| lo & !G),
        }
    }

    fn covers(&self, va: u32) -> bool {
        (va ^ self.vpn2) & entryhi::VPN2 & !self.mask == 0
    }

    fn overlaps(&self, other: &Entry) -> bool {
        let mask = self.mask | other.mask;
        (self.vpn2 ^ other.vpn2) & !mask == 0
            && self.guest == other.guest
            && (self.global || other.global || self.asid == other.asid)
    }

    /// The EntryLo of the page that contains the address, and the translated address.
    fn half(&self, va: u32) -> Hit {
        let size = ((self.mask | 0x1FFF) >> 1) + 1;
        let lo = self.lo[usize::from(va & size != 0)];
        let base = (lo >> 6 & 0xF_FFFF) << 12;
        Hit { pa: base & !(size - 1) | va & (size - 1), lo }
    }
}

/// The mask of a supported page size; each size is four times the previous one.
fn contiguous_mask(mask: u32) -> u32 {
    let pairs = (0..8).take_while(|n| mask >> (13 + 2 * n) & 3 == 3).count() as u32;
    ((1 << (2 * pairs)) - 1) << 13
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hit {
    pub pa: u32,
    /// The page's EntryLo with V, D, C, RI and XI.
    pub lo: u32,
}

/// What an entry is compared with, in addition to the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// None: matches any ASID.
    pub asid: Option<u8>,
    pub guest: u8,
}

impl Key {
    fn fits(&self, entry: &Entry) -> bool {
        !entry.invalid && entry.guest == self.guest && (entry.global || self.asid.is_none_or(|asid| asid == entry.asid))
    }
}

#[derive(Clone)]
pub struct Tlb {
    entries: Vec<Entry>,
}

impl Tlb {
    pub fn new(size: usize) -> Self {
        Tlb { entries: vec![Entry::NONE; size] }
    }

    pub fn size(&self) -> usize {
        self.entries.len()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn probe(&self, va: u32, key: Key) -> Option<usize> {
        self.entries.iter().position(|entry| key.fits(entry) && entry.covers(va))
    }

    pub fn lookup(&self, va: u32, key: Key) -> Option<Hit> {
        Some(self.entries[self.probe(va, key)?].half(va))
    }

    /// The entry with this index; an invalid one if the index is out of range.
    pub fn read(&self, index: u32) -> Entry {
        self.entries.get(index as usize).copied().unwrap_or(Entry::NONE)
    }

    /// Whether the new entry would overlap another valid entry.
    pub fn clashes(&self, index: u32, new: &Entry) -> bool {
        let others = self.entries.iter().enumerate().filter(|(n, _)| *n != index as usize);
        !new.invalid && others.into_iter().any(|(_, entry)| !entry.invalid && entry.overlaps(new))
    }

    pub fn write(&mut self, index: u32, entry: Entry) {
        if let Some(old) = self.entries.get_mut(index as usize) {
            *old = entry;
        }
    }

    /// TLBINV (non-global entries with the key's ASID) and TLBINVF (all entries) of one GuestID.
    pub fn invalidate(&mut self, key: Key) {
        let hit = |entry: &&mut Entry| {
            entry.guest == key.guest && key.asid.is_none_or(|asid| !entry.global && asid == entry.asid)
        };
        self.entries.iter_mut().filter(hit).for_each(|entry| entry.invalid = true);
    }
}
