/* SPDX-License-Identifier: Apache-2.0 */
/* What VMs may do with the devices, as the hardware's registers: written at boot. At the start and
 * the stop of a VM, life.c opens and closes its DMA windows only. Owns no state. */
#include "fabric_windows.h"
#include "shared.h"

static void set_allowed(unsigned number, unsigned device, bool allowed, uint32_t priority)
{
    shared_write(FABRIC_SHARED_ALLOW, SHARED_PUT(FABRIC_SHARED_ALLOW_VM, number) |
                                          SHARED_PUT(FABRIC_SHARED_ALLOW_DEVICE, device) |
                                          SHARED_PUT(FABRIC_SHARED_ALLOW_ALLOWED, allowed) |
                                          SHARED_PUT(FABRIC_SHARED_ALLOW_PRIO, priority));
}

static void set_budget(unsigned number, unsigned device, uint32_t cycles)
{
    shared_write(FABRIC_SHARED_BUDGET, SHARED_PUT(FABRIC_SHARED_BUDGET_VM, number) |
                                           SHARED_PUT(FABRIC_SHARED_BUDGET_DEVICE, device) |
                                           SHARED_PUT(FABRIC_SHARED_BUDGET_CYCLES, cycles));
}

static void set_flash(unsigned number, uint32_t first, uint32_t sectors)
{
    shared_write(FABRIC_SHARED_FLASH_WINDOW,
                 SHARED_PUT(FABRIC_SHARED_FLASH_WINDOW_VM, number) |
                     SHARED_PUT(FABRIC_SHARED_FLASH_WINDOW_FIRST, first) |
                     SHARED_PUT(FABRIC_SHARED_FLASH_WINDOW_SECTORS, sectors));
}

static void set_pins(unsigned number, uint32_t pins)
{
    shared_write(FABRIC_SHARED_PINS, SHARED_PUT(FABRIC_SHARED_PINS_VM, number) |
                                         SHARED_PUT(FABRIC_SHARED_PINS_MASK, pins));
}

/* ETHERNET_SET takes the address from ETHERNET_MAC. */
static void set_ethernet(const struct shared_client *c)
{
    const struct shared_image_client *config = c->config;

    shared_write(FABRIC_SHARED_ETHERNET_MAC, config->mac);
    shared_write(FABRIC_SHARED_ETHERNET_SET,
                 SHARED_PUT(FABRIC_SHARED_ETHERNET_SET_VM, c->number) |
                     SHARED_PUT(FABRIC_SHARED_ETHERNET_SET_ENABLED, 1) |
                     SHARED_PUT(FABRIC_SHARED_ETHERNET_SET_MULTICAST, config->ethernet & 1U) |
                     SHARED_PUT(FABRIC_SHARED_ETHERNET_SET_IN_VLAN, config->ethernet >> 1 & 1U) |
                     SHARED_PUT(FABRIC_SHARED_ETHERNET_SET_VLAN, config->vlan));
}

static void set_rect(unsigned number, const struct shared_image_rect *rect)
{
    shared_write(FABRIC_SHARED_SCREEN_RECT,
                 SHARED_PUT(FABRIC_SHARED_SCREEN_RECT_X, rect->x) |
                     SHARED_PUT(FABRIC_SHARED_SCREEN_RECT_Y, rect->y) |
                     SHARED_PUT(FABRIC_SHARED_SCREEN_RECT_WIDTH, rect->width) |
                     SHARED_PUT(FABRIC_SHARED_SCREEN_RECT_HEIGHT, rect->height));
    shared_write(FABRIC_SHARED_SCREEN_SET, SHARED_PUT(FABRIC_SHARED_SCREEN_SET_VM, number) |
                                               SHARED_PUT(FABRIC_SHARED_SCREEN_SET_ENABLED, 1));
}

void shared_revoke(unsigned number)
{
    for (unsigned device = 0; device < SHARED_DEVICES; device++) {
        set_allowed(number, device, false, 0);
    }
    for (unsigned i = 0; i < SHARED_CHANNELS; i++) {
        set_budget(number, SHARED_FLASH + i, 0);
    }
    shared_write(FABRIC_SHARED_FLUSH, SHARED_PUT(FABRIC_SHARED_FLUSH_VM, number));
    fabric_windows_close(shared_windows(number));
    set_flash(number, 0, 0);
    shared_write(FABRIC_SHARED_ETHERNET_SET, SHARED_PUT(FABRIC_SHARED_ETHERNET_SET_VM, number));
    shared_write(FABRIC_SHARED_SCREEN_SET, SHARED_PUT(FABRIC_SHARED_SCREEN_SET_VM, number));
    set_pins(number, 0);
}

static void set_channel(unsigned index, const struct shared_image_channel *config)
{
    shared_write(FABRIC_SHARED_ARBITER + index * FABRIC_SHARED_ARBITER_STRIDE,
                 SHARED_PUT(FABRIC_SHARED_ARBITER_POLICY, config->policy) |
                     SHARED_PUT(FABRIC_SHARED_ARBITER_SIZE, config->size));
    shared_write(FABRIC_SHARED_TIMEOUT + index * FABRIC_SHARED_TIMEOUT_STRIDE,
                 config->timeout_cycles);
    shared_write(FABRIC_SHARED_PERIOD + index * FABRIC_SHARED_PERIOD_STRIDE, config->period_cycles);
}

static uint64_t phases_value(const struct shared_image_phases *p)
{
    return SHARED_PUT(FABRIC_SHARED_SCREEN_H_ACTIVE, p->active) |
           SHARED_PUT(FABRIC_SHARED_SCREEN_H_FRONT, p->front) |
           SHARED_PUT(FABRIC_SHARED_SCREEN_H_SYNC, p->sync) |
           SHARED_PUT(FABRIC_SHARED_SCREEN_H_BACK, p->back);
}

/* The mode changes only while the screen is disabled. */
static void set_screen(const struct shared_image *image)
{
    shared_write(FABRIC_SHARED_SCREEN, 0);
    shared_write(FABRIC_SHARED_SCREEN_H, phases_value(&image->screen_h));
    shared_write(FABRIC_SHARED_SCREEN_V, phases_value(&image->screen_v));
    shared_write(FABRIC_SHARED_SCREEN,
                 SHARED_PUT(FABRIC_SHARED_SCREEN_ENABLE, 1) |
                     SHARED_PUT(FABRIC_SHARED_SCREEN_ON_REQUEST, image->on_request) |
                     SHARED_PUT(FABRIC_SHARED_SCREEN_PIXEL_CYCLES, image->pixel_cycles) |
                     SHARED_PUT(FABRIC_SHARED_SCREEN_BURST_CYCLES, image->burst_cycles));
}

static void set_uart(const struct shared_image *image)
{
    shared_write(FABRIC_SHARED_UART,
                 SHARED_PUT(FABRIC_SHARED_UART_DIVIDER, image->uart_divider) |
                     SHARED_PUT(FABRIC_SHARED_UART_MODE, image->uart_mode) |
                     SHARED_PUT(FABRIC_SHARED_UART_FOCUS, image->uart_focus) |
                     SHARED_PUT(FABRIC_SHARED_UART_FLUSH_TIME, image->uart_flush));
}

void shared_set_devices(void)
{
    const struct shared_image *image = shared.image;

    for (unsigned i = 0; i < SHARED_CHANNELS; i++) {
        if (shared_has(image->devices, SHARED_FLASH + i)) {
            set_channel(i, &image->channels[i]);
        }
    }
    if (shared_has(image->devices, SHARED_FLASH)) {
        shared_write(FABRIC_SHARED_FLASH,
                     SHARED_PUT(FABRIC_SHARED_FLASH_HALF, image->flash_half) |
                         SHARED_PUT(FABRIC_SHARED_FLASH_DESELECT, image->flash_deselect) |
                         SHARED_PUT(FABRIC_SHARED_FLASH_SLICE, image->flash_slice));
    }
    if (shared_has(image->devices, SHARED_DISPLAY)) {
        set_screen(image);
    }
    if (shared_has(image->devices, SHARED_UART)) {
        set_uart(image);
    }
}

/* The right to submit requests. Those of the SPI controller are requests to the flash, which has
 * their priority and budget. */
static void allow(const struct shared_client *c, unsigned device)
{
    const struct shared_image_client *config = c->config;
    unsigned index = device - SHARED_FLASH;
    bool has = shared_has(config->devices, device),
         spi = device == SHARED_FLASH && shared_has(config->devices, SHARED_SPI);

    if (index < SHARED_CHANNELS && (has || spi)) {
        set_budget(c->number, device, config->budget[index]);
        set_allowed(c->number, device, has, config->priority[index]);
    } else if (has) {
        /* The right to the SPI controller sets the priority of its requests to the flash. */
        set_allowed(c->number, device, true, device == SHARED_SPI ? config->priority[0] : 0);
    }
}

/* The right to submit requests comes last. */
void shared_set_rights(const struct shared_client *c)
{
    const struct shared_image_client *config = c->config;

    if (shared_has(config->devices, SHARED_FLASH) || shared_has(config->devices, SHARED_SPI)) {
        set_flash(c->number, config->flash_first, config->flash_sectors);
    }
    if (shared_has(config->devices, SHARED_ETHERNET_SEND) ||
        shared_has(config->devices, SHARED_ETHERNET_RECEIVE)) {
        set_ethernet(c);
    }
    if (shared_has(config->devices, SHARED_DISPLAY)) {
        set_rect(c->number, &config->rect);
    }
    if (shared_has(config->devices, SHARED_GPIO)) {
        set_pins(c->number, config->pins);
    }
    for (unsigned device = 0; device < SHARED_DEVICES; device++) {
        allow(c, device);
    }
}
