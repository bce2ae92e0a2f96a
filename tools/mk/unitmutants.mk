# SPDX-License-Identifier: Apache-2.0
# The hypervisor's host build with all its generated mutants (docs/coverage.md). Included after unit.mk, which defines
# sources and tests.
MUTANT_BUILD := $(BUILD)/mutants/host
MUTANT_LIST := $(MUTANT_BUILD)/mutants.json
# Folders whose mutants run; unit_faults.toml lists faults of the others.
MUTANT_FOLDERS := ipc devices/accel devices/shared devices/virtio
MUTATED := $(filter $(MUTANT_FOLDERS) $(MUTANT_FOLDERS:%=%/%),$(HOST_SRCS))
MUTANT_OBJS := $(patsubst %.c,$(MUTANT_BUILD)/obj/%.o,$(HOST_SRCS) $(UNIT_HELP) tests/mutations/mutant.c)
# Without the address sanitizer: a process that has it takes ten times longer to fork.
MUTANT_SANITIZE := -fsanitize=undefined -fno-sanitize-recover=all
MUTANT_CFLAGS = $(filter-out $(HOST_SANITIZE) $(HOST_WARN),$(HOST_CFLAGS)) $(MUTANT_SANITIZE) -w -include tests/mutations/mutant.h

$(MUTANT_LIST): $(MUTATED) tools/mk/unitmutants.mk tools/tessera/verify/mutants.py | setup-dev
	@PYTHONPATH=tools $(PYTHON) -m tessera.verify.mutants --compiler "$(HOST_CC) $(filter-out -MMD -MP,$(MUTANT_CFLAGS))" $(MUTANT_BUILD) $(MUTATED)

$(MUTATED:%.c=$(MUTANT_BUILD)/source/%.c): $(MUTANT_LIST) ;

$(MUTATED:%.c=$(MUTANT_BUILD)/obj/%.o): $(MUTANT_BUILD)/obj/%.o: $(MUTANT_BUILD)/source/%.c $(HOST_BUILD)/flags
	@mkdir -p $(@D)
	@$(HOST_CC) $(MUTANT_CFLAGS) -iquote $(dir $*) $(HOST_EXTRA) -c -o $@ $<

$(MUTANT_BUILD)/obj/%.o: %.c $(HOST_BUILD)/flags
	@mkdir -p $(@D)
	@$(HOST_CC) $(MUTANT_CFLAGS) $(HOST_EXTRA) -c -o $@ $<

$(MUTANT_BUILD)/obj/core/lib/libc.o: HOST_EXTRA := -Dmemcpy=lib_memcpy -Dmemset=lib_memset -fno-builtin

$(MUTANT_BUILD)/libcore.so: $(MUTANT_OBJS)
	@$(HOST_CC) -shared -Wl,-Bsymbolic -o $@ $(call linked,$(MUTANT_BUILD),$^) $(MUTANT_SANITIZE) $(HOST_WRAP)

$(MUTANT_BUILD)/unit/test_%: $(MUTANT_BUILD)/obj/tests/unit/test_%.o $(MUTANT_OBJS)
	@mkdir -p $(@D)
	@$(HOST_CC) -o $@ $(call linked,$(MUTANT_BUILD),$^) $(MUTANT_SANITIZE) $(HOST_WRAP) -lcmocka

$(MUTANT_BUILD)/unit/test_core_console: private LEFT_OUT := $(NO_CONSOLE)

mutant-programs: $(MUTANT_BUILD)/libcore.so $(UNIT_TESTS:%=$(MUTANT_BUILD)/unit/%)

# Each mutant with the tests that reach it; MUTANT=expression selects some by their keys. A failing example of a property
# test is not made smaller.
MUTANT ?=
export MUTANT
export TESSERA_SKIPPED

mutant-run: mutant-programs $(COSIM)/libmodel.so $(COSIM)/libshared.so
	@TESSERA_FIRST_FAILURE=1 TESSERA_LIBCORE=$(MUTANT_BUILD)/libcore.so TESSERA_MUTANTS=$(MUTANT_BUILD) \
	    PYTHONPATH=tools:tests/unit:tests/cosim PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q --tb=native \
	    -p no:cacheprovider -p no:faulthandler -p tessera.verify.mutant_run tests/unit tests/manager

# A part of mutate-faults.
unit-mutants: | setup-dev ## check that the unit tests fail with each mutant of some folders (docs/coverage.md; MUTANT=expression; ACCEPTED=1: accepted ones, too)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider tests/mutations/test_survivors.py

.PHONY: mutant-programs mutant-run unit-mutants
.SECONDARY: $(UNIT_TESTS:%=$(MUTANT_BUILD)/obj/tests/unit/%.o)
