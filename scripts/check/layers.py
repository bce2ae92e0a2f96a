# SPDX-License-Identifier: Apache-2.0
"""Who may include whom, and what core may not even name.

The arrows are those of docs and CONTRIBUTING.md: platform and arch stand on top, fpga/vdm, ipc, debug, operator and
rt below them and beside each other, core below those, the architecture's contract (arch/include) at the bottom.
"""

import re
from collections import defaultdict
from pathlib import Path

from check import ctext, repo
from check.repo import Finding

# A room is a folder here, with all below it. arch/<isa> and platform/<board> are many rooms; what lies in platform/
# itself is the contract between boards and architectures.
_PLAIN_ROOMS = ("arch/include", "platform/drivers", "core", "rt", "ipc", "debug", "operator", "fpga/vdm")
_FAMILIES = ("arch", "platform")
_CONTRACT = "platform contract"

# What each room may include besides itself. "arch" and "platform" stand for any one variant of the family.
_BASE = {"core", "arch/include"}
_MAY = {
    "arch/include": {"core"},
    "core": {"arch/include"},
    "rt": _BASE,
    "ipc": _BASE,
    "debug": _BASE,
    "operator": _BASE,
    "fpga/vdm": _BASE,
    _CONTRACT: _BASE,
    "platform/drivers": _BASE | {_CONTRACT},
    "arch": _BASE | {"rt", "ipc", "fpga/vdm", _CONTRACT},
    "platform": _BASE | {"rt", "ipc", "fpga/vdm", _CONTRACT, "platform/drivers"},
}

# Headers that each variant of a family provides under the same name are part of the contract, not of one variant:
# the structs an architecture embeds in core's (arch_types.h), the addresses of a board (board.h).
_VARIANT_HEADER = {"arch": re.compile(r"^arch_\w+\.h$"), "platform": re.compile(r"^board(?:_\w+)?\.h$")}
_MAY_USE_VARIANT = {
    "arch": {"core", "rt", "ipc", "debug", "fpga/vdm", "arch/include", "platform"},
    "platform": {"arch", "platform", "platform/drivers"},
}

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
_FIX = "arrows point down only: register a function or move the declaration"
# Identifiers of components, which core may not name. The format of the system image names what components read there.
_COMPONENT_NAME = re.compile(
    r"\b((?:rt|edf|ipc|debug|session|virtio|vdm|fpga)_\w+|(?:RT|IPC|DEBUG|VIRTIO)_\w+)",
)
_IMAGE_FORMAT = {"core/sysimage.c", "core/include/sysimage.h"}
# What names no architecture and no board, comments included.
_NEUTRAL = {"core", "rt", "ipc"}
_ISA_OR_BOARD = re.compile(r"risc-?v|mips|aarch64|qemu|genesys|m5150|cva6", re.IGNORECASE)


def room_of(path: str) -> str | None:
    """The room a file is in ("core", "arch/riscv", ...), None for files that the rule does not concern."""
    for room in _PLAIN_ROOMS:
        if path.startswith(room + "/"):
            return room
    family, _, rest = path.partition("/")
    if family == "platform" and "/" not in rest:
        return _CONTRACT
    return f"{family}/{rest.partition('/')[0]}" if family in _FAMILIES and "/" in rest else None


def _kind(room: str) -> str:
    return room if room in _MAY else room.partition("/")[0]


def allowed(room: str, header: str) -> bool:
    """Whether a file in `room` may include the file `header` (a path)."""
    target = room_of(header)
    if target is None or target == room:
        return True
    family = _kind(target)
    variant = _VARIANT_HEADER.get(family)
    if variant is not None and variant.match(Path(header).name):
        return _kind(room) in _MAY_USE_VARIANT[family]
    return family in _MAY[_kind(room)] and family not in _FAMILIES


def _candidates(name: str, source: str, headers: dict[str, list[str]]) -> list[str]:
    """The files that #include of `name` in `source` may mean: its neighbour if there is one, else any by that path."""
    neighbour = str(Path(source).parent / name)
    found = [path for path in headers[Path(name).name] if path == name or path.endswith("/" + name)]
    return [neighbour] if neighbour in found else found


def _include_findings(path: str, text: str, headers: dict[str, list[str]]) -> list[Finding]:
    room = room_of(path)
    if room is None:
        return []
    found = []
    code = ctext.blank(text, also_strings=False)
    for match in _INCLUDE.finditer(code):
        meant = _candidates(match[1], path, headers)
        if meant and not any(allowed(room, header) for header in meant):
            line = code.count("\n", 0, match.start()) + 1
            what = f"{room} includes {match[1]} of {room_of(meant[0])}"
            found.append(Finding(path, line, what, _FIX))
    return found


def _naming_findings(path: str, text: str) -> list[Finding]:
    room = room_of(path)
    if room not in _NEUTRAL:
        return []
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _ISA_OR_BOARD.search(line)
        if match:
            found.append(Finding(path, number, f"{room} names {match[0]}", "move it to arch/ or platform/"))
    return found


def _component_findings(path: str, text: str) -> list[Finding]:
    if room_of(path) != "core" or path in _IMAGE_FORMAT:
        return []
    found = []
    for number, line in enumerate(ctext.blank(text).split("\n"), 1):
        match = _COMPONENT_NAME.search(line)
        if match:
            found.append(Finding(path, number, f"core names {match[1]} of a component", _FIX))
    return found


def _headers_by_name(files: list[str]) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = defaultdict(list)
    for path in repo.with_suffix(files, ".h"):
        headers[Path(path).name].append(path)
    return headers


def _missing_variants(files: list[str]) -> list[Finding]:
    """A header of the contract that some architectures have and another lacks."""
    having: dict[str, set[str]] = defaultdict(set)
    isas: set[str] = set()
    for path in repo.with_suffix(files, ".c", ".h", ".S"):
        room = room_of(path)
        if room is None or _kind(room) != "arch":
            continue
        isas.add(room)
        if _VARIANT_HEADER["arch"].match(Path(path).name):
            having[Path(path).name].add(room)
    return [
        Finding(isa, 0, f"has no {name}", "every architecture provides this header of the contract")
        for name, there in having.items()
        for isa in sorted(isas - there)
    ]


def check(root: Path) -> tuple[list[Finding], str]:
    """Includes follow the arrows of the architecture; core names no instruction set, no board and no component."""
    files = repo.tracked(root)
    headers = _headers_by_name(files)
    sources = [path for path in repo.with_suffix(files, ".c", ".h", ".S") if room_of(path) is not None]
    findings = _missing_variants(files)
    for path in sources:
        text = (root / path).read_text(encoding="utf-8")
        findings += _include_findings(path, text, headers) + _naming_findings(path, text)
        findings += _component_findings(path, text)
    return findings, f"{len(sources)} files in their rooms"


if __name__ == "__main__":
    repo.main("layers", check)
