# SPDX-License-Identifier: Apache-2.0
USES_shared := virtio
FOR_SIZE += $(addprefix devices/shared/,boot.c delay.c function.c life.c manager.c rights.c)
