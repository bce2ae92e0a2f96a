# SPDX-License-Identifier: Apache-2.0
# Fuzzing of the hypervisor by a guest that makes random calls (docs/fuzzing.md).
SEED ?= 1
MINUTES ?= 10
CALLS ?= 200000
HARTS ?= 1

ACCELERATORS ?=

FUZZ_GUESTS := $(foreach name,fuzz leak freertos,$(BUILD)/guests/$(name)/$(name).bin)

# What a system with accelerators needs besides; the tests make it, too.
fuzz-fabric: cosim $(BUILD)/guests/accel_faults/accel_faults.bin $(foreach stream,1-0 7-0 5-1,$(BUILD)/fpga/simb/$(stream).bin)

fuzz: hyp $(FUZZ_GUESTS) $(if $(ACCELERATORS),fuzz-fabric) ## run a guest that makes random calls: SEED=first seed, MINUTES=duration (0: one seed), CALLS=per seed, HARTS=1 or 2, ACCELERATORS=1: with devices of the fabric
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/fuzz.py --seed "$(SEED)" --minutes "$(MINUTES)" --calls "$(CALLS)" --harts "$(HARTS)" $(if $(ACCELERATORS),--accelerators)

.PHONY: fuzz fuzz-fabric
