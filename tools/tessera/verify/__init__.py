# SPDX-License-Identifier: Apache-2.0
"""Checks of the hypervisor's binary and of its behaviour under random input.

executed     which instructions the tests execute, from the records of a QEMU plugin or of iasim
             (docs/coverage.md)
components   what the components list of themselves
stack_depth  the deepest use of the hypervisor's stack, from the compiler's call graph
c_pointers   what C sources assign to pointers, and where they call through them
points_to    the functions that a call through a pointer can reach
symbolic     symbolic execution of the hypervisor's machine code, with Z3 (tests/model)
fuzz         runs with a guest that makes random calls (docs/fuzzing.md)
"""
