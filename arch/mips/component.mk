# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix arch/mips/,emulate.c main.c vcpu.c vm.c wide.c)
