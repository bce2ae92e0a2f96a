# SPDX-License-Identifier: Apache-2.0
"""What the tests of shared devices have in common: a system, and what the image says about it."""

import re
from pathlib import Path

from fixtures import ROOT
from image_reader import read_image

from tessera.image.shared import shared_image

SYSTEM = Path(__file__).with_name("shared-devices.dts").read_text()
# Without shared devices.
PLAIN = re.sub(r"\n\t(?:\t\t)?shared-devices \{.*?\n\t(?:\t\t)?\};", "", SYSTEM, flags=re.DOTALL)
BOARD_DEVICES = re.search(r'devices = "uart".*', (ROOT / "platform/qemu-virt/board.dts").read_text())[0]
CLOCK_MHZ = 100


def read(built):
    """The image's section of shared devices: the header, and the clients."""
    data = read_image(built.files["tessera.bin"]).sections[shared_image.TAG]
    head = shared_image.IMAGE.unpack(data)
    assert len(data) == head["clients_offset"] + head["nclients"] * shared_image.CLIENT.size
    assert len(data) <= shared_image.LARGEST
    at = head["clients_offset"]
    return head, [shared_image.CLIENT.unpack(data, at + n * shared_image.CLIENT.size) for n in range(head["nclients"])]


def channel(head, device):
    index = device - 1
    return tuple(head[f"channels[{index}].{name}"] for name in ("policy", "size", "timeout_cycles", "period_cycles"))


def array(client, name):
    return [client[f"{name}[{index}]"] for index in range(shared_image.CHANNELS)]


def line_of(text, item):
    assert text.count(item) == 1
    return text[: text.index(item)].count("\n") + 1


def of_device(device, node="", use=""):
    """A system in which a VM uses only this device."""
    return PLAIN.replace("\tvms {\n", f"\tshared-devices {{ {device} {{ {node} }}; }};\n\tvms {{\n").replace(
        "\t\tsecond {\n", f"\t\tsecond {{\n\t\t\tshared-devices {{ {device} {{ {use} }}; }};\n"
    )


def on_board(text):
    return text.replace('"qemu-virt"', '"alt"')
