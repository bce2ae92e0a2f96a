/* SPDX-License-Identifier: Apache-2.0 */
#include "vdev.h"

bool vdev_add(struct vdevs *devs, const struct vdev *dev)
{
    if (devs->count == VM_MAX_VDEVS) {
        return false;
    }
    devs->dev[devs->count++] = *dev;
    return true;
}
