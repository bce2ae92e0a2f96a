# SPDX-License-Identifier: Apache-2.0
# Random calls, for as long as one likes (docs/fuzzing.md).
SEED ?= 1
MINUTES ?= 10
CALLS ?= 200000
HARTS ?= 1

FUZZ_GUESTS := $(foreach name,fuzz leak freertos,$(BUILD)/guests/$(name)/$(name).bin)

fuzz: hyp $(FUZZ_GUESTS) ## let a guest make random calls: SEED=first one, MINUTES=how long (0: one seed), CALLS=of a seed, HARTS=1 or 2
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/fuzz.py --seed "$(SEED)" --minutes "$(MINUTES)" --calls "$(CALLS)" --harts "$(HARTS)"

.PHONY: fuzz
