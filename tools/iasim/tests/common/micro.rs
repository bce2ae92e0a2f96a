// SPDX-License-Identifier: Apache-2.0
//! Random microMIPS code: straight-line code, branches and forward jumps, with every instruction
//! whose result is defined on every core.

use super::random::{size, Rng, LOADS, PLAIN, TRAPS};
use iasim::isa::{Form, ROWS};
use iasim::micro;

const GP: u32 = 28;
const RA: u32 = 31;
const NOP16: u32 = 0x0C00;

/// An instruction; a 16-bit one is in bits 31:16.
#[derive(Clone, Copy)]
struct One(u32);

impl One {
    fn half(half: u32) -> One {
        One(half << 16)
    }

    fn short(self) -> bool {
        micro::is_16_bit(self.0 >> 16)
    }

    fn bytes(self) -> u32 {
        if self.short() {
            2
        } else {
            4
        }
    }
}

fn bytes(all: &[One]) -> u32 {
    all.iter().map(|one| one.bytes()).sum()
}

/// Registers that the program reserves: k0, k1, gp.
fn kept(register: u32) -> bool {
    (26..=GP).contains(&register)
}

fn listed(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}

fn any_register(rng: &mut Rng) -> u32 {
    match rng.below(32) {
        n if kept(n) => 8,
        n => n,
    }
}

/// A 3-bit register field: s0, s1, v0 to a3.
fn low(rng: &mut Rng) -> u32 {
    rng.below(8)
}

fn low_register(bits: u32) -> u32 {
    [16, 17, 2, 3, 4, 5, 6, 7][bits as usize & 7]
}

/// Whether the result of this MIPS32 instruction is defined on every core.
fn defined(word: u32, form: Form) -> bool {
    let (low, high) = (word >> 6 & 31, word >> 11 & 31);
    match form {
        Form::Ext => low + high < 32,
        Form::Ins => low <= high,
        _ => true,
    }
}

/// A 32-bit computation or trap, or a load or store relative to gp, of which one in sixteen is
/// misaligned.
fn long(rng: &mut Rng) -> One {
    let rows: Vec<(u32, u32)> = micro::patterns().collect();
    loop {
        let (mask, bits) = *rng.pick(&rows);
        let bits = bits | (if rng.below(2) == 0 { rng.next() } else { rng.value() ^ rng.below(1 << 10) << 16 }) & !mask;
        if micro::names(bits).is_some() {
            continue;
        }
        let op = micro::decode(bits);
        let Some(row) = ROWS.get(op.row()) else { continue };
        if kept(op.rd() as u32) || !defined(op.word(), row.form) {
            continue;
        }
        if listed(PLAIN, row.name) || listed(TRAPS, row.name) && rng.below(8) == 0 {
            return One(bits);
        }
        if listed(LOADS, row.name) {
            let aligned = if rng.below(16) == 0 { bits } else { bits & !(size(row.name) - 1) };
            return One(aligned & !(31 << 16) | GP << 16);
        }
    }
}

/// A 16-bit computation; few of them trap.
fn short(rng: &mut Rng) -> One {
    loop {
        let bits = rng.next() & 0xFFFF_0000;
        if !micro::is_16_bit(bits >> 16) || micro::names(bits).is_some() {
            continue;
        }
        let op = micro::decode(bits);
        let Some(row) = ROWS.get(op.row()) else { continue };
        let known = listed(PLAIN, row.name) || row.name == "break" && rng.below(8) == 0;
        let near = matches!(row.form, Form::Load | Form::Store) && op.rs() as u32 == GP;
        if (known || near) && !kept(op.rd() as u32) {
            return One(bits);
        }
    }
}

fn simple(rng: &mut Rng) -> One {
    if rng.below(2) == 0 {
        long(rng)
    } else {
        short(rng)
    }
}

/// 16-bit move rd = rs.
fn copy(rd: u32, rs: u32) -> One {
    One::half(0x0C00 | rd << 5 | rs)
}

fn addiu(rt: u32, rs: u32, n: u32) -> One {
    One(0x3000_0000 | rt << 21 | rs << 16 | n & 0xFFFF)
}

/// Instructions that need a register prepared as their address.
fn memory(rng: &mut Rng) -> Vec<One> {
    // Aligned: QEMU accepts misaligned register lists.
    let offset = rng.below(0x800) & !3;
    match rng.below(8) {
        // 16-bit loads and stores by a 3-bit base register; in stores, the encoding of s0 means
        // zero.
        0 | 1 => {
            let (base, data, low_offset) = (low(rng), low(rng), rng.below(16));
            let major = *rng.pick(&[0x02, 0x0A, 0x1A, 0x22, 0x2A, 0x3A]);
            vec![copy(low_register(base), GP), One::half(major << 10 | data << 7 | base << 4 | low_offset)]
        }
        // LWSP, SWSP.
        2 => {
            let (major, data) = (*rng.pick(&[0x12, 0x32]), any_register(rng));
            vec![copy(29, GP), One::half(major << 10 | data << 5 | rng.below(32))]
        }
        // LWM of both sizes, the 32-bit one with any valid list. Not SWM: QEMU 7.2 stores 16 bits
        // per register.
        3 => vec![copy(29, GP), One::half(0x4500 | rng.below(64))],
        4 => {
            let (count, ra) = (rng.below(10), rng.below(2));
            let ra = if count == 0 { 1 } else { ra };
            vec![One(0x2000_5000 | (ra << 4 | count) << 21 | GP << 16 | offset)]
        }
        // LWP, SWP: the destination is neither reserved nor the base.
        5 => {
            let (minor, data) = (*rng.pick(&[0x1000, 0x9000]), rng.below(24));
            vec![One(0x2000_0000 | data << 21 | GP << 16 | minor | offset)]
        }
        // LWXS with a small index.
        6 => {
            let (index, to) = (low(rng), any_register(rng));
            let li16 = One::half(0x3B << 10 | index << 7 | rng.below(127));
            vec![li16, One(low_register(index) << 21 | GP << 16 | to << 11 | 0x118)]
        }
        _ => linked(rng),
    }
}

/// LL, another instruction, SC.
fn linked(rng: &mut Rng) -> Vec<One> {
    let (at, value) = (rng.below(0x200) * 4, 8 + rng.below(8));
    let ll = One(0x6000_3000 | 2 << 21 | GP << 16 | at);
    let sc = One(0x6000_B000 | value << 21 | GP << 16 | at);
    vec![ll, addiu(value, value, 1), sc]
}

/// MOVEP, ADDIUPC.
fn other(rng: &mut Rng) -> Vec<One> {
    match rng.below(2) {
        0 => vec![One::half(0x21 << 10 | rng.below(0x200) << 1)],
        _ => vec![One(0x1E << 26 | low(rng) << 23 | rng.next() & 0x7F_FFFF)],
    }
}

/// A delay slot of any size, or of the size that the return address requires.
fn slot(rng: &mut Rng, size: Option<u32>) -> One {
    match size {
        Some(2) => short(rng),
        Some(_) => long(rng),
        None => simple(rng),
    }
}

fn some(rng: &mut Rng, most: u32) -> Vec<One> {
    (0..rng.below(most + 1)).map(|_| simple(rng)).collect()
}

/// A branch over some instructions, with a delay slot.
fn branch(rng: &mut Rng) -> Vec<One> {
    let kind = rng.below(6);
    let size = match kind {
        4 => Some(4),
        5 => Some(2),
        _ => None,
    };
    let compact = kind == 3;
    let mut following: Vec<One> = if compact { Vec::new() } else { vec![slot(rng, size)] };
    following.extend(some(rng, 4));
    let offset = bytes(&following) >> 1;
    // Not zero and not ra: QEMU does not treat a never-taken branch as a branch, and linking into
    // the source register is undefined.
    let rs = 1 + rng.below(30);
    let rt = if rs == 30 { 29 } else { rs + 1 };
    let first = match kind {
        0 => One(*rng.pick(&[0x25, 0x2D]) << 26 | rt << 21 | rs << 16 | offset),
        1 => One(0x4000_0000 | rng.pick(&[0, 2, 4, 6]) << 21 | rs << 16 | offset),
        2 if rng.below(3) == 0 => One::half(0x33 << 10 | offset),
        2 => One::half(*rng.pick(&[0x23, 0x2B]) << 10 | low(rng) << 7 | offset),
        3 => One(0x4000_0000 | rng.pick(&[5, 7]) << 21 | rs << 16 | offset),
        4 => One(0x4000_0000 | rng.pick(&[1, 3]) << 21 | rs << 16 | offset),
        _ => One(0x4000_0000 | rng.pick(&[0x11, 0x13]) << 21 | rs << 16 | offset),
    };
    [vec![first], following].concat()
}

/// A jump by a register with a pc-relative value. Not by J, JAL, JALS: QEMU keeps four bits of pc
/// where the architecture keeps five, which matters at this program's addresses.
fn register(rng: &mut Rng, pc: u32) -> Vec<One> {
    let by = low(rng);
    let name = low_register(by);
    let (jumps, size): (Vec<One>, Option<u32>) = match rng.below(8) {
        0 => (vec![One::half(0x4580 | name)], None),
        1 => (vec![One::half(0x45C0 | name)], Some(4)),
        2 => (vec![One::half(0x45E0 | name)], Some(2)),
        3 => (vec![One(name << 16 | 0x0F3C)], Some(4)),
        4 => (vec![One(8 << 21 | name << 16 | 0x0F3C)], Some(4)),
        5 => (vec![One(9 << 21 | name << 16 | 0x4F3C)], Some(2)),
        6 => (vec![One::half(0x45A0 | name)], Some(0)),
        _ => (vec![copy(RA, name), One::half(0x4700 | rng.below(32))], Some(0)),
    };
    let mut following = if size == Some(0) { Vec::new() } else { vec![slot(rng, size)] };
    following.extend(some(rng, 3));
    let target = pc + 8 + bytes(&jumps) + bytes(&following) + 1;
    let ready = vec![One(0x1E << 26 | by << 23), addiu(name, name, target - (pc & !3))];
    [ready, jumps, following].concat()
}

/// A block of about `length` instructions at `start`, which continues in MIPS32 code after its end.
pub fn block(rng: &mut Rng, start: u32, length: usize) -> Vec<u32> {
    let (mut all, mut pc): (Vec<One>, u32) = (Vec::new(), start);
    while all.len() < length {
        let piece = match rng.below(16) {
            0 | 1 => branch(rng),
            2 => register(rng, pc),
            3 | 4 => memory(rng),
            5 => other(rng),
            _ => vec![simple(rng)],
        };
        pc += bytes(&piece);
        all.extend(piece);
    }
    if pc % 4 != 0 {
        all.push(One::half(NOP16));
        pc += 2;
    }
    // JALX with a 32-bit delay slot.
    all.extend([One(0x3C << 26 | (pc + 8) >> 2 & 0x03FF_FFFF), One(0)]);
    let halves: Vec<u32> =
        all.iter().flat_map(|one| [one.0 >> 16, one.0 & 0xFFFF].into_iter().take(one.bytes() as usize / 2)).collect();
    halves.chunks(2).map(|pair| pair[0] | pair[1] << 16).collect()
}
