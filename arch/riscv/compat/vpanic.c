/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's pvpanic device (QEMU, docs/specs/pvpanic): one byte, by which a guest's kernel reports
 * that it has failed. The VM is stopped or restarted, as after a fatal trap. */
#include "arch.h"
#include "compat.h"
#include "compat_image.h"
#include "console.h"
#include "system.h"

#define PANIC_SIZE 8U
#define PANIC_PANICKED (1U << 0)
#define PANIC_CRASH_LOADED (1U << 1) /* a kernel that saves a dump runs: the VM continues */

static ulong panic_read(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    (void)v, (void)width_log2;
    return offset == 0 ? PANIC_PANICKED | PANIC_CRASH_LOADED : 0;
}

static void panic_write(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    const struct sysimage_vm *config = v->vm->config;

    (void)width_log2;
    if (offset != 0) {
        return;
    }
    if ((value & PANIC_PANICKED) != 0 &&
        vm_stop(v->vm, VM_REASON_FAILURE, (config->flags & SYSIMAGE_VM_RESTART_FATAL) != 0)) {
        console_log("%s reports that its kernel has panicked", config->name);
    } else if ((value & PANIC_CRASH_LOADED) != 0) {
        console_log_minor("%s reports that its kernel has panicked and saves a dump", config->name);
    }
}

const char *panic_boot(void)
{
    bool added = true;

    for (struct vm *vm = hyp.vms; vm < &hyp.vms[hyp.nvms] && added; vm++) {
        const struct sysimage_device *config = sysimage_device(hyp.image, PANIC_KIND, vm->id);
        struct vdev dev = {
            .size = PANIC_SIZE, .widths = 1, .read = panic_read, .write = panic_write};

        if (config != NULL) {
            dev.base = (gpa_t)config->gpa;
            added = vdev_add(&vm->devs, &dev);
        }
    }
    return added ? NULL : "too many emulated devices";
}
