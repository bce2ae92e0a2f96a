/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of an accelerator: finds the device by hypercall, and runs jobs by its registers
 * (accel.h). The caller owns struct accel. */
#include "accel.h"

#include "csr.h"
#include "fabric_map.h"
#include "plic.h"

static volatile uint32_t *reg(const struct accel *a, unsigned long offset)
{
    return (volatile uint32_t *)(a->page + offset);
}

static volatile uint64_t *wide_reg(const struct accel *a, unsigned long offset)
{
    return (volatile uint64_t *)(a->page + offset);
}

static uint32_t fault_of(uint32_t stat)
{
    return stat >> FABRIC_IF_STAT_FAULT_LSB & ((1U << FABRIC_IF_STAT_FAULT_WIDTH) - 1U);
}

static bool named(const struct accel_info *info, const char *name)
{
    unsigned int i = 0;

    while (i < sizeof(info->name) && info->name[i] == name[i] && name[i] != 0) {
        i++;
    }
    return i < sizeof(info->name) && info->name[i] == name[i];
}

long accel_open(struct accel *a, const char *name)
{
    struct hcall_ret ret = {HCALL_OK, 1};

    for (unsigned long index = 0; index < ret.value && ret.error == HCALL_OK; index++) {
        struct accel_info info;

        ret = hcall_call(HCALL_ACCEL_ENUMERATE, index, hcall_address(&info), sizeof(info));
        if (ret.error == HCALL_OK && index < ret.value && named(&info, name)) {
            *a = (struct accel){(uintptr_t)info.page, info.device};
            return 0;
        }
    }
    return ret.error != HCALL_OK ? ret.error : HCALL_ERR_INVALID_PARAM;
}

void accel_submit(const struct accel *a, const struct accel_job *job, bool interrupt)
{
    *reg(a, FABRIC_IF_CMD) = job->command;
    *wide_reg(a, FABRIC_IF_DATA_ADDR) = hcall_address(job->input);
    *reg(a, FABRIC_IF_DATA_SIZE) = job->size;
    *wide_reg(a, FABRIC_IF_RESULT) = hcall_address(job->output);
    for (unsigned int i = 0; i < 8; i++) {
        *reg(a, FABRIC_IF_CUSTOM + i * FABRIC_IF_CUSTOM_STRIDE) = job->custom[i];
    }
    *reg(a, FABRIC_IF_INT_CTRL) = interrupt ? 3 : 0;
    __asm__ volatile("fence rw, rw" ::: "memory"); /* the device reads the input from memory */
    *reg(a, FABRIC_IF_START) = 1;
}

bool accel_over(const struct accel *a)
{
    return *reg(a, FABRIC_IF_OVER) != 0;
}

struct accel_result accel_finish(const struct accel *a)
{
    struct accel_result result = {
        .fault = fault_of(*reg(a, FABRIC_IF_STAT)),
        .code = *reg(a, FABRIC_IF_DONE_CODE),
        .size = *reg(a, FABRIC_IF_DONE_SIZE),
    };

    *reg(a, FABRIC_IF_OVER) = 1;
    __asm__ volatile("fence rw, rw" ::: "memory"); /* the guest reads the output after this */
    return result;
}

struct accel_result accel_run(const struct accel *a, const struct accel_job *job)
{
    accel_submit(a, job, false);
    while (!accel_over(a)) {
    }
    return accel_finish(a);
}

struct accel_result accel_run_asleep(const struct accel *a, const struct accel_job *job,
                                     unsigned long hart)
{
    uint32_t context = plic_context(hart), source;
    struct accel_result result;

    plic_open(context, ACCEL_IRQ);
    csr_set_sie(SIE_EXTERNAL);
    accel_submit(a, job, true);
    while (!accel_over(a)) {
        csr_wait_for_interrupt();
    }
    result = accel_finish(a); /* before the completion: the line is high while OVER is set */
    source = plic_claim(context);
    if (source != 0) {
        plic_complete(context, source);
    }
    csr_clear_sie(SIE_EXTERNAL);
    return result;
}
