# SPDX-License-Identifier: Apache-2.0
# Goals that the hypervisor to be built cannot serve end here, before anything is made. Read after all other fragments, whose
# defaults it judges.

# $(call refuse,goals,why): an error if one of the goals is asked for.
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
$(call refuse,debug debug-server,HYP_COMPONENTS leaves out the debugger; expected the component debug in it)
endif
