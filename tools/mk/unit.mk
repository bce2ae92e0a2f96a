# SPDX-License-Identifier: Apache-2.0
# Unit tests of core on this machine, with arch/host: each tests/unit/test_*.c is a separate cmocka
# program, each tests/unit/test_*.py a property test of build/host/libcore.so. All use the address
# and undefined-behaviour sanitizers, whose reports end the test.
HOST_CC ?= gcc
# The kinds of the real-time class's queues and of the timers. The sorters are those of a model (tests/unit/testbed_sorter.c).
HOST_RT_QUEUE ?= heap
HOST_TIMERS ?= heap
HOST_SORTERS := $(filter sorter,$(HOST_RT_QUEUE) $(HOST_TIMERS))
HOST_BUILD := $(BUILD)/host$(if $(filter sorter,$(HOST_RT_QUEUE)),-sorter)$(if $(filter sorter,$(HOST_TIMERS)),-timers)

# A source of which build/mutants has another version (tests/mutations/test_unit_mutants.py).
HOST_MUTANT ?=
HOST_SRCS := $(patsubst $(HOST_MUTANT),$(BUILD)/mutants/$(HOST_MUTANT),$(call queue_sources,$(HOST_RT_QUEUE),$(HOST_TIMERS),$(sort $(wildcard $(addsuffix /*.c,core core/lib $(COMPONENTS) $(PLAIN_CONSOLE) arch/host)))))
HOST_OBJS := $(HOST_SRCS:%.c=$(HOST_BUILD)/obj/%.o)
# Common code of the tests: builds a system in memory, steps it, and reads its state.
other_kind = $(if $(filter sorter,$(1)),heap,sorter)
OTHER_KINDS := $(wildcard tests/unit/*_queue_$(call other_kind,$(HOST_RT_QUEUE)).c tests/unit/*_timers_$(call other_kind,$(HOST_TIMERS)).c) \
               $(if $(HOST_SORTERS),,tests/unit/testbed_sorter.c)
UNIT_HELP := $(filter-out tests/unit/test_% $(OTHER_KINDS),$(wildcard tests/unit/*.c))
UNIT_HELP_OBJS := $(UNIT_HELP:%.c=$(HOST_BUILD)/obj/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,%,$(filter-out $(OTHER_KINDS),$(wildcard tests/unit/test_*.c)))

HOST_WARN := -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wvla -Wswitch-default -pedantic -Werror
HOST_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Tests include the components' own headers.
HOST_INC = $(call component_slots,$(COMPONENTS)) $(call queue_flags,$(HOST_RT_QUEUE),$(HOST_TIMERS)) -Iabi -Ifpga/hw/include -Icore/include -Icore $(call headers_of,$(notdir $(COMPONENTS))) $(COMPONENTS:%=-I%) -Iarch/include -Iarch/host -Iarch/host/include -Iplatform -Itests/unit
HOST_CFLAGS = -std=gnu11 -O1 -g -fPIC -fno-common $(HOST_SANITIZE) $(HOST_WARN) $(HOST_INC) -MMD -MP
# The testbed plays these functions, or calls the component's (tests/unit/testbed_played.c).
HOST_WRAP := $(foreach function,begin result stop,-Wl,--wrap=cipher_unit_$(function)) \
	$(foreach function,exists pending mask,-Wl,--wrap=accelerator_$(function)) \
	$(foreach function,pages pending mask,-Wl,--wrap=shared_$(function))
HOST_LDFLAGS := $(HOST_SANITIZE) $(HOST_WRAP)
# $(call linked,BUILD,OBJECTS): without those that a program leaves out.
LEFT_OUT := $(PLAIN_CONSOLE)/%
linked = $(filter-out $(addprefix $(1)/obj/,$(LEFT_OUT)),$(2))

# Changes with the compiler and the flags, which number the components, so that everything is recompiled.
$(HOST_BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(HOST_CC) $(HOST_CFLAGS)' | cmp -s - $@ || echo '$(HOST_CC) $(HOST_CFLAGS)' >$@

$(HOST_BUILD)/obj/%.o: %.c $(HOST_BUILD)/flags Makefile tools/mk/unit.mk | setup-dev
	@mkdir -p $(@D)
	@$(HOST_CC) $(HOST_CFLAGS) $(HOST_EXTRA) -c -o $@ $<

# A mutant may not need what it does not check.
$(HOST_BUILD)/obj/$(BUILD)/mutants/%.o: HOST_EXTRA := -Wno-unused -Wno-unused-parameter

# The C library and the sanitizers define memcpy(), so core's functions are tested under other
# names.
$(HOST_BUILD)/obj/core/lib/libc.o: HOST_EXTRA := -Dmemcpy=lib_memcpy -Dmemset=lib_memset -fno-builtin

# -Bsymbolic: core calls its own crc32(), even if Python has loaded zlib's.
$(HOST_BUILD)/libcore.so: $(HOST_OBJS) $(UNIT_HELP_OBJS)
	@$(HOST_CC) -shared -Wl,-Bsymbolic -o $@ $(call linked,$(HOST_BUILD),$^) $(HOST_LDFLAGS)

$(HOST_BUILD)/unit/test_%: $(HOST_BUILD)/obj/tests/unit/test_%.o $(HOST_OBJS) $(UNIT_HELP_OBJS)
	@mkdir -p $(@D)
	@$(HOST_CC) -o $@ $(call linked,$(HOST_BUILD),$^) $(HOST_LDFLAGS) -lcmocka

# A program without the component `console`, and without `debug`, which needs it; the others are without the plain console.
NO_CONSOLE := services/console/% services/debug/% tests/unit/testbed_debug.o
$(HOST_BUILD)/unit/test_core_console: private LEFT_OUT := $(NO_CONSOLE)

test-unit: test-unit-c test-unit-properties test-gdb-tool check-self test-bench-tools test-unit-sorter ## run the unit tests of core and of our own tools on this machine
	@$(some_selected)

# $(call run_programs,names): of tests in C.
run_programs = $(if $(1),$(call part,tests/unit/run.sh $(1:%=$(HOST_BUILD)/unit/%)),:)

# With all CPUs, also below a make without -j.
unit-programs kind-programs:
	@$(MAKE) --no-print-directory -s $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) $(HOST_BUILD)/libcore.so \
	    $(patsubst %,$(HOST_BUILD)/unit/%,$(call named,$(if $(filter kind-%,$@),$(KIND_TESTS),$(UNIT_TESTS))))

test-unit-c: unit-programs
	@$(call run_programs,$(call named,$(UNIT_TESTS)))
	@$(some_selected)

# Python is built without the address sanitizer, so the sanitizer's library must be loaded first;
# leaks in Python are not reported. Two tests at a time.
HOST_PYTEST = LD_PRELOAD=$$($(HOST_CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
    PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc $(VENV)/bin/python -m pytest -q -p no:cacheprovider \
    -n 2 --maxschedchunk 1 $(PYTEST_ONLY)

test-unit-properties: unit-programs
	@$(call part,$(HOST_PYTEST) tests/unit)
	@$(some_selected)

# Those of `make check`: with a tenth of the examples. In one process, which takes a third less of CPU than two; the other
# parts of the check have the other cores.
test-unit-quick: unit-programs
	@TESSERA_QUICK=1 $(HOST_PYTEST) -n 0 -m "not slow" tests/unit

# The real-time class with its queues in sorters; the scheduler and the watchdog with the timers there. Both of a board
# whose hart has no time CSR (ARCH_TIME_SLOW).
SLOW_TIME := HOST_CC="$(HOST_CC) -DARCH_TIME_SLOW=true"

test-unit-sorter:
	@$(MAKE) --no-print-directory -j2 -Otarget test-unit-queues test-unit-timers

test-unit-queues:
	@$(MAKE) --no-print-directory HOST_RT_QUEUE=sorter $(SLOW_TIME) KIND_TESTS="test_rt_queue test_rt_queue_sorter" \
	    KIND_PROPERTIES="test_rt_edf test_rt_lifecycle" test-unit-kind

test-unit-timers:
	@$(MAKE) --no-print-directory HOST_TIMERS=sorter $(SLOW_TIME) KIND_TESTS=test_timers_sorter \
	    KIND_PROPERTIES="test_scheduler test_watchdog" test-unit-kind

test-unit-kind: kind-programs
	@$(call run_programs,$(call named,$(KIND_TESTS)))
	@$(call part,TESSERA_LIBCORE=$(HOST_BUILD)/libcore.so $(HOST_PYTEST) $(KIND_PROPERTIES:%=tests/unit/%.py))

test-long: $(HOST_BUILD)/libcore.so ## run the property tests with many more examples and sets of RT apps, and weeks of virtual time
	@TESSERA_LONG=1 $(HOST_PYTEST) tests/unit

test-manager: $(HOST_BUILD)/libcore.so | setup-dev setup-fpga ## test the manager of accelerators and PCI functions over the fabric's RTL, without QEMU
	@$(MAKE) --no-print-directory $(COSIM)/libmodel.so $(COSIM)/libshared.so
	@$(call part,PYTHONPATH=tests/unit:tests/cosim $(HOST_PYTEST) -m "$(if $(TESSERA_LONG),,not slow)" tests/manager)
	@$(some_selected)

-include $(HOST_OBJS:.o=.d) $(UNIT_HELP_OBJS:.o=.d) $(UNIT_TESTS:%=$(HOST_BUILD)/obj/tests/unit/%.d)

.PHONY: unit-programs kind-programs test-unit test-unit-c test-unit-properties test-unit-quick test-unit-sorter test-unit-queues test-unit-timers test-unit-kind test-long test-manager
.SECONDARY: $(UNIT_TESTS:%=$(HOST_BUILD)/obj/tests/unit/%.o)
