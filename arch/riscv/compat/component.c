/* SPDX-License-Identifier: Apache-2.0 */
/* Registers the devices that guests of QEMU's virt machine expect: test finisher and RTC; and
 * pvpanic. */
#include "component.h"

#include "compat.h"

static const char *boot(void)
{
    const char *wrong = finisher_boot();

    wrong = wrong != NULL ? wrong : rtc_boot();
    return wrong != NULL ? wrong : panic_boot();
}

COMPONENT(compat, .boot = boot, .vm_reset = rtc_reset);
