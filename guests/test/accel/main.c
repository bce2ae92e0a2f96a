/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the VM's accelerators in turn, and compares every result with the software's. Reports each job:
 *
 *      accel: aes128 job 1: 256 bytes, 0 wrong, fault 0, first write 241 instructions
 */
#include "accel.h"
#include "machine.h"
#include "print.h"
#include "soft.h"

#define JOBS 6U
#define ASSIGNS 8U
#define INPUT 256U
#define OUTPUT SOFT_QAM16_OUTPUT(INPUT)

int main(unsigned long hart, const void *fdt);

struct kind {
    const char *name;
    void (*soft)(const struct accel_job *job);
    uint32_t output; /* bytes */
};

static const struct kind kinds[] = {
    {"qam16", soft_qam16, OUTPUT},
    {"aes128", soft_aes128, INPUT},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t input[INPUT / 8], output[OUTPUT / 8], expected[OUTPUT / 8];
static uint64_t state = 1; /* of a linear congruential generator */

static void fill(void)
{
    for (unsigned int i = 0; i < INPUT / 8; i++) {
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

/* The instructions of the first write to the device's page, from the guest's point of view. */
static uint64_t write_first(const struct accel *a)
{
    volatile uint32_t *page = (volatile uint32_t *)a->page;
    uint64_t before = machine_instructions();

    page[3] = 0; /* CMD */
    return machine_instructions() - before;
}

static unsigned int run(const struct accel *a, const struct kind *kind, unsigned int number)
{
    struct accel_job job = {.size = INPUT, .input = input, .output = expected, .custom = {number, 2, 3, 4, 5, 6, 7, 8}};
    struct accel_result result;
    unsigned int wrong;
    uint64_t first;

    fill();
    kind->soft(&job);
    first = write_first(a);
    job.output = output;
    result = accel_run(a, &job);
    wrong = differences(kind->output) + (result.size != kind->output);
    print("accel: %s job %u: %u bytes, %u wrong, fault %u, first write %lu instructions\n", kind->name, number,
          result.size, wrong, result.fault, (unsigned long)first);
    return wrong + (result.fault != 0);
}

/* The first write to a device whose task a free region holds: the fabric assigns the region, nothing is configured. */
static void measure_assign(const struct accel *a, const char *name)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (unsigned int i = 0; i < ASSIGNS && accel_release(a).error == HCALL_OK; i++) {
        uint64_t first = write_first(a);

        least = first < least ? first : least;
        most = first > most ? first : most;
    }
    print("accel: %s: assign %lu to %lu instructions, mapped %lu\n", name, (unsigned long)least, (unsigned long)most,
          (unsigned long)write_first(a));
}

static void report(const struct accel *a, const char *name)
{
    struct accel_stats s;

    if (accel_get_stats(a, &s).error == HCALL_OK) {
        print("accel: %s: %lu requests, paths %lu %lu %lu %lu, %lu waits, lost %lu times, %lu faults\n", name,
              (unsigned long)s.requests, (unsigned long)s.paths[0], (unsigned long)s.paths[1],
              (unsigned long)s.paths[2], (unsigned long)s.paths[3], (unsigned long)s.waits, (unsigned long)s.losses,
              (unsigned long)s.faults);
    }
}

int main(unsigned long hart, const void *fdt)
{
    struct accel accels[KINDS];
    bool open[KINDS];
    unsigned int wrong = 0;

    (void)hart, (void)fdt;
    for (unsigned int k = 0; k < KINDS; k++) {
        open[k] = accel_open(&accels[k], kinds[k].name) == 0;
    }
    for (unsigned int number = 1; number <= JOBS; number++) {
        for (unsigned int k = 0; k < KINDS; k++) {
            wrong += open[k] ? run(&accels[k], &kinds[k], number) : 0;
        }
    }
    for (unsigned int k = 0; k < KINDS; k++) {
        if (open[k]) {
            measure_assign(&accels[k], kinds[k].name);
            report(&accels[k], kinds[k].name);
        }
    }
    print("accel: done, %u wrong\n", wrong);
    return wrong != 0;
}
