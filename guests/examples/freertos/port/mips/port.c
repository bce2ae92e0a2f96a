/* SPDX-License-Identifier: Apache-2.0 */
/* The C part of FreeRTOS on MIPS32 (portmacro.h): start of the scheduler, critical sections, ticks
 * and interrupts; port_asm.S switches tasks. Owns the interrupt stack, the time of the next tick
 * and the handlers that the guest registers. */
#include <stddef.h>
#include <string.h>

#include "FreeRTOS.h"
#include "hypercall_abi.h"
#include "machine.h"
#include "platform.h"
#include "port_frame.h"
#include "print.h"
#include "task.h"
#include "timer.h"

#define PORT_TICK_PERIOD (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ)
/* most ticks that one interrupt may catch up on */
#define PORT_CATCH_UP ((uint64_t)configTICK_RATE_HZ)
/* well below half the range of Count */
#define PORT_SLEEP_MAX ((TickType_t)configTICK_RATE_HZ * 20U)
#define PORT_LINES (1U << PLATFORM_TIMER_IRQ | 1U << PLATFORM_UART_IRQ | 1U << PLATFORM_MESSAGE_IRQ)
/* If a tick is late by at most this, the next tick is still in the future when Compare is set. */
#define PORT_ON_TIME ((uint32_t)(PORT_TICK_PERIOD - PORT_TICK_PERIOD / 8U))
/*
 * Cause of an interrupt, decoded by its lines only; with an external controller no cause has this
 * value.
 */
#define PORT_CAUSE_ASKED (31U << CAUSE_CODE_SHIFT | 0xffU << CAUSE_LINES_SHIFT)
#define PORT_CAUSE_TICK (1U << (CAUSE_LINES_SHIFT + PLATFORM_TIMER_IRQ))
#define PORT_CAUSE_MESSAGE (1U << (CAUSE_LINES_SHIFT + PLATFORM_MESSAGE_IRQ))

/* A guest may define PORT_TIMER_HOOK: the name of its function that is called in each timer
 * interrupt, before ticks are counted. */
#ifdef PORT_TIMER_HOOK
void PORT_TIMER_HOOK(void);
#else
#define PORT_TIMER_HOOK() ((void)0)
#endif

/* Layout as in port_frame.h. */
struct port_frame {
    uint32_t epc;
    uint32_t status;
    uint32_t lo, hi;
    uint32_t ra;
    uint32_t at;
    uint32_t v[2];
    uint32_t a[4];
    uint32_t t[10];
    uint32_t s[8];
    uint32_t gp;
    uint32_t fp;
};

_Static_assert(sizeof(struct port_frame) == FRAME_SIZE, "assembly counts on it");
_Static_assert(offsetof(struct port_frame, at) == FRAME_CALLER, "assembly counts on it");
_Static_assert(offsetof(struct port_frame, s) == FRAME_CALLEE, "assembly counts on it");
_Static_assert(FRAME_SIZE % 8 == 0 && PORT_ISR_STACK % 8 == 0, "the ABI wants $sp 8-byte aligned");

/* port_asm.S */
void port_trap(void);
_Noreturn void port_start_first_task(void);

unsigned long port_handle_trap(uint32_t cause, struct port_frame *frame);

uint8_t port_isr_stack[PORT_ISR_STACK] __attribute__((aligned(8)));

/*
 * Interrupts must stay off until the scheduler starts: the start-up counts as a critical section.
 */
volatile unsigned long port_nesting = 1;
volatile unsigned long port_yield_waits;

static uint64_t port_next_tick; /* time at which the next tick is due */
static void (*port_external_handler)(void);
static void (*port_message_handler)(void);
static unsigned long port_late; /* ticks caught up on, without the first of each interrupt */
static bool port_slept;         /* since the last idle hook */
static unsigned long port_sleeps;

_Noreturn void port_fatal(const char *what, const char *detail, unsigned long number)
{
    portDISABLE_INTERRUPTS();
    print("\nfreertos: self-check FAILED: %s %s %lu\n", what, detail, number);
    machine_shutdown(true);
}

static void port_task_returned(void)
{
    port_fatal("a task function returned:", pcTaskGetName(NULL), 0);
}

StackType_t *pxPortInitialiseStack(StackType_t *pxTopOfStack, TaskFunction_t pxCode,
                                   void *pvParameters)
{
    uint8_t *top = (uint8_t *)pxTopOfStack - PORT_ARGUMENTS; /* aligned by the kernel */
    struct port_frame *frame = (struct port_frame *)(void *)(top - FRAME_SIZE);

    memset(frame, 0, sizeof(*frame));
    frame->epc = (uintptr_t)pxCode;
    /*
     * ERET enters the task with interrupts on. With an external controller the mask bits hold its
     * level.
     */
    frame->status =
        STATUS_EXL | STATUS_IE | (machine_has_eic() ? 0 : PORT_LINES << CAUSE_LINES_SHIFT);
    frame->ra = (uintptr_t)port_task_returned;
    frame->a[0] = (uintptr_t)pvParameters;
    return (StackType_t *)(void *)frame;
}

BaseType_t xPortStartScheduler(void)
{
    trap_vector = port_trap;
    port_nesting = 0;
    port_next_tick = machine_time() + PORT_TICK_PERIOD;
    timer_set(port_next_tick);
    port_start_first_task();
}

void vPortEndScheduler(void)
{
    port_fatal("the scheduler was ended", "", 0);
}

void vPortEnterCritical(void)
{
    portDISABLE_INTERRUPTS();
    port_nesting = port_nesting + 1;
}

void vPortExitCritical(void)
{
    configASSERT(port_nesting > 0);
    port_nesting = port_nesting - 1;
    if (port_nesting == 0) {
        if (port_yield_waits != 0) {
            port_yield(); /* interrupts are off, so that none causes a superfluous switch first */
        }
        portENABLE_INTERRUPTS();
    }
}

void port_set_external_handler(void (*handler)(void))
{
    port_external_handler = handler;
}

void port_set_message_handler(void (*handler)(void))
{
    port_message_handler = handler;
}

static inline void port_count_tick(void)
{
    port_yield_from_isr(xTaskIncrementTick());
    port_next_tick += PORT_TICK_PERIOD;
}

/*
 * Counts the ticks that are due. There may be several, because a VM misses ticks while it does not
 * run, and the tick count must follow the time. The number is bounded: otherwise a VM that was
 * paused for a day would spend its first seconds here.
 */
static void port_tick(void)
{
    uint64_t expected = port_next_tick + PORT_TICK_PERIOD;
    uint64_t now = timer_arm(expected); /* usually all that is needed */

    if (now > port_next_tick + PORT_CATCH_UP * PORT_TICK_PERIOD) {
        port_next_tick = now - PORT_CATCH_UP * PORT_TICK_PERIOD;
    }
    if (port_next_tick <= now) {
        port_count_tick();
    }
    for (; port_next_tick <= now; port_late++) {
        port_count_tick();
    }
    if (port_next_tick != expected) {
        timer_set(port_next_tick);
    }
}

static void port_message(void)
{
    cp0_write_cause(cp0_read_cause() & ~PORT_CAUSE_MESSAGE);
    if (port_message_handler != NULL) {
        port_message_handler();
    }
}

static void port_interrupt(uint32_t line)
{
    switch (line) {
    case PLATFORM_TIMER_IRQ:
        port_tick();
        break;
    case PLATFORM_UART_IRQ:
        configASSERT(port_external_handler != NULL);
        port_external_handler();
        break;
    case PLATFORM_MESSAGE_IRQ:
        port_message();
        break;
    default: /* deasserted before the handler read it */
        break;
    }
}

/*
 * A hypercall of a task may find no hypervisor. Every other exception, and any in a handler, is
 * fatal.
 */
static void port_exception(uint32_t code, struct port_frame *frame)
{
    uintptr_t depth = (uintptr_t)frame - (uintptr_t)port_isr_stack;

    if (depth >= PORT_ISR_STACK && trap_is_unanswered(code, frame->epc)) {
        frame->v[0] = (uint32_t)HCALL_ERR_NOT_SUPPORTED;
        frame->epc += 4;
        return;
    }
    print("\nfreertos: exception %u in task %s: epc 0x%x badvaddr 0x%x ra 0x%x sp 0x%x\n", code,
          pcTaskGetName(NULL), frame->epc, cp0_read_badvaddr(), frame->ra,
          (unsigned int)((uintptr_t)frame + FRAME_SIZE));
    port_fatal("exception", pcTaskGetName(NULL), code);
}

/*
 * Fast path for exactly one due tick, the common case: 32-bit arithmetic in caller-saved registers.
 * Returns false, without effects that port_tick() does not repeat, if no or several ticks are due,
 * or if Count's highest bit has changed since the last tick, which machine_time() must record.
 * Compare is set before Count is read: a VM may be preempted at any instruction, so that an earlier
 * value of Count may be stale, and a Compare in the past would interrupt only after Count has
 * wrapped.
 */
static inline bool port_tick_alone(void)
{
    uint32_t due = (uint32_t)port_next_tick, count;

    PORT_TIMER_HOOK();
    cp0_write_compare(due + (uint32_t)PORT_TICK_PERIOD);
    count = cp0_read_count();
    if (count - due > PORT_ON_TIME || ((due - PORT_TICK_PERIOD) ^ count) >> 31 != 0) {
        return false;
    }
    port_next_tick += PORT_TICK_PERIOD;
    port_yield_from_isr(xTaskIncrementTick());
    return true;
}

static __attribute__((noinline)) void port_any_trap(uint32_t cause, struct port_frame *frame)
{
    uint32_t code = cause >> CAUSE_CODE_SHIFT & 31U;

    if (code == EXCEPTION_INTERRUPT) {
        port_interrupt(trap_line(cause));
    } else if (code == EXCEPTION_SYSCALL && (cause & CAUSE_BD) == 0) {
        frame->epc += 4;
        port_yield_waits = 1;
    } else {
        port_exception(code, frame);
    }
}

/*
 * Called by port_trap on the interrupt stack. Returns non-zero if a context switch may be needed.
 */
unsigned long port_handle_trap(uint32_t cause, struct port_frame *frame)
{
    unsigned long yield;

    if ((cause & PORT_CAUSE_ASKED) != PORT_CAUSE_TICK || !port_tick_alone()) {
        port_any_trap(cause, frame);
    }
    yield = port_yield_waits;
    port_yield_waits = 0;
    return yield;
}

/* Called by the idle task with the scheduler suspended; the ticks slept are added at the end. */
void vPortSuppressTicksAndSleep(TickType_t xExpectedIdleTime)
{
    TickType_t longest = xExpectedIdleTime < PORT_SLEEP_MAX ? xExpectedIdleTime : PORT_SLEEP_MAX;
    uint64_t now;

    taskENTER_CRITICAL();
    if (eTaskConfirmSleepModeStatus() != eAbortSleep) {
        timer_set(port_next_tick + (uint64_t)(longest - 1) * PORT_TICK_PERIOD);
        cp0_wait(); /* wakes up with interrupts off; the handler runs after the critical section */
        now = machine_time();
        if (now >= port_next_tick) {
            TickType_t passed = (TickType_t)((now - port_next_tick) / PORT_TICK_PERIOD) + 1;

            /*
             * The kernel accepts at most the announced ticks; the tick interrupt counts later ones.
             */
            passed = passed < longest ? passed : longest;
            vTaskStepTick(passed);
            port_next_tick += (uint64_t)passed * PORT_TICK_PERIOD;
        }
        timer_set(port_next_tick);
        port_slept = true;
        port_sleeps++;
    }
    taskEXIT_CRITICAL();
}

/*
 * Called by the idle task once per loop, before it tries to sleep without ticks. If it did not
 * sleep in the last loop, because a task is due at the next tick, wait for that tick here instead
 * of spinning.
 */
void port_idle(void)
{
    if (!port_slept) {
        cp0_wait();
    }
    port_slept = false;
}

unsigned long port_late_ticks(void)
{
    return port_late;
}

unsigned long port_tickless_sleeps(void)
{
    return port_sleeps;
}
