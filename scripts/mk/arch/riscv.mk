# SPDX-License-Identifier: Apache-2.0
# Compiles the hypervisor for RISC-V by gcc, or with HYP_CC=clang by clang.
HYP_CC ?= $(CROSS)gcc
HYP_ISA := rv64imac
# The call graph with the frames is for the depth of the stack
# (scripts/tessera/verify/stack_depth.py).
HYP_GCC = -march=$(HYP_ISA)_zicsr_zifencei -fcallgraph-info=su
HYP_CLANG = --target=riscv64-unknown-elf -march=$(HYP_ISA) -mno-relax
HYP_TARGET = $(if $(findstring clang,$(HYP_CC)),$(HYP_CLANG),$(HYP_GCC)) -mabi=lp64 -mcmodel=medany
HYP_TINY_OPT := -msave-restore
HYP_LD = $(CROSS)ld
HYP_OBJCOPY = $(CROSS)objcopy -O binary --set-section-flags .stacks=alloc,load,contents
HYP_LIBGCC = $(shell $(CROSS)gcc -march=$(HYP_ISA) -mabi=lp64 -print-libgcc-file-name)

# The only file that accesses floating-point registers; the ABI stays soft-float.
$(HYP_BUILD)/obj/arch/riscv/fp.S.o: private HYP_ISA := rv64imafdc
