# SPDX-License-Identifier: Apache-2.0
USES_virtio := console
FOR_SIZE += $(addprefix devices/virtio/,accelerator.c backends.c boot.c devices.c hardware_io.c host.c ivshmem.c \
            stop.c transport.c)
