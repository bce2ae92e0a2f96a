/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions and interrupts of a bare guest: one vector that saves all registers, and handlers that
 * the guest registers. Interrupts stay off in handlers. An unhandled exception prints the relevant
 * registers and ends the guest as failed. Without a hypervisor, a hypercall returns
 * HCALL_ERR_NOT_SUPPORTED.
 */
#ifndef GUEST_TRAP_H
#define GUEST_TRAP_H

/* Offsets in a struct trap_frame, for assembly. */
#define TRAP_GPR 16 /* after the argument area of the callee (o32) */
#define TRAP_LO 144
#define TRAP_HI 148
#define TRAP_EPC 152
#define TRAP_STATUS 156
#define TRAP_CAUSE 160
#define TRAP_BADVADDR 164
#define TRAP_FRAME_SIZE 168

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    uint32_t arguments[4]; /* argument area of the callee (o32) */
    uint32_t gpr[32];      /* gpr[0] is unused */
    uint32_t lo, hi;
    uint32_t epc, status, cause, badvaddr;
};

_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_SIZE, "trap_entry.S counts on it");
_Static_assert(offsetof(struct trap_frame, gpr) == TRAP_GPR, "trap_entry.S counts on it");
_Static_assert(offsetof(struct trap_frame, epc) == TRAP_EPC, "trap_entry.S counts on it");

/** Called with interrupts off; must remove the cause of the interrupt. */
typedef void (*trap_interrupt_fn)(void);

/**
 * True: handled, execution continues at frame->epc, which the handler may change. False: fatal.
 * `code` is Cause.ExcCode.
 */
typedef bool (*trap_exception_fn)(struct trap_frame *frame, uint32_t code);

/**
 * `line`: PLATFORM_..._IRQ. NULL: the interrupt is fatal. By default each line has a handler that
 * only clears the interrupt. Does not change Status.IM.
 */
void trap_set_interrupt(uint32_t line, trap_interrupt_fn handler);

/** One handler for all exceptions; NULL: all are fatal. */
void trap_set_exception(trap_exception_fn handler);

/** True if the exception is a hypercall without a hypervisor. */
bool trap_is_unanswered(uint32_t code, uint32_t epc);

/** The line of an interrupt, from its Cause: the highest line that is pending and enabled. */
uint32_t trap_line(uint32_t cause);

/** Target of the vectors (start.S): trap_entry, or the handler of an operating system. */
extern void (*volatile trap_vector)(void);

/** The SDK's handler (trap_entry.S). */
void trap_entry(void);

#endif
#endif
