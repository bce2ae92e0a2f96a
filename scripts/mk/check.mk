# SPDX-License-Identifier: Apache-2.0
# Quality gates. Each check is a target of its own, prints one line when all is well, and otherwise file:line, what is
# wrong and what to do.
VENV ?= cache/venv
CHECK := PYTHONPATH=scripts PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python -m

check: ## format, lint, complexity, layers, warnings of gcc and clang, unit tests (under two minutes)
check: check-format check-lint check-limits check-files check-layers check-self check-warnings test-unit

check-format: | setup
	@$(CHECK) check.format

check-lint: | setup
	@$(CHECK) check.lint

check-limits: | setup
	@$(CHECK) check.limits

check-files: | setup
	@$(CHECK) check.files

check-layers: | setup
	@$(CHECK) check.layers

# The checks themselves: each must find the fault it is there for.
check-self: | setup
	@$(CHECK) pytest -q -p no:cacheprovider tests/check

# The hypervisor with both compilers; hyp.mk turns every warning into an error.
check-warnings: check-warnings-gcc check-warnings-clang

check-warnings-gcc: | setup
	@$(MAKE) --no-print-directory hyp HYP_CC=gcc HYP_BUILD=$(BUILD)/check/hyp-gcc
	@echo "check-warnings: ok, no warning from gcc"

check-warnings-clang: | setup
	@$(MAKE) --no-print-directory hyp HYP_CC=clang HYP_BUILD=$(BUILD)/check/hyp-clang
	@echo "check-warnings: ok, no warning from clang"

format: | setup ## format C and Python in place
	@$(CHECK) check.format --fix

# Only needed when scripts/requirements.in changes; writes the versions and checksums that setup installs.
requirements: | setup ## pin scripts/requirements.in anew
	@$(VENV)/bin/python -m venv $(CACHE)/uv
	@$(CACHE)/uv/bin/pip install --quiet uv==0.13.8
	@{ printf '# SPDX-License-Identifier: Apache-2.0\n# Made by `make requirements` from requirements.in; do not edit.\n'; \
	   $(CACHE)/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	   scripts/requirements.in; } > $(CACHE)/requirements.txt
	@mv $(CACHE)/requirements.txt scripts/requirements.txt
	@echo "scripts/requirements.txt: written; run \`make setup\`"

.PHONY: check check-format check-lint check-limits check-files check-layers check-self check-warnings \
	check-warnings-gcc check-warnings-clang format requirements
