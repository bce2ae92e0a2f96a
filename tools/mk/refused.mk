# SPDX-License-Identifier: Apache-2.0
# Refuses targets that the selected board or components do not support, before anything is built.
# Included after all other fragments, which set the defaults that it checks.

# $(call refuse,targets,reason): an error if one of the targets was requested.
refuse = $(if $(filter $(1),$(MAKECMDGOALS)),$(error make $(firstword $(filter $(1),$(MAKECMDGOALS))): $(2)))

ifeq ($(HYP_ARCH),mips)
$(call refuse,debug debug-server,board $(BOARD) has no debugger (CAVEATS.md); use PLATFORM=qemu-virt)
$(call refuse,trace,board $(BOARD) has no trace (CAVEATS.md); use PLATFORM=qemu-virt)
$(call refuse,fuzz,board $(BOARD) has no guest that makes random calls; use PLATFORM=qemu-virt)
endif
ifeq ($(filter shared pty,$(CONSOLES)),)
$(call refuse,run,CONSOLES=$(CONSOLES): expected shared or pty)
endif
ifeq ($(filter debug,$(HYP_COMPONENTS)),)
$(call refuse,debug debug-server,HYP_COMPONENTS has no debug; the debugger needs this component)
endif
ifneq ($(ONLY),)
$(call refuse,test soak check,ONLY= selects tests of one suite: `make test-e2e ONLY=words`)
$(call refuse,site test-iasim-speed,ONLY= selects nothing here: this is one test)
$(call refuse,test-coverage coverage,ONLY= selects nothing here: it takes all tests to know what none executes)
ifeq ($(FUZZ_NAMED),)
$(call refuse,test-fuzz-host fuzz-host,ONLY=$(ONLY): expected some of $(FUZZ_TARGETS))
endif
endif
ifneq ($(filter debug,$(HYP_COMPONENTS)),)
ifeq ($(filter console,$(HYP_COMPONENTS)),)
$(error HYP_COMPONENTS has debug without console; the debugger's frames come through the console)
endif
endif
