# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix arch/riscv/fwtree/,check.c)
