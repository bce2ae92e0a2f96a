/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of the harts of RISC-V boards, for C, the linker script, and tools that measure their
 * use: a guard page of the stack's size below each stack. A hart's struct cpu is at the top of its
 * stack, to be found from the stack pointer. */
#ifndef HART_STACK_H
#define HART_STACK_H

#define HART_STACK_SIZE 4096
#define HART_CPU_SIZE 256
#define HART_SIZE (2 * HART_STACK_SIZE)

#endif
