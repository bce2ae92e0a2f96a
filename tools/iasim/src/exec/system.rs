// SPDX-License-Identifier: Apache-2.0
//! Traps, system calls, breakpoints, hardware registers, and reserved or unimplemented
//! instructions.

use crate::cp0::{self, guestctl0, status};
use crate::cpu::{Context, Cpu, Done, Stop};
use crate::exception::{code, gexc, Fault};
use crate::isa::{self, Op};

/// Runs at the first execution of a word: decodes the word, then executes the decoded form.
#[cold]
pub fn undecoded(c: &mut Cpu, _: Op) -> Done {
    c.npc = c.pc;
    c.pc = c.cur_pc;
    c.branch = c.slot;
    c.diverted = true;
    c.now -= 1;
    c.decode_at_pc();
    Ok(())
}

/// A guest's reserved instruction raises RI in the guest, or exits to the root with GuestCtl0.RI.
pub fn reserved(c: &mut Cpu, _: Op) -> Done {
    if c.mode.is_guest() && c.root.has(cp0::GUESTCTL0, guestctl0::RI) {
        return Err(Fault::guest_exit(gexc::GRR));
    }
    Err(c.fault(code::RI))
}

/// Stops before an instruction that the real part implements and this simulator does not.
fn unimplemented(c: &mut Cpu, o: Op, what: &str) -> Done {
    if !c.model.stop_unimplemented {
        return reserved(c, o);
    }
    let (word, text) = c.disassemble(o, c.cur_pc);
    let text = format!("{what}: {text} (0x{word:08x}) at 0x{:08x}", c.cur_pc);
    c.npc = c.pc;
    c.pc = c.cur_pc;
    c.branch = c.slot;
    c.now -= 1;
    c.halt(Stop::Unimplemented(text));
    Ok(())
}

/// Checks the Status of the current context, then the root's.
fn usable(c: &Cpu, unit: u32) -> Done {
    let bit = status::CU0 << unit;
    if !c.cp0(c.mode.context()).has(cp0::STATUS, bit) {
        return Err(Fault::unusable(c.mode.context(), unit));
    }
    if !c.root.has(cp0::STATUS, bit) {
        return Err(Fault::unusable(Context::Root, unit));
    }
    Ok(())
}

pub fn cop1(c: &mut Cpu, o: Op) -> Done {
    usable(c, 1)?;
    unimplemented(c, o, "the FPU is not implemented")
}

pub fn cop2(c: &mut Cpu, o: Op) -> Done {
    usable(c, 2)?;
    reserved(c, o)
}

pub fn syscall(c: &mut Cpu, _: Op) -> Done {
    Err(c.fault(code::SYS))
}

pub fn breakpoint(c: &mut Cpu, _: Op) -> Done {
    Err(c.fault(code::BP))
}

macro_rules! traps {
    ($($name:ident, $immediate:ident = |$a:ident: $kind:ty, $b:ident| $condition:expr;)*) => {
        $(pub fn $name(c: &mut Cpu, o: Op) -> Done {
            let ($a, $b) = (c.rs(o) as $kind, c.rt(o) as $kind);
            trap(c, $condition)
        }

        pub fn $immediate(c: &mut Cpu, o: Op) -> Done {
            let ($a, $b) = (c.rs(o) as $kind, o.simm() as $kind);
            trap(c, $condition)
        })*
    };
}

fn trap(c: &Cpu, condition: bool) -> Done {
    if condition {
        return Err(c.fault(code::TR));
    }
    Ok(())
}

traps! {
    tge, tgei = |a: i32, b| a >= b;
    tgeu, tgeiu = |a: u32, b| a >= b;
    tlt, tlti = |a: i32, b| a < b;
    tltu, tltiu = |a: u32, b| a < b;
    teq, teqi = |a: u32, b| a == b;
    tne, tnei = |a: u32, b| a != b;
}

/// `sltiu $0, $0, n` has no effect on any machine; here it is marker n, between which instructions
/// are counted.
pub fn marker(c: &mut Cpu, o: Op) -> Done {
    c.stats.account(c.instructions());
    c.stats.mark(o.uimm());
    Ok(())
}

/// Code 1 in the root is a semihosting call (MIPS UHI); other codes are debug exceptions.
pub fn sdbbp(c: &mut Cpu, o: Op) -> Done {
    if o.word() >> 6 & 0xF_FFFF == 1 && !c.mode.is_guest() {
        return crate::semihosting::call(c);
    }
    Err(Box::new(Fault { debug: true, ..Fault::new(Context::Root, code::BP) }))
}

const HW_COUNT: u32 = 2;

pub fn rdhwr(c: &mut Cpu, o: Op) -> Done {
    let (context, number) = (c.mode.context(), o.field_rd());
    let cp0 = c.cp0(context);
    let allowed = c.mode.is_kernel() || cp0.has(cp0::STATUS, status::CU0) || cp0.has(cp0::HWRENA, 1 << number);
    let there = matches!(number, 0..=3 | 29);
    if !allowed || !there {
        return reserved(c, o);
    }
    let counts = c.root.has(cp0::GUESTCTL0, guestctl0::GT);
    if context == Context::Guest && number == HW_COUNT && !counts {
        return Err(Fault::guest_exit(gexc::GPSI));
    }
    let value = match number {
        0 => c.cp0(context)[cp0::EBASE] & 0x3FF,
        1 => 16,
        HW_COUNT => c.count(context),
        3 => c.model.count_divider as u32,
        _ => c.cp0(context)[cp0::USERLOCAL],
    };
    c.set(o, value);
    Ok(())
}

impl Cpu {
    /// Decodes the word at pc, which is in the current page.
    pub fn decode_at_pc(&mut self) {
        let word = self.word_at_pc();
        self.cache_decoded(isa::decode(word));
    }
}
