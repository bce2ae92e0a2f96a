# SPDX-License-Identifier: Apache-2.0
# How the hypervisor is compiled for MIPS VZ: by clang and lld. Without a debugger's end, which this architecture has not.
HYP_CC ?= clang
HYP_ROOMS ?= rt ipc operator
HYP_TARGET = --target=mipsel-none-elf -mips32r5 -mvirt -msoft-float -mno-abicalls -G0 -Wno-atomic-alignment
HYP_LD = ld.lld
HYP_OBJCOPY = llvm-objcopy -O binary -R .reset
