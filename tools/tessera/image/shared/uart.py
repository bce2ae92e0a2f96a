# SPDX-License-Identifier: Apache-2.0
"""The settings of the shared UART: its rate, whose lines it sends, and who receives the input."""

import math

from tessera.image.model import SharedDevices, Vm
from tessera.image.prop_types import suggest
from tessera.image.shared import shared_image
from tessera.image.validate import Read

NAME = "uart"


def _numbers(users: list[Vm]) -> dict[str, int]:
    """Returns the numbers of the VMs with a UART in the hardware."""
    return {vm.name: number for number, vm in enumerate(users) if NAME in vm.shared_devices}


def check_uart(node: Read | None, users: list[Vm], hardware: SharedDevices) -> None:
    """Reports a rate that the clock does not have, a time that is too long, and an unknown VM."""
    if node is None:
        return
    _check_focus(node, list(_numbers(users)))
    if node["baud"] is not None:
        _check_times(node, hardware.clock_hz)


def _check_focus(node: Read, names: list[str]) -> None:
    focus = node["focus"]
    if focus and focus not in names:
        guess = suggest(focus, names) or f" ({', '.join(names) or 'there are none'})"
        node.problem("focus", f'expected the name of a VM with a UART, got "{focus}"{guess}')


def _check_times(node: Read, clock_hz: int) -> None:
    baud, flush_us = node["baud"], node["flush-us"]
    slowest, fastest = math.ceil(clock_hz / shared_image.LARGEST_DIVIDER), clock_hz // shared_image.LEAST_DIVIDER
    if not slowest <= baud <= fastest:
        rates = f"{slowest} to {fastest}"
        node.problem("baud", f"expected a rate of the clock of {clock_hz} Hz, {rates}, got {baud}")
    elif node.given("flush-us") and flush_us and _flush(node) > shared_image.LONGEST_FLUSH:
        longest = shared_image.LONGEST_FLUSH * 8 * 10**6 // baud
        node.problem("flush-us", f"expected at most {longest} at {baud} baud, got {flush_us}")


def _flush(node: Read) -> int:
    """Returns after how many times of eight bits the UART sends incomplete lines."""
    return max(1, round(node["flush-us"] * node["baud"] / (8 * 10**6)))


def uart_fields(node: Read | None, users: list[Vm], hardware: SharedDevices) -> dict[str, int]:
    """Returns the settings of the UART; without one zeros."""
    if node is None:
        return dict.fromkeys(("uart_divider", "uart_flush", "uart_mode", "uart_focus"), 0)
    numbers = _numbers(users)
    return {
        "uart_divider": round(hardware.clock_hz / node["baud"]),
        "uart_flush": min(_flush(node), shared_image.LONGEST_FLUSH) - 1,
        "uart_mode": shared_image.UART_MODES[node["mode"]],
        "uart_focus": numbers[node["focus"]] if node["focus"] else min(numbers.values(), default=0),
    }
