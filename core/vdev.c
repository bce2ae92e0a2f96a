/* SPDX-License-Identifier: Apache-2.0 */
#include "vdev.h"

#include "vm.h"

bool vdev_add(struct vm *vm, const struct vdev *dev)
{
    if (vm->nvdevs == VM_MAX_VDEVS) {
        return false;
    }
    vm->vdevs[vm->nvdevs++] = *dev;
    return true;
}

const struct vdev *vdev_find(const struct vm *vm, gpa_t gpa)
{
    for (unsigned i = 0; i < vm->nvdevs; i++) {
        if (gpa - vm->vdevs[i].base < vm->vdevs[i].size) {
            return &vm->vdevs[i];
        }
    }
    return NULL;
}
