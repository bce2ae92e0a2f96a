/* SPDX-License-Identifier: Apache-2.0 */
/* Runs jobs with random input on a device, and compares the output with the software's (work.h).
 * The caller owns struct work. */
#include "work.h"

#include <stddef.h>
#include <string.h>

#include "accel_soft.h"
#include "csr.h"
#include "plic.h"

struct task {
    const char *name;
    accel_soft_fn soft;
    uint32_t factor; /* bytes of output for each byte of input */
};

/* fpga/verify/sim/hwtask_probe.sv: each beat plus the sum of all earlier ones, xor custom[0]. */
static struct accel_result soft_probe(const struct accel_job *job)
{
    const uint64_t *in = job->input;
    uint64_t *out = job->output, sum = 0;

    for (uint32_t i = 0; i < job->size / 8U; i++) {
        out[i] = (in[i] + sum) ^ ((uint64_t)job->custom[0] << 32 | job->custom[0]);
        sum += in[i];
    }
    return (struct accel_result){.size = job->size};
}

static const struct task tasks[] = {
    {"qam16", accel_soft_qam16, ACCEL_QAM16_OUTPUT(1U)},
    {"aes128", accel_soft_aes128, 1},
    {"probe", soft_probe, 1},
};

static const struct task *task_of(const char *name)
{
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        if (strcmp(tasks[i].name, name) == 0) {
            return &tasks[i];
        }
    }
    return NULL;
}

bool work_open(struct work *w, unsigned int index, unsigned long hart)
{
    struct accel_info info;
    struct hcall_ret ret =
        hcall_call(HCALL_ACCEL_ENUMERATE, index, hcall_address(&info), sizeof(info));

    if (ret.error != HCALL_OK || index >= ret.value) {
        return false;
    }
    w->a = (struct accel){(uintptr_t)info.page, info.device};
    w->hart = hart;
    w->task = task_of(info.name);
    w->state = hart + 1;
    return w->task != NULL;
}

static uint64_t next(struct work *w)
{
    w->state = w->state * 6364136223846793005UL + 1442695040888963407UL;
    return w->state;
}

void work_prepare(struct work *w, uint32_t size)
{
    w->job = (struct accel_job){
        .command = w->command, .size = size, .input = w->input, .output = w->expected};
    for (unsigned int i = 0; i < size / 8U; i++) {
        w->input[i] = next(w);
    }
    for (unsigned int i = 0; i < 8U; i++) {
        w->job.custom[i] = (uint32_t)next(w);
    }
    w->job.custom[1] = w->stride;
    w->task->soft(&w->job);
    w->job.output = w->output;
    memset(w->output, 0, (size_t)size * w->task->factor);
}

void work_start(struct work *w)
{
    uint32_t context = plic_context(w->hart);

    plic_open(context, ACCEL_IRQ);
    csr_set_sie(SIE_EXTERNAL);
    accel_submit(&w->a, &w->job, true);
}

static unsigned int differences(const struct work *w)
{
    unsigned int wrong = 0;

    for (uint32_t i = 0; i < w->job.size * w->task->factor / 8U; i++) {
        wrong += w->output[i] != w->expected[i];
    }
    return wrong;
}

uint32_t work_finish(struct work *w)
{
    uint32_t context = plic_context(w->hart), source;
    struct accel_result result;

    do {
        /* first, so that the VCPU is suspended as soon after START as it can be */
        csr_wait_for_interrupt();
    } while (!accel_over(&w->a));
    result = accel_finish(&w->a);
    source = plic_claim(context);
    if (source != 0) {
        plic_complete(context, source);
    }
    csr_clear_sie(SIE_EXTERNAL);
    w->jobs++;
    w->wrong +=
        differences(w) + (result.size != w->job.size * w->task->factor) + (result.fault != 0);
    return result.fault;
}

uint32_t work_run(struct work *w, uint32_t size)
{
    work_prepare(w, size);
    work_start(w);
    return work_finish(w);
}
