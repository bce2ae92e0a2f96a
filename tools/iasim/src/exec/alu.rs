// SPDX-License-Identifier: Apache-2.0
//! Arithmetic, logic, shifts, bit fields; HI and LO.

use crate::cpu::{Cpu, Done};
use crate::exception::code;
use crate::isa::Op;

/// Instructions whose only effect is the value of their destination.
macro_rules! values {
    ($($name:ident = |$c:ident, $o:ident| $value:expr;)*) => {
        $(pub fn $name($c: &mut Cpu, $o: Op) -> Done {
            let value = $value;
            $c.set($o, value);
            Ok(())
        })*
    };
}

values! {
    sll = |c, o| c.rt(o) << o.sa();
    srl = |c, o| c.rt(o) >> o.sa();
    rotr = |c, o| c.rt(o).rotate_right(o.sa());
    sra = |c, o| (c.rt(o) as i32 >> o.sa()) as u32;
    sllv = |c, o| c.rt(o) << (c.rs(o) & 31);
    srlv = |c, o| c.rt(o) >> (c.rs(o) & 31);
    rotrv = |c, o| c.rt(o).rotate_right(c.rs(o) & 31);
    srav = |c, o| (c.rt(o) as i32 >> (c.rs(o) & 31)) as u32;
    mfhi = |c, o| c.hi;
    mflo = |c, o| c.lo;
    addu = |c, o| c.rs(o).wrapping_add(c.rt(o));
    subu = |c, o| c.rs(o).wrapping_sub(c.rt(o));
    and = |c, o| c.rs(o) & c.rt(o);
    or = |c, o| c.rs(o) | c.rt(o);
    xor = |c, o| c.rs(o) ^ c.rt(o);
    nor = |c, o| !(c.rs(o) | c.rt(o));
    slt = |c, o| u32::from((c.rs(o) as i32) < c.rt(o) as i32);
    sltu = |c, o| u32::from(c.rs(o) < c.rt(o));
    addiu = |c, o| c.rs(o).wrapping_add(o.simm());
    slti = |c, o| u32::from((c.rs(o) as i32) < o.simm() as i32);
    sltiu = |c, o| u32::from(c.rs(o) < o.simm());
    andi = |c, o| c.rs(o) & o.uimm();
    ori = |c, o| c.rs(o) | o.uimm();
    xori = |c, o| c.rs(o) ^ o.uimm();
    lui = |c, o| o.uimm() << 16;
    mul = |c, o| c.rs(o).wrapping_mul(c.rt(o));
    clz = |c, o| c.rs(o).leading_zeros();
    clo = |c, o| c.rs(o).leading_ones();
    seb = |c, o| c.rt(o) as i8 as u32;
    seh = |c, o| c.rt(o) as i16 as u32;
    wsbh = |c, o| (c.rt(o) & 0x00FF_00FF) << 8 | c.rt(o) >> 8 & 0x00FF_00FF;
}

pub fn nop(_: &mut Cpu, _: Op) -> Done {
    Ok(())
}

pub fn movz(c: &mut Cpu, o: Op) -> Done {
    if c.rt(o) == 0 {
        c.set(o, c.rs(o));
    }
    Ok(())
}

pub fn movn(c: &mut Cpu, o: Op) -> Done {
    if c.rt(o) != 0 {
        c.set(o, c.rs(o));
    }
    Ok(())
}

/// Writes the sum; an overflow raises an exception and leaves the destination unchanged.
fn checked(c: &mut Cpu, o: Op, value: Option<i32>) -> Done {
    let value = value.ok_or_else(|| c.fault(code::OV))?;
    c.set(o, value as u32);
    Ok(())
}

pub fn add(c: &mut Cpu, o: Op) -> Done {
    let sum = (c.rs(o) as i32).checked_add(c.rt(o) as i32);
    checked(c, o, sum)
}

pub fn sub(c: &mut Cpu, o: Op) -> Done {
    let difference = (c.rs(o) as i32).checked_sub(c.rt(o) as i32);
    checked(c, o, difference)
}

pub fn addi(c: &mut Cpu, o: Op) -> Done {
    let sum = (c.rs(o) as i32).checked_add(o.simm() as i32);
    checked(c, o, sum)
}

pub fn mthi(c: &mut Cpu, o: Op) -> Done {
    c.hi = c.rs(o);
    Ok(())
}

pub fn mtlo(c: &mut Cpu, o: Op) -> Done {
    c.lo = c.rs(o);
    Ok(())
}

fn set_hilo(c: &mut Cpu, value: u64) -> Done {
    c.hi = (value >> 32) as u32;
    c.lo = value as u32;
    Ok(())
}

fn hilo(c: &Cpu) -> u64 {
    u64::from(c.hi) << 32 | u64::from(c.lo)
}

fn product(c: &Cpu, o: Op) -> u64 {
    (i64::from(c.rs(o) as i32) * i64::from(c.rt(o) as i32)) as u64
}

fn unsigned_product(c: &Cpu, o: Op) -> u64 {
    u64::from(c.rs(o)) * u64::from(c.rt(o))
}

pub fn mult(c: &mut Cpu, o: Op) -> Done {
    set_hilo(c, product(c, o))
}

pub fn multu(c: &mut Cpu, o: Op) -> Done {
    set_hilo(c, unsigned_product(c, o))
}

pub fn madd(c: &mut Cpu, o: Op) -> Done {
    set_hilo(c, hilo(c).wrapping_add(product(c, o)))
}

pub fn maddu(c: &mut Cpu, o: Op) -> Done {
    set_hilo(c, hilo(c).wrapping_add(unsigned_product(c, o)))
}

pub fn msub(c: &mut Cpu, o: Op) -> Done {
    set_hilo(c, hilo(c).wrapping_sub(product(c, o)))
}

pub fn msubu(c: &mut Cpu, o: Op) -> Done {
    set_hilo(c, hilo(c).wrapping_sub(unsigned_product(c, o)))
}

/// The result of a division by zero is undefined; here, as in QEMU, the divisor is taken as one.
pub fn div(c: &mut Cpu, o: Op) -> Done {
    let (a, b) = (c.rs(o) as i32, (c.rt(o) as i32));
    let b = if b == 0 { 1 } else { b };
    c.lo = a.wrapping_div(b) as u32;
    c.hi = a.wrapping_rem(b) as u32;
    Ok(())
}

pub fn divu(c: &mut Cpu, o: Op) -> Done {
    let (a, b) = (c.rs(o), c.rt(o).max(1));
    c.lo = a / b;
    c.hi = a % b;
    Ok(())
}

/// A mask of the lowest `size` bits, 1 to 32.
fn low_bits(size: u32) -> u32 {
    u32::MAX >> (32 - size)
}

/// The result of a field that extends beyond bit 31 is undefined; here the field is truncated.
pub fn ext(c: &mut Cpu, o: Op) -> Done {
    let value = c.rs(o) >> o.sa() & low_bits(o.field_rd() + 1);
    c.set(o, value);
    Ok(())
}

/// The result of a field with msb < lsb is undefined; here nothing is inserted.
pub fn ins(c: &mut Cpu, o: Op) -> Done {
    let (low, high) = (o.sa(), o.field_rd());
    if high >= low {
        let mask = low_bits(high - low + 1) << low;
        c.set(o, c.rt(o) & !mask | c.rs(o) << low & mask);
    }
    Ok(())
}
