// SPDX-License-Identifier: Apache-2.0
//! RAM and flash in one byte array, and the decoded instructions of each page that has been
//! executed. An offset is an index into the array.

use std::cell::Cell;
use std::rc::Rc;

use crate::isa::{self, Op};

pub const PAGE: u32 = 4096;
const WORDS: usize = PAGE as usize / 4;

/// The decoded instructions of a page.
pub type Code = [Cell<Op>; WORDS];

pub struct Region {
    pub name: &'static str,
    pub base: u32,
    pub size: u32,
    pub writable: bool,
    /// Offset of the region's first byte.
    offset: u32,
}

#[derive(Default)]
pub struct Memory {
    regions: Vec<Region>,
    bytes: Vec<u8>,
    code: Vec<Option<Rc<Code>>>,
}

/// Offset of a physical address, and whether its region is writable.
#[derive(Clone, Copy)]
pub struct Place {
    pub offset: u32,
    pub writable: bool,
}

/// A page without decoded instructions.
pub fn no_code() -> Rc<Code> {
    Rc::new(std::array::from_fn(|_| Cell::new(isa::UNDECODED)))
}

impl Memory {
    /// Adds a region of whole pages. RAM is initialized with zeros, flash as erased.
    pub fn add(&mut self, name: &'static str, base: u32, size: u32, writable: bool) {
        let erased = if writable { 0 } else { 0xFF };
        let offset = self.bytes.len() as u32;
        self.regions.push(Region { name, base, size, writable, offset });
        self.bytes.resize((offset + size) as usize, erased);
        self.code.resize(self.bytes.len() / PAGE as usize, None);
    }

    /// Maps existing memory at another address as well.
    pub fn alias(&mut self, name: &'static str, base: u32, of: u32, size: u32, writable: bool) {
        let offset = self.find(of).map_or(0, |place| place.offset);
        self.regions.push(Region { name, base, size, writable, offset });
    }

    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    pub fn find(&self, pa: u32) -> Option<Place> {
        let region = self.regions.iter().find(|region| pa.wrapping_sub(region.base) < region.size)?;
        Some(Place { offset: region.offset + (pa - region.base), writable: region.writable })
    }

    /// Whether a store into the page must invalidate decoded instructions.
    pub fn has_code(&self, offset: u32) -> bool {
        self.code[(offset / PAGE) as usize].is_some()
    }

    /// The decoded instructions of the page, and whether the page had none before.
    pub fn code(&mut self, offset: u32) -> (Rc<Code>, bool) {
        let slot = &mut self.code[(offset / PAGE) as usize];
        let new = slot.is_none();
        let code = slot.get_or_insert_with(no_code);
        (code.clone(), new)
    }

    /// A little-endian access of 1, 2 or 4 bytes that does not cross a page.
    #[inline(always)]
    pub fn read<const N: usize>(&self, offset: u32) -> u32 {
        let at = offset as usize;
        let mut word = [0; 4];
        word[..N].copy_from_slice(&self.bytes[at..at + N]);
        u32::from_le_bytes(word)
    }

    #[inline(always)]
    pub fn write<const N: usize>(&mut self, offset: u32, value: u32) {
        let at = offset as usize;
        self.bytes[at..at + N].copy_from_slice(&value.to_le_bytes()[..N]);
    }

    /// Invalidates the decoded instruction of the word.
    pub fn invalidate_decoded(&mut self, offset: u32) {
        if let Some(code) = &self.code[(offset / PAGE) as usize] {
            code[(offset % PAGE / 4) as usize].set(isa::UNDECODED);
        }
    }

    /// Writes to a physical address, also to flash; false if not all addresses are memory.
    pub fn load(&mut self, pa: u32, data: &[u8]) -> bool {
        data.iter().enumerate().all(|(n, byte)| {
            let place = self.find(pa.wrapping_add(n as u32));
            place.is_some_and(|place| {
                self.bytes[place.offset as usize] = *byte;
                self.invalidate_decoded(place.offset);
                true
            })
        })
    }

    /// Reads a byte without side effects, for loaders, tests and debuggers.
    pub fn peek(&self, pa: u32) -> Option<u8> {
        Some(self.bytes[self.find(pa)?.offset as usize])
    }

    pub fn peek_word(&self, pa: u32) -> Option<u32> {
        Some(self.read::<4>(self.find(pa & !3)?.offset))
    }
}
