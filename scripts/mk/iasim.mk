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

# $(call iasim_test,name,selection): shows the compiler's warnings about external crates only after
# an error.
define iasim_test
	@mkdir -p $(BUILD)/iasim
	@$(call IASIM_CARGO,test $(2)) >$(BUILD)/iasim/$(1).log 2>&1 || { cat $(BUILD)/iasim/$(1).log >&2; exit 1; }
	@sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' $(BUILD)/iasim/$(1).log | \
	    awk '{ n += $$1 } END { print "$(1): " n " tests passed"; exit n == 0 }'
endef

# The tests that need neither QEMU nor GDB, and take a few seconds.
test-iasim-unit: $(CRATES) | setup-debug
	$(call iasim_test,test-iasim-unit,--lib --test vz --test tables --test machine --test micro --test tlb --test fuzz)

test-iasim: $(CRATES) | setup-dev ## run all tests of the simulator, including comparisons with QEMU and the GNU disassembler
	$(call iasim_test,test-iasim,)

# Fails below a quarter of QEMU's speed with -icount.
test-iasim-speed: $(IASIM) | setup-dev
	@tools/iasim/tests/speed.sh $(IASIM)

.PHONY: iasim test-iasim test-iasim-unit test-iasim-speed
