# SPDX-License-Identifier: Apache-2.0
FOR_SIZE += $(addprefix arch/riscv/,fence.c hart.c hostmap.c main.c pagetable.c plic.c probe.c \
            sbi_call.c sbi_console.c sbi_hsm.c sbi_time.c vm.c)
