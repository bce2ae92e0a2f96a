# SPDX-License-Identifier: Apache-2.0
# The M-mode firmware of RISC-V boards: build/firmware/$(BOARD)/firmware.bin, for the address 0x80000000
# (docs/porting.md#the-firmware). FIRMWARE_HIDE: time or mtime, for tests (arch/riscv/firmware/firmware.h); FW_BUILD sets the output folder.
FIRMWARE_HIDE ?=
FW_BUILD ?= $(BUILD)/firmware/$(BOARD)
FW_HIDE_time := HIDE_TIME
FW_HIDE_mtime := HIDE_MTIME
FW_HIDE = $(foreach part,$(FIRMWARE_HIDE),$(or $(FW_HIDE_$(part)),$(error FIRMWARE_HIDE=$(part): expected time or mtime))|)0UL
FW_SRCS := $(wildcard arch/riscv/firmware/*.c arch/riscv/firmware/*.S $(addsuffix /*.c,$(filter platform/%,$(HYP_DIRS))))
FW_OBJS := $(patsubst %,$(FW_BUILD)/obj/%.o,$(FW_SRCS))
FW_CFLAGS = $(HYP_TARGET) -std=gnu11 -ffreestanding -fno-common -fno-stack-protector -fno-pic -ffunction-sections -g -O2 \
            $(HYP_WARN) '-DFIRMWARE_HIDE=($(FW_HIDE))' -Iabi -Ifpga/hw/include -Icore/include -Iarch/include -Iarch/riscv/include -Iplatform -Iplatform/$(BOARD) -MMD -MP

firmware: $(FW_BUILD)/firmware.bin ## build the M-mode firmware of a RISC-V board (PLATFORM=, docs/porting.md#the-firmware)

$(FW_BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo "$(HYP_CC) $(FW_CFLAGS)" | cmp -s - $@ || echo "$(HYP_CC) $(FW_CFLAGS)" >$@

$(FW_BUILD)/obj/%.o: % $(FW_BUILD)/flags tools/mk/hyp_firmware.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(HYP_CC) $(FW_CFLAGS) -c -o $@ $<

$(FW_BUILD)/firmware.elf: $(FW_OBJS) arch/riscv/firmware/firmware.lds
	@echo "  LD    $@"
	@$(HYP_LD) -T arch/riscv/firmware/firmware.lds --gc-sections -z max-page-size=4096 -o $@ $(FW_OBJS) $(HYP_LIBGCC)

$(FW_BUILD)/firmware.bin: $(FW_BUILD)/firmware.elf
	@$(CROSS)objcopy -O binary $< $@

-include $(FW_OBJS:.o=.d)

.PHONY: firmware
