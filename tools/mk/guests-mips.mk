# SPDX-License-Identifier: Apache-2.0
# The bare-metal guests for MIPS32, which share the portable sources: natively on iasim's generic board, and in a VM.
# Included after guests-bare.mk, whose warnings and lists it uses.

MIPS_OUT ?= $(BUILD)/guests-mips
MIPS_CC := clang --target=mipsel-none-elf
MIPS_LD := ld.lld
MIPS_CFLAGS := -std=c11 -O2 -g -mips32r5 -mvirt -msoft-float -mno-abicalls -fno-pic -G0 -ffreestanding -nostdlibinc \
	-fomit-frame-pointer -mno-check-zero-division -fno-common -ffunction-sections -fdata-sections -fno-stack-protector -fno-asynchronous-unwind-tables \
	-Iabi -Iguests/sdk/include -Iguests/sdk/mips/include -isystem guests/sdk/libc
MIPS_LDFLAGS := -nostdlib -static -T guests/sdk/mips/guest.ld --gc-sections -z max-page-size=16 --build-id=none
MIPS_LIB := $(wildcard guests/sdk/*.c guests/sdk/libc/*.c guests/sdk/mips/*.S guests/sdk/mips/*.c)
MIPS_SDK := $(wildcard guests/sdk/*.c guests/sdk/*/*.c guests/sdk/mips/*.S)
mips_objects = $(patsubst %,$(MIPS_OUT)/$(1)/obj/%.o,$(basename $(2)))

# $(call mips_rules,name or sdk,flags): the rules for the objects of a guest, or of the SDK, which the guests share.
define mips_rules
$(MIPS_OUT)/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$(MIPS_CC) $(2) $$(MIPS_CFLAGS)' | cmp -s - $$@ || echo '$$(MIPS_CC) $(2) $$(MIPS_CFLAGS)' >$$@

$(MIPS_OUT)/$(1)/obj/%.o: %.c $(MIPS_OUT)/$(1)/flags tools/mk/guests-mips.mk | setup-dev
	@mkdir -p $$(@D)
	@echo "  CC    $$<"
	@$$(MIPS_CC) $(2) $$(MIPS_CFLAGS) $$(BARE_WARNINGS) $$(MIPS_EXTRA) -MMD -MP -c -o $$@ $$<

$(MIPS_OUT)/$(1)/obj/%.o: %.S $(MIPS_OUT)/$(1)/flags tools/mk/guests-mips.mk | setup-dev
	@mkdir -p $$(@D)
	@echo "  AS    $$<"
	@$$(MIPS_CC) $(2) $$(MIPS_CFLAGS) -MMD -MP -c -o $$@ $$<
endef

$(eval $(call mips_rules,sdk))
$(MIPS_OUT)/sdk/obj/guests/sdk/libc/string.o: MIPS_EXTRA := -fno-builtin
-include $(patsubst %.o,%.d,$(call mips_objects,sdk,$(MIPS_SDK)))

# $(call mips_all,name,sources): the guest's own objects and those of the SDK that it links.
mips_all = $(call mips_objects,$(1),$(call own_sources,$(2))) $(call mips_objects,sdk,$(filter guests/sdk/%,$(2)) $(MIPS_LIB))

# $(call mips_guest,name,sources,flags,further objects): rules for $(MIPS_OUT)/name/name.elf and name.bin. Linked
# twice: the linker writes the raw image, too, because objcopy may be missing for this machine.
define mips_guest
MIPS_GUESTS += $(MIPS_OUT)/$(1)/$(1).bin

$(MIPS_OUT)/$(1)/$(1).elf: $(call mips_all,$(1),$(2)) $(4) guests/sdk/mips/guest.ld
	@echo "  LD    $$@"
	@$$(MIPS_LD) $$(MIPS_LDFLAGS) -o $$@ $$(filter %.o,$$^)

$(MIPS_OUT)/$(1)/$(1).bin: $(MIPS_OUT)/$(1)/$(1).elf
	@$$(MIPS_LD) $$(MIPS_LDFLAGS) --oformat=binary -o $$@ $(call mips_all,$(1),$(2)) $(4)

$(call mips_rules,$(1),$(3))

-include $(patsubst %.o,%.d,$(call mips_objects,$(1),$(call own_sources,$(2))) $(4))
endef

# The unmodified FreeRTOS kernel, on the port in guests/examples/freertos/port/mips.
mips_freertos_kernel = $(patsubst %,$(MIPS_OUT)/$(1)/kernel/%.o,$(FREERTOS_KERNEL_SOURCES))
# $(call mips_freertos_flags,tick in Hz,heap in KiB)
mips_freertos_flags = -DFREERTOS_TICK_HZ=$(1) -DPORT_HEAP_KIB=$(2) -Iguests/examples/freertos/port/mips -Iguests/examples/freertos/demo \
	-Iguests/examples/freertos/demo/mips -isystem $(FREERTOS_KERNEL_DIR)/include

# $(call mips_freertos,name,sources,tick in Hz,heap in KiB,further flags): a guest of the given sources, the port and the kernel.
define mips_freertos
$(call mips_guest,$(1),$(2),$(call mips_freertos_flags,$(3),$(4)) $(5),$(call mips_freertos_kernel,$(1)))

$(MIPS_OUT)/$(1)/kernel/%.o: $(MIPS_OUT)/$(1)/flags tools/mk/guests-mips.mk | setup-dev freertos-kernel
	@mkdir -p $$(@D)
	@echo "  CC    $(FREERTOS_KERNEL_DIR)/$$*.c"
	@$$(MIPS_CC) $(call mips_freertos_flags,$(3),$(4)) $$(MIPS_CFLAGS) -Wall -MD -MP -c -o $$@ $(FREERTOS_KERNEL_DIR)/$$*.c

$(call mips_objects,$(1),$(call own_sources,$(2))): | freertos-kernel
endef

MIPS_FREERTOS_PORT := $(wildcard guests/examples/freertos/port/mips/*.c guests/examples/freertos/port/mips/*.S)
MIPS_FREERTOS_DEMO := $(wildcard guests/examples/freertos/demo/*.c guests/examples/freertos/demo/mips/*.c guests/examples/freertos/demo/mips/*.S)

MIPS_ADPCM_FREERTOS := $(ADPCM_SOURCES) $(wildcard guests/examples/adpcm/freertos/*.c) guests/examples/freertos/demo/hooks.c $(MIPS_FREERTOS_PORT)

$(eval $(call mips_freertos,freertos,$(MIPS_FREERTOS_PORT) $(MIPS_FREERTOS_DEMO),$(FREERTOS_TICK_HZ),40))
$(eval $(call mips_guest,adpcm-bare,$(ADPCM_SOURCES) $(wildcard guests/examples/adpcm/bare/*.c),-Iguests/examples/adpcm))
$(eval $(call mips_freertos,adpcm-freertos,$(MIPS_ADPCM_FREERTOS),$(ADPCM_TICK_HZ),10,-Iguests/examples/adpcm))
$(eval $(call mips_freertos,adpcm-model,$(MIPS_ADPCM_FREERTOS),$(ADPCM_MODEL_TICK_HZ),10,-Iguests/examples/adpcm))
$(eval $(call mips_guest,rtm,$(wildcard guests/examples/rtm/*.c guests/examples/rtm/mips/*.c guests/examples/rtm/mips/*.S),-Iguests/examples/rtm/mips -Iguests/examples/rtm))
MIPS_MISBEHAVE := $(wildcard tests/guests/misbehave/*.c tests/guests/misbehave/mips/*.c tests/guests/misbehave/mips/*.S)
$(eval $(call mips_guest,misbehave,$(MIPS_MISBEHAVE),-Itests/guests/misbehave))
MIPS_MAILBOX := $(MAILBOX_SERVER) guests/examples/freertos/demo/hooks.c $(MIPS_FREERTOS_PORT)
$(eval $(call mips_freertos,mailbox,$(MIPS_MAILBOX),$(FREERTOS_TICK_HZ),10,-Iguests/examples/mailbox -Iguests/examples/mailbox/mips))
$(eval $(call mips_guest,mailbox-client,$(MAILBOX_CLIENT),-Iguests/examples/mailbox -Iguests/examples/mailbox/mips))
MIPS_ATTACKER := $(wildcard tests/guests/attacker/*.c tests/guests/attacker/mips/*.c tests/guests/attacker/mips/*.S)
$(eval $(call mips_guest,attacker,$(MIPS_ATTACKER),-Itests/guests/attacker -Itests/guests/attacker/mips -DHCALL_NUMBERS=$$(HCALL_NUMBERS)))
$(eval $(call mips_guest,ticker,$(wildcard tests/guests/ticker/*.c),-DTICKER_BUDGET_US=100 -DTICKER_DEADLINE_US=400))
$(eval $(call mips_guest,pingpong,$(wildcard guests/examples/pingpong/*.c)))
# For the benchmark: the codec for twelve times as long, and the guest that measures calls.
$(eval $(call mips_freertos,adpcm-long,$(MIPS_ADPCM_FREERTOS),$(ADPCM_TICK_HZ),10,-Iguests/examples/adpcm -DWORK_FRAMES=1200U))
$(eval $(call mips_freertos,thread_metric,$(THREAD_METRIC) $(wildcard tests/guests/thread_metric/mips/*.c) $(MIPS_FREERTOS_PORT),$(FREERTOS_TICK_HZ),16,-Itests/guests/thread_metric))
$(eval $(call mips_freertos,response,$(RESPONSE) $(wildcard tests/guests/response/mips/*.c) $(MIPS_FREERTOS_PORT),$(FREERTOS_TICK_HZ),16,$(RESPONSE_FLAGS)))
$(eval $(call mips_guest,slices,$(wildcard tests/guests/slices/*.c)))
$(eval $(call mips_guest,switched,$(wildcard tests/guests/switched/*.c)))
$(eval $(call mips_guest,cost,$(wildcard tests/guests/cost/*.c)))
$(eval $(call mips_guest,greet,$(wildcard guests/examples/greet/*.c)))

guests-mips: $(MIPS_GUESTS) ## build the bare-metal guests for MIPS32

test-guests: guests-bare guests-mips iasim | setup-dev ## the bare-metal guests natively, and their SDK on this machine
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider -n 2 --dist loadfile $(PYTEST_ONLY) tests/guests

.PHONY: guests-mips test-guests
