/* SPDX-License-Identifier: Apache-2.0 */
/* The C part of FreeRTOS on RISC-V (portmacro.h): start of the scheduler, critical sections, ticks
 * and interrupts; port_asm.S switches tasks. Owns the interrupt stack, the time of the next tick
 * and the handlers that the guest registers. */
#include <string.h>

#include "FreeRTOS.h"
#include "csr.h"
#include "platform.h"
#include "port_frame.h"
#include "print.h"
#include "sbi.h"
#include "task.h"
#include "timer.h"

#define PORT_TICK_PERIOD (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ)
/* most ticks that one interrupt may catch up on */
#define PORT_CATCH_UP ((uint64_t)configTICK_RATE_HZ)
#define PORT_SLEEP_MAX ((TickType_t)configTICK_RATE_HZ * 3600)
#define PORT_ISR_STACK 4096U

/* A guest may define PORT_TIMER_HOOK: the name of its function that is called in each timer
 * interrupt, before ticks are counted. */
#ifdef PORT_TIMER_HOOK
void PORT_TIMER_HOOK(void);
#else
#define PORT_TIMER_HOOK() ((void)0)
#endif

/* Layout as in port_frame.h. */
struct port_frame {
    uint64_t sepc;
    uint64_t sstatus;
    uint64_t ra;
    uint64_t t0_t2[3];
    uint64_t a[8];
    uint64_t t3_t6[4];
    uint64_t s[12];
    uint64_t tp;
    uint64_t padding;
};

_Static_assert(sizeof(struct port_frame) == FRAME_SIZE, "assembly counts on it");
_Static_assert(offsetof(struct port_frame, a) == FRAME_A0, "assembly counts on it");
_Static_assert(offsetof(struct port_frame, t3_t6) == FRAME_T3, "assembly counts on it");
_Static_assert(offsetof(struct port_frame, s) == FRAME_S0, "assembly counts on it");
_Static_assert(offsetof(struct port_frame, tp) == FRAME_TP, "assembly counts on it");
_Static_assert(FRAME_SIZE % 16 == 0 && FP_SIZE % 16 == 0, "the ABI wants sp 16-byte aligned");

/* port_asm.S */
void port_trap(void);
_Noreturn void port_start_first_task(void);

uint64_t port_handle_trap(uint64_t cause, const struct port_frame *frame);

uint8_t port_isr_stack[PORT_ISR_STACK] __attribute__((aligned(16)));
_Static_assert(PORT_ISR_STACK == 4096U, "port_asm.S takes its end from here");

/*
 * Interrupts must stay off until the scheduler starts: the start-up counts as a critical section.
 */
static unsigned long port_nesting = 1;
static uint64_t port_next_tick; /* time at which the next tick is due */
static void (*port_external_handler)(void);
static void (*port_message_handler)(void); /* or NULL */
/* ticks caught up on, without the first of each interrupt */
static unsigned long port_late;
static bool port_slept; /* since the last idle hook */
static uint64_t port_sleeps;

_Noreturn void port_fatal(const char *what, const char *detail, unsigned long number)
{
    csr_clear_sstatus(SSTATUS_SIE);
    print("\nfreertos: self-check FAILED: %s %s %lu\n", what, detail, number);
    sbi_shutdown(SBI_RESET_SYSTEM_FAILURE);
}

static void port_task_returned(void)
{
    port_fatal("a task function returned:", pcTaskGetName(NULL), 0);
}

StackType_t *pxPortInitialiseStack(StackType_t *pxTopOfStack, TaskFunction_t pxCode,
                                   void *pvParameters)
{
    uint8_t *fp_area = (uint8_t *)pxTopOfStack - FP_SIZE; /* the top is aligned by the kernel */
    struct port_frame *frame = (struct port_frame *)(void *)(fp_area - FRAME_SIZE);

    memset(frame, 0, sizeof(*frame));
    frame->sepc = (uintptr_t)pxCode;
    /* sret enters the task in S-mode with interrupts on; the FP state is Initial. */
    frame->sstatus = (csr_read_sstatus() & ~(SSTATUS_SIE | SSTATUS_FS)) | SSTATUS_SPP |
                     SSTATUS_SPIE | SSTATUS_FS_INITIAL;
    frame->ra = (uintptr_t)port_task_returned;
    frame->a[0] = (uintptr_t)pvParameters;
    frame->tp = (uintptr_t)fp_area;
    return (StackType_t *)(void *)frame;
}

BaseType_t xPortStartScheduler(void)
{
    csr_write_stvec((uintptr_t)port_trap);
    port_nesting = 0;
    port_next_tick = csr_read_time() + PORT_TICK_PERIOD;
    timer_set(port_next_tick);
    csr_write_sie(SIE_SOFT | SIE_TIMER | SIE_EXTERNAL);
    port_start_first_task();
}

void vPortEndScheduler(void)
{
    port_fatal("the scheduler was ended", "", 0);
}

void vPortEnterCritical(void)
{
    portDISABLE_INTERRUPTS();
    port_nesting++;
}

void vPortExitCritical(void)
{
    configASSERT(port_nesting > 0);
    port_nesting--;
    if (port_nesting == 0) {
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
    uint64_t now;

    PORT_TIMER_HOOK();
    now = csr_read_time();
    if (now > port_next_tick + PORT_CATCH_UP * PORT_TICK_PERIOD) {
        port_next_tick = now - PORT_CATCH_UP * PORT_TICK_PERIOD;
    }
    if (port_next_tick <= now) {
        port_count_tick();
    }
    for (; port_next_tick <= now; port_late++) {
        port_count_tick();
    }
    timer_set(port_next_tick);
}

static _Noreturn void port_exception(uint64_t cause, const struct port_frame *frame)
{
    print("\nfreertos: exception %lu in task %s: sepc 0x%lx stval 0x%lx ra 0x%lx sp 0x%lx\n", cause,
          pcTaskGetName(NULL), frame->sepc, csr_read_stval(), frame->ra,
          (uintptr_t)frame + FRAME_SIZE);
    port_fatal("exception", pcTaskGetName(NULL), cause);
}

/*
 * Called by port_trap on the interrupt stack. Returns non-zero if a context switch may be needed.
 */
uint64_t port_handle_trap(uint64_t cause, const struct port_frame *frame)
{
    uint64_t yield;

    switch (cause) {
    case CAUSE_INTERRUPT | IRQ_SOFT:
        break;
    case CAUSE_INTERRUPT | IRQ_TIMER:
        port_tick();
        break;
    case CAUSE_INTERRUPT | IRQ_EXTERNAL:
        configASSERT(port_external_handler != NULL);
        port_external_handler();
        break;
    default:
        port_exception(cause, frame);
    }
    /* A task or handler requests a switch by the software interrupt, with which the hypervisor
     * tells of messages, too. */
    yield = csr_take_sip(SIE_SOFT);
    if (yield != 0 && port_message_handler != NULL) {
        /* after the interrupt is cleared: a later message raises it again */
        port_message_handler();
    }
    return yield;
}

/* Called by the idle task with the scheduler suspended; the ticks slept are added at the end. */
void vPortSuppressTicksAndSleep(TickType_t xExpectedIdleTime)
{
    TickType_t longest = xExpectedIdleTime < PORT_SLEEP_MAX ? xExpectedIdleTime : PORT_SLEEP_MAX;
    uint64_t now;

    taskENTER_CRITICAL();
    if (eTaskConfirmSleepModeStatus() != eAbortSleep) {
        timer_set(port_next_tick + (longest - 1) * PORT_TICK_PERIOD);
        /* wakes up with interrupts off; the handler runs after the critical section */
        csr_wait_for_interrupt();
        now = csr_read_time();
        if (now >= port_next_tick) {
            TickType_t passed = (now - port_next_tick) / PORT_TICK_PERIOD + 1;

            /*
             * The kernel accepts at most the announced ticks; the tick interrupt counts later ones.
             */
            passed = passed < longest ? passed : longest;
            vTaskStepTick(passed);
            port_next_tick += passed * PORT_TICK_PERIOD;
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
        csr_wait_for_interrupt();
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
