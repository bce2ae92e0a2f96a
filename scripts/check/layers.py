# SPDX-License-Identifier: Apache-2.0
"""The allowed includes between layers, and the names that core must not contain.

The layers are those of docs and CONTRIBUTING.md: platform and arch at the top; below them fpga/vdm,
ipc, debug, console, seed and rt, which do not include each other; then core; the architecture's contract
(arch/include) at the bottom.
"""

import re
from collections import defaultdict
from pathlib import Path

from check import ctext, repo
from check.repo import Finding

# A layer is a folder here, with its subfolders. Each arch/<isa> and each platform/<board> is a
# layer; the files of platform/ itself are the contract between boards and architectures.
_PLAIN_LAYERS = ("arch/include", "platform/drivers", "core", "rt", "ipc", "debug", "console", "seed", "fpga/vdm")
_FAMILIES = ("arch", "platform")
_CONTRACT = "platform contract"

# The layers that each layer may include, apart from itself. "arch" and "platform" stand for any one
# variant.
_BASE = {"core", "arch/include"}
_MAY = {
    "arch/include": {"core"},
    "core": {"arch/include"},
    "rt": _BASE,
    "ipc": _BASE,
    "debug": _BASE | {"console"},
    "console": _BASE,
    "seed": _BASE,
    "fpga/vdm": _BASE,
    _CONTRACT: _BASE,
    "platform/drivers": _BASE | {_CONTRACT},
    "arch": _BASE | {"rt", "ipc", "fpga/vdm", _CONTRACT},
    "platform": _BASE | {"rt", "ipc", "fpga/vdm", _CONTRACT, "platform/drivers"},
}

# Headers that every variant of a family provides under the same name belong to the contract, not to
# one variant: the structs of an architecture that core's structs embed (arch_types.h), the
# addresses of a board (board.h).
_VARIANT_HEADER = {"arch": re.compile(r"^arch_\w+\.h$"), "platform": re.compile(r"^board(?:_\w+)?\.h$")}
_MAY_USE_VARIANT = {
    "arch": {"core", "rt", "ipc", "debug", "fpga/vdm", "arch/include", "platform"},
    "platform": {"arch", "platform", "platform/drivers"},
}

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
_FIX = "include lower layers only: register a function or move the declaration"
# Identifiers of components, which core may not name. The format of the system image names what components read there.
_COMPONENT_NAME = re.compile(
    r"\b((?:rt|edf|ipc|debug|session|virtio|vdm|fpga)_\w+|(?:RT|IPC|DEBUG|VIRTIO)_\w+)",
)
_IMAGE_FORMAT = {"core/sysimage.c", "core/include/sysimage.h"}
# Layers that must not name an architecture or a board, not even in comments.
_NEUTRAL = {"core", "rt", "ipc", "debug", "console", "seed"}
_ISA_OR_BOARD = re.compile(r"risc-?v|mips|aarch64|qemu|genesys|m5150|cva6", re.IGNORECASE)


def layer_of(path: str) -> str | None:
    """Returns the layer of a file ("core", "arch/riscv", ...), None for files outside of all
    layers."""
    for layer in _PLAIN_LAYERS:
        if path.startswith(layer + "/"):
            return layer
    family, _, rest = path.partition("/")
    if family == "platform" and "/" not in rest:
        return _CONTRACT
    return f"{family}/{rest.partition('/')[0]}" if family in _FAMILIES and "/" in rest else None


def _kind(layer: str) -> str:
    return layer if layer in _MAY else layer.partition("/")[0]


def allowed(layer: str, header: str) -> bool:
    """Returns whether a file in `layer` may include the file `header` (a path)."""
    target = layer_of(header)
    if target is None or target == layer:
        return True
    family = _kind(target)
    variant = _VARIANT_HEADER.get(family)
    if variant is not None and variant.match(Path(header).name):
        return _kind(layer) in _MAY_USE_VARIANT[family]
    return family in _MAY[_kind(layer)] and family not in _FAMILIES


def _candidates(name: str, source: str, headers: dict[str, list[str]]) -> list[str]:
    """Returns the files that an #include of `name` in `source` may mean: one in the same folder,
    else any with the path."""
    neighbour = str(Path(source).parent / name)
    found = [path for path in headers[Path(name).name] if path == name or path.endswith("/" + name)]
    return [neighbour] if neighbour in found else found


def _include_findings(path: str, text: str, headers: dict[str, list[str]]) -> list[Finding]:
    layer = layer_of(path)
    if layer is None:
        return []
    found = []
    code = ctext.blank(text, also_strings=False)
    for match in _INCLUDE.finditer(code):
        meant = _candidates(match[1], path, headers)
        if meant and not any(allowed(layer, header) for header in meant):
            line = code.count("\n", 0, match.start()) + 1
            what = f"{layer} includes {match[1]} of {layer_of(meant[0])}"
            found.append(Finding(path, line, what, _FIX))
    return found


def _naming_findings(path: str, text: str) -> list[Finding]:
    layer = layer_of(path)
    if layer not in _NEUTRAL:
        return []
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _ISA_OR_BOARD.search(line)
        if match:
            found.append(Finding(path, number, f"{layer} names {match[0]}", "move it to arch/ or platform/"))
    return found


def _component_findings(path: str, text: str) -> list[Finding]:
    if layer_of(path) != "core" or path in _IMAGE_FORMAT:
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
    """Reports a header of the contract that some architectures have and another one lacks."""
    having: dict[str, set[str]] = defaultdict(set)
    isas: set[str] = set()
    for path in repo.with_suffix(files, ".c", ".h", ".S"):
        layer = layer_of(path)
        if layer is None or _kind(layer) != "arch":
            continue
        isas.add(layer)
        if _VARIANT_HEADER["arch"].match(Path(path).name):
            having[Path(path).name].add(layer)
    return [
        Finding(isa, 0, f"has no {name}", "every architecture provides this header of the contract")
        for name, there in having.items()
        for isa in sorted(isas - there)
    ]


def check(root: Path) -> tuple[list[Finding], str]:
    """Includes of lower layers only; no name of an instruction set, a board or a component in core."""
    files = repo.tracked(root)
    headers = _headers_by_name(files)
    sources = [path for path in repo.with_suffix(files, ".c", ".h", ".S") if layer_of(path) is not None]
    findings = _missing_variants(files)
    for path in sources:
        text = (root / path).read_text(encoding="utf-8")
        findings += _include_findings(path, text, headers) + _naming_findings(path, text)
        findings += _component_findings(path, text)
    return findings, f"{len(sources)} files in their layers"


if __name__ == "__main__":
    repo.main("layers", check)
