/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the hypercall of the example component (examples/tally, docs/porting.md). */
#include "hcall.h"
#include "machine.h"
#include "print.h"
#include "uart.h"

#define HCALL_TALLY_COUNT 63

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    (void)hart, (void)fdt;
    uart_init();
    for (int call = 0; call < 3; call++) {
        struct hcall_ret count = hcall_call(HCALL_TALLY_COUNT, 0, 0, 0);

        print("tally: error %ld, call %lu\n", count.error, count.value);
    }
    for (;;) {
        machine_wait();
    }
}
