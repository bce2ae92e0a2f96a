/* SPDX-License-Identifier: Apache-2.0 */
/* Drives every block of the SoC from the core, and reports results and cycles (docs/fabric.md). */
#include "print.h"
#include "soc.h"
#include "uart.h"

int main(void);

int main(void)
{
    uart_init();
    traps_start();
    test_buses();
    test_peripherals();
    test_sorter();
    test_clear();
    test_accelerators();
    test_cache();
    test_shared();
    test_privileged();
    test_costs();
    print("%s %u\n", checks_failed() == 0 ? "passed" : "failed", checks_failed());
    while ((uart_read(UART_LSR) & 0x40U) == 0) { /* the last character has been sent */
    }
    return checks_failed() == 0 ? 0 : 1;
}
