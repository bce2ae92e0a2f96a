/* SPDX-License-Identifier: Apache-2.0 */
/* boot_helper(a0, a1, a2, address): starts what was loaded, with the arguments of its boot protocol. */
    .section .text, "ax", @progbits
    .globl boot_helper
boot_helper:
    fence
    fence.i
    jr      a3
