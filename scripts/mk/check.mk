# SPDX-License-Identifier: Apache-2.0
# Quality gates. Each check is a target of its own, prints one line when all is well, and otherwise file:line, what is
# wrong and what to do.
VENV ?= $(CACHE)/venv
CHECK := PYTHONPATH=scripts PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python -m

check: ## format, lint, complexity, layers, static analysis, warnings of gcc and clang, unit tests (under two minutes)
check: check-format check-lint check-limits check-files check-layers check-mutations check-analyze check-warnings test-unit

check-format: | setup-dev
	@$(CHECK) check.format

check-lint: | setup-dev
	@$(CHECK) check.lint

check-limits: | setup-dev
	@$(CHECK) check.limits

check-files: | setup-dev
	@$(CHECK) check.files

check-layers: | setup-dev
	@$(CHECK) check.layers

# Static analysis: cppcheck and clang's analyzer.
check-analyze: | setup-dev
	@$(CHECK) check.analyze

# What `make mutate-faults` takes out of the sources must be there: it goes stale with any change of these lines.
check-mutations: | setup-dev
	@$(CHECK) pytest -q -p no:cacheprovider tests/check/test_mutations.py

# Our own tools: each check must find the fault it is there for, each number must be one.
check-self: check-mutations | setup-dev
	@$(CHECK) pytest -q -p no:cacheprovider -n 2 --ignore=tests/check/test_mutations.py tests/check tests/bench tests/trace

# The hypervisor with both compilers; hyp.mk turns every warning into an error.
check-warnings: check-warnings-gcc check-warnings-clang

# $(call check_warnings,name,compiler): the compiler's output is only of interest when it has complaints.
define check_warnings
	@mkdir -p $(BUILD)/check
	@$(MAKE) --no-print-directory -j$(shell nproc) hyp HYP_CC=$(2) HYP_BUILD=$(BUILD)/check/hyp-$(1) >$(BUILD)/check/$(1).log 2>&1 || { \
	    grep -E ':[0-9]+:[0-9]+: (warning|error|fatal error):|Error' $(BUILD)/check/$(1).log >&2; \
	    echo "check-warnings: $(2) complains; all of it is in $(BUILD)/check/$(1).log" >&2; exit 1; }
	@echo "check-warnings: ok, no warning from $(2)"
endef

check-warnings-gcc: | setup-dev
	$(call check_warnings,gcc,$(CROSS)gcc)

check-warnings-clang: | setup-dev
	$(call check_warnings,clang,clang)

format: | setup-dev ## format C and Python in place
	@$(CHECK) check.format --fix

# $(call pin,name,options): what stands in scripts/name.in, with versions and checksums.
define pin
	@{ printf '# SPDX-License-Identifier: Apache-2.0\n# Made by `make requirements` from $(1).in; do not edit.\n'; \
	   $(CACHE)/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	   $(2) scripts/$(1).in; } > $(CACHE)/$(1).txt
	@mv $(CACHE)/$(1).txt scripts/$(1).txt
	@echo "scripts/$(1).txt: written; run \`make setup\`"
endef

# Only needed when scripts/requirements*.in change; writes the versions and checksums that setup installs. The fabric's
# packages go into the same folder as all others, so their versions must agree.
requirements: | setup-dev ## pin scripts/requirements*.in anew
	@$(VENV)/bin/python -m venv $(CACHE)/uv
	@$(CACHE)/uv/bin/pip install --quiet --require-hashes -r scripts/requirements-pin.txt
	$(call pin,requirements,)
	$(call pin,requirements-fpga,-c scripts/requirements.txt)

.PHONY: check check-format check-lint check-limits check-files check-layers check-mutations check-analyze check-self check-warnings \
	check-warnings-gcc check-warnings-clang format requirements
