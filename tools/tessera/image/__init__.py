# SPDX-License-Identifier: Apache-2.0
"""The system image builder: from a system's .dts file to one checked, bootable image.

source    parses a .dts file and keeps the line number of every node and property; variants has the systems that
          are sections of a file
prop_types the kinds of values that a property may have
schema    every node and property of system files, declared once, vm_schema of VMs, board_schema of board files;
          those of components are in their folders; nodes has the types
validate  applies the schema to a source
problems  collects the errors, so that one run reports all of them
model     the result of reading: board, system, VMs
system    reads a system's file; board reads the board's file that it names, files the guests' files
check_*   checks that a schema cannot express: overlaps, files that do not fit, devices assigned
          twice
accel, rt, shared, virtio: what the components of these names have in a system: they check it, and give their
          parts of the image, of guests' device trees and of system.json; component describes what each of them gives,
          components lists them
hardware  what accelerators and shared devices have in common
hostnet   checks the network behind a network device of QEMU, and writes QEMU's argument; netkinds has the
          kinds of its properties
loads     what is loaded into each VM's memory: the image, an initrd, the device tree
memory    the memory of a VM beside its RAM at memory-base
ram_layout places each VM's memory in the host's RAM
virtual   the guest-physical addresses of the emulated devices
guestdt   writes the guest's device tree, of the pieces in dts; fdt compiles and reads it, fixups finds what may have to
          be removed at boot
layout    the binary layout of the system image; this and the sections' layouts are read from the C headers
binary    writes the system image in this layout
elf       checks that the hypervisor's binary is complete
manifest  writes system.json, which the runner and the tests read
build     runs all of these steps in order
configdoc writes docs/configuration.md from the schema
"""
