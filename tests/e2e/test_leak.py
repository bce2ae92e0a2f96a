# SPDX-License-Identifier: Apache-2.0
"""
No VM can read data of another VM or of its own previous run (tests/guests/leak): in the registers that a
guest can write, across VM switches, and in its memory and devices after a restart.
"""

import re

import pytest
from helpers import HYPERVISOR_BIN, SOON_S, VIRTUAL, booted, built, command
from mutants import Mutant, asked_for, hypervisor_of

from tessera.run.machine import HYPERVISOR, Machine

SPINS = 1000  # per VM
SWITCHES = 1500  # VM switches that the VMs themselves detect; there are many more
WAIT_S = 180
_REPORT = re.compile(r"^leak: (\d+) spins, (\d+) away, (\d+) traps, (\d+) wrong$", re.MULTILINE)
CPUS = pytest.mark.parametrize("cpu", ["", "sstc=false"], ids=["sstc", "no-sstc"])


def reports(machine: Machine, name: str) -> list[tuple[int, ...]]:
    """Spins, detected switches, traps and wrong values, of each report printed so far."""
    return [tuple(map(int, found)) for found in _REPORT.findall(machine.console.text(name))]


def wrong(machine: Machine) -> list[str]:
    """Wrong values and unexpected traps that the guests have reported."""
    said = [(name, line) for name in machine.console.names for line in machine.console.text(name).split("\n")]
    return [f"{name}: {line}" for name, line in said if "WRONG" in line or "unexpected trap" in line]


def spin(system, label: str, *arguments: str, cpu: str | None = None, spins: int = SPINS, wait: float = WAIT_S) -> int:
    """Lets each VM spin at least `spins` times or until one reports a leak. Returns the detected
    switches."""

    def done() -> bool:
        told = [reports(machine, name) for name in system.names]
        return bool(wrong(machine)) or all(lines and lines[-1][0] >= spins for lines in told)

    with booted(system, label, *arguments, cpu=cpu) as machine:
        assert machine.wait_until(done, wait), machine.console.log[-20:]
        assert not wrong(machine), "\n".join(wrong(machine))
        last = [reports(machine, name)[-1] for name in system.names]
        assert all(traps > spins // 10 and found == 0 for _, _, traps, found in last), last
        assert machine.console.text(HYPERVISOR).count("stopped") == 0
    return sum(away for _, away, _, _ in last)


@CPUS
def test_no_leak_through_registers(cpu):
    assert spin(built("leak"), f"leak-{cpu}", *VIRTUAL, cpu=cpu) >= SWITCHES


@pytest.mark.parametrize("cpu", ["", pytest.param("sstc=false", marks=pytest.mark.long)], ids=["sstc", "no-sstc"])
def test_no_leak_through_registers_on_two_harts(cpu):
    """VCPUs that move between two harts."""
    spin(built("leak-two"), f"leak-two-{cpu}", cpu=cpu, spins=500)


def test_every_register_is_checked():
    with booted(built("leak-scan"), "leak-scan", *VIRTUAL) as machine:
        machine.console.shared = True
        machine.expect("scan", r"^leak: 0 CSRs that are not known$", SOON_S)


def lives(hypervisor=HYPERVISOR_BIN) -> list[str]:
    """What a VM finds of its previous runs in seven runs; the console ends the fifth."""
    with booted(built("leak-restart", hypervisor=hypervisor), "leak-restart", *VIRTUAL) as machine:
        machine.expect("again", r"^leak: life 5 ends by console$", WAIT_S)
        command(machine, "r")
        machine.expect("again", r"^leak: life 7 ends by warm reset$", WAIT_S)
        ends = re.findall(r"^again stopped (.*), starts again$", machine.console.text(HYPERVISOR), re.MULTILINE)
        assert ends[:5] == [
            "by its own reset",
            "by its own reset",
            "by its watchdog",
            "by a fatal trap",
            "by the console",
        ]
        assert not wrong(machine), "\n".join(wrong(machine))
        assert reports(machine, "other")[-1][3] == 0
        return re.findall(r"^leak: (?:life \d+ finds|image) .*$", machine.console.text("again"), re.MULTILINE)


def assert_clean(found: list[str]) -> None:
    """Registers, devices and memory are clean, the image is as built, and shared memory is
    unchanged."""
    clean = r"leak: life \d+ finds 0 registers, 0 FP registers, 0 device registers, 0 words, pending 0x0"
    assert len(found) == 14
    assert all(re.fullmatch(clean, line) for line in found[::2]), found
    assert len(set(found[1::2])) == 1, found
    assert found[1].endswith("shared memory: 0 words are not as they were")


def test_no_leak_across_restarts():
    assert_clean(lives())


SWITCH, FP, LOAD, VCPU = "arch/riscv/switch.S", "arch/riscv/fp.S", "core/vmload.c", "arch/riscv/vcpu.c"
_CSRS = ("VSTVEC", "VSSCRATCH", "VSEPC", "VSCAUSE", "VSTVAL", "VSATP", "VSIE", "VSSTATUS", "SCOUNTEREN", "FCSR", "SEPC")
# Not covered: sstatus itself, which these S-mode guests cannot observe, and VMIDs, since QEMU
# flushes the whole TLB when hgatp changes.
AT_SWITCHES = [
    *(Mutant(f"save-{csr}", SWITCH, f"    save_csr CSR_{csr}, VCPU_{csr}", "    nop") for csr in _CSRS),
    *(Mutant(f"load-{csr}", SWITCH, f"    load_csr CSR_{csr}, VCPU_{csr}", "    nop") for csr in _CSRS),
    Mutant("save-VSTIMECMP", SWITCH, "    save_csr CSR_VSTIMECMP, VCPU_VSTIMECMP", "    .option norvc\n    nop"),
    Mutant("load-VSTIMECMP", SWITCH, "    load_csr CSR_VSTIMECMP, VCPU_VSTIMECMP", "    nop"),
    Mutant("load-HVIP", SWITCH, "    load_csr CSR_HVIP, VCPU_HVIP", "    nop"),
    Mutant("gp", SWITCH, "    \\op     gp, VCPU_X(3)(\\base)\n", ""),
    Mutant(
        "s11", SWITCH, "    .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n", "    .irp    n, 2, 3, 4, 5, 6, 7, 8, 9, 10\n"
    ),
    Mutant("t6", "arch/riscv/trap.S", "    ld      t6, VCPU_X(31)(sp)\n", ""),
    Mutant("fp-leave", SWITCH, "    bltz    t1, fp_leave ", "    nop\n    # "),
    Mutant("fp-arrive", SWITCH, "    bne     t1, t2, fp_arrive", "    nop"),
    Mutant("f17", FP, "    load    16, 17, 18,", "    load    16, 18,"),
]
_RESET = "    v->arch = (struct arch_vcpu){\n"
_KEPT = f"    struct arch_vcpu was = v->arch;\n{_RESET}        .vsepc = was.vsepc,\n"
_CLEAR, _COPY = "load_piece(vm, memmap_cpu_base(r), NULL, r->size", "if (index >= vm->config->nloads"
IN_NEW_LIVES = [
    Mutant("not-cleared", LOAD, f"{_CLEAR})", f"{_CLEAR} - CHUNK_CLEARED)"),
    Mutant("not-copied", LOAD, f"{_COPY}) {{", f"{_COPY} || vm->restarts != 0) {{"),
    Mutant("uart-kept", LOAD, "    vuart_reset(vm);\n", ""),
    Mutant("plic-kept", LOAD, "    arch_vm_reset(vm);\n", ""),
    Mutant("shared-cleared", LOAD, "r->kind != SYSIMAGE_REGION_RAM &&", "r->kind == SYSIMAGE_REGION_MMIO &&"),
    Mutant("registers-kept", VCPU, _RESET, _KEPT),
]


@asked_for
@pytest.mark.parametrize("mutant", AT_SWITCHES, ids=lambda mutant: mutant.name)
def test_mutant_of_the_switch_is_detected(mutant):
    system = built("leak", hypervisor=hypervisor_of(mutant))
    with pytest.raises(AssertionError) as failure:
        spin(system, f"leak-{mutant.name}", *VIRTUAL, wait=SOON_S)
    print(mutant.name, str(failure.value).split("\n")[0])


@asked_for
@pytest.mark.parametrize("mutant", IN_NEW_LIVES, ids=lambda mutant: mutant.name)
def test_mutant_of_the_start_is_detected(mutant):
    with pytest.raises(AssertionError) as failure:
        assert_clean(lives(hypervisor_of(mutant)))
    print(mutant.name, str(failure.value).split("\n")[0])
