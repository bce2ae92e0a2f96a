/* SPDX-License-Identifier: Apache-2.0 */
/* Runs jobs on accelerators and compares their results with the software's (run.h). Owns the job,
 * its buffers and the generator of its input. */
#include "run.h"

#include "fabric_map.h"
#include "machine.h"
#include "print.h"
#include "timer.h"

const struct kind kinds[KINDS] = {
    {"qam16", accel_soft_qam16, {0}},
    {"aes128",
     accel_soft_aes128,
     {ACCEL_AES128_ECB_ENCRYPT, ACCEL_AES128_CBC_DECRYPT, ACCEL_AES128_CTR,
      ACCEL_AES128_CBC_ENCRYPT}},
    {"fft512", accel_soft_fft512, {0x155, 0x1ff, 0, 0x0aa}},
    {"g722",
     accel_soft_g722,
     {ACCEL_G722_ENCODE, ACCEL_G722_DECODE, ACCEL_G722_ENCODE, ACCEL_G722_DECODE}},
};

#define OUTPUT ACCEL_QAM16_OUTPUT(RUN_INPUT) /* of all tasks, QAM16 has the longest output */

static uint64_t input[RUN_INPUT / 8], output[OUTPUT / 8], expected[OUTPUT / 8];
static struct accel_job job;
static struct accel_result soft; /* of the last job, and `expected` its output */
static uint64_t state = 1;       /* of a linear congruential generator */

static void fill(uint32_t size)
{
    for (unsigned int i = 0; i < size / 8; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        input[i] = state;
    }
}

static unsigned int differences(uint32_t size)
{
    unsigned int wrong = 0;

    for (uint32_t i = 0; i < size / 8; i++) {
        wrong += output[i] != expected[i];
        output[i] = 0;
    }
    return wrong;
}

uint64_t run_first_write(const struct accel *a)
{
    volatile uint32_t *page = (volatile uint32_t *)a->page;
    uint64_t before = machine_instructions();

    page[FABRIC_IF_CMD / sizeof(*page)] = 0;
    return machine_instructions() - before;
}

/* Makes the next job, and what is expected of it. */
static void prepare(const struct kind *kind, uint32_t size, unsigned int number)
{
    job = (struct accel_job){.command = kind->commands[number % RUN_COMMANDS],
                             .size = size,
                             .input = input,
                             .output = expected,
                             .custom = {number, 2, 3, 4, 5, 6, 7, 8}};
    fill(size);
    soft = kind->soft(&job);
    job.output = output;
}

static unsigned int judge(struct accel_result result)
{
    return differences(soft.size) + (result.size != soft.size) + (result.code != soft.code) +
           (result.fault != 0);
}

unsigned int run_again(const struct accel *a)
{
    return judge(accel_run_asleep(a, &job, 0));
}

struct accel_result run_unchecked(const struct accel *a, const struct kind *kind, uint32_t size)
{
    struct accel_job unchecked = {
        .command = kind->commands[0], .size = size, .input = input, .output = output};

    return accel_run_asleep(a, &unchecked, 0);
}

unsigned int run_job(const struct accel *a, const struct kind *kind, uint32_t size,
                     unsigned int number)
{
    prepare(kind, size, number);
    return run_again(a);
}

unsigned int run_unit(struct accel_unit *u, const struct kind *kind, uint32_t size,
                      unsigned int number)
{
    prepare(kind, size, number);
    return judge(accel_unit_run(u, &job, 0));
}

const struct kind *run_open_any(struct accel *a)
{
    const struct kind *kind = kinds;

    while (kind < &kinds[KINDS - 1] && accel_open(a, kind->name) != 0) {
        kind++;
    }
    return accel_open(a, kind->name) == 0 ? kind : NULL;
}

void run_report(const struct accel *a, const char *name)
{
    struct accel_stats s;

    if (accel_get_stats(a, &s).error == HCALL_OK) {
        print("accel: %s: %lu requests, paths %lu %lu %lu %lu, %lu waits, lost %lu times, %lu "
              "faults\n",
              name, (unsigned long)s.requests, (unsigned long)s.paths[0], (unsigned long)s.paths[1],
              (unsigned long)s.paths[2], (unsigned long)s.paths[3], (unsigned long)s.waits,
              (unsigned long)s.losses, (unsigned long)s.faults);
    }
}

void run_sleep(uint64_t us)
{
    uint64_t until = machine_time() + us * (PLATFORM_TIMEBASE_HZ / 1000000U);

    timer_set(until);
    machine_wake_by_timer(true);
    while (machine_time() < until) {
        machine_wait();
    }
    machine_wake_by_timer(false); /* it is pending: later waits, for a device, would not sleep */
}
