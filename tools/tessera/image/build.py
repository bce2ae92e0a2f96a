# SPDX-License-Identifier: Apache-2.0
"""Builds a system: from the source's path to the files in the output directory."""

import json
from dataclasses import dataclass
from pathlib import Path

from tessera.image.binary import build_image
from tessera.image.elf import check_hypervisor, wrap
from tessera.image.fdt import compile_dts
from tessera.image.fixups import Fixup, find_fixups
from tessera.image.guestdt import guest_dts, listed_features
from tessera.image.layout import PAGE, align_up
from tessera.image.manifest import manifest
from tessera.image.model import File, System
from tessera.image.problems import BuildError
from tessera.image.system import load_system

MANIFEST = "system.json"


@dataclass(frozen=True)
class Options:
    """
    The inputs of a build. `hypervisor` None: builds the system image alone, for tests. `search`:
    the directories in which guests' files are searched, in this order, after the directory of the
    source. `components`: those of the hypervisor; None: all that a system can need. `sorters`: it has queues in the
    fabric's sorters.
    """

    source: Path
    hypervisor: Path | None
    search: tuple[Path, ...]
    platform: Path
    without: tuple[str, ...] = ()
    components: tuple[str, ...] | None = None
    sorters: bool = False


@dataclass(frozen=True)
class Built:
    """A built system: names of output files with their contents, and the checked model."""

    system: System
    files: dict[str, bytes]


def build(options: Options) -> Built:
    """Builds all output files in memory and writes none. Raises BuildError."""
    hypervisor = _hypervisor(options.hypervisor)
    head = hypervisor.data if hypervisor else b""
    head += bytes(align_up(len(head), PAGE) - len(head))
    system = load_system(
        options.source, options.search, options.platform, options.without, len(head), options.components
    )
    if hypervisor:
        _check_elf(hypervisor.path.with_suffix(".elf"), head, system.board.load_address)

    files: dict[str, bytes] = {}
    fixups: dict[str, list[Fixup]] = {}
    for vm in system.vms:
        dts = guest_dts(system, vm)
        blob = compile_dts(dts, f"{vm.name}.dts", vm.machine.dtb_free)
        vm.loads[-1].data = blob
        fixups[vm.name] = find_fixups(blob, listed_features(vm))
        files[f"{vm.name}.dts"], files[f"{vm.name}.dtb"] = dts.encode(), blob
    image = head + build_image(system, fixups)
    files["tessera.bin"] = image
    if system.board.iasim_board:
        files["tessera.elf"] = wrap(image, system.board.load_address)
    files[MANIFEST] = (json.dumps(manifest(system, image, hypervisor, options.sorters), indent=2) + "\n").encode()
    return Built(system, files)


def write(built: Built, out: Path) -> None:
    """Writes the files. Removes device trees that an earlier build has left and this build does not
    write; only in a directory with a manifest, so that no other files of the user are removed."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        ours = (out / MANIFEST).exists()
        for old in (*out.glob("*.dts"), *out.glob("*.dtb")):
            if ours and old.name not in built.files:
                old.unlink()
        for name, data in built.files.items():
            temporary = out / f".{name}.new"
            temporary.write_bytes(data)
            temporary.replace(out / name)
    except OSError as error:
        raise BuildError(f"{out}: cannot be written: {error.strerror}") from None


def _check_elf(path: Path, head: bytes, load_address: int) -> None:
    """Compares the binary with the ELF file that `make hyp` writes to the same folder; skipped if
    there is none."""
    if path.is_file():
        check_hypervisor(head, path.read_bytes(), str(path), load_address)


def _hypervisor(path: Path | None) -> File | None:
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BuildError(f"{path}: expected the hypervisor's binary: {error.strerror} (make hyp)") from None
    if not data or data.startswith(b"\x7fELF"):
        raise BuildError(f"{path}: expected the hypervisor's raw binary, got {'an ELF file' if data else 'nothing'}")
    return File(path, data)
