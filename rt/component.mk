# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix rt/,admit.c apps.c devices.c queue_sorter.c)
