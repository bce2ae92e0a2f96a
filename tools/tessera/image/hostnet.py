# SPDX-License-Identifier: Apache-2.0
"""The network behind a network device that QEMU emulates; QEMU translates its addresses to the host's."""

from ipaddress import IPv4Address, IPv4Network

from tessera.image.validate import Read

LOOPBACK = "127.0.0.1"
MODELS = ("virtio-net", "e1000e")


def gateway(subnet: IPv4Network) -> IPv4Address:
    """Returns the address of the host, the highest one of the subnet."""
    return subnet.broadcast_address - 1


def name_server(subnet: IPv4Network) -> IPv4Address:
    return subnet.broadcast_address - 2


def check(node: Read) -> None:
    """Reports forwards to addresses that no guest can have."""
    subnet = node["subnet"]
    own = (gateway(subnet), name_server(subnet), subnet.network_address, subnet.broadcast_address)
    for forward in node["forwards"] or ():
        if forward.address not in subnet or forward.address in own:
            node.problem("forwards", f"expected addresses of guests in {subnet}, got {forward.address}")


def check_ports(nodes: list[Read]) -> None:
    """Reports ports of the host that are forwarded twice, by one device or by two: QEMU could not listen."""
    owners: dict[int, Read] = {}
    for node in nodes:
        for port in [forward.host_port for forward in node["forwards"] or () if forward.host_port]:
            if port in owners:
                got = "twice" if owners[port] is node else f"also in {owners[port].path}"
                node.problem("forwards", f"expected different ports of the host, got {port} {got}")
            owners.setdefault(port, node)


def netdev(name: str, node: Read) -> str:
    """Returns QEMU's argument of -netdev. Only this host's own programs reach the forwarded ports."""
    subnet = node["subnet"]
    options = [f"user,id={name}", f"net={subnet}", f"host={gateway(subnet)}", f"dns={name_server(subnet)}"]
    options.append(f"dhcpstart={subnet.network_address + 1}")
    for forward in node["forwards"] or ():
        options.append(f"hostfwd=tcp:{LOOPBACK}:{forward.host_port}-{forward.address}:{forward.port}")
    return ",".join(options)
