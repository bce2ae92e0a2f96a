/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the shared screen (shared_screen.h). The caller owns struct screen and the
 * framebuffer. */
#include "fabric_map.h"
#include "fdt.h"
#include "plic.h"
#include "shared_screen.h"

#define COMPATIBLE "tessera,shared-display"
#define WIDTH_CELL 2U /* of the rectangle: x, y, width, height */
#define HEIGHT_CELL 3U
#define PIXEL 4U /* bytes */
#define ENABLE ((uint64_t)1 << FABRIC_SCREEN_INT_ENABLE_LSB)
#define PENDING ((uint64_t)1 << FABRIC_SCREEN_INT_PENDING_LSB)
#define COUNT_MASK 0xffU

int screen_open(struct screen *screen, const void *fdt)
{
    struct shared_device device;
    uint32_t length;
    const void *rectangle = fdt_device(fdt, COMPATIBLE, "tessera,rectangle", &length);

    if (rectangle == NULL || shared_find(&device, fdt, COMPATIBLE) != SHARED_OK) {
        return SHARED_NO_DEVICE;
    }
    *screen = (struct screen){.page = device.pages[0], .irq = device.irq};
    screen->width = fdt_cell(rectangle, length, WIDTH_CELL);
    screen->height = fdt_cell(rectangle, length, HEIGHT_CELL);
    screen_hide(screen);
    shared_write(screen->page, FABRIC_SCREEN_INT, PENDING);
    return SHARED_OK;
}

static void set_format(struct screen *screen, uint64_t format)
{
    shared_write(screen->page, FABRIC_SCREEN_FORMAT, format);
    screen->format = format;
}

int screen_show(struct screen *screen, const volatile uint32_t *pixels, unsigned int stride)
{
    uint64_t format = (uint64_t)stride * PIXEL << FABRIC_SCREEN_FORMAT_STRIDE_LSB |
                      (uint64_t)1 << FABRIC_SCREEN_FORMAT_ON_LSB;

    if ((uintptr_t)pixels % 8U != 0 || stride % 2U != 0 || stride < screen->width ||
        stride > UINT16_MAX / PIXEL) {
        return SHARED_INVALID;
    }
    shared_write(screen->page, FABRIC_SCREEN_BASE, (uintptr_t)pixels);
    if (format != screen->format) {
        set_format(screen, format);
    }
    return SHARED_OK;
}

void screen_hide(struct screen *screen)
{
    set_format(screen, 0);
}

bool screen_take_frame(struct screen *screen)
{
    uint64_t events = shared_read(screen->page, FABRIC_SCREEN_INT);

    if ((events & PENDING) != 0) {
        shared_write(screen->page, FABRIC_SCREEN_INT, events);
    }
    return (events & PENDING) != 0;
}

static void note_frame(void *argument)
{
    struct screen *screen = argument;

    screen->ended = screen_take_frame(screen) || screen->ended;
}

void screen_wait_frame(struct screen *screen, unsigned long hart)
{
    screen->ended = false;
    shared_write(screen->page, FABRIC_SCREEN_INT, ENABLE);
    while (!screen->ended) {
        plic_wait(screen->irq, hart, note_frame, screen);
    }
    shared_write(screen->page, FABRIC_SCREEN_INT, 0);
}

unsigned int screen_incomplete(const struct screen *screen)
{
    uint64_t status = shared_read(screen->page, FABRIC_SCREEN_STATUS);

    return (unsigned int)((status >> FABRIC_SCREEN_STATUS_FAULTS_LSB & COUNT_MASK) +
                          (status >> FABRIC_SCREEN_STATUS_UNDERRUNS_LSB & COUNT_MASK)) &
           COUNT_MASK;
}
