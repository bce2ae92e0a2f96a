# SPDX-License-Identifier: Apache-2.0
# The only entry points. Each fragment in scripts/mk holds the targets of one concern; a line with two hashes is help.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

BUILD := build
CACHE := cache
# PLATFORM is another word for BOARD. A board's own system bears its name; that of qemu-virt is the demo.
BOARD ?= $(or $(PLATFORM),qemu-virt)
SYSTEM ?= $(if $(filter qemu-virt,$(BOARD)),demo,$(BOARD))

ifeq ($(wildcard platform/$(BOARD)/board.h),)
$(error BOARD=$(BOARD): no such board; there are $(patsubst platform/%/board.h,%,$(wildcard platform/*/board.h)))
endif

# refused.mk last: it judges what the others have set.
include $(sort $(filter-out %/refused.mk,$(wildcard scripts/mk/*.mk))) scripts/mk/refused.mk

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | sort | awk -F '|' '{ printf "%-25s %s\n", $$1, $$2 }'

clean: ## remove what was built (downloads in cache/ stay)
	rm -rf $(BUILD)

.PHONY: help clean
