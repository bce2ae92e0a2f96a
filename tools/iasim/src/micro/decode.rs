// SPDX-License-Identifier: Apache-2.0
//! The instructions of microMIPS32 in two tables, those of 16 and those of 32 bits: each becomes a MIPS32 instruction, or
//! has something of its own that executes it.

use super::exec;
use crate::cpu::{Cpu, Done};
use crate::disasm::REGS;
use crate::exec::system;
use crate::isa::{self, Op, ROWS, SINK};

type Run = fn(&mut Cpu, Op) -> Done;
/// The registers rs, rt, and the one that is written.
type Registers = [u8; 3];
/// The operands as text, from the instruction's bits and its address.
pub type Operands = fn(u32, u32) -> String;

enum To {
    /// A MIPS32 instruction with these bits; the fields' places.
    Twin(u32, fn(u32) -> u32),
    Own(Run, fn(u32) -> Registers, Operands),
}

struct Row {
    name: &'static str,
    mask: u32,
    bits: u32,
    to: To,
}

const fn twin(mask: u32, bits: u32, to: u32, fields: fn(u32) -> u32) -> Row {
    Row { name: "", mask, bits, to: To::Twin(to, fields) }
}

const fn own(name: &'static str, code: (u32, u32), run: Run, registers: fn(u32) -> Registers, text: Operands) -> Row {
    Row { name, mask: code.0, bits: code.1, to: To::Own(run, registers, text) }
}

// The fields of 32 bits, and where MIPS32 has them.
fn a(w: u32) -> u32 {
    w >> 21 & 31
}
fn b(w: u32) -> u32 {
    w >> 16 & 31
}
fn d(w: u32) -> u32 {
    w >> 11 & 31
}
fn place(rs: u32, rt: u32, rd: u32) -> u32 {
    rs << 21 | rt << 16 | rd << 11
}

fn three(w: u32) -> u32 {
    place(b(w), a(w), d(w))
}
fn shift(w: u32) -> u32 {
    place(0, b(w), a(w)) | d(w) << 6
}
fn field(w: u32) -> u32 {
    place(b(w), a(w), 0) | w & 0xFFC0
}
fn trap(w: u32) -> u32 {
    place(b(w), a(w), 0) | (w >> 12 & 15) << 6
}
fn pair(w: u32) -> u32 {
    place(b(w), a(w), 0)
}
fn swap(w: u32) -> u32 {
    place(0, b(w), a(w))
}
fn two(w: u32) -> u32 {
    place(b(w), a(w), a(w))
}
fn hardware(w: u32) -> u32 {
    place(0, a(w), b(w))
}
fn control(w: u32) -> u32 {
    place(0, a(w), b(w)) | w >> 11 & 7
}
fn to(w: u32) -> u32 {
    b(w) << 11
}
fn from(w: u32) -> u32 {
    b(w) << 21
}
fn old(w: u32) -> u32 {
    b(w) << 16
}
fn immediate(w: u32) -> u32 {
    place(b(w), a(w), 0) | w & 0xFFFF
}
fn upper(w: u32) -> u32 {
    old(w) | w & 0xFFFF
}
fn compared(w: u32) -> u32 {
    from(w) | w & 0xFFFF
}
fn near(w: u32) -> u32 {
    place(b(w), a(w), 0) | ((w << 20) as i32 >> 20) as u32 & 0xFFFF
}
fn bit(w: u32) -> u32 {
    from(w) | (w >> 21 & 7) << 12 | w & 0xFFF
}
fn code6(w: u32) -> u32 {
    w & 0x03FF_FFC0
}
fn code16(w: u32) -> u32 {
    (w >> 16 & 0x3FF) << 6
}
fn code11(w: u32) -> u32 {
    (w >> 16 & 0x3FF) << 11
}
fn stype(w: u32) -> u32 {
    b(w) << 6
}
fn nothing(_: u32) -> u32 {
    0
}

// What tells 32-bit instructions apart.
const MAJOR: u32 = 0xFC00_0000;
const MINOR: u32 = 0xFC00_07FF;
const FUNCTION: u32 = 0xFC00_003F;
const EXTENDED: u32 = 0xFC00_FFFF;
const TRAP: u32 = 0xFC00_0FFF;
const ONE: u32 = 0xFFE0_FFFF;
const CONTROL: u32 = 0xFC00_C7FF;
const NEAR: u32 = 0xFC00_F000;
const IMMEDIATE: u32 = 0xFFE0_0000;
const ALL: u32 = 0xFFFF_FFFF;

const fn major(code: u32) -> u32 {
    code << 26
}
/// Of POOL32I.
const fn pool_i(code: u32) -> u32 {
    major(0x10) | code << 21
}
const fn near_b(code: u32) -> u32 {
    major(0x08) | code << 12
}
const fn near_c(code: u32) -> u32 {
    major(0x18) | code << 12
}

// Of MIPS32.
const fn special2(code: u32) -> u32 {
    major(0x1C) | code
}
const fn special3(code: u32) -> u32 {
    major(0x1F) | code
}
const fn regimm(code: u32) -> u32 {
    major(1) | code << 16
}
const fn cop0(code: u32) -> u32 {
    major(0x10) | code << 21
}
const fn co(code: u32) -> u32 {
    major(0x10) | 1 << 25 | code
}

fn reg(n: u32) -> &'static str {
    REGS[(n & 31) as usize]
}

fn none(_: u32) -> Registers {
    [0, 0, SINK]
}
fn reads(w: u32) -> Registers {
    [b(w) as u8, a(w) as u8, SINK]
}
fn links(w: u32) -> Registers {
    [b(w) as u8, 0, written(31)]
}
fn links_to(w: u32) -> Registers {
    [b(w) as u8, 0, written(a(w))]
}
fn indexed(w: u32) -> Registers {
    [b(w) as u8, a(w) as u8, written(d(w))]
}
fn loads(w: u32) -> Registers {
    [b(w) as u8, a(w) as u8, written(a(w))]
}
fn relative(w: u32) -> Registers {
    [0, 0, written(three_bits(w >> 23))]
}
fn written(n: u32) -> u8 {
    if n == 0 {
        SINK
    } else {
        n as u8
    }
}

fn signed(w: u32, low: u32, width: u32) -> i32 {
    (w << (32 - low - width)) as i32 >> (32 - width)
}
fn target(w: u32, pc: u32, low: u32, width: u32) -> u32 {
    let size = if low == 0 { 4 } else { 2 };
    pc.wrapping_add(size).wrapping_add((signed(w, low, width) << 1) as u32)
}

// Operands of 32 bits.
fn branch2(w: u32, pc: u32) -> String {
    format!("{},{},0x{:x}", reg(b(w)), reg(a(w)), target(w, pc, 0, 16))
}
fn branch1(w: u32, pc: u32) -> String {
    format!("{},0x{:x}", reg(b(w)), target(w, pc, 0, 16))
}
fn jump(w: u32, pc: u32) -> String {
    format!("0x{:x}", pc.wrapping_add(4) & 0xF800_0000 | (w & 0x03FF_FFFF) << 1)
}
fn exchange(w: u32, pc: u32) -> String {
    format!("0x{:x}", pc.wrapping_add(4) & 0xF000_0000 | (w & 0x03FF_FFFF) << 2)
}
fn one_register(w: u32, _: u32) -> String {
    reg(b(w)).to_string()
}
fn link_register(w: u32, pc: u32) -> String {
    match a(w) {
        31 => one_register(w, pc),
        n => format!("{},{}", reg(n), reg(b(w))),
    }
}
fn index(w: u32, _: u32) -> String {
    format!("{},{}({})", reg(d(w)), reg(a(w)), reg(b(w)))
}
fn pc_relative(w: u32, _: u32) -> String {
    format!("{},{}", reg(three_bits(w >> 23)), signed(w, 0, 23) << 2)
}
fn pair_at(w: u32, _: u32) -> String {
    format!("{},{}({})", reg(a(w)), signed(w, 0, 12), reg(b(w)))
}
fn several_at(w: u32, _: u32) -> String {
    format!("{},{}({})", list(w >> 21 & 15, w >> 25 & 1 != 0), signed(w, 0, 12), reg(b(w)))
}
fn list(count: u32, ra: bool) -> String {
    let saved = match count {
        0 => String::new(),
        1 => "s0".to_string(),
        9 => "s0-s7,s8".to_string(),
        n => format!("s0-s{}", n - 1),
    };
    match (count, ra) {
        (_, false) => saved,
        (0, true) => "ra".to_string(),
        (_, true) => saved + ",ra",
    }
}
fn no_operands(_: u32, _: u32) -> String {
    String::new()
}

/// A list of at most nine registers and ra: what says more is reserved.
fn several(bits: u32) -> bool {
    let count = bits >> 21 & 15;
    count <= 9 && (count > 0 || bits >> 25 & 1 != 0)
}

/// The first row that fits is the one.
static LONG: &[Row] = &[
    twin(MINOR, 0x000, 0x00, shift),
    twin(MINOR, 0x040, 0x02, shift),
    twin(MINOR, 0x080, 0x03, shift),
    twin(MINOR, 0x0C0, 0x0020_0002, shift),
    twin(MINOR, 0x010, 0x04, three),
    twin(MINOR, 0x050, 0x06, three),
    twin(MINOR, 0x090, 0x07, three),
    twin(MINOR, 0x0D0, 0x46, three),
    twin(MINOR, 0x110, 0x20, three),
    twin(MINOR, 0x150, 0x21, three),
    twin(MINOR, 0x190, 0x22, three),
    twin(MINOR, 0x1D0, 0x23, three),
    twin(MINOR, 0x210, special2(0x02), three),
    twin(MINOR, 0x250, 0x24, three),
    twin(MINOR, 0x290, 0x25, three),
    twin(MINOR, 0x2D0, 0x27, three),
    twin(MINOR, 0x310, 0x26, three),
    twin(MINOR, 0x350, 0x2A, three),
    twin(MINOR, 0x390, 0x2B, three),
    twin(MINOR, 0x018, 0x0B, three),
    twin(MINOR, 0x058, 0x0A, three),
    own("lwxs", (MINOR, 0x118), exec::lwxs, indexed, index),
    twin(FUNCTION, 0x2C, special3(0x00), field),
    twin(FUNCTION, 0x0C, special3(0x04), field),
    twin(FUNCTION, 0x07, 0x0D, code6),
    twin(TRAP, 0x03C, 0x34, trap),
    twin(TRAP, 0x23C, 0x30, trap),
    twin(TRAP, 0x43C, 0x31, trap),
    twin(TRAP, 0x83C, 0x32, trap),
    twin(TRAP, 0xA3C, 0x33, trap),
    twin(TRAP, 0xC3C, 0x36, trap),
    twin(CONTROL, 0x0FC, cop0(0x00), control),
    twin(CONTROL, 0x2FC, cop0(0x04), control),
    twin(CONTROL, 0x4FC, cop0(0x03), control),
    twin(CONTROL, 0x6FC, cop0(0x03) | 0x200, control),
    twin(CONTROL, 0x0F4, cop0(0x02), control),
    twin(CONTROL, 0x2F4, cop0(0x06), control),
    twin(CONTROL, 0x4F4, cop0(0x03) | 0x400, control),
    twin(CONTROL, 0x6F4, cop0(0x03) | 0x600, control),
    twin(EXTENDED, 0x2B3C, special3(0x20) | 0x10 << 6, swap),
    twin(EXTENDED, 0x3B3C, special3(0x20) | 0x18 << 6, swap),
    twin(EXTENDED, 0x7B3C, special3(0x20) | 0x02 << 6, swap),
    twin(EXTENDED, 0x4B3C, special2(0x21), two),
    twin(EXTENDED, 0x5B3C, special2(0x20), two),
    twin(EXTENDED, 0x6B3C, special3(0x3B), hardware),
    twin(EXTENDED, 0x8B3C, 0x18, pair),
    twin(EXTENDED, 0x9B3C, 0x19, pair),
    twin(EXTENDED, 0xAB3C, 0x1A, pair),
    twin(EXTENDED, 0xBB3C, 0x1B, pair),
    twin(EXTENDED, 0xCB3C, special2(0x00), pair),
    twin(EXTENDED, 0xDB3C, special2(0x01), pair),
    twin(EXTENDED, 0xEB3C, special2(0x04), pair),
    twin(EXTENDED, 0xFB3C, special2(0x05), pair),
    own("jr", (ONE, 0x0F3C), exec::jr, reads, one_register),
    own("jr.hb", (ONE, 0x1F3C), exec::jr, reads, one_register),
    own("jalr", (EXTENDED, 0x0F3C), exec::jalr, links_to, link_register),
    own("jalr.hb", (EXTENDED, 0x1F3C), exec::jalr, links_to, link_register),
    own("jalrs", (EXTENDED, 0x4F3C), exec::jalrs, links_to, link_register),
    own("jalrs.hb", (EXTENDED, 0x5F3C), exec::jalrs, links_to, link_register),
    twin(EXTENDED, 0xE17C, cop0(0x0A), swap),
    twin(EXTENDED, 0xF17C, cop0(0x0E), swap),
    twin(ALL, 0x037C, co(0x08), nothing),
    twin(ALL, 0x137C, co(0x01), nothing),
    twin(ALL, 0x237C, co(0x02), nothing),
    twin(ALL, 0x337C, co(0x06), nothing),
    twin(ALL, 0x437C, co(0x03), nothing),
    twin(ALL, 0x537C, co(0x04), nothing),
    twin(ALL, 0x017C, co(0x10), nothing),
    twin(ALL, 0x117C, co(0x09), nothing),
    twin(ALL, 0x217C, co(0x0A), nothing),
    twin(ALL, 0x317C, co(0x0E), nothing),
    twin(ALL, 0x417C, co(0x0B), nothing),
    twin(ALL, 0x517C, co(0x0C), nothing),
    twin(EXTENDED, 0x937C, co(0x20), code16),
    twin(EXTENDED, 0xC37C, co(0x28), code11),
    twin(ALL, 0xD37C, co(0x38), nothing),
    twin(ALL, 0xE37C, co(0x1F), nothing),
    twin(ALL, 0xF37C, co(0x18), nothing),
    twin(ALL, 0x0001_F37C, co(0x58), nothing),
    twin(ONE, 0x477C, cop0(0x0B) | 0x6000, old),
    twin(ONE, 0x577C, cop0(0x0B) | 0x6020, old),
    twin(ONE, 0x6B7C, 0x0F, stype),
    twin(EXTENDED, 0x8B7C, 0x0C, code16),
    twin(EXTENDED, 0xDB7C, special2(0x3F), code16),
    twin(ONE, 0x0D7C, 0x10, to),
    twin(ONE, 0x1D7C, 0x12, to),
    twin(ONE, 0x2D7C, 0x11, from),
    twin(ONE, 0x3D7C, 0x13, from),
    own("lwp", (NEAR, near_b(0x1)), exec::lwp, loads, pair_at),
    own("swp", (NEAR, near_b(0x9)), exec::swp, reads, pair_at),
    own("lwm", (NEAR, near_b(0x5)), exec::lwm, reads, several_at),
    own("swm", (NEAR, near_b(0xD)), exec::swm, reads, several_at),
    twin(NEAR, near_b(0x6), major(0x2F), near),
    twin(0xFF00_F000, near_b(0x3), regimm(0x07) | 0x8000, bit),
    twin(0xFF00_F000, near_b(0xB), regimm(0x07), bit),
    twin(NEAR, near_c(0x0), major(0x22), near),
    twin(NEAR, near_c(0x1), major(0x26), near),
    twin(NEAR, near_c(0x8), major(0x2A), near),
    twin(NEAR, near_c(0x9), major(0x2E), near),
    twin(NEAR, near_c(0x2), major(0x33), near),
    twin(NEAR, near_c(0x3), major(0x30), near),
    twin(NEAR, near_c(0xB), major(0x38), near),
    own("bltz", (IMMEDIATE, pool_i(0x00)), exec::bltz, reads, branch1),
    own("bltzal", (IMMEDIATE, pool_i(0x01)), exec::bltzal, links, branch1),
    own("bgez", (IMMEDIATE, pool_i(0x02)), exec::bgez, reads, branch1),
    own("bgezal", (IMMEDIATE, pool_i(0x03)), exec::bgezal, links, branch1),
    own("blez", (IMMEDIATE, pool_i(0x04)), exec::blez, reads, branch1),
    own("bnezc", (IMMEDIATE, pool_i(0x05)), exec::bnezc, reads, branch1),
    own("bgtz", (IMMEDIATE, pool_i(0x06)), exec::bgtz, reads, branch1),
    own("beqzc", (IMMEDIATE, pool_i(0x07)), exec::beqzc, reads, branch1),
    own("bltzals", (IMMEDIATE, pool_i(0x11)), exec::bltzals, links, branch1),
    own("bgezals", (IMMEDIATE, pool_i(0x13)), exec::bgezals, links, branch1),
    twin(IMMEDIATE, pool_i(0x08), regimm(0x0A), compared),
    twin(IMMEDIATE, pool_i(0x09), regimm(0x08), compared),
    twin(IMMEDIATE, pool_i(0x0A), regimm(0x0B), compared),
    twin(IMMEDIATE, pool_i(0x0B), regimm(0x09), compared),
    twin(IMMEDIATE, pool_i(0x0C), regimm(0x0E), compared),
    twin(IMMEDIATE, pool_i(0x0D), major(0x0F), upper),
    twin(IMMEDIATE, pool_i(0x0E), regimm(0x0C), compared),
    twin(IMMEDIATE, pool_i(0x10), regimm(0x1F), compared),
    twin(MAJOR, major(0x04), major(0x08), immediate),
    twin(MAJOR, major(0x0C), major(0x09), immediate),
    twin(MAJOR, major(0x14), major(0x0D), immediate),
    twin(MAJOR, major(0x1C), major(0x0E), immediate),
    twin(MAJOR, major(0x34), major(0x0C), immediate),
    twin(MAJOR, major(0x24), major(0x0A), immediate),
    twin(MAJOR, major(0x2C), major(0x0B), immediate),
    twin(MAJOR, major(0x05), major(0x24), immediate),
    twin(MAJOR, major(0x07), major(0x20), immediate),
    twin(MAJOR, major(0x0D), major(0x25), immediate),
    twin(MAJOR, major(0x0F), major(0x21), immediate),
    twin(MAJOR, major(0x3F), major(0x23), immediate),
    twin(MAJOR, major(0x06), major(0x28), immediate),
    twin(MAJOR, major(0x0E), major(0x29), immediate),
    twin(MAJOR, major(0x3E), major(0x2B), immediate),
    own("beq", (MAJOR, major(0x25)), exec::beq, reads, branch2),
    own("bne", (MAJOR, major(0x2D)), exec::bne, reads, branch2),
    own("j", (MAJOR, major(0x35)), exec::j, none, jump),
    own("jal", (MAJOR, major(0x3D)), exec::jal, links, jump),
    own("jals", (MAJOR, major(0x1D)), exec::jals, links, jump),
    own("jalx", (MAJOR, major(0x3C)), exec::jalx, links, exchange),
    own("addiupc", (MAJOR, major(0x1E)), exec::addiupc, relative, pc_relative),
    own("cop1", (MAJOR, major(0x15)), system::cop1, none, no_operands),
    own("cop1", (MAJOR, major(0x26)), system::cop1, none, no_operands),
    own("cop1", (MAJOR, major(0x27)), system::cop1, none, no_operands),
    own("cop1", (MAJOR, major(0x2E)), system::cop1, none, no_operands),
    own("cop1", (MAJOR, major(0x2F)), system::cop1, none, no_operands),
    own("cop1", (IMMEDIATE, pool_i(0x1C)), system::cop1, none, no_operands),
    own("cop1", (IMMEDIATE, pool_i(0x1D)), system::cop1, none, no_operands),
    own("cop2", (NEAR, near_b(0x0)), system::cop2, none, no_operands),
    own("cop2", (NEAR, near_b(0x2)), system::cop2, none, no_operands),
    own("cop2", (NEAR, near_b(0x8)), system::cop2, none, no_operands),
    own("cop2", (NEAR, near_b(0xA)), system::cop2, none, no_operands),
];

/// Registers of three bits; where they are stored, s0's place is the zero's.
fn three_bits(n: u32) -> u32 {
    [16, 17, 2, 3, 4, 5, 6, 7][(n & 7) as usize]
}
fn stored_bits(n: u32) -> u32 {
    [0, 17, 2, 3, 4, 5, 6, 7][(n & 7) as usize]
}

// Fields of 16 bits.
fn x(h: u32) -> u32 {
    three_bits(h >> 7)
}
fn y(h: u32) -> u32 {
    three_bits(h >> 4)
}
fn three16(h: u32) -> u32 {
    place(three_bits(h >> 1), y(h), x(h))
}
fn shift16(h: u32) -> u32 {
    let by = h >> 1 & 7;
    place(0, y(h), x(h)) | if by == 0 { 8 } else { by } << 6
}
fn two16(h: u32) -> u32 {
    let (to, from) = (three_bits(h >> 3), three_bits(h));
    place(to, from, to)
}
fn not16(h: u32) -> u32 {
    place(three_bits(h), 0, three_bits(h >> 3))
}
fn move16(h: u32) -> u32 {
    place(h & 31, 0, h >> 5 & 31)
}
const MASKS: [u32; 16] = [128, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 255, 0x8000, 0xFFFF];
fn andi16(h: u32) -> u32 {
    place(y(h), x(h), 0) | MASKS[(h & 15) as usize]
}
fn lbu16(h: u32) -> u32 {
    let offset = h & 15;
    place(y(h), x(h), 0) | if offset == 15 { 0xFFFF } else { offset }
}
fn load2(h: u32) -> u32 {
    place(y(h), x(h), 0) | (h & 15) << 1
}
fn load4(h: u32) -> u32 {
    place(y(h), x(h), 0) | (h & 15) << 2
}
fn store1(h: u32) -> u32 {
    place(y(h), stored_bits(h >> 7), 0) | h & 15
}
fn store2(h: u32) -> u32 {
    place(y(h), stored_bits(h >> 7), 0) | (h & 15) << 1
}
fn store4(h: u32) -> u32 {
    place(y(h), stored_bits(h >> 7), 0) | (h & 15) << 2
}
fn stack(h: u32) -> u32 {
    place(29, h >> 5 & 31, 0) | (h & 31) << 2
}
fn global(h: u32) -> u32 {
    place(28, x(h), 0) | (signed(h, 0, 7) << 2) as u32 & 0xFFFF
}
fn addius5(h: u32) -> u32 {
    let to = h >> 5 & 31;
    place(to, to, 0) | signed(h, 1, 4) as u32 & 0xFFFF
}
fn addiusp(h: u32) -> u32 {
    let words = match signed(h, 1, 9) {
        n @ 0..=1 => n + 256,
        n @ -2..=-1 => n - 256,
        n => n,
    };
    place(29, 29, 0) | (words << 2) as u32 & 0xFFFF
}
const STEPS: [u32; 8] = [1, 4, 8, 12, 16, 20, 24, 0xFFFF];
fn addiur2(h: u32) -> u32 {
    place(y(h), x(h), 0) | STEPS[(h >> 1 & 7) as usize]
}
fn addiur1sp(h: u32) -> u32 {
    place(29, x(h), 0) | (h >> 1 & 63) << 2
}
fn li16(h: u32) -> u32 {
    let n = h & 127;
    place(0, x(h), 0) | if n == 127 { 0xFFFF } else { n }
}
fn to16(h: u32) -> u32 {
    (h & 31) << 11
}
fn break16(h: u32) -> u32 {
    (h & 15) << 16
}
fn sdbbp16(h: u32) -> u32 {
    (h & 15) << 6
}

// Registers and operands of what has no twin: a half alone in 31:16.
fn five(w: u32) -> Registers {
    [(w >> 16 & 31) as u8, 0, SINK]
}
fn five_link(w: u32) -> Registers {
    [(w >> 16 & 31) as u8, 0, 31]
}
fn compared16(w: u32) -> Registers {
    [x(w >> 16) as u8, 0, SINK]
}
fn five_text(w: u32, _: u32) -> String {
    reg(w >> 16).to_string()
}
fn branch16(w: u32, pc: u32) -> String {
    format!("{},0x{:x}", reg(x(w >> 16)), target(w, pc, 16, 7))
}
fn far16(w: u32, pc: u32) -> String {
    format!("0x{:x}", target(w, pc, 16, 10))
}
fn several16(w: u32, _: u32) -> String {
    format!("{},{}(sp)", list((w >> 20 & 3) + 1, true), (w >> 16 & 15) << 2)
}
fn adjust(w: u32, _: u32) -> String {
    format!("{}", (w >> 16 & 31) << 2)
}
fn movep(w: u32, _: u32) -> String {
    let half = w >> 16;
    let (one, other) = exec::PAIRS[(half >> 7 & 7) as usize];
    let moved = |n: u32| REGS[exec::MOVED[(n & 7) as usize]];
    format!("{},{},{},{}", REGS[one], REGS[other], moved(half >> 1), moved(half >> 4))
}

const fn half(code: u32) -> u32 {
    code << 10
}
const SHORT: u32 = 0xFC00;
const SHORT1: u32 = 0xFC01;
const C4: u32 = 0xFFC0;
const C5: u32 = 0xFFE0;
const C6: u32 = 0xFFF0;

static SHORTS: &[Row] = &[
    twin(SHORT1, half(0x01), 0x21, three16),
    twin(SHORT1, half(0x01) | 1, 0x23, three16),
    twin(SHORT, half(0x02), major(0x24), lbu16),
    twin(0xFFFF, half(0x03), 0, nothing),
    twin(SHORT, half(0x03), 0x21, move16),
    twin(SHORT1, half(0x09), 0x00, shift16),
    twin(SHORT1, half(0x09) | 1, 0x02, shift16),
    twin(SHORT, half(0x0A), major(0x25), load2),
    twin(SHORT, half(0x0B), major(0x0C), andi16),
    twin(C4, 0x4400, 0x27, not16),
    twin(C4, 0x4440, 0x26, two16),
    twin(C4, 0x4480, 0x24, two16),
    twin(C4, 0x44C0, 0x25, two16),
    own("lwm", (C4, 0x4500), exec::lwm, none, several16),
    own("swm", (C4, 0x4540), exec::swm, none, several16),
    own("jr", (C5, 0x4580), exec::jr, five, five_text),
    own("jrc", (C5, 0x45A0), exec::jrc, five, five_text),
    own("jalr", (C5, 0x45C0), exec::jalr, five_link, five_text),
    own("jalrs", (C5, 0x45E0), exec::jalrs, five_link, five_text),
    twin(C5, 0x4600, 0x10, to16),
    twin(C5, 0x4640, 0x12, to16),
    twin(C6, 0x4680, 0x0D, break16),
    twin(C6, 0x46C0, special2(0x3F), sdbbp16),
    own("jraddiusp", (C5, 0x4700), exec::jraddiusp, none, adjust),
    twin(SHORT, half(0x12), major(0x23), stack),
    twin(SHORT, half(0x32), major(0x2B), stack),
    twin(SHORT1, half(0x13), major(0x09), addius5),
    twin(SHORT1, half(0x13) | 1, major(0x09), addiusp),
    twin(SHORT, half(0x19), major(0x23), global),
    twin(SHORT, half(0x1A), major(0x23), load4),
    twin(SHORT1, half(0x1B), major(0x09), addiur2),
    twin(SHORT1, half(0x1B) | 1, major(0x09), addiur1sp),
    own("movep", (SHORT1, half(0x21)), exec::movep, none, movep),
    twin(SHORT, half(0x22), major(0x28), store1),
    twin(SHORT, half(0x2A), major(0x29), store2),
    twin(SHORT, half(0x3A), major(0x2B), store4),
    own("beqz", (SHORT, half(0x23)), exec::beqz16, compared16, branch16),
    own("bnez", (SHORT, half(0x2B)), exec::bnez16, compared16, branch16),
    own("b", (SHORT, half(0x33)), exec::b16, none, far16),
    twin(SHORT, half(0x3B), major(0x09), li16),
];

/// The row, and the bits that it looks at. Lists of registers that are none are reserved.
fn find(bits: u32) -> Option<(&'static Row, u32)> {
    let (rows, word) = if super::is_short(bits >> 16) { (SHORTS, bits >> 16) } else { (LONG, bits) };
    let row = rows.iter().find(|row| word & row.mask == row.bits)?;
    let listed = matches!(bits & NEAR, 0x2000_5000 | 0x2000_D000);
    (!listed || several(bits)).then_some((row, word))
}

/// What executes the instruction: its bits as fetched, a half alone in 31:16.
pub fn decode(bits: u32) -> Op {
    match find(bits) {
        Some((Row { to: To::Twin(to, fields), .. }, word)) => isa::decode(to | fields(word)),
        Some((Row { to: To::Own(run, registers, _), .. }, _)) => Op::new(*run, bits, registers(bits), OWN),
        None => Op::new(system::reserved, bits, [0, 0, SINK], ROWS.len() as u8),
    }
}

/// In place of a row of the MIPS32 instructions.
const OWN: u8 = u8::MAX - 1;

/// Name and operands of an instruction without a twin.
pub fn names(bits: u32) -> Option<(&'static str, Operands)> {
    match find(bits)?.0 {
        Row { name, to: To::Own(_, _, operands), .. } => Some((name, *operands)),
        _ => None,
    }
}

/// Mask and bits of each row of 32 bits, for tests.
pub fn patterns() -> impl Iterator<Item = (u32, u32)> {
    LONG.iter().map(|row| (row.mask, row.bits))
}
