# SPDX-License-Identifier: Apache-2.0
# How the hypervisor is compiled for MIPS VZ: by gcc, and linked by lld as the guests are. Without a debugger's end, which
# this architecture has not.
CROSS_MIPS ?= mipsel-linux-gnu-
HYP_CC ?= $(CROSS_MIPS)gcc
HYP_ROOMS ?= rt ipc operator
# EABI: eight arguments and an answer of two words are in registers. -G: all that is in RAM is reached from gp, which
# platform/mips.lds.S places, in one instruction.
HYP_TARGET = -march=mips32r5 -mvirt -mabi=eabi -msoft-float -mno-abicalls -mno-shared -fno-pie -G65535 -membedded-data \
             -fomit-frame-pointer -fno-asynchronous-unwind-tables -mno-check-zero-division
HYP_LD = ld.lld
# No other architecture's objcopy knows MIPS, but all know ELF files of 32 bits.
HYP_OBJCOPY = $(CROSS)objcopy -I elf32-little -O binary -R .reset
