/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the bytes that a VM reads, checks and counts their values, and prints the result
 * (flash_bytes.h). The caller owns struct flash_work. */
#include "fdt.h"
#include "flash_bytes.h"
#include "machine.h"
#include "print.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)

void flash_work_init(struct flash_work *work, const void *fdt)
{
    *work = (struct flash_work){
        .start = fdt_bootarg_number(fdt, "start", 0) * TICKS_US,
        .end = fdt_bootarg_number(fdt, "end", 0) * TICKS_US,
        .base = (uint32_t)fdt_bootarg_number(fdt, "base", 0),
        .depth = (unsigned int)fdt_bootarg_number(fdt, "depth", 1),
    };
    if (machine_time() >= work->start) {
        print("BENCH failed: started at tick %lu, after the interval's start\n", machine_time());
        machine_shutdown(true);
    }
}

uint32_t flash_work_next(struct flash_work *work)
{
    uint32_t address = work->base + work->next;

    work->next = (work->next + 1U) % BYTES_OF_VM;
    return address;
}

/* The file of the flash has this pattern. */
static uint8_t expected(uint32_t address)
{
    return (uint8_t)(address * 167U + (address >> 8));
}

void flash_work_check(struct flash_work *work, uint32_t address, uint32_t value)
{
    uint64_t now = machine_time();

    if ((uint8_t)value != expected(address)) {
        print("BENCH failed: byte 0x%x of the flash: got 0x%x, expected 0x%x\n",
              (unsigned int)address, (unsigned int)value, (unsigned int)expected(address));
        machine_shutdown(true);
    }
    work->read += now >= work->start && now < work->end;
}

_Noreturn void flash_work_report(const struct flash_work *work)
{
    print("BENCH "
          "{\"metric\":\"bytes\",\"unit\":\"bytes\",\"min\":%lu,\"median\":%lu,\"avg\":%lu,\"max\":"
          "%lu,\"n\":1}\n",
          work->read, work->read, work->read, work->read);
    print("BENCH done\n");
    machine_shutdown(false);
}
