/* SPDX-License-Identifier: Apache-2.0 */
/* A software interrupt: the line that announces messages in a VM, which a task can raise in
 * Cause. */
#include "cp0.h"
#include "interrupts.h"
#include "measure.h"
#include "platform.h"

void interrupts_raise(void)
{
    cp0_write_cause(cp0_read_cause() | 1U << (CAUSE_LINES_SHIFT + PLATFORM_MESSAGE_IRQ));
}

void interrupts_init(unsigned long hart, void (*handler)(void))
{
    (void)hart;
    port_set_message_handler(handler);
}

const struct measure measures_devices[1]; /* none; an array has at least one element */
const size_t measures_devices_count = 0;
