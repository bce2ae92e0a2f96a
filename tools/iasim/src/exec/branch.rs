// SPDX-License-Identifier: Apache-2.0
//! Jumps and branches. When one executes, pc is at its delay slot and npc at the instruction after
//! that.

use crate::cpu::{Cpu, Done};
use crate::exec::system;
use crate::isa::Op;

/// Makes the instruction at pc a delay slot, after which execution continues at the target.
fn jump(c: &mut Cpu, o: Op, target: u32) -> Done {
    c.branch = true;
    c.diverted = true;
    c.branch_word = o.word();
    c.npc = target;
    Ok(())
}

fn branch(c: &mut Cpu, o: Op, taken: bool) -> Done {
    let target = if taken { c.pc.wrapping_add(o.simm() << 2) } else { c.npc };
    jump(c, o, target)
}

/// Branch likely: the delay slot is executed only if the branch is taken.
fn likely(c: &mut Cpu, o: Op, taken: bool) -> Done {
    if taken {
        return branch(c, o, true);
    }
    c.jump(c.npc);
    Ok(())
}

const RA: usize = 31;

fn link(c: &mut Cpu) {
    c.gpr[RA] = c.npc;
}

fn region_target(c: &Cpu, o: Op) -> u32 {
    c.pc & 0xF000_0000 | (o.word() & 0x03FF_FFFF) << 2
}

pub fn j(c: &mut Cpu, o: Op) -> Done {
    jump(c, o, region_target(c, o))
}

pub fn jal(c: &mut Cpu, o: Op) -> Done {
    link(c);
    jump(c, o, region_target(c, o))
}

/// Jumps to microMIPS code.
pub fn jalx(c: &mut Cpu, o: Op) -> Done {
    if !c.model.micromips {
        return system::reserved(c, o);
    }
    link(c);
    jump(c, o, region_target(c, o) | 1)
}

pub fn jr(c: &mut Cpu, o: Op) -> Done {
    jump(c, o, c.rs(o))
}

pub fn jalr(c: &mut Cpu, o: Op) -> Done {
    let target = c.rs(o);
    c.set(o, c.npc);
    jump(c, o, target)
}

fn negative(c: &Cpu, o: Op) -> bool {
    (c.rs(o) as i32) < 0
}

fn positive(c: &Cpu, o: Op) -> bool {
    (c.rs(o) as i32) > 0
}

fn equal(c: &Cpu, o: Op) -> bool {
    c.rs(o) == c.rt(o)
}

/// A condition, its branch and its branch likely.
macro_rules! branches {
    ($($name:ident, $likely:ident = |$c:ident, $o:ident| $taken:expr;)*) => {
        $(pub fn $name($c: &mut Cpu, $o: Op) -> Done {
            let taken = $taken;
            branch($c, $o, taken)
        }

        pub fn $likely($c: &mut Cpu, $o: Op) -> Done {
            let taken = $taken;
            likely($c, $o, taken)
        })*
    };
}

branches! {
    beq, beql = |c, o| equal(c, o);
    bne, bnel = |c, o| !equal(c, o);
    blez, blezl = |c, o| !positive(c, o);
    bgtz, bgtzl = |c, o| positive(c, o);
    bltz, bltzl = |c, o| negative(c, o);
    bgez, bgezl = |c, o| !negative(c, o);
}

/// Branches that link; the link register is set whether the branch is taken or not.
macro_rules! linking {
    ($($name:ident, $by:ident, $negative:literal;)*) => {
        $(pub fn $name(c: &mut Cpu, o: Op) -> Done {
            let taken = negative(c, o) == $negative;
            link(c);
            $by(c, o, taken)
        })*
    };
}

linking! {
    bltzal, branch, true;
    bgezal, branch, false;
    bltzall, likely, true;
    bgezall, likely, false;
}
