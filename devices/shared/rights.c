/* SPDX-License-Identifier: Apache-2.0 */
/* What VMs may do with the devices, as the hardware's registers. */
#include "fabric_windows.h"
#include "io.h"

static void set_allowed(unsigned number, unsigned device, bool allowed, uint32_t priority)
{
    io_write(FABRIC_SHARED_ALLOW, IO_PUT(FABRIC_SHARED_ALLOW_VM, number) |
                                      IO_PUT(FABRIC_SHARED_ALLOW_DEVICE, device) |
                                      IO_PUT(FABRIC_SHARED_ALLOW_ALLOWED, allowed) |
                                      IO_PUT(FABRIC_SHARED_ALLOW_PRIO, priority));
}

static void set_budget(unsigned number, unsigned device, uint32_t cycles)
{
    io_write(FABRIC_SHARED_BUDGET, IO_PUT(FABRIC_SHARED_BUDGET_VM, number) |
                                       IO_PUT(FABRIC_SHARED_BUDGET_DEVICE, device) |
                                       IO_PUT(FABRIC_SHARED_BUDGET_CYCLES, cycles));
}

static void set_flash(unsigned number, uint32_t first, uint32_t sectors)
{
    io_write(FABRIC_SHARED_FLASH_WINDOW, IO_PUT(FABRIC_SHARED_FLASH_WINDOW_VM, number) |
                                             IO_PUT(FABRIC_SHARED_FLASH_WINDOW_FIRST, first) |
                                             IO_PUT(FABRIC_SHARED_FLASH_WINDOW_SECTORS, sectors));
}

static void set_pins(unsigned number, uint32_t pins)
{
    io_write(FABRIC_SHARED_PINS,
             IO_PUT(FABRIC_SHARED_PINS_VM, number) | IO_PUT(FABRIC_SHARED_PINS_MASK, pins));
}

/* ETHERNET_SET takes the address from ETHERNET_MAC. */
static void set_ethernet(const struct io_client *c)
{
    const struct io_image_client *config = c->config;

    io_write(FABRIC_SHARED_ETHERNET_MAC, config->mac);
    io_write(FABRIC_SHARED_ETHERNET_SET,
             IO_PUT(FABRIC_SHARED_ETHERNET_SET_VM, c->number) |
                 IO_PUT(FABRIC_SHARED_ETHERNET_SET_ENABLED, 1) |
                 IO_PUT(FABRIC_SHARED_ETHERNET_SET_MULTICAST, config->ethernet & 1U) |
                 IO_PUT(FABRIC_SHARED_ETHERNET_SET_IN_VLAN, config->ethernet >> 1 & 1U) |
                 IO_PUT(FABRIC_SHARED_ETHERNET_SET_VLAN, config->vlan));
}

static void set_rect(unsigned number, const struct io_image_rect *rect)
{
    io_write(FABRIC_SHARED_SCREEN_RECT, IO_PUT(FABRIC_SHARED_SCREEN_RECT_X, rect->x) |
                                            IO_PUT(FABRIC_SHARED_SCREEN_RECT_Y, rect->y) |
                                            IO_PUT(FABRIC_SHARED_SCREEN_RECT_WIDTH, rect->width) |
                                            IO_PUT(FABRIC_SHARED_SCREEN_RECT_HEIGHT, rect->height));
    io_write(FABRIC_SHARED_SCREEN_SET, IO_PUT(FABRIC_SHARED_SCREEN_SET_VM, number) |
                                           IO_PUT(FABRIC_SHARED_SCREEN_SET_ENABLED, 1));
}

void io_revoke(unsigned number)
{
    for (unsigned device = 0; device < IO_DEVICES; device++) {
        set_allowed(number, device, false, 0);
    }
    for (unsigned i = 0; i < IO_CHANNELS; i++) {
        set_budget(number, IO_FLASH + i, 0);
    }
    io_write(FABRIC_SHARED_FLUSH, IO_PUT(FABRIC_SHARED_FLUSH_VM, number));
    fabric_windows_close(io_windows(number));
    set_flash(number, 0, 0);
    io_write(FABRIC_SHARED_ETHERNET_SET, IO_PUT(FABRIC_SHARED_ETHERNET_SET_VM, number));
    io_write(FABRIC_SHARED_SCREEN_SET, IO_PUT(FABRIC_SHARED_SCREEN_SET_VM, number));
    set_pins(number, 0);
}

static void set_channel(unsigned index, const struct io_image_channel *config)
{
    io_write(FABRIC_SHARED_ARBITER + index * FABRIC_SHARED_ARBITER_STRIDE,
             IO_PUT(FABRIC_SHARED_ARBITER_POLICY, config->policy) |
                 IO_PUT(FABRIC_SHARED_ARBITER_SIZE, config->size));
    io_write(FABRIC_SHARED_TIMEOUT + index * FABRIC_SHARED_TIMEOUT_STRIDE, config->timeout_cycles);
    io_write(FABRIC_SHARED_PERIOD + index * FABRIC_SHARED_PERIOD_STRIDE, config->period_cycles);
}

static uint64_t phases_value(const struct io_image_phases *p)
{
    return IO_PUT(FABRIC_SHARED_SCREEN_H_ACTIVE, p->active) |
           IO_PUT(FABRIC_SHARED_SCREEN_H_FRONT, p->front) |
           IO_PUT(FABRIC_SHARED_SCREEN_H_SYNC, p->sync) |
           IO_PUT(FABRIC_SHARED_SCREEN_H_BACK, p->back);
}

/* The mode changes only while the screen is disabled. */
static void set_screen(const struct io_image *image)
{
    io_write(FABRIC_SHARED_SCREEN, 0);
    io_write(FABRIC_SHARED_SCREEN_H, phases_value(&image->screen_h));
    io_write(FABRIC_SHARED_SCREEN_V, phases_value(&image->screen_v));
    io_write(FABRIC_SHARED_SCREEN,
             IO_PUT(FABRIC_SHARED_SCREEN_ENABLE, 1) |
                 IO_PUT(FABRIC_SHARED_SCREEN_ON_REQUEST, image->on_request) |
                 IO_PUT(FABRIC_SHARED_SCREEN_PIXEL_CYCLES, image->pixel_cycles) |
                 IO_PUT(FABRIC_SHARED_SCREEN_BURST_CYCLES, image->burst_cycles));
}

static void set_uart(const struct io_image *image)
{
    io_write(FABRIC_SHARED_UART, IO_PUT(FABRIC_SHARED_UART_DIVIDER, image->uart_divider) |
                                     IO_PUT(FABRIC_SHARED_UART_MODE, image->uart_mode) |
                                     IO_PUT(FABRIC_SHARED_UART_FOCUS, image->uart_focus) |
                                     IO_PUT(FABRIC_SHARED_UART_FLUSH_TIME, image->uart_flush));
}

void io_set_devices(void)
{
    const struct io_image *image = io.image;

    for (unsigned i = 0; i < IO_CHANNELS; i++) {
        if (io_has(image->devices, IO_FLASH + i)) {
            set_channel(i, &image->channels[i]);
        }
    }
    if (io_has(image->devices, IO_FLASH)) {
        io_write(FABRIC_SHARED_FLASH,
                 IO_PUT(FABRIC_SHARED_FLASH_HALF, image->flash_half) |
                     IO_PUT(FABRIC_SHARED_FLASH_DESELECT, image->flash_deselect) |
                     IO_PUT(FABRIC_SHARED_FLASH_SLICE, image->flash_slice));
    }
    if (io_has(image->devices, IO_DISPLAY)) {
        set_screen(image);
    }
    if (io_has(image->devices, IO_UART)) {
        set_uart(image);
    }
}

/* The right to submit requests. Those of the SPI controller are requests to the flash, which has
 * their priority and budget. */
static void allow(const struct io_client *c, unsigned device)
{
    const struct io_image_client *config = c->config;
    unsigned index = device - IO_FLASH;
    bool has = io_has(config->devices, device),
         spi = device == IO_FLASH && io_has(config->devices, IO_SPI);

    if (index < IO_CHANNELS && (has || spi)) {
        set_budget(c->number, device, config->budget[index]);
        set_allowed(c->number, device, has, config->priority[index]);
    } else if (has) {
        /* The right to the SPI controller sets the priority of its requests to the flash. */
        set_allowed(c->number, device, true, device == IO_SPI ? config->priority[0] : 0);
    }
}

/* The right to submit requests comes last. */
void io_set_rights(const struct io_client *c)
{
    const struct io_image_client *config = c->config;

    if (io_has(config->devices, IO_FLASH) || io_has(config->devices, IO_SPI)) {
        set_flash(c->number, config->flash_first, config->flash_sectors);
    }
    if (io_has(config->devices, IO_ETHERNET_SEND) || io_has(config->devices, IO_ETHERNET_RECEIVE)) {
        set_ethernet(c);
    }
    if (io_has(config->devices, IO_DISPLAY)) {
        set_rect(c->number, &config->rect);
    }
    if (io_has(config->devices, IO_GPIO)) {
        set_pins(c->number, config->pins);
    }
    for (unsigned device = 0; device < IO_DEVICES; device++) {
        allow(c, device);
    }
}
