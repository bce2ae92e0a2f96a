# SPDX-License-Identifier: Apache-2.0
"""The constants of the debugger's protocol in tools/gdb are those of services/debug/include/debug_abi.h."""

import re

from c_headers import ROOT, evaluate

HEADERS = ("debug_abi.h", "vm.h", "vcpu.h")
SOURCES = ROOT / "tools" / "gdb" / "src"
NAMES = {
    **{name: f"DEBUG_{name}" for name in ("VERSION", "DATA", "ALL", "EVENT", "ERR_FRAME")},
    **{f"{name}_ERROR": f"DEBUG_ERR_{name}" for name in ("OFF", "RUNNING", "VCPU", "ADDRESS")},
    "OFF": "VCPU_OFF",
    **{name: name for name in ("VM_STOPPED", "VM_WAITING")},
}


def test_the_constants_of_the_tool() -> None:
    text = "".join((SOURCES / file).read_text(encoding="utf-8") for file in ("link.rs", "vm.rs"))
    constants = re.findall(r"^(?:pub )?const (\w+): \w+ = (0x[0-9a-f]+|\d+);", text, flags=re.MULTILINE)
    found = {NAMES[name]: int(value, 0) for name, value in constants if name in NAMES}
    assert set(found) == set(NAMES.values())
    assert evaluate(HEADERS, found) == found


def test_the_operations_of_the_tool() -> None:
    body = re.search(r"enum Operation \{(.*?)\}", (SOURCES / "link.rs").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert body is not None
    found = {f"DEBUG_{name.upper()}": int(value) for name, value in re.findall(r"(\w+) = (\d+),", body[1])}
    header = (ROOT / "services" / "debug" / "include" / "debug_abi.h").read_text(encoding="utf-8")
    operations = re.search(r"enum debug_operation \{(.*?)\};", header, flags=re.DOTALL)
    assert operations is not None
    assert set(found) == set(re.findall(r"^ +(DEBUG_\w+) =", operations[1], flags=re.MULTILINE))
    assert evaluate(HEADERS, found) == found
