# SPDX-License-Identifier: Apache-2.0
# Tests that are too long for `make test`: for a night, or before a release. MINUTES= is the
# duration of each fuzzer. SOAK= selects targets.
SOAK ?= test-long check-model-long test-fpga-long test-cosim-long test-soc-long test-mips-long test-e2e-long test-newer-long mutate-faults fuzz fuzz-two-harts fuzz-accelerators fuzz-host coverage

# On two harts, runs are not reproducible (docs/fuzzing.md).
fuzz-two-harts:
	@$(MAKE) --no-print-directory fuzz HARTS=2

fuzz-accelerators:
	@$(MAKE) --no-print-directory fuzz ACCELERATORS=1

define soak_part
	@$(MAKE) --no-print-directory $(1)
	@echo "soak: $(1) passed"

endef

soak: | setup-dev ## run the tests that are too long for `make test`: property tests, mutants, fuzzers (MINUTES=each), coverage
	$(foreach target,$(SOAK),$(call soak_part,$(target)))
	@echo "soak: all passed"

.PHONY: fuzz-two-harts fuzz-accelerators soak
