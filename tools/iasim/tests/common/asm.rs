// SPDX-License-Identifier: Apache-2.0
//! A small assembler for tests: one instruction per line, labels, numbers. Encodings come from the
//! decoder's table, which tests/encodings.rs compares with the GNU disassembler.

use std::collections::HashMap;

use iasim::cp0;
use iasim::disasm::REGS;
use iasim::isa::{Form, Row, ROWS};

fn register(text: &str) -> u32 {
    let name = text.trim_start_matches('$');
    let found = REGS.iter().position(|reg| *reg == name).or_else(|| name.parse().ok());
    found.unwrap_or_else(|| panic!("no register {text}")) as u32
}

fn cp0_register(text: &str) -> u32 {
    let spec = cp0::SPECS.iter().find(|spec| spec.name == text).unwrap_or_else(|| panic!("no CP0 register {text}"));
    ((spec.reg as u32 / 8) << 11) | (spec.reg as u32 % 8)
}

fn number(text: &str) -> u32 {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    (sign * value.unwrap_or_else(|_| panic!("no number {text}"))) as u32
}

/// `offset(base)`, with an offset of `bits` bits.
fn memory(text: &str, bits: u32) -> u32 {
    let (offset, base) = text.trim_end_matches(')').split_once('(').unwrap_or_else(|| panic!("no address {text}"));
    register(base) << 21 | number(if offset.is_empty() { "0" } else { offset }) & ((1 << bits) - 1)
}

struct Line<'a> {
    args: Vec<&'a str>,
    pc: u32,
    labels: &'a HashMap<String, u32>,
}

impl Line<'_> {
    fn reg(&self, n: usize, low: u32) -> u32 {
        register(self.args[n]) << low
    }

    fn target(&self, n: usize) -> u32 {
        self.labels.get(self.args[n]).copied().unwrap_or_else(|| number(self.args[n]))
    }

    fn branch(&self, n: usize) -> u32 {
        self.target(n).wrapping_sub(self.pc + 4) >> 2 & 0xFFFF
    }

    fn imm(&self, n: usize) -> u32 {
        number(self.args[n]) & 0xFFFF
    }

    fn code(&self, n: usize, low: u32) -> u32 {
        self.args.get(n).map_or(0, |code| number(code) << low)
    }

    fn fields(&self, form: Form) -> u32 {
        let (rs, rt, rd) = (21, 16, 11);
        match form {
            Form::Three => self.reg(0, rd) | self.reg(1, rs) | self.reg(2, rt),
            Form::Shift => self.reg(0, rd) | self.reg(1, rt) | self.code(2, 6),
            Form::ShiftBy => self.reg(0, rd) | self.reg(1, rt) | self.reg(2, rs),
            Form::Two => self.reg(0, rd) | self.reg(0, rt) | self.reg(1, rs),
            Form::Swap | Form::ShadowTo | Form::ShadowFrom => self.reg(0, rd) | self.reg(1, rt),
            Form::Pair | Form::Trap => self.reg(0, rs) | self.reg(1, rt) | self.code(2, 6),
            Form::To => self.reg(0, rd),
            Form::From => self.reg(0, rs),
            Form::LinkTo if self.args.len() == 1 => 31 << rd | self.reg(0, rs),
            Form::LinkTo => self.reg(0, rd) | self.reg(1, rs),
            Form::Signed | Form::Unsigned => self.reg(0, rt) | self.reg(1, rs) | self.imm(2),
            Form::Upper => self.reg(0, rt) | self.imm(1),
            Form::TrapImm => self.reg(0, rs) | self.imm(1),
            Form::Branch2 => self.reg(0, rs) | self.reg(1, rt) | self.branch(2),
            Form::Branch1 => self.reg(0, rs) | self.branch(1),
            Form::Jump => self.target(0) >> 2 & 0x03FF_FFFF,
            Form::Load | Form::Store | Form::StoreTest => self.reg(0, rt) | memory(self.args[1], 16),
            Form::Hint => self.code(0, rt) | memory(self.args[1], 16),
            Form::Address => memory(self.args[0], 16),
            Form::Bit => self.code(0, 12) | memory(self.args[1], 12),
            Form::Ext => self.reg(0, rt) | self.reg(1, rs) | self.code(2, 6) | (number(self.args[3]) - 1) << 11,
            Form::Ins => {
                let high = number(self.args[2]) + number(self.args[3]) - 1;
                self.reg(0, rt) | self.reg(1, rs) | self.code(2, 6) | high << 11
            }
            Form::HwReg => self.reg(0, rt) | self.reg(1, rd),
            Form::Cp0To | Form::Cp0From => self.reg(0, rt) | cp0_register(self.args[1]),
            Form::Old => self.args.first().map_or(0, |_| self.reg(0, rt)),
            Form::Break => self.code(0, 16) | self.code(1, 6),
            Form::Code20 | Form::Code5 => self.code(0, 6),
            Form::Code10 => self.code(0, 11),
            Form::None => 0,
        }
    }
}

fn row(name: &str) -> &'static Row {
    // Rows with fixed fields, such as markers, precede the general row, which is the last.
    ROWS.iter().rfind(|row| row.name == name).unwrap_or_else(|| panic!("no instruction {name}"))
}

/// Lines without comments and labels, with `li` (always two words) and `.word` expanded.
fn expand(text: &str, at: u32) -> (Vec<String>, HashMap<String, u32>) {
    let mut lines = Vec::new();
    let mut labels = HashMap::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).filter(|line| !line.is_empty()) {
        if let Some(label) = line.strip_suffix(':') {
            labels.insert(label.to_string(), at + 4 * lines.len() as u32);
        } else if let Some(rest) = line.strip_prefix("li ") {
            let (reg, value) = rest.split_once(',').expect("li reg, value");
            let value = number(value.trim());
            lines.push(format!("lui {reg}, {}", value >> 16));
            lines.push(format!("ori {reg}, {reg}, {}", value & 0xFFFF));
        } else {
            lines.push(line.to_string());
        }
    }
    (lines, labels)
}

/// Assembles code for an address.
pub fn assemble(text: &str, at: u32) -> Vec<u32> {
    let (lines, labels) = expand(text, at);
    let one = |(n, line): (usize, &String)| {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let args: Vec<&str> = rest.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
        if name == ".word" {
            return number(args[0]);
        }
        let row = row(name);
        row.bits | Line { args, pc: at + 4 * n as u32, labels: &labels }.fields(row.form)
    };
    lines.iter().enumerate().map(one).collect()
}
