/* SPDX-License-Identifier: Apache-2.0 */
/* The checked system image and the objects built from it: the root of the hypervisor's state.
 * sysimage.c checks the image and system.c builds the objects, once, on the boot CPU. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include "cpu.h"
#include "sysimage.h"
#include "types.h"
#include "vm.h"

/* Constant after boot, except for `load_cost`; fields of VMs and VCPUs have their own guards. */
struct system {
    const struct sysimage_header *image; /* checked */
    unsigned nvms;                       /* VMs in `vms` */
    unsigned ncpus;                      /* CPUs that the system uses */
    ticks_t us;                          /* ticks per microsecond, rounded down, at least 1 */
    uint64_t entered;                    /* arch_instret() when the hypervisor was entered */
    uint64_t wall_clock; /* at boot, ns since 1970; 0: the machine has no such clock */
    uint64_t load_cost;  /* instructions spent clearing and copying so far; atomic */
    struct vm vms[SYSIMAGE_MAX_VMS];
    struct vcpu vcpus[SYSIMAGE_MAX_VCPUS];
};

/* owner: system.c; constant after boot, except for what its objects guard */
extern struct system hyp;

/*
 * Checks the image at `image` (mapped, readable up to `limit` bytes). Returns NULL if it can be
 * trusted, else what is wrong with it, for the console.
 */
const char *sysimage_check(const struct sysimage_header *image, uint64_t limit);

/* An array inside the checked image. */
static inline const void *sysimage_at(const struct sysimage_header *image, uint64_t offset)
{
    return (const char *)image + offset;
}

/*
 * The section `tag` of the checked image, 8-byte aligned, and its size in bytes in *size. NULL,
 * with *size unchanged, if the image has none. The bytes are only known to lie in the image: the
 * component checks them.
 */
const void *sysimage_section(const struct sysimage_header *image, uint32_t tag, uint32_t *size);

/* The device of a kind that the checked image gives to VM number `vm`, or NULL. */
const struct sysimage_device *sysimage_device(const struct sysimage_header *image, uint32_t kind,
                                              unsigned vm);

/* Builds every VM from a checked image. Returns NULL or what failed. Boot CPU only. */
const char *system_init(const struct sysimage_header *image);

/* Starts the VMs with SYSIMAGE_VM_AUTOSTART. Boot CPU only, after all CPUs' structures exist. */
void system_start(void);

/* The VM that has the keyboard at boot: the first with SYSIMAGE_VM_FOCUS, else VM 0. Once all VMs
 * exist. */
struct vm *system_keyboard(void);

#endif
