# SPDX-License-Identifier: Apache-2.0
"""core over arch/host as a Python object: the functions of tests/unit/testbed.h with their
types."""

import ctypes
import os
from collections.abc import Iterable
from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_int,
    c_int64,
    c_long,
    c_uint,
    c_uint32,
    c_uint64,
    c_ulong,
    c_void_p,
)
from pathlib import Path

from c_headers import structures, values

LONG = "TESSERA_LONG" in os.environ  # `make test-long`: many times more examples
QUICK = "TESSERA_QUICK" in os.environ  # `make check`: a tenth of the examples
LIBRARY = Path(__file__).resolve().parents[2] / os.environ.get("TESSERA_LIBCORE", "build/host/libcore.so")

OFF, READY, RUNNING, BLOCKED, HELD, SUSPENDED = values(
    "vcpu.h", "VCPU_OFF VCPU_READY VCPU_RUNNING VCPU_BLOCKED VCPU_HELD VCPU_SUSPENDED"
)
VM_STOPPED, VM_LOADING, VM_RUNNING, VM_STOPPING, VM_WAITING = values(
    "vm.h", "VM_STOPPED VM_LOADING VM_RUNNING VM_STOPPING VM_WAITING"
)
NEVER, RAM, MMIO, SHARED, DMA = values(
    "types.h sysimage.h",
    "TICKS_NEVER SYSIMAGE_REGION_RAM SYSIMAGE_REGION_MMIO SYSIMAGE_REGION_SHARED SYSIMAGE_REGION_DMA",
)
TICKS_PER_US = 10


def examples(usual: int, long: int = 0) -> int:
    """The number of examples of a property; `long` is that of `make test-long`."""
    if LONG and long:
        return long
    return max(usual // 10, 5) if QUICK else usual


Region, Memmap = structures("sysimage.h memmap.h", "sysimage_region memmap")
(Segment,) = structures("testbed_rt.h", "testbed_segment")
Demand, Costs, Admit = structures("rt_admit.h", "rt_demand rt_costs rt_admit")


_SIGNATURES = {
    "testbed_boot": (c_bool, [c_uint, c_uint, POINTER(c_uint), c_uint]),
    "testbed_image_make": (c_void_p, [c_uint, c_uint, POINTER(c_uint), c_uint]),
    "testbed_image_seal": (None, [c_void_p]),
    "testbed_image_damage": (None, [c_uint, c_uint]),
    "testbed_image_watchdog": (None, [c_void_p, c_uint, c_uint, c_uint]),
    "testbed_image_check": (c_char_p, [c_void_p]),
    "testbed_boot_image": (c_bool, [c_void_p]),
    "sysimage_check": (c_char_p, [c_void_p, c_uint64]),
    "sysimage_device": (c_void_p, [c_void_p, c_uint32, c_uint]),
    "sysimage_section": (c_void_p, [c_void_p, c_uint32, POINTER(c_uint32)]),
    "testbed_enter": (None, [c_uint]),
    "testbed_vm_start": (c_bool, [c_uint, c_uint]),
    "testbed_vm_stop": (c_bool, [c_uint, c_uint, c_bool]),
    "testbed_vm_starts_again": (c_bool, [c_uint]),
    "testbed_vcpu_start": (c_bool, [c_uint, c_uint, c_uint]),
    "testbed_raise": (None, [c_uint, c_uint, c_uint]),
    "testbed_wait": (None, [c_uint]),
    "testbed_stop_steps": (None, [c_uint, c_uint]),
    "testbed_stop_steps_left": (c_uint, [c_uint]),
    "testbed_suspend": (None, [c_uint]),
    "testbed_resume": (None, [c_uint, c_uint, c_uint]),
    "testbed_yield": (None, [c_uint]),
    "testbed_wait_until": (None, [c_uint, c_uint64]),
    "testbed_off": (None, [c_uint]),
    "testbed_guest_ends": (None, [c_uint, c_bool]),
    "testbed_guest_faults": (None, [c_uint]),
    "testbed_suspend_watchdog": (None, [c_uint, c_uint, c_bool]),
    "testbed_advance": (None, [c_uint64]),
    "testbed_load_costs": (None, [c_uint64]),
    "testbed_load_raise": (None, [c_uint64, c_uint]),
    "testbed_load_step": (None, [c_uint]),
    "testbed_run_until_idle": (c_bool, []),
    "testbed_violation": (c_char_p, []),
    "testbed_idle_violation": (c_char_p, []),
    "testbed_vcpu_state": (c_uint, [c_uint, c_uint]),
    "testbed_vm_state": (c_uint, [c_uint]),
    "testbed_vm_starts": (c_uint, [c_uint]),
    "testbed_vm_restarts": (c_uint, [c_uint]),
    "testbed_runtime": (c_uint64, [c_uint, c_uint]),
    "testbed_on_cpu": (c_int, [c_uint]),
    "testbed_kicks": (c_uint, [c_uint]),
    "testbed_syncs": (c_uint, []),
    "testbed_request_sync": (None, [c_uint, c_uint]),
    "testbed_image_rt": (None, [c_void_p, c_uint, c_uint, c_uint]),
    "testbed_image_rt_limits": (None, [c_void_p, *[c_uint] * 5]),
    "testbed_image_reserve": (None, [c_void_p, c_uint, c_uint]),
    "testbed_image_rt_costs": (None, [c_void_p, c_uint, c_uint, c_uint]),
    "testbed_costs": (None, [c_uint64] * 4),
    "testbed_hypercall": (c_long, [c_uint, c_ulong, c_ulong, c_ulong, c_ulong, POINTER(c_uint64)]),
    "testbed_hypercall_decided": (
        c_long,
        [c_uint, c_ulong, c_ulong, c_ulong, c_ulong, POINTER(c_uint64)],
    ),
    "testbed_memory": (c_void_p, [c_uint, c_uint64]),
    "testbed_rt_jobs": (None, [c_uint, c_uint, POINTER(c_uint32), c_uint]),
    "testbed_rt_run": (c_char_p, [c_uint64, c_bool, POINTER(Segment), c_uint, POINTER(c_uint)]),
    "testbed_end_job": (c_long, [c_uint]),
    "testbed_rt_count_deletions": (None, [c_uint]),
    "testbed_rt_max_deletions": (c_uint, []),
    "testbed_rt_state": (c_uint, [c_uint, c_uint]),
    "testbed_rt_ready": (c_uint, [c_uint]),
    "testbed_rt_left": (c_int64, [c_uint, c_uint]),
    "testbed_rt_device": (None, [c_uint, c_uint, c_uint64, c_uint64, c_bool]),
    "rt_admit_begin": (None, [POINTER(Admit), POINTER(Demand), c_uint, c_uint, POINTER(Costs)]),
    "rt_admit_step": (c_uint, [POINTER(Admit)]),
    "testbed_ipc_boot": (c_bool, [c_uint, c_uint, POINTER(c_uint32), POINTER(c_uint32), c_uint32]),
    "testbed_call": (c_long, [c_uint, c_ulong, c_ulong, c_ulong, c_ulong, POINTER(c_uint64)]),
    "testbed_lines": (c_uint32, [c_uint]),
    "testbed_late_sender": (None, [c_uint]),
    "testbed_late_sender_came": (c_bool, []),
    "testbed_raised": (c_ulong, [c_uint, c_uint]),
    "seed_find": (c_void_p, [c_char_p, c_uint32, POINTER(c_uint32)]),
    "seed_take": (c_bool, [c_char_p, c_uint32]),
    "fwtree_read": (None, [c_char_p, c_uint32, c_void_p]),
    "fwtree_compare": (c_uint, [c_void_p, c_void_p]),
    "chacha_begin": (None, [POINTER(c_uint32)] * 3),
    "chacha_double_round": (None, [POINTER(c_uint32)]),
    "testbed_debug": (c_uint, [c_uint, c_uint, c_uint, c_uint]),
    "testbed_debug_halted": (c_bool, [c_uint]),
    "host_next_timer": (c_uint64, []),
    "host_output": (c_char_p, []),
    "host_type": (None, [c_char_p]),
    "host_uart_room": (None, [c_uint]),
    "console_drain": (None, []),
    "console_flush": (None, []),
    "testbed_write": (None, [c_uint, c_char_p, c_uint, c_bool]),
    "testbed_typed": (c_int, [c_uint]),
    "memmap_ram": (c_bool, [POINTER(Memmap), c_uint64, c_uint64, POINTER(c_uint64)]),
    "memmap_check": (c_char_p, [POINTER(Memmap), c_uint64, c_uint64]),
    "memmap_covers": (c_bool, [POINTER(Memmap), c_uint64, c_uint64]),
    "crc32": (c_uint32, [c_void_p, ctypes.c_size_t]),
}


def load() -> ctypes.CDLL:
    """Loads the library and sets the types of all functions."""
    if b"__asan_init" in LIBRARY.read_bytes() and "libasan" not in os.environ.get("LD_PRELOAD", ""):
        raise RuntimeError('the address sanitizer must be loaded first: use make test-unit-properties ONLY="words"')
    library = ctypes.CDLL(str(LIBRARY))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def memmap(regions: list[tuple[int, int, int, int]], details: Iterable[int] = ()) -> Memmap:
    """A memory map of (gpa, hpa, size, kind). `details`: of the first regions; 0 of the others."""
    every = (*details, *[0] * len(regions))
    array = (Region * len(regions))(*(Region(*region, detail) for region, detail in zip(regions, every, strict=False)))
    return Memmap(array, len(regions))


def time_now(library: ctypes.CDLL) -> int:
    """The simulated machine's time, in ticks."""
    return c_uint64.in_dll(library, "host_time").value


CORE = load()


def assert_no_violation(wrong: bytes | None) -> None:
    """Asserts that testbed_violation() or a similar function has returned NULL."""
    assert wrong is None, wrong.decode()


def run_until_idle() -> None:
    """Runs the CPUs until they are idle, and checks all invariants."""
    assert CORE.testbed_run_until_idle(), "the CPUs never become idle"
    assert_no_violation(CORE.testbed_idle_violation())


def _sent() -> list[str]:
    """The hypervisor's lines that the UART has sent."""
    said = CORE.host_output().decode().replace("\r", "")
    return [line.split("\033[0m ", 1)[1] for line in said.split("\n") if "\033[0m " in line]


def lines() -> list[str]:
    """The hypervisor's lines since the last call."""
    CORE.console_drain()
    return _sent()


def operator(key: str) -> list[str]:
    """The hypervisor's answer to the console's escape key and `key`, typed on CPU 0."""
    lines()
    CORE.testbed_enter(0)
    CORE.host_type(b"\x14" + key.encode())
    return _sent()


def flush_unfinished_lines(vms: int) -> None:
    """Makes the console show the unfinished lines of `vms` VMs: two rounds, one line per call."""
    for _ in range(2 * (vms + 1)):
        CORE.console_flush()
