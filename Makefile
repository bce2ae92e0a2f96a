# SPDX-License-Identifier: Apache-2.0
# All entry points. Each fragment in tools/mk holds the targets of one area; the text after two
# hashes is the help text.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

BUILD := build
CACHE := cache
# PLATFORM is a synonym of BOARD. The default system of a board has the board's name; that of
# qemu-virt is the demo.
BOARD ?= $(or $(PLATFORM),qemu-virt)
SYSTEM ?= $(if $(filter qemu-virt,$(BOARD)),demo,$(BOARD))

ifeq ($(wildcard platform/$(BOARD)/board.h),)
$(error BOARD=$(BOARD): no such board; there are $(patsubst platform/%/board.h,%,$(wildcard platform/*/board.h)))
endif

# refused.mk last: it checks variables that the other fragments set.
include $(sort $(filter-out %/refused.mk,$(wildcard tools/mk/*.mk))) tools/mk/refused.mk

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' Makefile tools/mk/*.mk | sed -E 's/^([a-z0-9-]+):.*## /  make \1|/' | sort | awk -F '|' '{ printf "%-25s %s\n", $$1, $$2 }'

clean: ## remove everything that was built (keeps the downloads in cache/)
	rm -rf $(BUILD)

.PHONY: help clean
