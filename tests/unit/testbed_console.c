/* SPDX-License-Identifier: Apache-2.0 */
/* Console output and input of the VMs (testbed_console.h). Owns no state. */
#include "console.h"
#include "host.h"
#include "vuart.h"

#include "testbed_console.h"

static unsigned write_uart(struct vm *vm, char c)
{
    if (!console_ready(vm)) {
        return 0;
    }
    console_putc(vm, c);
    return 1;
}

void testbed_write(unsigned vm, const char *text, unsigned size, bool uart)
{
    unsigned done = 0;
    bool on = true;

    while (on && done < size) {
        unsigned wrote = uart ? write_uart(&hyp.vms[vm], text[done])
                              : console_write(&hyp.vms[vm], text + done, size - done);

        done += wrote;
        on = host_uart_interrupt() || wrote > 0;
    }
}

int testbed_typed(unsigned vm)
{
    return vuart_getc(&hyp.vms[vm]);
}
