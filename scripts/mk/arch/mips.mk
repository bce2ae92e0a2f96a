# SPDX-License-Identifier: Apache-2.0
# How the hypervisor is compiled for MIPS VZ: by clang and lld. Without a debugger's end, which this architecture has not.
HYP_CC ?= clang
HYP_ROOMS ?= rt ipc operator
HYP_TARGET = --target=mipsel-none-elf -mips32r5 -mvirt -msoft-float -mno-abicalls -G0 -fomit-frame-pointer -mno-check-zero-division -mllvm -mips-tail-calls=1 -mllvm -disable-mips-df-succbb-search=false -mllvm -disable-mips-df-forward-search=false -Wno-atomic-alignment
HYP_LD = ld.lld
# No other architecture's objcopy knows MIPS, but all know ELF files of 32 bits.
HYP_OBJCOPY = $(CROSS)objcopy -I elf32-little -O binary -R .reset
