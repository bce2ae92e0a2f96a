# SPDX-License-Identifier: Apache-2.0
USES_shared := virtio
FOR_SIZE += $(addprefix devices/shared/,boot.c delay.c function.c interrupt.c life.c rights.c)
FABRIC_USERS += devices/shared/%
