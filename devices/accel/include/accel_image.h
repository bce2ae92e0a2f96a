/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section of the system image that describes the fabric, its devices, their bitstreams and the
 * VMs that use them. The image builder has checked it; the component checks
 * counts and bounds again at boot. Arrays lie at offsets from the start of the section, 8-byte
 * aligned.
 */
#ifndef ACCEL_IMAGE_H
#define ACCEL_IMAGE_H

#include <stdint.h>

#define ACCEL_IMAGE_TAG 0x47504658U /* "XFPG" in memory order: sysimage_section.tag */

#define ACCEL_MAX_CLIENTS 16U
#define ACCEL_MAX_DEVICES 16U
#define ACCEL_MAX_REGIONS 8U
#define ACCEL_MAX_FRAMES 64U /* struct accel_image_frames, of all regions */
#define ACCEL_MAX_OVERLAYS 16U
#define ACCEL_MAX_PROVIDED 32U /* devices that one overlay provides */

/* How a VM waits for a device that has to be preempted or configured first. */
#define ACCEL_IMAGE_MODEL_NATIVE 0U /* the VCPU blocks in its first write to the device's page */
#define ACCEL_IMAGE_MODEL_GUEST 1U  /* the write completes at once; events report what happens */

struct accel_image {
    /* host-physical address of the fabric's registers (docs/fabric.md), 2 MiB aligned */
    uint64_t fabric;
    uint32_t irq;         /* host source of the manager's interrupt */
    uint32_t regions;     /* regions of the fabric, 1 .. ACCEL_MAX_REGIONS; PARAMS must agree */
    uint32_t hold_cycles; /* HOLD_TIME, fabric cycles */
    uint32_t stop_cycles; /* STOP_TIME, fabric cycles */
    uint32_t nclients, clients_offset; /* struct accel_image_client[] */
    /* struct accel_image_device[], index: number of the device in the fabric */
    uint32_t ndevices, devices_offset;
    /* struct accel_image_bitstream[], ordered by device, then region */
    uint32_t nbitstreams, bitstreams_offset;
    /* struct accel_image_accel[], ordered by client, then device */
    uint32_t naccels, accels_offset;
    /* bit n: VM n of the system may read the state of all regions and devices
     * (HCALL_ACCEL_GET_REGION) */
    uint32_t monitors;
    uint32_t nframes, frames_offset; /* struct accel_image_frames[] */
    /* struct accel_image_overlay[]; needs one VM fewer than the fabric has */
    uint32_t noverlays, overlays_offset;
    uint32_t nfragments, fragments_offset; /* struct accel_image_fragment[], ordered by overlay */
    uint32_t nprovided, provided_offset;   /* struct accel_image_provided[], ordered by overlay */
    /* For the longest time that a device takes (devices/accel/delay.c): */
    uint32_t clock_khz;        /* of the fabric, not 0 */
    uint32_t interrupt_cycles; /* from an event of the fabric to its interrupt, at most */
    /* longest non-preemptible section of the hypervisor with this number of harts */
    uint32_t section_ns;
    /* other interrupts of the machine that can be pending at the same time */
    uint32_t sources;
    uint32_t timers; /* software timers that can be due at the same time */
    /* of the 7-series device that the bitstreams are for; 0: the simulation's ICAP */
    uint32_t idcode;
    uint32_t reserved; /* 0 */
};

/* Frames of configuration memory that belong to a region. A bitstream for the region may write no
 * others. */
struct accel_image_frames {
    uint32_t region; /* 0 .. regions - 1 */
    /* address of the first one; with `idcode`, of the write that configures them */
    uint32_t first;
    uint32_t count;    /* with `idcode`, padding included */
    uint32_t reserved; /* 0 */
};

/* A VM that uses the fabric. Its index is its number in the fabric: it has the IF pages from 16 *
 * index on. */
struct accel_image_client {
    uint32_t vm;        /* number of the VM in the system */
    uint32_t event_irq; /* source of the VM's interrupt controller for device events, 1 .. 31 */
    uint32_t may_raise; /* 1: may change priorities of its devices (HCALL_ACCEL_SET_PRIORITY) */
    /* 1: the manager operates its device for a function of the VM (cipher_unit.c), and the VM sees
     * nothing of it */
    uint32_t operated;
};

struct accel_image_device {
    char name[16];       /* NUL-terminated, unique */
    uint32_t task;       /* HW task that a region must hold, 1 .. 255 */
    uint32_t size_class; /* smallest size class of a region that can hold it, 0 .. 3 */
    uint32_t regions;    /* bit n: region n may hold it; a bitstream exists for each */
    /* longest time to stop a job and to save it, if memory never stalls; 0: not declared */
    uint32_t stop_cycles;
};

/* A bitstream: the task of `device` for one region. Its tag follows it, 32 bytes: BLAKE2b with the
 * board's key (bitstreams.c). */
struct accel_image_bitstream {
    uint32_t device; /* its number: index in the image's table */
    uint32_t region; /* its number */
    uint64_t offset; /* of the payload from the image's header, 4 KiB aligned */
    uint32_t size;   /* bytes, a multiple of 8, not 0 */
    uint32_t verify; /* 1: the checksum is verified before the region is written */
};

/* A device that a VM may use. */
struct accel_image_accel {
    uint32_t client;   /* the VM: index in the image's table of clients */
    uint32_t device;   /* its number: index in the image's table */
    uint32_t priority; /* 0 .. 15, 15 is the highest */
    uint32_t model;    /* ACCEL_IMAGE_MODEL_* */
    /* guest-physical address of its page, the same in every VM for the same device */
    uint64_t gpa;
};

/* An overlay: a change of the fabric that is applied, or removed, as a whole. */
struct accel_image_overlay {
    char name[16]; /* NUL-terminated, unique */
    /* bit n: VM n of the system may apply, remove and query it */
    uint32_t controllers;
    uint32_t first_fragment, nfragments; /* in the image's table; each region at most once */
    uint32_t first_provided, nprovided;  /* in the image's table */
    uint32_t reserved;                   /* 0 */
};

/* A region that holds the task of a device while the overlay is applied. No other device gets the
 * region. */
struct accel_image_fragment {
    uint32_t region; /* its number */
    uint32_t device; /* a bitstream of it exists for the region */
};

/* A device of a VM that exists only while the overlay is applied. It is in accel_image_accel[],
 * too, and in one overlay only. */
struct accel_image_provided {
    uint32_t client; /* the VM: index in the image's table of clients */
    uint32_t device; /* its number: index in the image's table */
    /* guest-physical address of the length of `status` in the device tree; its value has 12 bytes:
     * "disabled" */
    uint64_t status;
};

#endif
