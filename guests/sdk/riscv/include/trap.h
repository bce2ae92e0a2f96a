/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps of a bare guest: one vector that saves every integer register, and handlers that the guest
 * registers. Interrupts stay off in handlers. An unhandled trap prints the relevant registers and
 * shuts the guest down.
 */
#ifndef GUEST_TRAP_H
#define GUEST_TRAP_H

/* 31 registers, sepc, sstatus, and one word of padding for 16-byte alignment of sp */
#define TRAP_FRAME_SIZE 272

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

/* Argument of hart_entry (start.S), in a1. */
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

/**
 * True: handled, execution continues at frame->sepc, which the handler may change. False: fatal.
 */
typedef bool (*trap_exception_fn)(struct trap_frame *frame, uint64_t cause, uint64_t stval);

/** `irq`: IRQ_SOFT, IRQ_TIMER or IRQ_EXTERNAL. NULL removes the handler. Does not change sie. */
void trap_set_interrupt(uint64_t irq, trap_interrupt_fn handler);

/** One handler for all exceptions; NULL: all are fatal. */
void trap_set_exception(trap_exception_fn handler);

/** Length in bytes of the instruction at `address`: 2 or 4. */
unsigned int trap_instruction_length(uint64_t address);

/** True if the CSR exists. Call before interrupts are on. */
bool trap_probe_stimecmp(void);
bool trap_probe_instret(void);

/** The vector (trap_entry.S), to restore stvec. */
void trap_entry(void);

#endif
#endif
