// SPDX-License-Identifier: Apache-2.0
//! Tables of the core's description, row by row: reset values, permitted instructions of each mode,
//! a guest's registers; and rows that tests/vz.rs does not cover.

mod common;

use common::*;
use iasim::cp0::{self, cause, entryhi, guestctl0, guestctl0ext, pagegrain, status, InGuest};
use iasim::cpu::{Context, Cpu, Mode};
use iasim::model::Model;
use iasim::tlb::{Entry, RI};

const ALL: u32 = CP0 | AT3 | guestctl0::GT | guestctl0::CF | guestctl0::CG;

/// Address of user-mode code in the guest, mapped by the guest's TLB.
const USER: u32 = 0x40_0400;

fn reg(name: &str) -> cp0::Reg {
    cp0::SPECS.iter().find(|spec| spec.name == name).unwrap_or_else(|| panic!("no {name}")).reg
}

fn guest_write(cpu: &mut Cpu, reg: cp0::Reg, value: u32) {
    cpu.write_cp0(Context::Guest, reg, u32::MAX, value);
}

/// Values in the root, and in a guest if they differ: Random has advanced by the instruction that
/// reads it.
#[test]
fn registers_after_reset() {
    let rows: [(&str, u32, Option<u32>); 36] = [
        ("Random", 15, Some(14)),
        ("PageGrain", 0, None),
        ("Wired", 0, None),
        ("HWREna", 0, None),
        ("GuestCtl1", 0, None),
        ("GuestCtl2", 0, None),
        ("GuestCtl3", 0, None),
        ("GuestCtl0Ext", 0, None),
        ("Status", 0x0040_0004, None),
        ("IntCtl", 0x0003_0000, None),
        ("SRSCtl", 0x3C00_0000, Some(0)),
        ("SRSMap", 0, None),
        ("SRSMap2", 0, None),
        ("View_IPL", 0, None),
        ("View_RIPL", 0, None),
        ("GuestCtl0", 0x0C4C_0080, Some(0)),
        ("GTOffset", 0, None),
        ("Cause", 0, None),
        ("NestedExc", 0, None),
        ("PRId", 0x0001_A700, None),
        ("EBase", 0x8000_0000, None),
        ("Config", 0x8000_0482, None),
        ("Config1", 0x9E9B_0D9A, None),
        ("Config2", 0x8000_0000, None),
        ("Config3", 0x8CA2_B060, Some(0x8C22_B060)),
        ("Config4", 0xC00C_0000, None),
        ("Config5", 1, None),
        ("Config6", 0, None),
        ("Config7", 0x8004_0000, None),
        ("WatchLo0", 0, None),
        ("WatchHi0", 0x8000_0000, None),
        ("WatchHi1", 0x8000_0000, None),
        ("WatchHi2", 0x8000_0000, None),
        ("WatchHi3", 0, None),
        ("PerfCtl0", 0x8000_0000, None),
        ("Debug", 0, None),
    ];
    for (name, root, guest) in rows {
        let mut cpu = m5150();
        assert_eq!(common::root(&cpu, reg(name)), root, "{name}");
        // The root's view of the guest's register: registers that a guest does not have read as 0.
        let spec = cp0::find(reg(name)).unwrap();
        let hidden = spec.in_guest == InGuest::Hidden;
        root_code(&mut cpu, &format!("mfgc0 t0, {name}"));
        steps(&mut cpu, 1);
        assert_eq!(cpu.gpr[8], guest.unwrap_or(if hidden { 0 } else { root }), "{name} of the guest");
    }
    let small = Model { hss: 7, ..Model::default() };
    assert_eq!(common::root(&m5150_with(small, Default::default()), cp0::SRSCTL), 0x1C00_0000, "the PIC32MZ-EF's");
}

/// Effect of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Done,
    /// An exception in the current context: ExcCode.
    Own(u32),
    /// An exit of the guest: GExcCode.
    Exit(u32),
}

fn in_root(text: &str) -> Outcome {
    let mut cpu = m5150();
    root_code(&mut cpu, text);
    cpu.gpr[10] = 0x8000_1000;
    steps(&mut cpu, 1);
    match cpu.pc {
        pc if pc == ROOT + 4 => Outcome::Done,
        _ => Outcome::Own(cpu.root[cp0::CAUSE] >> 2 & 31),
    }
}

fn in_guest(text: &str, user: bool) -> Outcome {
    let mut cpu = m5150();
    guest(&mut cpu, ALL, text);
    cpu.guest_tlb.write(0, Entry::new(0x40_0000, 0, [lo(0) | 1, lo(0x1000) | 1], GUEST_ID as u8));
    cpu.gpr[10] = 0x40_0000;
    let mut next = GUEST_CODE + 4;
    if user {
        guest_write(&mut cpu, cp0::STATUS, status::UM);
        cpu.jump(USER);
        next = USER + 4;
    }
    steps(&mut cpu, 1);
    match cpu.pc {
        pc if pc == next && cpu.mode.is_guest() => Outcome::Done,
        _ if cpu.mode.is_guest() => Outcome::Own(guest_code(&cpu)),
        _ => {
            let (code, reason) = exit_codes(&cpu);
            assert_eq!(code, 27, "{text}");
            Outcome::Exit(reason)
        }
    }
}

/// Modes: root kernel, guest kernel, and guest user, in which coprocessor 0 is not usable.
#[test]
fn permitted_instructions_of_each_mode() {
    use Outcome::{Done, Exit, Own};
    const RI_CODE: Outcome = Own(10);
    const CPU_CODE: Outcome = Own(11);
    let rows = [
        ("mfgc0 t0, Status", Done, RI_CODE, CPU_CODE),
        ("mtgc0 t0, EPC", Done, RI_CODE, CPU_CODE),
        ("tlbgr", Done, RI_CODE, CPU_CODE),
        ("tlbgwi", Done, RI_CODE, CPU_CODE),
        ("tlbgwr", Done, RI_CODE, CPU_CODE),
        ("tlbgp", Done, RI_CODE, CPU_CODE),
        ("tlbginv", Done, RI_CODE, CPU_CODE),
        ("tlbginvf", Done, RI_CODE, CPU_CODE),
        ("hypcall 5", RI_CODE, Exit(2), CPU_CODE),
        ("rdpgpr t0, t1", Done, Exit(0), CPU_CODE),
        ("wrpgpr t0, t1", Done, Exit(0), CPU_CODE),
        ("di", Done, Done, CPU_CODE),
        ("ei", Done, Done, CPU_CODE),
        ("deret", RI_CODE, RI_CODE, CPU_CODE),
        ("synci 0(t2)", Done, Done, Done),
        ("cache 0x15, 0(t2)", Done, Done, CPU_CODE),
        ("tlbr", Done, Done, CPU_CODE),
        ("tlbwi", Done, Done, CPU_CODE),
        ("tlbwr", Done, Done, CPU_CODE),
        ("tlbp", Done, Done, CPU_CODE),
        ("tlbinv", Done, Done, CPU_CODE),
        ("tlbinvf", Done, Done, CPU_CODE),
        ("mfc0 t0, EPC", Done, Done, CPU_CODE),
        ("mfhc0 t0, EntryLo0", RI_CODE, RI_CODE, CPU_CODE),
        ("mfhgc0 t0, EntryLo0", RI_CODE, RI_CODE, CPU_CODE),
        ("mthgc0 t0, EntryLo0", RI_CODE, RI_CODE, CPU_CODE),
    ];
    for (text, root, kernel, user) in rows {
        assert_eq!(in_root(text), root, "{text} in the root");
        assert_eq!(in_guest(text, false), kernel, "{text} in the guest's kernel");
        assert_eq!(in_guest(text, true), user, "{text} in the guest's user mode");
    }
}

/// DI, EI and ERET access Status, EPC and ErrorEPC of the current context.
#[test]
fn status_instructions_access_the_current_context() {
    let mut cpu = m5150();
    guest(&mut cpu, ALL, "ei t0\n di t1\n eret");
    steps(&mut cpu, 2);
    assert_eq!([cpu.gpr[8], cpu.gpr[9]], [0, status::IE], "Status as it was");
    assert!(!cpu.root.has(cp0::STATUS, status::IE));
    guest_write(&mut cpu, cp0::STATUS, status::EXL | status::ERL);
    guest_write(&mut cpu, cp0::ERROREPC, GUEST_CODE + 8);
    guest_write(&mut cpu, cp0::EPC, 0x8000_0800);
    steps(&mut cpu, 1);
    assert_eq!((cpu.pc, cpu.guest[cp0::STATUS]), (GUEST_CODE + 8, status::EXL), "ERL first, by ErrorEPC");
    steps(&mut cpu, 1);
    assert_eq!((cpu.pc, cpu.guest[cp0::STATUS], cpu.mode), (0x8000_0800, 0, Mode::GuestKernel));
}

/// A guest's write to its own register does not change the root's register.
#[test]
fn registers_with_a_guest_copy() {
    let mut seen = 0;
    for spec in cp0::SPECS {
        if matches!(spec.in_guest, InGuest::Emulated | InGuest::WriteEmulated | InGuest::Hidden)
            || spec.reg == cp0::COUNT
        {
            continue;
        }
        let text = format!("mtc0 t0, {}\n mfc0 t1, {}", spec.name, spec.name);
        let mut cpu = m5150();
        guest(&mut cpu, ALL, &text);
        cpu.write_root(cp0::GUESTCTL0EXT, guestctl0ext::FCD);
        let before = cpu.root.clone();
        // Random changes by itself, and 1 in Status would enable interrupts.
        cpu.gpr[8] = if spec.reg == cp0::STATUS { !status::UM & !status::ERL } else { u32::MAX };
        steps(&mut cpu, 2);
        assert!(cpu.mode.is_guest(), "{}", spec.name);
        assert_eq!(before[spec.reg], cpu.root[spec.reg], "{} of the root", spec.name);
        let wrote = !matches!(spec.guest, 0) && spec.reg != cp0::CONFIG3;
        assert!(!wrote || cpu.gpr[9] & spec.guest != 0, "{} took nothing", spec.name);
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}

/// Registers to which every access by a guest exits (GPSI). The first list contains registers that
/// hypervisors emulate on this core or a similar one: tinyVP on the PIC32MZ-EF, Linux's KVM on the
/// P5600. The second list contains registers that none of them emulates: they exist in the root
/// only, so an exit is the safe assumption.
#[test]
fn registers_that_always_exit() {
    const EMULATED_BY_HYPERVISORS: [&str; 22] = [
        "SRSCtl", "SRSMap", "SRSMap2", "PRId", "CDMMBase", "WatchLo0", "WatchLo1", "WatchLo2", "WatchLo3", "WatchHi0",
        "WatchHi1", "WatchHi2", "WatchHi3", "Debug", "PerfCtl0", "PerfCnt0", "PerfCtl1", "PerfCnt1", "ErrCtl",
        "CacheErr", "TagLo", "DataLo",
    ];
    const ROOT_ONLY: [&str; 2] = ["DEPC", "DESAVE"];
    let listed = |spec: &cp0::Spec| EMULATED_BY_HYPERVISORS.contains(&spec.name) || ROOT_ONLY.contains(&spec.name);
    for spec in cp0::SPECS.iter().filter(|spec| spec.in_guest != InGuest::Hidden && spec.reg != cp0::COUNT) {
        for (write, text) in [(false, "mfc0 t0, "), (true, "mtc0 t0, ")] {
            let mut cpu = m5150();
            guest(&mut cpu, ALL, &format!("{text}{}", spec.name));
            cpu.write_root(cp0::GUESTCTL0EXT, guestctl0ext::FCD);
            steps(&mut cpu, 1);
            let always = listed(spec) || write && ["Config6", "Config7"].contains(&spec.name);
            assert_eq!(!cpu.mode.is_guest(), always, "{text}{}", spec.name);
        }
    }
}

/// A guest's reads of Config7 (for WII) and Config6 do not exit.
#[test]
fn a_guest_reads_config6_and_config7() {
    let mut cpu = m5150();
    guest(&mut cpu, ALL, "mfc0 t0, Config6\n mfc0 t1, Config7");
    steps(&mut cpu, 2);
    assert!(cpu.mode.is_guest());
    assert_eq!([cpu.gpr[8], cpu.gpr[9]], [0, 0x8004_0000], "WII and HCI of Config7");
}

/// A guest with shadow sets takes an injected interrupt in the set that the root selects.
#[test]
fn an_injected_interrupt_selects_its_shadow_set() {
    let mut cpu = m5150();
    let bits = cp0::find(cp0::SRSCTL).unwrap().mtgc0;
    cpu.write_root(cp0::GUESTCTL3, 4);
    cpu.write_cp0(Context::Guest, cp0::SRSCTL, bits, 3 << 26 | 1 << 12);
    guest(&mut cpu, ALL, "nop\n nop");
    cpu.write_root(cp0::GUESTCTL2, 5 << 24 | 2 << 18 | 0x240);
    guest_write(&mut cpu, cp0::STATUS, status::IE);
    steps(&mut cpu, 1);
    assert_eq!(cpu.pc, 0x8000_0244);
    assert_eq!(cpu.guest[cp0::SRSCTL] >> 18 & 0xF, 2, "EICSS");
    assert_eq!(cpu.set, 6, "GLSS and the guest's CSS, not its ESS");
}

/// Without an external controller: interrupts that the guest raises, and those that the root sets
/// in the guest's Cause.
#[test]
fn software_interrupts_and_a_restored_timer_reach_a_guest() {
    for (bits, line) in [(1 << 8, 0), (1 << 9, 1), (cause::TI, 7)] {
        let mut cpu = generic();
        guest(&mut cpu, ALL, "nop\n nop\n nop");
        guest_write(&mut cpu, cp0::STATUS, status::IE | 0x100 << line);
        steps(&mut cpu, 1);
        assert_eq!(cpu.pc, GUEST_CODE + 4);
        let mask = cp0::find(cp0::CAUSE).unwrap().mtgc0;
        cpu.write_cp0(Context::Guest, cp0::CAUSE, mask, bits);
        assert_eq!(cpu.read_cp0(Context::Guest, cp0::CAUSE) >> 8 & 0xFF, 1 << line);
        steps(&mut cpu, 1);
        assert_eq!((cpu.mode, cpu.pc), (Mode::GuestKernel, 0x8000_0184), "line {line}");
    }
}

/// DRG applies to loads and stores of the root kernel, to any guest-physical address; fetches are
/// unchanged.
#[test]
fn drg_is_for_loads_and_stores() {
    let mut cpu = m5150();
    root_code(&mut cpu, "sw t0, 0(t1)\n lw t2, 0(t1)\n lw t2, 0(t3)");
    root_map(&mut cpu, 1, GUEST_ID, 0x8000_0000, [lo(0x2_0000), lo(0x2_1000)]);
    cpu.write_root(cp0::GUESTCTL1, GUEST_ID << 16);
    cpu.write_root(cp0::GUESTCTL0, guestctl0::DRG);
    cpu.gpr[8] = 0xCAFE_F00D;
    cpu.gpr[9] = 0x8000_1000;
    steps(&mut cpu, 2);
    assert_eq!((cpu.mem.peek_word(0x2_1000), cpu.gpr[10]), (Some(0xCAFE_F00D), 0xCAFE_F00D), "no segments");
    cpu.gpr[11] = 0x8000_4000;
    steps(&mut cpu, 1);
    assert_eq!(cpu.root[cp0::CAUSE] >> 2 & 31, 2, "its own kseg0 is not there");
    assert_eq!(cpu.pc, VECTORS);
}

/// When the root writes two entries of the guest's TLB for one address, the root takes the machine
/// check.
#[test]
fn a_machine_check_goes_to_the_executing_context() {
    let mut cpu = m5150();
    root_code(&mut cpu, "tlbgwi\n mtgc0 t0, Index\n tlbgwi");
    cpu.write_root(cp0::GUESTCTL1, GUEST_ID << 16);
    cpu.gpr[8] = 1;
    guest_write(&mut cpu, cp0::ENTRYHI, 0x6000);
    steps(&mut cpu, 3);
    assert_eq!((cpu.root[cp0::CAUSE] >> 2 & 31, cpu.pc), (24, VECTORS + 0x180));
    assert!(cpu.root.has(cp0::STATUS, status::TS));
    assert_eq!(cpu.guest[cp0::STATUS] & (status::TS | status::EXL), 0);
    let mut cpu = m5150();
    guest(&mut cpu, ALL, "tlbwi\n mtc0 t0, Index\n tlbwi");
    cpu.gpr[8] = 1;
    guest_write(&mut cpu, cp0::ENTRYHI, 0x6000);
    steps(&mut cpu, 2);
    assert_eq!(stays(&mut cpu, 0x180), 24);
}

/// After a write of EntryHi, the next fetch uses the new ASID.
#[test]
fn a_change_of_the_asid_holds_for_the_next_fetch() {
    let mut cpu = m5150();
    let code = asm::assemble("mtc0 t0, EntryHi\n addiu t1, t1, 1", 0x6000);
    let other = asm::assemble("nop\n addiu t1, t1, 100", 0x6000);
    put(&mut cpu, 0x1_0000, &code);
    put(&mut cpu, 0x1_2000, &other);
    cpu.root_tlb.write(0, Entry::new(0x6000 | 1, 0, [lo(0x1_0000), 0], 0));
    cpu.root_tlb.write(1, Entry::new(0x6000 | 2, 0, [lo(0x1_2000), 0], 0));
    cpu.write_root(cp0::STATUS, 0);
    cpu.write_root(cp0::ENTRYHI, 1);
    cpu.gpr[8] = 2;
    cpu.jump(0x6000);
    steps(&mut cpu, 2);
    assert_eq!((cpu.gpr[9], cpu.pc), (100, 0x6008));
}

/// SC checks its address before LLbit.
#[test]
fn sc_without_a_link_has_its_exceptions() {
    for (address, code) in [(0x40_0000, 3), (0x8000_1002, 5)] {
        let mut cpu = m5150();
        root_code(&mut cpu, "sc t0, 0(t1)");
        cpu.gpr[9] = address;
        steps(&mut cpu, 1);
        assert_eq!(cpu.root[cp0::CAUSE] >> 2 & 31, code, "{address:x}");
    }
    let mut cpu = m5150();
    root_code(&mut cpu, "sc t0, 0(t1)");
    cpu.gpr[8] = 7;
    cpu.gpr[9] = 0x8000_1000;
    steps(&mut cpu, 1);
    assert_eq!((cpu.gpr[8], cpu.mem.peek_word(0x1000), cpu.pc), (0, Some(0), ROOT + 4));
}

/// RI and XI of EntryLo are writable if PageGrain of the same context enables them.
#[test]
fn inhibit_bits_are_writable_if_enabled() {
    const BOTH: u32 = 0xC000_0000;
    for (grain, left) in [(0, 0), (pagegrain::RIE, RI), (pagegrain::XIE, RI >> 1), (BOTH, BOTH)] {
        let mut cpu = m5150();
        cpu.write_root(cp0::PAGEGRAIN, grain);
        cpu.write_root(cp0::ENTRYLO0, BOTH | 6);
        assert_eq!(cpu.root[cp0::ENTRYLO0], left | 6, "{grain:x}");
        guest_write(&mut cpu, cp0::ENTRYLO1, BOTH);
        assert_eq!(cpu.guest[cp0::ENTRYLO1], 0, "the guest's PageGrain counts for the guest");
    }
}

/// TLBWI and TLBGWI use EHINV; the random writes ignore it.
#[test]
fn ehinv_is_used_by_indexed_writes_only() {
    for (text, invalid) in [("tlbwi", true), ("tlbwr", false), ("tlbgwi", true), ("tlbgwr", false)] {
        let mut cpu = m5150();
        root_code(&mut cpu, text);
        cpu.write_root(cp0::ENTRYHI, 0x6000 | entryhi::EHINV);
        guest_write(&mut cpu, cp0::ENTRYHI, 0x6000 | entryhi::EHINV);
        steps(&mut cpu, 1);
        let tlb = if text.starts_with("tlbg") { &cpu.guest_tlb } else { &cpu.root_tlb };
        assert_eq!(tlb.entries().iter().all(|entry| entry.invalid), invalid, "{text}");
    }
}

/// Bits that MTC0 and MTGC0 can set, and that therefore need their feature in a Config register. The
/// second value of a model option removes the feature.
#[test]
fn bits_are_writable_only_with_their_feature() {
    let with = |choices: &[&str]| {
        let mut model = Model::default();
        choices.iter().for_each(|choice| model.set(choice).unwrap());
        m5150_with(model, Default::default())
    };
    let settable = |cpu: &mut Cpu, name: &str| {
        let reg = reg(name);
        let before = cpu.root[reg];
        cpu.write_root(reg, u32::MAX);
        let ones = cpu.root[reg];
        cpu.write_root(reg, 0);
        let bits = ones & !cpu.root[reg];
        cpu.root[reg] = before;
        bits
    };
    // Register, bits, Config register, and its field that is not 0 if the bits may be set.
    let rows: [(&str, u32, &str, u32); 13] = [
        ("Status", status::MX, "Config3", 1 << 10),
        ("Status", status::FR, "Config1", 1),
        ("Status", 1 << 16 | 1 << 18, "Config3", 3 << 21),
        ("PageGrain", pagegrain::RIE | pagegrain::XIE, "Config3", 1 << 12),
        ("PageGrain", 1 << 29, "Config3", 1 << 7),
        ("PageGrain", 1 << 28, "Config3", 1 << 4),
        ("EntryHi", entryhi::EHINV, "Config4", 3 << 29),
        ("CDMMBase", u32::MAX, "Config3", 1 << 3),
        ("HWREna", 1 << 29, "Config3", 1 << 13),
        ("KScratch1", u32::MAX, "Config4", 1 << 18),
        ("WatchLo0", u32::MAX, "Config1", 1 << 3),
        ("PerfCtl0", u32::MAX, "Config1", 1 << 4),
        ("Config3", cp0::config3::ISA_ON_EXC, "Config3", cp0::config3::ISA),
    ];
    for choices in [&[][..], &["micromips=absent", "hss=0"]] {
        let mut cpu = with(choices);
        for (name, bits, config, field) in rows {
            let has = cpu.root[reg(config)] & field != 0;
            assert_eq!(settable(&mut cpu, name) & bits != 0, has, "{name} {bits:x} {choices:?}");
            cpu.write_cp0(Context::Guest, reg(name), cp0::find(reg(name)).unwrap().mtgc0, u32::MAX);
            assert!(has || cpu.guest[reg(name)] & bits == 0, "Guest.{name} {bits:x} {choices:?}");
        }
        for name in ["SRSCtl", "SRSMap", "SRSMap2", "GuestCtl3"] {
            assert_eq!(settable(&mut cpu, name) != 0, cpu.model.hss != 0, "{name} {choices:?}");
        }
    }
}
