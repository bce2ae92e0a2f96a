# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix core/,component.c console_log.c cpu.c lib/format.c \
            memmap.c sorter_boot.c sysimage.c system.c timers_heap.c timers_sorter.c trace.c \
            vmload.c)
FABRIC_USERS += core/sorter.c core/sorter_boot.c
