# SPDX-License-Identifier: Apache-2.0
"""Prints the cycles of the SoC's test program at several latencies of DRAM, as in docs/soc.md."""

import sys

from program import MODEL, Report, run

from tessera.bench.report import text_table

LATENCIES = (1, 10, 30)


def table(reports: list[Report]) -> str:
    """The figures that all runs have."""
    names = [name for name in reports[0].cycles if all(name in report.cycles for report in reports)]
    head = [f"cycles ({MODEL})", *(f"latency {latency}" for latency in LATENCIES)]
    return text_table([head, *([name, *(str(report.worst(name)) for report in reports)] for name in names)])


def main() -> int:
    reports = [run(latency=latency) for latency in LATENCIES]
    print(table(reports))
    for latency, report in zip(LATENCIES, reports, strict=True):
        for line in report.wrong:
            print(f"latency {latency}: wrong: {line}", file=sys.stderr)
    return max(report.code for report in reports)


if __name__ == "__main__":
    sys.exit(main())
