# SPDX-License-Identifier: Apache-2.0
"""Invalid systems: each is refused with exactly the expected lines."""

import os
import struct
from pathlib import Path

import pytest
from fixtures import ROOT, SYSTEM, changed, read_cases

from tessera.image.build import Options, build
from tessera.image.problems import BuildError


def linux_image(size: int, image_size: int) -> bytes:
    """Data with the header of a RISC-V Linux Image."""
    head = struct.pack("<IIQQQIIQ8sI4x", 0x5A4D, 0, 0x200000, image_size, 0, 2, 0, 0, b"RISCV\0\0\0", 0x05435352)
    return head + bytes(size - len(head))


def vms(count: int, props: str = "") -> str:
    """A system of many small VMs, one per line, starting at line 7."""
    lines = [
        f'v{n} {{ memory-size = <0x400000>; image = "two.bin"; sign-of-life = "up"; {props} }};' for n in range(count)
    ]
    head = '/dts-v1/;\n/ {\ncompatible = "tessera,system";\nboard = "qemu-virt";\nharts = <1>;\nvms {\n'
    return head + "\n".join(lines) + "\n};\n};\n"


CASES = read_cases(Path(__file__).with_name("refused.txt"))


def extra_files(builder):
    builder.file("empty", b"")
    builder.file("elf", b"\x7fELF" + bytes(100))
    builder.file("big", bytes(0x200001))
    builder.file("half", bytes(0x1F0000))
    builder.file("huge", bytes(0xFF0001))
    builder.file("Image", linux_image(4096, 8192))
    builder.file("Image-bss", linux_image(4096, 0x200000))
    (builder.guests / "dir").mkdir()
    os.mkfifo(builder.guests / "fifo")
    with (builder.guests / "sparse").open("wb") as file:
        file.truncate(300 << 30)


@pytest.mark.parametrize("name", CASES)
def test_refused(builder, name):
    extra_files(builder)
    changes, expected = CASES[name]
    assert builder.refuse(changed(SYSTEM, changes)) == expected


def test_the_unchanged_system_is_accepted(builder):
    assert [vm.name for vm in builder.build(SYSTEM).system.vms] == ["one", "two"]


def test_number_of_cases():
    assert len(CASES) >= 25
    assert all(changes and expected for changes, expected in CASES.values())


def test_bootargs_too_long(builder):
    def with_bootargs(length):
        return SYSTEM.replace('"one up";', f'"one up"; bootargs = "{"a" * length}";')

    assert builder.refuse(with_bootargs(1024)) == [
        "sys.dts:18: /vms/one: bootargs: expected a string, or several to be joined by blanks, of 1 to 1023 printable "
        "ASCII characters, got 1024 characters"
    ]
    builder.build(with_bootargs(1023))


def test_too_many_vms(builder):
    assert builder.refuse(vms(17)) == ["sys.dts:4: /: board: expected at most 16 VMs on qemu-virt, got 17"]
    assert len(builder.build(vms(16)).system.vms) == 16


def test_too_many_vcpus_in_all(builder):
    assert builder.refuse(vms(6, "vcpus = <6>;")) == [
        "sys.dts:12: /vms/v5: vcpus: expected at most 32 VCPUs in all VMs, got 36 up to this one"
    ]
    assert len(builder.build(vms(16, "vcpus = <2>;")).system.vms) == 16


def test_system_name_too_long(builder):
    builder.source = Path("a" * 32 + ".dts")
    assert builder.refuse(SYSTEM) == [
        f'{builder.source}:2: /: expected a file name of at most 31 characters, got "{"a" * 32}"'
    ]


def test_board_name_too_long(builder):
    """Longer than a file's name may be."""
    (line,) = builder.refuse(SYSTEM.replace('"qemu-virt"', f'"{"a" * 300}"'))
    assert line.startswith("sys.dts:4: /: board: expected ")
    assert line.endswith("got 300 characters")


def test_missing_or_unreadable_source(builder):
    def refused(name):
        with pytest.raises(BuildError) as refusal:
            build(Options(Path(name), None, (builder.guests,), ROOT / "platform"))
        return str(refusal.value)

    Path("latin.dts").write_bytes(b"/dts-v1/; /* \xe9 */")
    assert refused("nowhere.dts") == "nowhere.dts:1: cannot be read: No such file or directory"
    assert refused("guests") == "guests:1: cannot be read: Is a directory"
    assert refused("latin.dts") == "latin.dts:1: expected UTF-8 text"


def test_a_problem_in_an_included_file_names_that_file(builder):
    Path("base.dts").write_text(SYSTEM)
    override = '/dts-v1/;\n/include/ "base.dts"\n/ { vms { two {\n  vcpus = <0>; }; }; };\n'
    assert builder.refuse(override) == ["sys.dts:4: /vms/two: vcpus: expected a number from 1 to 8, got 0"]
    Path("base.dts").write_text(SYSTEM.replace("harts = <2>", "harts = <0>"))
    fine = override.replace("vcpus = <0>", "vcpus = <1>")
    assert builder.refuse(fine) == ["base.dts:5: /: harts: expected a number from 1 to 8, got 0"]


def test_files_that_include_each_other(builder):
    Path("other.dts").write_text('/include/ "sys.dts"\n')
    (line,) = builder.refuse('/dts-v1/;\n/include/ "other.dts"\n')
    assert line == "other.dts:1: syntax error: recursive /include/: sys.dts:2 -> other.dts:1 -> sys.dts"


def test_files_included_too_deep(builder):
    for depth in range(17):
        Path(f"{depth}.dtsi").write_text(f'/include/ "{depth + 1}.dtsi"\n')
    Path("17.dtsi").write_text("")
    deep = '/dts-v1/;\n/include/ "0.dtsi"\n' + SYSTEM.removeprefix("/dts-v1/;")
    assert builder.refuse(deep) == [
        "15.dtsi:1: syntax error: expected files included 16 deep at most (does one include itself?)"
    ]
    Path("15.dtsi").write_text("")
    builder.build(deep)


# Boards of the tests, for errors that cannot occur on QEMU's virt


def board(builder, changes):
    """A platform directory with one board, `alt`, made from QEMU's virt."""
    builder.make_board(*changes)
    return SYSTEM.replace('"qemu-virt"', '"alt"')


def test_more_harts_than_the_board(builder):
    text = board(builder, [("harts = <8>;", "harts = <1>;")])
    assert builder.refuse(text) == ["sys.dts:5: /: harts: expected at most 1, the harts of alt, got 2"]


def test_device_with_the_interrupt_of_the_uart(builder):
    text = board(builder, [("interrupt = <1>;", "interrupt = <10>;")])
    assert builder.refuse(text) == [
        "sys.dts:19: /vms/one: devices: expected interrupts other than the UART's 10, got virtio-mmio0"
    ]


def test_devices_too_far_apart(builder):
    text = board(builder, [("base = <0x10008000>;", "base = <0x10200000>;")])
    text = text.replace('devices = "rng0";', 'devices = "rng0", "virtio-mmio7";')
    assert builder.refuse(text) == [
        "sys.dts:19: /vms/one: devices: expected devices that lie in one and the same 2 MiB of addresses"
    ]


def test_image_too_large_for_the_board(builder):
    text = board(builder, [("ram-size = <0x20000000>;", "ram-size = <0x200000>;")])
    assert builder.refuse(text) == [
        "platform/alt/board.dts:10: /: load-address: expected an address inside the RAM, got 0x80200000"
    ]
    builder.file("one.bin", bytes(0x400000))
    text = board_again(builder, "ram-size = <0x200000>;", "ram-size = <0x400000>;")
    assert builder.refuse(SYSTEM.replace('"qemu-virt"', '"alt"')) == [
        "sys.dts:2: /: expected a system image that fits alt's RAM of 4 MiB, got one up to 0x80800000"
    ]


def board_again(builder, old, new):
    path = builder.platform / "alt" / "board.dts"
    path.write_text(path.read_text().replace(old, new))


def test_broken_board(builder):
    changes = [
        ("timebase-hz = <10000000>;", "timebase = <10000000>;"),
        ("base = <0x10003000>;", "base = <0x10002000>;"),
        ("interrupt = <4>;", "interrupt = <2>;"),
    ]
    text = board(builder, changes[:1])
    assert builder.refuse(text) == [
        "platform/alt/board.dts:5: /: timebase-hz: missing; expected a multiple of 1000000 from 1000000 to 10000000000",
        'platform/alt/board.dts:11: /: timebase: unknown property (did you mean "timebase-hz"?)',
    ]
    board_again(builder, "timebase = <10000000>", "timebase-hz = <10500000>")
    assert builder.refuse(text) == [
        "platform/alt/board.dts:11: /: timebase-hz: "
        "expected a multiple of 1000000 from 1000000 to 10000000000, got 10500000",
    ]
    board_again(builder, "<10500000>", "<10000000>")
    for change in changes[1:]:
        board_again(builder, *change)
    lines = (builder.platform / "alt" / "board.dts").read_text().splitlines()
    _, base = (number for number, line in enumerate(lines, 1) if "base = <0x10002000>;" in line)
    _, interrupt = (number for number, line in enumerate(lines, 1) if "interrupt = <2>;" in line)
    assert builder.refuse(text) == [
        f"platform/alt/board.dts:{base}: /devices/virtio-mmio2: base: "
        "expected registers that no other device has, got some of /devices/virtio-mmio1",
        f"platform/alt/board.dts:{interrupt}: /devices/virtio-mmio3: interrupt: "
        "expected a source that no other device has, got that of /devices/virtio-mmio1",
    ]
