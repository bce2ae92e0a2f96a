/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions and interrupts of a bare guest: one vector that saves everything, handlers that anyone may register.
 * Interrupts stay off in handlers. What nobody handles prints the registers that matter and ends the guest as failed.
 * A hypercall that nobody takes, since there is no hypervisor, returns SBI_ERR_NOT_SUPPORTED.
 */
#ifndef GUEST_TRAP_H
#define GUEST_TRAP_H

/* Offsets in a struct trap_frame, for assembly. */
#define TRAP_GPR 16 /* behind the place that the callee may use for its arguments */
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
    uint32_t arguments[4]; /* the callee's */
    uint32_t gpr[32];      /* gpr[0] is unused */
    uint32_t lo, hi;
    uint32_t epc, status, cause, badvaddr;
};

_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_SIZE, "trap_entry.S counts on it");
_Static_assert(offsetof(struct trap_frame, gpr) == TRAP_GPR, "trap_entry.S counts on it");
_Static_assert(offsetof(struct trap_frame, epc) == TRAP_EPC, "trap_entry.S counts on it");

/** Called with interrupts off; must remove the cause of the interrupt. */
typedef void (*trap_interrupt_fn)(void);

/** True: handled, go on at frame->epc (which the handler may move). False: fatal. `code` is Cause.ExcCode. */
typedef bool (*trap_exception_fn)(struct trap_frame *frame, uint32_t code);

/**
 * `line`: PLATFORM_..._IRQ. NULL: such an interrupt is fatal. At first each line has a handler that takes the interrupt
 * away and does no more. Does not touch Status.IM.
 */
void trap_set_interrupt(uint32_t line, trap_interrupt_fn handler);

/** One handler for all exceptions; NULL: all are fatal. */
void trap_set_exception(trap_exception_fn handler);

/** Whether an exception is a hypercall that found no hypervisor. */
bool trap_is_unanswered(uint32_t code, uint32_t epc);

/** Which line an interrupt comes from, by the Cause that it left: the highest of those that are let in. */
uint32_t trap_line(uint32_t cause);

/** Where the vectors lead (start.S): trap_entry, unless an operating system puts its own there. */
extern void (*volatile trap_vector)(void);

/** The SDK's own (trap_entry.S). */
void trap_entry(void);

#endif
#endif
