# SPDX-License-Identifier: Apache-2.0
"""
The machine's seed in the firmware's device tree: it is found at its property only, without reading
outside the tree (detected by the sanitizers). The VMs' seeds are compared with HChaCha20 in Python.
"""

import ctypes
import struct
from functools import cache

import pytest
from core import CORE, TICKS_PER_US, VM_RUNNING, examples
from hchacha20 import hchacha20
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.image import fdt, layout

MACHINE = bytes(range(1, 65))
PLACE = 0x80000100  # in the guest, whose RAM begins at 0x80000000
VMS = layout.HEADER.size
SEED_SIZE, STEPS = 32, 10
QUANTUM_US = 1000

WORD = st.one_of(st.integers(0, 9), st.integers(0, 2**32 - 1))
BEGIN_NODE, END_NODE, PROP, NOP, END = (struct.pack(">I", token) for token in (1, 2, 3, 4, 9))
STRINGS = b"model\0rng-seeds\0rng-seed\0"


def prop(name: str, value: bytes) -> bytes:
    at = STRINGS.index(name.encode() + b"\0")
    return PROP + struct.pack(">2I", len(value), at) + value + bytes(-len(value) % 4)


def node(name: str, *parts: bytes) -> bytes:
    text = name.encode()
    return BEGIN_NODE + text + bytes(4 - len(text) % 4) + b"".join(parts) + END_NODE


@cache
def tree(seed: bytes | None) -> bytes:
    """A tree with similar names and nodes. The strings follow the nodes, as dtc writes them."""
    chosen = [NOP, prop("rng-seeds", b"5555"), node("below", prop("rng-seed", b"4"))]
    root = node(
        "",
        prop("rng-seed", b"11"),
        prop("model", b"chosen\0"),
        node("cpus", node("chosen", prop("rng-seed", b"2"))),
        node("chosen-too", prop("rng-seed", b"333")),
        node("chose", prop("rng-seed", b"333")),
        node("chosen", *chosen, *([] if seed is None else [prop("rng-seed", seed)])),
        node("memory", prop("model", b"66666")),
    )
    body = root + END
    sizes = (40 + len(body) + len(STRINGS), 40, 40 + len(body), 0, 17, 16, 0, len(STRINGS), len(body))
    return struct.pack(">10I", 0xD00DFEED, *sizes) + body + STRINGS


def found(blob: bytes, size: int | None = None) -> tuple[int, int] | None:
    """The offset and the length of the seed in the blob, which is copied to a buffer of its exact
    size."""
    buffer = ctypes.create_string_buffer(blob, len(blob))
    length = ctypes.c_uint32()
    at = CORE.seed_find(buffer, len(blob) if size is None else size, length)
    return None if at is None else (at - ctypes.addressof(buffer), length.value)


def expected(blob: bytes) -> tuple[int, int] | None:
    seeds = (
        (value.offset, len(value.data))
        for value in fdt.values(blob)
        if value.name == "rng-seed" and value.path == "/chosen"
    )
    return next(seeds, None)


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 64])
def test_exactly_the_seed_is_found(size: int) -> None:
    blob = tree(MACHINE[:size])
    assert found(blob) == expected(blob)
    assert found(blob)[1] == size


def test_a_tree_without_a_seed() -> None:
    assert found(tree(None)) is None


def test_truncated_tree() -> None:
    """Truncated at any length: the seed is found if it and its name, at the end, are complete."""
    blob = tree(MACHINE[:32])
    assert [size for size in range(len(blob)) if found(blob[:size]) not in (None, expected(blob))] == []
    assert all(found(blob[:size]) is None for size in range(expected(blob)[0] + 32))


@settings(max_examples=examples(500, 5000), deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 10**6), WORD), min_size=1, max_size=4))
def test_corrupted_words(changes: list[tuple[int, int]]) -> None:
    """A seed that is found is inside the tree."""
    blob = bytearray(tree(MACHINE[:32]))
    for place, value in changes:
        struct.pack_into(">I", blob, place % (len(blob) // 4) * 4, value)
    at = found(bytes(blob))
    assert at is None or at[0] + at[1] <= len(blob)


@settings(max_examples=examples(500, 5000), deadline=None, derandomize=True)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    at = found(data)
    assert at is None or at[0] + at[1] <= len(data)


def core_hchacha20(key: bytes, data: bytes) -> bytes:
    state = (ctypes.c_uint32 * 16)()
    CORE.chacha_begin(state, (ctypes.c_uint32 * 8).from_buffer_copy(key), (ctypes.c_uint32 * 4).from_buffer_copy(data))
    for _ in range(STEPS):
        CORE.chacha_double_round(state)
    return struct.pack("<8I", *state[:4], *state[12:])


def test_hchacha20_by_the_drafts_vector() -> None:
    """draft-irtf-cfrg-xchacha-03, section 2.2.1."""
    key, data = bytes(range(32)), bytes.fromhex("000000090000004a0000000031415927")
    subkey = bytes.fromhex("82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc")
    assert hchacha20(key, data) == subkey
    assert core_hchacha20(key, data) == subkey


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=16, max_size=16))
def test_hchacha20_of_random_input(key: bytes, data: bytes) -> None:
    assert core_hchacha20(key, data) == hchacha20(key, data)


def boot(seeds: list[int]) -> None:
    """Boots and starts one VM per address, at which the VM gets its seed."""
    image = CORE.testbed_image_make(1, len(seeds), (ctypes.c_uint * len(seeds))(*[1] * len(seeds)), QUANTUM_US)
    for vm, place in enumerate(seeds):
        ctypes.memmove(image + VMS + vm * layout.VM.size + layout.VM.offset("seed"), struct.pack("<Q", place), 8)
    CORE.testbed_image_seal(image)
    assert CORE.testbed_image_check(image) is None
    assert CORE.testbed_boot_image(image)
    for vm in range(len(seeds)):
        CORE.testbed_vm_start(0, vm)
        assert any(is_running(vm) for _ in range(100))


def is_running(vm: int) -> bool:
    CORE.testbed_advance(QUANTUM_US * TICKS_PER_US)
    return CORE.testbed_run_until_idle() and CORE.testbed_vm_state(vm) == VM_RUNNING


def restart(vm: int) -> None:
    """Restarts the VM while the other VMs spin."""
    assert CORE.testbed_vm_stop(0, vm, True)
    assert any(is_running(vm) for _ in range(100))


def given_to(vm: int) -> bytes:
    return ctypes.string_at(CORE.testbed_memory(vm, PLACE), SEED_SIZE)


def test_no_seed_without_a_machine_seed() -> None:
    """Must run first, since the machine's seed is kept. A too short seed is ignored and not
    wiped."""
    short = ctypes.create_string_buffer(tree(MACHINE[:31]))
    assert not CORE.seed_take(short, len(short))
    assert MACHINE[:31] in short.raw
    boot([PLACE, PLACE])
    assert [given_to(vm) for vm in range(2)] == [bytes(SEED_SIZE)] * 2


def test_each_start_of_each_vm_gets_another_seed() -> None:
    blob = ctypes.create_string_buffer(tree(MACHINE))
    assert CORE.seed_take(blob, len(blob))
    assert not any(MACHINE[at : at + 4] in blob.raw for at in range(61)), "the machine's seed is still in the tree"
    boot([PLACE, PLACE, 0])
    for _ in range(3):
        for vm in range(2):
            starts = CORE.testbed_vm_starts(vm)
            assert given_to(vm) == hchacha20(MACHINE[:32], struct.pack("<4I", vm, starts, 0, 0))
            around = ctypes.string_at(CORE.testbed_memory(vm, PLACE - 8), SEED_SIZE + 16)
            assert around[:8] == around[-8:] == bytes(8)
            restart(vm)
            assert CORE.testbed_vm_starts(vm) == starts + 1
    assert given_to(2) == bytes(SEED_SIZE)
