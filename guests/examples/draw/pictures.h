/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, in integers, so that a test computes the same pixels (tests/e2e/pictures.py). */
#ifndef DRAW_PICTURES_H
#define DRAW_PICTURES_H

#include <stdint.h>

#define DRAW_BAR 4U /* lines of a bar */

struct canvas {
    uint32_t *pixels;
    unsigned int width, height;
    unsigned int stride; /* pixels from a line to the next one */
};

/** Colour `colour`, darker: `level` of 255. */
uint32_t shade(uint32_t colour, unsigned int level);

/** The Mandelbrot set, in shades of a colour. */
void draw_fractal(const struct canvas *canvas, uint32_t colour);

/** A grid with a wave, `phase` pixels further to the left. */
void draw_wave(const struct canvas *canvas, uint32_t colour, unsigned int phase);

/** A bar in the last lines, whose left end is at `at`, modulo the width. */
void draw_bar(const struct canvas *canvas, uint32_t colour, unsigned int at);

#endif
