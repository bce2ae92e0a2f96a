/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches traps to the guest's handlers on RISC-V, and detects CSRs by the exception that a
 * missing one raises (trap.h). Owns the handlers. */
#include "trap.h"

#include "csr.h"
#include "print.h"
#include "sbi.h"

#define TRAP_INTERRUPTS 16U

static trap_interrupt_fn trap_interrupts[TRAP_INTERRUPTS];
static trap_exception_fn trap_exception;
static volatile bool trap_probe_failed;

void trap_dispatch(struct trap_frame *frame, uint64_t cause, uint64_t stval);

void trap_set_interrupt(uint64_t irq, trap_interrupt_fn handler)
{
    if (irq < TRAP_INTERRUPTS) {
        trap_interrupts[irq] = handler;
    }
}

void trap_set_exception(trap_exception_fn handler)
{
    trap_exception = handler;
}

unsigned int trap_instruction_length(uint64_t address)
{
    uint16_t low = *(const volatile uint16_t *)(uintptr_t)address;

    return (low & 3U) == 3U ? 4U : 2U;
}

static _Noreturn void trap_fatal(const struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    print("guest: unexpected trap: cause 0x%lx sepc 0x%lx stval 0x%lx ra 0x%lx sp 0x%lx\n", cause,
          frame->sepc, stval, frame->x[1], frame->x[2]);
    sbi_shutdown(SBI_RESET_SYSTEM_FAILURE);
}

void trap_dispatch(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    if ((cause & CAUSE_INTERRUPT) != 0) {
        uint64_t irq = cause & ~CAUSE_INTERRUPT;

        if (irq < TRAP_INTERRUPTS && trap_interrupts[irq] != NULL) {
            trap_interrupts[irq]();
            return;
        }
    } else if (trap_exception != NULL && trap_exception(frame, cause, stval)) {
        return;
    }
    trap_fatal(frame, cause, stval);
}

static bool trap_probe_handler(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)stval;
    if (cause != CAUSE_ILLEGAL_INSTRUCTION) {
        return false;
    }
    trap_probe_failed = true;
    frame->sepc += 4; /* every CSR instruction has four bytes */
    return true;
}

static bool trap_probe(uint64_t (*read)(void))
{
    trap_exception_fn before = trap_exception;

    trap_probe_failed = false;
    trap_exception = trap_probe_handler;
    (void)read();
    trap_exception = before;
    return !trap_probe_failed;
}

bool trap_probe_stimecmp(void)
{
    return trap_probe(csr_read_stimecmp);
}

bool trap_probe_instret(void)
{
    return trap_probe(csr_read_instret);
}
