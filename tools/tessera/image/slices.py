# SPDX-License-Identifier: Apache-2.0
"""How long a VCPU waits for its next slice."""

from tessera.image.validate import Read


def slice_waits(system: Read, vms: list[Read]) -> tuple[int, list[str]]:
    """Returns the longest time in us that a VCPU may wait for its next slice in a correct system,
    and its parts."""
    vcpus = sum(vm["vcpus"] or 0 for vm in vms)
    harts, (reserve, late) = system["harts"], system["be-reserve-us"]
    longest, waits = 0, []
    if vcpus > harts:
        longest = -(-vcpus // harts) * system["quantum-us"]
        waits.append(f"the slices of {vcpus} VCPUs on {harts} hart{'s' if harts > 1 else ''}")
    if any(vm["rt-apps"] for vm in vms):
        longest += max(0, late - reserve)
        waits.append("RT apps without best effort's reserve")
    return longest, waits
