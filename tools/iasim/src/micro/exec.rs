// SPDX-License-Identifier: Apache-2.0
//! Instructions without a MIPS32 equivalent: jumps and branches, register lists and pairs,
//! pc-relative addresses. When an instruction executes, pc already points behind it, at its delay
//! slot if it has one. The word of an Op holds the instruction's bits (a 16-bit instruction in
//! 31:16); rs and rt are the registers of the encoding.

use crate::cpu::{Cpu, Done};
use crate::isa::Op;

const RA: usize = 31;
const SP: usize = 29;

/// A sign-extended bit field.
fn signed(word: u32, low: u32, width: u32) -> u32 {
    ((word << (32 - low - width)) as i32 >> (32 - width)) as u32
}

/// Makes the instruction at pc a delay slot, after which execution continues at the target if the
/// branch is taken.
fn branch(c: &mut Cpu, target: u32, taken: bool) -> Done {
    c.branch = true;
    c.branch_word = super::word(c.micro.bits);
    c.micro.branch_size = c.micro.size;
    c.micro.taken = taken;
    c.npc = target;
    Ok(())
}

/// Targets of 32-bit and of 16-bit branches; a 16-bit branch has an offset of `width` bits.
fn long_target(c: &Cpu, o: Op) -> u32 {
    c.pc.wrapping_add(signed(o.word(), 0, 16) << 1)
}

fn short_target(c: &Cpu, o: Op, width: u32) -> u32 {
    c.pc.wrapping_add(signed(o.word(), 16, width) << 1)
}

/// Sets the return address; `slot` is the size of the delay slot in bytes.
fn link(c: &mut Cpu, register: usize, slot: u32) {
    c.gpr[register] = c.pc.wrapping_add(slot);
}

fn negative(c: &Cpu, o: Op) -> bool {
    (c.rs(o) as i32) < 0
}

fn positive(c: &Cpu, o: Op) -> bool {
    (c.rs(o) as i32) > 0
}

macro_rules! branches {
    ($($name:ident = |$c:ident, $o:ident| $taken:expr, $target:expr;)*) => {
        $(pub fn $name($c: &mut Cpu, $o: Op) -> Done {
            let (taken, target) = ($taken, $target);
            branch($c, target, taken)
        })*
    };
}

branches! {
    beq = |c, o| c.rs(o) == c.rt(o), long_target(c, o);
    bne = |c, o| c.rs(o) != c.rt(o), long_target(c, o);
    bltz = |c, o| negative(c, o), long_target(c, o);
    bgez = |c, o| !negative(c, o), long_target(c, o);
    blez = |c, o| !positive(c, o), long_target(c, o);
    bgtz = |c, o| positive(c, o), long_target(c, o);
    beqz16 = |c, o| c.rs(o) == 0, short_target(c, o, 7);
    bnez16 = |c, o| c.rs(o) != 0, short_target(c, o, 7);
    b16 = |c, o| true, short_target(c, o, 10);
    jr = |c, o| true, c.rs(o);
    j = |c, o| true, region_target(c, o);
}

macro_rules! linking {
    ($($name:ident: $negative:literal, $slot:literal;)*) => {
        $(pub fn $name(c: &mut Cpu, o: Op) -> Done {
            let (taken, target) = (negative(c, o) == $negative, long_target(c, o));
            link(c, RA, $slot);
            branch(c, target, taken)
        })*
    };
}

linking! {
    bltzal: true, 4;
    bltzals: true, 2;
    bgezal: false, 4;
    bgezals: false, 2;
}

/// Compact branch: no delay slot.
fn compact(c: &mut Cpu, target: u32, taken: bool) -> Done {
    if taken {
        c.jump(target);
    }
    Ok(())
}

pub fn beqzc(c: &mut Cpu, o: Op) -> Done {
    compact(c, long_target(c, o), c.rs(o) == 0)
}

pub fn bnezc(c: &mut Cpu, o: Op) -> Done {
    compact(c, long_target(c, o), c.rs(o) != 0)
}

pub fn jrc(c: &mut Cpu, o: Op) -> Done {
    compact(c, c.rs(o), true)
}

pub fn jraddiusp(c: &mut Cpu, o: Op) -> Done {
    c.gpr[SP] = c.gpr[SP].wrapping_add((o.word() >> 16 & 31) << 2);
    compact(c, c.gpr[RA], true)
}

fn region_target(c: &Cpu, o: Op) -> u32 {
    c.pc & 0xF800_0000 | (o.word() & 0x03FF_FFFF) << 1 | 1
}

pub fn jal(c: &mut Cpu, o: Op) -> Done {
    link(c, RA, 4);
    branch(c, region_target(c, o), true)
}

pub fn jals(c: &mut Cpu, o: Op) -> Done {
    link(c, RA, 2);
    branch(c, region_target(c, o), true)
}

/// Jumps to MIPS32 code.
pub fn jalx(c: &mut Cpu, o: Op) -> Done {
    link(c, RA, 4);
    branch(c, c.pc & 0xF000_0000 | (o.word() & 0x03FF_FFFF) << 2, true)
}

fn jump_and_link(c: &mut Cpu, o: Op, slot: u32) -> Done {
    let target = c.rs(o);
    link(c, o.rd(), slot);
    branch(c, target, true)
}

pub fn jalr(c: &mut Cpu, o: Op) -> Done {
    jump_and_link(c, o, 4)
}

pub fn jalrs(c: &mut Cpu, o: Op) -> Done {
    jump_and_link(c, o, 2)
}

pub fn addiupc(c: &mut Cpu, o: Op) -> Done {
    c.set(o, (c.cur_pc & !3).wrapping_add(signed(o.word(), 0, 23) << 2));
    Ok(())
}

/// rt holds the index in words.
pub fn lwxs(c: &mut Cpu, o: Op) -> Done {
    let value = c.load::<4>(c.rs(o).wrapping_add(c.rt(o) << 2))?;
    c.set(o, value);
    Ok(())
}

/// Moves two registers; both sources are read before a destination is written.
pub fn movep(c: &mut Cpu, o: Op) -> Done {
    let half = o.word() >> 16;
    let (one, other) = PAIRS[(half >> 7 & 7) as usize];
    let (first, second) = (c.gpr[MOVED[(half >> 1 & 7) as usize]], c.gpr[MOVED[(half >> 4 & 7) as usize]]);
    c.gpr[one] = first;
    c.gpr[other] = second;
    Ok(())
}

pub const PAIRS: [(usize, usize); 8] = [(5, 6), (5, 7), (6, 7), (4, 21), (4, 22), (4, 5), (4, 6), (4, 7)];
pub const MOVED: [usize; 8] = [0, 17, 2, 3, 16, 18, 19, 20];

/// The registers of a list: `count` of s0 to s7 and s8, then ra.
pub fn listed(count: u32, ra: bool) -> impl Iterator<Item = usize> + Clone {
    let saved = (16..24).chain([30]).take(count as usize);
    saved.chain(ra.then_some(RA))
}

/// The list, base and offset of a 16-bit or 32-bit instruction.
fn register_list(o: Op) -> (impl Iterator<Item = usize> + Clone, usize, u32) {
    let word = o.word();
    if super::is_16_bit(word >> 16) {
        return (listed((word >> 20 & 3) + 1, true), SP, (word >> 16 & 15) << 2);
    }
    (listed(word >> 21 & 15, word >> 25 & 1 != 0), o.rs(), signed(word, 0, 12))
}

/// Loads all values before it writes a register, so that the instruction can be restarted after a
/// fault.
pub fn lwm(c: &mut Cpu, o: Op) -> Done {
    let (registers, base, offset) = register_list(o);
    let from = c.gpr[base].wrapping_add(offset);
    let mut values = [0; 10];
    for (n, value) in registers.clone().zip(&mut values).enumerate().map(|(n, (_, value))| (n as u32, value)) {
        *value = c.load::<4>(from.wrapping_add(4 * n))?;
    }
    registers.zip(values).for_each(|(register, value)| c.gpr[register] = value);
    Ok(())
}

pub fn swm(c: &mut Cpu, o: Op) -> Done {
    let (registers, base, offset) = register_list(o);
    let to = c.gpr[base].wrapping_add(offset);
    registers.enumerate().try_for_each(|(n, register)| c.store::<4>(to.wrapping_add(4 * n as u32), c.gpr[register]))
}

/// Loads rt and the register after it.
pub fn lwp(c: &mut Cpu, o: Op) -> Done {
    let from = c.rs(o).wrapping_add(signed(o.word(), 0, 12));
    let (one, other) = (c.load::<4>(from)?, c.load::<4>(from.wrapping_add(4))?);
    c.set(o, one);
    c.gpr[o.rt() + 1] = other;
    Ok(())
}

pub fn swp(c: &mut Cpu, o: Op) -> Done {
    let to = c.rs(o).wrapping_add(signed(o.word(), 0, 12));
    c.store::<4>(to, c.rt(o))?;
    c.store::<4>(to.wrapping_add(4), c.gpr[o.rt() + 1])
}
