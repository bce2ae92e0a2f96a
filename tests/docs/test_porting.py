# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/porting.md: a component, and a board."""

from reader import BOOT_S, ESCAPE, assert_shows, command, commands, leave, until_shown

CALLS = "tally: error 0, call 3"


def test_component(blocks, reader):
    """The hypervisor with the component answers the guest's calls; a restarted VCPU counts from 1."""
    _, run, calls = blocks
    with reader.terminal(command(run)) as shown:
        until_shown(shown, calls)
        shown.write(f"{ESCAPE}r".encode())
        shown.wait(lambda: shown.text.count(CALLS) == 2, BOOT_S, "the calls of the second start")
        assert shown.text.count("call 1") == 2 and "call 4" not in shown.text, shown.text
        leave(shown)
    with reader.terminal("make run SYSTEM=tally") as shown:
        shown.until(r"tally: error -2, call 0$", BOOT_S)
        leave(shown)


def test_two_components(blocks, reader):
    reader.run(command(blocks[0]))
    assert all(map(reader.links, ("rt", "ipc", "services/serial")))
    others = ("services/console", "services/seed", "devices", "arch/riscv/compat", "docs/examples/tally")
    assert not any(map(reader.links, others))


def test_a_copied_board(blocks, reader):
    steps, said = blocks
    output = "".join(map(reader.run, commands(steps)))
    assert_shows(said, output)
    assert (reader.tree / "build" / "hyp" / "myboard-without-virtio" / "tessera.bin").is_file()
