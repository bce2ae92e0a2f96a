/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps of a bare guest: one vector that saves every integer register, handlers that anyone may register.
 * Interrupts stay off in handlers. A trap nobody handles prints the registers that matter and shuts the guest down.
 */
#ifndef GUEST_TRAP_H
#define GUEST_TRAP_H

#define TRAP_FRAME_SIZE 272 /* 31 registers, sepc, sstatus, and one word that keeps sp 16-byte aligned */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap_frame {
    uint64_t sepc;
    uint64_t x[32]; /* x[n] is register n; x[0] is unused */
    uint64_t sstatus;
};

_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_SIZE, "trap_entry.S counts on it");
_Static_assert(offsetof(struct trap_frame, sstatus) == 33 * 8, "trap_entry.S counts on it");

/* What hart_entry (start.S) finds behind its a1. */
struct hart_boot {
    void *stack_top; /* 16-byte aligned */
    void (*function)(unsigned long hart, void *argument);
    void *argument;
};

_Static_assert(sizeof(struct hart_boot) == 24, "start.S counts on it");

/** Address to give to sbi_hart_start, with a struct hart_boot as opaque value. */
void hart_entry(void);

/** Called with interrupts off; must remove the cause of the interrupt. */
typedef void (*trap_interrupt_fn)(void);

/** True: handled, go on at frame->sepc (which the handler may move). False: fatal. */
typedef bool (*trap_exception_fn)(struct trap_frame *frame, uint64_t cause, uint64_t stval);

/** `irq`: IRQ_SOFT, IRQ_TIMER or IRQ_EXTERNAL. NULL takes the handler away. Does not touch sie. */
void trap_set_interrupt(uint64_t irq, trap_interrupt_fn handler);

/** One handler for all exceptions; NULL: all are fatal. */
void trap_set_exception(trap_exception_fn handler);

/** Length in bytes of the instruction at `address`: 2 or 4. */
unsigned int trap_instruction_length(uint64_t address);

/** Read a CSR that may not exist: true when it does. Before interrupts are on. */
bool trap_probe_stimecmp(void);
bool trap_probe_instret(void);

/** The vector (trap_entry.S), for who wants stvec back. */
void trap_entry(void);

#endif
#endif
