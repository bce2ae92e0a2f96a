# SPDX-License-Identifier: Apache-2.0
# Compiles the hypervisor for MIPS VZ by gcc, without debug and compat, which do not
# support this architecture. HYP_FOR=size: for a part with little flash; all measured paths take more
# instructions then.
CROSS_MIPS ?= mipsel-linux-gnu-
HYP_CC ?= $(CROSS_MIPS)gcc
HYP_COMPONENTS ?= rt ipc console
HYP_FOR ?= speed
ifeq ($(filter speed size,$(HYP_FOR)),)
$(error HYP_FOR: expected speed or size, got '$(HYP_FOR)')
endif
# EABI: eight arguments and a return value of two words are in registers.
HYP_MIPS = -march=mips32r5 -mvirt -mabi=eabi -msoft-float -mno-abicalls -mno-shared -fno-pie \
           -fomit-frame-pointer -fno-asynchronous-unwind-tables -mno-check-zero-division

# -G: one instruction relative to gp, which platform/mips.lds.S defines, accesses any variable in RAM of
# up to 32 KiB; a larger one may begin beyond its reach. Linked by lld, as the guests are.
HYP_TARGET_speed = $(HYP_MIPS) -G32767 -membedded-data
HYP_LD_speed = ld.lld

# microMIPS code with link-time optimization, by gcc and GNU ld: lld cannot reach the code's
# addresses. The disabled optimizations increase the size of this program.
HYP_TARGET_size = $(HYP_MIPS) -G64 -mno-embedded-data -mmicromips -DHYP_MICROMIPS -fdata-sections \
                  $(HYP_LTO) -fno-guess-branch-probability -fno-caller-saves \
                  -fno-tree-dominator-opts -fno-inline-small-functions -fno-ipa-ra -fno-shrink-wrap -fno-tree-scev-cprop \
                  -fno-tree-ch -fno-schedule-insns2

HYP_LTO := -flto -flto-partition=one
HYP_LD_size = $(HYP_CC) $(HYP_CFLAGS) -nostdlib -static -Wl,--build-id=none

HYP_TARGET = $(HYP_TARGET_$(HYP_FOR))
HYP_LD = $(HYP_LD_$(HYP_FOR))

ifeq ($(HYP_FOR),size)
HYP_OPT := -Os
HYP_ASFLAGS := -mno-micromips -fno-lto
HYP_LINK_BY := -Wl,
# The compiler generates calls of these functions too late for link-time optimization to see them.
$(addprefix $(HYP_BUILD)/obj/,core/lib/libc.c.o core/lib/mem.c.o arch/mips/wide.c.o): private HYP_LTO :=
endif

# An objcopy for another architecture does not know MIPS, but every objcopy knows 32-bit ELF files.
HYP_OBJCOPY = $(CROSS)objcopy -I elf32-little -O binary -R .reset
