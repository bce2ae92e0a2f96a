/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the fabric's sorters, two for each CPU, and empties them. */
#include "arch.h"
#include "arch_device.h"
#include "component.h"
#include "fabric_map.h"
#include "platform.h"
#include "rt_queue.h"
#include "system.h"

#define MAGIC 0x54534642U /* ID.magic: "TSFB" */
#define QUEUES_A_CPU 2U
#define LONGEST_SORTER 256U /* entries */

#define FIELD(value, name) ((value) >> name##_LSB & ((UINT64_C(1) << name##_WIDTH) - 1U))

volatile char *rt_queue_fabric(void)
{
    return (volatile char *)(ulong)platform_fabric.base;
}

/* Number of slots for apps, of which one CPU may get all. */
static unsigned count_apps(void)
{
    unsigned apps = 0;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        apps += hyp.vms[i].total - hyp.vms[i].nvcpus;
    }
    return apps;
}

/* Whether the fabric has what the system file needs. */
static const char *check_fabric(unsigned apps)
{
    uint64_t id, params, sorters;
    hpa_t fabric = platform_fabric.base;

    if (!arch_device_probe(fabric + FABRIC_REGS_ID, &id) || FIELD(id, FABRIC_REGS_ID_MAGIC) != MAGIC ||
        !arch_device_probe(fabric + FABRIC_REGS_PARAMS, &params)) {
        return "HYP_RT_QUEUE=sorter: there is no fabric at the board's address";
    }
    if (!arch_device_probe(fabric + FABRIC_REGS_SORTERS, &sorters) ||
        FIELD(sorters, FABRIC_REGS_SORTERS_COUNT) < QUEUES_A_CPU * hyp.ncpus) {
        return "HYP_RT_QUEUE=sorter: the fabric has fewer than two sorters for each hart";
    }
    if (FIELD(params, FABRIC_REGS_PARAMS_SORTER_DEPTH) < apps) {
        return "HYP_RT_QUEUE=sorter: a sorter of the fabric has fewer entries than rt-apps in all VMs";
    }
    return NULL;
}

/* Removes what the sorter holds, of this or any other software. False if it does not become empty. */
static bool empty(volatile char *registers)
{
    for (unsigned i = 0; i <= LONGEST_SORTER; i++) {
        uint64_t head = arch_device_read64(registers + FABRIC_SORTER_HEAD);

        if (FIELD(head, FABRIC_SORTER_HEAD_VALID) == 0) {
            return true;
        }
        arch_device_write64(registers + FABRIC_SORTER_REMOVE, FIELD(head, FABRIC_SORTER_HEAD_VALUE));
    }
    return false;
}

static const char *reset_sorters(void)
{
    volatile char *registers = rt_queue_fabric() + FABRIC_SORTERS;

    for (unsigned i = 0; i < QUEUES_A_CPU * hyp.ncpus; i++, registers += FABRIC_SORTER_STRIDE) {
        if (!empty(registers)) {
            return "HYP_RT_QUEUE=sorter: a sorter of the fabric does not become empty";
        }
        arch_device_write64(registers + FABRIC_SORTER_ORDER, 0);
    }
    return NULL;
}

/* A system without apps needs no fabric. */
static const char *sorters_boot(void)
{
    unsigned apps = count_apps();
    const char *wrong;

    if (apps == 0) {
        return NULL;
    }
    if (!arch_device_map(platform_fabric.base, platform_fabric.size)) {
        return "page tables are used up";
    }
    wrong = check_fabric(apps);
    return wrong != NULL ? wrong : reset_sorters();
}
ON_BOOT(sorters_boot);
