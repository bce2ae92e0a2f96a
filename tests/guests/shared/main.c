/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the drivers of the shared devices that the VM has. The last line is:
 *
 *      shared: done, 0 wrong
 */
#include "fdt.h"
#include "print.h"
#include "shared_test.h"
#include "uart.h"

int main(unsigned long hart, const void *fdt);

static const struct {
    const char *compatible;
    void (*check)(const void *fdt, unsigned long hart);
} tests[] = {
    {"tessera,shared-flash", check_flash},
    {"tessera,shared-ethernet", check_ethernet},
    {"tessera,shared-gpio", check_gpio},
    {"tessera,shared-copy", check_copy},
    {"sifive,spi0", check_spi},
    {"tessera,shared-uart", check_uart},
};
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
    for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        uint32_t length;

        if (fdt_device(fdt, tests[i].compatible, "reg", &length) != NULL) {
            tests[i].check(fdt, hart);
        }
    }
    print("shared: done, %u wrong\n", wrong);
    return 0;
}
