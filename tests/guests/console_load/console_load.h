/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all roles: starting harts, and functions in which harts wait. */
#ifndef CONSOLE_LOAD_H
#define CONSOLE_LOAD_H

#define LOAD_HARTS 8U
#define ROUNDS 40U
#define ORDINARY 7U /* a priority */

/** Starts all harts but the first in `function`; each enables the UART's interrupt. */
void load_start(void (*function)(unsigned long hart, void *argument));

/** Starts one hart, 1 .. LOAD_HARTS - 1, in `function`; the hart enables the UART's interrupt. */
void load_start_hart(unsigned long hart, void (*function)(unsigned long hart, void *argument));

/** Hart function: sleeps repeatedly; all VMs with this guest wake up at the same moments. */
void load_sleeper(unsigned long hart, void *argument);

/** Sleeps until the next of the common wake-up moments of all harts of all VMs with this guest. */
void load_sleep_to_tick(void);

/** Hart function: takes the UART's interrupt without serving it. */
void load_listener(unsigned long hart, void *argument);

/** Writes to the console by the UART and by SBI calls, without checking for space. */
void load_write(const void *fdt);

/** Two harts sleep; the first writes unfinished lines at intervals. Does not return. */
void load_dots(const void *fdt);

/** Overloads the console; all harts wait until it has space again. */
void load_ready(const void *fdt);

/** All harts wait for a key. Does not return. */
void load_keys(const void *fdt);

/**
 * Its watchdog, with period ms=, expires together with those of all VMs with this role. Does not
 * return.
 */
void load_watchdog(const void *fdt);

#endif
