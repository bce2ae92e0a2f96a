# SPDX-License-Identifier: Apache-2.0
# Fuzzing of the hypervisor by a guest that makes random calls (docs/fuzzing.md).
SEED ?= 1
MINUTES ?= 10
CALLS ?= 200000
HARTS ?= 1

FUZZ_GUESTS := $(foreach name,fuzz leak freertos,$(BUILD)/guests/$(name)/$(name).bin)

fuzz: hyp $(FUZZ_GUESTS) ## run a guest that makes random calls: SEED=first seed, MINUTES=duration (0: one seed), CALLS=per seed, HARTS=1 or 2
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/fuzz.py --seed "$(SEED)" --minutes "$(MINUTES)" --calls "$(CALLS)" --harts "$(HARTS)"

.PHONY: fuzz
