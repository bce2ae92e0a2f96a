// SPDX-License-Identifier: Apache-2.0
//! TLB instructions with GuestIDs, shadow sets, timers, interrupts, devices.

mod common;

use common::*;
use iasim::board::console::Console;
use iasim::cp0::{self, cause, entryhi, guestctl0, status};
use iasim::cpu::{Context, Cpu, Stop};
use iasim::model::Model;

const RID: u32 = 16;

fn code_of(cpu: &Cpu) -> u32 {
    cpu.root[cp0::CAUSE] >> 2 & 31
}

#[test]
fn reset_values_are_the_models() {
    let cpu = m5150();
    let expected = [
        (cp0::STATUS, 0x0040_0004),
        (cp0::GUESTCTL0, 0x0C4C_0080),
        (cp0::SRSCTL, 0x3C00_0000),
        (cp0::EBASE, 0x8000_0000),
        (cp0::CONFIG, 0x8000_0482),
        (cp0::CONFIG1, 0x9E9B_0D9A),
        (cp0::CONFIG3, 0x8CA2_B060),
        (cp0::CONFIG4, 0xC00C_0000),
        (cp0::PRID, 0x0001_A700),
        (cp0::INTCTL, 0x0003_0000),
        (cp0::GTOFFSET, 0),
    ];
    for (reg, value) in expected {
        assert_eq!(root(&cpu, reg), value, "{}", cp0::find(reg).unwrap().name);
    }
    assert_eq!((cpu.pc, cpu.mode.is_guest()), (0xBFC0_0000, false));
    let generic = generic();
    assert_eq!(generic.root[cp0::CONFIG3] & cp0::config3::VEIC, 0);
    assert_eq!(generic.guest[cp0::CONFIG3] & cp0::config3::VZ, 0);
}

#[test]
fn root_tlb_instructions_use_rid() {
    let mut cpu = m5150();
    root_code(&mut cpu, "tlbwi\n tlbp\n tlbinv\n tlbinvf\n tlbwr");
    cpu.write_root(cp0::GUESTCTL1, 4 << RID);
    cpu.write_root(cp0::ENTRYHI, 0x6000 | 9);
    cpu.write_root(cp0::ENTRYLO0, lo(0x1000));
    cpu.write_root(cp0::INDEX, 3);
    steps(&mut cpu, 1);
    let entry = cpu.root_tlb.entries()[3];
    assert_eq!((entry.guest, entry.global, entry.vpn2), (4, true, 0x6000));
    cpu.write_root(cp0::ENTRYHI, 0x6000 | 1);
    steps(&mut cpu, 1);
    assert_eq!(cpu.root[cp0::INDEX], 3, "global: found with another ASID");
    steps(&mut cpu, 1);
    assert!(!cpu.root_tlb.entries()[3].invalid, "TLBINV leaves global entries alone");
    cpu.write_root(cp0::GUESTCTL1, 5 << RID);
    steps(&mut cpu, 1);
    assert!(!cpu.root_tlb.entries()[3].invalid, "another guest's");
    cpu.jump(cpu.pc - 4);
    cpu.write_root(cp0::GUESTCTL1, 4 << RID);
    steps(&mut cpu, 1);
    assert!(cpu.root_tlb.entries()[3].invalid);
    cpu.write_root(cp0::WIRED, 10);
    steps(&mut cpu, 1);
    let written = cpu.root_tlb.entries().iter().position(|entry| !entry.invalid).unwrap();
    assert!((10..16).contains(&written), "{written}: not below Wired");
}

#[test]
fn entries_of_the_root_itself_keep_their_asid() {
    let mut cpu = m5150();
    root_code(&mut cpu, "tlbwi\n lw t0, 0(t1)\n mtc0 t2, EntryHi\n lw t0, 0(t1)");
    cpu.write_root(cp0::ENTRYHI, 0x6000 | 9);
    cpu.write_root(cp0::ENTRYLO0, lo(0x1_0000));
    put(&mut cpu, 0x1_0004, &[77]);
    cpu.gpr[9] = 0x6004;
    cpu.gpr[10] = 0x6000 | 8;
    steps(&mut cpu, 2);
    assert_eq!(cpu.gpr[8], 77);
    assert!(!cpu.root_tlb.entries()[0].global);
    steps(&mut cpu, 2);
    assert_eq!((code_of(&cpu), cpu.pc), (2, VECTORS));
}

#[test]
fn ehinv_invalidates_an_entry() {
    let mut cpu = m5150();
    root_code(&mut cpu, "tlbwi\n tlbr");
    cpu.write_root(cp0::ENTRYHI, 0x6000 | entryhi::EHINV);
    cpu.write_root(cp0::ENTRYLO0, lo(0x1000));
    steps(&mut cpu, 2);
    assert!(cpu.root_tlb.entries()[0].invalid);
    assert_eq!([cpu.root[cp0::ENTRYHI], cpu.root[cp0::ENTRYLO0]], [entryhi::EHINV, 0]);
}

#[test]
fn two_entries_for_an_address_are_a_machine_check() {
    for (ignored, code) in [(false, 24), (true, 0)] {
        let model = Model { tlb_machine_check: !ignored, ..Model::default() };
        let mut cpu = m5150_with(model, Console::default());
        root_code(&mut cpu, "tlbwi\n mtc0 t0, Index\n tlbwi");
        cpu.gpr[8] = 1;
        cpu.write_root(cp0::ENTRYHI, 0x6000);
        steps(&mut cpu, 3);
        assert_eq!(code_of(&cpu), code);
        assert_eq!(cpu.root.has(cp0::STATUS, status::TS), !ignored);
    }
}

/// The guest's own TLB instructions use GuestCtl1.ID, the root's use RID.
#[test]
fn guest_tlb_instructions_use_the_guest_id() {
    let mut cpu = m5150();
    guest(&mut cpu, CP0 | AT3, "tlbwi\n tlbr\n tlbr");
    cpu.write_cp0(Context::Guest, cp0::ENTRYHI, u32::MAX, 0x6000 | 2);
    cpu.write_cp0(Context::Guest, cp0::ENTRYLO0, u32::MAX, lo(0x1000));
    steps(&mut cpu, 1);
    let entry = cpu.guest_tlb.entries()[0];
    assert_eq!((entry.guest, entry.global), (GUEST_ID as u8, false));
    steps(&mut cpu, 1);
    assert_eq!(cpu.guest[cp0::ENTRYHI], 0x6000 | 2);
    // An entry of another guest reads as invalid.
    cpu.guest_tlb.write(0, iasim::tlb::Entry { guest: 7, ..entry });
    steps(&mut cpu, 1);
    assert_eq!([cpu.guest[cp0::ENTRYHI], cpu.guest[cp0::ENTRYLO0]], [entryhi::EHINV, 0]);
}

#[test]
fn the_root_works_on_the_guests_tlb() {
    let mut cpu = m5150();
    root_code(&mut cpu, "tlbgwi\n tlbgp\n tlbgr\n tlbginvf\n tlbgwr\n tlbginv");
    cpu.write_root(cp0::GUESTCTL1, 6 << RID | 1);
    for (reg, value) in [(cp0::INDEX, 5), (cp0::ENTRYHI, 0x8000 | 3), (cp0::ENTRYLO1, lo(0x2000))] {
        cpu.write_cp0(Context::Guest, reg, u32::MAX, value);
    }
    steps(&mut cpu, 1);
    assert_eq!((cpu.guest_tlb.entries()[5].guest, cpu.root_tlb.entries()[5].invalid), (6, true));
    cpu.write_cp0(Context::Guest, cp0::INDEX, u32::MAX, 0);
    steps(&mut cpu, 1);
    assert_eq!(cpu.guest[cp0::INDEX], 5, "RID, not ID");
    cpu.write_root(cp0::GUESTCTL1, 2 << RID | 1);
    steps(&mut cpu, 1);
    assert_eq!(cpu.root[cp0::GUESTCTL1], 6 << RID | 1, "TLBGR tells whose it is");
    steps(&mut cpu, 1);
    assert!(cpu.guest_tlb.entries()[5].invalid);
    steps(&mut cpu, 1);
    assert!(cpu.guest_tlb.entries().iter().any(|entry| !entry.invalid && entry.guest == 6));
    steps(&mut cpu, 1);
    assert!(cpu.guest_tlb.entries().iter().all(|entry| entry.invalid), "not global, its ASID");
}

/// Exceptions change the root's set; the guest uses GLSS and above; the root accesses its set by
/// RDPGPR.
#[test]
fn shadow_sets_of_root_and_guest() {
    let mut cpu = m5150();
    guest(&mut cpu, CP0 | AT3, "addiu v0, zero, 5\n hypcall\n nop");
    assert_eq!(cpu.set, 0);
    // Before guest entry, a hypervisor sets PSS and GLSS to the guest's set.
    let mut cpu2 = m5150();
    cpu2.write_root(cp0::GUESTCTL3, 4);
    cpu2.write_root(cp0::SRSCTL, 4 << 6);
    guest(&mut cpu2, CP0 | AT3, "addiu v0, zero, 5\n hypcall\n nop");
    assert_eq!(cpu2.set, 4);
    assert_eq!(cpu2.root[cp0::SRSCTL] & 0xF, 4, "ERET: CSS from PSS");
    put(&mut cpu2, 0x180, &asm::assemble("rdpgpr t0, v0\n addiu t1, zero, 9\n wrpgpr v0, t1\n eret", 0x8000_0180));
    steps(&mut cpu2, 1);
    exits(&mut cpu2, 0x180);
    assert_eq!(cpu2.set, 0, "CSS from ESS");
    assert_eq!(cpu2.root[cp0::SRSCTL] >> 6 & 0xF, 4, "PSS from CSS");
    steps(&mut cpu2, 3);
    assert_eq!(cpu2.gpr[8], 5);
    steps(&mut cpu2, 1);
    assert_eq!((cpu2.set, cpu2.gpr[2]), (4, 9));
    assert_eq!(cpu2.gpr[9], 0, "the root's registers are not the guest's");
}

#[test]
fn a_guest_with_shadow_sets_uses_them_by_itself() {
    let mut cpu = m5150();
    cpu.write_root(cp0::GUESTCTL3, 2);
    // HSS=1 and ESS=1, set by the root with MTGC0.
    let bits = cp0::find(cp0::SRSCTL).unwrap().mtgc0;
    cpu.write_cp0(Context::Guest, cp0::SRSCTL, bits, 1 << 26 | 1 << 12);
    guest(&mut cpu, CP0 | AT3, "addiu v0, zero, 5\n syscall");
    assert_eq!(cpu.set, 2);
    put(&mut cpu, GUEST_MEMORY + 0x180, &asm::assemble("rdpgpr t0, v0\n eret", 0x8000_0180));
    steps(&mut cpu, 1);
    stays(&mut cpu, 0x180);
    assert_eq!(cpu.set, 3);
    steps(&mut cpu, 1);
    assert_eq!(cpu.gpr[8], 5);
    steps(&mut cpu, 1);
    assert_eq!(cpu.set, 2);
    let model = Model { guest_pgpr: false, ..Model::default() };
    let mut cpu = m5150_with(model, Console::default());
    cpu.write_cp0(Context::Guest, cp0::SRSCTL, bits, 1 << 26);
    guest(&mut cpu, CP0 | AT3, "rdpgpr t0, v0");
    assert_eq!(exits(&mut cpu, 0x180), (27, 0));
}

#[test]
fn exceptions_of_the_root_without_shadow_sets() {
    let model = Model { hss: 0, ..Model::default() };
    let mut cpu = m5150_with(model, Console::default());
    root_code(&mut cpu, "syscall");
    cpu.write_root(cp0::SRSCTL, 3 << 12);
    steps(&mut cpu, 1);
    assert_eq!((cpu.set, cpu.root[cp0::SRSCTL] & 0x3CF), (0, 0));
}

#[test]
fn count_and_compare_of_both_contexts() {
    let mut cpu = generic();
    root_code(&mut cpu, &"nop\n".repeat(200));
    cpu.write_root(cp0::COUNT, 100);
    cpu.write_root(cp0::GTOFFSET, -30i32 as u32);
    assert_eq!((cpu.count(Context::Root), cpu.count(Context::Guest)), (100, 70));
    cpu.write_root(cp0::COMPARE, 110);
    cpu.write_cp0(Context::Guest, cp0::COMPARE, u32::MAX, 85);
    steps(&mut cpu, 19);
    assert!(!cpu.root.has(cp0::CAUSE, cause::TI));
    steps(&mut cpu, 1);
    assert!(cpu.root.has(cp0::CAUSE, cause::TI), "ten steps of two clocks");
    assert_eq!(root(&cpu, cp0::CAUSE) >> 8 & 0xFF, 1 << 7, "IP7");
    assert!(!cpu.guest.has(cp0::CAUSE, cause::TI));
    steps(&mut cpu, 10);
    assert!(cpu.guest.has(cp0::CAUSE, cause::TI), "in root mode, too");
    cpu.write_root(cp0::COMPARE, 90);
    assert!(!cpu.root.has(cp0::CAUSE, cause::TI), "a write of Compare takes it back");
    cpu.write_root(cp0::CAUSE, cause::DC);
    let held = cpu.count(Context::Root);
    steps(&mut cpu, 50);
    assert_eq!(cpu.count(Context::Root), held);
    cpu.write_root(cp0::CAUSE, 0);
    steps(&mut cpu, 50);
    assert!((24..=26).contains(&(cpu.count(Context::Root) - held)));
}

/// The guest writes its Compare in the clock in which the root's Count matches Compare.
#[test]
fn a_match_outlives_a_write_of_the_other_compare() {
    for nops in 0..24 {
        let mut cpu = generic();
        guest(
            &mut cpu,
            CP0 | AT3 | guestctl0::GT,
            &("nop\n".repeat(nops) + "mtc0 $0, Compare\n" + &"nop\n".repeat(60)),
        );
        cpu.write_root(cp0::COUNT, 0);
        cpu.write_root(cp0::COMPARE, 6);
        steps(&mut cpu, 40);
        assert!(cpu.root.has(cp0::CAUSE, cause::TI), "lost after {nops} instructions");
    }
}

#[test]
fn a_narrow_gtoffset_has_a_sign() {
    let model = Model { gtoffset_bits: 16, ..Model::default() };
    let mut cpu = m5150_with(model, Console::default());
    cpu.write_root(cp0::GTOFFSET, u32::MAX);
    assert_eq!(cpu.root[cp0::GTOFFSET], 0xFFFF);
    cpu.write_root(cp0::COUNT, 10);
    assert_eq!(cpu.count(Context::Guest), 9);
}

/// The guest's timer raises its interrupt if wired: on the generic board, not on the real part.
#[test]
fn the_guests_timer_interrupt_where_it_is_wired() {
    for wired in [true, false] {
        let model = Model { guest_timer_wired: wired, ..Model::default() };
        let mut cpu = generic_with(model, Console::default());
        guest(&mut cpu, CP0 | AT3 | guestctl0::GT, &"nop\n".repeat(50));
        cpu.write_root(cp0::COUNT, 0);
        cpu.write_cp0(Context::Guest, cp0::COMPARE, u32::MAX, 5);
        cpu.write_cp0(Context::Guest, cp0::STATUS, u32::MAX, status::IE | 0x8000);
        steps(&mut cpu, 11);
        assert_eq!(cpu.guest.has(cp0::STATUS, status::EXL), wired);
        assert!(cpu.mode.is_guest());
    }
}

#[test]
fn interrupts_of_a_board_without_controller() {
    let mut cpu = generic();
    root_code(&mut cpu, "nop\n nop\n nop\n nop\n nop\n nop");
    cpu.write_root(cp0::CAUSE, 1 << 8);
    cpu.write_root(cp0::STATUS, status::IE | 1 << 9);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, ROOT + 4, "masked");
    cpu.write_root(cp0::STATUS, status::IE | 1 << 8);
    steps(&mut cpu, 1);
    assert_eq!((cpu.pc, cpu.root[cp0::EPC]), (0x8000_0184, ROOT + 4));
    for (iv, spacing, vector) in [(false, 0, 0x180), (true, 0, 0x200), (true, 1, 0x220)] {
        cpu.write_root(cp0::INTCTL, spacing << 5);
        cpu.write_root(cp0::CAUSE, 1 << 9 | if iv { cause::IV } else { 0 });
        cpu.write_root(cp0::STATUS, status::IE | 1 << 9);
        steps(&mut cpu, 1);
        assert_eq!(cpu.pc, VECTORS + vector + 4, "IV {iv}, VS {spacing}");
    }
}

#[test]
fn lines_and_virtual_interrupts_reach_a_guest() {
    let mut cpu = generic();
    guest(&mut cpu, CP0 | AT3, &"nop\n".repeat(20));
    cpu.write_cp0(Context::Guest, cp0::STATUS, u32::MAX, 0xFF00);
    let ip = |cpu: &Cpu| cpu.read_cp0(Context::Guest, cp0::CAUSE) >> 10 & 0x3F;
    cpu.write_root(cp0::GUESTCTL2, 1 << 12);
    steps(&mut cpu, 1);
    assert_eq!(ip(&cpu), 1 << 2, "VIP");
    cpu.write_root(cp0::GUESTCTL2, 0);
    // The UART's transmitter is empty: IP4, which is hardware interrupt 2.
    cpu.board.write(0x1FD0_03F9, 1, 2, 0).unwrap();
    steps(&mut cpu, 1);
    assert_eq!(ip(&cpu), 0, "not passed through");
    cpu.write_root(cp0::GUESTCTL0, cpu.root[cp0::GUESTCTL0] | 1 << 12);
    steps(&mut cpu, 1);
    assert_eq!(ip(&cpu), 1 << 2);
    assert_eq!(root(&cpu, cp0::CAUSE) >> 10 & 0x3F, 1 << 2, "the line is visible in the root, too");
    // HC: hardware clears VIP when the line falls.
    cpu.write_root(cp0::GUESTCTL2, 1 << 26 | 1 << 12);
    steps(&mut cpu, 1);
    cpu.board.write(0x1FD0_03F9, 1, 0, 0).unwrap();
    steps(&mut cpu, 1);
    cpu.request_service();
    steps(&mut cpu, 1);
    assert_eq!(cpu.root[cp0::GUESTCTL2] >> 10 & 0x3F, 0);
    cpu.write_cp0(Context::Guest, cp0::STATUS, u32::MAX, 0xFF01);
    cpu.write_root(cp0::GUESTCTL2, 1 << 12);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, 0x8000_0184, "taken by the guest");
}

fn sfr(cpu: &mut Cpu, address: u32, value: u32) {
    cpu.board.write(address & 0x1FFF_FFFF, 4, value, cpu.now).unwrap();
    cpu.request_service();
}

fn read_sfr(cpu: &mut Cpu, address: u32) -> u32 {
    cpu.board.read(address & 0x1FFF_FFFF, 4, cpu.now).unwrap()
}

/// The core's timer is interrupt 0, with vector offset, priority, edge-triggered flag and shadow
/// set.
#[test]
fn the_interrupt_controller() {
    let mut cpu = m5150();
    root_code(&mut cpu, &"nop\n".repeat(40));
    sfr(&mut cpu, 0xBF81_0008, 1 << 12); // INTCONSET: MVEC
    sfr(&mut cpu, 0xBF81_0010, 6 << 20); // PRISS: set 6 for priority 5
    sfr(&mut cpu, 0xBF81_00C0, 1); // IEC0
    sfr(&mut cpu, 0xBF81_0140, 5 << 2); // IPC0
    sfr(&mut cpu, 0xBF81_0540, 0x320); // OFF0
    cpu.write_root(cp0::CAUSE, cause::IV);
    cpu.write_root(cp0::INTCTL, 1 << 5);
    cpu.write_root(cp0::STATUS, status::IE | 5 << 10);
    cpu.write_root(cp0::COUNT, 0);
    cpu.write_root(cp0::COMPARE, 5);
    steps(&mut cpu, 20);
    assert_eq!(cpu.pc, ROOT + 80, "not above the level");
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) & 1, 1, "IFS0");
    cpu.write_root(cp0::STATUS, status::IE | 4 << 10);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, 0x8000_0324);
    assert_eq!(cpu.root[cp0::CAUSE] >> 10 & 0xFF, 5);
    assert_eq!((cpu.set, cpu.root[cp0::SRSCTL] >> 18 & 0xF), (6, 6));
    // A cleared flag stays clear until the next match of Count, whether or not Compare was written.
    sfr(&mut cpu, 0xBF81_0044, 1);
    steps(&mut cpu, 1);
    assert!(cpu.root.has(cp0::CAUSE, cause::TI));
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) & 1, 0);
}

/// A match directly after the write of Compare is a new edge.
#[test]
fn a_match_right_after_the_write_of_compare_sets_the_flag() {
    for (align, distance) in (0..2).flat_map(|align| (1..5).map(move |distance| (align, distance))) {
        let mut cpu = m5150();
        let text = format!("{}mfc0 t0, Count\n addiu t0, t0, {distance}\n mtc0 t0, Compare\n", "nop\n".repeat(align));
        root_code(&mut cpu, &(text + &"nop\n".repeat(20)));
        cpu.write_root(cp0::COUNT, 0);
        cpu.write_root(cp0::COMPARE, u32::MAX);
        cpu.write_cp0(Context::Root, cp0::CAUSE, cause::TI, cause::TI);
        steps(&mut cpu, align as u64 + 1);
        sfr(&mut cpu, 0xBF81_0044, 1);
        steps(&mut cpu, 20);
        let met = cpu.root.has(cp0::CAUSE, cause::TI);
        assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) & 1 != 0, met, "align {align}, distance {distance}");
    }
}

/// Interrupts 1 and 2 set their flags on the rising edges of Cause.IP0 and IP1, not while these are
/// high.
#[test]
fn software_interrupts_are_latched_by_their_edge() {
    let mut cpu = m5150();
    root_code(&mut cpu, &"nop\n".repeat(20));
    for irq in [1, 2] {
        let line = 0x100 << (irq - 1);
        for _ in 0..2 {
            cpu.write_root(cp0::CAUSE, line);
            steps(&mut cpu, 1);
            assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) & 6, 1 << irq);
            sfr(&mut cpu, 0xBF81_0044, 1 << irq);
            steps(&mut cpu, 1);
            assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) & 6, 0, "cleared while Cause.IP{} is 1", irq - 1);
            cpu.write_root(cp0::CAUSE, 0);
            steps(&mut cpu, 1);
        }
    }
}

/// A handler like that of the part's peripheral library, which clears the flag before it writes
/// Compare, runs once per period.
#[test]
fn a_handler_that_clears_the_flag_before_compare_is_entered_once_a_period() {
    const PERIOD: u64 = 10_000;
    let mut cpu = m5150();
    root_code(&mut cpu, "loop:\n beq zero, zero, loop\n nop");
    let handler =
        "lui t0, 0xBF81\n li t1, 1\n sw t1, 0x44(t0)\n mfc0 t2, Compare\n addiu t2, t2, 5000\n mtc0 t2, Compare\n eret";
    put(&mut cpu, 0x200, &common::asm::assemble(handler, VECTORS + 0x200));
    sfr(&mut cpu, 0xBF81_00C0, 1); // IEC0
    sfr(&mut cpu, 0xBF81_0140, 5 << 2); // IPC0
    cpu.write_root(cp0::CAUSE, cause::IV);
    cpu.write_root(cp0::STATUS, status::IE);
    cpu.write_root(cp0::COUNT, 0);
    cpu.write_root(cp0::COMPARE, 5000);
    let start = cpu.now;
    let mut entries = Vec::new();
    while entries.len() < 4 {
        steps(&mut cpu, 1);
        if cpu.pc == VECTORS + 0x204 {
            entries.push(cpu.now - start);
        }
    }
    let late = entries.iter().zip(1u64..).map(|(at, n)| at - n * PERIOD).collect::<Vec<_>>();
    assert!(late.iter().all(|late| *late < 20), "entries at {entries:?}");
}

/// Identification registers that software reads.
#[test]
fn the_parts_id_and_configuration_words() {
    let mut cpu = m5150();
    let id = read_sfr(&mut cpu, 0xBF80_0020);
    assert_eq!(id & 0x0FFF_FFFF, 0x0722_2053, "DEVID: a PIC32MZ2048EFG144");
    sfr(&mut cpu, 0xBF80_0020, 0);
    assert_eq!(read_sfr(&mut cpu, 0xBF80_0020), id, "DEVID cannot be written");
    assert!(cpu.board.notes().is_empty());
    for devcfg in (0x1FC0_FFC0..0x1FC0_FFD0).step_by(4) {
        assert_eq!(cpu.mem.peek_word(devcfg), Some(u32::MAX), "DEVCFG of erased flash");
    }
    put(&mut cpu, 0x1FC0_FFC8, &[0x7FFF_0039]);
    assert_eq!(cpu.mem.peek_word(0x1FC4_FFC8), Some(0x7FFF_0039), "DEVCFG1 as an image has it");
}

#[test]
fn interrupt_priorities() {
    let mut cpu = m5150();
    root_code(&mut cpu, &"nop\n".repeat(10));
    // Priorities and sub-priorities of interrupts 8 to 11, all pending.
    sfr(&mut cpu, 0xBF81_0160, 0x0D_0C_0D_05);
    sfr(&mut cpu, 0xBF81_00C0, 0xF00);
    sfr(&mut cpu, 0xBF81_0040, 0xF00);
    let first = |cpu: &mut Cpu| read_sfr(cpu, 0xBF81_0020) & 0xFF;
    let mut order = Vec::new();
    for _ in 0..4 {
        let irq = first(&mut cpu);
        order.push(irq);
        sfr(&mut cpu, 0xBF81_0044, 1 << irq);
    }
    assert_eq!(order, [9, 11, 10, 8], "priority, sub-priority, number");
    assert_eq!(first(&mut cpu), 0);
}

#[test]
fn peripheral_timers() {
    let mut cpu = m5150();
    root_code(&mut cpu, &"nop\n".repeat(1000));
    sfr(&mut cpu, 0xBF84_0020, 9); // PR1
    sfr(&mut cpu, 0xBF84_0000, 1 << 15 | 1 << 4); // T1CON: on, divided by 8
    steps(&mut cpu, 100);
    assert_eq!(read_sfr(&mut cpu, 0xBF84_0010), 6, "100 clocks of 16");
    steps(&mut cpu, 59);
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) >> 4 & 1, 0);
    steps(&mut cpu, 2);
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) >> 4 & 1, 1);
    assert_eq!(read_sfr(&mut cpu, 0xBF84_0010), 0);
    // Timers 2 and 3 joined to 32 bits.
    sfr(&mut cpu, 0xBF84_0200, 1 << 3);
    sfr(&mut cpu, 0xBF84_0220, 0x1_0000 + 20);
    sfr(&mut cpu, 0xBF84_0210, 0x1_0000);
    sfr(&mut cpu, 0xBF84_0208, 1 << 15);
    steps(&mut cpu, 41);
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) >> 14 & 1, 0);
    steps(&mut cpu, 2);
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) >> 14 & 1, 1, "timer 3's interrupt");
}

#[test]
fn registers_have_clear_set_and_invert_addresses() {
    let mut cpu = m5150();
    for (address, expected) in [(0, 0xF0), (8, 0xFF), (4, 0xF0), (12, 0xFF)] {
        sfr(&mut cpu, 0xBF81_00D0 + address, if address == 0 { 0xF0 } else { 0x0F });
        assert_eq!(read_sfr(&mut cpu, 0xBF81_00D0), expected, "+{address}");
    }
}

#[test]
fn a_uart_prints_and_receives() {
    let printed = Printed::default();
    let mut console = Console::new(Box::new(printed.clone()));
    console.queue_input([(0, b'x'), (50, b'y')]);
    let mut cpu = m5150_with(Model::default(), console);
    root_code(&mut cpu, &"nop\n".repeat(100));
    sfr(&mut cpu, 0xBF82_2220, b'-'.into());
    sfr(&mut cpu, 0xBF82_2200, 1 << 15);
    sfr(&mut cpu, 0xBF82_2218, 1 << 10 | 1 << 12);
    for byte in *b"hi" {
        sfr(&mut cpu, 0xBF82_2220, byte.into());
    }
    assert_eq!(printed.text(), "hi", "not before it is on");
    steps(&mut cpu, 2);
    assert_eq!(read_sfr(&mut cpu, 0xBF82_2210) & 0x111, 0x111, "received, idle, empty");
    assert_eq!(read_sfr(&mut cpu, 0xBF81_0080) >> (146 - 128) & 3, 3, "both interrupts");
    assert_eq!(read_sfr(&mut cpu, 0xBF82_2230), b'x'.into());
    assert_eq!(read_sfr(&mut cpu, 0xBF82_2210) & 1, 0);
    steps(&mut cpu, 60);
    assert_eq!(read_sfr(&mut cpu, 0xBF82_2230), b'y'.into());
}

#[test]
fn software_reset() {
    let mut cpu = m5150();
    root_code(&mut cpu, &"nop\n".repeat(10));
    put(&mut cpu, 0x100, &[0x1234]);
    for locked in [true, false] {
        if !locked {
            sfr(&mut cpu, 0xBF80_0030, 0xAA99_6655);
            sfr(&mut cpu, 0xBF80_0030, 0x5566_99AA);
        }
        sfr(&mut cpu, 0xBF80_1250, 1);
        read_sfr(&mut cpu, 0xBF80_1250);
        cpu.request_service();
        cpu.limit = cpu.instructions() + 1;
        cpu.run();
        assert_eq!(cpu.root.has(cp0::STATUS, status::BEV), !locked);
    }
    assert_eq!(cpu.mem.peek_word(0x100), Some(0x1234), "RAM stays");
    sfr(&mut cpu, 0xBF80_0000, 1);
    assert_eq!(cpu.board.notes(), ["0xbf800000 was written, but is modelled as storage only"]);
}

#[test]
fn wait_advances_time() {
    let mut cpu = generic();
    root_code(&mut cpu, "wait\n addiu v0, zero, 7");
    cpu.write_root(cp0::STATUS, 1 << 15);
    cpu.write_root(cp0::COUNT, 0);
    cpu.write_root(cp0::COMPARE, 1000);
    steps(&mut cpu, 2);
    assert_eq!(cpu.gpr[2], 7, "woken without IE, and not interrupted");
    assert_eq!(cpu.count(Context::Root), 1000);
    assert!((1997..=2001).contains(&cpu.idle), "{}", cpu.idle);
    // A core that the limit stops in WAIT remains in WAIT.
    let mut cpu = generic();
    root_code(&mut cpu, "wait\n addiu v0, zero, 7");
    cpu.write_root(cp0::STATUS, 1 << 15);
    cpu.write_root(cp0::COUNT, 0);
    cpu.write_root(cp0::COMPARE, 1000);
    steps(&mut cpu, 1);
    steps(&mut cpu, 1);
    assert_eq!((cpu.gpr[2], cpu.count(Context::Root)), (7, 1000));
    let mut cpu = generic();
    root_code(&mut cpu, "wait");
    cpu.write_root(cp0::CAUSE, cause::DC);
    assert_eq!(cpu.run(), Stop::Asleep);
}

#[test]
fn stores_invalidate_decoded_code() {
    let mut cpu = m5150();
    let new = asm::assemble("addiu v0, v0, 10", 0)[0];
    root_code(
        &mut cpu,
        "addiu v0, v0, 1\n sw t0, -4(t1)\n addiu t2, t2, 1\n slti t3, t2, 3\n bne t3, zero, 0x80004000\n nop\n nop",
    );
    cpu.gpr[8] = new;
    cpu.gpr[9] = ROOT + 4;
    steps(&mut cpu, 18);
    assert_eq!(cpu.gpr[2], 1 + 10 + 10);
}

#[test]
fn an_unmodelled_feature_stops_the_run() {
    let mut cpu = m5150();
    root_code(&mut cpu, ".word 0x46000000");
    cpu.write_root(cp0::STATUS, status::CU1);
    let Stop::Unimplemented(text) = cpu.run() else { panic!("it went on") };
    assert!(text.contains("FPU") && text.contains("0x46000000") && text.contains("0x80004000"), "{text}");
    assert_eq!((cpu.pc, cpu.instructions()), (ROOT, 0), "the instruction is left where it is");
    for (text, code) in [("jalx 0x80004000", 10), ("jr t0\n nop", 4)] {
        let model = Model { micromips: false, ..Model::default() };
        let mut cpu = m5150_with(model, Console::default());
        root_code(&mut cpu, text);
        cpu.gpr[8] = 0x8000_4001;
        run_to(&mut cpu, VECTORS + 0x180, 4);
        assert_eq!(code_of(&cpu), code, "{text}");
    }
}

#[test]
fn nested_exceptions_are_noted() {
    let mut cpu = m5150();
    put(&mut cpu, 0x180, &asm::assemble("nop\n syscall", 0));
    root_code(&mut cpu, "break");
    steps(&mut cpu, 1);
    assert_eq!([cpu.root[cp0::NESTEDEXC], cpu.root[cp0::NESTEDEPC], cpu.root[cp0::EPC]], [0, ROOT, ROOT]);
    steps(&mut cpu, 2);
    assert_eq!([cpu.root[cp0::NESTEDEXC], cpu.root[cp0::NESTEDEPC]], [status::EXL, 0x8000_0184]);
    assert_eq!((cpu.root[cp0::EPC], code_of(&cpu)), (ROOT, 8));
}

/// The run stops when the first instruction of a root vector raises an exception to the same
/// vector. A guest's endless exceptions continue until the root interrupts them.
#[test]
fn endless_exceptions_are_detected() {
    let mut cpu = m5150();
    put(&mut cpu, 0x180, &asm::assemble("syscall", 0));
    root_code(&mut cpu, "break");
    assert_eq!(cpu.run(), Stop::Endless("Sys".into()));
    assert_eq!((cpu.pc, cpu.instructions()), (0x8000_0180, 2));
    let mut cpu = m5150();
    guest(&mut cpu, CP0 | AT3, "break");
    put(&mut cpu, GUEST_MEMORY + 0x180, &asm::assemble("syscall", 0));
    steps(&mut cpu, 100);
}

#[test]
fn with_bev_vectors_are_in_the_boot_memory() {
    for (text, vector) in [("syscall", 0xBFC0_0380), ("lw t0, 0(zero)", 0xBFC0_0200)] {
        let mut cpu = m5150();
        root_code(&mut cpu, text);
        cpu.write_root(cp0::STATUS, status::BEV);
        steps(&mut cpu, 1);
        assert_eq!(cpu.pc, vector);
    }
}

#[test]
fn markers_count_what_is_between_them() {
    let mut cpu = m5150();
    root_code(
        &mut cpu,
        "sltiu zero, zero, 1\n nop\n nop\n sltiu zero, zero, 2\n nop\n sltiu zero, zero, 1\n sltiu zero, zero, 2",
    );
    cpu.stats.spans.push(iasim::stats::Span::new("1:2".into(), 1, 2));
    steps(&mut cpu, 7);
    assert_eq!(cpu.stats.spans[0].all, [3, 1], "the second marker is counted, the first is not");
}

/// Instructions are counted by context and mode.
#[test]
fn statistics_add_up() {
    let mut cpu = m5150();
    guest(&mut cpu, CP0 | AT3, "nop\n nop\n hypcall");
    let before = cpu.stats.instructions(0)[0];
    steps(&mut cpu, 3);
    steps(&mut cpu, 4);
    assert_eq!(cpu.stats.instructions(GUEST_ID as u8), [3, 0]);
    assert_eq!(cpu.stats.instructions(0)[0] - before, 4);
    assert_eq!(cpu.stats.exceptions((Some(GUEST_ID as u8), false, 27, Some(2))), 1);
}

/// A match of the guest's timer at the root's timer interrupt, as the real part may show;
/// level-triggered HC.
#[test]
fn model_options_of_lines() {
    for (on, ti) in [("off", false), ("on", true)] {
        let mut model = Model::default();
        model.set(&format!("guest-timer-irq0={on}")).unwrap();
        let mut cpu = m5150_with(model, Console::default());
        root_code(&mut cpu, &"nop\n".repeat(40));
        cpu.write_root(cp0::COUNT, 0);
        cpu.write_root(cp0::COMPARE, 1000);
        cpu.write_cp0(Context::Guest, cp0::COMPARE, u32::MAX, 5);
        steps(&mut cpu, 20);
        assert_eq!(read_sfr(&mut cpu, 0xBF81_0040) & 1 == 1, ti, "{on}");
    }
    for (hc, left) in [("edge", 1 << 2), ("level", 0)] {
        let mut model = Model::default();
        model.set(&format!("hc={hc}")).unwrap();
        let mut cpu = generic_with(model, Console::default());
        root_code(&mut cpu, "nop\n nop\n nop");
        cpu.write_root(cp0::GUESTCTL2, 1 << 26 | 1 << 12);
        steps(&mut cpu, 2);
        assert_eq!(cpu.root[cp0::GUESTCTL2] >> 10 & 0x3F, left, "{hc}");
    }
}

/// SDBBP in a guest enters the root's debug handler; DERET returns.
#[test]
fn debug_exceptions_of_a_guest_go_to_the_root() {
    let mut cpu = m5150();
    put(&mut cpu, 0x1FC0_0480, &asm::assemble("deret", 0));
    guest(&mut cpu, CP0 | AT3, "sdbbp 1\n nop");
    steps(&mut cpu, 1);
    assert_eq!((cpu.mode.is_guest(), cpu.pc), (false, 0xBFC0_0480));
    assert_eq!(cpu.root[cp0::DEPC], GUEST_CODE);
    steps(&mut cpu, 1);
    assert_eq!((cpu.mode.is_guest(), cpu.pc), (true, GUEST_CODE));
}

/// The MCU extension (ASET, ACLR, IRET), the code field of WAIT, and special cases.
#[test]
fn mcu_extension() {
    let mut cpu = m5150();
    root_code(&mut cpu, "aset 3, -1(t0)\n lbu t1, -1(t0)\n aclr 0, -1(t0)\n lbu t2, -1(t0)");
    put(&mut cpu, 0x1000, &[0x0500_0000]);
    cpu.gpr[8] = 0x8000_1004;
    steps(&mut cpu, 4);
    assert_eq!([cpu.gpr[9], cpu.gpr[10]], [0x0D, 0x0C]);
}
