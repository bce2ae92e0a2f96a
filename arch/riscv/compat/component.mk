# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix arch/riscv/compat/,sbi_legacy.c vfinisher.c vpanic.c vrtc.c)
