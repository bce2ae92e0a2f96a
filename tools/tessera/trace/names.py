# SPDX-License-Identifier: Apache-2.0
"""The names, colours and devices of a traced system, for Perfetto and pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from tessera.image.vm_schema import DEFAULT_COLOURS
from tessera.run.runner import BuiltSystem
from tessera.trace.model import Exit, VcpuId

Device = tuple[str, int, int]  # name, guest-physical address, size


@dataclass(frozen=True)
class Names:
    """The names of a system's VMs, and the number of each VM's VCPUs that are guest harts: the
    others are RT apps. `colours` and `devices` of each VM may be missing."""

    system: str
    vms: Sequence[str]
    vcpus: Sequence[int]
    colours: Sequence[str] = ()
    devices: Sequence[Sequence[Device]] = ()

    def vm(self, vm: int) -> str:
        return self.vms[vm] if vm < len(self.vms) else f"VM {vm}"

    def colour(self, vm: int) -> str:
        """Returns the name of the VM's colour in the system file, or the default."""
        return self.colours[vm] if vm < len(self.colours) else DEFAULT_COLOURS[vm % len(DEFAULT_COLOURS)]

    def is_app(self, vcpu_id: VcpuId) -> bool:
        return vcpu_id[0] < len(self.vcpus) and vcpu_id[1] >= self.vcpus[vcpu_id[0]]

    def of(self, vcpu_id: VcpuId | None) -> str:
        """Returns the name of a VCPU: `linux`, `linux/1`, or `rtm app 0`."""
        if vcpu_id is None:
            return "idle"
        vm, vcpu = vcpu_id
        if self.is_app(vcpu_id):
            return f"{self.vm(vm)} app {vcpu - self.vcpus[vm]}"
        several = vm < len(self.vcpus) and self.vcpus[vm] > 1
        return f"{self.vm(vm)}/{vcpu}" if several else self.vm(vm)

    def exit(self, exit_: Exit) -> str:
        """Returns the name of an exit; of an access, with the VM's device at the address:
        `load 0x10000005 (uart)`."""
        if exit_.vm is None or exit_.address is None or exit_.vm >= len(self.devices):
            return exit_.name
        at = exit_.address
        found = [name for name, base, size in self.devices[exit_.vm] if base <= at < base + size]
        return f"{exit_.name} ({found[0] if found else 'no device'})"


def names_of(system: BuiltSystem) -> Names:
    """Returns the names of a built system."""
    return Names(
        system.name,
        system.names,
        [vm["vcpus"] for vm in system.vms],
        [vm["colour"] for vm in system.vms],
        [[(one["name"], one["base"], one["size"]) for one in vm["mmio"]] for vm in system.vms],
    )
