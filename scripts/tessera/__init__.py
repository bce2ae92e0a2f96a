# SPDX-License-Identifier: Apache-2.0
"""The system image builder: from a system's .dts source to one checked, bootable image.

source    parses a .dts and remembers on which line everything stands
kinds     the kinds of values that a property may have
schema    every node and property of system and board files, declared once
reading   applies the schema to a source
model     what the reader of the schema's values becomes: board, system, VMs
check_*   what a schema cannot say: overlaps, files that do not fit, devices given twice
place     where each VM's memory lies in the host's RAM, and the loads in the VM's
guestdt   the device tree that a guest gets; fdt compiles and reads it, fixups finds what may have to go
layout    the binary layout of the system image, equal to core/include/sysimage.h
image     writes it
elf       whether the hypervisor's binary is whole
manifest  system.json, for the runner
build     all of it in order; configdoc writes docs/configuration.md
"""
