# SPDX-License-Identifier: Apache-2.0
"""
Constants and structures of the C headers, so that no test repeats a number, a limit or a layout.
Values come from the host's compiler; the fields of a structure from the header's text, and their
size from the compiler.
"""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    *(
        "abi",
        "core/include",
        "rt/include",
        "ipc/include",
        "services/debug/include",
        "services/console/include",
        "services/seed/include",
        "services/fwtree/include",
        "fpga/hw/include",
        "devices/accel/include",
        "devices/shared/include",
        "devices/virtio/include",
        "arch/include",
    ),
    *("arch/host", "arch/host/include", "devices/accel", "devices/shared", "devices/virtio", "tests/unit", "."),
)
_DEFINES = (
    "COMPONENTS=1U",
    *(f"COMPONENT_{name}=0U" for name in ("RT", "IPC", "DEBUG", "CONSOLE", "SEED", "ACCEL", "SHARED", "VIRTIO")),
)
# Prints a value of either sign. For an unsigned type, no value is below 0.
_PROGRAM = """#include <stdio.h>
#include <stddef.h>
{includes}
#define SHOW(x) printf("%s%llu\\n", (x) < 0 ? "-" : "", (unsigned long long)((x) < 0 ? -(x) : (x)))
int main(void)
{{
{lines}
    return 0;
}}
"""
_TYPES = {
    **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "ticks_t": ctypes.c_uint64,
    "unsigned": ctypes.c_uint,
    "char": ctypes.c_char,
    "bool": ctypes.c_bool,
}
_FIELD = re.compile(r"(?:const )?(?P<type>(?:struct |enum )?\w+) (?P<names>[^;]+)$")
_NAME = re.compile(r"(?P<pointer>\*?)(?P<name>\w+)(?:\[(?P<length>\d+)\])?$")


def evaluate(headers: Iterable[str], expressions: Iterable[str]) -> dict[str, int]:
    """Returns the values of integer C expressions, by their text, after an #include of the headers."""
    texts = list(expressions)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler is not None, "expected a host C compiler (cc, gcc or clang)"
    program = _PROGRAM.format(
        includes="\n".join(f'#include "{header}"' for header in headers),
        lines="\n".join(f"    SHOW({text});" for text in texts),
    )
    options = [*(f"-D{define}" for define in _DEFINES), *(f"-I{ROOT / folder}" for folder in FOLDERS)]
    # The tests of libcore.so preload the sanitizer's library, which the compiler does not need.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    with tempfile.TemporaryDirectory() as folder:
        binary = str(Path(folder) / "values")
        command = [compiler, "-std=gnu11", *options, "-x", "c", "-o", binary, "-"]
        subprocess.run(command, input=program, text=True, env=environment, check=True)
        said = subprocess.run([binary], capture_output=True, text=True, env=environment, check=True).stdout
    return dict(zip(texts, map(int, said.split()), strict=True))


def values(headers: str, names: str) -> tuple[int, ...]:
    """Returns the values of constants; both arguments are names separated by white space."""
    return tuple(evaluate(headers.split(), names.split()).values())


def _fields(text: str, name: str, known: dict[str, type]) -> list[tuple[str, type]]:
    """Returns the fields of struct `name`. A pointer to a structure that is not in `known` is a void
    pointer."""
    body = re.search(rf"struct {name} \{{(.*?)\}};", text, flags=re.DOTALL)
    assert body is not None, f"struct {name} is not defined"
    found = []
    for declaration in body[1].split(";")[:-1]:
        field = _FIELD.match(" ".join(declaration.split()))
        assert field is not None, f"struct {name}: {declaration}"
        base = ctypes.c_uint if field["type"].startswith("enum ") else _TYPES.get(field["type"])
        pointed = known.get(field["type"].removeprefix("struct "))
        base = base or pointed
        pointer = ctypes.c_void_p if pointed is None else ctypes.POINTER(pointed)
        for text_of_name in field["names"].split(","):
            one = _NAME.match(text_of_name.strip())
            kind = pointer if one is not None and one["pointer"] else base
            assert one is not None and kind is not None, f"struct {name}: {declaration}"
            found.append((one["name"], kind * int(one["length"]) if one["length"] else kind))
    return found


def structures(headers: str, names: str) -> tuple[type[ctypes.Structure], ...]:
    """Returns structures as ctypes; both arguments are names separated by white space, a structure
    after those that it has or points to."""
    paths = [ROOT / folder / header for header in headers.split() for folder in FOLDERS]
    text = "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"(enum \w+) \{[^}]*\} (\w+;)", r"\1 \2", text)
    known: dict[str, type[ctypes.Structure]] = {}
    for name in names.split():
        known[name] = type(name, (ctypes.Structure,), {"_fields_": _fields(text, name, known)})
    sizes = evaluate(headers.split(), (f"sizeof(struct {name})" for name in known))
    assert list(sizes.values()) == [ctypes.sizeof(kind) for kind in known.values()], f"wrong sizes: {sizes}"
    return tuple(known.values())
