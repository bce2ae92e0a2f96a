# SPDX-License-Identifier: Apache-2.0
"""Kinds of properties that describe IP networks."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from devicetree import dtlib

from tessera.image.prop_types import MismatchError, spell

DEFAULT_SUBNET = IPv4Network("10.0.2.0/24")
SHORTEST_PREFIX = 4  # QEMU refuses a shorter one
THIS_NETWORK = IPv4Network("0.0.0.0/8")
LONGEST_PREFIX = 28  # room for the gateway, the name server and some VMs


@dataclass(frozen=True)
class Subnet:
    """An IPv4 network."""

    def read(self, prop: dtlib.Property) -> IPv4Network:
        if prop.type != dtlib.Type.STRING:
            raise MismatchError(self.describe(), spell(prop))
        try:
            network = IPv4Network(prop.value[:-1].decode("utf-8", "replace"))
        except ValueError:
            raise MismatchError(self.describe(), spell(prop)) from None
        if not SHORTEST_PREFIX <= network.prefixlen <= LONGEST_PREFIX or _is_special(network):
            raise MismatchError(self.describe(), spell(prop))
        return network

    def describe(self) -> str:
        bits = f"{SHORTEST_PREFIX} to {LONGEST_PREFIX} bits"
        return f'an IPv4 network of hosts like "192.168.80.0/24", whose prefix has {bits}'


def _is_special(network: IPv4Network) -> bool:
    """Whether hosts cannot have its addresses."""
    first = network.network_address
    return first in THIS_NETWORK or network.is_loopback or network.is_multicast or network.is_reserved


@dataclass(frozen=True)
class Forward:
    """Connections to a port of the host that reach a port of a guest."""

    host_port: int  # 0: QEMU takes a free one
    address: IPv4Address
    port: int


@dataclass(frozen=True)
class Forwards:
    """A list of forwarded TCP ports."""

    def read(self, prop: dtlib.Property) -> tuple[Forward, ...]:
        if prop.type not in (dtlib.Type.STRING, dtlib.Type.STRINGS):
            raise MismatchError(self.describe(), spell(prop))
        return tuple(self._forward(text) for text in prop.value.decode("utf-8", "replace").split("\0")[:-1])

    def _forward(self, text: str) -> Forward:
        match = re.fullmatch(r"(\d{1,5}):([\d.]+):(\d{1,5})", text, re.ASCII)
        try:
            forward = Forward(int(match[1]), IPv4Address(match[2]), int(match[3])) if match else None
        except ValueError:
            forward = None
        if forward is None or forward.host_port > 65535 or not 1 <= forward.port <= 65535:
            raise MismatchError(self.describe(), f'"{text}"')
        return forward

    def describe(self) -> str:
        return 'a list of TCP ports like "2222:192.168.80.1:22": a port of the host, an address, and its port'
