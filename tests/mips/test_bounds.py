# SPDX-License-Identifier: Apache-2.0
"""What the hypervisor costs a guest on the M5150, in instructions: never more than this."""

from conftest import run

SPANS = ("irq_vector:left", "irq_vector:switched")


def spans(system: str, *options: str) -> dict[str, dict[str, int]]:
    words = [word for name in SPANS for word in ("--span", name)]
    result = run(system, "m5150-generic", *words, *options)
    return {name: result.span(name) for name in SPANS}


def test_ticks() -> None:
    """The timer's interrupt that changes nothing, and the one that ends a quantum, with a shadow set for each VCPU. The
    span ends before the last instruction."""
    found = spans("two")
    assert found["irq_vector:left"]["min"] + 1 <= 60, found
    assert found["irq_vector:switched"]["n"] > 300
    assert found["irq_vector:switched"]["median"] + 1 <= 260, found


def test_what_a_shadow_set_is_worth() -> None:
    """Two VCPUs that share one: their registers go to memory and back, at every switch."""
    alone, shared = spans("two"), spans("two", "--model", "hss=1")
    worth = shared["irq_vector:switched"]["median"] - alone["irq_vector:switched"]["median"]
    assert 124 < worth < 260, worth
