/* SPDX-License-Identifier: Apache-2.0 */
/* The released task's job on an accelerator, whose result is compared with the software's (job.h).
 * Owns the device, the job and its buffers. */
#include "job.h"

#include <string.h>

#include "accel_rtos.h"
#include "fdt.h"
#include "machine.h"
#include "platform.h"

#define BYTES 256U

static struct accel_rtos device;
static uint64_t input[BYTES / 8], output[BYTES / 8], expected[BYTES / 8];
static struct accel_job job = {.command = ACCEL_AES128_ECB_ENCRYPT,
                               .size = BYTES,
                               .input = input,
                               .output = output,
                               .custom = {1, 2, 3, 4}};
static struct accel_result right; /* what the software computes, and `expected` its output */

void job_open(unsigned long hart, const void *fdt)
{
    char name[16];

    if (fdt_bootarg(fdt, "device", name, sizeof(name)) == NULL) {
        return;
    }
    accel_rtos_init(hart);
    accel_rtos_open(&device, name, accel_soft_aes128);
    if (!device.unit.present) {
        port_fatal("boot arguments: the VM has no device of this name", name, 0);
    }
    for (unsigned int i = 0; i < BYTES / 8; i++) {
        input[i] = i * 0x0123456789abcdefU;
    }
    job.output = expected;
    right = device.unit.soft(&job);
    job.output = output;
}

bool job_present(void)
{
    return device.unit.present;
}

uint64_t job_run(void)
{
    struct accel_result result = accel_rtos_run_on_device(&device, &job);
    uint64_t end = machine_time();

    if (result.fault != 0 || result.size != right.size || result.code != right.code ||
        memcmp(output, expected, right.size) != 0) {
        port_fatal("the accelerator's result differs from the software's", "", result.code);
    }
    memset(output, 0, right.size);
    return end;
}

unsigned long job_preemptions(void)
{
    struct accel_stats stats = {0};

    (void)accel_get_stats(&device.unit.device, &stats);
    return (unsigned long)(stats.paths[2] + stats.paths[3]);
}
