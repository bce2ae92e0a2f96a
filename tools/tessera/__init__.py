# SPDX-License-Identifier: Apache-2.0
"""The host side of Tessera, used by the programs in tools/ and by the tests.

image    the system image builder: from a system's .dts file to one checked, bootable image
run      starting a built system in an emulator and connecting to its consoles
trace    reading the hypervisor's trace memory, and drawing it
bench    measuring instructions, sizes and times, and reporting them against the goals
cheader  reading the constants and structures of C headers
verify   checks of the hypervisor's binary and of its behaviour: coverage, stack depth, symbolic
         execution, fuzzing
"""
