/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the drivers of shared devices. The last line is:
 *
 *      shared: done, 0 wrong
 */
#include "print.h"
#include "shared_test.h"
#include "uart.h"

int main(unsigned long hart, const void *fdt);

static unsigned int wrong;

void must(bool holds, const char *what)
{
    if (!holds) {
        wrong++;
        print("shared: wrong: %s\n", what);
    }
}

int main(unsigned long hart, const void *fdt)
{
    uart_init();
    check_flash(fdt, hart);
    check_ethernet(fdt, hart);
    check_gpio(fdt, hart);
    print("shared: done, %u wrong\n", wrong);
    return 0;
}
