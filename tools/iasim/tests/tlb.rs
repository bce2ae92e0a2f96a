// SPDX-License-Identifier: Apache-2.0
//! Compares the TLB with a model that stores the translation of each virtual page, for each guest
//! and ASID.

use std::collections::BTreeMap;

use iasim::cp0::entryhi::EHINV;
use iasim::tlb::{Entry, Key, Tlb, G};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SIZE: usize = 8;
const MASKS: [u32; 5] = [0, 0x6000, 0x1_E000, 0x7_E000, 0x1F_E000];

#[derive(Clone, Debug)]
enum Step {
    Write { index: u32, hi: u32, mask: u32, lo: [u32; 2], guest: u8 },
    Invalidate { asid: Option<u8>, guest: u8 },
}

fn address() -> impl Strategy<Value = u32> {
    // A small address range, so that entries overlap.
    (0u32..64, 0u32..4096).prop_map(|(page, low)| page << 16 | low << 3)
}

fn step() -> impl Strategy<Value = Step> {
    let write = (0..SIZE as u32, address(), 0..3u32, 0..MASKS.len(), any::<[u32; 2]>(), 0..3u8, 0..8u32);
    let write = write.prop_map(|(index, va, asid, mask, lo, guest, hidden)| Step::Write {
        index,
        hi: va & 0xFFFF_E000 | asid | if hidden == 0 { EHINV } else { 0 },
        mask: MASKS[mask],
        lo,
        guest,
    });
    let invalidate = (proptest::option::of(0..3u8), 0..3u8).prop_map(|(asid, guest)| Step::Invalidate { asid, guest });
    prop_oneof![8 => write, 1 => invalidate]
}

/// One entry as a map of 4 KiB pages to physical page and flags; slow but simple.
#[derive(Clone)]
struct Slot {
    pages: BTreeMap<u32, (u32, u32)>,
    asid: u8,
    global: bool,
    guest: u8,
}

fn slot(hi: u32, mask: u32, lo: [u32; 2], guest: u8) -> Slot {
    let pages_each = (mask >> 13) + 1;
    let first = (hi >> 13) / pages_each * pages_each * 2;
    let page = |n: u32| {
        let lo = lo[(n / pages_each) as usize];
        let frame = (lo >> 6 & 0xF_FFFF) / pages_each * pages_each + n % pages_each;
        (first + n, (frame, lo & !G))
    };
    Slot { pages: (0..2 * pages_each).map(page).collect(), asid: hi as u8, global: lo[0] & lo[1] & G != 0, guest }
}

#[derive(Default)]
struct Model([Option<Slot>; SIZE]);

impl Model {
    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Write { index, hi, mask, lo, guest } => {
                self.0[index as usize] = (hi & EHINV == 0).then(|| slot(hi, mask, lo, guest));
            }
            Step::Invalidate { asid, guest } => {
                for slot in &mut self.0 {
                    let hit =
                        |old: &Slot| old.guest == guest && asid.is_none_or(|asid| !old.global && old.asid == asid);
                    if slot.as_ref().is_some_and(hit) {
                        *slot = None;
                    }
                }
            }
        }
    }

    fn find(&self, va: u32, asid: Option<u8>, guest: u8) -> Option<(usize, u32, u32)> {
        self.0.iter().enumerate().find_map(|(n, slot)| {
            let slot = slot.as_ref()?;
            let (frame, lo) = slot.pages.get(&(va >> 12))?;
            let fits = slot.guest == guest && (slot.global || asid.is_none_or(|asid| asid == slot.asid));
            fits.then_some((n, frame << 12 | va & 0xFFF, *lo))
        })
    }

    /// Whether the step would create a second translation of an address.
    fn clashes(&self, index: u32, new: &Slot) -> bool {
        self.0.iter().enumerate().any(|(n, old)| {
            n != index as usize
                && old.as_ref().is_some_and(|old| {
                    let same = old.guest == new.guest && (old.global || new.global || old.asid == new.asid);
                    same && old.pages.keys().any(|page| new.pages.contains_key(page))
                })
        })
    }
}

fn apply(tlb: &mut Tlb, step: &Step) {
    match *step {
        Step::Write { index, hi, mask, lo, guest } => tlb.write(index, Entry::new(hi, mask, lo, guest)),
        Step::Invalidate { asid, guest } => tlb.invalidate(Key { asid, guest }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn lookups_match_the_model(steps in prop::collection::vec(step(), 1..40),
                                    probes in prop::collection::vec((address(), prop::option::of(0..3u8), 0..3u8), 40)) {
        let (mut tlb, mut model) = (Tlb::new(SIZE), Model::default());
        for step in &steps {
            if let Step::Write { index, hi, mask, lo, guest } = *step {
                let entry = Entry::new(hi, mask, lo, guest);
                let clash = hi & EHINV == 0 && model.clashes(index, &slot(hi, mask, lo, guest));
                prop_assert_eq!(tlb.clashes(index, &entry), clash);
            }
            apply(&mut tlb, step);
            model.apply(step);
            for (va, asid, guest) in &probes {
                let key = Key { asid: *asid, guest: *guest };
                let expected = model.find(*va, *asid, *guest);
                prop_assert_eq!(tlb.probe(*va, key), expected.map(|(n, _, _)| n));
                let got = tlb.lookup(*va, key).map(|hit| (hit.pa, hit.lo));
                prop_assert_eq!(got, expected.map(|(_, pa, lo)| (pa, lo)));
            }
        }
    }

    /// A read returns what was written: the address without the bits covered by the mask, the
    /// flags, the tag.
    #[test]
    fn entries_are_read_as_they_were_written(hi: u32, mask in 0..MASKS.len(), lo: [u32; 2], guest: u8, index in 0..SIZE as u32) {
        let mut tlb = Tlb::new(SIZE);
        tlb.write(index, Entry::new(hi, MASKS[mask], lo, guest));
        let entry = tlb.read(index);
        prop_assert_eq!(entry.vpn2, hi & 0xFFFF_E000 & !MASKS[mask]);
        prop_assert_eq!((entry.asid, entry.guest, entry.mask), (hi as u8, guest, MASKS[mask]));
        prop_assert_eq!(entry.lo, lo.map(|lo| lo & !G));
        prop_assert_eq!(entry.invalid, hi & EHINV != 0);
        prop_assert_eq!(tlb.read(SIZE as u32 + index), Entry::NONE);
    }
}
