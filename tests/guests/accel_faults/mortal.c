/* SPDX-License-Identifier: Apache-2.0 */
/* Modes `mortal` and `beside` (modes.h): a VM that ends while it uses a device, and VMs that use
 * the fabric meanwhile. The first VM writes `common`, in memory that all of them share. */
#include <stdbool.h>
#include <stddef.h>

#include "fabric_map.h"
#include "fdt.h"
#include "machine.h"
#include "modes.h"
#include "print.h"
#include "sbi.h"
#include "trap.h"
#include "work.h"

#define US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define POLL_US 10U
#define LAST_JOBS 3U
#define SMALL 64U /* bytes of a job */
#define IDLE_US 10U
#define HOLD_US 12U

/* What happens in a life, in turn. */
static const struct plan {
    uint32_t command;    /* enum work_wrong */
    unsigned long model; /* ACCEL_MODEL_* */
} plans[] = {
    {WRONG_HANG, ACCEL_MODEL_NATIVE},
    {WRONG_MUTE, ACCEL_MODEL_GUEST},
    {WRONG_NOTHING, ACCEL_MODEL_NATIVE},
};

#define PLANS (sizeof(plans) / sizeof(plans[0]))

/* In memory that all three VMs share, and that outlives the mortal one. */
static volatile struct {
    uint32_t lives; /* ended */
    uint32_t jobs;  /* that the mortal VM has started: the others run one for each */
    uint32_t wrong; /* wrong words of the mortal VM */
    uint32_t over;  /* no life begins any more */
    uint64_t ended; /* when the last life ended */
} *const common = (void *)0xa0000000UL;

static uint64_t end_of_life;

/* VCPU 1 ends the VM at its time, whatever VCPU 0 does. */
static void end_life(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    wait_until(end_of_life);
    common->lives++;
    common->ended = machine_time();
    machine_reboot();
}

static void start_end_of_life(uint64_t time)
{
    static uint8_t stack[4096] __attribute__((aligned(16)));
    static struct hart_boot boot = {.function = end_life};

    end_of_life = time;
    boot.stack_top = stack + sizeof(stack);
    (void)sbi_hart_start(1, (uintptr_t)hart_entry, (uintptr_t)&boot);
}

static void first_write(const struct work *w)
{
    *(volatile uint32_t *)(w->a.page + FABRIC_IF_CMD) = w->command;
}

/* Jobs until the end of the life. */
static _Noreturn void live(struct work *w, const struct plan *plan)
{
    w->command = plan->command;
    (void)accel_set_model(&w->a, plan->model);
    wait_until(machine_time() + IDLE_US * US); /* lives that end before find the region idle */
    for (;;) {
        work_prepare(w, WORK_INPUT);
        first_write(w);
        wait_until(machine_time() + HOLD_US * US);
        w->wrong = 0;
        common->jobs++;
        work_start(w);
        (void)work_finish(w);
        common->wrong += plan->command == WRONG_NOTHING ? w->wrong : 0;
    }
}

unsigned int mortal(const void *fdt)
{
    static struct work w;
    unsigned int lives = common->lives, step = (unsigned int)fdt_bootarg_number(fdt, "step", 1);

    if (!work_open(&w, 0, 0)) {
        return 1;
    }
    if (lives > 0) {
        print("accel: life %u ended at %lu\n", lives, (unsigned long)common->ended);
    }
    if (lives < fdt_bootarg_number(fdt, "lives", 1)) {
        start_end_of_life(machine_time() + (uint64_t)(lives / PLANS) * step * US / 10U);
        live(&w, &plans[lives % PLANS]);
    }
    w.wrong = common->wrong;
    for (unsigned int i = 0; i < LAST_JOBS; i++) {
        common->jobs++;
        (void)work_run(&w, SMALL);
    }
    common->over = 1;
    print("accel: done, %u jobs, %u wrong\n", w.jobs, w.wrong);
    return w.wrong;
}

unsigned int beside(const void *fdt)
{
    static struct work w;
    uint64_t delay = (uint64_t)fdt_bootarg_number(fdt, "delay", 0) * US;
    uint32_t seen = 0;

    if (!work_open(&w, 0, 0)) {
        return 1;
    }
    while (common->over == 0) {
        wait_until(machine_time() + POLL_US * US);
        if (seen != common->jobs) {
            seen = common->jobs;
            wait_until(machine_time() + delay);
            (void)work_run(&w, SMALL);
        }
    }
    print("accel: done, %u jobs, %u wrong\n", w.jobs, w.wrong);
    return w.wrong;
}
