// SPDX-License-Identifier: Apache-2.0
//! microMIPS in special situations: exceptions in delay slots, switches of the instruction set,
//! register lists across a page boundary, guests. A 16-bit instruction is in bits 31:16; comments
//! give the GNU mnemonics.

mod common;

use common::*;
use iasim::board::console::Console;
use iasim::cp0::{self, cause, config3, status};
use iasim::cpu::{Context, Cpu, Stop};
use iasim::micro;
use iasim::model::Model;

/// A 16-bit instruction.
const fn short(half: u32) -> u32 {
    half << 16
}

const NOP16: u32 = short(0x0C00);
const BREAK16: u32 = short(0x4680);
/// addiu v0,v0,1
const COUNT: u32 = 0x3042_0001;

fn put_micro(cpu: &mut Cpu, pa: u32, code: &[u32]) {
    let halves = code.iter().flat_map(|bits| {
        let both = [(bits >> 16) as u16, *bits as u16];
        both.into_iter().take(if micro::is_16_bit(bits >> 16) { 1 } else { 2 })
    });
    let bytes: Vec<u8> = halves.flat_map(u16::to_le_bytes).collect();
    assert!(cpu.mem.load(pa, &bytes));
}

/// The root about to execute the code, in the state after reset with BEV and ERL cleared.
fn root_micro(cpu: &mut Cpu, code: &[u32]) {
    put_micro(cpu, ROOT & 0x1FFF_FFFF, code);
    cpu.write_root(cp0::STATUS, 0);
    cpu.jump(ROOT | 1);
}

fn started(code: &[u32]) -> Cpu {
    let mut cpu = m5150();
    root_micro(&mut cpu, code);
    cpu
}

/// Cause.ExcCode, and whether the instruction was in a delay slot.
fn taken(cpu: &Cpu) -> (u32, bool) {
    (cpu.root[cp0::CAUSE] >> 2 & 31, cpu.root.has(cp0::CAUSE, cause::BD))
}

#[test]
fn calls_return_after_their_delay_slots() {
    let go = 0x8000_4100u32;
    let at = go >> 1 & 0x03FF_FFFF;
    for (call, slot, back) in [
        (0x3D << 26 | at, COUNT, 8),             // jal
        (0x1D << 26 | at, NOP16, 6),             // jals
        (31 << 21 | 5 << 16 | 0x0F3C, COUNT, 8), // jalr ra,a1
        (31 << 21 | 5 << 16 | 0x4F3C, NOP16, 6), // jalrs ra,a1
        (short(0x45C0 | 5), COUNT, 6),           // jalr a1
        (short(0x45E0 | 5), NOP16, 4),           // jalrs a1
    ] {
        let mut cpu = started(&[call, slot]);
        cpu.gpr[5] = go | 1;
        steps(&mut cpu, 2);
        assert_eq!((cpu.pc, cpu.gpr[31]), (go | 1, (ROOT + back) | 1), "{call:08x}");
    }
}

/// A jump keeps five bits of pc (MIPS32: four): 0xBFC00000 is in the upper half of its region.
#[test]
fn a_jump_leaves_five_bits_of_pc() {
    let mut cpu = m5150();
    assert!(cpu.mem.load(0x1FC0_0000, &[]));
    put_micro(&mut cpu, 0x1FC0_0000, &[0x35 << 26 | 0x01E0_0040, NOP16]);
    cpu.write_root(cp0::STATUS, 0);
    cpu.jump(0xBFC0_0001);
    steps(&mut cpu, 2);
    assert_eq!(cpu.pc, 0xBBC0_0081);
}

#[test]
fn jalx_goes_to_the_other_set_and_back() {
    let mut cpu = m5150();
    root_code(&mut cpu, "jalx 0x80004100\n nop");
    // jalx back, with a 32-bit delay slot; the return address is after the slot.
    put_micro(&mut cpu, 0x4100, &[0x3C << 26 | (0x8000_4200u32 >> 2 & 0x03FF_FFFF), COUNT]);
    steps(&mut cpu, 2);
    assert_eq!((cpu.pc, cpu.gpr[31]), (0x8000_4101, 0x8000_4008));
    steps(&mut cpu, 2);
    assert_eq!((cpu.pc, cpu.gpr[31], cpu.gpr[2]), (0x8000_4200, 0x8000_4109, 1));
    put(&mut cpu, 0x4200, &asm::assemble("jr ra\n nop", 0x8000_4200));
    steps(&mut cpu, 2);
    assert_eq!(cpu.pc, 0x8000_4109, "by bit 0 of ra");
}

#[test]
fn compact_jumps_have_no_delay_slot() {
    // beqzc v1,+4; counted; bnezc v0,+4; skipped; jrc a1
    let code = [0x40E3_0002, COUNT, COUNT, 0x40A2_0002, COUNT, short(0x45A5)];
    let mut cpu = started(&code);
    cpu.gpr[5] = 0x8000_4801;
    steps(&mut cpu, 4);
    assert_eq!((cpu.pc, cpu.gpr[2]), (0x8000_4801, 1));
    // jraddiusp 12
    let mut cpu = started(&[short(0x4703)]);
    (cpu.gpr[29], cpu.gpr[31]) = (0x100, 0x8000_4000);
    steps(&mut cpu, 1);
    assert_eq!((cpu.pc, cpu.gpr[29]), (0x8000_4000, 0x10C));
}

/// EPC is the branch of either size, with bit 0; BadInstr and BadInstrP hold both instructions.
#[test]
fn an_exception_in_a_delay_slot_returns_to_the_branch() {
    let branches = [0x9400_0004, short(0xCC04), short(0x8D04), 0x3D << 26 | 0x2100, short(0x4585)];
    for (n, branch) in branches.into_iter().enumerate() {
        for before in 0..2usize {
            let mut code = vec![NOP16; before];
            code.extend([branch, BREAK16]);
            let mut cpu = started(&code);
            cpu.gpr[5] = 0x8000_4801;
            steps(&mut cpu, before as u64 + 2);
            assert_eq!(cpu.pc, VECTORS + 0x180, "MIPS32 code");
            assert_eq!(taken(&cpu), (9, true), "{n}");
            assert_eq!(cpu.root[cp0::EPC], (ROOT + 2 * before as u32) | 1);
            assert_eq!(cpu.root[cp0::BADINSTR], 0x4680);
            assert_eq!(cpu.root[cp0::BADINSTRP], micro::word(branch));
        }
    }
}

#[test]
fn eret_returns_to_micromips_and_to_the_branch_again() {
    let mut cpu = started(&[short(0xCC01), BREAK16, COUNT]);
    put(&mut cpu, 0x180, &asm::assemble("eret", VECTORS));
    steps(&mut cpu, 3);
    assert_eq!(cpu.pc, ROOT | 1);
    put_micro(&mut cpu, (ROOT & 0x1FFF_FFFF) + 2, &[NOP16]);
    steps(&mut cpu, 3);
    assert_eq!(cpu.gpr[2], 1, "stores into code take effect");
}

/// Each context has its own Config3.ISAOnExc.
#[test]
fn isa_on_exc_selects_micromips_handlers() {
    let mut cpu = m5150();
    root_code(&mut cpu, "break");
    cpu.write_root(cp0::CONFIG3, u32::MAX);
    assert!(cpu.root.has(cp0::CONFIG3, config3::ISA_ON_EXC));
    put_micro(&mut cpu, 0x180, &[COUNT, 0x0000_F37C]);
    steps(&mut cpu, 1);
    assert_eq!((cpu.pc, cpu.root[cp0::EPC]), (VECTORS + 0x181, ROOT));
    steps(&mut cpu, 2);
    assert_eq!((cpu.pc, cpu.gpr[2]), (ROOT, 1), "and ERET back to MIPS32");
}

#[test]
fn an_interrupt_between_a_branch_and_its_slot_returns_to_the_branch() {
    let mut cpu = generic();
    root_micro(&mut cpu, &[NOP16, short(0x8D02), COUNT, COUNT, COUNT]); // nop; beqz v0,+4
    steps(&mut cpu, 2);
    assert!(cpu.branch);
    cpu.write_root(cp0::STATUS, status::IE | 1 << 8);
    cpu.write_root(cp0::CAUSE, 1 << 8);
    steps(&mut cpu, 1);
    assert_eq!(taken(&cpu), (0, true));
    assert_eq!(cpu.root[cp0::EPC], (ROOT + 2) | 1);
    assert_eq!(cpu.gpr[2], 0, "the slot was not executed");
}

/// SWM and SWP store their registers in ascending order.
#[test]
fn register_lists_are_stored_and_loaded() {
    for (store, load, registers) in [
        (short(0x4570), short(0x4530), vec![16, 17, 18, 19, 31]), // s0-s3,ra,0(sp)
        (0x233D_D000, 0x233D_5000, vec![16, 17, 18, 19, 20, 21, 22, 23, 30, 31]), // s0-s7,s8,ra,0(sp)
        (0x215D_D000 & !(1 << 24), 0x205D_5000, vec![16, 17]),    // s0-s1,0(sp)
        (0x211D_9000, 0x211D_1000, vec![8, 9]),                   // t0,t1,0(sp)
    ] {
        let store = if registers.len() == 2 && registers[0] == 16 { 0x205D_D000 } else { store };
        let mut cpu = started(&[store, load]);
        cpu.gpr[29] = 0x8000_5000;
        registers.iter().for_each(|n| cpu.gpr[*n] = 0x0101_0101 * *n as u32);
        steps(&mut cpu, 1);
        for (n, register) in registers.iter().enumerate() {
            assert_eq!(cpu.mem.peek_word(0x5000 + 4 * n as u32), Some(0x0101_0101 * *register as u32), "{store:08x}");
        }
        assert_eq!(cpu.mem.peek_word(0x5000 + 4 * registers.len() as u32), Some(0));
        registers.iter().for_each(|n| cpu.gpr[*n] = 0);
        steps(&mut cpu, 1);
        registers.iter().for_each(|n| assert_eq!(cpu.gpr[*n], 0x0101_0101 * *n as u32, "{load:08x}"));
    }
}

/// An access across the boundary to an unmapped page writes no register, and BadVAddr is the
/// address on that page.
#[test]
fn a_faulting_register_list_writes_no_register() {
    let mut cpu = started(&[0x2070_5000]); // lwm s0-s2,0(s0)
    root_map(&mut cpu, 0, 0, 0x0040_0000, [lo(0x6000), 0]);
    put(&mut cpu, 0x6FF8, &[1, 2]);
    cpu.gpr[16] = 0x0040_0FF8;
    (cpu.gpr[17], cpu.gpr[18]) = (7, 8);
    steps(&mut cpu, 1);
    assert_eq!(taken(&cpu), (2, false));
    assert_eq!(cpu.root[cp0::BADVADDR], 0x0040_1000);
    assert_eq!(cpu.gpr[16..19], [0x0040_0FF8, 7, 8]);
    assert_eq!(cpu.root[cp0::EPC], ROOT | 1);
    let mut cpu = started(&[0x2030_D002]); // swm s0,2(s0)
    cpu.gpr[16] = 0x8000_5000;
    steps(&mut cpu, 1);
    assert_eq!((taken(&cpu), cpu.root[cp0::BADVADDR]), ((5, false), 0x8000_5002));
}

/// An instruction whose second halfword is on an unmapped page.
#[test]
fn a_fetch_over_the_edge_of_a_page_faults_there() {
    let mut cpu = m5150();
    cpu.write_root(cp0::STATUS, 0);
    root_map(&mut cpu, 0, 0, 0x0040_0000, [lo(0x6000), 0]);
    put_micro(&mut cpu, 0x6FFC, &[NOP16, COUNT]);
    cpu.jump(0x0040_0FFD);
    steps(&mut cpu, 2);
    assert_eq!(taken(&cpu), (2, false));
    assert_eq!((cpu.root[cp0::BADVADDR], cpu.root[cp0::EPC]), (0x0040_1000, 0x0040_0FFF));
}

#[test]
fn addiupc_is_relative_to_the_aligned_pc() {
    let mut cpu = started(&[NOP16, 0x7900_0002]); // addiupc v0,8
    steps(&mut cpu, 2);
    assert_eq!(cpu.gpr[2], ROOT + 8);
}

/// movep a0,a1 from s1 and v0: both sources are read before a destination is written.
#[test]
fn movep_reads_first() {
    let mut cpu = started(&[short(0x8400 | 5 << 7 | 2 << 4 | 1 << 1)]);
    (cpu.gpr[17], cpu.gpr[2]) = (11, 22);
    steps(&mut cpu, 1);
    assert_eq!((cpu.gpr[4], cpu.gpr[5]), (11, 22));
}

#[test]
fn a_micromips_guest_exits_to_a_mips32_root() {
    let mut cpu = m5150();
    guest(&mut cpu, CP0 | AT3, "nop");
    // hypcall 5, after a 16-bit instruction
    put_micro(&mut cpu, GUEST_MEMORY + 0x800, &[NOP16, 0x0005_C37C]);
    cpu.jump(0x8000_0801);
    steps(&mut cpu, 1);
    assert_eq!(exits(&mut cpu, 0x180), (27, 2));
    assert_eq!((cpu.root[cp0::EPC], cpu.root[cp0::BADINSTR]), (0x8000_0803, 0x0005_C37C));
    // The guest's own exceptions use its own Config3.
    cpu.write_cp0(Context::Guest, cp0::CONFIG3, config3::ISA_ON_EXC, u32::MAX);
    put_micro(&mut cpu, GUEST_MEMORY + 0x800, &[BREAK16]);
    cpu.write_root(cp0::EPC, 0x8000_0801);
    put(&mut cpu, ROOT & 0x1FFF_FFFF, &asm::assemble("eret", ROOT));
    cpu.jump(ROOT);
    steps(&mut cpu, 2);
    assert!(cpu.mode.is_guest());
    assert_eq!(cpu.pc, cpu.guest[cp0::EBASE] + 0x181);
    assert_eq!(cpu.guest[cp0::EPC], 0x8000_0801);
}

#[test]
fn fpu_and_reserved_instructions() {
    let mut cpu = started(&[0x5482_0030]);
    cpu.write_root(cp0::STATUS, status::CU1);
    let Stop::Unimplemented(text) = cpu.run() else { panic!("it went on") };
    assert!(text.contains("FPU") && text.contains("0x54820030"), "{text}");
    assert_eq!((cpu.pc, cpu.instructions()), (ROOT | 1, 0));
    for reserved in [0x2000_5000, short(0x8400 | 1), 0x5C00_0000, 0x2023_5000 | 15 << 21] {
        let mut cpu = started(&[reserved]);
        steps(&mut cpu, 1);
        assert_eq!(taken(&cpu), (10, false), "{reserved:08x}");
    }
}

#[test]
fn without_micromips_an_odd_address_is_an_error() {
    let model = Model { micromips: false, ..Model::default() };
    let mut cpu = m5150_with(model, Console::default());
    root_micro(&mut cpu, &[COUNT]);
    steps(&mut cpu, 1);
    assert_eq!((taken(&cpu), cpu.root[cp0::BADVADDR]), ((4, false), ROOT | 1));
    assert_eq!(cpu.root[cp0::CONFIG3] & config3::ISA, 0);
}

/// Random halfwords do not cause a panic.
#[test]
fn random_halfwords_do_not_panic() {
    for seed in 0..300 {
        let mut rng = common::random::Rng::new(seed);
        let model = Model { stop_unimplemented: false, ..Model::default() };
        let mut cpu = m5150_with(model, Console::default());
        let code: Vec<u32> = (0..2000).map(|_| rng.next()).collect();
        root_micro(&mut cpu, &code);
        put(&mut cpu, 0x180, &asm::assemble("mfc0 k0, EPC\n addiu k0, k0, 2\n mtc0 k0, EPC\n eret", VECTORS));
        (1..32).for_each(|n| cpu.gpr[n] = ROOT + rng.below(8000));
        cpu.limit = 20_000;
        cpu.run();
        assert_eq!(cpu.gpr[0], 0);
    }
}
