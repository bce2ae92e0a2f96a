# SPDX-License-Identifier: Apache-2.0
# The hypervisor. HYP_CC=clang builds it with clang, HYP_BUILD names another output folder.
CROSS ?= riscv64-unknown-elf-
HYP_CC ?= $(CROSS)gcc
HYP_BUILD ?= $(BUILD)/hyp/$(BOARD)
HYP_OPT ?= -O2

HYP_ARCH := riscv
HYP_DIRS := core core/lib rt arch/$(HYP_ARCH) platform/$(BOARD) platform/drivers
HYP_SRCS := $(sort $(wildcard $(addsuffix /*.c,$(HYP_DIRS)) $(addsuffix /*.S,$(filter-out platform/%,$(HYP_DIRS)))))
HYP_OBJS := $(patsubst %,$(HYP_BUILD)/obj/%.o,$(HYP_SRCS))

HYP_WARN := -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wvla -Wswitch-default -Wundef -Wpointer-arith \
            -Wstrict-prototypes -Wmissing-prototypes -pedantic -Werror
HYP_INC := -Icore/include -Irt/include -Iarch/include -Iarch/$(HYP_ARCH)/include -Iarch/$(HYP_ARCH) -Iplatform -Iplatform/$(BOARD)
HYP_ISA := rv64imac
HYP_GCC = -march=$(HYP_ISA)_zicsr_zifencei
HYP_CLANG = --target=riscv64-unknown-elf -march=$(HYP_ISA) -mno-relax
HYP_TARGET = $(if $(findstring clang,$(HYP_CC)),$(HYP_CLANG),$(HYP_GCC))
HYP_CFLAGS = $(HYP_TARGET) -mabi=lp64 -mcmodel=medany -std=gnu11 -ffreestanding -fno-common -fno-stack-protector \
             -fno-pic -fno-builtin-printf -ffunction-sections -g $(HYP_OPT) $(HYP_WARN) $(HYP_INC) -MMD -MP

# What does not run while guests do, or whose length nobody waits for, or that is as short then, is compiled for size.
HYP_SMALL := core/console.c core/console_keys.c core/guestmem.c core/hypercall.c core/memmap.c core/sched_be.c \
             core/sysimage.c core/system.c core/timer.c core/trace.c core/vcpu.c core/vm.c core/vmload.c core/vuart.c \
             core/lib/format.c rt/admit.c rt/apps.c arch/riscv/fence.c arch/riscv/hart.c arch/riscv/hostmap.c \
             arch/riscv/main.c arch/riscv/pagetable.c arch/riscv/plic.c arch/riscv/probe.c arch/riscv/sbi_call.c \
             arch/riscv/sbi_console.c arch/riscv/sbi_hsm.c arch/riscv/sbi_time.c arch/riscv/vm.c arch/riscv/vplic.c
$(HYP_SMALL:%=$(HYP_BUILD)/obj/%.o): HYP_OPT := -Os

# The one file that touches floating-point registers; the ABI stays soft-float.
$(HYP_BUILD)/obj/arch/riscv/fp.S.o: HYP_ISA := rv64imafdc

hyp: $(HYP_BUILD)/tessera.bin ## build the hypervisor alone

$(HYP_BUILD)/obj/%.c.o: %.c Makefile scripts/mk/hyp.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(HYP_CC) $(HYP_CFLAGS) -c -o $@ $<

$(HYP_BUILD)/obj/%.S.o: %.S Makefile scripts/mk/hyp.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(HYP_CC) $(HYP_CFLAGS) -c -o $@ $<

$(HYP_BUILD)/hypervisor.lds: platform/$(BOARD)/hypervisor.lds.S
	@mkdir -p $(@D)
	@$(HYP_CC) $(HYP_CFLAGS) -E -P -x assembler-with-cpp -MT $@ -o $@ $<

# --gc-sections drops what a board does not use; -z max-page-size keeps the file as small as its content.
$(HYP_BUILD)/tessera.elf: $(HYP_OBJS) $(HYP_BUILD)/hypervisor.lds
	@echo "  LD    $@"
	@$(CROSS)ld -T $(HYP_BUILD)/hypervisor.lds --gc-sections -z max-page-size=4096 -Map=$(HYP_BUILD)/tessera.map \
		-o $@ $(HYP_OBJS)

$(HYP_BUILD)/tessera.bin: $(HYP_BUILD)/tessera.elf
	@$(CROSS)objcopy -O binary --set-section-flags .stacks=alloc,load,contents $< $@

-include $(HYP_OBJS:.o=.d)

.PHONY: hyp
