# SPDX-License-Identifier: Apache-2.0
# Static checks. Each check is a separate target, which prints one line on success and otherwise,
# for each finding, file:line, the violation and the remedy.
VENV ?= $(CACHE)/venv
CHECK := PYTHONPATH=tools PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python -m

# What takes longer is in `make test`: clang's analyzer (check-analyze), all examples of the property tests, the tests of
# the checks themselves and of the tools in Rust.
CHECK_PARTS := test-unit-quick test-unit-c check-warnings check-stack check-hlv check-format check-lint check-limits check-files \
	check-layers check-synthesis check-mutations check-links check-docs check-figures check-tutorials

check: | setup-dev setup-site ## check format, lint, complexity, links, layers, warnings of gcc and clang, unit tests (one minute on 2 cores)
	@$(MAKE) --no-print-directory --jobs=$(shell nproc) --output-sync=target $(CHECK_PARTS)
	@echo "check: ok, $(words $(CHECK_PARTS)) parts"

# A make that this one starts has its jobs, if any.
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs=$(shell nproc))

# $(call files,PATTERNS): the files of these names that git tracks or would track; no link to a folder, as cache may be one.
files = $$(git ls-files --cached --others --exclude-standard --deduplicate -- $(1) | while read -r file; do if [[ -f $$file ]]; then echo "$$file"; fi; done)
CXX_FILES := '*.cc' 'fpga/target/cosim/*.h'
C_FILES := '*.c' '*.h' ':!fpga/target/cosim/*.h'
SHELL_FILES := '*.sh' .ci/run

# `make format` corrects both.
check-format: | setup-dev
	@$(VENV)/bin/clang-format --dry-run -Werror $(call files,$(C_FILES)) $(call files,$(CXX_FILES))
	@$(VENV)/bin/ruff format --check --quiet --output-format=concise $(call files,'*.py')
	@echo "check-format: ok, C and C++ as clang-format does, Python as ruff does"

# `ruff rule <code>` explains a finding.
check-lint: | setup-dev
	@$(VENV)/bin/ruff check --quiet --output-format=concise $(call files,'*.py')
	@$(VENV)/bin/mypy --no-error-summary
	@shellcheck -x -f gcc $(call files,$(SHELL_FILES))
	@echo "check-lint: ok, Python by ruff and mypy, shell scripts by shellcheck"

# Functions of C: at most 10 paths, 6 parameters, 60 lines, and the rules of limits.yml; of Python: at most 10 paths.
LIZARD := $(VENV)/bin/lizard --warnings_only --CCN 10
LIMITS := tools/check/limits.yml
check-limits: | setup-dev
	@$(LIZARD) --arguments 6 --length 60 --whitelist tools/check/lizard.txt -l c -l cpp $(call files,$(C_FILES)) $(call files,$(CXX_FILES))
	@$(LIZARD) --arguments 100 --length 1000 -l python $(call files,'*.py')
	@$(VENV)/bin/ast-grep scan --report-style short --rule $(LIMITS) $(call files,$(C_FILES))
	@$(VENV)/bin/ast-grep scan --report-style short --inline-rules "$$(sed 's/^language: C$$/language: Cpp/' $(LIMITS))" $(call files,$(CXX_FILES))
	@echo "check-limits: ok, complexity, parameters and lengths by lizard, expressions by ast-grep"

# Names that tools require, the registries of packages, whose names belong into the package managers' configuration, and
# places outside of the repository.
FIXED_NAMES := CAVEATS.md|CHANGELOG.md|CONTRIBUTING.md|Cargo.(lock|toml)|FreeRTOSConfig.h|LICENSE|Makefile|README.md|REUSE.toml|Apache-2.0.txt|GPL-2.0-or-later.txt
REGISTRIES := \b((files\.)?pythonhosted|pypi(\.python)?|((static|index)\.)?crates|registry\.npmjs|([a-z0-9-]+\.)*(debian|ubuntu))\.(org|io|com|net)\b
OUTSIDE := (\.\.|/work)/(shared|main)\b

# A licence (REUSE.toml), white space and lengths of lines (.editorconfig), names, and what no file contains.
check-files: | setup-dev
	@mkdir -p $(BUILD)
	@$(VENV)/bin/reuse lint --lines
	@$(VENV)/bin/edcfg-lint --hidden $(call files,'*') >$(BUILD)/check-files.log || { cat $(BUILD)/check-files.log >&2; exit 1; }
	@! printf '%s\n' $(call files,'*') | grep -vE '^((\.?[a-z0-9][a-z0-9_.+-]*|LICENSES)/)*((__)?\.?[a-z0-9][a-z0-9_.+-]*(\.S)?|$(FIXED_NAMES))$$' || \
	    { echo "check-files: a name that is not lower case: use a-z, 0-9, _ and -" >&2; exit 1; }
	@! git grep --untracked -nIiE '$(REGISTRIES)' || { echo "check-files: let the package manager's own configuration name a package registry" >&2; exit 1; }
	@! git grep --untracked -nIE '$(OUTSIDE)' || { echo "check-files: a place outside the repository: keep it self-contained" >&2; exit 1; }
	@echo "check-files: ok, licences, white space, names"

check-layers: | setup-dev
	@$(CHECK) check.layers

check-synthesis: | setup-dev
	@$(CHECK) check.synthesis

# Static analysis: cppcheck and clang's analyzer.
check-analyze: | setup-dev
	@$(CHECK) check.analyze

# The source lines that `make mutate-faults` removes must exist: a change of these lines breaks its
# list. The mutants of tests/e2e are checked when pytest collects them.
check-mutations: | setup-dev
	@$(call part,$(CHECK) pytest -q -p no:cacheprovider $(PYTEST_ONLY) tests/check/test_mutations.py)
	@mkdir -p $(BUILD)
	@$(CHECK) pytest -q -p no:cacheprovider --collect-only tests/e2e >$(BUILD)/check-collect.log || { \
	    grep -E '^E ' $(BUILD)/check-collect.log >&2; echo "check-mutations: tests/e2e cannot be collected" >&2; exit 1; }

# Tests of our own tools: each check must find an injected fault.
check-self: check-mutations | setup-dev setup-site
	@$(call part,$(CHECK) pytest -q -p no:cacheprovider -n 2 $(PYTEST_ONLY) --ignore=tests/check/test_mutations.py tests/check)
	@$(some_selected)

# Tests of the tools that measure: the benchmark must parse its input, a trace its records.
test-bench-tools: | setup-dev
	@$(call part,$(CHECK) pytest -q -p no:cacheprovider -n 2 $(PYTEST_ONLY) tests/bench tests/trace)
	@$(some_selected)

# The hypervisor with both compilers; hyp.mk turns every warning into an error.
check-warnings: check-warnings-gcc check-warnings-clang check-warnings-cva6

# $(call check_warnings,name,compiler,variables of make): shows the compiler's output only if there are warnings.
define check_warnings
	@mkdir -p $(BUILD)/check
	@$(MAKE) --no-print-directory $(JOBS) hyp HYP_CC=$(2) HYP_BUILD=$(BUILD)/check/hyp-$(1) $(3) >$(BUILD)/check/$(1).log 2>&1 || { \
	    grep -E ':[0-9]+:[0-9]+: (warning|error|fatal error):|Error' $(BUILD)/check/$(1).log >&2; \
	    echo "check-warnings: $(2) reports warnings or errors; the whole output is in $(BUILD)/check/$(1).log" >&2; exit 1; }
	@echo "check-warnings: ok, no warning from $(strip $(2) $(3))"
endef

check-warnings-gcc: | setup-dev
	$(call check_warnings,gcc,$(CROSS)gcc)

check-warnings-clang: | setup-dev
	$(call check_warnings,clang,clang)

# A board whose core has the errata of CVA6, with the remedies.
check-warnings-cva6: | setup-dev
	$(call check_warnings,cva6,$(CROSS)gcc,PLATFORM=cva6-sim)

# HLV, HLVX and HSV: nothing follows or surrounds them that CVA6's errata would disturb.
check-hlv: check-warnings | setup-dev
	@$(CHECK) check.hlv

# The stack of a hart, from the call graph that gcc has written beside the object files.
check-stack: check-warnings-gcc | setup-dev
	@$(CHECK) check.stack

format: | setup-dev ## format C and Python in place
	@$(VENV)/bin/clang-format -i $(call files,$(C_FILES)) $(call files,$(CXX_FILES))
	@$(VENV)/bin/ruff check --quiet --fix --select I $(call files,'*.py')
	@$(VENV)/bin/ruff format --quiet $(call files,'*.py')

# $(call pin,name,options): writes tools/name.txt, the packages of tools/name.in with versions
# and checksums.
define pin
	@{ printf '# SPDX-License''-Identifier: Apache-2.0\n# Made by `make requirements` from $(1).in; do not edit.\n'; \
	   $(CACHE)/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	   $(2) tools/$(1).in; } > $(CACHE)/$(1).txt
	@mv $(CACHE)/$(1).txt tools/$(1).txt
	@echo "tools/$(1).txt: written; run \`make setup\`"
endef

# Only needed after changes of tools/requirements*.in; writes the versions and checksums that
# setup installs. The fabric's packages are installed into the same folder as the others, so their
# versions must agree; LiteX has its own folder.
requirements: | setup-dev ## update the pinned versions of tools/requirements*.in
	@$(VENV)/bin/python -m venv $(CACHE)/uv
	@$(CACHE)/uv/bin/pip install --quiet --require-hashes -r tools/requirements-pin.txt
	$(call pin,requirements,)
	$(call pin,requirements-fpga,-c tools/requirements.txt)
	$(call pin,requirements-site,-c tools/requirements.txt)
	$(call pin,requirements-litex,)

.PHONY: check check-format check-lint check-limits check-files check-layers check-synthesis check-mutations check-analyze check-self check-warnings \
	check-warnings-gcc check-warnings-clang check-warnings-cva6 check-hlv check-stack test-bench-tools format requirements
