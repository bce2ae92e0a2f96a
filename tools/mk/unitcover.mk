# SPDX-License-Identifier: Apache-2.0
# Coverage of the hypervisor by the tests (docs/coverage.md). Included after unit.mk, which defines
# sources and tests.
COVER := PYTHONPATH=tools PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m cover
COVER_BUILD := $(BUILD)/coverage
COVER_HOST := $(COVER_BUILD)/host
COVER_RECORDS := $(COVER_BUILD)/records
COVER_OBJS := $(patsubst %.c,$(COVER_HOST)/obj/%.o,$(HOST_SRCS) $(UNIT_HELP))
# Not optimized, so that each branch belongs to a branch of the source; without sanitizers, whose
# branches would count.
COVER_CFLAGS = $(filter-out -O1 $(HOST_SANITIZE),$(HOST_CFLAGS)) -O0 --coverage -Wno-error

$(COVER_HOST)/obj/%.o: %.c $(HOST_BUILD)/flags Makefile tools/mk/unit.mk tools/mk/unitcover.mk | setup-dev
	@mkdir -p $(@D)
	@$(HOST_CC) $(COVER_CFLAGS) $(HOST_EXTRA) -c -o $@ $<

$(COVER_HOST)/obj/core/lib/libc.o: HOST_EXTRA := -Dmemcpy=lib_memcpy -Dmemset=lib_memset -fno-builtin

$(COVER_HOST)/libcore.so: $(COVER_OBJS)
	@$(HOST_CC) -shared -Wl,-Bsymbolic -o $@ $(call linked,$(COVER_HOST),$^) $(HOST_WRAP) --coverage

$(COVER_HOST)/unit/test_%: $(COVER_HOST)/obj/tests/unit/test_%.o $(COVER_OBJS)
	@mkdir -p $(@D)
	@$(HOST_CC) -o $@ $(call linked,$(COVER_HOST),$^) $(HOST_WRAP) --coverage -lcmocka

$(COVER_HOST)/unit/test_core_console: private LEFT_OUT := $(NO_CONSOLE)

# Tests that cover by random or exhaustive input the code that other tests cover directly; they take
# a minute.
COVER_LONG := accepted_images or check_accepts or ram_finds or pauses_are or any_sequence or thousands or admitted_sets or \
    do_not_drift or pets_in_each_slice or beside_overruns or stops_petting or suspended_watchdog or many_senders or \
    busy_vcpus or interruption_at

# $(call cover_host,pytest's options and folders): runs the host's tests, after the counts of earlier runs are removed.
define cover_host
	@find $(COVER_HOST) -name '*.gcda' -delete
	@tests/unit/run.sh $(UNIT_TESTS:%=$(COVER_HOST)/unit/%) >$(COVER_BUILD)/unit.log 2>&1 || { \
	    cat $(COVER_BUILD)/unit.log >&2; exit 1; }
	@TESSERA_LIBCORE=$(COVER_HOST)/libcore.so PYTHONPATH=tests/unit:tests/cosim PYTHONDONTWRITEBYTECODE=1 \
	    $(PYTHON) -m pytest -q -p no:cacheprovider -n 0 $(1) >$(COVER_BUILD)/properties.log 2>&1 || { \
	    cat $(COVER_BUILD)/properties.log >&2; exit 1; }
endef

test-coverage: cover-programs ## fail for code that parses input, if the host's tests do not execute it and it is not listed
	$(call cover_host,-k "not ($(COVER_LONG))" tests/unit)
	@$(COVER) check --host $(COVER_HOST)/obj

# The end-to-end tests that execute most of an architecture's code; the attacks also on the newer
# QEMU.
COVER_E2E := $(addprefix tests/e2e/test_,console_stress.py regression.py attacks.py attacks_variants.py minimal_core.py smp.py messages.py passthrough.py panic.py \
    irq_rate.py lifecycle.py virt.py trace.py smoke.py debug.py accelerators.py attacks_virtio.py mailbox.py)
# Long ones that execute what the others do not: traps without a handler, a console that is full, random instructions,
# accesses on two harts.
COVER_LONG_E2E := tests/e2e/test_attacks_variants.py tests/e2e/test_console_stress.py tests/mips/test_attacks.py -m long \
    -k "escapes or without_sstc or two_harts or stress or random_instructions"

coverage: cover-programs image iasim cosim $(COSIM)/libmodel.so $(COSIM)/libshared.so | setup-dev setup-qemu-new ## measure coverage of lines and branches: build/coverage/coverage.md and html (takes long)
	@echo "coverage: the host's tests (a minute or two)"
	$(call cover_host,tests/unit tests/manager)
	@rm -rf $(COVER_RECORDS) && mkdir -p $(COVER_RECORDS)
	@$(COVER) plugin --records $(COVER_RECORDS)
	@QEMU=$(NEWER) $(COVER) plugin --records $(COVER_RECORDS)
	@echo "coverage: end-to-end tests that record all executed instructions (about twenty minutes)"
	@TESSERA_COVER=$(abspath $(COVER_RECORDS)) $(E2E) -q -m "not long" $(COVER_E2E)
	@TESSERA_COVER=$(abspath $(COVER_RECORDS)) QEMU=$(NEWER) $(E2E) -q tests/e2e/test_attacks.py
	@TESSERA_COVER=$(abspath $(COVER_RECORDS)) $(E2E) -q -m "not long" tests/mips
	@TESSERA_COVER=$(abspath $(COVER_RECORDS)) $(E2E) -q $(COVER_LONG_E2E)
	@$(COVER) report --host $(COVER_HOST)/obj --records $(COVER_RECORDS)
	@$(COVER) check --host $(COVER_HOST)/obj --records $(COVER_RECORDS)

cover-programs: $(COVER_HOST)/libcore.so $(UNIT_TESTS:%=$(COVER_HOST)/unit/%)

-include $(COVER_OBJS:.o=.d) $(UNIT_TESTS:%=$(COVER_HOST)/obj/tests/unit/%.d)

.PHONY: cover-programs test-coverage coverage
.SECONDARY: $(UNIT_TESTS:%=$(COVER_HOST)/obj/tests/unit/%.o)
