/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches exceptions and interrupts to the guest's handlers on MIPS32 (trap.h). Owns the
 * handlers and trap_vector. */
#include "trap.h"

#include "cp0.h"
#include "hypercall_abi.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define TRAP_LINES 8U
#define TRAP_MESSAGE (1U << (CAUSE_LINES_SHIFT + PLATFORM_MESSAGE_IRQ))

/* Without an external controller the interrupt stays in Cause until software clears it. */
static void trap_take_message(void)
{
    cp0_write_cause(cp0_read_cause() & ~TRAP_MESSAGE);
}

static void trap_take_uart(void)
{
    uart_enable_rx_interrupt(false);
}

/*
 * Default handlers, which only clear the interrupt (machine_wait()). Owner: trap_set_interrupt().
 */
static trap_interrupt_fn trap_interrupts[TRAP_LINES] = {
    [PLATFORM_MESSAGE_IRQ] = trap_take_message,
    [PLATFORM_UART_IRQ] = trap_take_uart,
    [PLATFORM_TIMER_IRQ] = timer_again,
};
static trap_exception_fn trap_exception;

void (*volatile trap_vector)(void) = trap_entry;

void trap_dispatch(struct trap_frame *frame);

void trap_set_interrupt(uint32_t line, trap_interrupt_fn handler)
{
    if (line < TRAP_LINES) {
        trap_interrupts[line] = handler;
    }
}

void trap_set_exception(trap_exception_fn handler)
{
    trap_exception = handler;
}

bool trap_is_unanswered(uint32_t code, uint32_t epc)
{
    return code == EXCEPTION_RESERVED &&
           (*(const uint32_t *)(uintptr_t)epc & HYPCALL_MASK) == HYPCALL_WORD;
}

uint32_t trap_line(uint32_t cause)
{
    uint32_t pending;

    if (machine_has_eic()) {
        return cause >> CAUSE_LEVEL_SHIFT & 0xffU;
    }
    pending = (cause & cp0_read_status() & STATUS_IM) >> CAUSE_LINES_SHIFT;
    return pending != 0 ? 31U - (uint32_t)__builtin_clz(pending) : 0;
}

static _Noreturn void trap_fatal(const struct trap_frame *frame, uint32_t code)
{
    print(
        "guest: unexpected exception: code %u epc 0x%x badvaddr 0x%x ra 0x%x sp 0x%x cause 0x%x\n",
        code, frame->epc, frame->badvaddr, frame->gpr[31], frame->gpr[29], frame->cause);
    machine_shutdown(true);
}

static bool trap_interrupt(uint32_t cause)
{
    uint32_t line = trap_line(cause);

    if (line >= TRAP_LINES || trap_interrupts[line] == NULL) {
        return false;
    }
    trap_interrupts[line]();
    return true;
}

static bool trap_handle(struct trap_frame *frame, uint32_t code)
{
    if (code == EXCEPTION_INTERRUPT) {
        return trap_interrupt(frame->cause);
    }
    if (trap_exception != NULL && trap_exception(frame, code)) {
        return true;
    }
    if ((frame->cause & CAUSE_BD) == 0 && trap_is_unanswered(code, frame->epc)) {
        frame->gpr[2] = (uint32_t)HCALL_ERR_NOT_SUPPORTED;
        frame->epc += 4;
        return true;
    }
    return false;
}

void trap_dispatch(struct trap_frame *frame)
{
    uint32_t code = frame->cause >> CAUSE_CODE_SHIFT & 31U;

    if (!trap_handle(frame, code)) {
        trap_fatal(frame, code);
    }
}
