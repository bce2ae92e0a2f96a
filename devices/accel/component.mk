# SPDX-License-Identifier: Apache-2.0
USES_accel := virtio
FOR_SIZE += $(addprefix devices/accel/,boot.c calls.c delay.c function.c life.c monitor.c \
            overlay.c overlay_calls.c overlay_phases.c)
FABRIC_USERS += devices/accel/%
