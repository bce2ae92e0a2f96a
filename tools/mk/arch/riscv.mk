# SPDX-License-Identifier: Apache-2.0
# Compiles the hypervisor for RISC-V by gcc, or with HYP_CC=clang by clang.
HYP_CC ?= $(CROSS)gcc
HYP_ISA := rv64imac

# The errata of the board's core: a folder of arch/riscv/errata (docs/errata-cva6.md). A board sets it in
# its board.mk.
HYP_ERRATA ?= none
HYP_ALL_ERRATA := $(patsubst arch/riscv/errata/%/errata.h,%,$(wildcard arch/riscv/errata/*/errata.h))
ifeq ($(filter $(HYP_ALL_ERRATA),$(HYP_ERRATA)),)
$(error HYP_ERRATA=$(HYP_ERRATA): expected one of $(HYP_ALL_ERRATA))
endif
HYP_VARIANT := arch/riscv/errata/$(HYP_ERRATA)

# The call graph with the frames is for the depth of the stack
# (tools/tessera/verify/stack_depth.py).
HYP_GCC = -march=$(HYP_ISA)_zicsr_zifencei -fcallgraph-info=su
HYP_CLANG = --target=riscv64-unknown-elf -march=$(HYP_ISA) -mno-relax
HYP_TARGET = $(if $(findstring clang,$(HYP_CC)),$(HYP_CLANG),$(HYP_GCC)) -mabi=lp64 -mcmodel=medany
HYP_LD = $(CROSS)ld
HYP_OBJCOPY = $(CROSS)objcopy -O binary --set-section-flags .stacks=alloc,load,contents
HYP_LIBGCC = $(shell $(CROSS)gcc -march=$(HYP_ISA) -mabi=lp64 -print-libgcc-file-name)

# The only file that accesses floating-point registers; the ABI stays soft-float.
%/obj/arch/riscv/fp.S.o: private HYP_ISA := rv64imafdc
