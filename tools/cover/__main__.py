# SPDX-License-Identifier: Apache-2.0
"""
Coverage of the hypervisor by the tests (docs/coverage.md).

python -m cover plugin --records FOLDER   builds the plugin for this QEMU into the folder of records
python -m cover check                     fails for uncovered code that parses input and is not listed
python -m cover report                    prints the table, and writes it, HTML pages and results.jsonl
"""

import argparse
import shutil
import sys
from pathlib import Path

from cover import expected, host, machine, report
from cover.model import ROOT, CoverError, Sources
from tessera.bench.count import CountError, make_plugin
from tessera.bench.published import write_results
from tessera.run.runner import RunError, find_qemu
from tessera.verify.executed import plugin_of

SOURCE = ROOT / "tools" / "qemu-plugins" / "note-executed.c"
EXCEPTIONS = ROOT / "tests" / "coverage-exceptions.toml"


def _plugin(folder: Path) -> None:
    qemu = find_qemu()
    folder.mkdir(parents=True, exist_ok=True)
    built = make_plugin(qemu, SOURCE, folder / "plugin", "start=1,end=2")
    shutil.copyfile(built, plugin_of(folder, qemu.version))


def _read(objects: Path | None, records: Path | None) -> dict[str, Sources]:
    """Reads the coverage, by its origin: "host", or an architecture's folder."""
    found = {} if objects is None else {"host": host.read(objects)}
    return found | ({} if records is None else machine.read(records))


def _check(sources: dict[str, Sources], name: str) -> int:
    exceptions = expected.load(EXCEPTIONS)
    failed = 0
    for by, of in sources.items():
        findings, summary = expected.check(by, of, exceptions, ROOT)
        for finding in sorted(findings):
            print(finding, file=sys.stderr)
        print(f"{name}: {by}: {f'{len(findings)} finding(s)' if findings else 'ok'}, {summary}")
        failed += len(findings)
    return int(failed > 0)


def _report(sources: dict[str, Sources], out: Path) -> None:
    united: Sources = {}
    for by, of in sources.items():
        united |= {file: lines for file, lines in of.items() if by != "host" or not file.startswith("arch/")}
    text = report.table(united)
    out.mkdir(parents=True, exist_ok=True)
    (out / "coverage.md").write_text(text, encoding="utf-8")
    write_results(out / "results.jsonl", report.records(united))
    report.write_html(united, out / "html")
    print(text, end="")
    print(f"{out / 'coverage.md'} and {out / 'html' / 'index.html'}: the same, and each line")


def main() -> int:
    parser = argparse.ArgumentParser(prog="cover", description="coverage of the hypervisor by the tests")
    parser.add_argument("what", choices=("plugin", "check", "report"))
    parser.add_argument("--host", type=Path, help="folder of objects that gcc has compiled with --coverage")
    parser.add_argument("--records", type=Path, help="folder of records of emulators")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "coverage")
    arguments = parser.parse_args()
    try:
        if arguments.what == "plugin":
            _plugin(arguments.records)
            return 0
        sources = _read(arguments.host, arguments.records)
        if arguments.what == "check":
            return _check(sources, "check-coverage")
        _report(sources, arguments.out)
        return 0
    except (CoverError, CountError, RunError) as error:
        print(f"cover: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
