// SPDX-License-Identifier: Apache-2.0
//! The target description (GDB manual, "RISC-V Features"). It sets the OS ABI to none; with the
//! default, Linux, GDB would implement single steps itself, partly incorrectly.

const X: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",
    "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];
const F: [&str; 32] = [
    "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
    "fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
];
/// CSRs that the hypervisor saves for the guest (arch/riscv/debug/registers.c), by their numbers in the
/// guest.
const CSRS: [(&str, u32); 8] = [
    ("sstatus", 0x100),
    ("sie", 0x104),
    ("stvec", 0x105),
    ("sscratch", 0x140),
    ("sepc", 0x141),
    ("scause", 0x142),
    ("stval", 0x143),
    ("satp", 0x180),
];

fn reg(name: &str, bits: u32, number: u32, kind: &str) -> String {
    format!("<reg name=\"{name}\" bitsize=\"{bits}\" regnum=\"{number}\" type=\"{kind}\"/>")
}

fn feature(name: &str, regs: impl Iterator<Item = String>) -> String {
    format!("<feature name=\"org.gnu.gdb.riscv.{name}\">{}</feature>", regs.collect::<String>())
}

pub fn description() -> String {
    let x = X.iter().zip(0..).map(|(name, n)| {
        let kind = if matches!(n, 1) {
            "code_ptr"
        } else if matches!(n, 2..=4 | 8) {
            "data_ptr"
        } else {
            "int"
        };
        reg(name, 64, n, kind)
    });
    let f = F.iter().zip(33..).map(|(name, n)| reg(name, 64, n, "ieee_double"));
    let status = [("fflags", 66), ("frm", 67), ("fcsr", 68)].map(|(name, n)| reg(name, 64, n, "int"));
    let csrs = CSRS.iter().map(|(name, n)| reg(name, 64, 65 + n, "int"));
    format!(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">\
         <architecture>riscv:rv64</architecture><osabi>none</osabi>{}{}{}{}</target>",
        feature("cpu", x.chain([reg("pc", 64, 32, "code_ptr")])),
        feature("fpu", f.chain(status)),
        feature("csr", csrs),
        feature("virtual", [reg("priv", 8, 4161, "int")].into_iter()),
    )
}
