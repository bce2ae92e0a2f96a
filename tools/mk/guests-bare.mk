# SPDX-License-Identifier: Apache-2.0
# The bare-metal guests of guests/examples and tests/guests. They share the objects of the SDK (guests/sdk), which is
# compiled with floating point and without.

BARE_OUT ?= $(BUILD)/guests
FREERTOS_KERNEL_DIR ?= $(CACHE)/freertos/FreeRTOS-Kernel
FREERTOS_TICK_HZ ?= 1000

# gcc, or clang with lld (without relaxation, which lld supports from version 15 on):
# make guests-bare BARE_TOOLCHAIN=clang BARE_OUT=build/guests-clang
BARE_TOOLCHAIN ?= gcc
BARE_CC_gcc := riscv64-unknown-elf-gcc
BARE_CC_clang := clang --target=riscv64-unknown-elf -mno-relax
BARE_CC := $(BARE_CC_$(BARE_TOOLCHAIN))
BARE_OBJCOPY := riscv64-unknown-elf-objcopy

# gcc requires the CSR instructions in -march; clang 14 includes them in the base and rejects the name.
BARE_ZICSR_gcc := _zicsr_zifencei
BARE_NOFP := -march=rv64imac$(BARE_ZICSR_$(BARE_TOOLCHAIN)) -mabi=lp64
BARE_FP := -march=rv64imafdc$(BARE_ZICSR_$(BARE_TOOLCHAIN)) -mabi=lp64d

BARE_WARNINGS := -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wvla -Wswitch-default -Wundef \
	-Wstrict-prototypes -Wmissing-prototypes -pedantic -Werror
BARE_CFLAGS_clang := -nostdlibinc
BARE_CFLAGS := -std=c11 -O2 -g -mcmodel=medany -ffreestanding -fno-common -ffunction-sections -fdata-sections -fno-pic \
	-fno-stack-protector -fno-asynchronous-unwind-tables $(BARE_CFLAGS_$(BARE_TOOLCHAIN)) \
	-Iabi -Ifpga/hw/include -Iguests/sdk/include -Iguests/sdk/riscv/include -isystem guests/sdk/libc
# Small pages in the ELF file: larger pages would pad the raw image.
BARE_LDFLAGS_clang := -fuse-ld=lld
BARE_LDFLAGS := $(BARE_LDFLAGS_$(BARE_TOOLCHAIN)) -nostdlib -static -T guests/sdk/riscv/guest.ld \
	-Wl,--gc-sections -Wl,-z,max-page-size=16 -Wl,--build-id=none

# The compiler must not turn the loop of memcpy into a call of memcpy.
BARE_NO_IDIOMS_gcc := -fno-tree-loop-distribute-patterns
BARE_NO_IDIOMS := -fno-builtin $(BARE_NO_IDIOMS_$(BARE_TOOLCHAIN))

BARE_LIB := $(wildcard guests/sdk/*.c guests/sdk/libc/*.c guests/sdk/riscv/*.S guests/sdk/riscv/*.c)
BARE_SDK := $(wildcard guests/sdk/*.[cS] guests/sdk/*/*.[cS])
# $(call bare_objects,name or sdk/kind,sources): those of the guest itself, or of the SDK.
bare_objects = $(patsubst %,$(BARE_OUT)/$(1)/obj/%.o,$(basename $(2)))
own_sources = $(filter-out guests/sdk/%,$(1))
bare_kind = $(if $(findstring lp64d,$(1)),fp,nofp)

# $(call bare_rules,name or sdk/kind,flags): the rules for these objects. The file `flags` changes with the compiler, tick or
# kernel, so that all objects are rebuilt.
define bare_rules
$(BARE_OUT)/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$(BARE_CC) $(2) $$(BARE_CFLAGS)' | cmp -s - $$@ || echo '$$(BARE_CC) $(2) $$(BARE_CFLAGS)' >$$@

$(BARE_OUT)/$(1)/obj/%.o: %.c $(BARE_OUT)/$(1)/flags tools/mk/guests-bare.mk | setup
	@mkdir -p $$(@D)
	@echo "  CC    $$<"
	@$$(BARE_CC) $(2) $$(BARE_CFLAGS) $$(BARE_WARNINGS) $$(BARE_EXTRA) -MMD -MP -c -o $$@ $$<

$(BARE_OUT)/$(1)/obj/%.o: %.S $(BARE_OUT)/$(1)/flags tools/mk/guests-bare.mk | setup
	@mkdir -p $$(@D)
	@echo "  AS    $$<"
	@$$(BARE_CC) $(2) $$(BARE_CFLAGS) -MMD -MP -c -o $$@ $$<
endef

$(eval $(call bare_rules,sdk/fp,$(BARE_FP)))
$(eval $(call bare_rules,sdk/nofp,$(BARE_NOFP)))
$(BARE_OUT)/sdk/fp/obj/guests/sdk/libc/string.o $(BARE_OUT)/sdk/nofp/obj/guests/sdk/libc/string.o: BARE_EXTRA := $(BARE_NO_IDIOMS)
-include $(foreach kind,fp nofp,$(patsubst %.o,%.d,$(call bare_objects,sdk/$(kind),$(BARE_SDK))))

# $(call bare_guest,name,sources,flags,further objects): rules for $(BARE_OUT)/name/name.elf and name.bin.
define bare_guest
BARE_GUESTS += $(BARE_OUT)/$(1)/$(1).bin

$(BARE_OUT)/$(1)/$(1).elf: $(call bare_objects,$(1),$(call own_sources,$(2))) $(call bare_objects,sdk/$(call bare_kind,$(3)),$(filter guests/sdk/%,$(2)) $(BARE_LIB)) $(4) guests/sdk/riscv/guest.ld
	@echo "  LD    $$@"
	@$$(BARE_CC) $(3) $$(BARE_LDFLAGS) -o $$@ $$(filter %.o,$$^)

$(BARE_OUT)/$(1)/$(1).bin: $(BARE_OUT)/$(1)/$(1).elf
	@$$(BARE_OBJCOPY) -O binary $$< $$@

$(call bare_rules,$(1),$(3))

-include $(patsubst %.o,%.d,$(call bare_objects,$(1),$(call own_sources,$(2))) $(4))
endef

# The unmodified FreeRTOS kernel, compiled without our warnings.
FREERTOS_KERNEL_SOURCES := tasks queue list timers portable/MemMang/heap_4
freertos_kernel_objects = $(patsubst %,$(BARE_OUT)/$(1)/kernel/%.o,$(FREERTOS_KERNEL_SOURCES))
# $(call freertos_flags,tick in Hz)
freertos_flags = $(BARE_FP) -DFREERTOS_TICK_HZ=$(1) -Iguests/examples/freertos/port/riscv -Iguests/examples/freertos/demo \
	-Iguests/examples/freertos/demo/riscv \
	-isystem $(FREERTOS_KERNEL_DIR)/include

# Phony, hence an order-only prerequisite: the kernel must exist, but its age does not matter.
freertos-kernel: | fetch-freertos
	@test -f $(FREERTOS_KERNEL_DIR)/tasks.c || { \
	    echo "FREERTOS_KERNEL_DIR=$(FREERTOS_KERNEL_DIR): no tasks.c there; expected the sources of FreeRTOS 11.2.0" >&2; \
	    exit 1; }

# $(call freertos_guest,name,sources,tick in Hz,further flags,further objects): a guest of the given sources, the port and the kernel.
define freertos_guest
$(call bare_guest,$(1),$(2),$(call freertos_flags,$(3)) $(4),$(call freertos_kernel_objects,$(1)) $(5))

$(BARE_OUT)/$(1)/kernel/%.o: $(BARE_OUT)/$(1)/flags tools/mk/guests-bare.mk | setup freertos-kernel
	@mkdir -p $$(@D)
	@echo "  CC    $(FREERTOS_KERNEL_DIR)/$$*.c"
	@$$(BARE_CC) $(call freertos_flags,$(3)) $$(BARE_CFLAGS) -Wall -MD -MP -c -o $$@ $(FREERTOS_KERNEL_DIR)/$$*.c

# The guest's sources include the kernel's headers.
$(call bare_objects,$(1),$(call own_sources,$(2))): | freertos-kernel
endef

# The unmodified TCP/IP stack lwIP with its port to FreeRTOS and its echo services, compiled without our warnings.
LWIP_DIR := $(CACHE)/pkg/lwip
LWIP_SOURCES := $(addprefix src/core/,def inet_chksum init ip mem memp netif pbuf raw stats tcp tcp_in tcp_out timeouts udp \
	$(addprefix ipv4/,etharp icmp ip4 ip4_addr ip4_frag)) \
	$(addprefix src/api/,api_lib api_msg err netbuf tcpip) src/netif/ethernet contrib/ports/freertos/sys_arch \
	src/apps/lwiperf/lwiperf contrib/apps/tcpecho_raw/tcpecho_raw contrib/apps/udpecho_raw/udpecho_raw
LWIP_FLAGS := -Iguests/examples/freertos/net $(addprefix -isystem $(LWIP_DIR)/,src/include contrib/ports/freertos/include \
	contrib/apps/tcpecho_raw contrib/apps/udpecho_raw)
lwip_objects = $(patsubst %,$(BARE_OUT)/$(1)/lwip/%.o,$(LWIP_SOURCES))

# What guests with lwIP share; each has one of the interfaces *_netif.c besides.
LWIP_COMMON := $(filter-out %_netif.c,$(wildcard guests/examples/freertos/net/*.c))

# $(call lwip_guest,name,sources,tick in Hz,further flags): the same with lwIP.
define lwip_guest
$(call freertos_guest,$(1),$(2) $(LWIP_COMMON),$(3),$(LWIP_FLAGS) $(4),$(call lwip_objects,$(1)))

$(BARE_OUT)/$(1)/lwip/%.o: $(BARE_OUT)/$(1)/flags tools/mk/guests-bare.mk | setup freertos-kernel $(LWIP_DIR).json
	@mkdir -p $$(@D)
	@echo "  CC    $(LWIP_DIR)/$$*.c"
	@$$(BARE_CC) $(call freertos_flags,$(3)) $(LWIP_FLAGS) $$(BARE_CFLAGS) -Wall -MD -MP -c -o $$@ $(LWIP_DIR)/$$*.c

$(call bare_objects,$(1),$(call own_sources,$(2)) $(LWIP_COMMON)): | $(LWIP_DIR).json
endef

FREERTOS_PORT := $(wildcard guests/examples/freertos/port/riscv/*.c guests/examples/freertos/port/riscv/*.S)
FREERTOS_DEMO := $(wildcard guests/examples/freertos/demo/*.c \
	$(addprefix guests/examples/freertos/demo/riscv/,*.c *.S))

# The codec in a task with a tick of 10 ms and, for the benchmark, of 1 ms (docs/benchmarks.md).
ADPCM_TICK_HZ ?= 100
ADPCM_MODEL_TICK_HZ := 1000
ADPCM_SOURCES := $(wildcard guests/examples/adpcm/*.c) guests/sdk/accel/g722.c
ADPCM_FREERTOS := $(ADPCM_SOURCES) $(wildcard guests/examples/adpcm/freertos/*.c) guests/examples/freertos/demo/hooks.c $(FREERTOS_PORT)

# The mailbox: the FreeRTOS server, and a bare-metal client.
MAILBOX_SERVER := $(wildcard guests/examples/mailbox/freertos/*.c) guests/examples/mailbox/place.c
MAILBOX_CLIENT := $(wildcard guests/examples/mailbox/bare/*.c) guests/examples/mailbox/client.c guests/examples/mailbox/place.c
MAILBOX_FREERTOS := $(MAILBOX_SERVER) guests/examples/freertos/demo/hooks.c $(FREERTOS_PORT)

# The bench guest also measures the hypervisor's RT ready queue.
BENCH_SOURCES := $(wildcard tests/guests/bench/*.c tests/guests/bench/*.S) rt/queue_heap.c core/lib/heap.c
$(eval $(call bare_guest,bench,$(BENCH_SOURCES),$(BARE_NOFP) -idirafter rt/include -idirafter core/include))
# Both kinds of the hypervisor's RT queues, natively beside the fabric.
RTQUEUE_SOURCES := $(wildcard tests/guests/rtqueue/*.c) tests/guests/bench/report.c core/lib/heap.c
$(eval $(call bare_guest,rtqueue,$(RTQUEUE_SOURCES),$(BARE_NOFP) -Itests/guests/rtqueue -Itests/guests/bench -Ifpga/hw/include -idirafter rt/include -idirafter core/include))
$(eval $(call bare_guest,regression,$(wildcard tests/guests/regression/*.c),$(BARE_NOFP)))
$(eval $(call bare_guest,debuggee,$(wildcard tests/guests/debuggee/*.c tests/guests/debuggee/*.S),$(BARE_NOFP)))
MISBEHAVE := $(wildcard tests/guests/misbehave/*.c tests/guests/misbehave/riscv/*.c)
$(eval $(call bare_guest,misbehave,$(MISBEHAVE),$(BARE_NOFP) -Itests/guests/misbehave))
# The numbers of all hypercalls that abi/ defines, for a list in C.
HCALL_NUMBERS = $(subst $(space),$(comma),$(shell sed -nE '/HCALL_(OK|MAX) /d; s/^#define HCALL_[A-Z_]+ ([0-9]+)( .*)?$$/\1/p' abi/*_abi.h))
space := $(subst ,, )
$(eval $(call bare_guest,fuzz,$(wildcard tests/guests/fuzz/*.c tests/guests/fuzz/*.S),$(BARE_NOFP) -DHCALL_NUMBERS=$$(HCALL_NUMBERS)))
$(eval $(call bare_guest,launches,tests/guests/launches/launches.c,$(BARE_NOFP)))
$(eval $(call bare_guest,leak,$(wildcard tests/guests/leak/*.c tests/guests/leak/*.S),$(BARE_NOFP) -Itests/guests/fuzz))

$(eval $(call bare_guest,fabric,$(wildcard tests/guests/fabric/*.c),$(BARE_NOFP) -Ifpga/hw/include))

# Hostile guests, and guests that they must not affect. They are linked for other RAM (attacker/riscv/attacker_arch.h).
ATTACKER := $(wildcard tests/guests/attacker/*.c tests/guests/attacker/riscv/*.c tests/guests/attacker/riscv/*.S)
$(eval $(call bare_guest,attacker,$(ATTACKER),$(BARE_NOFP) -Itests/guests/attacker -Itests/guests/attacker/riscv -DHCALL_NUMBERS=$$(HCALL_NUMBERS)))
$(eval $(call bare_guest,witness,$(wildcard tests/guests/witness/*.c tests/guests/witness/*.S),$(BARE_FP)))
$(eval $(call bare_guest,ticker,$(wildcard tests/guests/ticker/*.c),$(BARE_NOFP) -DTICKER_BUDGET_US=20 -DTICKER_DEADLINE_US=100))
$(eval $(call bare_guest,erratum,$(wildcard tests/guests/erratum/*.c),$(BARE_NOFP)))
BARE_HIGH := $(foreach name,attacker erratum,$(BARE_OUT)/$(name)/$(name).elf)
$(BARE_OUT)/high.ld: guests/sdk/riscv/guest.ld
	@mkdir -p $(@D)
	@sed 's/ORIGIN = 0x80200000/ORIGIN = 0x90200000/' $< >$@
$(BARE_HIGH): $(BARE_OUT)/high.ld
$(BARE_HIGH): private BARE_LDFLAGS := $(subst guests/sdk/riscv/guest.ld,$(BARE_OUT)/high.ld,$(BARE_LDFLAGS))

$(eval $(call bare_guest,rtm,$(wildcard guests/examples/rtm/*.c guests/examples/rtm/riscv/*.c guests/examples/rtm/riscv/*.S),$(BARE_NOFP) -Iguests/examples/rtm/riscv -Iguests/examples/rtm))
$(eval $(call bare_guest,pingpong,$(wildcard guests/examples/pingpong/*.c),$(BARE_NOFP)))
$(eval $(call bare_guest,greet,$(wildcard guests/examples/greet/*.c),$(BARE_NOFP)))

# The guests of the tutorials, whose documents show these lines.
# listing: hello
$(eval $(call bare_guest,hello,$(wildcard guests/examples/hello/*.c),$(BARE_NOFP)))
# listing end
# listing: motor
$(eval $(call bare_guest,motor,$(wildcard guests/examples/motor/*.c),$(BARE_NOFP)))
# listing end
$(eval $(call bare_guest,watchdog,$(wildcard guests/examples/watchdog/*.c),$(BARE_NOFP)))
$(eval $(call bare_guest,tally,$(wildcard guests/examples/tally/*.c),$(BARE_NOFP)))

# The HW tasks in software, for guests with accelerators.
ACCEL_SDK := $(wildcard guests/sdk/accel/*.c)
$(eval $(call bare_guest,dma_qam,$(wildcard tests/guests/dma_qam/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,accel,$(wildcard guests/examples/accel/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
# listing: qam
$(eval $(call bare_guest,qam,$(wildcard guests/examples/qam/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
# listing end
$(eval $(call bare_guest,modem,$(wildcard guests/examples/modem/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,regions,$(wildcard guests/examples/regions/*.c),$(BARE_NOFP)))
FRAMES := $(wildcard guests/examples/frames/*.c guests/examples/freertos/drivers/*.c) guests/examples/freertos/demo/hooks.c \
	$(FREERTOS_PORT) $(ACCEL_SDK)
$(eval $(call freertos_guest,frames,$(FRAMES),$(FREERTOS_TICK_HZ),-Iguests/examples/freertos/drivers))
$(eval $(call bare_guest,overlay,$(wildcard tests/guests/overlay/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,accel_faults,$(wildcard tests/guests/accel_faults/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,accel_load,$(wildcard tests/guests/accel_load/*.c),$(BARE_NOFP)))
$(eval $(call bare_guest,soft_tasks,$(wildcard tests/guests/soft_tasks/*.c) $(ACCEL_SDK),$(BARE_NOFP)))
# The drivers of shared devices.
SHARED_SDK := $(wildcard guests/sdk/shared/*.c)
$(eval $(call bare_guest,flash_log,$(wildcard guests/examples/flash_log/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,ping,$(wildcard guests/examples/ping/*.c) $(SHARED_SDK),$(BARE_NOFP)))
FREERTOS_NET := $(wildcard guests/examples/freertos_net/*.c) guests/examples/freertos/net/ethernet_netif.c \
	guests/examples/freertos/demo/hooks.c $(FREERTOS_PORT) $(SHARED_SDK)
$(eval $(call lwip_guest,freertos_net,$(FREERTOS_NET),$(FREERTOS_TICK_HZ),-Iguests/examples/freertos_net))
$(eval $(call bare_guest,pulse,$(wildcard guests/examples/pulse/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,sampler,$(wildcard guests/examples/sampler/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,draw,$(wildcard guests/examples/draw/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,flood,$(wildcard guests/examples/flood/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,shared,$(wildcard tests/guests/shared/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,shared_hostile,$(wildcard tests/guests/shared_hostile/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,shared_restart,$(wildcard tests/guests/shared_restart/*.c) $(SHARED_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,malformed,$(wildcard tests/guests/malformed/*.c) $(SHARED_SDK),$(BARE_NOFP)))
# The drivers of virtual PCI functions.
VIRTIO_SDK := $(wildcard guests/sdk/virtio/*.c)
FREERTOS_WEB := $(wildcard guests/examples/freertos_web/*.c) guests/examples/freertos/net/virtio_netif.c \
	guests/examples/freertos/demo/hooks.c $(FREERTOS_PORT) $(VIRTIO_SDK)
$(eval $(call lwip_guest,freertos_web,$(FREERTOS_WEB),$(FREERTOS_TICK_HZ),-Iguests/examples/freertos_web))
$(eval $(call bare_guest,uplink,$(wildcard guests/examples/uplink/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,storage,$(wildcard guests/examples/storage/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,power_fail,$(wildcard tests/guests/power_fail/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,disk_hostile,$(wildcard tests/guests/disk_hostile/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,disk_victim,$(wildcard tests/guests/disk_victim/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,virtio,$(wildcard tests/guests/virtio/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,virtio_bench,$(wildcard tests/guests/virtio_bench/*.c) tests/guests/bench/report.c $(VIRTIO_SDK),$(BARE_NOFP) -Itests/guests/bench))
$(eval $(call bare_guest,virtio_peers,$(wildcard tests/guests/virtio_peers/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,virtio_wakes,$(wildcard tests/guests/virtio_wakes/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,virtio_crypto,$(wildcard tests/guests/virtio_crypto/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
$(eval $(call bare_guest,crypto_compare,$(wildcard tests/guests/crypto_compare/*.c) $(VIRTIO_SDK),$(BARE_NOFP)))
# Single bytes of the flash, by the shared hardware and by a VM with a driver.
FLASH_BYTES := $(wildcard tests/guests/flash_bytes/*.c)
FLASH_BYTES_RTOS := $(wildcard tests/guests/flash_bytes/freertos/*.c) guests/examples/freertos/demo/hooks.c $(FREERTOS_PORT)
$(eval $(call bare_guest,flash_bytes,$(FLASH_BYTES) $(wildcard tests/guests/flash_bytes/bare/*.c) $(SHARED_SDK),$(BARE_NOFP) -Itests/guests/flash_bytes))
$(eval $(call freertos_guest,flash_bytes_rtos,$(FLASH_BYTES) $(FLASH_BYTES_RTOS),$(FREERTOS_TICK_HZ),-Itests/guests/flash_bytes))
$(eval $(call bare_guest,registers,$(wildcard tests/guests/registers/*.c),$(BARE_NOFP)))
$(eval $(call bare_guest,console_load,$(wildcard tests/guests/console_load/*.c),$(BARE_NOFP)))
$(eval $(call bare_guest,adpcm-bare,$(ADPCM_SOURCES) $(wildcard guests/examples/adpcm/bare/*.c),$(BARE_NOFP) -Iguests/examples/adpcm))
$(eval $(call freertos_guest,adpcm-freertos,$(ADPCM_FREERTOS),$(ADPCM_TICK_HZ),-Iguests/examples/adpcm))
$(eval $(call freertos_guest,adpcm-model,$(ADPCM_FREERTOS),$(ADPCM_MODEL_TICK_HZ),-Iguests/examples/adpcm))
THREAD_METRIC := $(wildcard tests/guests/thread_metric/*.c) guests/examples/freertos/demo/hooks.c
$(eval $(call freertos_guest,thread_metric,$(THREAD_METRIC) $(wildcard tests/guests/thread_metric/riscv/*.c) $(FREERTOS_PORT),$(FREERTOS_TICK_HZ),-Itests/guests/thread_metric))
RESPONSE := $(wildcard tests/guests/response/*.c) guests/examples/freertos/demo/hooks.c
RESPONSE_FLAGS := -Itests/guests/response -DPORT_TIMER_HOOK=response_timer
RESPONSE_RISCV := $(RESPONSE) $(wildcard tests/guests/response/riscv/*.c guests/examples/freertos/drivers/*.c) $(FREERTOS_PORT) $(ACCEL_SDK)
$(eval $(call freertos_guest,response,$(RESPONSE_RISCV),$(FREERTOS_TICK_HZ),$(RESPONSE_FLAGS) -Iguests/examples/freertos/drivers))
$(eval $(call bare_guest,slices,$(wildcard tests/guests/slices/*.c),$(BARE_NOFP)))
$(eval $(call freertos_guest,mailbox,$(MAILBOX_FREERTOS),$(FREERTOS_TICK_HZ),-Iguests/examples/mailbox -Iguests/examples/mailbox/riscv))
$(eval $(call bare_guest,mailbox-client,$(MAILBOX_CLIENT),$(BARE_NOFP) -Iguests/examples/mailbox -Iguests/examples/mailbox/riscv))
$(eval $(call freertos_guest,freertos,$(FREERTOS_PORT) $(FREERTOS_DEMO),$(FREERTOS_TICK_HZ)))

guest-freertos: $(BARE_OUT)/freertos/freertos.bin
guest-bench: $(BARE_OUT)/bench/bench.bin
guest-misbehave: $(BARE_OUT)/misbehave/misbehave.bin
guest-attacker: $(foreach name,attacker witness ticker,$(BARE_OUT)/$(name)/$(name).bin)
guest-adpcm: $(foreach name,adpcm-bare adpcm-freertos adpcm-model,$(BARE_OUT)/$(name)/$(name).bin)

guest-mailbox: $(foreach name,mailbox mailbox-client,$(BARE_OUT)/$(name)/$(name).bin)

guest-rtm: $(BARE_OUT)/rtm/rtm.bin

guest-small: $(foreach name,greet pingpong hello motor watchdog tally accel frames modem regions qam \
	flash_log ping freertos_net freertos_web uplink storage pulse sampler draw flood,$(BARE_OUT)/$(name)/$(name).bin)

guest-virtio: $(foreach name,virtio virtio_bench power_fail disk_hostile disk_victim,$(BARE_OUT)/$(name)/$(name).bin)

guests-bare: guest-virtio guest-freertos guest-bench guest-misbehave guest-attacker guest-rtm guest-adpcm guest-mailbox guest-small ## build the bare-metal guests

# The same guests, built with clang.
check-guests-bare-clang:
	@$(MAKE) --no-print-directory guests-bare BARE_TOOLCHAIN=clang BARE_OUT=$(BUILD)/guests-clang
	@echo "check-guests-bare-clang: ok"

.PHONY: guests-bare guest-virtio guest-freertos guest-bench guest-misbehave guest-attacker guest-rtm guest-adpcm guest-mailbox guest-small freertos-kernel \
	check-guests-bare-clang FORCE
