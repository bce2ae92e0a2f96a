# SPDX-License-Identifier: Apache-2.0
"""The parts of the guest SDK that need no hardware, compiled for the host with the sanitizers."""

import subprocess

import pytest

from tessera.run.runner import ROOT

TREE = """
/dts-v1/;
/ {
    before { bootargs = "wrong=1"; };
    chosen {
        marker = <1 2>;
        bootargs = "quiet role=switch  each=17x empty= do=read:1f";
        inner { deep = <1>; };
    };
    other { bootargs = "wrong=2"; };
    bus {
        compatible = "maker,bus";
        pins@6000 { compatible = "maker,old-pins", "maker,pins"; reg = <0x18206000 4096>; };
        clock@7 { reg = <7>; compatible = "maker,clock"; };
        clock@8 { compatible = "maker,clock"; };
        clock@9 { compatible = "maker,clock"; reg = <9>; };
    };
};
"""
STRINGS = ("memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "strncmp", "strncpy")
SHARED = ROOT / "build/guests/sdk/nofp/obj/guests/sdk/shared"
DRIVER_MAX = 4096  # bytes of code of a driver of a shared device, with the channel's


def test_sdk_on_the_host(tmp_path):
    lib = ROOT / "guests" / "sdk"
    cc = ["gcc", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    cc += ["-fno-sanitize-recover=all", "-fno-builtin"]
    # Renamed, to coexist with the host's C library, with which the functions are compared.
    renamed = [f"-D{name}=sdk_{name}" for name in STRINGS]
    strings = [*cc, *renamed, "-c", str(lib / "libc/string.c"), "-o", str(tmp_path / "string.o")]
    subprocess.run(strings, check=True)
    sources = [*(str(lib / name) for name in ("print.c", "fdt.c", "rt_error.c")), str(ROOT / "tests/guests/sdk_host.c")]
    program = str(tmp_path / "sdk_host")
    subprocess.run(
        [
            *cc,
            f"-I{ROOT / 'abi'}",
            f"-I{lib / 'include'}",
            f"-I{lib / 'riscv/include'}",
            *sources,
            str(tmp_path / "string.o"),
            "-o",
            program,
        ],
        check=True,
    )
    subprocess.run(["dtc", "-o", str(tmp_path / "tree.dtb"), "-"], input=TREE.encode(), check=True)
    done = subprocess.run([program, str(tmp_path / "tree.dtb")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("driver", ["flash", "ethernet", "gpio", "screen", "copy", "uart"])
def test_size_of_a_driver(driver):
    """Code and constants of the objects of `make guests-bare`."""
    objects = [str(SHARED / f"{name}.o") for name in ("channel", driver)]
    done = subprocess.run(["riscv64-unknown-elf-size", *objects], capture_output=True, text=True, check=True)
    sizes = [int(line.split()[0]) for line in done.stdout.splitlines()[1:]]
    assert len(sizes) == 2
    assert 0 < sum(sizes) < DRIVER_MAX, sizes
