/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver of the shared screen: the VM's rectangle shows a framebuffer in the VM's memory. A pixel
 * has 32 bits: 0x00rrggbb.
 */
#ifndef GUEST_SHARED_SCREEN_H
#define GUEST_SHARED_SCREEN_H

#include "shared.h"

struct screen {
    uintptr_t page;
    uint32_t irq;
    unsigned int width, height; /* pixels of the VM's rectangle */
    uint64_t format;
    bool ended; /* of screen_wait_frame() */
};

/** Opens the VM's rectangle, which is black until screen_show(). SHARED_OK or SHARED_NO_DEVICE. */
int screen_open(struct screen *screen, const void *fdt);

/**
 * Shows a framebuffer, whose next line begins `stride` pixels behind the line before. SHARED_OK, or
 * SHARED_INVALID: `pixels` must be a multiple of 8, `stride` even, from the width to 16382. A frame
 * that is being sent has lines of both framebuffers: call it after screen_wait_frame().
 */
int screen_show(struct screen *screen, const volatile uint32_t *pixels, unsigned int stride);

/** The rectangle becomes black. */
void screen_hide(struct screen *screen);

/** Whether a frame has ended since the last call. */
bool screen_take_frame(struct screen *screen);

/**
 * Sleeps on `hart` until a frame has ended since the last call of it or of screen_take_frame(). For
 * guests whose interrupts are off in sstatus, and that use no other interrupts of the controller
 * while they wait.
 */
void screen_wait_frame(struct screen *screen, unsigned long hart);

/** Lines that were not complete on the screen since `stride` changed, modulo 2^8: memory outside of
 * the VM, or too slow. */
unsigned int screen_incomplete(const struct screen *screen);

#endif
