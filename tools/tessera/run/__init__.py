# SPDX-License-Identifier: Apache-2.0
"""Running a built system in QEMU or iasim.

runner    finds the emulator, checks its version, and builds its command line
machine   a running emulator whose console a program reads and types into
channels  splits the console's byte stream into one channel per VM
session   connects the console to this terminal, to a file, or to one pseudo terminal per VM
debugger  starts the GDB server for one VM, and GDB
virtualtime  the options with which QEMU runs in virtual time
hosttime  timeouts that allow for a host with too little CPU time
"""
