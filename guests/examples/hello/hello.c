/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal guest: prints the numbers of its hart and of its VM, then waits. */
#include "hcall.h"
#include "print.h"
#include "uart.h"

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    (void)fdt;
    uart_init();
    print("hello: hart %lu of VM %lu\n", hart, hcall_get_id().value);
    for (;;) {
        __asm__ volatile("wfi");
    }
}
