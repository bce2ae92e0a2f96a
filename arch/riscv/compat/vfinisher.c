/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's emulated test finisher (SiFive's, as in QEMU's virt): one register, whose values stop the
 * VM, restart it, or report a failure, which is treated like a fatal trap. Owns no state. */
#include "arch.h"
#include "compat.h"
#include "console.h"
#include "system.h"

#define FINISHER_SIZE 0x1000U
#define FINISHER_FAIL 0x3333U /* exit code in the upper half */
#define FINISHER_PASS 0x5555U
#define FINISHER_RESET 0x7777U

static ulong finisher_read(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    (void)v, (void)offset, (void)width_log2;
    return 0;
}

/* A guest that reports failure is treated like one with a fatal trap. */
static void finisher_fail(struct vm *vm, uint32_t code)
{
    if (vm_stop(vm, VM_REASON_FAILURE, (vm->config->flags & SYSIMAGE_VM_RESTART_FATAL) != 0)) {
        console_log("%s reports failure: code %u", vm->config->name, code);
    }
}

static void finisher_write(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    uint32_t word = width_log2 == 2 ? (uint32_t)value : (uint16_t)value;
    uint16_t status = offset == 0 ? (uint16_t)word : 0;

    if (status == FINISHER_PASS) {
        vm_stop(v->vm, VM_REASON_SHUTDOWN, false);
    } else if (status == FINISHER_RESET) {
        vm_stop(v->vm, VM_REASON_RESET, true);
    } else if (status == FINISHER_FAIL) {
        finisher_fail(v->vm, word >> 16);
    }
}

const char *finisher_boot(void)
{
    bool added = true;

    for (struct vm *vm = hyp.vms; vm < &hyp.vms[hyp.nvms] && added; vm++) {
        const struct vdev dev = {.base = (gpa_t)vm->config->finisher,
                                 .size = FINISHER_SIZE,
                                 .widths = 2 | 4,
                                 .read = finisher_read,
                                 .write = finisher_write};

        added = dev.base == 0 || vdev_add(&vm->devs, &dev);
    }
    return added ? NULL : "too many emulated devices";
}
