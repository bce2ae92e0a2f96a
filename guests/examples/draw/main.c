/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws into the VM's rectangle of the shared screen, a picture for each frame, and prints on the
 * shared UART if the VM has it. Words of the kernel's arguments: `picture=` wave or fractal,
 * `red=`, `green=`, `blue=` its colour, 0 to 255; `pause=` us from the end of a frame to the next
 * picture; `report=` frames from one line to the next; `frames=` before the VM ends; 0: never.
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "pictures.h"
#include "print.h"
#include "shared_screen.h"
#include "shared_uart.h"
#include "timer.h"
#include "uart.h"

#define LARGEST (256U * 256U) /* pixels of a rectangle */
#define SPEED 4U              /* pixels of a frame */
#define TEXT 64U

int main(unsigned long hart, const void *fdt);

static struct screen screen;
static struct shared_uart line;
static bool has_line;
static uint32_t still[LARGEST], frames[2][LARGEST] __attribute__((aligned(8)));

static void report(unsigned long frame)
{
    char text[TEXT];
    unsigned int incomplete = screen_incomplete(&screen);

    print_buffer(text, sizeof(text), "draw: frame %lu, %u incomplete lines\n", frame, incomplete);
    print("%s", text);
    if (has_line) {
        shared_uart_write(&line, text);
    }
}

static uint32_t colour_of(const void *fdt)
{
    return (uint32_t)(fdt_bootarg_number(fdt, "red", 255) << 16 |
                      fdt_bootarg_number(fdt, "green", 255) << 8 |
                      fdt_bootarg_number(fdt, "blue", 255));
}

static bool is_wave(const void *fdt)
{
    char name[8];
    const char *picture = fdt_bootarg(fdt, "picture", name, sizeof(name));

    return picture == NULL || strcmp(picture, "wave") == 0;
}

static void draw(const struct canvas *canvas, bool wave, uint32_t colour, unsigned int frame)
{
    struct canvas above = *canvas;

    above.height -= DRAW_BAR;
    if (wave) {
        draw_wave(&above, colour, SPEED * frame);
    } else {
        memcpy(canvas->pixels, still, (size_t)canvas->stride * canvas->height * sizeof(uint32_t));
    }
    draw_bar(canvas, colour, SPEED * frame);
}

int main(unsigned long hart, const void *fdt)
{
    uint32_t colour = colour_of(fdt);
    unsigned long every = fdt_bootarg_number(fdt, "report", 1),
                  last = fdt_bootarg_number(fdt, "frames", 0);
    uint64_t pause = fdt_bootarg_number(fdt, "pause", 0) * (PLATFORM_TIMEBASE_HZ / 1000000U);
    bool wave = is_wave(fdt);
    struct canvas canvas;

    uart_init();
    timer_init();
    if (screen_open(&screen, fdt) != SHARED_OK || (screen.width + 1U) * screen.height > LARGEST) {
        print("draw: FAILED: no rectangle, or one of more than %u pixels\n", LARGEST);
        return 1;
    }
    has_line = shared_uart_open(&line, fdt) == SHARED_OK;
    print("draw: %u x %u pixels of colour 0x%06x\n", screen.width, screen.height, colour);
    canvas = (struct canvas){still, screen.width, screen.height, (screen.width + 1U) & ~1U};
    if (!wave) {
        draw_fractal(&canvas, colour);
    }
    for (unsigned int frame = 0; frame == 0 || frame != last; frame++) {
        canvas.pixels = frames[frame % 2U];
        draw(&canvas, wave, colour, frame);
        (void)screen_show(&screen, canvas.pixels, canvas.stride);
        screen_wait_frame(&screen, hart);
        if (frame != 0 && frame % every == 0) {
            report(frame);
        }
        timer_sleep_until(machine_time() + pause);
    }
    /* meanwhile the UART sends the last line, which a VM that ends would lose */
    screen_wait_frame(&screen, hart);
    print("draw: done\n");
    return 0;
}
