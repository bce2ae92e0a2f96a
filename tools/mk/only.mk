# SPDX-License-Identifier: Apache-2.0
# ONLY=words selects tests of a suite: those whose names contain one of the words, or an expression of pytest's -k
# ("a and not b"). Programs in C and tests in Rust take words only. It is an error to select none.
ONLY ?=
export ONLY

EMPTY :=
SPACE := $(EMPTY) $(EMPTY)
export ONLY_EXPRESSION := $(if $(filter and or not,$(ONLY)),$(ONLY),$(subst $(SPACE), or ,$(strip $(ONLY))))
PYTEST_ONLY := $(if $(ONLY),-k "$$ONLY_EXPRESSION")

# Exists if a part of the suite had a selected test.
SELECTED := $(BUILD)/selected
ifeq ($(MAKELEVEL),0)
$(if $(ONLY),$(shell rm -f $(SELECTED)))
endif

# $(call part,command): a part of a suite, which may have none of the selected tests. pytest's status is 5 then.
part = status=0; { $(1); } || status=$$?; \
	if [ $$status = 0 ]; then mkdir -p $(BUILD) && touch $(SELECTED); \
	elif [ -z "$$ONLY" ] || [ $$status != 5 ]; then exit $$status; fi

# The end of a suite of parts, if it was asked for.
some_selected = $(if $(and $(ONLY),$(filter $@,$(MAKECMDGOALS))),[ -e $(SELECTED) ] || { \
	echo "make $@: no test of this suite is called $$ONLY" >&2; exit 1; },:)

ONLY_WORDS = $(filter-out or,$(ONLY))

# $(call named,names): those that ONLY= selects, of programs.
named = $(if $(ONLY),$(strip $(foreach name,$(1),$(if $(strip $(foreach word,$(ONLY_WORDS),$(findstring $(word),$(name)))),$(name)))),$(1))

# $(call cargo_test,name,command of cargo): shows the compiler's warnings about external crates only after an error.
define cargo_test
	@mkdir -p $(BUILD)
	@$(2) $(if $(ONLY),-- $(ONLY_WORDS:%='%')) >$(BUILD)/$(1).log 2>&1 || { cat $(BUILD)/$(1).log >&2; exit 1; }
	@$(call part,sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' $(BUILD)/$(1).log | \
	    awk '{ n += $$1 } END { print "$(1): " n " tests passed"; exit n ? 0 : 5 }')
endef
