// SPDX-License-Identifier: Apache-2.0
//! The microMIPS32 instructions in two tables, of 16-bit and of 32-bit instructions. Each row is
//! either mapped to a MIPS32 instruction or executed by a function of its own.

use super::exec;
use crate::cpu::{Cpu, Done};
use crate::disasm::REGS;
use crate::exec::system;
use crate::isa::{self, Op, ROWS, SINK};

type Run = fn(&mut Cpu, Op) -> Done;
/// Numbers of rs, of rt, and of the register written.
type Registers = [u8; 3];
/// Text of the operands, from the instruction's bits and its address.
pub type Operands = fn(u32, u32) -> String;

enum Execution {
    /// Executed as the MIPS32 instruction with these bits; the function moves the operand fields to
    /// their MIPS32 positions.
    Mapped(u32, fn(u32) -> u32),
    /// No MIPS32 equivalent: executed by this function, with these registers and operands.
    Native(Run, fn(u32) -> Registers, Operands),
}

struct Row {
    name: &'static str,
    mask: u32,
    bits: u32,
    execution: Execution,
}

const fn mapped(name: &'static str, mask: u32, bits: u32, to: u32, fields: fn(u32) -> u32) -> Row {
    Row { name, mask, bits, execution: Execution::Mapped(to, fields) }
}

const fn native(
    name: &'static str,
    code: (u32, u32),
    run: Run,
    registers: fn(u32) -> Registers,
    text: Operands,
) -> Row {
    Row { name, mask: code.0, bits: code.1, execution: Execution::Native(run, registers, text) }
}

// Operand fields of 32-bit instructions, moved to their MIPS32 positions.
fn rt(w: u32) -> u32 {
    w >> 21 & 31
}
fn rs(w: u32) -> u32 {
    w >> 16 & 31
}
fn rd(w: u32) -> u32 {
    w >> 11 & 31
}
fn fields(rs: u32, rt: u32, rd: u32) -> u32 {
    rs << 21 | rt << 16 | rd << 11
}

fn rd_rs_rt(w: u32) -> u32 {
    fields(rs(w), rt(w), rd(w))
}
fn rd_rt_sa(w: u32) -> u32 {
    fields(0, rs(w), rt(w)) | rd(w) << 6
}
fn bit_field(w: u32) -> u32 {
    fields(rs(w), rt(w), 0) | w & 0xFFC0
}
fn rs_rt_code(w: u32) -> u32 {
    fields(rs(w), rt(w), 0) | (w >> 12 & 15) << 6
}
fn rs_rt(w: u32) -> u32 {
    fields(rs(w), rt(w), 0)
}
fn rd_rt(w: u32) -> u32 {
    fields(0, rs(w), rt(w))
}
fn rd_rs(w: u32) -> u32 {
    fields(rs(w), rt(w), rt(w))
}
fn hardware_register(w: u32) -> u32 {
    fields(0, rt(w), rs(w))
}
fn cp0_register(w: u32) -> u32 {
    fields(0, rt(w), rs(w)) | w >> 11 & 7
}
fn rd_only(w: u32) -> u32 {
    rs(w) << 11
}
fn rs_only(w: u32) -> u32 {
    rs(w) << 21
}
fn rt_only(w: u32) -> u32 {
    rs(w) << 16
}
fn rt_rs_imm(w: u32) -> u32 {
    fields(rs(w), rt(w), 0) | w & 0xFFFF
}
fn rt_imm(w: u32) -> u32 {
    rt_only(w) | w & 0xFFFF
}
fn rs_imm(w: u32) -> u32 {
    rs_only(w) | w & 0xFFFF
}
fn rt_rs_offset12(w: u32) -> u32 {
    fields(rs(w), rt(w), 0) | ((w << 20) as i32 >> 20) as u32 & 0xFFFF
}
fn bit_offset12(w: u32) -> u32 {
    rs_only(w) | (w >> 21 & 7) << 12 | w & 0xFFF
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
fn sync_type(w: u32) -> u32 {
    rs(w) << 6
}
fn no_fields(_: u32) -> u32 {
    0
}

// Masks of the opcode bits of 32-bit instructions.
const MAJOR: u32 = 0xFC00_0000;
const MINOR: u32 = 0xFC00_07FF;
const FUNCTION: u32 = 0xFC00_003F;
const EXTENDED: u32 = 0xFC00_FFFF;
const TRAP: u32 = 0xFC00_0FFF;
const EXTENDED_RS: u32 = 0xFFE0_FFFF;
const CP0_MOVE: u32 = 0xFC00_C7FF;
const OFFSET12: u32 = 0xFC00_F000;
const IMMEDIATE: u32 = 0xFFE0_0000;
const ALL: u32 = 0xFFFF_FFFF;

const fn major(code: u32) -> u32 {
    code << 26
}
/// POOL32I.
const fn pool_i(code: u32) -> u32 {
    major(0x10) | code << 21
}
const fn pool_b(code: u32) -> u32 {
    major(0x08) | code << 12
}
const fn pool_c(code: u32) -> u32 {
    major(0x18) | code << 12
}

// Opcodes of MIPS32.
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
    [rs(w) as u8, rt(w) as u8, SINK]
}
fn links(w: u32) -> Registers {
    [rs(w) as u8, 0, written(31)]
}
fn links_to(w: u32) -> Registers {
    [rs(w) as u8, 0, written(rt(w))]
}
fn indexed(w: u32) -> Registers {
    [rs(w) as u8, rt(w) as u8, written(rd(w))]
}
fn loads(w: u32) -> Registers {
    [rs(w) as u8, rt(w) as u8, written(rt(w))]
}
fn pc_relative_registers(w: u32) -> Registers {
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

// Operands of 32-bit instructions.
fn branch2(w: u32, pc: u32) -> String {
    format!("{},{},0x{:x}", reg(rs(w)), reg(rt(w)), target(w, pc, 0, 16))
}
fn branch1(w: u32, pc: u32) -> String {
    format!("{},0x{:x}", reg(rs(w)), target(w, pc, 0, 16))
}
fn jump(w: u32, pc: u32) -> String {
    format!("0x{:x}", pc.wrapping_add(4) & 0xF800_0000 | (w & 0x03FF_FFFF) << 1)
}
fn jalx_target(w: u32, pc: u32) -> String {
    format!("0x{:x}", pc.wrapping_add(4) & 0xF000_0000 | (w & 0x03FF_FFFF) << 2)
}
fn one_register(w: u32, _: u32) -> String {
    reg(rs(w)).to_string()
}
fn link_register(w: u32, pc: u32) -> String {
    match rt(w) {
        31 => one_register(w, pc),
        n => format!("{},{}", reg(n), reg(rs(w))),
    }
}
fn indexed_operands(w: u32, _: u32) -> String {
    format!("{},{}({})", reg(rd(w)), reg(rt(w)), reg(rs(w)))
}
fn pc_relative(w: u32, _: u32) -> String {
    format!("{},{}", reg(three_bits(w >> 23)), signed(w, 0, 23) << 2)
}
fn load_store_pair(w: u32, _: u32) -> String {
    format!("{},{}({})", reg(rt(w)), signed(w, 0, 12), reg(rs(w)))
}
fn register_list_at(w: u32, _: u32) -> String {
    format!("{},{}({})", list(w >> 21 & 15, w >> 25 & 1 != 0), signed(w, 0, 12), reg(rs(w)))
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

/// A register list has at most nine registers and ra; other lists are reserved.
fn is_register_list(bits: u32) -> bool {
    let count = bits >> 21 & 15;
    count <= 9 && (count > 0 || bits >> 25 & 1 != 0)
}

/// The first row that matches is used.
static ROWS32: &[Row] = &[
    mapped("sll", MINOR, 0x000, 0x00, rd_rt_sa),
    mapped("srl", MINOR, 0x040, 0x02, rd_rt_sa),
    mapped("sra", MINOR, 0x080, 0x03, rd_rt_sa),
    mapped("rotr", MINOR, 0x0C0, 0x0020_0002, rd_rt_sa),
    mapped("sllv", MINOR, 0x010, 0x04, rd_rs_rt),
    mapped("srlv", MINOR, 0x050, 0x06, rd_rs_rt),
    mapped("srav", MINOR, 0x090, 0x07, rd_rs_rt),
    mapped("rotrv", MINOR, 0x0D0, 0x46, rd_rs_rt),
    mapped("add", MINOR, 0x110, 0x20, rd_rs_rt),
    mapped("addu", MINOR, 0x150, 0x21, rd_rs_rt),
    mapped("sub", MINOR, 0x190, 0x22, rd_rs_rt),
    mapped("subu", MINOR, 0x1D0, 0x23, rd_rs_rt),
    mapped("mul", MINOR, 0x210, special2(0x02), rd_rs_rt),
    mapped("and", MINOR, 0x250, 0x24, rd_rs_rt),
    mapped("or", MINOR, 0x290, 0x25, rd_rs_rt),
    mapped("nor", MINOR, 0x2D0, 0x27, rd_rs_rt),
    mapped("xor", MINOR, 0x310, 0x26, rd_rs_rt),
    mapped("slt", MINOR, 0x350, 0x2A, rd_rs_rt),
    mapped("sltu", MINOR, 0x390, 0x2B, rd_rs_rt),
    mapped("movn", MINOR, 0x018, 0x0B, rd_rs_rt),
    mapped("movz", MINOR, 0x058, 0x0A, rd_rs_rt),
    native("lwxs", (MINOR, 0x118), exec::lwxs, indexed, indexed_operands),
    mapped("ext", FUNCTION, 0x2C, special3(0x00), bit_field),
    mapped("ins", FUNCTION, 0x0C, special3(0x04), bit_field),
    mapped("break", FUNCTION, 0x07, 0x0D, code6),
    mapped("teq", TRAP, 0x03C, 0x34, rs_rt_code),
    mapped("tge", TRAP, 0x23C, 0x30, rs_rt_code),
    mapped("tgeu", TRAP, 0x43C, 0x31, rs_rt_code),
    mapped("tlt", TRAP, 0x83C, 0x32, rs_rt_code),
    mapped("tltu", TRAP, 0xA3C, 0x33, rs_rt_code),
    mapped("tne", TRAP, 0xC3C, 0x36, rs_rt_code),
    mapped("mfc0", CP0_MOVE, 0x0FC, cop0(0x00), cp0_register),
    mapped("mtc0", CP0_MOVE, 0x2FC, cop0(0x04), cp0_register),
    mapped("mfgc0", CP0_MOVE, 0x4FC, cop0(0x03), cp0_register),
    mapped("mtgc0", CP0_MOVE, 0x6FC, cop0(0x03) | 0x200, cp0_register),
    mapped("mfhc0", CP0_MOVE, 0x0F4, cop0(0x02), cp0_register),
    mapped("mthc0", CP0_MOVE, 0x2F4, cop0(0x06), cp0_register),
    mapped("mfhgc0", CP0_MOVE, 0x4F4, cop0(0x03) | 0x400, cp0_register),
    mapped("mthgc0", CP0_MOVE, 0x6F4, cop0(0x03) | 0x600, cp0_register),
    mapped("seb", EXTENDED, 0x2B3C, special3(0x20) | 0x10 << 6, rd_rt),
    mapped("seh", EXTENDED, 0x3B3C, special3(0x20) | 0x18 << 6, rd_rt),
    mapped("wsbh", EXTENDED, 0x7B3C, special3(0x20) | 0x02 << 6, rd_rt),
    mapped("clo", EXTENDED, 0x4B3C, special2(0x21), rd_rs),
    mapped("clz", EXTENDED, 0x5B3C, special2(0x20), rd_rs),
    mapped("rdhwr", EXTENDED, 0x6B3C, special3(0x3B), hardware_register),
    mapped("mult", EXTENDED, 0x8B3C, 0x18, rs_rt),
    mapped("multu", EXTENDED, 0x9B3C, 0x19, rs_rt),
    mapped("div", EXTENDED, 0xAB3C, 0x1A, rs_rt),
    mapped("divu", EXTENDED, 0xBB3C, 0x1B, rs_rt),
    mapped("madd", EXTENDED, 0xCB3C, special2(0x00), rs_rt),
    mapped("maddu", EXTENDED, 0xDB3C, special2(0x01), rs_rt),
    mapped("msub", EXTENDED, 0xEB3C, special2(0x04), rs_rt),
    mapped("msubu", EXTENDED, 0xFB3C, special2(0x05), rs_rt),
    native("jr", (EXTENDED_RS, 0x0F3C), exec::jr, reads, one_register),
    native("jr.hb", (EXTENDED_RS, 0x1F3C), exec::jr, reads, one_register),
    native("jalr", (EXTENDED, 0x0F3C), exec::jalr, links_to, link_register),
    native("jalr.hb", (EXTENDED, 0x1F3C), exec::jalr, links_to, link_register),
    native("jalrs", (EXTENDED, 0x4F3C), exec::jalrs, links_to, link_register),
    native("jalrs.hb", (EXTENDED, 0x5F3C), exec::jalrs, links_to, link_register),
    mapped("rdpgpr", EXTENDED, 0xE17C, cop0(0x0A), rd_rt),
    mapped("wrpgpr", EXTENDED, 0xF17C, cop0(0x0E), rd_rt),
    mapped("tlbp", ALL, 0x037C, co(0x08), no_fields),
    mapped("tlbr", ALL, 0x137C, co(0x01), no_fields),
    mapped("tlbwi", ALL, 0x237C, co(0x02), no_fields),
    mapped("tlbwr", ALL, 0x337C, co(0x06), no_fields),
    mapped("tlbinv", ALL, 0x437C, co(0x03), no_fields),
    mapped("tlbinvf", ALL, 0x537C, co(0x04), no_fields),
    mapped("tlbgp", ALL, 0x017C, co(0x10), no_fields),
    mapped("tlbgr", ALL, 0x117C, co(0x09), no_fields),
    mapped("tlbgwi", ALL, 0x217C, co(0x0A), no_fields),
    mapped("tlbgwr", ALL, 0x317C, co(0x0E), no_fields),
    mapped("tlbginv", ALL, 0x417C, co(0x0B), no_fields),
    mapped("tlbginvf", ALL, 0x517C, co(0x0C), no_fields),
    mapped("wait", EXTENDED, 0x937C, co(0x20), code16),
    mapped("hypcall", EXTENDED, 0xC37C, co(0x28), code11),
    mapped("iret", ALL, 0xD37C, co(0x38), no_fields),
    mapped("deret", ALL, 0xE37C, co(0x1F), no_fields),
    mapped("eret", ALL, 0xF37C, co(0x18), no_fields),
    mapped("eretnc", ALL, 0x0001_F37C, co(0x58), no_fields),
    mapped("di", EXTENDED_RS, 0x477C, cop0(0x0B) | 0x6000, rt_only),
    mapped("ei", EXTENDED_RS, 0x577C, cop0(0x0B) | 0x6020, rt_only),
    mapped("sync", EXTENDED_RS, 0x6B7C, 0x0F, sync_type),
    mapped("syscall", EXTENDED, 0x8B7C, 0x0C, code16),
    mapped("sdbbp", EXTENDED, 0xDB7C, special2(0x3F), code16),
    mapped("mfhi", EXTENDED_RS, 0x0D7C, 0x10, rd_only),
    mapped("mflo", EXTENDED_RS, 0x1D7C, 0x12, rd_only),
    mapped("mthi", EXTENDED_RS, 0x2D7C, 0x11, rs_only),
    mapped("mtlo", EXTENDED_RS, 0x3D7C, 0x13, rs_only),
    native("lwp", (OFFSET12, pool_b(0x1)), exec::lwp, loads, load_store_pair),
    native("swp", (OFFSET12, pool_b(0x9)), exec::swp, reads, load_store_pair),
    native("lwm", (OFFSET12, pool_b(0x5)), exec::lwm, reads, register_list_at),
    native("swm", (OFFSET12, pool_b(0xD)), exec::swm, reads, register_list_at),
    mapped("cache", OFFSET12, pool_b(0x6), major(0x2F), rt_rs_offset12),
    mapped("aset", 0xFF00_F000, pool_b(0x3), regimm(0x07) | 0x8000, bit_offset12),
    mapped("aclr", 0xFF00_F000, pool_b(0xB), regimm(0x07), bit_offset12),
    mapped("lwl", OFFSET12, pool_c(0x0), major(0x22), rt_rs_offset12),
    mapped("lwr", OFFSET12, pool_c(0x1), major(0x26), rt_rs_offset12),
    mapped("swl", OFFSET12, pool_c(0x8), major(0x2A), rt_rs_offset12),
    mapped("swr", OFFSET12, pool_c(0x9), major(0x2E), rt_rs_offset12),
    mapped("pref", OFFSET12, pool_c(0x2), major(0x33), rt_rs_offset12),
    mapped("ll", OFFSET12, pool_c(0x3), major(0x30), rt_rs_offset12),
    mapped("sc", OFFSET12, pool_c(0xB), major(0x38), rt_rs_offset12),
    native("bltz", (IMMEDIATE, pool_i(0x00)), exec::bltz, reads, branch1),
    native("bltzal", (IMMEDIATE, pool_i(0x01)), exec::bltzal, links, branch1),
    native("bgez", (IMMEDIATE, pool_i(0x02)), exec::bgez, reads, branch1),
    native("bgezal", (IMMEDIATE, pool_i(0x03)), exec::bgezal, links, branch1),
    native("blez", (IMMEDIATE, pool_i(0x04)), exec::blez, reads, branch1),
    native("bnezc", (IMMEDIATE, pool_i(0x05)), exec::bnezc, reads, branch1),
    native("bgtz", (IMMEDIATE, pool_i(0x06)), exec::bgtz, reads, branch1),
    native("beqzc", (IMMEDIATE, pool_i(0x07)), exec::beqzc, reads, branch1),
    native("bltzals", (IMMEDIATE, pool_i(0x11)), exec::bltzals, links, branch1),
    native("bgezals", (IMMEDIATE, pool_i(0x13)), exec::bgezals, links, branch1),
    mapped("tlti", IMMEDIATE, pool_i(0x08), regimm(0x0A), rs_imm),
    mapped("tgei", IMMEDIATE, pool_i(0x09), regimm(0x08), rs_imm),
    mapped("tltiu", IMMEDIATE, pool_i(0x0A), regimm(0x0B), rs_imm),
    mapped("tgeiu", IMMEDIATE, pool_i(0x0B), regimm(0x09), rs_imm),
    mapped("tnei", IMMEDIATE, pool_i(0x0C), regimm(0x0E), rs_imm),
    mapped("lui", IMMEDIATE, pool_i(0x0D), major(0x0F), rt_imm),
    mapped("teqi", IMMEDIATE, pool_i(0x0E), regimm(0x0C), rs_imm),
    mapped("synci", IMMEDIATE, pool_i(0x10), regimm(0x1F), rs_imm),
    mapped("addi", MAJOR, major(0x04), major(0x08), rt_rs_imm),
    mapped("addiu", MAJOR, major(0x0C), major(0x09), rt_rs_imm),
    mapped("ori", MAJOR, major(0x14), major(0x0D), rt_rs_imm),
    mapped("xori", MAJOR, major(0x1C), major(0x0E), rt_rs_imm),
    mapped("andi", MAJOR, major(0x34), major(0x0C), rt_rs_imm),
    mapped("slti", MAJOR, major(0x24), major(0x0A), rt_rs_imm),
    mapped("sltiu", MAJOR, major(0x2C), major(0x0B), rt_rs_imm),
    mapped("lbu", MAJOR, major(0x05), major(0x24), rt_rs_imm),
    mapped("lb", MAJOR, major(0x07), major(0x20), rt_rs_imm),
    mapped("lhu", MAJOR, major(0x0D), major(0x25), rt_rs_imm),
    mapped("lh", MAJOR, major(0x0F), major(0x21), rt_rs_imm),
    mapped("lw", MAJOR, major(0x3F), major(0x23), rt_rs_imm),
    mapped("sb", MAJOR, major(0x06), major(0x28), rt_rs_imm),
    mapped("sh", MAJOR, major(0x0E), major(0x29), rt_rs_imm),
    mapped("sw", MAJOR, major(0x3E), major(0x2B), rt_rs_imm),
    native("beq", (MAJOR, major(0x25)), exec::beq, reads, branch2),
    native("bne", (MAJOR, major(0x2D)), exec::bne, reads, branch2),
    native("j", (MAJOR, major(0x35)), exec::j, none, jump),
    native("jal", (MAJOR, major(0x3D)), exec::jal, links, jump),
    native("jals", (MAJOR, major(0x1D)), exec::jals, links, jump),
    native("jalx", (MAJOR, major(0x3C)), exec::jalx, links, jalx_target),
    native("addiupc", (MAJOR, major(0x1E)), exec::addiupc, pc_relative_registers, pc_relative),
    native("cop1", (MAJOR, major(0x15)), system::cop1, none, no_operands),
    native("cop1", (MAJOR, major(0x26)), system::cop1, none, no_operands),
    native("cop1", (MAJOR, major(0x27)), system::cop1, none, no_operands),
    native("cop1", (MAJOR, major(0x2E)), system::cop1, none, no_operands),
    native("cop1", (MAJOR, major(0x2F)), system::cop1, none, no_operands),
    native("cop1", (IMMEDIATE, pool_i(0x1C)), system::cop1, none, no_operands),
    native("cop1", (IMMEDIATE, pool_i(0x1D)), system::cop1, none, no_operands),
    native("cop2", (OFFSET12, pool_b(0x0)), system::cop2, none, no_operands),
    native("cop2", (OFFSET12, pool_b(0x2)), system::cop2, none, no_operands),
    native("cop2", (OFFSET12, pool_b(0x8)), system::cop2, none, no_operands),
    native("cop2", (OFFSET12, pool_b(0xA)), system::cop2, none, no_operands),
];

/// Registers of 3-bit fields. In a store, the encoding of s0 means register zero.
fn three_bits(n: u32) -> u32 {
    [16, 17, 2, 3, 4, 5, 6, 7][(n & 7) as usize]
}
fn stored_bits(n: u32) -> u32 {
    [0, 17, 2, 3, 4, 5, 6, 7][(n & 7) as usize]
}

// Operand fields of 16-bit instructions.
fn reg_9_7(h: u32) -> u32 {
    three_bits(h >> 7)
}
fn reg_6_4(h: u32) -> u32 {
    three_bits(h >> 4)
}
fn rd_rs_rt16(h: u32) -> u32 {
    fields(three_bits(h >> 1), reg_6_4(h), reg_9_7(h))
}
fn shift16(h: u32) -> u32 {
    let by = h >> 1 & 7;
    fields(0, reg_6_4(h), reg_9_7(h)) | if by == 0 { 8 } else { by } << 6
}
fn rd_rs16(h: u32) -> u32 {
    let (to, from) = (three_bits(h >> 3), three_bits(h));
    fields(to, from, to)
}
fn not16(h: u32) -> u32 {
    fields(three_bits(h), 0, three_bits(h >> 3))
}
fn move16(h: u32) -> u32 {
    fields(h & 31, 0, h >> 5 & 31)
}
const MASKS: [u32; 16] = [128, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 255, 0x8000, 0xFFFF];
fn andi16(h: u32) -> u32 {
    fields(reg_6_4(h), reg_9_7(h), 0) | MASKS[(h & 15) as usize]
}
fn lbu16(h: u32) -> u32 {
    let offset = h & 15;
    fields(reg_6_4(h), reg_9_7(h), 0) | if offset == 15 { 0xFFFF } else { offset }
}
fn load2(h: u32) -> u32 {
    fields(reg_6_4(h), reg_9_7(h), 0) | (h & 15) << 1
}
fn load4(h: u32) -> u32 {
    fields(reg_6_4(h), reg_9_7(h), 0) | (h & 15) << 2
}
fn store1(h: u32) -> u32 {
    fields(reg_6_4(h), stored_bits(h >> 7), 0) | h & 15
}
fn store2(h: u32) -> u32 {
    fields(reg_6_4(h), stored_bits(h >> 7), 0) | (h & 15) << 1
}
fn store4(h: u32) -> u32 {
    fields(reg_6_4(h), stored_bits(h >> 7), 0) | (h & 15) << 2
}
fn sp_offset(h: u32) -> u32 {
    fields(29, h >> 5 & 31, 0) | (h & 31) << 2
}
fn gp_offset(h: u32) -> u32 {
    fields(28, reg_9_7(h), 0) | (signed(h, 0, 7) << 2) as u32 & 0xFFFF
}
fn addius5(h: u32) -> u32 {
    let to = h >> 5 & 31;
    fields(to, to, 0) | signed(h, 1, 4) as u32 & 0xFFFF
}
fn addiusp(h: u32) -> u32 {
    let words = match signed(h, 1, 9) {
        n @ 0..=1 => n + 256,
        n @ -2..=-1 => n - 256,
        n => n,
    };
    fields(29, 29, 0) | (words << 2) as u32 & 0xFFFF
}
const STEPS: [u32; 8] = [1, 4, 8, 12, 16, 20, 24, 0xFFFF];
fn addiur2(h: u32) -> u32 {
    fields(reg_6_4(h), reg_9_7(h), 0) | STEPS[(h >> 1 & 7) as usize]
}
fn addiur1sp(h: u32) -> u32 {
    fields(29, reg_9_7(h), 0) | (h >> 1 & 63) << 2
}
fn li16(h: u32) -> u32 {
    let n = h & 127;
    fields(0, reg_9_7(h), 0) | if n == 127 { 0xFFFF } else { n }
}
fn rd_only16(h: u32) -> u32 {
    (h & 31) << 11
}
fn break16(h: u32) -> u32 {
    (h & 15) << 16
}
fn sdbbp16(h: u32) -> u32 {
    (h & 15) << 6
}

// Registers and operands of native 16-bit instructions, whose halfword is in bits 31:16.
fn reads16(w: u32) -> Registers {
    [(w >> 16 & 31) as u8, 0, SINK]
}
fn links16(w: u32) -> Registers {
    [(w >> 16 & 31) as u8, 0, 31]
}
fn compares16(w: u32) -> Registers {
    [reg_9_7(w >> 16) as u8, 0, SINK]
}
fn one_register16(w: u32, _: u32) -> String {
    reg(w >> 16).to_string()
}
fn branch16(w: u32, pc: u32) -> String {
    format!("{},0x{:x}", reg(reg_9_7(w >> 16)), target(w, pc, 16, 7))
}
fn jump16(w: u32, pc: u32) -> String {
    format!("0x{:x}", target(w, pc, 16, 10))
}
fn register_list16(w: u32, _: u32) -> String {
    format!("{},{}(sp)", list((w >> 20 & 3) + 1, true), (w >> 16 & 15) << 2)
}
fn stack_adjust(w: u32, _: u32) -> String {
    format!("{}", (w >> 16 & 31) << 2)
}
fn movep_operands(w: u32, _: u32) -> String {
    let half = w >> 16;
    let (one, other) = exec::PAIRS[(half >> 7 & 7) as usize];
    let moved = |n: u32| REGS[exec::MOVED[(n & 7) as usize]];
    format!("{},{},{},{}", REGS[one], REGS[other], moved(half >> 1), moved(half >> 4))
}

const fn major16(code: u32) -> u32 {
    code << 10
}
const MAJOR16: u32 = 0xFC00;
const MAJOR16_BIT0: u32 = 0xFC01;
const POOL16C_10: u32 = 0xFFC0;
const POOL16C_11: u32 = 0xFFE0;
const POOL16C_12: u32 = 0xFFF0;

static ROWS16: &[Row] = &[
    mapped("addu", MAJOR16_BIT0, major16(0x01), 0x21, rd_rs_rt16),
    mapped("subu", MAJOR16_BIT0, major16(0x01) | 1, 0x23, rd_rs_rt16),
    mapped("lbu", MAJOR16, major16(0x02), major(0x24), lbu16),
    mapped("nop", 0xFFFF, major16(0x03), 0, no_fields),
    mapped("addu", MAJOR16, major16(0x03), 0x21, move16),
    mapped("sll", MAJOR16_BIT0, major16(0x09), 0x00, shift16),
    mapped("srl", MAJOR16_BIT0, major16(0x09) | 1, 0x02, shift16),
    mapped("lhu", MAJOR16, major16(0x0A), major(0x25), load2),
    mapped("andi", MAJOR16, major16(0x0B), major(0x0C), andi16),
    mapped("nor", POOL16C_10, 0x4400, 0x27, not16),
    mapped("xor", POOL16C_10, 0x4440, 0x26, rd_rs16),
    mapped("and", POOL16C_10, 0x4480, 0x24, rd_rs16),
    mapped("or", POOL16C_10, 0x44C0, 0x25, rd_rs16),
    native("lwm", (POOL16C_10, 0x4500), exec::lwm, none, register_list16),
    native("swm", (POOL16C_10, 0x4540), exec::swm, none, register_list16),
    native("jr", (POOL16C_11, 0x4580), exec::jr, reads16, one_register16),
    native("jrc", (POOL16C_11, 0x45A0), exec::jrc, reads16, one_register16),
    native("jalr", (POOL16C_11, 0x45C0), exec::jalr, links16, one_register16),
    native("jalrs", (POOL16C_11, 0x45E0), exec::jalrs, links16, one_register16),
    mapped("mfhi", POOL16C_11, 0x4600, 0x10, rd_only16),
    mapped("mflo", POOL16C_11, 0x4640, 0x12, rd_only16),
    mapped("break", POOL16C_12, 0x4680, 0x0D, break16),
    mapped("sdbbp", POOL16C_12, 0x46C0, special2(0x3F), sdbbp16),
    native("jraddiusp", (POOL16C_11, 0x4700), exec::jraddiusp, none, stack_adjust),
    mapped("lw", MAJOR16, major16(0x12), major(0x23), sp_offset),
    mapped("sw", MAJOR16, major16(0x32), major(0x2B), sp_offset),
    mapped("addiu", MAJOR16_BIT0, major16(0x13), major(0x09), addius5),
    mapped("addiu", MAJOR16_BIT0, major16(0x13) | 1, major(0x09), addiusp),
    mapped("lw", MAJOR16, major16(0x19), major(0x23), gp_offset),
    mapped("lw", MAJOR16, major16(0x1A), major(0x23), load4),
    mapped("addiu", MAJOR16_BIT0, major16(0x1B), major(0x09), addiur2),
    mapped("addiu", MAJOR16_BIT0, major16(0x1B) | 1, major(0x09), addiur1sp),
    native("movep", (MAJOR16_BIT0, major16(0x21)), exec::movep, none, movep_operands),
    mapped("sb", MAJOR16, major16(0x22), major(0x28), store1),
    mapped("sh", MAJOR16, major16(0x2A), major(0x29), store2),
    mapped("sw", MAJOR16, major16(0x3A), major(0x2B), store4),
    native("beqz", (MAJOR16, major16(0x23)), exec::beqz16, compares16, branch16),
    native("bnez", (MAJOR16, major16(0x2B)), exec::bnez16, compares16, branch16),
    native("b", (MAJOR16, major16(0x33)), exec::b16, none, jump16),
    mapped("addiu", MAJOR16, major16(0x3B), major(0x09), li16),
];

/// The row that matches, and the bits it was compared with. Invalid register lists are reserved.
fn find(bits: u32) -> Option<(&'static Row, u32)> {
    let (rows, word) = if super::is_16_bit(bits >> 16) { (ROWS16, bits >> 16) } else { (ROWS32, bits) };
    let row = rows.iter().find(|row| word & row.mask == row.bits)?;
    let listed = matches!(bits & OFFSET12, 0x2000_5000 | 0x2000_D000);
    (!listed || is_register_list(bits)).then_some((row, word))
}

/// Decodes an instruction as fetched; a 16-bit one is in bits 31:16.
pub fn decode(bits: u32) -> Op {
    match find(bits) {
        Some((Row { execution: Execution::Mapped(to, fields), .. }, word)) => isa::decode(to | fields(word)),
        Some((Row { execution: Execution::Native(run, registers, _), .. }, _)) => {
            Op::new(*run, bits, registers(bits), NATIVE_ROW)
        }
        None => Op::new(system::reserved, bits, [0, 0, SINK], ROWS.len() as u8),
    }
}

/// Marks native instructions; not an index into isa::ROWS.
const NATIVE_ROW: u8 = u8::MAX - 1;

/// Name and operands of a native instruction.
pub fn names(bits: u32) -> Option<(&'static str, Operands)> {
    match find(bits)?.0 {
        Row { name, execution: Execution::Native(_, _, operands), .. } => Some((name, *operands)),
        _ => None,
    }
}

/// Mask and bits of each 32-bit row, for tests.
pub fn patterns() -> impl Iterator<Item = (u32, u32)> {
    ROWS32.iter().map(|row| (row.mask, row.bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_rows_name_the_instruction_they_map_to() {
        for row in ROWS32.iter().chain(ROWS16) {
            if let Execution::Mapped(to, fields) = row.execution {
                let size = if row.mask > 0xFFFF { u32::MAX } else { 0xFFFF };
                let op = isa::decode(to | fields(row.bits | !row.mask & size));
                assert_eq!(ROWS[op.row()].name, row.name, "{:08x}", row.bits);
            }
        }
    }
}
