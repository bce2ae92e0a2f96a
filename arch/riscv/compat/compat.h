/* SPDX-License-Identifier: Apache-2.0 */
/* What component.c lists of vfinisher.c, vrtc.c and vpanic.c, each of which owns one emulated
 * device of a VM. */
#ifndef COMPAT_H
#define COMPAT_H

struct vm;

/* Give the VMs that have one their finisher, RTC and pvpanic. NULL, or what failed. */
const char *finisher_boot(void);
const char *rtc_boot(void);
const char *panic_boot(void);

void rtc_reset(struct vm *vm);

#endif
