/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a fractal, a wave or a bar into the guest's framebuffer (pictures.h). Owns no state. */
#include "pictures.h"

#define BRIGHTEST 255U
#define DARKEST 24U /* of a rectangle, so that it differs from the black around it */
/* The fractal. */
#define FRACTION_BITS 12
#define ONE (1 << FRACTION_BITS)
#define ROUNDS 32U
/* of the part that is drawn, with 3 from its left to its right side */
#define LEFT (-2 * ONE - ONE / 4)
#define SPAN (3 * ONE)
/* The wave. */
#define PERIOD 64U /* pixels */
#define GRID 16U
#define GRID_LEVEL 64U
/* The bar. */
#define BAR_WIDTH 16U

uint32_t shade(uint32_t colour, unsigned int level)
{
    uint32_t dark = 0;

    for (unsigned int shift = 0; shift < 24; shift += 8) {
        dark |= ((colour >> shift & BRIGHTEST) * level / BRIGHTEST) << shift;
    }
    return dark;
}

static void set(const struct canvas *canvas, unsigned int x, unsigned int y, uint32_t colour)
{
    canvas->pixels[y * canvas->stride + x] = colour;
}

/* Rounds of z * z + c until z is far away. */
static unsigned int rounds_of(int32_t real, int32_t imaginary)
{
    int32_t x = 0, y = 0;
    unsigned int round = 0;

    while (round < ROUNDS && x * x + y * y < 4 * ONE * ONE) {
        int32_t next = (x * x - y * y) / ONE + real;

        y = x * y / (ONE / 2) + imaginary;
        x = next;
        round++;
    }
    return round;
}

void draw_fractal(const struct canvas *canvas, uint32_t colour)
{
    int32_t step = SPAN / (int32_t)canvas->width, middle = (int32_t)(canvas->height / 2U);

    for (unsigned int y = 0; y < canvas->height; y++) {
        for (unsigned int x = 0; x < canvas->width; x++) {
            unsigned int rounds = rounds_of(LEFT + (int32_t)x * step, ((int32_t)y - middle) * step);

            set(canvas, x, y, shade(colour, DARKEST + rounds * (BRIGHTEST - DARKEST) / ROUNDS));
        }
    }
}

/* A wave of two parabolas, from 0 to `height` - 1. */
static unsigned int wave_at(unsigned int position, unsigned int height)
{
    unsigned int half = PERIOD / 2U, at = position % PERIOD % half, top = half / 2U * (half / 2U);
    unsigned int away = at * (half - at) * (height / 2U - 1U) / top;

    return position % PERIOD < half ? height / 2U - away : height / 2U + away;
}

void draw_wave(const struct canvas *canvas, uint32_t colour, unsigned int phase)
{
    uint32_t grid = shade(colour, GRID_LEVEL), dark = shade(colour, DARKEST);
    unsigned int before = wave_at(phase, canvas->height);

    for (unsigned int x = 0; x < canvas->width; x++) {
        unsigned int now = wave_at(phase + x, canvas->height), low = now < before ? now : before,
                     high = now + before - low;

        for (unsigned int y = 0; y < canvas->height; y++) {
            uint32_t behind = (x + phase) % GRID == 0 || y % GRID == 0 ? grid : dark;

            set(canvas, x, y, y >= low && y <= high ? colour : behind);
        }
        before = now;
    }
}

void draw_bar(const struct canvas *canvas, uint32_t colour, unsigned int at)
{
    for (unsigned int y = canvas->height - DRAW_BAR; y < canvas->height; y++) {
        for (unsigned int x = 0; x < canvas->width; x++) {
            set(canvas, x, y, shade(colour, DARKEST));
        }
        for (unsigned int x = 0; x < BAR_WIDTH; x++) {
            set(canvas, (at + x) % canvas->width, y, colour);
        }
    }
}
