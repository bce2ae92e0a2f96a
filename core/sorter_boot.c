/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the fabric's sorters, SORTERS_A_CPU for each CPU, and empties them. At boot only, for the
 * timers and ready queues that are in sorters. */
#include "arch.h"
#include "arch_device.h"
#include "fabric_map.h"
#include "platform.h"
#include "sorter.h"
#include "system.h"

#define MAGIC 0x54534642U   /* ID.magic: "TSFB" */
#define LONGEST_SORTER 256U /* entries */

#define FIELD(value, name) ((value) >> name##_LSB & ((UINT64_C(1) << name##_WIDTH) - 1U))

volatile char *sorter_fabric(void)
{
    return (volatile char *)(ulong)platform_fabric.base;
}

/* Whether the fabric has what the system needs. */
static const char *check_fabric(unsigned nodes)
{
    uint64_t id, params, sorters;
    hpa_t fabric = platform_fabric.base;

    if (!arch_device_probe(fabric + FABRIC_REGS_ID, &id) ||
        FIELD(id, FABRIC_REGS_ID_MAGIC) != MAGIC ||
        !arch_device_probe(fabric + FABRIC_REGS_PARAMS, &params)) {
        return "sorters: there is no fabric at the board's address";
    }
    if (!arch_device_probe(fabric + FABRIC_REGS_SORTERS, &sorters) ||
        FIELD(sorters, FABRIC_REGS_SORTERS_COUNT) < SORTERS_A_CPU * hyp.ncpus) {
        return "sorters: the fabric has too few for each hart";
    }
    return nodes > SORTER_NODES || nodes > FIELD(params, FABRIC_REGS_PARAMS_SORTER_DEPTH)
               ? "sorters: one of the fabric has fewer entries than the system needs"
               : NULL;
}

/* Removes what the sorter holds, of this or any other software. False if it does not become
 * empty. */
static bool empty(volatile char *registers)
{
    for (unsigned i = 0; i <= LONGEST_SORTER; i++) {
        uint64_t head = arch_device_read64(registers + FABRIC_SORTER_HEAD);

        if (FIELD(head, FABRIC_SORTER_HEAD_VALID) == 0) {
            return true;
        }
        arch_device_write64(registers + FABRIC_SORTER_REMOVE,
                            FIELD(head, FABRIC_SORTER_HEAD_VALUE));
    }
    return false;
}

static bool reset_sorter(unsigned index)
{
    volatile char *registers = sorter_fabric() + FABRIC_SORTERS + index * FABRIC_SORTER_STRIDE;

    arch_device_write64(registers + FABRIC_SORTER_ORDER, 0);
    return empty(registers);
}

const char *sorters_take(unsigned first, unsigned count, unsigned nodes)
{
    const char *wrong = arch_device_map(platform_fabric.base, platform_fabric.size)
                            ? check_fabric(nodes)
                            : "page tables are used up";

    for (unsigned i = 0; i < count * hyp.ncpus && wrong == NULL; i++) {
        if (!reset_sorter(i / count * SORTERS_A_CPU + first + i % count)) {
            wrong = "sorters: one of the fabric does not become empty";
        }
    }
    return wrong;
}
