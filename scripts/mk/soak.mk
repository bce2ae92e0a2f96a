# SPDX-License-Identifier: Apache-2.0
# What takes longer than `make test` may: for a night, or before a release. MINUTES= is how long each fuzzer runs.
# SOAK= names less of it.
SOAK ?= test-long check-model-long test-fpga-long test-mips-long test-e2e-long test-newer-long mutate-faults fuzz fuzz-two-harts fuzz-host coverage

# Races have no seeds: on two harts no run is like another (docs/fuzzing.md).
fuzz-two-harts:
	@$(MAKE) --no-print-directory fuzz HARTS=2

define soak_part
	@$(MAKE) --no-print-directory $(1)
	@echo "soak: $(1) passed"

endef

soak: | setup-dev ## what takes longer than `make test` may: long property tests, mutants, fuzzers (MINUTES=each), coverage
	$(foreach target,$(SOAK),$(call soak_part,$(target)))
	@echo "soak: all passed"

.PHONY: fuzz-two-harts soak
