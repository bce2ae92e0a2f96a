# SPDX-License-Identifier: Apache-2.0
"""The allowed includes between layers, and the names that core must not contain. A check of our own: a compiler has no
rule for words.

The layers are those of docs/architecture.md: platform and arch at the top; below them the components,
which include those only that their component.mk names (USES_<name>); then core; the architecture's contract
(arch/include), and the guests' view of the hypercalls (abi) at the bottom. A component is a folder with
a component.c (tools/check/repo.py), or an example.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from check import ctext, repo
from check.repo import Finding

# A layer is a folder here, or a component, with its subfolders. Each arch/<isa> and each
# platform/<board> is a layer; the files of platform/ itself are the contract between boards and
# architectures.
_PLAIN_LAYERS = ("abi", "arch/include", "platform/drivers", "core")
_FAMILIES = ("arch", "platform")
_CONTRACT = "platform contract"
_COMPONENT = "component"

# The layers that each layer may include, apart from itself. "arch", "platform" and "component" stand
# for any one of their kind.
_BASE = {"abi", "core", "arch/include", _CONTRACT}
_MAY = {
    "abi": set(),
    "arch/include": {"abi", "core"},
    "core": {"abi", "arch/include", _CONTRACT},
    _COMPONENT: _BASE,
    _CONTRACT: _BASE,
    "platform/drivers": _BASE,
    "arch": _BASE,
    "platform": _BASE | {"platform/drivers"},
}

# Headers that every variant of a family provides under the same name belong to the contract, not to
# one variant: the structs of an architecture that core's structs embed (arch_types.h), the
# addresses of a board (board.h).
_VARIANT_HEADER = {"arch": re.compile(r"^arch_\w+\.h$"), "platform": re.compile(r"^board(?:_\w+)?\.h$")}
_MAY_USE_VARIANT = {
    "arch": {"core", _COMPONENT, "arch/include", "platform"},
    "platform": {"arch", "platform", "platform/drivers"},
}

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
_FIX = "include lower layers only: register a function or move the declaration"
# Words that core may not use in identifiers: the names of the components, and these.
_COMPONENT_WORDS = ("edf", "admit", "overrun", "inbox", "doorbell", "session", "virtio", "fpga")
# Components whose names are words of core's interfaces (console.h, the image's seeds) or common words.
_ALLOWED_NAMES = {"console", "seed", "shared", "serial"}
# Exceptions: file, identifiers, reason. An exception that is not needed is an error, too.
_IMAGE_FIELDS = r"rt_\w+|SYSIMAGE_MAX_RT_APPS"
_IMAGE = "the format of the system image has the fields that the components read"
_NAMES_OF_COMPONENTS = (
    ("core/include/sysimage.h", _IMAGE_FIELDS, _IMAGE),
    ("core/sysimage.c", _IMAGE_FIELDS, _IMAGE),
    (
        "core/include/trace_layout.h",
        r"TRACE_\w+",
        "one list numbers all kinds of trace events, for the tools on the host",
    ),
)
# Layers, besides the components, that must not name an architecture or a board, not even in comments.
_NEUTRAL = {"abi", "core"}
_ISA_OR_BOARD = re.compile(r"risc-?v|mips|aarch64|qemu|genesys|m5150|cva6|\bv?plic(?:\b|_)", re.IGNORECASE)
# Terms of one instruction set, which core must not use, not even in comments. The error codes of abi are the SBI's, and
# accel has control and status registers of its own.
_ISA_TERM = re.compile(r"\b(?:csrs?|sbi|sstc)(?:\b|_)|\bsv(?:32|39|48|57)|\bstimecmp\b|\becall\b", re.IGNORECASE)


@dataclass(frozen=True)
class Layers:
    """The layers of a tree with these components."""

    components: tuple[str, ...]
    uses: dict[str, set[str]]  # the components that a component may include, without their folders

    @cached_property
    def component_name(self) -> re.Pattern[str]:
        """Matches the identifiers of components, which core may not name."""
        names = [Path(name).name for name in self.components if Path(name).name not in _ALLOWED_NAMES]
        words = "|".join([*names, *(rf"{word}(?:e?s)?" for word in _COMPONENT_WORDS)])
        return re.compile(rf"\b(?:[A-Za-z0-9]\w*_)?(?:{words})(?:_\w*)?\b", re.IGNORECASE)

    def layer_of(self, path: str) -> str | None:
        """Returns the layer of a file ("core", "arch/riscv", ...), None for files outside of all
        layers."""
        for layer in (*_PLAIN_LAYERS, *self.components):
            if path.startswith(layer + "/"):
                return layer
        family, _, rest = path.partition("/")
        if family == "platform" and "/" not in rest:
            return _CONTRACT
        return f"{family}/{rest.partition('/')[0]}" if family in _FAMILIES and "/" in rest else None

    def component_of(self, path: str) -> str | None:
        """Returns the component whose part for an architecture a file in arch/<isa>/<component> is."""
        parts = path.split("/")
        name = parts[2] if parts[0] == "arch" and len(parts) > 3 else None
        return next((component for component in self.components if Path(component).name == name), None)

    def _kind(self, layer: str) -> str:
        if layer in self.components:
            return _COMPONENT
        return layer if layer in _MAY else layer.partition("/")[0]

    def allowed(self, layer: str, header: str) -> bool:
        """Returns whether a file in `layer` may include the file `header` (a path)."""
        target = self.layer_of(header)
        if target is None or target == layer:
            return True
        family = self._kind(target)
        variant = _VARIANT_HEADER.get(family)
        if variant is not None and variant.match(Path(header).name):
            return self._kind(layer) in _MAY_USE_VARIANT[family]
        name = Path(target).name if family == _COMPONENT else family
        return name in _MAY[self._kind(layer)] | self.uses.get(Path(layer).name, set()) and family not in _FAMILIES

    def is_neutral(self, layer: str | None) -> bool:
        """Returns whether the layer must not name an architecture or a board."""
        return layer in _NEUTRAL or layer in self.components

    def is_architecture(self, layer: str) -> bool:
        """Returns whether the layer is an architecture."""
        return self._kind(layer) == "arch"


def _candidates(layers: Layers, name: str, source: str, headers: dict[str, list[str]]) -> list[str]:
    """Returns the files that an #include of `name` in `source` may mean: one in the same folder,
    else any with the path; files outside of all layers only if no other file has the name."""
    neighbour = str(Path(source).parent / name)
    found = [path for path in headers[Path(name).name] if path == name or path.endswith("/" + name)]
    inside = [path for path in found if layers.layer_of(path) is not None]
    return [neighbour] if neighbour in found else inside or found


def _include_findings(layers: Layers, path: str, text: str, headers: dict[str, list[str]]) -> list[Finding]:
    layer = layers.layer_of(path)
    if layer is None:
        return []
    found = []
    code = ctext.blank(text, also_strings=False)
    for match in _INCLUDE.finditer(code):
        line = code.count("\n", 0, match.start()) + 1
        meant = _candidates(layers, match[1], path, headers)
        own = layers.component_of(path)
        if ".." in Path(match[1]).parts:
            found.append(Finding(path, line, f"includes {match[1]} by its place", "name the header only"))
        elif meant and not any(layers.layer_of(header) == own or layers.allowed(layer, header) for header in meant):
            what = f"{layer} includes {match[1]} of {layers.layer_of(meant[0])}"
            found.append(Finding(path, line, what, _FIX))
    return found


def _naming_findings(layers: Layers, path: str, text: str) -> list[Finding]:
    layer = layers.layer_of(path)
    if not layers.is_neutral(layer):
        return []
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _ISA_OR_BOARD.search(line) or (_ISA_TERM.search(line) if layer == "core" else None)
        if match:
            found.append(Finding(path, number, f"{layer} names {match[0]}", "move it to arch/ or platform/"))
    return found


def _component_findings(layers: Layers, path: str, text: str) -> list[Finding]:
    """Reports the identifiers of core that have a component's word."""
    if layers.layer_of(path) != "core":
        return []
    found = []
    for number, line in enumerate(ctext.blank(text).split("\n"), 1):
        for match in layers.component_name.finditer(line):
            if not any(file == path and re.fullmatch(names, match[0]) for file, names, _ in _NAMES_OF_COMPONENTS):
                found.append(Finding(path, number, f"core names {match[0]} of a component", _FIX))
    return found


def _unneeded_exceptions(layers: Layers, path: str, text: str) -> list[Finding]:
    named = {match[0] for match in layers.component_name.finditer(ctext.blank(text))}
    return [
        Finding(path, 0, f"needs no exception ({reason})", "remove it from check/layers.py")
        for file, names, reason in _NAMES_OF_COMPONENTS
        if file == path and not any(re.fullmatch(names, name) for name in named)
    ]


def _headers_by_name(files: list[str]) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = defaultdict(list)
    for path in repo.with_suffix(files, ".h"):
        headers[Path(path).name].append(path)
    return headers


def _missing_variants(layers: Layers, files: list[str]) -> list[Finding]:
    """Reports a header of the contract that some architectures have and another one lacks."""
    having: dict[str, set[str]] = defaultdict(set)
    isas: set[str] = set()
    for path in repo.with_suffix(files, ".c", ".h", ".S"):
        layer = layers.layer_of(path)
        if layer is None or not layers.is_architecture(layer):
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
    layers = Layers(repo.components(root), repo.uses(root))
    headers = _headers_by_name(files)
    sources = [path for path in repo.with_suffix(files, ".c", ".h", ".S") if layers.layer_of(path) is not None]
    findings = _missing_variants(layers, files)
    for path in sources:
        text = (root / path).read_text(encoding="utf-8")
        findings += _include_findings(layers, path, text, headers) + _naming_findings(layers, path, text)
        findings += _component_findings(layers, path, text) + _unneeded_exceptions(layers, path, text)
    return findings, f"{len(sources)} files in their layers"


if __name__ == "__main__":
    repo.main("layers", check)
