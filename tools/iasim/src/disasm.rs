// SPDX-License-Identifier: Apache-2.0
//! Disassembler, based on the decoder's table; its output matches the GNU disassembler with
//! `no-aliases`.

use crate::cp0;
use crate::isa::{self, Form};

pub const REGS: [&str; 32] = [
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "s0", "s1", "s2",
    "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra",
];

struct Fields {
    word: u32,
    pc: u32,
}

impl Fields {
    fn bits(&self, low: u32, count: u32) -> u32 {
        self.word >> low & ((1 << count) - 1)
    }

    fn reg(&self, low: u32) -> &'static str {
        REGS[self.bits(low, 5) as usize]
    }

    fn rs(&self) -> &'static str {
        self.reg(21)
    }

    fn rt(&self) -> &'static str {
        self.reg(16)
    }

    fn rd(&self) -> &'static str {
        self.reg(11)
    }

    fn simm(&self) -> i16 {
        self.word as i16
    }

    fn branch_target(&self) -> u32 {
        self.pc.wrapping_add(4).wrapping_add((i32::from(self.simm()) << 2) as u32)
    }

    fn jump_target(&self) -> u32 {
        self.pc.wrapping_add(4) & 0xF000_0000 | self.bits(0, 26) << 2
    }

    /// Name of a CP0 register, or its number and select if it has no name.
    fn cp0(&self) -> String {
        let (number, select) = (self.bits(11, 5), self.bits(0, 3));
        match cp0::find((number * 8 + select) as usize) {
            Some(spec) => spec.name.to_string(),
            None => format!("${number},{select}"),
        }
    }

    fn bit_offset(&self) -> i32 {
        (self.word << 20) as i32 >> 20
    }
}

/// Text of the instruction at pc.
pub fn text(word: u32, pc: u32) -> String {
    let Some(row) = isa::find(word) else { return format!(".word 0x{word:08x}") };
    let operands = operands(row.form, &Fields { word, pc });
    if operands.is_empty() {
        return row.name.to_string();
    }
    format!("{} {operands}", row.name)
}

fn operands(form: Form, f: &Fields) -> String {
    register_operands(form, f).or_else(|| other_operands(form, f)).unwrap_or_default()
}

fn register_operands(form: Form, f: &Fields) -> Option<String> {
    let (rs, rt, rd) = (f.rs(), f.rt(), f.rd());
    Some(match form {
        Form::Three => format!("{rd},{rs},{rt}"),
        Form::Shift => format!("{rd},{rt},0x{:x}", f.bits(6, 5)),
        Form::ShiftBy => format!("{rd},{rt},{rs}"),
        Form::Two => format!("{rd},{rs}"),
        Form::Swap | Form::ShadowTo | Form::ShadowFrom => format!("{rd},{rt}"),
        Form::Pair => format!("{rs},{rt}"),
        Form::Trap if f.bits(6, 10) == 0 => format!("{rs},{rt}"),
        Form::Trap => format!("{rs},{rt},0x{:x}", f.bits(6, 10)),
        Form::To => rd.to_string(),
        Form::From => rs.to_string(),
        Form::LinkTo if f.bits(11, 5) == 31 => rs.to_string(),
        Form::LinkTo => format!("{rd},{rs}"),
        Form::Old if f.bits(16, 5) == 0 => String::new(),
        Form::Old => rt.to_string(),
        Form::HwReg => format!("{rt},${}", f.bits(11, 5)),
        _ => return None,
    })
}

fn other_operands(form: Form, f: &Fields) -> Option<String> {
    let (rs, rt) = (f.rs(), f.rt());
    Some(match form {
        Form::Signed => format!("{rt},{rs},{}", f.simm()),
        Form::Unsigned => format!("{rt},{rs},0x{:x}", f.bits(0, 16)),
        Form::Upper => format!("{rt},0x{:x}", f.bits(0, 16)),
        Form::TrapImm => format!("{rs},{}", f.simm()),
        Form::Branch2 => format!("{rs},{rt},0x{:x}", f.branch_target()),
        Form::Branch1 => format!("{rs},0x{:x}", f.branch_target()),
        Form::Jump => format!("0x{:x}", f.jump_target()),
        Form::Load | Form::Store | Form::StoreTest => format!("{rt},{}({rs})", f.simm()),
        Form::Hint => format!("0x{:x},{}({rs})", f.bits(16, 5), f.simm()),
        Form::Address => format!("{}({rs})", f.simm()),
        Form::Bit => format!("0x{:x},{}({rs})", f.bits(12, 3), f.bit_offset()),
        Form::Ext => format!("{rt},{rs},0x{:x},0x{:x}", f.bits(6, 5), f.bits(11, 5) + 1),
        Form::Ins => format!("{rt},{rs},0x{:x},0x{:x}", f.bits(6, 5), (f.bits(11, 5) + 1).wrapping_sub(f.bits(6, 5))),
        Form::Cp0To | Form::Cp0From => format!("{rt},{}", f.cp0()),
        Form::Break if f.bits(6, 10) != 0 => format!("0x{:x},0x{:x}", f.bits(16, 10), f.bits(6, 10)),
        Form::Break => code(f.bits(16, 10)),
        Form::Code20 => code(f.bits(6, 20)),
        Form::Code10 => code(f.bits(11, 10)),
        Form::Code5 => code(f.bits(6, 5)),
        _ => return None,
    })
}

/// A code operand, which is omitted if it is 0.
fn code(code: u32) -> String {
    if code == 0 {
        return String::new();
    }
    format!("0x{code:x}")
}
