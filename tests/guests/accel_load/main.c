/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work for the manager of accelerators that one section must not do at once
 * (tests/e2e/test_accelerators_many.py). The word `mode=`
 * of the kernel's arguments selects which:
 *
 *   apps    an RT-VM whose apps are released together: all store to one device, whose region has to
 *           be configured for it; one keeps
 *           the hart so long that the regions of three devices expire before the manager's
 *           interrupt is taken
 *   starts  devices that share a region have a START each, and are then released
 *
 * Prints "accel_load: done" after `rounds=` rounds, and continues.
 */
#include <stdint.h>

#include "accel_abi.h"
#include "fabric_map.h"
#include "fdt.h"
#include "hcall.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rt.h"
#include "timer.h"

#define US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define DATA 0x80300000UL /* of jobs, in the VM's RAM */
#define JOB 64U           /* bytes */

int main(unsigned long hart, const void *fdt);

static volatile uint32_t *reg(unsigned long device, unsigned long offset)
{
    return (volatile uint32_t *)(ACCEL_PAGES + device * ACCEL_PAGE + offset);
}

static void wait_us(unsigned long us)
{
    uint64_t end = machine_time() + us * US;

    timer_set(end);
    machine_wake_by_timer(true);
    while (machine_time() < end) {
        machine_wait();
    }
    timer_set(UINT64_MAX);
    machine_wake_by_timer(false);
}

/* --- apps --- */

#define APPS 62U
#define PERIOD_US 4000U
#define BUDGET_US 10U
#define SPIN_US 300U /* longer than hold-us */
/* the device that all apps store to; its region is also that of device OTHER */
#define SHARED 0UL
#define OTHER 3UL

static struct rt_task task_store, task_spin;

static void store(void *argument)
{
    (void)argument;
    *reg(SHARED, FABRIC_IF_CMD) = 0;
}

static void spin(void *argument)
{
    uint64_t end = machine_time() + SPIN_US * US;

    (void)argument;
    while (machine_time() < end) {
    }
}

/* Returns the number of apps that run. */
static unsigned int launch(void)
{
    static uint8_t stacks[APPS][512] __attribute__((aligned(16)));
    uint64_t first = machine_time() + PERIOD_US * US;
    unsigned int launched = 0;

    task_store.job = store;
    task_spin.job = spin;
    for (unsigned int i = 0; i < APPS; i++) {
        bool spins = i == APPS - 1U;
        struct rt_params params = {.entry = hcall_address((const void *)(uintptr_t)rt_task_entry),
                                   .stack = hcall_address(stacks[i]) + sizeof(stacks[i]),
                                   .arg = (uintptr_t)(spins ? &task_spin : &task_store),
                                   .period_us = PERIOD_US,
                                   .budget_us = spins ? 2U * SPIN_US : BUDGET_US,
                                   .deadline_us = PERIOD_US};

        launched +=
            rt_create_app(&params).error == 0 && rt_launch_app(RT_OWN_VM, i, first).error == 0;
    }
    return launched;
}

/* Requests every device, at another time of the apps' period in each round. */
static void request_all(unsigned int round)
{
    (void)hcall_call(HCALL_ACCEL_REQUEST, OTHER, 0, 0);
    wait_us(200U + round * 37U % 1000U);
    for (unsigned long device = 0; device < OTHER; device++) {
        (void)hcall_call(HCALL_ACCEL_REQUEST, device, 0, 0);
    }
    wait_us(1000U + round * 53U % 1000U);
}

/* --- starts --- */

#define DEVICES 6UL
#define STARTS 20U

/* Its first store lets the device wait, and the guest go on. */
static void start(unsigned long device)
{
    *reg(device, FABRIC_IF_CMD) = 0;
    *reg(device, FABRIC_IF_DATA_ADDR) = (uint32_t)DATA;
    *reg(device, FABRIC_IF_RESULT) = (uint32_t)DATA + 0x1000U;
    *reg(device, FABRIC_IF_DATA_SIZE) = JOB;
    *reg(device, FABRIC_IF_START) = 1;
}

/* Computes for another time in each call: the fabric then answers at another place of the guest's
 * next instructions. */
static void shift_phase(unsigned int call)
{
    for (volatile unsigned int n = call * 37U % 400U; n > 0; n--) {
    }
}

static void start_and_release(unsigned int round)
{
    for (unsigned long n = 0; n < DEVICES; n++) {
        unsigned long device = (n + round) % DEVICES;

        (void)hcall_call(HCALL_ACCEL_SET_MODEL, device, ACCEL_MODEL_GUEST, 0);
        start(device);
        shift_phase((unsigned int)(round * DEVICES + n));
        (void)hcall_call(HCALL_ACCEL_RELEASE, device, 0, 0); /* the START stays */
    }
    for (unsigned int n = 0; n < STARTS; n++) {
        start(round % DEVICES);
        wait_us(n * 7U % 50U);
    }
}

int main(unsigned long hart, const void *fdt)
{
    char mode[16];
    unsigned int rounds = (unsigned int)fdt_bootarg_number(fdt, "rounds", 100);
    bool apps = fdt_bootarg(fdt, "mode", mode, sizeof(mode)) != NULL && mode[0] == 'a';

    (void)hart;
    (void)timer_init();
    if (apps) {
        print("accel_load: %u apps\n", launch());
    }
    for (unsigned int round = 0;; round++) {
        if (round == rounds) {
            print("accel_load: done\n");
        }
        if (apps) {
            request_all(round);
        } else {
            start_and_release(round);
        }
    }
}
