/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this guest share: each role is one of the functions. */
#ifndef REGRESSION_H
#define REGRESSION_H

#include <stdint.h>

/* Runs `function` on the hart that did not boot (0 or 1), with a stack of its own. */
void start_other_hart(unsigned long boot_hart, void (*function)(unsigned long hart, void *argument));

/* --- virt.c --- */

/* wrs: is WRS.NTO an instruction, does the device tree tell of Zawrs, and how long does it wait? */
void wrs(unsigned long hart, const void *fdt);

/* widths: what a load and a store of each width does at every offset of the devices' registers. */
void widths(unsigned long hart, const void *fdt);

/* rtc: the clock, and its alarm. */
void rtc(unsigned long hart, const void *fdt);

/* plic: which of two pending sources is claimed first. */
void plic(unsigned long hart, const void *fdt);

/* seed: /chosen/rng-seed; then a reset. */
void seed(unsigned long hart, const void *fdt);

/* power-off, reset and failure: by the test finisher. */
void finish_off(unsigned long hart, const void *fdt);
void finish_reset(unsigned long hart, const void *fdt);
void finish_failed(unsigned long hart, const void *fdt);

/* --- storm.c --- */

/* storm: a passed-through device that interrupts as often as it can, for a while. */
void storm(unsigned long hart, const void *fdt);

/* owe: such a device's interrupt is claimed, and the guest resets itself before it has completed it. */
void owe(unsigned long hart, const void *fdt);

/* --- wander.c --- */

/* wander: floating-point values of a VCPU that goes from hart to hart. */
void wander(unsigned long hart, const void *fdt);

/* --- legacy.c --- */

/* legacy: the calls of SBI v0.1; the last one shuts down. */
void legacy(unsigned long hart, const void *fdt);

/* typed: what is typed, by SBI v0.1's getchar, then by the debug console's read. */
void typed(unsigned long hart, const void *fdt);

#endif
