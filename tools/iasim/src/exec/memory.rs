// SPDX-License-Identifier: Apache-2.0
//! Loads, stores and other instructions with an address.

use crate::cp0::{self, guestctl0, guestctl0ext};
use crate::cpu::{Cpu, Done};
use crate::exception::{gexc, Fault};
use crate::exec::cop0::privileged;
use crate::isa::Op;
use crate::mmu::Access;

#[inline(always)]
fn address(c: &Cpu, o: Op) -> u32 {
    c.rs(o).wrapping_add(o.simm())
}

macro_rules! loads {
    ($($name:ident: $size:literal, $kind:ty;)*) => {
        $(pub fn $name(c: &mut Cpu, o: Op) -> Done {
            let value = c.load::<$size>(address(c, o))?;
            c.set(o, value as $kind as u32);
            Ok(())
        })*
    };
}

loads! {
    lb: 1, i8;
    lbu: 1, u8;
    lh: 2, i16;
    lhu: 2, u16;
    lw: 4, u32;
}

macro_rules! stores {
    ($($name:ident: $size:literal;)*) => {
        $(pub fn $name(c: &mut Cpu, o: Op) -> Done {
            c.store::<$size>(address(c, o), c.rt(o))
        })*
    };
}

stores! {
    sb: 1;
    sh: 2;
    sw: 4;
}

/// Replaces the word's address in a fault by the address of the byte that was accessed.
fn exactly(va: u32) -> impl Fn(Box<Fault>) -> Box<Fault> {
    move |fault| Box::new(Fault { addr: fault.addr.map(|addr| addr & !3 | va & 3), ..*fault })
}

pub fn lwl(c: &mut Cpu, o: Op) -> Done {
    let va = address(c, o);
    let word = c.load::<4>(va & !3).map_err(exactly(va))?;
    let shift = 24 - 8 * (va & 3);
    c.set(o, word << shift | c.rt(o) & ((1 << shift) - 1));
    Ok(())
}

pub fn lwr(c: &mut Cpu, o: Op) -> Done {
    let va = address(c, o);
    let word = c.load::<4>(va & !3).map_err(exactly(va))?;
    let shift = 8 * (va & 3);
    c.set(o, word >> shift | c.rt(o) & !(u32::MAX >> shift));
    Ok(())
}

/// Stores from the addressed byte down to the start of its word, so that a fault reports the
/// addressed byte.
pub fn swl(c: &mut Cpu, o: Op) -> Done {
    let va = address(c, o);
    let bytes = (c.rt(o) >> (24 - 8 * (va & 3))).to_le_bytes();
    (0..=va & 3).rev().try_for_each(|n| c.store::<1>(va & !3 | n, bytes[n as usize].into()))
}

/// Stores from the addressed byte up to the end of its word.
pub fn swr(c: &mut Cpu, o: Op) -> Done {
    let va = address(c, o);
    let bytes = (c.rt(o) << (8 * (va & 3))).to_le_bytes();
    (va & 3..4).try_for_each(|n| c.store::<1>(va & !3 | n, bytes[n as usize].into()))
}

pub fn ll(c: &mut Cpu, o: Op) -> Done {
    let va = address(c, o);
    let value = c.load::<4>(va)?;
    let pa = c.translate(va, Access::Read)?;
    let context = c.mode.context();
    c.llbit[context as usize] = true;
    c.cp0_mut(context)[cp0::LLADDR] = pa >> 5;
    c.set(o, value);
    Ok(())
}

/// LLbit alone decides: no other core or device stores to memory.
pub fn sc(c: &mut Cpu, o: Op) -> Done {
    let va = address(c, o);
    let linked = c.llbit[c.mode.context() as usize];
    if linked {
        c.store::<4>(va, c.rt(o))?;
    } else {
        c.aligned::<4>(va, Access::Write)?;
    }
    c.set(o, linked.into());
    Ok(())
}

/// Changes a bit of a byte for ASET and ACLR, whose offset has 12 bits.
fn change_bit(c: &mut Cpu, o: Op, change: fn(u32, u32) -> u32) -> Done {
    let va = c.rs(o).wrapping_add(((o.word() << 20) as i32 >> 20) as u32);
    let old = c.load::<1>(va)?;
    c.store::<1>(va, change(old, 1 << (o.word() >> 12 & 7)))
}

pub fn aset(c: &mut Cpu, o: Op) -> Done {
    change_bit(c, o, |old, bit| old | bit)
}

pub fn aclr(c: &mut Cpu, o: Op) -> Done {
    change_bit(c, o, |old, bit| old & !bit)
}

/// There are no caches: only the permission and the address of the operation are checked.
pub fn cache(c: &mut Cpu, o: Op) -> Done {
    privileged(c)?;
    let operation = o.field_rt() >> 2;
    if c.mode.is_guest() && !guest_may(c, operation) {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    if operation >= 4 {
        c.translate(address(c, o), Access::Read)?;
    }
    Ok(())
}

/// GuestCtl0.CG permits operations on an address; with GuestCtl0Ext.CGI, invalidation by index,
/// too.
fn guest_may(c: &Cpu, operation: u32) -> bool {
    let by_index = operation == 0 && c.root.has(cp0::GUESTCTL0EXT, guestctl0ext::CGI);
    c.root.has(cp0::GUESTCTL0, guestctl0::CG) && (operation >= 4 || by_index)
}

pub fn synci(c: &mut Cpu, o: Op) -> Done {
    if c.mode.is_guest() && c.model.synci_gpsi {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    c.translate(address(c, o), Access::Read).map(|_| ())
}
