// SPDX-License-Identifier: Apache-2.0
//! Address translation of a guest: Sv39, Sv48 and Sv57 (Privileged Architecture, chapter 12,
//! "Supervisor-Level ISA").

const PAGE: u64 = 12;
const V: u64 = 1;
const LEAF: u64 = 0xe; // readable, writable or executable
const PPN: u64 = (1 << 44) - 1;
const NAPOT: u64 = 1 << 63;
const NAPOT_64K: u64 = 8;

/// The guest-physical address of `va` under `satp`; `read` reads a page-table entry. None if the
/// address is not mapped. Permissions and the accessed bit are ignored.
pub fn translate<E>(satp: u64, va: u64, mut read: impl FnMut(u64) -> Result<u64, E>) -> Result<Option<u64>, E> {
    let levels = match satp >> 60 {
        0 => return Ok(Some(va)),
        mode @ 8..=10 => mode - 5,
        _ => return Ok(None),
    };
    let unused = 64 - (PAGE + 9 * levels);
    if ((va << unused) as i64 >> unused) as u64 != va {
        return Ok(None);
    }
    let mut table = (satp & PPN) << PAGE;
    for level in (0..levels).rev() {
        let entry = read(table + (va >> (PAGE + 9 * level) & 0x1ff) * 8)?;
        let ppn = entry >> 10 & PPN;
        if entry & V == 0 {
            return Ok(None);
        }
        if entry & LEAF != 0 {
            return Ok(leaf(entry, ppn, level, va));
        }
        table = ppn << PAGE;
    }
    Ok(None)
}

fn leaf(entry: u64, ppn: u64, level: u64, va: u64) -> Option<u64> {
    let size = PAGE + 9 * level;
    if entry & NAPOT != 0 {
        let fits = level == 0 && ppn & 0xf == NAPOT_64K;
        return fits.then_some((ppn & !0xf) << PAGE | va & 0xffff);
    }
    let aligned = ppn & ((1 << (9 * level)) - 1) == 0;
    aligned.then_some(ppn << PAGE | va & ((1 << size) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn walk(satp: u64, va: u64, memory: &HashMap<u64, u64>) -> Option<u64> {
        translate(satp, va, |at| Ok::<u64, ()>(*memory.get(&at).unwrap_or(&0))).unwrap()
    }

    fn pointer(table: u64) -> u64 {
        table >> 12 << 10 | V
    }

    #[test]
    fn without_translation_addresses_are_themselves() {
        assert_eq!(walk(0, 0x8000_1234, &HashMap::new()), Some(0x8000_1234));
        assert_eq!(walk(1 << 60, 0, &HashMap::new()), None);
    }

    #[test]
    fn pages_of_every_size_and_depth() {
        for (mode, levels) in [(8u64, 3u64), (9, 4), (10, 5)] {
            for leaf_level in 0..levels {
                let bits = 12 + 9 * levels;
                let va = (u64::MAX << (bits - 1)) | 0x1_2345_6789;
                let mut memory = HashMap::new();
                for (number, level) in (leaf_level..levels).rev().enumerate() {
                    let table = 0x9000_0000 + number as u64 * 0x1000;
                    let at = table + (va >> (12 + 9 * level) & 0x1ff) * 8;
                    let frame = 3u64 << (12 + 9 * leaf_level);
                    let leaf = frame >> 12 << 10 | 0xcf;
                    memory.insert(at, if level == leaf_level { leaf } else { pointer(table + 0x1000) });
                }
                let offset = va & ((1 << (12 + 9 * leaf_level)) - 1);
                let satp = mode << 60 | 0x9000_0000 >> 12;
                assert_eq!(walk(satp, va, &memory), Some(3 << (12 + 9 * leaf_level) | offset));
                assert_eq!(walk(satp, va ^ 1 << (bits - 1), &memory), None, "not canonical");
            }
        }
    }

    #[test]
    fn a_napot_page_of_64_kib() {
        let memory = HashMap::from([
            (0x1000, pointer(0x2000)),
            (0x2000, pointer(0x3000)),
            (0x3000 + 5 * 8, NAPOT | (0x80010 | 8) << 10 | 0xcf),
        ]);
        assert_eq!(walk(8 << 60 | 1, 0x5678, &memory), Some(0x8001_5678));
    }

    #[test]
    fn a_superpage_that_is_not_aligned_and_a_table_without_end_are_nothing() {
        let memory = HashMap::from([(0x1000, 1 << 10 | 0xcf)]);
        assert_eq!(walk(8 << 60 | 1, 0, &memory), None);
        let circle = HashMap::from([(0x1000, pointer(0x1000))]);
        assert_eq!(walk(8 << 60 | 1, 0, &circle), None);
    }
}
