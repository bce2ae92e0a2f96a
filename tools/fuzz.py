#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets tests/guests/fuzz attack the hypervisor with one seed after another, for a given time. See
docs/fuzzing.md."""

import argparse
import sys
import time

from tessera.run.runner import RunError, find_qemu
from tessera.verify.fuzz import FuzzError, Options, attack, report

CALLS_PER_SEED = 200_000  # the next seed uses a new machine


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--minutes", type=float, default=10.0, help="duration; 0: one seed")
    parser.add_argument("--calls", type=int, default=CALLS_PER_SEED, help="number of calls per seed")
    parser.add_argument("--harts", type=int, choices=(1, 2), default=1, help="2: in real time, not reproducible")
    parser.add_argument("--accelerators", action="store_true", help="with devices of the fabric")
    return parser.parse_args()


def main() -> int:
    args = _arguments()
    start = time.monotonic()
    total, seed = 0, args.seed
    try:
        qemu = find_qemu()
        while seed == args.seed or time.monotonic() - start < args.minutes * 60:
            begun = time.monotonic()
            left = args.minutes * 60 - (begun - start)
            seconds = left if args.minutes else 3600.0
            options = Options(seed, args.calls, args.harts == 1, seconds=seconds, accelerators=args.accelerators)
            log = attack(options, qemu)
            print(report(options, log, time.monotonic() - begun), flush=True)
            total += log.calls
            seed += 1
    except (FuzzError, RunError) as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1
    finally:
        print(f"fuzz: {total} calls in {time.monotonic() - start:.0f} s, seeds {args.seed} to {seed - 1}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
