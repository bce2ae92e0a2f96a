# SPDX-License-Identifier: Apache-2.0
"""
Names the suites of tests that concern the files changed since a commit, and runs them (docs/tests.md).

    changed.py [--base COMMIT] [--names]
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from check import repo

ROOT = Path(__file__).resolve().parent.parent

# Suites of files that begin with these words; the longest one counts. A suite may be limited to tests, by
# words of which its name has one (ONLY=). A name in braces stands for suites of GROUPS. Tests have the suite
# of their folder, fragments of the Makefile the suites that they define. Derived from the tree: a component's part
# in arch/ has the component's suites, a header of it those of the components that use it, and a source that a
# guest or a test's program is built of, those suites, too.
GROUPS = {
    "hypervisor": "test-unit test-coverage test-fuzz-host test-e2e test-mips",
    "rtl": "test-fpga test-cosim test-soc test-e2e:accelerators,hardware_io,shared,sorter",
    "board": "test-image test-e2e:boards,firmware",
    "tools": "test-unit:check",
    "documents": "site test-tutorials test-pictures",
}
SUITES = {
    ".ci/": "",
    ".clang-format": "",
    ".editorconfig": "",
    ".gitignore": "",
    "CAVEATS.md": "{documents}",
    "CHANGELOG.md": "{documents}",
    "CONTRIBUTING.md": "{documents}",
    "LICENSE": "",
    "Makefile": "test-unit test-e2e:bad_input",
    "README.md": "{documents}",
    "REUSE.toml": "",
    "abi/": "{hypervisor} test-image test-guests test-cosim",
    "arch/": "{hypervisor}",
    "arch/host/": "test-unit test-coverage test-fuzz-host check-model",
    "arch/mips/": "test-mips test-e2e:m5150",
    "arch/riscv/": "test-e2e test-newer",
    "arch/riscv/compat/": "test-e2e:test_virt,panic,regression,attacks test-newer",
    "arch/riscv/errata/": "test-e2e:errata,boards test-soc",
    "arch/riscv/firmware/": "test-e2e:firmware,boards,regression,native test-soc test-newer",
    "core/": "{hypervisor}",
    "core/memmap": "{hypervisor} check-model",
    "core/sched": "{hypervisor} check-model",
    "core/vcpu": "{hypervisor} check-model",
    "devices/accel/": "test-unit test-coverage test-fuzz-host test-cosim "
    "test-e2e:accel,overlays,crypto_unit,rt_devices",
    "devices/shared/": "test-unit test-coverage test-cosim test-e2e:shared,hardware_io",
    "devices/virtio/": "test-unit test-coverage test-fuzz-host test-manager "
    "test-e2e:test_virt,attacks_virtio,test_network,test_disk,storage,crypto,passthrough,grub,locks,"
    "test_many test-tutorials:network",
    "docs/": "{documents}",
    "docs/figures.tsv": "test-unit:figures",
    "docs/examples/": "test-tutorials",
    "fpga/": "{rtl}",
    "fpga/figures.tsv": "test-unit:figures",
    "fpga/synth.jsonl": "test-unit:synthesis",
    "fpga/target/cosim/": "test-cosim test-e2e:accelerators,hardware_io,shared,sorter",
    "fpga/target/genesys2/": "test-fpga:genesys2 test-image:genesys2",
    "fpga/target/soc/": "test-soc test-e2e:boards",
    "fpga/verify/": "test-fpga",
    "guests/": "test-guests test-e2e test-tutorials",
    "guests/README.md": "{documents}",
    "guests/sdk/": "test-guests test-mips test-e2e test-tutorials",
    "ipc/": "test-unit test-coverage test-fuzz-host test-e2e:messages,mailbox,passthrough test-mips:messages",
    "platform/": "{board} test-e2e:smoke test-mips:three",
    "platform/cva6": "{board} test-soc",
    "platform/genesys2/": "{board} test-fpga:genesys2",
    "platform/m5150": "test-mips test-image test-e2e:m5150",
    "platform/qemu-virt/": "{board} test-e2e",
    "pyproject.toml": "{tools} test-image",
    "rt/": "test-unit test-coverage test-e2e:test_rt,watchdog,locks test-mips",
    "tools/": "{tools}",
    "tools/background.sh": "",
    "tools/bench": "test-unit:bench,figures,hlv",
    "tools/break": "test-unit:break_even",
    "tools/cover/": "{tools} test-coverage",
    "tools/drawings.py": "{documents}",
    "tools/fetch.py": "test-e2e:fetch",
    "tools/fuzz.py": "test-e2e:fuzz",
    "tools/mk/": "test-unit test-e2e:bad_input,smoke",
    "tools/requirements-fpga": "test-fpga test-cosim test-soc",
    "tools/requirements-litex": "test-fpga:genesys2",
    "tools/requirements-site": "site",
    "tools/run.py": "test-e2e",
    "tools/sdimage.py": "test-image:sdimage",
    "tools/simb.py": "test-image test-e2e:accel",
    "tools/bit2simb.py": "test-image:series7 test-cosim",
    "tools/tessera/": "test-unit test-image test-e2e",
    "tools/tessera/bench/": "test-unit test-e2e:bounds,response",
    "tools/tessera/fabric/": "test-unit test-image test-fpga:synth test-cosim",
    "tools/tessera/image/": "test-image test-e2e:smoke,bad_input test-tutorials",
    "tools/tessera/run/": "test-e2e test-mips test-tutorials",
    "tools/tessera/trace/": "test-unit:trace test-e2e:trace test-tutorials:trace",
    "tools/tessera/verify/": "test-unit test-e2e:attacks,fuzz,time_reads",
    "services/console/": "test-unit test-coverage test-fuzz-host test-e2e:console,keys,terminals,lifecycle test-mips",
    "services/serial/": "test-unit test-coverage test-e2e:no_components test-mips",
    "services/debug/": "test-unit test-coverage test-e2e:debug test-tutorials:debug",
    "services/fwtree/": "test-unit test-coverage test-fuzz-host test-e2e:boards,firmware",
    "services/seed/": "test-unit test-coverage test-fuzz-host test-e2e:seed,virtio,smoke",
    "systems/": "test-image test-fuzz-host test-e2e test-tutorials",
    "systems/bench/": "test-image test-fuzz-host test-e2e:bounds,response,test_rt",
    "tests/": "test-unit test-image test-e2e",
    "tests/coverage-exceptions.toml": "test-coverage",
    "tests/fuzz": "test-fuzz-host",
    "tests/guests/": "test-guests test-e2e test-mips",
    "tests/mutations/": "test-unit:mutat",
    "tools/gdb/": "test-unit test-e2e:debug test-tutorials:debug",
    "tools/iasim/": "test-iasim test-mips test-guests",
    "tools/qemu-plugins/": "test-unit test-e2e:bounds,attacks",
    "tools/rsp/": "test-unit test-iasim test-e2e:debug",
}  # fmt: skip


# Suites of the folders of tests/ with Python tests; a changed test concerns only itself.
FOLDERS = {"model": "check-model", "docs": "test-tutorials"} | {
    folder: f"test-{folder}" for folder in ("cosim", "e2e", "guests", "image", "manager", "mips", "pictures", "unit")
} | dict.fromkeys(("bench", "check", "trace"), "test-unit")  # fmt: skip
RUN = ROOT / "tools" / "mk" / "run.mk"


def suites_of_test() -> set[str]:
    """Those of `make test`."""
    text = RUN.read_text(encoding="utf-8")
    parts = re.findall(r"^(?:test:.*\n(?:\t.*\n)+|FOREGROUND := .*)", text, re.MULTILINE)
    found = re.findall(r"\b(?:test-[a-z0-9]+|check-model|site)(?:-[a-z]+)*\b(?!\.)", "\n".join(parts))
    return set(found) - {"setup-site"}


def _of_fragment(path: str) -> list[str]:
    """The suites that a fragment of the Makefile defines."""
    file = ROOT / path
    if file.parent != RUN.parent or not file.is_file():
        return []
    targets = re.findall(r"^([a-z][a-z0-9-]*):", file.read_text(encoding="utf-8"), re.MULTILINE)
    return [target for target in targets if target in suites_of_test()]


def _is_long(test: Path) -> bool:
    """Whether `make soak` runs this file only."""
    return test.is_file() and "\npytestmark = pytest.mark.long" in test.read_text(encoding="utf-8")


def _of_test(path: str) -> list[str]:
    """The suites of a file in one of FOLDERS."""
    _, folder, *rest = path.split("/")
    if re.fullmatch(r"test_\w+\.(py|c)", "/".join(rest)):
        return [f"{FOLDERS[folder]}{'-long' if _is_long(ROOT / path) else ''}:{Path(path).stem}"]
    return [] if f"tests/{folder}/" in SUITES else [FOLDERS[folder]]


def _of_table(path: str) -> list[str] | None:
    known = [begin for begin in SUITES if path.startswith(begin)]
    return SUITES[max(known, key=len)].format(**GROUPS).split() if known else None


@cache
def _components() -> dict[str, str]:
    """The folders of the components with suites of their own, by their names."""
    return {Path(folder).name: folder for folder in repo.components(ROOT) if f"{folder}/" in SUITES}


def _of_part(path: str) -> list[str]:
    """The suites of a component's part in arch/: those that do not run over arch/host."""
    part = re.match(r"arch/(\w+)/(\w+)/", path)
    if not part or part[1] == "host" or part[2] not in _components():
        return []
    over_host = _of_table("arch/host/") or []
    return [suite for suite in _of_table(f"{_components()[part[2]]}/") or [] if suite not in over_host]


def _of_users(path: str) -> list[str]:
    """The suites of the components that use the one whose header this is."""
    header = re.match(r"(?:\w+/)?(\w+)/include/", path)
    if not header:
        return []
    users = [name for name, used in repo.uses(ROOT).items() if header[1] in used and name in _components()]
    return [suite for name in users for suite in _of_table(f"{_components()[name]}/") or []]


@cache
def _fragments() -> dict[str, str]:
    """The text of the fragments of the Makefile, by their paths."""
    files = RUN.parent.glob("*.mk")
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


@cache
def _guests() -> dict[str, set[str]]:
    """The guests that are built of a source outside of their folder, by its path: the Makefile lists it, or a source of
    theirs includes it."""
    lists = re.findall(r"^(\w+)_SOURCES := (.*)", "\n".join(_fragments().values()), re.MULTILINE)
    found: dict[str, set[str]] = {}
    for name, files in lists:
        for path in files.split():
            found.setdefault(path, set()).add(name.lower())
    for source in (ROOT / "tests" / "guests").glob("*/*.c"):
        for path in re.findall(r'^#include "(?:\.\./)+(\S+)"', source.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(path, set()).add(source.parent.name)
    return found


def _of_programs(path: str) -> list[str]:
    """The suites whose fragment of the Makefile names this source, or a guest that is built of it."""
    if not path.endswith((".c", ".h", ".S")):
        return []
    words = {path, *(f"/{guest}.bin" for guest in _guests().get(path, ()))}
    naming = [file for file, text in _fragments().items() if any(word in text for word in words)]
    return [suite for file in sorted(naming) for suite in _of_fragment(file)]


def concerned(path: str) -> list[str] | None:
    """The suites that concern a file, as in SUITES; None: nobody has said which ones."""
    top, *rest = path.split("/")
    of_test = _of_test(path) if top == "tests" and rest[0] in FOLDERS else []
    found = of_test or _of_fragment(path) or _of_part(path) or _of_table(path)
    return found if found is None else list(dict.fromkeys(found + _of_users(path) + _of_programs(path)))


def selection(paths: Iterable[str]) -> dict[str, str]:
    """The suites of these files; for each one the expression for ONLY=, or "" for all of its tests."""
    found: dict[str, set[str]] = {}
    for path in paths:
        for suite in concerned(path) or []:
            name, _, words = suite.partition(":")
            found.setdefault(name, set()).update(words.split(",") if words else {""})
    return {name: "" if "" in words else " or ".join(sorted(words)) for name, words in sorted(found.items())}


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def default_base() -> str:
    """Where this branch left main's upstream; on main itself the commit before the last one."""
    (head,), fork = _git("rev-parse", "HEAD"), _git("merge-base", "HEAD", "main@{upstream}")
    return fork[0] if fork and fork[0] != head else "HEAD~1"


def changed(base: str) -> list[str]:
    """Files that differ between a commit and the working tree, new ones among them."""
    if not _git("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
        raise SystemExit(f"changed.py: BASE={base}: git knows no such commit")
    return sorted({*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")})


def run(calls: Iterable[list[str]]) -> int:
    """Makes the suites one after the other; the status of the first that fails."""
    for call in calls:
        print(f"test-changed: make {' '.join(call)}", flush=True)
        done = subprocess.run([os.environ.get("MAKE", "make"), "--no-print-directory", *call], cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="runs the suites of tests that concern the files changed")
    parser.add_argument("--base", default="", help="the commit to compare with")
    parser.add_argument("--names", action="store_true", help="only name the suites")
    options = parser.parse_args()
    base = options.base or default_base()
    files = changed(base)
    for path in files:
        print(f"{path}: {' '.join(concerned(path) or []) or 'no suite'}")
    calls = [[name, *([f"ONLY={words}"] if words else [])] for name, words in selection(files).items()]
    print(f"changed since {base}:", "; ".join(" ".join(call) for call in calls) or "nothing to test")
    return 0 if options.names else run(calls)


if __name__ == "__main__":
    sys.exit(main())
