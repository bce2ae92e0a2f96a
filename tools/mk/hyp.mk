# SPDX-License-Identifier: Apache-2.0
# The hypervisor. HYP_CC=clang compiles it by clang, HYP_BUILD sets the output folder.
CROSS ?= riscv64-unknown-elf-
HYP_BUILD ?= $(BUILD)/hyp/$(BOARD)$(if $(filter size,$(HYP_FOR)),-size)$(if $(filter sorter,$(HYP_RT_QUEUE)),-sorter)$(if $(filter sorter,$(HYP_TIMERS)),-timers)$(HYP_UNUSED:%=-without-%)
HYP_OPT ?= -O2

# Compiler, linker and flags of the board's architecture. A board without a board.mk is a RISC-V
# board.
HYP_ARCH := riscv
-include platform/$(BOARD)/board.mk
include tools/mk/arch/$(HYP_ARCH).mk

# What a system can do without (core/include/component.h): real time, messages, the debugger's stub, the console's multiplexer and
# keys, guests' random seeds, what guests written for QEMU's virt machine expect, a check of the firmware's device tree,
# accelerators, devices shared by hardware, virtual PCI functions. A component is a folder, or the folder of its name in
# arch/<isa>, or both; one of them has its component.c. HYP_COMPONENTS names them without services/ and devices/; a folder
# elsewhere by its path. An architecture has all of them by default, or those that its file above names.
COMPONENTS := $(filter-out core,$(patsubst %/component.c,%,$(wildcard */component.c services/*/component.c devices/*/component.c)))
COMPONENTS += $(foreach name,$(sort $(notdir $(patsubst %/component.c,%,$(wildcard arch/*/*/component.c)))),\
                $(firstword $(wildcard services/$(name) devices/$(name)) $(name)))
# The console of a hypervisor without the component console (core/include/console.h).
PLAIN_CONSOLE := services/serial
HYP_COMPONENTS ?= $(notdir $(COMPONENTS))

# `make image` leaves out what its system does not need (IMAGE_FILES), unless the user says what the hypervisor has.
# Only virtio is left out: it is the largest component, and few systems need it.
HYP_UNUSED := $(if $(and $(filter image-file,$(MAKECMDGOALS)),$(filter file,$(origin HYP_COMPONENTS))),$(filter-out $(IMAGE_FILES),$(filter virtio,$(HYP_COMPONENTS))))
HYP_COMPONENTS := $(filter-out $(HYP_UNUSED),$(HYP_COMPONENTS))
HYP_FOLDERS := $(foreach name,$(HYP_COMPONENTS),$(or $(filter $(name) %/$(name),$(COMPONENTS)),$(name)))

# $(call component_slots,FOLDERS): each component's place in the `data` of a VCPU, and their number, at least 1.
component_slots = $(shell n=0; for c in $(notdir $(1)); do echo -DCOMPONENT_$${c^^}=$${n}U; n=$$((n + 1)); done; \
                    echo -DCOMPONENTS=$$((n > 0 ? n : 1))U)

# Folders with the board's drivers, which several boards may share.
HYP_DRIVERS ?= platform/drivers

# The queues of the real-time class, and the timers: heap, in software, or sorter, in the fabric of a board that has one
# (docs/real-time.md).
HYP_RT_QUEUE ?= heap
HYP_TIMERS ?= heap
HYP_FABRIC := $(wildcard $(addsuffix /fabric.c,platform/$(BOARD) $(HYP_DRIVERS)))
define queue_kind
ifeq ($$(filter heap sorter,$$($(1))),)
$$(error $(1)=$$($(1)): expected heap or sorter)
endif
ifeq ($$($(1))$$(HYP_FABRIC),sorter)
$$(error $(1)=sorter: board $$(BOARD) has no fabric (no fabric.c in $$(strip platform/$$(BOARD) $$(HYP_DRIVERS))); use $(1)=heap)
endif
endef
$(eval $(call queue_kind,HYP_RT_QUEUE))
$(eval $(call queue_kind,HYP_TIMERS))
HYP_SORTERS := $(filter sorter,$(HYP_RT_QUEUE) $(HYP_TIMERS))

# For these kinds of RT queue and of timers: $(call queue_sources,RT,TIMERS,SOURCES) is SOURCES without the other kinds, and
# $(call queue_flags,RT,TIMERS) the compiler's options; SORTERS_A_CPU is the number of sorters for each hart.
queue_sources = $(filter-out $(filter-out rt/queue_$(1)%,$(wildcard rt/queue_*.c)) $(filter-out core/timers_$(2)%,$(wildcard core/timers_*.c)) \
                $(if $(filter sorter,$(1) $(2)),,core/sorter% $(HYP_FABRIC)),$(3))
queue_flags = $(if $(filter sorter,$(1)),-DRT_QUEUE_SORTER) $(if $(filter sorter,$(2)),-DTIMERS_SORTER) \
              $(if $(filter sorter,$(1) $(2)),-DSORTERS_A_CPU=$(if $(filter sorter,$(1)),$(if $(filter sorter,$(2)),3U,2U),1U))

HYP_DIRS := core core/lib $(if $(filter console,$(HYP_COMPONENTS)),,$(PLAIN_CONSOLE)) $(wildcard $(HYP_FOLDERS) $(addprefix arch/$(HYP_ARCH)/,$(notdir $(HYP_FOLDERS)))) arch/$(HYP_ARCH) $(HYP_VARIANT) platform/$(BOARD) $(HYP_DRIVERS)
HYP_SRCS := $(sort $(wildcard $(addsuffix /*.c,$(HYP_DIRS)) $(addsuffix /*.S,$(filter-out platform/%,$(HYP_DIRS)))))
HYP_OFFSETS := arch/$(HYP_ARCH)/asm_offsets.c
HYP_SRCS := $(call queue_sources,$(HYP_RT_QUEUE),$(HYP_TIMERS),$(filter-out $(HYP_OFFSETS),$(HYP_SRCS)))
HYP_OBJS := $(patsubst %,$(HYP_BUILD)/obj/%.o,$(HYP_SRCS))

HYP_WARN := -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wvla -Wswitch-default -Wundef -Wpointer-arith \
            -Wstrict-prototypes -Wmissing-prototypes -pedantic -Werror
# Each layer's sources are compiled with the folders of the layers below only, so that the compiler refuses an include of another
# one: core's know no component and nothing of the architecture but its part of the contract (arch/<isa>/include), a component's
# know the headers of the components that it uses. A source finds the headers of its own folder without an option.
HYP_INC := $(call component_slots,$(HYP_FOLDERS)) $(call queue_flags,$(HYP_RT_QUEUE),$(HYP_TIMERS)) -Iabi -Icore/include -Iarch/include -Iarch/$(HYP_ARCH)/include $(addprefix -I,$(HYP_VARIANT)) -Iplatform -Iplatform/$(BOARD) -I$(HYP_BUILD)/include
# $(call folders_of,NAMES): the folders of components, and their headers for others.
folders_of = $(foreach name,$(1),$(filter $(name) %/$(name),$(COMPONENTS) $(HYP_FOLDERS)))
headers_of = $(patsubst %,-I%,$(wildcard $(addsuffix /include,$(call folders_of,$(1)))))
HYP_CFLAGS = $(HYP_TARGET) -std=gnu11 -ffreestanding -fno-common -fno-stack-protector \
             -fno-pic -fno-builtin-printf -ffunction-sections -g $(HYP_OPT) $(HYP_LIMITS) $(HYP_WARN) $(HYP_INC) $(HYP_USED) $(HYP_ARCH_INC) $(HYP_FABRIC_INC) -MMD -MP

# What is optimized for size: code that does not run between guests' instructions, or whose time no goal limits. Each folder
# lists its own in component.mk; also the sources that may include the fabric's headers (FABRIC_USERS), and the components
# whose headers a component may include (USES_<name>).
FOR_SIZE :=
FABRIC_USERS := $(HYP_FABRIC)
-include $(wildcard $(addsuffix /component.mk,$(HYP_DIRS)))
$(foreach dir,$(HYP_FOLDERS) $(addprefix arch/$(HYP_ARCH)/,$(notdir $(HYP_FOLDERS))),\
    $(eval $(HYP_BUILD)/obj/$(dir)/%.o: private HYP_USED := $(call headers_of,$(notdir $(dir)) $(USES_$(notdir $(dir))))))
$(HYP_BUILD)/obj/arch/%.o: private HYP_ARCH_INC := -Iarch/$(HYP_ARCH)
$(FABRIC_USERS:%=$(HYP_BUILD)/obj/%.o): private HYP_FABRIC_INC := -Ifpga/hw/include
$(FOR_SIZE:%=$(HYP_BUILD)/obj/%.o): private HYP_OPT := -Os

hyp: $(HYP_BUILD)/tessera.bin ## build the hypervisor alone

# Changes with the compiler, the flags and the components, so that everything is recompiled.
$(HYP_BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(HYP_CC) $(HYP_CFLAGS) $(HYP_SRCS) $(FOR_SIZE)' | cmp -s - $@ || echo '$(HYP_CC) $(HYP_CFLAGS) $(HYP_SRCS) $(FOR_SIZE)' >$@

$(HYP_BUILD)/obj/%.c.o: %.c $(HYP_BUILD)/flags Makefile tools/mk/hyp.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@echo '$(HYP_CFLAGS) $<' >$(@:.o=.args)
	@$(HYP_CC) $(HYP_CFLAGS) -c -o $@ $<

# Offsets of C structures for assembly (core/include/asm_offset.h).
$(HYP_BUILD)/include/asm_offsets.h: $(HYP_OFFSETS) $(HYP_BUILD)/flags Makefile tools/mk/hyp.mk
	@mkdir -p $(@D)
	@$(HYP_CC) $(HYP_CFLAGS) -fno-lto -S -MF $(@:.h=.d) -MT $@ -o $(@:.h=.s) $<
	@sed -nE 's/.*"->([A-Z0-9_]+) (-?[0-9]+)".*/#define \1 \2/p' $(@:.h=.s) >$@

$(HYP_BUILD)/obj/%.S.o: %.S $(HYP_BUILD)/include/asm_offsets.h $(HYP_BUILD)/flags Makefile tools/mk/hyp.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(HYP_CC) $(HYP_CFLAGS) $(HYP_ASFLAGS) -c -o $@ $<

$(HYP_BUILD)/hypervisor.lds: platform/$(BOARD)/hypervisor.lds.S $(HYP_BUILD)/flags
	@mkdir -p $(@D)
	@$(HYP_CC) $(HYP_CFLAGS) -E -P -x assembler-with-cpp -MT $@ -o $@ $<

# HYP_LINK_BY: prefix of linker options if the compiler calls the linker. HYP_WRAP: functions that a test
# replaces by its own __wrap_<name>, which can call __real_<name>.
HYP_WRAP ?=
HYP_LDFLAGS = $(addprefix $(HYP_LINK_BY),$(HYP_WRAP:%=--wrap=%) -T $(HYP_BUILD)/hypervisor.lds --gc-sections -z max-page-size=4096 \
                                         -Map=$(HYP_BUILD)/tessera.map)

# --gc-sections removes code that a board does not use; -z max-page-size avoids padding in the file.
$(HYP_BUILD)/tessera.elf: $(HYP_OBJS) $(HYP_BUILD)/hypervisor.lds
	@echo "  LD    $@"
	@$(HYP_LD) $(HYP_LDFLAGS) -o $@ $(HYP_OBJS) $(HYP_LIBGCC)

$(HYP_BUILD)/tessera.bin: $(HYP_BUILD)/tessera.elf
	@$(HYP_OBJCOPY) $< $@

-include $(HYP_OBJS:.o=.d) $(HYP_BUILD)/include/asm_offsets.d $(HYP_BUILD)/hypervisor.d

.PHONY: hyp
