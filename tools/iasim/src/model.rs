// SPDX-License-Identifier: Apache-2.0
//! Options of the core (docs/iasim.md): what its documents leave open, and what differs between
//! parts.

/// How GuestCtl2.GVEC determines the vector of a guest's external interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gvec {
    /// Guest.EBase + GVEC.
    Offset,
    /// Guest.EBase + GVEC, or + 0x200 if GVEC is 0.
    ZeroIs200,
    /// Guest.EBase + 0x200 + GVEC times the spacing of Guest.IntCtl.VS.
    Number,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub root_tlb: usize,
    pub guest_tlb: usize,
    /// Number of the highest shadow set.
    pub hss: u32,
    pub guest_id_bits: u32,
    pub gvec: Gvec,
    pub at_writable: bool,
    pub drg_writable: bool,
    pub pass_through: bool,
    /// SFC1 and SFC2 suppress GSFC when they are 1.
    pub sfc_suppresses: bool,
    /// GHFC also when a guest's ERET clears EXL.
    pub ghfc_eret: bool,
    /// A guest with shadow sets executes RDPGPR and WRPGPR without an exit.
    pub guest_pgpr: bool,
    /// An instruction reserved in a guest raises the reserved-instruction exception even if
    /// GuestCtl0.CP0 is 0.
    pub reserved_first: bool,
    /// HYPCALL in a guest's user mode exits to the root.
    pub hypcall_user: bool,
    /// A guest's access to the CP0 registers of the virtualization module exits to the root.
    pub hidden_gpsi: bool,
    /// For a guest's fault, the root's BadVAddr holds the guest-physical address.
    pub badvaddr_gpa: bool,
    /// Writing a second TLB entry for an address raises a machine check.
    pub tlb_machine_check: bool,
    /// Implemented bits of GTOffset.
    pub gtoffset_bits: u32,
    /// Hardware clears a VIP bit selected by HC as long as the line is low, not only when it falls.
    pub hc_level: bool,
    /// The guest's timer raises the guest's interrupt.
    pub guest_timer_wired: bool,
    /// A match of Guest.Compare raises the root's timer interrupt.
    pub guest_timer_spurious: bool,
    /// A guest's SYNCI exits to the root.
    pub synci_gpsi: bool,
    /// A feature that is not modelled stops the simulator; otherwise it raises an exception.
    pub stop_unimplemented: bool,
    /// microMIPS is implemented.
    pub micromips: bool,
    /// CPU clocks per step of Count.
    pub count_divider: u64,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            root_tlb: 16,
            guest_tlb: 16,
            hss: 15,
            guest_id_bits: 3,
            gvec: Gvec::Offset,
            at_writable: true,
            drg_writable: true,
            pass_through: true,
            sfc_suppresses: true,
            ghfc_eret: false,
            guest_pgpr: true,
            reserved_first: true,
            hypcall_user: false,
            hidden_gpsi: false,
            badvaddr_gpa: true,
            tlb_machine_check: true,
            gtoffset_bits: 32,
            hc_level: false,
            guest_timer_wired: false,
            guest_timer_spurious: false,
            synci_gpsi: false,
            stop_unimplemented: true,
            micromips: true,
            count_divider: 2,
        }
    }
}

type Set = fn(&mut Model, &str) -> Option<()>;

pub struct Choice {
    pub name: &'static str,
    pub values: &'static str,
    pub help: &'static str,
    set: Set,
}

fn number(text: &str, least: u64, most: u64) -> Option<u64> {
    text.parse().ok().filter(|n| (least..=most).contains(n))
}

/// Parses one of two words; `yes` means true.
fn word(text: &str, yes: &str, no: &str) -> Option<bool> {
    (text == yes || text == no).then_some(text == yes)
}

macro_rules! choice {
    ($name:literal, $yes:literal | $no:literal, $field:ident, $help:literal) => {
        Choice {
            name: $name,
            values: concat!($yes, "|", $no),
            help: $help,
            set: |model, text| Some(model.$field = word(text, $yes, $no)?),
        }
    };
    ($name:literal, $least:literal ..= $most:literal, $field:ident, $help:literal) => {
        Choice {
            name: $name,
            values: concat!($least, "..", $most),
            help: $help,
            set: |model, text| Some(model.$field = number(text, $least, $most)? as _),
        }
    };
}

fn set_gvec(model: &mut Model, text: &str) -> Option<()> {
    let all = [("offset", Gvec::Offset), ("zero-is-200", Gvec::ZeroIs200), ("number", Gvec::Number)];
    model.gvec = all.iter().find(|(name, _)| *name == text)?.1;
    Some(())
}

/// All options; docs/iasim.md lists the defaults.
pub const CHOICES: &[Choice] = &[
    Choice {
        name: "gvec",
        values: "offset|zero-is-200|number",
        help: "vector of a guest's external interrupt from GVEC",
        set: set_gvec,
    },
    choice!("root-tlb", 1..=64, root_tlb, "entries of the root's TLB"),
    choice!("guest-tlb", 1..=64, guest_tlb, "entries of the guest's TLB"),
    choice!("hss", 0..=15, hss, "highest GPR shadow set"),
    choice!("guest-id-bits", 1..=8, guest_id_bits, "width of GuestCtl1.ID and RID"),
    choice!("gtoffset-bits", 1..=32, gtoffset_bits, "width of GTOffset"),
    choice!("count-divider", 1..=64, count_divider, "clocks for each step of Count"),
    choice!("at", "writable" | "fixed", at_writable, "GuestCtl0.AT"),
    choice!("drg", "writable" | "zero", drg_writable, "GuestCtl0.DRG"),
    choice!("pt", "present" | "absent", pass_through, "GuestCtl0.PT and PIP"),
    choice!("sfc", "suppresses" | "enables", sfc_suppresses, "what SFC1 and SFC2 do to GSFC when they are 1"),
    choice!("ghfc-eret", "on" | "off", ghfc_eret, "GHFC when a guest's ERET clears EXL"),
    choice!("guest-pgpr", "executed" | "gpsi", guest_pgpr, "RDPGPR and WRPGPR of a guest with HSS above 0"),
    choice!("reserved", "first" | "last", reserved_first, "a guest's reserved instruction against CP0=0"),
    choice!("hypcall-user", "exit" | "cpu", hypcall_user, "HYPCALL in a guest's user mode"),
    choice!("hidden", "gpsi" | "zero", hidden_gpsi, "a guest's access to GuestCtl* and GTOffset"),
    choice!("badvaddr", "gpa" | "gva", badvaddr_gpa, "the root's BadVAddr of a guest's fault"),
    choice!("tlb-duplicate", "machine-check" | "ignored", tlb_machine_check, "two TLB entries for an address"),
    choice!("hc", "level" | "edge", hc_level, "when hardware clears GuestCtl2.VIP"),
    choice!("guest-timer", "wired" | "open", guest_timer_wired, "the guest's timer interrupt"),
    choice!("guest-timer-irq0", "on" | "off", guest_timer_spurious, "a match of Guest.Compare raises the root's timer"),
    choice!("synci", "gpsi" | "executed", synci_gpsi, "SYNCI in a guest"),
    choice!("unimplemented", "stop" | "exception", stop_unimplemented, "FPU"),
    choice!("micromips", "present" | "absent", micromips, "the microMIPS instruction set"),
];

impl Model {
    /// Sets an option from `name=value`; an error is one line.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = text.split_once('=').ok_or(format!("'{text}' is not NAME=VALUE"))?;
        let choice = CHOICES.iter().find(|choice| choice.name == name);
        let choice = choice.ok_or(format!("unknown option '{name}' (see `iasim models`)"))?;
        (choice.set)(self, value).ok_or(format!("{name}: '{value}' is not one of {}", choice.values))
    }
}
