# SPDX-License-Identifier: Apache-2.0
"""
The throughput between two Linux VMs on a virtual network, and between the same two guests without a hypervisor, each in
a QEMU of its own, which a socket connects. Both are times of the host, so only their ratio means something; the runs
alternate.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tessera.bench.machine import BenchError
from tessera.run.machine import HYPERVISOR, Machine, MachineTimeoutError
from tessera.run.runner import BuiltSystem, Qemu, native_command, system_command

SECONDS = 5  # of a run of iperf
RUNS = 3
BOOT_S = 180.0
SERVER, CLIENT = "west", "east"
SERVER_ADDRESS = "192.168.80.2"
PROMPT = r"^linux:~# "
REPORT = r"\]\s+0\.0000-[\d.]+ sec\s+[\d.]+ MBytes\s+([\d.]+) Mbits/sec"
# Linux uses one hart, as in its VM; the machine has two, because QEMU 7.2 ignores the fences of a single one, though
# its devices run beside it.
ONE_HART = " maxcpus=1"


def _measure(server: Machine, client: Machine, select: str) -> float:
    """Returns iperf's Mbit/s. `select` are the keys that give the keyboard to the other guest of a machine."""
    for machine, name in ((server, SERVER), (client, CLIENT)):
        machine.expect(name, r"network: ready", BOOT_S)
        machine.expect(name, PROMPT, BOOT_S)
    server.send(f"{select}iperf -s &\r")
    server.expect(SERVER, r"Server listening", BOOT_S)
    client.send(f"{select}iperf -c {SERVER_ADDRESS} -t {SECONDS} -f m\r")
    return float(client.expect(CLIENT, REPORT, BOOT_S)[1])


def in_vms(qemu: Qemu, system: BuiltSystem) -> float:
    """Returns the Mbit/s between the two VMs of the system."""
    with Machine(system_command(qemu, system), [*system.names, HYPERVISOR]) as machine:
        return _measure(machine, machine, "\x14n")


def natively(qemu: Qemu, system: BuiltSystem) -> float:
    """Returns the Mbit/s between the system's guests without the hypervisor."""
    with TemporaryDirectory() as folder, ExitStack() as running:
        socket = Path(folder) / "wire"
        wire = f"stream,id=n,addr.type=unix,addr.path={socket}"
        machines = {}
        for number, (name, end) in enumerate(((SERVER, "on"), (CLIENT, "off")), 1):
            command = native_command(qemu, system, name)
            command[command.index("-smp") + 1] = str(system.data["harts"])
            command[command.index("-append") + 1] += ONE_HART
            command += ["-netdev", f"{wire},server={end}"]
            command += [
                "-device",
                f"virtio-net-pci,disable-legacy=on,romfile=,netdev=n,mac=02:00:00:00:00:{number:02x}",
            ]
            machines[name] = running.enter_context(Machine(command, [name]))
            machines[name].wait_until(socket.exists, BOOT_S)
        return _measure(machines[SERVER], machines[CLIENT], "")


def runs(qemu: Qemu, system: BuiltSystem) -> list[tuple[float, float]]:
    """Returns the Mbit/s between VMs, and those without a hypervisor, of each run."""
    try:
        return [(in_vms(qemu, system), natively(qemu, system)) for _ in range(RUNS)]
    except MachineTimeoutError as error:
        raise BenchError(str(error)) from error
