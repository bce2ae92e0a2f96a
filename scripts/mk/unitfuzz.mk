# SPDX-License-Identifier: Apache-2.0
# libFuzzer on core over arch/host, with the sanitizers (docs/fuzzing.md). After unit.mk, whose objects' sources it takes.

FUZZ_BUILD := $(BUILD)/fuzz-host
FUZZ_TARGETS := image calls tree
FUZZ_SYSTEMS := $(wildcard systems/*.dts systems/bench/*.dts)
FUZZ_CFLAGS = $(filter-out -fPIC,$(HOST_CFLAGS)) -Itests/fuzz -fsanitize=fuzzer-no-link
FUZZ_OBJS := $(patsubst %.c,$(FUZZ_BUILD)/obj/%.o,$(HOST_SRCS) $(UNIT_HELP))
FUZZ_SHORT_image := 20000
FUZZ_SHORT_calls := 4000
FUZZ_SHORT_tree := 200000
# Of one input, in seconds; and no leak check, for the host keeps its RAM for the next input.
FUZZ_ARGS := -timeout=20 -detect_leaks=0 -rss_limit_mb=4096

$(FUZZ_BUILD)/obj/%.o: %.c Makefile scripts/mk/unit.mk scripts/mk/unitfuzz.mk | setup-dev
	@mkdir -p $(@D)
	@clang $(FUZZ_CFLAGS) $(HOST_EXTRA) -c -o $@ $<

$(FUZZ_BUILD)/obj/core/lib/libc.o: HOST_EXTRA := -Dmemcpy=lib_memcpy -Dmemset=lib_memset -fno-builtin

$(FUZZ_BUILD)/fuzz_%: $(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o $(FUZZ_OBJS)
	@clang $(HOST_SANITIZE) -fsanitize=fuzzer -o $@ $^

# Those of the image's reader come from the system files, those of the calls are made up by the fuzzer as it goes.
$(FUZZ_BUILD)/seeds: scripts/fuzzseeds.py tests/fuzz/tree.dts $(FUZZ_SYSTEMS) $(wildcard scripts/tessera/image/*.py) | setup-dev
	@rm -rf $@ && mkdir -p $@/calls $@/tree
	@dtc -q -O dtb -o $@/tree/seed tests/fuzz/tree.dts
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/fuzzseeds.py $@/image $(FUZZ_SYSTEMS)

fuzz-host-programs: $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/fuzz_%) $(FUZZ_BUILD)/seeds

# A finding is left in build/fuzz-host/found-<target>-*; the program itself, with that file as its argument, shows it again.
fuzz-host: fuzz-host-programs ## libFuzzer on the image's and the seed's reader, on hypercalls, keys and requests: MINUTES=for each
	@for target in $(FUZZ_TARGETS); do \
	    mkdir -p $(FUZZ_BUILD)/corpus/$$target; \
	    $(FUZZ_BUILD)/fuzz_$$target $(FUZZ_ARGS) -max_total_time=$$(($(MINUTES) * 60)) -print_final_stats=1 \
	        -artifact_prefix=$(FUZZ_BUILD)/found-$$target- $(FUZZ_BUILD)/corpus/$$target $(FUZZ_BUILD)/seeds/$$target; \
	done

# The same inputs each time: a fixed seed, a fixed number, a corpus that nothing is added to.
test-fuzz-host: fuzz-host-programs
	@$(foreach target,$(FUZZ_TARGETS),$(FUZZ_BUILD)/fuzz_$(target) $(FUZZ_ARGS) -seed=1 -runs=$(FUZZ_SHORT_$(target)) \
	    -artifact_prefix=$(FUZZ_BUILD)/found-$(target)- $(FUZZ_BUILD)/seeds/$(target) >$(FUZZ_BUILD)/$(target).log 2>&1 || { \
	        tail -40 $(FUZZ_BUILD)/$(target).log >&2; echo "test-fuzz-host: $(target) has found something" >&2; exit 1; }; \
	    echo "test-fuzz-host: $(target): $(FUZZ_SHORT_$(target)) inputs, nothing found";)

-include $(FUZZ_OBJS:.o=.d) $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.d)

.PHONY: fuzz-host-programs fuzz-host test-fuzz-host
.SECONDARY: $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o)
