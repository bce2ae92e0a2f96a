# SPDX-License-Identifier: Apache-2.0
"""What accelerators and shared devices have in common: they access a VM's memory through the fabric's DMA windows."""

from tessera.fabric.registers import register
from tessera.image.model import Vm

# Nodes of a VM whose devices need DMA windows and interrupts, and what messages call them.
HARDWARE = {"accelerators": "accelerators", "shared-devices": "shared devices"}

DMA_WINDOWS = register("FABRIC_VM_WINDOWS_STRIDE") // register("FABRIC_WINDOW_STRIDE")  # for each VM


def check_hardware(vm: Vm, name: str, irqs: tuple[int, ...]) -> None:
    """Reports what a VM with the node `name` cannot have: too many DMA windows, no PLIC, devices with `irqs`."""
    if name not in vm.node.children:
        return
    node, words = vm.node, HARDWARE[name]
    if node["no-plic"]:
        node.problem("no-plic", f"expected only on a VM without {words}: their interrupts need a PLIC")
    if len(vm.shared) + len(vm.more) >= DMA_WINDOWS:
        pieces = " and pieces of RAM" if vm.more else ""
        most = f"at most {DMA_WINDOWS - 1} shared regions{pieces} with {words}"
        why = f"the fabric has {DMA_WINDOWS} DMA windows for a VM"
        node.children[name].problem("", f"expected {most}: {why}, got {len(vm.shared) + len(vm.more)}")
    for device in vm.devices:
        if device.interrupt in irqs:
            sources = " and ".join(map(str, irqs))
            node.problem("devices", f"expected interrupts other than the {words}' {sources}, got {device.name}")
