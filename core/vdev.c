/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's table of emulated devices, filled at boot and constant afterwards. Exits find the device
 * of an address in it. */
#include "vdev.h"

bool vdev_add(struct vdevs *devs, const struct vdev *dev)
{
    if (devs->count == VM_MAX_VDEVS) {
        return false;
    }
    devs->dev[devs->count++] = *dev;
    devs->end = &devs->dev[devs->count];
    return true;
}

bool vdev_add_first(struct vdevs *devs, const struct vdev *dev)
{
    if (!vdev_add(devs, dev)) {
        return false;
    }
    for (unsigned i = devs->count - 1U; i > 0; i--) {
        devs->dev[i] = devs->dev[i - 1U];
    }
    devs->dev[0] = *dev;
    return true;
}
