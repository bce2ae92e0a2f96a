# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS with lwIP on the shared Ethernet device (docs/hardware-io.md), with the RTL beside QEMU."""

import re
import subprocess
from pathlib import Path

import pytest
from helpers import BOOT_S, GUESTS
from test_hardware_io import ECHO_REPLY, ECHO_REQUEST, HOST, files_in, leave, mac, recording

from tessera.run.recorded import Frame, frames

ARP, IPV4 = 0x0806, 0x0800
UDP, TCP = 17, 6
ECHO_PORT = 7
MALFORMED = 600
DRIVER_BYTES = 4096
PINGS = {"freertos": 6, "bare": 6, "talker": 3}
ADDRESSES = {1: HOST, 2: mac(2), 3: mac(3), 5: mac(5)}  # last byte of the IP address


def sent_by_echo(frame: Frame, protocol: int) -> bool:
    """Whether the echo service sent the frame, whose IP header has no options."""
    return frame.kind == IPV4 and frame.data[23] == protocol and frame.data[34:36] == bytes([0, ECHO_PORT])


def round_trips(text: str) -> dict[int, float]:
    return {int(number): float(us) for number, us in re.findall(r"ping: (\d+): (\d+\.\d) us", text)}


def echoes(wire: list[Frame], source: bytes, to: bytes, kind: int) -> dict[int, Frame]:
    found = [frame for frame in wire if frame.echo and (frame.source, frame.to, frame.echo[0]) == (source, to, kind)]
    return {frame.echo[1]: frame for frame in found}


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> tuple[dict[str, str], list[Frame]]:
    """What the VMs have printed, and the frames on the wire."""
    files = files_in(tmp_path_factory.mktemp("net"))
    with recording("shared-net", {"pcap": files.pcap}) as machine:
        machine.expect("freertos", rf"ping: {PINGS['freertos']}: ", BOOT_S)
        machine.expect("bare", r"ping: done", BOOT_S)
        machine.expect("talker", r"ping: done, 0 frames lost", BOOT_S)
        leave(machine)
        return {name: machine.console.text(name) for name in machine.console.names}, frames(files.pcap)


@pytest.mark.parametrize(("name", "own", "peer"), [("freertos", 2, 1), ("bare", 3, 2), ("talker", 5, 2)])
def test_pings(network, name, own, peer):
    """Beside the flood each request has its answer, on the wire and in the guest, which measures a longer time."""
    text, wire = network
    assert not re.search(r"FAILED|no answer", text[name]), text[name]
    said = round_trips(text[name])
    assert list(said)[: PINGS[name]] == list(range(1, PINGS[name] + 1))
    requests = echoes(wire, ADDRESSES[own], ADDRESSES[peer], ECHO_REQUEST)
    answers = echoes(wire, ADDRESSES[peer], ADDRESSES[own], ECHO_REPLY)
    for number, us in said.items():
        assert 0 <= answers[number].ns - requests[number].ns < 1000 * us


def test_answers_are_counted(network):
    """The stack's own number is that of the requests on the wire."""
    text, wire = network
    number = [int(n) for n in re.findall(r"answered (\d+)", text["freertos"])][-1]
    last = echoes(wire, mac(2), HOST, ECHO_REQUEST)[max(round_trips(text["freertos"]))]
    asked = [frame for n in (3, 5) for frame in echoes(wire, mac(n), mac(2), ECHO_REQUEST).values()]
    before = [frame for frame in asked if frame.ns < last.ns]
    assert len(before) <= number <= len(asked)


def test_tcp_echo(network):
    text, wire = network
    said = re.findall(r"talk: (\d+): 4000 bytes came back", text["talker"])
    assert [int(n) for n in said] == list(range(1, PINGS["talker"] + 1))
    back = [frame for frame in wire if frame.source == mac(2) and sent_by_echo(frame, TCP)]
    assert {frame.to for frame in back} == {mac(5)}
    assert sum(int.from_bytes(frame.data[16:18], "big") - 40 for frame in back) >= 4000 * len(said)


def test_addresses_on_the_wire(network):
    """Packets have the MAC addresses that belong to their IP addresses; nobody sends with another one."""
    _, wire = network
    assert {frame.source for frame in wire} == {HOST, *map(mac, (2, 3, 4, 5))}
    packets = [frame for frame in wire if frame.kind == IPV4]
    assert packets
    for frame in packets:
        assert (frame.source, frame.to) == (ADDRESSES[frame.data[29]], ADDRESSES[frame.data[33]])
    asked = {frame.source for frame in wire if frame.kind == ARP and frame.to == b"\xff" * 6}
    assert asked == {mac(2), mac(3), mac(5)}


def test_flood_on_the_port(network):
    """The wire was busy with the flood's frames, which are the longest ones."""
    text, wire = network
    flood = [frame for frame in wire if frame.source == mac(4)]
    assert len(flood) > len(wire) / 2
    assert "0 failed" in text["flood"]


SDK_OBJECTS = ("sdk/fp/obj/guests/sdk/shared/ethernet", "sdk/fp/obj/guests/sdk/shared/channel")


def test_size_of_the_driver():
    """Code and constants of the interface, the driver and the channel; not those of the stack."""
    names = ("freertos_net/obj/guests/examples/freertos/net/ethernet_netif", *SDK_OBJECTS)
    words = ["riscv64-unknown-elf-size", *(str(GUESTS / f"{name}.o") for name in names)]
    lines = subprocess.run(words, text=True, capture_output=True, check=True).stdout.splitlines()[1:]
    assert 0 < sum(int(line.split()[0]) for line in lines) < DRIVER_BYTES, lines


def test_malformed_frames(tmp_path: Path):
    """They end neither the guest nor its answers. Those with another source than the VM's are not sent."""
    files = files_in(tmp_path)
    with recording("shared-malformed", {"pcap": files.pcap}) as machine:
        done = machine.expect("malformed", rf"malformed: done, {MALFORMED} frames, (\d+) forged, (\d+) refused", BOOT_S)
        machine.skip("freertos")
        machine.expect("freertos", r"ping: \d+: \d", BOOT_S)
        leave(machine)
        text = machine.console.text("freertos")
    assert not re.search(r"FAILED|exception|no answer", text), text
    wire = frames(files.pcap)
    assert {frame.source for frame in wire} == {HOST, mac(2), mac(6)}
    assert int(done[1]) == int(done[2]) == MALFORMED - sum(frame.source == mac(6) for frame in wire) > 0
    back = [frame for frame in wire if (frame.source, frame.to) == (mac(2), mac(6))]
    assert any(sent_by_echo(frame, UDP) for frame in back), "well-formed datagrams are echoed"
    assert any(sent_by_echo(frame, TCP) for frame in back), "well-formed requests for a connection are answered"
