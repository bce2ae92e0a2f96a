/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section of the system image that describes the shared devices (docs/hardware-io.md) and
 * the VMs that use them. The image builder has checked it; the component
 * checks counts and bounds again at boot. Arrays lie at offsets from the start of the section,
 * 8-byte aligned.
 */
#ifndef SHARED_IMAGE_H
#define SHARED_IMAGE_H

#include <stdint.h>

#define SHARED_IMAGE_TAG 0x44534958U /* "XISD" in memory order: sysimage_section.tag */

#define SHARED_MAX_CLIENTS 16U
#define SHARED_CHANNELS 4U /* devices with an arbiter: 1 + index */

/* Numbers of the devices: that of a VM's page, too. */
#define SHARED_UART 0U
#define SHARED_FLASH 1U
#define SHARED_ETHERNET_SEND 2U
#define SHARED_ETHERNET_RECEIVE 3U
#define SHARED_COPY 4U
#define SHARED_DISPLAY 5U
#define SHARED_GPIO 6U
#define SHARED_SPI 7U
#define SHARED_DEVICES 8U

#define SHARED_POLICY_ROUND_ROBIN 0U
#define SHARED_POLICY_PRIORITY 1U
#define SHARED_POLICY_EDF 2U

#define SHARED_UART_MODE_LINES 0U /* lines of all clients, with their owners */
#define SHARED_UART_MODE_FOCUS 1U /* what the focus writes */

/* The arbiter of device 1 + index; as in the registers ARBITER, TIMEOUT and PERIOD. */
struct shared_image_channel {
    uint32_t policy; /* SHARED_POLICY_* */
    uint32_t size;   /* a chunk has at most 2^size bytes, 2 .. 15 */
    uint32_t timeout_cycles;
    uint32_t period_cycles;
    uint32_t chunk_cycles; /* longest time that is charged for a chunk of any VM; 0: unknown */
    uint32_t least_cycles; /* shortest time of a chunk that is not its request's last one */
    /* longest time for which a chunk waits: a comparison of all VMs, bursts of other devices */
    uint32_t wait_cycles;
    uint32_t reserved; /* 0 */
};

/* The phases of a line, pixels, or of a frame, lines; as in the registers SCREEN_H and SCREEN_V. */
struct shared_image_phases {
    uint16_t active, front, sync, back;
};

/* A part of the screen, pixels; as in the register SCREEN_RECT. */
struct shared_image_rect {
    uint16_t x, y, width, height;
};

struct shared_image {
    /* host-physical address of the manager page, 2 MiB aligned */
    uint64_t base;
    uint64_t clock_hz; /* of the devices' cycles */
    uint32_t irq;      /* host source of the manager's interrupt */
    /* host source of the first VM's interrupt; those of the others follow */
    uint32_t vm_irq;
    uint32_t devices;                  /* bit n: the system uses device n; PARAMS must have it */
    uint32_t nclients, clients_offset; /* struct shared_image_client[] */
    uint32_t flash_half, flash_deselect, flash_slice; /* cycles: register FLASH */
    struct shared_image_channel channels[SHARED_CHANNELS];
    struct shared_image_phases screen_h, screen_v;
    uint16_t pixel_cycles, burst_cycles; /* register SCREEN */
    /* 1: a frame for each pulse of the board; 0: frames without pause */
    uint32_t on_request;
    uint32_t uart_divider, uart_flush; /* register UART */
    uint32_t uart_mode;                /* SHARED_UART_MODE_* */
    uint32_t uart_focus;               /* the client that receives the input */
};

/* A VM that uses shared devices. Its index is its number in the hardware. */
struct shared_image_client {
    uint32_t vm;                         /* number of the VM in the system */
    uint32_t guest_irq;                  /* source of the VM's interrupt controller, 1 .. 31 */
    uint32_t devices;                    /* bit n: may use device n */
    uint32_t flash_first, flash_sectors; /* window onto the flash, sectors of 64 KiB */
    uint32_t pins;                       /* bit n: owns pin n */
    uint64_t mac;                        /* MAC address, its first byte in bits 47:40 */
    /* bit 0: receives frames to all group addresses; bit 1: in VLAN `vlan` */
    uint32_t ethernet;
    uint32_t vlan;                      /* 1 .. 4094; 0 without a VLAN */
    uint32_t priority[SHARED_CHANNELS]; /* of device 1 + index, 0 .. 15 */
    uint32_t budget[SHARED_CHANNELS];   /* cycles in each period; 0: no limit */
    /* guest-physical address of the page of device 0; the others follow in steps of 4 KiB */
    uint64_t gpa;
    struct shared_image_rect rect; /* the VM's part of the screen */
    /* 0: the VM chooses what its part shows, by its page. Otherwise guest-physical address of what
     * it shows from each start on; the VM has no page of the display. */
    uint64_t framebuffer;
};

#endif
