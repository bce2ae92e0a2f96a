# SPDX-License-Identifier: Apache-2.0
# How each C file is compiled, as language servers and clang's tools read it: BOARD's hypervisor, then core and its unit
# tests on this machine.
COMMANDS := $(BUILD)/compile_commands.json

# $(call compile_commands,FILES,COMPILER WITH ITS FLAGS)
compile_commands = $(foreach file,$(1),{"directory": "$(CURDIR)"$(comma) "file": "$(file)"$(comma) "command": "$(2) -c $(file)"}$(comma))
comma := ,

compile-commands: ## write build/compile_commands.json, for language servers (BOARD=)
	@mkdir -p $(BUILD)
	$(file >$(COMMANDS).new,[$(call compile_commands,$(filter %.c,$(HYP_SRCS)),$(HYP_CC) $(HYP_CFLAGS) $(call headers_of,$(HYP_COMPONENTS)) -Iarch/$(HYP_ARCH)))
	$(file >>$(COMMANDS).new,$(call compile_commands,$(HOST_SRCS) $(UNIT_HELP) $(UNIT_TESTS:%=tests/unit/%.c),$(HOST_CC) $(HOST_CFLAGS)))
	@sed '$$ s/,$$/]/' $(COMMANDS).new >$(COMMANDS)
	@rm $(COMMANDS).new
	@echo "$(COMMANDS): written"

.PHONY: compile-commands
