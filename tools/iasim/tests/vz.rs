// SPDX-License-Identifier: Apache-2.0
//! The virtualization module: guest entry, exits, exceptions that stay in the guest. The first ten
//! tests cover cases on which all descriptions of the module agree.

mod common;

use common::*;
use iasim::cp0::{self, cause, guestctl0, guestctl0ext, status};
use iasim::cpu::{Context, Mode};
use iasim::model::{Gvec, Model};

const GE: u32 = 27;
const GPSI: (u32, u32) = (GE, 0);
const GSFC: (u32, u32) = (GE, 1);
const HC: (u32, u32) = (GE, 2);
const GRR: (u32, u32) = (GE, 3);
const GHFC: (u32, u32) = (GE, 9);
const GPA: u32 = 10;

/// A guest with access to all its own resources, which executes the text.
fn started(text: &str) -> iasim::cpu::Cpu {
    let mut cpu = m5150();
    guest(&mut cpu, CP0 | AT3 | guestctl0::GT | guestctl0::CF | guestctl0::CG, text);
    cpu
}

fn with_control(control: u32, text: &str) -> iasim::cpu::Cpu {
    let mut cpu = m5150();
    guest(&mut cpu, control, text);
    cpu
}

fn guest_write(cpu: &mut iasim::cpu::Cpu, reg: cp0::Reg, value: u32) {
    cpu.write_cp0(Context::Guest, reg, u32::MAX, value);
}

#[test]
fn a_kseg0_load_without_a_root_entry_is_a_refill_of_the_root() {
    let mut cpu = started("lw t0, 0(t1)");
    cpu.gpr[9] = 0x8000_3008;
    let asid = cpu.root[cp0::ENTRYHI] & 0xFF;
    assert_eq!(exits(&mut cpu, 0x000), (2, GPA));
    assert_eq!(cpu.root[cp0::BADVADDR], 0x3008, "guest physical");
    assert_eq!(cpu.root[cp0::ENTRYHI], 0x2000 | asid);
    assert_eq!(cpu.root[cp0::CONTEXT] & 0x7F_FFF0, 0x3008 >> 13 << 4);
    assert_eq!(cpu.root[cp0::EPC], GUEST_CODE);
    assert_eq!(cpu.root[cp0::BADINSTR], 0x8D28_0000);
    assert!(cpu.root.has(cp0::GUESTCTL0, GM), "GM stays");
}

#[test]
fn b_an_invalid_root_entry_is_not_a_refill() {
    let mut cpu = started("lw t0, 0(t1)");
    root_map(&mut cpu, 1, GUEST_ID, 0x2000, [lo(0x2_0000), lo(0x2_1000) & !iasim::tlb::V]);
    cpu.gpr[9] = 0x8000_3008;
    assert_eq!(exits(&mut cpu, 0x180), (2, GPA));
}

#[test]
fn c_a_store_to_a_clean_root_entry_is_modified() {
    let mut cpu = started("sw t0, 0(t1)");
    root_map(&mut cpu, 1, GUEST_ID, 0x2000, [lo(0x2_0000), lo(0x2_1000) & !iasim::tlb::D]);
    cpu.gpr[9] = 0xA000_3004;
    assert_eq!(exits(&mut cpu, 0x180), (1, GPA));
    assert_eq!(cpu.root[cp0::BADVADDR], 0x3004);
}

#[test]
fn d_a_miss_in_the_guests_tlb_goes_to_the_guest() {
    let mut cpu = started("lw t0, 0(t1)");
    cpu.gpr[9] = 0x0040_0010;
    assert_eq!(stays(&mut cpu, 0x000), 2);
    assert_eq!(cpu.guest[cp0::BADVADDR], 0x0040_0010);
    assert_eq!(cpu.guest[cp0::ENTRYHI] & cp0::entryhi::VPN2, 0x0040_0000);
    assert_eq!(cpu.guest[cp0::EPC], GUEST_CODE);
    assert_eq!(cpu.guest[cp0::BADINSTR], 0x8D28_0000);
    assert_eq!(cpu.root[cp0::BADVADDR], 0, "the root is not affected");
}

#[test]
fn e_a_guests_write_of_count_is_emulated() {
    let mut cpu = started("mtc0 t0, Count");
    assert_eq!(exits(&mut cpu, 0x180), GPSI);
    assert_eq!(cpu.root[cp0::BADINSTR], 0x4088_4800);
}

#[test]
fn f_a_hypercall_in_a_delay_slot() {
    let mut cpu = started("beq zero, zero, 0x80000440\n hypcall 5");
    steps(&mut cpu, 1);
    assert_eq!(exits(&mut cpu, 0x180), HC);
    assert!(cpu.root.has(cp0::CAUSE, cause::BD));
    assert_eq!(cpu.root[cp0::EPC], GUEST_CODE, "the branch");
    assert_eq!(cpu.root[cp0::BADINSTR], 0x4200_2828);
    assert_eq!(cpu.root[cp0::BADINSTRP], 0x1000_000F);
}

#[test]
fn g_clearing_exl_by_mtc0_enters_the_guest() {
    let mut cpu = started("hypcall");
    exits(&mut cpu, 0x180);
    put(&mut cpu, 0x180, &asm::assemble("mtc0 zero, Status", 0x8000_0180));
    steps(&mut cpu, 1);
    assert_eq!(cpu.mode, Mode::GuestKernel);
    assert_eq!(cpu.pc, 0x8000_0184, "execution continues after MTC0, at a guest address");
}

#[test]
fn h_tlbr_returns_the_guest_id() {
    let mut cpu = m5150();
    root_map(&mut cpu, 2, 5, 0x4000, [lo(0x2_0000), lo(0x2_1000)]);
    root_code(&mut cpu, "mtc0 t0, Index\n tlbr\n mtc0 t1, Index\n tlbr");
    cpu.gpr[8] = 2;
    cpu.gpr[9] = 9;
    cpu.write_root(cp0::GUESTCTL1, 1);
    steps(&mut cpu, 2);
    assert_eq!(cpu.root[cp0::GUESTCTL1], 5 << 16 | 1);
    assert_eq!(cpu.root[cp0::ENTRYHI] & cp0::entryhi::VPN2, 0x4000);
    assert_eq!(cpu.root[cp0::ENTRYLO0] & 1, 1, "global, as every entry of a guest is");
    steps(&mut cpu, 2);
    assert_eq!(cpu.root[cp0::GUESTCTL1], 1, "an entry out of range has no GuestID");
    assert_eq!(cpu.root[cp0::ENTRYHI], cp0::entryhi::EHINV);
    assert_eq!([cpu.root[cp0::ENTRYLO0], cpu.root[cp0::ENTRYLO1], cpu.root[cp0::PAGEMASK]], [0; 3]);
}

#[test]
fn i_entries_match_only_their_guest_id() {
    let mut cpu = started("lw t0, 0(t1)");
    root_map(&mut cpu, 1, 0, 0x2000, [lo(0x2_0000) | 1, lo(0x2_1000) | 1]);
    cpu.gpr[9] = 0x8000_3008;
    assert_eq!(exits(&mut cpu, 0x000), (2, GPA), "the root's entry does not match in the guest");
    root_map(&mut cpu, 2, GUEST_ID, 0x40_0000, [lo(0x2_0000) | 1, lo(0x2_1000) | 1]);
    put(&mut cpu, 0, &asm::assemble("lw t0, 0(t1)", VECTORS));
    cpu.gpr[9] = 0x40_0000;
    cpu.write_root(cp0::STATUS, 0);
    cpu.root[cp0::GUESTCTL0] &= !GM;
    cpu.update_mode();
    cpu.jump(VECTORS);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, VECTORS, "a refill: the guest's entry does not match in the root");
    assert_eq!(cpu.root[cp0::BADVADDR], 0x40_0000);
    cpu.gpr[9] = 0x2000;
    cpu.write_root(cp0::STATUS, 0);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, VECTORS + 4, "its own does");
}

/// EIC, level 3: taken only if it is above the guest's own level.
#[test]
fn j_an_injected_interrupt_waits_for_the_guests_level() {
    let mut cpu = started("nop\n nop\n nop");
    cpu.write_root(cp0::GUESTCTL2, 3 << 24 | 0x240);
    guest_write(&mut cpu, cp0::STATUS, 3 << 10 | status::IE);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, GUEST_CODE + 4);
    assert_eq!(cpu.root[cp0::GUESTCTL2] >> 24, 3);
    guest_write(&mut cpu, cp0::STATUS, 2 << 10 | status::IE);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, 0x8000_0244, "Guest.EBase + GVEC, and one instruction there");
    assert_eq!(cpu.root[cp0::GUESTCTL2] >> 24, 0, "accepted");
    assert_eq!(cpu.guest[cp0::CAUSE] >> 10 & 0xFF, 3);
    assert_eq!(cpu.guest[cp0::EPC], GUEST_CODE + 4);
}

#[test]
fn an_interrupt_in_a_guest_needs_its_status() {
    for blocked in [0, status::IE | status::EXL, status::IE | status::ERL] {
        let mut cpu = started("nop\n nop");
        cpu.write_root(cp0::GUESTCTL2, 3 << 24 | 0x240);
        guest_write(&mut cpu, cp0::STATUS, blocked);
        steps(&mut cpu, 1);
        assert_eq!(cpu.pc, GUEST_CODE + 4, "{blocked:x}");
    }
}

#[test]
fn the_vector_of_an_injected_interrupt_is_a_property_of_the_model() {
    let cases =
        [(Gvec::Offset, 0, 0), (Gvec::ZeroIs200, 0, 0x200), (Gvec::ZeroIs200, 0x40, 0x40), (Gvec::Number, 3, 0x260)];
    for (gvec, given, offset) in cases {
        let model = Model { gvec, ..Model::default() };
        let mut cpu = m5150_with(model, Default::default());
        guest(&mut cpu, CP0 | AT3, "nop");
        guest_write(&mut cpu, cp0::INTCTL, 1 << 5);
        cpu.write_root(cp0::GUESTCTL2, 1 << 24 | given);
        guest_write(&mut cpu, cp0::STATUS, status::IE);
        steps(&mut cpu, 1);
        assert_eq!(cpu.pc, 0x8000_0000 + offset + 4, "{gvec:?}");
    }
}

/// Instructions not permitted to the guest exit with GPSI and have no other effect.
#[test]
fn privileged_sensitive_instructions() {
    let all = CP0 | AT3 | guestctl0::GT | guestctl0::CF | guestctl0::CG;
    let cases = [
        (all, "wait"),
        (all, "mtc0 t0, Count"),
        (all, "mfc0 t0, PRId"),
        (all, "mfc0 t0, SRSCtl"),
        (all, "mtc0 t0, SRSCtl"),
        (all, "mfc0 t0, SRSMap"),
        (all, "mfc0 t0, SRSMap2"),
        (all, "mfc0 t0, CDMMBase"),
        (all, "mfc0 t0, TagLo"),
        (all, "mfc0 t0, DataLo"),
        (all, "mfc0 t0, ErrCtl"),
        (all, "mfc0 t0, CacheErr"),
        (all, "mfc0 t0, WatchLo0"),
        (all, "mfc0 t0, WatchHi3"),
        (all, "mfc0 t0, Debug"),
        (all, "mfc0 t0, PerfCtl0"),
        (all, "mtc0 t0, PerfCnt1"),
        (all, "mtc0 t0, Config6"),
        (all, "mtc0 t0, Config7"),
        (all, "rdpgpr t0, t1"),
        (all, "wrpgpr t0, t1"),
        (all & !guestctl0::GT, "mfc0 t0, Count"),
        (all & !guestctl0::GT, "mfc0 t0, Compare"),
        (all & !guestctl0::GT, "mtc0 t0, Compare"),
        (all & !guestctl0::GT, "rdhwr t0, $2"),
        (all & !guestctl0::CF, "mtc0 t0, Config"),
        (all & !guestctl0::CF, "mtc0 t0, Config1"),
        (all & !guestctl0::CF, "mtc0 t0, Config3"),
        (all & !guestctl0::CG, "cache 0x15, 0(zero)"),
        (all, "cache 0x00, 0(zero)"),
        (all, "cache 0x08, 0(zero)"),
        (all & !CP0, "mfc0 t0, EPC"),
        (all & !CP0, "mtc0 t0, EPC"),
        (all & !CP0, "eret"),
        (all & !CP0, "di"),
        (all & !CP0, "ei"),
        (all & !CP0, "tlbwi"),
        (all & !CP0, "cache 0x15, 0(zero)"),
        (all & !AT3 | 1 << 26, "tlbwi"),
        (all & !AT3 | 1 << 26, "tlbp"),
        (all & !AT3 | 1 << 26, "tlbinvf"),
        (all & !AT3 | 1 << 26, "mfc0 t0, EntryHi"),
        (all & !AT3 | 1 << 26, "mtc0 t0, PageMask"),
    ];
    for (control, text) in cases {
        let mut cpu = with_control(control, text);
        cpu.gpr[8] = 0x1234_5678;
        assert_eq!(exits(&mut cpu, 0x180), GPSI, "{text}");
        assert_eq!(cpu.root[cp0::EPC], GUEST_CODE, "{text}");
        assert_eq!(cpu.root[cp0::BADINSTR], asm::assemble(text, GUEST_CODE)[0], "{text}");
        assert_eq!(cpu.gpr[8], 0x1234_5678, "{text}: not executed");
    }
}

/// The same instructions, permitted.
#[test]
fn instructions_permitted_to_a_guest() {
    let cases = [
        "mfc0 t0, Count",
        "mfc0 t0, Compare",
        "mtc0 t0, Compare",
        "rdhwr t0, $2",
        "mfc0 t0, Config",
        "mtc0 t0, Config",
        "mfc0 t0, Config1",
        "mfc0 t0, EntryHi",
        "mtc0 t0, EntryLo0",
        "mfc0 t0, BadVAddr",
        "mfc0 t0, BadInstr",
        "mtc0 t0, UserLocal",
        "mtc0 t0, KScratch1",
        "mtc0 t0, EPC",
        "mtc0 t0, EBase",
        "mfc0 t0, View_RIPL",
        "mfc0 t0, NestedExc",
        "mtc0 t0, NestedEPC",
        "cache 0x15, 0(t2)",
        "synci 0(t2)",
        "tlbr",
        "tlbp",
        "tlbwr",
        "tlbinv",
        "di",
        "ei",
        "mfc0 t0, GuestCtl0",
        "mtc0 t0, GuestCtl1",
    ];
    for text in cases {
        let mut cpu = started(text);
        cpu.gpr[10] = 0x8000_0000;
        steps(&mut cpu, 1);
        assert_eq!((cpu.mode, cpu.pc), (Mode::GuestKernel, GUEST_CODE + 4), "{text}");
    }
    assert_eq!(m5150().root[cp0::GUESTCTL1], 0);
}

#[test]
fn guestctl0ext_makes_more_instructions_exit() {
    let cases = [
        (guestctl0ext::MG, "mfc0 t0, Index"),
        (guestctl0ext::MG, "mtc0 t0, EntryLo0"),
        (guestctl0ext::MG, "mfc0 t0, Context"),
        (guestctl0ext::MG, "mtc0 t0, PageMask"),
        (guestctl0ext::MG, "mtc0 t0, Wired"),
        (guestctl0ext::MG, "mfc0 t0, EntryHi"),
        (guestctl0ext::BG, "mfc0 t0, BadVAddr"),
        (guestctl0ext::BG, "mfc0 t0, BadInstr"),
        (guestctl0ext::BG, "mfc0 t0, BadInstrP"),
        (guestctl0ext::OG, "mfc0 t0, UserLocal"),
        (guestctl0ext::OG, "mtc0 t0, HWREna"),
        (guestctl0ext::OG, "mfc0 t0, LLAddr"),
        (guestctl0ext::OG, "mfc0 t0, KScratch1"),
    ];
    for (bit, text) in cases {
        let mut cpu = started(text);
        steps(&mut cpu, 1);
        assert!(cpu.mode.is_guest(), "{text} without the bit");
        let mut cpu = started(text);
        cpu.write_root(cp0::GUESTCTL0EXT, bit);
        assert_eq!(exits(&mut cpu, 0x180), GPSI, "{text}");
    }
    // CGI permits invalidation by index, but no operation on tags.
    let mut cpu = started("cache 0x00, 0(t2)\n cache 0x01, 0(t2)\n cache 0x04, 0(t2)");
    cpu.gpr[10] = 0x8000_0000;
    cpu.write_root(cp0::GUESTCTL0EXT, guestctl0ext::CGI);
    steps(&mut cpu, 2);
    assert!(cpu.mode.is_guest());
    assert_eq!(exits(&mut cpu, 0x180), GPSI);
}

/// Changes of fields that the root watches exit; the value is not written.
#[test]
fn software_field_changes() {
    let cases = [
        ("Status", status::CU1, 0, true),
        ("Status", status::CU1, guestctl0::SFC1, false),
        ("Status", status::CU2, 0, true),
        ("Status", status::CU2, guestctl0::SFC2, false),
        ("Status", status::RP, 0, true),
        ("Status", status::BEV, 0, true),
        ("Status", status::TS, 0, true),
        ("Status", status::SR, 0, true),
        ("Status", status::NMI, 0, true),
        ("Status", status::EXL, 0, false),
        ("Status", status::EXL, guestctl0::MC, true),
        ("Status", status::ERL, guestctl0::MC, true),
        ("Status", status::UM, guestctl0::MC, true),
        ("Status", status::IE | 0xFF00, guestctl0::MC, false),
        ("Cause", cause::DC, 0, true),
        ("Cause", cause::IV, 0, true),
        ("Cause", cause::IP10, 0, false),
        ("IntCtl", 1 << 5, 0, true),
        ("PageGrain", cp0::pagegrain::IEC, 0, true),
    ];
    for (name, value, control, watched) in cases {
        let text = format!("mtc0 t0, {name}\n nop");
        let reg = cp0::SPECS.iter().find(|spec| spec.name == name).unwrap().reg;
        let mut cpu = with_control(CP0 | AT3 | control, &text);
        let before = cpu.guest[reg];
        cpu.gpr[8] = before ^ value;
        if watched {
            assert_eq!(exits(&mut cpu, 0x180), GSFC, "{name} {value:x}");
            assert_eq!(cpu.guest[reg], before, "{name} {value:x} is not written");
        } else {
            steps(&mut cpu, 1);
            assert!(cpu.mode.is_guest(), "{name} {value:x}");
        }
        let mut cpu = with_control(CP0 | AT3 | control, &text);
        cpu.write_root(cp0::GUESTCTL0EXT, guestctl0ext::FCD);
        cpu.gpr[8] = before ^ value;
        steps(&mut cpu, 1);
        assert!(cpu.mode.is_guest(), "{name} {value:x} with FCD");
    }
    // A write that does not change the field does not exit.
    let mut cpu = with_control(CP0 | AT3 | guestctl0::MC, "mtc0 t0, Status");
    cpu.gpr[8] = 0xFF01;
    steps(&mut cpu, 1);
    assert!(cpu.mode.is_guest());
    assert_eq!(cpu.guest[cp0::STATUS], 0xFF01);
}

#[test]
fn hardware_field_changes_come_after_the_guests_exception() {
    let mut cpu = with_control(CP0 | AT3 | guestctl0::MC, "syscall");
    assert_eq!(exits(&mut cpu, 0x180), GHFC);
    assert_eq!(guest_code(&cpu), 8, "the guest's side is complete");
    assert_eq!(cpu.guest[cp0::EPC], GUEST_CODE);
    assert_eq!(cpu.root[cp0::EPC], 0x8000_0180, "the guest's handler");
    put(&mut cpu, 0x180, &asm::assemble("eret", 0x8000_0180));
    steps(&mut cpu, 1);
    assert_eq!((cpu.mode, cpu.pc), (Mode::GuestKernel, 0x8000_0180));
    for quiet in ["MC", "FCD"] {
        let mut cpu = with_control(CP0 | AT3 | if quiet == "MC" { 0 } else { guestctl0::MC }, "syscall");
        cpu.write_root(cp0::GUESTCTL0EXT, if quiet == "FCD" { guestctl0ext::FCD } else { 0 });
        assert_eq!(stays(&mut cpu, 0x180), 8, "{quiet}");
    }
}

/// Exceptions that the guest handles itself.
#[test]
fn exceptions_that_stay_in_the_guest() {
    let cases = [
        ("syscall", 8),
        ("break", 9),
        ("teq zero, zero", 13),
        ("add t0, t1, t1", 12),
        (".word 0x9c000000", 10),
        ("lw t0, 1(zero)", 4),
        ("sw t0, 2(zero)", 5),
        ("cop1", 11),
        ("mfgc0 t0, Status", 10),
        ("mtgc0 t0, Status", 10),
        ("tlbgr", 10),
        ("tlbgwi", 10),
        ("tlbginvf", 10),
        ("mfhc0 t0, EntryLo0", 10),
    ];
    for (text, code) in cases {
        let text = if text == "cop1" { ".word 0x44000000" } else { text };
        let mut cpu = started(text);
        cpu.gpr[9] = 0x7FFF_FFFF;
        assert_eq!(stays(&mut cpu, 0x180), code, "{text}");
    }
}

#[test]
fn in_the_guests_user_mode_coprocessor_0_is_not_usable() {
    for text in [
        "mfc0 t0, Status",
        "mfgc0 t0, Status",
        "hypcall",
        "wait",
        "eret",
        "tlbwi",
        "di",
        "cache 0, 0(zero)",
        "rdpgpr t0, t1",
    ] {
        let mut cpu = started(text);
        // The code is mapped for the guest's user mode at 0x400000.
        let entry = iasim::tlb::Entry::new(0x40_0000, 0, [lo(0) | 1, lo(0x1000) | 1], GUEST_ID as u8);
        cpu.guest_tlb.write(0, entry);
        guest_write(&mut cpu, cp0::STATUS, status::UM);
        cpu.jump(0x40_0400);
        assert_eq!(stays(&mut cpu, 0x180), 11, "{text}");
        assert_eq!(cpu.guest[cp0::CAUSE] & cause::CE, 0);
    }
}

#[test]
fn reserved_instructions_can_be_redirected() {
    let mut cpu = with_control(CP0 | AT3 | guestctl0::RI, ".word 0x9c000000");
    assert_eq!(exits(&mut cpu, 0x180), GRR);
    let mut cpu = with_control(CP0 | AT3 | guestctl0::RI, "mfgc0 t0, Status");
    assert_eq!(exits(&mut cpu, 0x180), GRR);
}

#[test]
fn a_coprocessor_needs_both_contexts() {
    let mut cpu = started(".word 0x44000000");
    guest_write(&mut cpu, cp0::STATUS, status::CU1);
    assert_eq!(exits(&mut cpu, 0x180).0, 11, "the root's CU1 is 0");
    assert_eq!(cpu.root[cp0::CAUSE] & cause::CE, 1 << 28);
}

#[test]
fn bus_errors_go_to_the_root() {
    let mut cpu = started("lw t0, 0(t1)");
    root_map(&mut cpu, 1, GUEST_ID, 0x2000, [lo(0x0F00_0000), lo(0x0F00_1000)]);
    cpu.gpr[9] = 0x8000_2000;
    assert_eq!(exits(&mut cpu, 0x180).0, 7);
    let mut cpu = started("jr t1\n nop");
    root_map(&mut cpu, 1, GUEST_ID, 0x2000, [lo(0x0F00_0000), lo(0x0F00_1000)]);
    cpu.gpr[9] = 0x8000_2000;
    steps(&mut cpu, 2);
    assert_eq!(exits(&mut cpu, 0x180).0, 6);
}

#[test]
fn inhibited_pages_have_their_codes() {
    use iasim::tlb::{RI, XI};
    for (grain, codes) in [(0, (2, 2)), (cp0::pagegrain::IEC, (19, 20))] {
        let mut cpu = started("lw t0, 0(t1)");
        cpu.write_root(cp0::PAGEGRAIN, grain | cp0::pagegrain::RIE | cp0::pagegrain::XIE);
        root_map(&mut cpu, 1, GUEST_ID, 0x2000, [lo(0x2_0000) | RI, lo(0x2_1000) | XI]);
        cpu.gpr[9] = 0x8000_2000;
        assert_eq!(exits(&mut cpu, 0x180), (codes.0, GPA));
        cpu.jump(ROOT);
        cpu.write_root(cp0::EPC, 0x8000_3000);
        steps(&mut cpu, 1);
        assert!(cpu.mode.is_guest());
        assert_eq!(exits(&mut cpu, 0x180), (codes.1, GPA));
    }
}

/// Guest.Status.ERL maps the guest's kuseg to guest-physical addresses; the root's TLB still
/// applies.
#[test]
fn guest_segments_lead_to_guest_physical_addresses() {
    for (va, erl) in [(0x8000_1010u32, false), (0xA000_1010, false), (0x0000_1010, true)] {
        let mut cpu = started("lw t0, 0(t1)");
        put(&mut cpu, GUEST_MEMORY + 0x1010, &[0xCAFE_F00D]);
        cpu.gpr[9] = va;
        if erl {
            guest_write(&mut cpu, cp0::STATUS, status::ERL);
        }
        steps(&mut cpu, 1);
        assert_eq!(cpu.gpr[8], 0xCAFE_F00D, "{va:x}");
    }
}

/// If both stages fault, the guest's fault is taken.
#[test]
fn the_guests_fault_precedes_the_roots() {
    let mut cpu = started("lw t0, 0(t1)");
    cpu.gpr[9] = 0x0800_0002;
    assert_eq!(stays(&mut cpu, 0x180), 4, "address error before both TLBs");
    let mut cpu = started("lw t0, 0(t1)");
    cpu.gpr[9] = 0x0800_0000;
    assert_eq!(stays(&mut cpu, 0x000), 2, "the guest's refill before the root's");
}

#[test]
fn entry_by_eret_keeps_the_guest_context() {
    let mut cpu = started("hypcall");
    guest_write(&mut cpu, cp0::EPC, 0x1234);
    cpu.llbit = [true, true];
    exits(&mut cpu, 0x180);
    put(&mut cpu, 0x180, &asm::assemble("eret", 0x8000_0180));
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, GUEST_CODE);
    assert_eq!(cpu.guest[cp0::EPC], 0x1234);
    assert_eq!(cpu.llbit, [false, true], "the root's LLbit alone");
}

#[test]
fn an_interrupt_of_the_root_leaves_the_guest_whatever_its_status() {
    let mut cpu = started("nop\n nop\n nop");
    guest_write(&mut cpu, cp0::STATUS, status::EXL);
    // Software interrupt 0 is interrupt 1 of the controller.
    cpu.board.write(0x1F81_00C8, 4, 2, 0).unwrap();
    cpu.board.write(0x1F81_0148, 4, 4 << 10, 0).unwrap();
    cpu.write_root(cp0::STATUS, status::IE);
    cpu.write_root(cp0::CAUSE, 1 << 8);
    steps(&mut cpu, 1);
    assert!(!cpu.mode.is_guest());
    assert_eq!(cpu.pc, VECTORS + 0x184);
    assert_eq!(cpu.root[cp0::CAUSE] >> 2 & 31, 0);
    assert_eq!(cpu.root[cp0::CAUSE] >> 10 & 0xFF, 4, "RIPL");
    assert_eq!(cpu.guest[cp0::STATUS], status::EXL);
}

#[test]
fn the_root_reads_and_writes_its_guests_registers() {
    let mut cpu = m5150();
    root_code(
        &mut cpu,
        "mtgc0 t0, Status\n mfgc0 t1, Status\n mtgc0 t0, Count\n mtgc0 t0, Config3\n mfgc0 t2, Config3",
    );
    cpu.gpr[8] = 0x0040_0404;
    let count = cpu.count(Context::Guest);
    steps(&mut cpu, 5);
    assert_eq!(cpu.gpr[9], 0x0040_0404);
    assert_eq!(cpu.root[cp0::STATUS], 0, "the root's own is untouched");
    assert!(cpu.count(Context::Guest) <= count + 3, "Count does not take the write");
    assert_eq!(cpu.gpr[10], 0x8C22_B060, "nor does Config3, in which there is no virtualization");
}

/// The guest's DC is a bit without effect, with GuestCtl0.GT and without: its root emulates it.
#[test]
fn the_guests_cause_dc_stops_no_count() {
    for control in [guestctl0::GT, 0] {
        let mut cpu = with_control(CP0 | AT3 | control, &"nop\n".repeat(40));
        cpu.write_cp0(Context::Guest, cp0::COMPARE, u32::MAX, cpu.count(Context::Guest) + 10);
        cpu.write_cp0(Context::Guest, cp0::CAUSE, u32::MAX, cause::DC);
        let before = [Context::Root, Context::Guest].map(|context| cpu.count(context));
        steps(&mut cpu, 40);
        let after = [Context::Root, Context::Guest].map(|context| cpu.count(context));
        assert_eq!(after.map(|count| count - 20), before);
        assert_eq!(cpu.guest[cp0::CAUSE], cause::DC | cause::TI);
    }
}

#[test]
fn hypercalls_and_the_rest_of_the_module_in_the_root() {
    let mut cpu = m5150();
    root_code(&mut cpu, "hypcall");
    steps(&mut cpu, 1);
    assert_eq!(cpu.root[cp0::CAUSE] >> 2 & 31, 10);
}

#[test]
fn guest_ids_are_as_wide_as_the_model() {
    for (bits, width) in [(3, 7), (8, 0xFF)] {
        let mut cpu = m5150_with(Model { guest_id_bits: bits, ..Model::default() }, Default::default());
        cpu.write_root(cp0::GUESTCTL1, u32::MAX);
        assert_eq!(cpu.root[cp0::GUESTCTL1], width << 16 | width);
    }
}

#[test]
fn drg_accesses_guest_memory() {
    let mut cpu = started("hypcall");
    put(&mut cpu, GUEST_MEMORY + 0x1010, &[0xCAFE_F00D]);
    exits(&mut cpu, 0x180);
    put(&mut cpu, 0x180, &asm::assemble("lw t0, 0x1010(zero)", 0x8000_0180));
    cpu.write_root(cp0::GUESTCTL0, cpu.root[cp0::GUESTCTL0] | guestctl0::DRG);
    steps(&mut cpu, 1);
    assert_eq!(cpu.gpr[8], 0xCAFE_F00D);
}

/// Accesses of the running guest use GuestCtl1.ID, not RID.
#[test]
fn a_guests_accesses_use_id_not_rid() {
    let mut cpu = started("lw t0, 0(t1)\n lw t0, 0(t2)");
    put(&mut cpu, GUEST_MEMORY + 0x1010, &[0xCAFE_F00D]);
    cpu.gpr[9] = 0x8000_1010;
    cpu.gpr[10] = 0x40_0010;
    let entry = iasim::tlb::Entry::new(0x40_0000, 0, [lo(0x1000) | 1, 1], GUEST_ID as u8);
    cpu.guest_tlb.write(0, entry);
    cpu.write_root(cp0::GUESTCTL1, 5 << 16 | GUEST_ID);
    for _ in 0..2 {
        cpu.gpr[8] = 0;
        steps(&mut cpu, 1);
        assert_eq!(cpu.gpr[8], 0xCAFE_F00D);
    }
    assert!(cpu.mode.is_guest());
}

/// Entries with GuestID 0 belong to the root; a guest with ID 0 does not match them.
#[test]
fn a_guest_with_number_0_matches_nothing() {
    let mut cpu = started("lw t0, 0(t1)");
    root_map(&mut cpu, 1, 0, 0, [lo(0x2_0000) | 1, lo(0x2_1000) | 1]);
    cpu.write_root(cp0::GUESTCTL1, 0);
    cpu.close_window();
    assert_eq!(exits(&mut cpu, 0x000), (2, GPA));
    assert_eq!(cpu.root[cp0::BADVADDR], 0x400, "the fetch itself");
}

/// The refill vector is used only outside of handlers; with EXL set, a miss uses the general
/// vector.
#[test]
fn a_miss_inside_a_handler_is_no_refill() {
    let mut cpu = started("lw t0, 0(t1)");
    cpu.gpr[9] = 0x40_0000;
    guest_write(&mut cpu, cp0::STATUS, status::EXL);
    guest_write(&mut cpu, cp0::EPC, 0x1234);
    assert_eq!(stays(&mut cpu, 0x180), 2);
    assert_eq!(cpu.guest[cp0::EPC], 0x1234, "and EPC is kept");
    let mut cpu = m5150();
    root_code(&mut cpu, "lw t0, 0(zero)");
    cpu.write_root(cp0::STATUS, status::EXL);
    steps(&mut cpu, 1);
    assert_eq!((cpu.pc, cpu.root[cp0::CAUSE] >> 2 & 31), (VECTORS + 0x180, 2));
}

/// With BEV, the guest's vectors are in its boot memory, at guest-virtual addresses.
#[test]
fn guest_vectors_with_bev() {
    let mut cpu = started("syscall");
    guest_write(&mut cpu, cp0::STATUS, status::BEV);
    steps(&mut cpu, 1);
    assert_eq!((cpu.mode, cpu.pc), (Mode::GuestKernel, 0xBFC0_0380));
    steps(&mut cpu, 1);
    assert_eq!(exit_codes(&cpu), (2, GPA));
    assert_eq!(cpu.root[cp0::BADVADDR], 0x1FC0_0380);
}

/// Model options of behaviours that the descriptions leave open: both values.
#[test]
fn model_options_of_the_module() {
    let with = |choice: &str, control: u32, text: &str| {
        let mut model = Model::default();
        model.set(choice).unwrap();
        let mut cpu = m5150_with(model, Default::default());
        guest(&mut cpu, control, text);
        cpu
    };
    let gva = &mut with("badvaddr=gva", CP0 | AT3, "lw t0, 0(t1)");
    gva.gpr[9] = 0x8000_3008;
    assert_eq!(exits(gva, 0), (2, 8));
    assert_eq!(gva.root[cp0::BADVADDR], 0x8000_3008);
    assert_eq!(exits(&mut with("hidden=gpsi", CP0 | AT3, "mfc0 t0, GuestCtl0"), 0x180), GPSI);
    assert_eq!(exits(&mut with("synci=gpsi", CP0 | AT3, "synci 0(zero)"), 0x180), GPSI);
    assert_eq!(exits(&mut with("reserved=last", AT3, "mfgc0 t0, Status"), 0x180), GPSI);
    assert_eq!(stays(&mut with("reserved=first", AT3, "mfgc0 t0, Status"), 0x180), 10);
    let sfc = &mut with("sfc=enables", CP0 | AT3, "mtc0 t0, Status");
    sfc.gpr[8] = status::CU1;
    steps(sfc, 1);
    assert!(sfc.mode.is_guest());
    let eret = &mut with("ghfc-eret=on", CP0 | AT3 | guestctl0::MC, "eret");
    guest_write(eret, cp0::STATUS, status::EXL);
    guest_write(eret, cp0::EPC, 0x8000_0800);
    assert_eq!(exits(eret, 0x180), GHFC);
    assert_eq!(eret.root[cp0::EPC], 0x8000_0800);
    let user = &mut with("hypcall-user=exit", CP0 | AT3, "nop");
    put(user, GUEST_MEMORY + 0x400, &asm::assemble("hypcall", 0));
    user.guest_tlb.write(0, iasim::tlb::Entry::new(0x40_0000, 0, [lo(0) | 1, 1], GUEST_ID as u8));
    guest_write(user, cp0::STATUS, status::UM);
    user.jump(0x40_0400);
    assert_eq!(exits(user, 0x180), HC);
    for (choice, bit) in [("at=fixed", 1 << 27), ("drg=zero", guestctl0::DRG), ("pt=absent", 1 << 12)] {
        let mut model = Model::default();
        model.set(choice).unwrap();
        let mut cpu = m5150_with(model, Default::default());
        let before = cpu.root[cp0::GUESTCTL0] & bit;
        cpu.write_root(cp0::GUESTCTL0, 1 << 26 | guestctl0::DRG | 1 << 12);
        assert_eq!(cpu.root[cp0::GUESTCTL0] & bit, before, "{choice}");
        let mut free = m5150();
        free.write_root(cp0::GUESTCTL0, 1 << 26 | guestctl0::DRG | 1 << 12);
        assert_ne!(free.root[cp0::GUESTCTL0] & bit, before, "{choice}");
    }
}

/// Implemented bits of the control registers: all ones written, read back.
#[test]
fn layouts_of_the_control_registers() {
    let eic = [
        (cp0::GUESTCTL0, 0xFFCC_FDFF),
        (cp0::GUESTCTL0EXT, 0xDF),
        (cp0::GUESTCTL2, 0xFF3C_FFFF),
        (cp0::GUESTCTL3, 0xF),
        (cp0::GTOFFSET, u32::MAX),
        (cp0::EBASE, 0xBFFF_F000),
        (cp0::SRSMAP, u32::MAX),
        (cp0::SRSMAP2, 0xFF),
        (cp0::CONFIG3, 0x8CA3_B060),
    ];
    for (reg, expected) in eic {
        let mut cpu = m5150();
        cpu.write_root(reg, u32::MAX);
        assert_eq!(root(&cpu, reg), expected, "{}", cp0::find(reg).unwrap().name);
    }
    let mut cpu = generic();
    cpu.write_root(cp0::GUESTCTL2, u32::MAX);
    assert_eq!(cpu.root[cp0::GUESTCTL2], 0x3F00_FC00, "HC and VIP");
    // AT accepts 1 and 3 only.
    for (at, expected) in [(0, 3), (1, 1), (2, 1), (3, 3)] {
        cpu.write_root(cp0::GUESTCTL0, at << 26);
        assert_eq!(cpu.root[cp0::GUESTCTL0] >> 26 & 3, expected);
    }
}

/// The interrupt level has eight bits: seven contiguous ones and the highest one apart; the view
/// registers show all.
#[test]
fn the_interrupt_level_has_eight_bits() {
    let mut cpu = m5150();
    cpu.write_root(cp0::STATUS, 0x55 << 10 | 1 << 18 | 2 << 8);
    assert_eq!(root(&cpu, cp0::VIEW_IPL), 0xD5 << 2 | 2);
    cpu.write_root(cp0::VIEW_IPL, 0xAA << 2 | 1);
    assert_eq!(cpu.root[cp0::STATUS], 0x2A << 10 | 1 << 18 | 1 << 8);
    cpu.write_root(cp0::GUESTCTL2, 0x90 << 24);
    assert_eq!(cpu.read_cp0(Context::Guest, cp0::VIEW_RIPL), 0x90 << 2);
}
