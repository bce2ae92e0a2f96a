// SPDX-License-Identifier: Apache-2.0
//! Random programs: straight-line blocks of every instruction whose result is defined on every
//! MIPS32 Release 2 core, with exceptions and TLB operations. After each block, all registers are
//! written to a log in memory.

use super::asm::assemble;
use iasim::isa::{Form, Row, ROWS};

/// A deterministic generator (xorshift64*).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u32) as usize]
    }

    /// Typical operand values: small numbers, limits, random ones.
    pub fn value(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(64).wrapping_sub(32),
            1 => *self.pick(&[0, 1, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFF, 0xFFFF, 0x8000]),
            2 => 1 << self.below(32),
            _ => self.next(),
        }
    }
}

const ROM: u32 = 0xBFC0_0000;
/// Base address of loads and stores (gp), in kseg0.
const DATA: u32 = 0x8010_0000;
/// Physical address of the log.
pub const LOG: u32 = 0x0080_0000;
/// gp, and the registers of the handler and the log.
const K0: u32 = 26;
const GP: u32 = 28;

/// Instructions whose results are defined on every core.
pub const PLAIN: &str = "sll srl rotr sra sllv srlv rotrv srav movz movn mfhi mthi mflo mtlo mult multu div divu add addu sub \
    subu and or xor nor slt sltu addi addiu slti sltiu andi ori xori lui madd maddu mul msub msubu clz clo ext ins wsbh \
    seb seh nop sync";
pub const LOADS: &str = "lb lh lw lbu lhu lwl lwr sb sh sw swl swr pref";
const BRANCHES: &str = "beq bne blez bgtz bltz bgez beql bnel blezl bgtzl bltzl bgezl bltzal bgezal bltzall bgezall";
pub const TRAPS: &str = "tge tgeu tlt tltu teq tne tgei tgeiu tlti tltiu teqi tnei syscall break";

fn rows(names: &str) -> Vec<&'static Row> {
    let find = |name: &str| ROWS.iter().rfind(|row| row.name == name).unwrap_or_else(|| panic!("no {name}"));
    names.split_whitespace().map(find).collect()
}

/// A destination register: not k0, k1, gp.
fn target(rng: &mut Rng) -> u32 {
    match rng.below(32) {
        n if (K0..=GP).contains(&n) => 8,
        n => n,
    }
}

/// Random operands for a computation.
fn plain(row: &Row, rng: &mut Rng) -> u32 {
    let (rs, rt, rd) = (rng.below(32) << 21, rng.below(32) << 16, target(rng) << 11);
    let sa = rng.below(32) << 6;
    let to_rt = target(rng) << 16;
    row.bits
        | match row.form {
            Form::Three | Form::ShiftBy => rs | rt | rd,
            Form::Shift => rt | rd | sa,
            Form::Two => rs | rd | rd << 5,
            Form::Swap => rt | rd,
            Form::Pair | Form::Trap => rs | rt,
            Form::To => rd,
            Form::From => rs,
            Form::Signed | Form::Unsigned => rs | to_rt | rng.value() & 0xFFFF,
            Form::Upper => to_rt | rng.value() & 0xFFFF,
            Form::TrapImm => rs | rng.value() & 0xFFFF,
            Form::Ext => {
                let low = rng.below(32);
                rs | to_rt | low << 6 | rng.below(32 - low) << 11
            }
            Form::Ins => {
                let low = rng.below(32);
                rs | to_rt | low << 6 | (low + rng.below(32 - low)) << 11
            }
            _ => 0,
        }
}

/// Access size of a row in bytes; 1 for unaligned accesses.
pub fn size(name: &str) -> u32 {
    match name {
        "lh" | "lhu" | "sh" => 2,
        "lw" | "sw" => 4,
        _ => 1,
    }
}

/// Relative to gp; one in sixteen may be misaligned.
fn load(row: &Row, rng: &mut Rng) -> u32 {
    let offset = rng.next() & 0xFFFF;
    let aligned = if rng.below(16) == 0 { offset } else { offset & !(size(row.name) - 1) };
    row.bits | GP << 21 | target(rng) << 16 | aligned
}

pub struct Program {
    pub words: Vec<u32>,
    /// Index of the first word of each block.
    pub blocks: Vec<usize>,
}

/// Content of a program: computation and memory accesses only, TLB operations, TLB operations of
/// Release 5.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Tlb,
    Release5,
    /// Blocks of microMIPS code, entered and left by JALX.
    Micro,
}

struct Builder {
    rng: Rng,
    kind: Kind,
    words: Vec<u32>,
    classes: [Vec<&'static Row>; 4],
}

impl Builder {
    fn pc(&self) -> u32 {
        ROM + 4 * self.words.len() as u32
    }

    fn asm(&mut self, text: &str) {
        let pc = self.pc();
        self.words.extend(assemble(text, pc));
    }

    fn simple(&mut self) -> u32 {
        match self.rng.below(16) {
            0..=9 => {
                let row = *self.rng.pick(&self.classes[0]);
                plain(row, &mut self.rng)
            }
            10..=14 => {
                let row = *self.rng.pick(&self.classes[1]);
                load(row, &mut self.rng)
            }
            _ => {
                let row = *self.rng.pick(&self.classes[3]);
                plain(row, &mut self.rng)
            }
        }
    }

    /// A branch, its delay slot, and the instructions that it may skip.
    fn branch(&mut self) {
        let row = *self.rng.pick(&self.classes[2]);
        let over = 1 + self.rng.below(4);
        let rs = self.rng.below(32) << 21;
        let rt = if row.form == Form::Branch2 { self.rng.below(32) << 16 } else { 0 };
        // The result of a branch that links into its own source register is undefined.
        let rs = if row.name.contains("al") && rs >> 21 == 31 { 8 << 21 } else { rs };
        // QEMU does not treat a branch whose registers make it never taken as a branch: it has no
        // delay slot there.
        let never = rs == rt << 5 && !row.name.starts_with("beq");
        let rs = if never { (rs ^ 1 << 21) | 1 << 22 } else { rs };
        self.words.push(row.bits | rs | rt | (over + 1));
        for _ in 0..=over {
            let word = self.simple();
            self.words.push(word);
        }
    }

    /// A jump over the instruction after its delay slot.
    fn jump(&mut self) {
        let to = self.pc();
        let slot = self.simple();
        let skipped = self.simple();
        match self.rng.below(4) {
            0 => self.asm(&format!("j {}", to + 12)),
            1 => self.asm(&format!("jal {}", to + 12)),
            2 => self.asm(&format!("li t9, {}\n jr t9", to + 20)),
            _ => self.asm(&format!("li t9, {}\n jalr t8, t9", to + 20)),
        }
        self.words.extend([slot, skipped]);
    }

    fn linked(&mut self) {
        let offset = self.rng.below(0x1000) * 4;
        let value = 8 + self.rng.below(8);
        self.asm(&format!("ll v0, {offset}(gp)\n addiu ${value}, ${value}, 1\n sc ${value}, {offset}(gp)"));
    }

    /// Writes, probes or reads an entry, or accesses a mapped address. Each entry maps different
    /// addresses, so that no two match.
    fn tlb(&mut self) {
        let n = self.rng.below(16);
        let asid = self.rng.below(3);
        let va = (0x40_0000 * (n + 1)) | self.rng.below(0x4_0000) & !3;
        let invalidates = self.kind == Kind::Release5 && self.rng.below(12) == 0;
        match self.rng.below(8) {
            _ if invalidates => self.asm(&format!("li t0, {asid}\n mtc0 t0, EntryHi\n ehb\n tlbinv\n ehb")),
            0 | 1 => self.tlb_write(n, asid),
            2 => self.asm(&format!("li t0, {}\n mtc0 t0, EntryHi\n ehb\n tlbp\n ehb\n mfc0 t1, Index", va & !0x1FFF | asid)),
            3 => self.asm(&format!(
                "li t0, {n}\n mtc0 t0, Index\n ehb\n tlbr\n ehb\n mfc0 t1, EntryHi\n mfc0 t2, EntryLo0\n mfc0 t3, EntryLo1\n \
                 mfc0 t4, PageMask\n li t0, {asid}\n mtc0 t0, EntryHi\n ehb"
            )),
            4 => self.asm(&format!("li t0, {asid}\n mtc0 t0, EntryHi\n ehb")),
            5 => self.asm(&format!("li t0, {va}\n sw t7, 0(t0)")),
            _ => self.asm(&format!("li t0, {va}\n lw t1, 0(t0)")),
        }
    }

    fn tlb_write(&mut self, n: u32, asid: u32) {
        let mask = *self.rng.pick(&[0u32, 0x6000, 0x1_E000]);
        let va = 0x40_0000 * (n + 1);
        let mut lo = || {
            let frame = (0x30_0000 + (self.rng.below(0x20) << 16)) >> 12;
            frame << 6 | 3 << 3 | self.rng.below(4) << 1 | u32::from(self.rng.below(3) == 0)
        };
        let (mut lo0, mut lo1) = (lo(), lo());
        let mut hidden = 0;
        if self.kind == Kind::Release5 {
            // RI and XI; one entry in eight is invalidated by EHINV.
            lo0 |= self.rng.next() & 0xC000_0000;
            lo1 |= self.rng.next() & 0xC000_0000;
            hidden = u32::from(self.rng.below(8) == 0) << 10;
        }
        self.asm(&format!(
            "li t0, {n}\n mtc0 t0, Index\n li t0, {}\n mtc0 t0, EntryHi\n li t0, {mask}\n mtc0 t0, PageMask\n \
             li t0, {lo0}\n mtc0 t0, EntryLo0\n li t0, {lo1}\n mtc0 t0, EntryLo1\n ehb\n tlbwi\n ehb",
            va | asid | hidden
        ));
    }

    /// A block of microMIPS code.
    fn micro_block(&mut self, length: usize) {
        let start = self.pc() + 8;
        self.words.extend([0x7400_0000 | start >> 2 & 0x03FF_FFFF, 0]);
        self.words.extend(super::micro::block(&mut self.rng, start, length));
        self.dump();
    }

    fn block(&mut self, length: usize) {
        if self.kind == Kind::Micro {
            return self.micro_block(length);
        }
        let end = self.words.len() + length;
        while self.words.len() < end {
            match self.rng.below(16) {
                0 | 1 => self.branch(),
                2 => self.jump(),
                3 => self.linked(),
                4 | 5 if matches!(self.kind, Kind::Tlb | Kind::Release5) => self.tlb(),
                6 => {
                    let (reg, value) = (target(&mut self.rng), self.rng.value());
                    self.asm(&format!("li ${reg}, {value}"));
                }
                _ => {
                    let word = self.simple();
                    self.words.push(word);
                }
            }
        }
        self.dump();
    }

    /// Writes all registers, HI and LO to the log.
    fn dump(&mut self) {
        let registers: String = (1..32).filter(|n| *n != 27).map(|n| format!("sw ${n}, {}(k1)\n", 4 * n)).collect();
        self.asm(&registers);
        self.asm("mfhi k0\n sw k0, 0(k1)\n mflo k0\n sw k0, 108(k1)\n addiu k1, k1, 128");
    }
}

/// Handler of both vectors: logs the exception and continues after its instruction, or after the
/// delay slot if the instruction is in one.
const HANDLER: &str = "mfc0 k0, Cause
    ext k0, k0, 2, 5
    sw k0, 0(k1)
    mfc0 k0, EPC
    sw k0, 4(k1)
    mfc0 k0, BadVAddr
    sw k0, 8(k1)
    mfc0 k0, EntryHi
    sw k0, 12(k1)
    mfc0 k0, Context
    sw k0, 16(k1)
    mfc0 k0, Cause
    srl k0, k0, 31
    sw k0, 20(k1)
    RELEASE5
    addiu k1, k1, 24
    MICRO
    mfc0 k0, EPC
    addiu k0, k0, 4
    mtc0 k0, EPC
    ehb
    mfc0 k0, Cause
    bgez k0, out
    nop
    mfc0 k0, EPC
    addiu k0, k0, 4
    mtc0 k0, EPC
    ehb
    out:
    eret";

/// Logs the additional registers of Release 5, in another 8 bytes of the log.
const HANDLER_RELEASE5: &str = "mfc0 k0, BadInstr
    sw k0, 24(k1)
    mfc0 k0, BadInstrP
    sw k0, 28(k1)
    addiu k1, k1, 8";

/// Continues after a microMIPS instruction, whose size is in its first halfword, and its delay
/// slot. t0 and t1 are saved in reserved memory.
const HANDLER_MICRO: &str = "mfc0 k0, EPC
    andi k0, k0, 1
    beq k0, zero, other
    lui k0, 0x8000
    sw t0, 16(k0)
    sw t1, 20(k0)
    mfc0 k0, EPC
    addiu k0, k0, -1
    lhu t0, 0(k0)
    srl t0, t0, 10
    andi t0, t0, 7
    addiu t0, t0, -1
    sltiu t1, t0, 3
    sll t1, t1, 1
    addiu k0, k0, 4
    subu k0, k0, t1
    mfc0 t0, Cause
    bgez t0, single
    nop
    lhu t0, 0(k0)
    srl t0, t0, 10
    andi t0, t0, 7
    addiu t0, t0, -1
    sltiu t1, t0, 3
    sll t1, t1, 1
    addiu k0, k0, 4
    subu k0, k0, t1
    single:
    addiu k0, k0, 1
    mtc0 k0, EPC
    lui k0, 0x8000
    lw t0, 16(k0)
    lw t1, 20(k0)
    eret
    other:";

fn pad(words: &mut Vec<u32>, to: u32) {
    words.resize(((to - ROM) / 4) as usize, 0);
}

/// End of a pass: the pass count is at the start of kseg0, which nothing else writes.
const NEXT_PASS: &str = "lui k0, 0x8000
    lw k0, 0(k0)
    addiu k0, k0, -1
    lui gp, 0x8000
    sw k0, 0(gp)
    lui gp, 0x8010
    beq k0, zero, done
    nop
    j AGAIN
    nop
    done:
    addiu a0, zero, 0
    addiu t9, zero, 1
    sdbbp 1";

/// A program of `blocks` blocks, executed `passes` times with the register values of the previous
/// pass.
pub fn program(seed: u64, blocks: usize, passes: u32, kind: Kind) -> Program {
    let classes = [PLAIN, LOADS, BRANCHES, TRAPS].map(rows);
    let mut b = Builder { rng: Rng::new(seed), kind, words: Vec::new(), classes };
    b.asm(&format!(
        "li k0, 0x00400000\n mtc0 k0, Status\n mtc0 zero, Cause\n mtc0 zero, Context\n lui gp, {}",
        DATA >> 16
    ));
    b.asm(&format!("lui k1, 0x8000\n addiu k0, zero, {passes}\n sw k0, 0(k1)\n li k1, {}", LOG | 0x8000_0000));
    b.asm("mtc0 zero, EntryHi\n ehb\n j 0xbfc00600\n nop");
    pad(&mut b.words, 0xBFC0_0200);
    b.asm("j 0xbfc00380\n nop");
    pad(&mut b.words, 0xBFC0_0380);
    let handler = HANDLER.replace("RELEASE5", if kind == Kind::Release5 { HANDLER_RELEASE5 } else { "" });
    b.asm(&handler.replace("MICRO", if kind == Kind::Micro { HANDLER_MICRO } else { "" }));
    pad(&mut b.words, 0xBFC0_0600);
    if kind == Kind::Release5 {
        // Separate exception codes for RI and XI in every other program.
        let iec = (seed as u32 & 1) << 27;
        b.asm(&format!("li k0, {}\n mtc0 k0, PageGrain\n ehb", 0xC000_0000 | iec));
    }
    (0..16).filter(|_| matches!(kind, Kind::Tlb | Kind::Release5)).for_each(|n| b.tlb_write(n, 0));
    for n in (1..32).filter(|n| !(K0..=GP).contains(n)) {
        let value = b.rng.value();
        b.asm(&format!("li ${n}, {value}"));
    }
    b.asm("mthi t0\n mtlo t1");
    let again = b.pc();
    let mut starts = Vec::new();
    for _ in 0..blocks {
        starts.push(b.words.len());
        b.block(60);
    }
    b.asm(&NEXT_PASS.replace("AGAIN", &again.to_string()));
    assert!(b.words.len() <= 1 << 18, "{} words", b.words.len());
    Program { words: b.words, blocks: starts }
}
