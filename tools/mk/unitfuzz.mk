# SPDX-License-Identifier: Apache-2.0
# libFuzzer on core with arch/host and the sanitizers (docs/fuzzing.md). Included after unit.mk,
# which defines the sources.

FUZZ_BUILD := $(BUILD)/fuzz-host
FUZZ_TARGETS := image calls tree virtio
FUZZ_NAMED = $(call named,$(FUZZ_TARGETS))
FUZZ_SYSTEMS := $(wildcard systems/*.dts systems/bench/*.dts) tests/image/fabric.dts
FUZZ_CFLAGS = $(filter-out -fPIC,$(HOST_CFLAGS)) -Itests/fuzz -fsanitize=fuzzer-no-link
FUZZ_OBJS := $(patsubst %.c,$(FUZZ_BUILD)/obj/%.o,$(HOST_SRCS) $(UNIT_HELP))
FUZZ_SHORT_image := 5000
FUZZ_SHORT_calls := 1000
FUZZ_SHORT_tree := 50000
FUZZ_SHORT_virtio := 500
# The timeout of one input in seconds. No leak check: arch/host keeps its RAM for the next input.
FUZZ_ARGS := -timeout=20 -detect_leaks=0 -rss_limit_mb=4096

$(FUZZ_BUILD)/obj/%.o: %.c $(HOST_BUILD)/flags Makefile tools/mk/unit.mk tools/mk/unitfuzz.mk | setup-dev
	@mkdir -p $(@D)
	@clang $(FUZZ_CFLAGS) $(HOST_EXTRA) -c -o $@ $<

$(FUZZ_BUILD)/obj/core/lib/libc.o: HOST_EXTRA := -Dmemcpy=lib_memcpy -Dmemset=lib_memset -fno-builtin

$(FUZZ_BUILD)/fuzz_%: $(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o $(FUZZ_OBJS)
	@clang $(HOST_LDFLAGS) -fsanitize=fuzzer -o $@ $(call linked,$(FUZZ_BUILD),$^)

# Seeds of the image reader are made from the system files, those of drivers are random; the fuzzer generates those of the
# calls itself.
$(FUZZ_BUILD)/seeds: tests/fuzzseeds.py tests/partials.py tests/series7_writer.py tools/bit2simb.py tests/fuzz/tree.dts $(FUZZ_SYSTEMS) $(wildcard tools/tessera/cheader.py tools/tessera/image/*.py tools/tessera/image/*/*.py tools/tessera/fabric/*.py) | setup-dev
	@rm -rf $@ && mkdir -p $@/calls $@/tree
	@dtc -q -O dtb -o $@/tree/seed tests/fuzz/tree.dts
	@PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tools $(PYTHON) tests/fuzzseeds.py $@ $(FUZZ_SYSTEMS)

fuzz-host-programs: $(FUZZ_NAMED:%=$(FUZZ_BUILD)/fuzz_%) $(FUZZ_BUILD)/seeds

# A finding is written to build/fuzz-host/found-<target>-*; the program with this file as its
# argument reproduces it.
fuzz-host: fuzz-host-programs ## run libFuzzer on the readers of image and random seed, on hypercalls, keys, requests and virtio drivers: MINUTES=each
	@for target in $(FUZZ_NAMED); do \
	    mkdir -p $(FUZZ_BUILD)/corpus/$$target; \
	    $(FUZZ_BUILD)/fuzz_$$target $(FUZZ_ARGS) -max_total_time=$$(($(MINUTES) * 60)) -print_final_stats=1 \
	        -artifact_prefix=$(FUZZ_BUILD)/found-$$target- $(FUZZ_BUILD)/corpus/$$target $(FUZZ_BUILD)/seeds/$$target; \
	done

# Identical inputs in each run: a fixed seed, a fixed number of inputs, and an unchanged corpus.
test-fuzz-host: fuzz-host-programs
	@$(foreach target,$(FUZZ_NAMED),$(FUZZ_BUILD)/fuzz_$(target) $(FUZZ_ARGS) -seed=1 -runs=$(FUZZ_SHORT_$(target)) \
	    -artifact_prefix=$(FUZZ_BUILD)/found-$(target)- $(FUZZ_BUILD)/seeds/$(target) >$(FUZZ_BUILD)/$(target).log 2>&1 || { \
	        tail -40 $(FUZZ_BUILD)/$(target).log >&2; echo "test-fuzz-host: $(target) reports a finding" >&2; exit 1; }; \
	    echo "test-fuzz-host: $(target): $(FUZZ_SHORT_$(target)) inputs, nothing found";)

-include $(FUZZ_OBJS:.o=.d) $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.d)

.PHONY: fuzz-host-programs fuzz-host test-fuzz-host
.SECONDARY: $(FUZZ_OBJS) $(FUZZ_TARGETS:%=$(FUZZ_BUILD)/obj/tests/fuzz/fuzz_%.o)
