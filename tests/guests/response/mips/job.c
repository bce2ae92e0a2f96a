/* SPDX-License-Identifier: Apache-2.0 */
/* The M5150 has no fabric. */
#include "job.h"

void job_open(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
}

bool job_present(void)
{
    return false;
}

uint64_t job_run(void)
{
    return 0;
}

unsigned long job_preemptions(void)
{
    return 0;
}
