/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files of this guest; each role is one function. */
#ifndef REGRESSION_H
#define REGRESSION_H

#include <stdbool.h>
#include <stdint.h>

/* Runs `function` on the hart that did not boot (0 or 1), on a separate stack. */
void start_other_hart(unsigned long boot_hart,
                      void (*function)(unsigned long hart, void *argument));

/* --- virt.c --- */

/* True if the blob contains the text; riscv,isa has extension names after an underscore. */
bool fdt_has_text(const uint8_t *fdt, const char *text);

/*
 * wrs: whether WRS.NTO is supported, whether the device tree lists Zawrs, and how long WRS.NTO
 * waits.
 */
void wrs(unsigned long hart, const void *fdt);

/* widths: results of loads and stores of each width at every offset of the devices' registers. */
void widths(unsigned long hart, const void *fdt);

/* rtc: the clock, and its alarm. */
void rtc(unsigned long hart, const void *fdt);

/* rtc-no-source: the alarm of a clock whose interrupt source the VM uses otherwise. */
void rtc_no_source(unsigned long hart, const void *fdt);

/* plic: which of two pending sources is claimed first. */
void plic(unsigned long hart, const void *fdt);

/* seed: /chosen/rng-seed; then a reset. */
void seed(unsigned long hart, const void *fdt);

/* power-off, reset and failure: by the test finisher. */
void finish_off(unsigned long hart, const void *fdt);
void finish_reset(unsigned long hart, const void *fdt);
void finish_failed(unsigned long hart, const void *fdt);
void panic_reported(unsigned long hart, const void *fdt);

/* --- paging.c --- */

/* svadu: whether the device tree lists Svadu, and whether the hart sets the bits A and D of a page
 * table itself. */
void svadu(unsigned long hart, const void *fdt);

/* --- storm.c --- */

/* storm: a passed-through device that interrupts as often as possible for some time. */
void storm(unsigned long hart, const void *fdt);

/*
 * owe: the guest claims the interrupt of a passed-through device and resets before completing it.
 */
void owe(unsigned long hart, const void *fdt);

/* --- migrate.c --- */

/* migrate: floating-point values of a VCPU that migrates between harts. */
void migrate(unsigned long hart, const void *fdt);

/* --- harts.c --- */

/* harts: calls of the SBI on two harts; then a reset. Boots on hart 0. */
void harts(unsigned long hart, const void *fdt);

/* --- legacy.c --- */

/* legacy: calls of SBI v0.1; the last one shuts down. */
void legacy(unsigned long hart, const void *fdt);

/* typed: console input, by getchar of SBI v0.1, then by a read of the debug console. */
void typed(unsigned long hart, const void *fdt);

#endif
