# SPDX-License-Identifier: Apache-2.0
# How the hypervisor is compiled for MIPS VZ: by gcc. Without a debugger's end, which this architecture has not.
# HYP_FOR=size: for a part with little flash; what is measured in instructions takes longer then.
CROSS_MIPS ?= mipsel-linux-gnu-
HYP_CC ?= $(CROSS_MIPS)gcc
HYP_COMPONENTS ?= rt ipc operator
HYP_FOR ?= speed
ifeq ($(filter speed size,$(HYP_FOR)),)
$(error HYP_FOR: expected speed or size, got '$(HYP_FOR)')
endif
# EABI: eight arguments and an answer of two words are in registers.
HYP_MIPS = -march=mips32r5 -mvirt -mabi=eabi -msoft-float -mno-abicalls -mno-shared -fno-pie \
           -fomit-frame-pointer -fno-asynchronous-unwind-tables -mno-check-zero-division

# -G: all that is in RAM is reached from gp, which platform/mips.lds.S places, in one instruction. Linked by lld as the
# guests are.
HYP_TARGET_speed = $(HYP_MIPS) -G65535 -membedded-data
HYP_LD_speed = ld.lld

# microMIPS code, and all C compiled as one: by gcc and GNU ld, as lld does not reach where the code is. The optimizations
# that are taken out are those that make this program longer.
HYP_TARGET_size = $(HYP_MIPS) -G64 -mno-embedded-data -mmicromips -DHYP_MICROMIPS -fdata-sections \
                  $(HYP_LTO) -fno-guess-branch-probability -fno-caller-saves \
                  -fno-tree-dominator-opts -fno-inline-small-functions -fno-ipa-ra -fno-shrink-wrap -fno-tree-scev-cprop

HYP_LTO := -flto -flto-partition=one
HYP_LD_size = $(HYP_CC) $(HYP_CFLAGS) -nostdlib -static -Wl,--build-id=none

HYP_TARGET = $(HYP_TARGET_$(HYP_FOR))
HYP_LD = $(HYP_LD_$(HYP_FOR))

ifeq ($(HYP_FOR),size)
HYP_OPT := -Os
HYP_ASFLAGS := -mno-micromips -fno-lto
HYP_LINK_BY := -Wl,
# The compiler calls these itself, and does not see that while it has not compiled everything.
$(addprefix $(HYP_BUILD)/obj/,core/lib/libc.c.o core/lib/mem.c.o arch/mips/wide.c.o): private HYP_LTO :=
endif

# No other architecture's objcopy knows MIPS, but all know ELF files of 32 bits.
HYP_OBJCOPY = $(CROSS)objcopy -I elf32-little -O binary -R .reset
