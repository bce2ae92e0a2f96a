# SPDX-License-Identifier: Apache-2.0
"""
The stack of a hart: the deepest chain of calls in the hypervisor that check-warnings has built with
gcc fits, and all functions are known that it calls through pointers (tessera.verify.stack_depth). A check of our own:
gcc's limit is one of a function, not of a chain of calls.
"""

from pathlib import Path

from check import repo
from check.repo import Finding
from tessera.bench.machine import BenchError
from tessera.bench.metrics import read_metrics
from tessera.bench.size import hypervisor_objects
from tessera.verify.stack_depth import deepest, read_graph

ANALYSIS = "tools/tessera/verify/stack_depth.py"
BUILT = Path("build") / "check" / "hyp-gcc"
FIX = "give each chain an end, and each pointer its functions by assignments in C"
METRIC = "riscv.stack.static"


def check(root: Path) -> tuple[list[Finding], str]:
    """The hypervisor's deepest chain of calls is known, and fits into the stack of a hart."""
    objects = hypervisor_objects(root / BUILT)
    if not objects:
        raise repo.CheckError(f"{BUILT} has no object files; `make check-warnings-gcc` builds them")
    try:
        depth, chain = deepest(read_graph(objects, root))
    except BenchError as error:
        return [Finding(ANALYSIS, 0, str(error), FIX)], ""
    goal = read_metrics()[METRIC]
    if not goal.met(depth):
        text = f"{depth} bytes of stack, expected at most {goal.goal:g}: {' > '.join(chain)}"
        return [Finding(ANALYSIS, 0, text, "make the frames of this chain smaller")], ""
    return [], f"the deepest chain of calls takes {depth} bytes"


if __name__ == "__main__":
    repo.main("stack", check)
