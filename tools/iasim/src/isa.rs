// SPDX-License-Identifier: Apache-2.0
//! The MIPS32 instructions in one table, which decoder and disassembler share: encoding, operands,
//! executing function.

use crate::cpu::{Cpu, Done};
use crate::exec::{alu, branch, cop0, memory, system, vz};

/// A decoded instruction: two words, which are passed in registers.
#[derive(Clone, Copy)]
pub struct Op {
    pub run: fn(&mut Cpu, Op) -> Done,
    /// Bits 31:0: the word; above them the numbers of rs, rt, the destination, and the table row.
    fields: u64,
}

/// The GPR index that writes to register 0 are redirected to.
pub const SINK: u8 = 32;

/// Content of a code page's entries before their first execution.
pub const UNDECODED: Op = Op { run: system::undecoded, fields: u64::MAX };

impl Op {
    pub(crate) fn new(run: fn(&mut Cpu, Op) -> Done, word: u32, registers: [u8; 3], row: u8) -> Self {
        let [rs, rt, rd] = registers;
        let [b0, b1, b2, b3] = word.to_le_bytes();
        Op { run, fields: u64::from_le_bytes([b0, b1, b2, b3, rs, rt, rd, row]) }
    }

    pub fn word(self) -> u32 {
        self.fields as u32
    }

    pub fn rs(self) -> usize {
        (self.fields >> 32 & 63) as usize
    }

    pub fn rt(self) -> usize {
        (self.fields >> 40 & 63) as usize
    }

    /// The destination register; SINK if the instruction writes register 0 or none.
    pub fn rd(self) -> usize {
        (self.fields >> 48 & 63) as usize
    }

    /// Index into ROWS; ROWS.len() for a reserved instruction.
    pub fn row(self) -> usize {
        (self.fields >> 56) as usize
    }

    pub fn is_decoded(self) -> bool {
        self.fields != UNDECODED.fields
    }

    pub fn simm(self) -> u32 {
        self.word() as u16 as i16 as u32
    }

    pub fn uimm(self) -> u32 {
        self.word() & 0xFFFF
    }

    /// Bits 10:6: shift amount, position.
    pub fn sa(self) -> u32 {
        self.word() >> 6 & 31
    }

    /// Bits 15:11: destination, CP0 register, size.
    pub fn field_rd(self) -> u32 {
        self.word() >> 11 & 31
    }

    /// Bits 20:16.
    pub fn field_rt(self) -> u32 {
        self.word() >> 16 & 31
    }

    /// Index of a CP0 register.
    pub fn cp0(self) -> usize {
        (self.field_rd() * 8 + (self.word() & 7)) as usize
    }
}

/// Operands in the order of the assembler; also determines the destination register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// rd, rs, rt
    Three,
    /// rd, rt, sa
    Shift,
    /// rd, rt, rs
    ShiftBy,
    /// rd, rs (clz: rt repeats rd)
    Two,
    /// rd, rt
    Swap,
    /// rs, rt
    Pair,
    /// rs, rt and a code
    Trap,
    /// rd
    To,
    /// rs
    From,
    /// rd, rs; rd is omitted if it is ra
    LinkTo,
    /// rt, rs, signed
    Signed,
    /// rt, rs, unsigned
    Unsigned,
    /// rt, unsigned
    Upper,
    /// rs, signed
    TrapImm,
    /// rs, rt, target
    Branch2,
    /// rs, target
    Branch1,
    /// target of 26 bits
    Jump,
    /// rt, offset(rs): rt is written
    Load,
    /// rt, offset(rs): rt is read
    Store,
    /// rt, offset(rs): rt is read and written
    StoreTest,
    /// hint or operation, offset(rs)
    Hint,
    /// offset(rs)
    Address,
    /// bit, 12-bit offset(rs)
    Bit,
    /// rt, rs, pos, size
    Ext,
    /// rt, rs, pos, size; encoded as pos and msb
    Ins,
    /// rt, hardware register
    HwReg,
    /// rt, CP0 register: rt is written
    Cp0To,
    /// rt, CP0 register: rt is read
    Cp0From,
    /// rt, which is written; omitted if it is zero
    Old,
    /// rd, rt; one of them in the previous shadow set
    ShadowTo,
    ShadowFrom,
    /// two 10-bit codes
    Break,
    /// codes of 20, 10 and 5 bits
    Code20,
    Code10,
    Code5,
    None,
}

pub struct Row {
    pub name: &'static str,
    pub mask: u32,
    pub bits: u32,
    pub form: Form,
    pub run: fn(&mut Cpu, Op) -> Done,
}

const fn row(name: &'static str, mask: u32, bits: u32, form: Form, run: fn(&mut Cpu, Op) -> Done) -> Row {
    Row { name, mask, bits, form, run }
}

/// Mask of the major opcode.
const MAJOR: u32 = 0xFC00_0000;
const fn major(opcode: u32) -> u32 {
    opcode << 26
}

const fn regimm(code: u32) -> u32 {
    major(1) | code << 16
}
const REGIMM: u32 = 0xFC1F_0000;

/// SPECIAL2 and SPECIAL3 have their function in bits 5:0, as SPECIAL (0) has.
const fn special2(function: u32) -> u32 {
    major(0x1C) | function
}
const fn special3(function: u32) -> u32 {
    major(0x1F) | function
}
const FUNCTION: u32 = 0xFC00_003F;
/// Masks of functions that require zero in their unused fields.
const THREE: u32 = 0xFC00_07FF;
const SHIFT: u32 = 0xFFE0_003F;
const PAIR: u32 = 0xFC00_FFFF;
const TO: u32 = 0xFFFF_07FF;
const FROM: u32 = 0xFC1F_FFFF;
const BSHFL: u32 = 0xFFE0_07FF;

const fn cop0(rs: u32) -> u32 {
    major(0x10) | rs << 21
}
const CP0_MOVE: u32 = 0xFFE0_07F8;
const fn co(function: u32) -> u32 {
    major(0x10) | 1 << 25 | function
}
const CO: u32 = ALL;
const CO_CODE: u32 = 0xFE00_003F;
const ALL: u32 = 0xFFFF_FFFF;

use Form::*;

/// The first row that matches is used; special cases precede general ones.
pub static ROWS: &[Row] = &[
    row("nop", ALL, 0, None, alu::nop),
    row("ssnop", ALL, 0x40, None, alu::nop),
    row("ehb", ALL, 0xC0, None, alu::nop),
    row("pause", ALL, 0x140, None, alu::nop),
    row("sll", SHIFT, 0x00, Shift, alu::sll),
    row("srl", SHIFT, 0x02, Shift, alu::srl),
    row("rotr", SHIFT, 0x0020_0002, Shift, alu::rotr),
    row("sra", SHIFT, 0x03, Shift, alu::sra),
    row("sllv", THREE, 0x04, ShiftBy, alu::sllv),
    row("srlv", THREE, 0x06, ShiftBy, alu::srlv),
    row("rotrv", THREE, 0x46, ShiftBy, alu::rotrv),
    row("srav", THREE, 0x07, ShiftBy, alu::srav),
    row("jr", FROM, 0x08, From, branch::jr),
    row("jr.hb", FROM, 0x408, From, branch::jr),
    row("jalr", 0xFC1F_07FF, 0x09, LinkTo, branch::jalr),
    row("jalr.hb", 0xFC1F_07FF, 0x409, LinkTo, branch::jalr),
    row("movz", THREE, 0x0A, Three, alu::movz),
    row("movn", THREE, 0x0B, Three, alu::movn),
    row("movf", 0xFC03_07FF, 0x01, None, system::cop1),
    row("movt", 0xFC03_07FF, 0x0001_0001, None, system::cop1),
    row("syscall", FUNCTION, 0x0C, Code20, system::syscall),
    row("break", FUNCTION, 0x0D, Break, system::breakpoint),
    row("sync", 0xFFFF_F83F, 0x0F, Code5, alu::nop),
    row("mfhi", TO, 0x10, To, alu::mfhi),
    row("mthi", FROM, 0x11, From, alu::mthi),
    row("mflo", TO, 0x12, To, alu::mflo),
    row("mtlo", FROM, 0x13, From, alu::mtlo),
    row("mult", PAIR, 0x18, Pair, alu::mult),
    row("multu", PAIR, 0x19, Pair, alu::multu),
    row("div", PAIR, 0x1A, Pair, alu::div),
    row("divu", PAIR, 0x1B, Pair, alu::divu),
    row("add", THREE, 0x20, Three, alu::add),
    row("addu", THREE, 0x21, Three, alu::addu),
    row("sub", THREE, 0x22, Three, alu::sub),
    row("subu", THREE, 0x23, Three, alu::subu),
    row("and", THREE, 0x24, Three, alu::and),
    row("or", THREE, 0x25, Three, alu::or),
    row("xor", THREE, 0x26, Three, alu::xor),
    row("nor", THREE, 0x27, Three, alu::nor),
    row("slt", THREE, 0x2A, Three, alu::slt),
    row("sltu", THREE, 0x2B, Three, alu::sltu),
    row("tge", FUNCTION, 0x30, Trap, system::tge),
    row("tgeu", FUNCTION, 0x31, Trap, system::tgeu),
    row("tlt", FUNCTION, 0x32, Trap, system::tlt),
    row("tltu", FUNCTION, 0x33, Trap, system::tltu),
    row("teq", FUNCTION, 0x34, Trap, system::teq),
    row("tne", FUNCTION, 0x36, Trap, system::tne),
    row("bltz", REGIMM, regimm(0x00), Branch1, branch::bltz),
    row("bgez", REGIMM, regimm(0x01), Branch1, branch::bgez),
    row("bltzl", REGIMM, regimm(0x02), Branch1, branch::bltzl),
    row("bgezl", REGIMM, regimm(0x03), Branch1, branch::bgezl),
    row("aclr", REGIMM | 0x8000, regimm(0x07), Bit, memory::aclr),
    row("aset", REGIMM | 0x8000, regimm(0x07) | 0x8000, Bit, memory::aset),
    row("tgei", REGIMM, regimm(0x08), TrapImm, system::tgei),
    row("tgeiu", REGIMM, regimm(0x09), TrapImm, system::tgeiu),
    row("tlti", REGIMM, regimm(0x0A), TrapImm, system::tlti),
    row("tltiu", REGIMM, regimm(0x0B), TrapImm, system::tltiu),
    row("teqi", REGIMM, regimm(0x0C), TrapImm, system::teqi),
    row("tnei", REGIMM, regimm(0x0E), TrapImm, system::tnei),
    row("bltzal", REGIMM, regimm(0x10), Branch1, branch::bltzal),
    row("bgezal", REGIMM, regimm(0x11), Branch1, branch::bgezal),
    row("bltzall", REGIMM, regimm(0x12), Branch1, branch::bltzall),
    row("bgezall", REGIMM, regimm(0x13), Branch1, branch::bgezall),
    row("synci", REGIMM, regimm(0x1F), Address, memory::synci),
    row("j", MAJOR, major(0x02), Jump, branch::j),
    row("jal", MAJOR, major(0x03), Jump, branch::jal),
    row("beq", MAJOR, major(0x04), Branch2, branch::beq),
    row("bne", MAJOR, major(0x05), Branch2, branch::bne),
    row("blez", REGIMM, major(0x06), Branch1, branch::blez),
    row("bgtz", REGIMM, major(0x07), Branch1, branch::bgtz),
    row("addi", MAJOR, major(0x08), Signed, alu::addi),
    row("addiu", MAJOR, major(0x09), Signed, alu::addiu),
    row("slti", MAJOR, major(0x0A), Signed, alu::slti),
    row("sltiu", 0xFFFF_0000, major(0x0B), Signed, system::marker),
    row("sltiu", MAJOR, major(0x0B), Signed, alu::sltiu),
    row("andi", MAJOR, major(0x0C), Unsigned, alu::andi),
    row("ori", MAJOR, major(0x0D), Unsigned, alu::ori),
    row("xori", MAJOR, major(0x0E), Unsigned, alu::xori),
    row("lui", 0xFFE0_0000, major(0x0F), Upper, alu::lui),
    row("mfc0", CP0_MOVE, cop0(0x00), Cp0To, cop0::mfc0),
    row("mfhc0", CP0_MOVE, cop0(0x02), Cp0To, cop0::absent),
    row("mtc0", CP0_MOVE, cop0(0x04), Cp0From, cop0::mtc0),
    row("mthc0", CP0_MOVE, cop0(0x06), Cp0From, cop0::absent),
    row("mfgc0", CP0_MOVE, cop0(0x03), Cp0To, vz::mfgc0),
    row("mtgc0", CP0_MOVE, cop0(0x03) | 0x200, Cp0From, vz::mtgc0),
    row("mfhgc0", CP0_MOVE, cop0(0x03) | 0x400, Cp0To, cop0::absent),
    row("mthgc0", CP0_MOVE, cop0(0x03) | 0x600, Cp0From, cop0::absent),
    row("rdpgpr", BSHFL, cop0(0x0A), ShadowTo, cop0::rdpgpr),
    row("wrpgpr", BSHFL, cop0(0x0E), ShadowFrom, cop0::wrpgpr),
    row("di", 0xFFE0_FFFF, cop0(0x0B) | 0x6000, Old, cop0::di),
    row("ei", 0xFFE0_FFFF, cop0(0x0B) | 0x6020, Old, cop0::ei),
    row("tlbr", CO, co(0x01), None, cop0::tlbr),
    row("tlbwi", CO, co(0x02), None, cop0::tlbwi),
    row("tlbinv", CO, co(0x03), None, cop0::tlbinv),
    row("tlbinvf", CO, co(0x04), None, cop0::tlbinvf),
    row("tlbwr", CO, co(0x06), None, cop0::tlbwr),
    row("tlbp", CO, co(0x08), None, cop0::tlbp),
    row("tlbgr", CO, co(0x09), None, vz::tlbgr),
    row("tlbgwi", CO, co(0x0A), None, vz::tlbgwi),
    row("tlbginv", CO, co(0x0B), None, vz::tlbginv),
    row("tlbginvf", CO, co(0x0C), None, vz::tlbginvf),
    row("tlbgwr", CO, co(0x0E), None, vz::tlbgwr),
    row("tlbgp", CO, co(0x10), None, vz::tlbgp),
    row("eret", CO, co(0x18), None, cop0::eret),
    row("eretnc", CO, co(0x58), None, cop0::eretnc),
    row("deret", CO, co(0x1F), None, cop0::deret),
    row("wait", CO_CODE, co(0x20), None, cop0::wait),
    row("hypcall", 0xFFE0_07FF, co(0x28), Code10, vz::hypcall),
    row("iret", CO, co(0x38), None, cop0::eret),
    row("beql", MAJOR, major(0x14), Branch2, branch::beql),
    row("bnel", MAJOR, major(0x15), Branch2, branch::bnel),
    row("blezl", REGIMM, major(0x16), Branch1, branch::blezl),
    row("bgtzl", REGIMM, major(0x17), Branch1, branch::bgtzl),
    row("madd", PAIR, special2(0x00), Pair, alu::madd),
    row("maddu", PAIR, special2(0x01), Pair, alu::maddu),
    row("mul", THREE, special2(0x02), Three, alu::mul),
    row("msub", PAIR, special2(0x04), Pair, alu::msub),
    row("msubu", PAIR, special2(0x05), Pair, alu::msubu),
    row("clz", THREE, special2(0x20), Two, alu::clz),
    row("clo", THREE, special2(0x21), Two, alu::clo),
    row("sdbbp", FUNCTION, special2(0x3F), Code20, system::sdbbp),
    row("jalx", MAJOR, major(0x1D), Jump, branch::jalx),
    row("ext", FUNCTION, special3(0x00), Ext, alu::ext),
    row("ins", FUNCTION, special3(0x04), Ins, alu::ins),
    row("wsbh", BSHFL, special3(0x20) | 0x02 << 6, Swap, alu::wsbh),
    row("seb", BSHFL, special3(0x20) | 0x10 << 6, Swap, alu::seb),
    row("seh", BSHFL, special3(0x20) | 0x18 << 6, Swap, alu::seh),
    row("rdhwr", BSHFL, special3(0x3B), HwReg, system::rdhwr),
    row("lb", MAJOR, major(0x20), Load, memory::lb),
    row("lh", MAJOR, major(0x21), Load, memory::lh),
    row("lwl", MAJOR, major(0x22), Load, memory::lwl),
    row("lw", MAJOR, major(0x23), Load, memory::lw),
    row("lbu", MAJOR, major(0x24), Load, memory::lbu),
    row("lhu", MAJOR, major(0x25), Load, memory::lhu),
    row("lwr", MAJOR, major(0x26), Load, memory::lwr),
    row("sb", MAJOR, major(0x28), Store, memory::sb),
    row("sh", MAJOR, major(0x29), Store, memory::sh),
    row("swl", MAJOR, major(0x2A), Store, memory::swl),
    row("sw", MAJOR, major(0x2B), Store, memory::sw),
    row("swr", MAJOR, major(0x2E), Store, memory::swr),
    row("cache", MAJOR, major(0x2F), Hint, memory::cache),
    row("ll", MAJOR, major(0x30), Load, memory::ll),
    row("pref", MAJOR, major(0x33), Hint, alu::nop),
    row("sc", MAJOR, major(0x38), StoreTest, memory::sc),
    row("cop1", MAJOR, major(0x11), None, system::cop1),
    row("cop2", MAJOR, major(0x12), None, system::cop2),
    row("cop1x", MAJOR, major(0x13), None, system::cop1),
    row("lwc1", MAJOR, major(0x31), None, system::cop1),
    row("lwc2", MAJOR, major(0x32), None, system::cop2),
    row("ldc1", MAJOR, major(0x35), None, system::cop1),
    row("ldc2", MAJOR, major(0x36), None, system::cop2),
    row("swc1", MAJOR, major(0x39), None, system::cop1),
    row("swc2", MAJOR, major(0x3A), None, system::cop2),
    row("sdc1", MAJOR, major(0x3D), None, system::cop1),
    row("sdc2", MAJOR, major(0x3E), None, system::cop2),
];

/// The destination register's number.
fn destination(form: Form, word: u32) -> u32 {
    let (rt, rd) = (word >> 16 & 31, word >> 11 & 31);
    match form {
        Three | Shift | ShiftBy | Two | Swap | To | LinkTo | ShadowTo | ShadowFrom => rd,
        Signed | Unsigned | Upper | Load | StoreTest | Form::Ext | Form::Ins | HwReg | Cp0To | Old => rt,
        _ => 0,
    }
}

pub fn decode(word: u32) -> Op {
    let row = ROWS.iter().position(|row| word & row.mask == row.bits);
    let (run, form) = row.map_or((system::reserved as fn(&mut Cpu, Op) -> Done, None), |n| (ROWS[n].run, ROWS[n].form));
    let rd = match destination(form, word) as u8 {
        0 => SINK,
        rd => rd,
    };
    let (rs, rt) = ((word >> 21 & 31) as u8, (word >> 16 & 31) as u8);
    Op::new(run, word, [rs, rt, rd], row.unwrap_or(ROWS.len()) as u8)
}

/// The instruction's row; None: reserved.
pub fn find(word: u32) -> Option<&'static Row> {
    ROWS.iter().find(|row| word & row.mask == row.bits)
}
