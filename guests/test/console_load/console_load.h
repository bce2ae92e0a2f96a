/* SPDX-License-Identifier: Apache-2.0 */
/* What the kinds of crowd share: its harts, and the ways in which they wait. */
#ifndef CONSOLE_LOAD_H
#define CONSOLE_LOAD_H

#define LOAD_HARTS 8U
#define ROUNDS 40U
#define ORDINARY 7U /* a priority */

/** Starts all harts but the first in `function`; each listens to the UART's line. */
void load_start(void (*function)(unsigned long hart, void *argument));

/** Starts one hart, 1 .. LOAD_HARTS - 1, in `function`; the hart listens to the UART's line. */
void load_start_hart(unsigned long hart, void (*function)(unsigned long hart, void *argument));

/** A hart that sleeps again and again until a moment that all such VMs have in common. */
void load_sleeper(unsigned long hart, void *argument);

/** Sleeps until a moment that all harts of all such VMs have in common. */
void load_doze(void);

/** A hart that takes the UART's interrupt and does nothing about it. */
void load_listener(unsigned long hart, void *argument);

/** Writes to the console in both ways there are, and never looks whether there is room. */
void load_write(const void *fdt);

/** Two harts sleep, like those of all other such VMs, and the first now and then writes what is no line. Does not return. */
void load_dots(const void *fdt);

/** All harts wait until the console, which has more than it can show, has room again. */
void load_ready(const void *fdt);

/** All harts wait for a key. Does not return. */
void load_keys(const void *fdt);

/** Its watchdog, of ms=, expires at a moment that all such VMs have in common. Does not return. */
void load_watchdog(const void *fdt);

#endif
