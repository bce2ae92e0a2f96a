# SPDX-License-Identifier: Apache-2.0
# The simulator of an M5150-class core, tools/iasim (docs/iasim.md).
IASIM := $(BUILD)/iasim/release/iasim
IASIM_SRCS := tools/iasim/Cargo.toml tools/iasim/Cargo.lock $(shell find tools/iasim/src -name '*.rs')
IASIM_CARGO = CARGO_TARGET_DIR=$(BUILD)/iasim $${CARGO:-cargo} $(1) --locked --offline --quiet --manifest-path tools/iasim/Cargo.toml

$(IASIM): $(CRATES) $(IASIM_SRCS) | setup-debug
	@echo "  CARGO tools/iasim"
	@$(call IASIM_CARGO,build --release)
	@touch $@

iasim: $(IASIM) ## build the simulator of the M5150: build/iasim/release/iasim

test-iasim: $(CRATES) | setup-debug ## unit tests and directed tests of the simulator
	@$(call IASIM_CARGO,test)

.PHONY: iasim test-iasim
