# SPDX-License-Identifier: Apache-2.0
# The simulator of an M5150-class core, tools/iasim (docs/iasim.md).
IASIM := $(BUILD)/iasim/release/iasim
IASIM_SRCS := $(RSP_SRCS) tools/iasim/Cargo.toml tools/iasim/Cargo.lock $(shell find tools/iasim/src -name '*.rs')
# Offline and locked, as the GDB server: all dependencies are in cache/crates.
IASIM_CARGO = CARGO_TARGET_DIR=$(BUILD)/iasim $${CARGO:-cargo} $(1) --locked --offline --quiet --manifest-path tools/iasim/Cargo.toml

$(IASIM): $(CRATES) $(IASIM_SRCS) | setup-debug
	@echo "  CARGO tools/iasim"
	@$(call IASIM_CARGO,build --release)
	@touch $@

iasim: $(IASIM) ## build the simulator of the M5150: build/iasim/release/iasim

# The tests that need neither QEMU nor GDB, and take a few seconds.
test-iasim-unit: $(CRATES) | setup-debug
	$(call cargo_test,test-iasim-unit,$(call IASIM_CARGO,test --lib --test vz --test tables --test machine --test micro --test tlb --test fuzz))
	@$(some_selected)

test-iasim: $(CRATES) | setup-dev ## run all tests of the simulator, including comparisons with QEMU and the GNU disassembler
	$(call cargo_test,test-iasim,$(call IASIM_CARGO,test))
	@$(some_selected)

# Fails below a quarter of QEMU's speed with -icount.
test-iasim-speed: $(IASIM) | setup-dev
	@tools/iasim/tests/speed.sh $(IASIM)

.PHONY: iasim test-iasim test-iasim-unit test-iasim-speed
