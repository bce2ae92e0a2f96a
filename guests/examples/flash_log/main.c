/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a log in the shared flash, which the next life of the VM, and of the machine, continues.
 * Words of the kernel's arguments: `period=` us from one record to the next, `records=` records
 * before the VM ends; 0: never.
 */
#include "fdt.h"
#include "log.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define TICKS_US (PLATFORM_TIMEBASE_HZ / 1000000U)

int main(unsigned long hart, const void *fdt);

static struct log file;

static bool append(uint32_t boot, unsigned long number)
{
    struct log_record record = {.boot = boot};
    int wrong;

    print_buffer(record.text, sizeof(record.text), "record %lu of life %u", number, boot);
    wrong = log_append(&file, &record);
    if (wrong != SHARED_OK) {
        print("flash_log: FAILED: error %d\n", wrong);
        return false;
    }
    print("flash_log: %u: %s\n", record.sequence, record.text);
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    unsigned long period = fdt_bootarg_number(fdt, "period", 100000);
    unsigned long records = fdt_bootarg_number(fdt, "records", 0);
    struct log_record last;
    uint64_t next = machine_time();
    int wrong;

    uart_init();
    timer_init();
    wrong = log_open(&file, fdt, &last);
    if (wrong != SHARED_OK) {
        print("flash_log: FAILED: no log, error %d\n", wrong);
        return 1;
    }
    shared_sleep_on(&file.flash.channel, hart);
    if (last.magic == 0) {
        print("flash_log: the log is empty\n");
    } else {
        print("flash_log: the last record is %u: %s\n", last.sequence, last.text);
    }
    for (unsigned long number = 1;
         append(last.magic != 0 ? last.boot + 1U : 0, number) && number != records; number++) {
        next += period * TICKS_US;
        timer_sleep_until(next);
    }
    print("flash_log: done\n");
    return 0;
}
