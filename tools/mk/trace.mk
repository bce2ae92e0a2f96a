# SPDX-License-Identifier: Apache-2.0
# A trace of SYSTEM with TRACE_KIB of trace memory, whether or not its file enables traces:
# docs/trace.md.
TRACE_KIB ?= 4096
TRACE_FLAGS ?=
TRACE := $(BUILD)/trace

trace: image | setup-dev ## run SYSTEM and draw the timeline of its harts (TRACE_KIB=4096 per hart; TRACE_FLAGS: tools/trace.py --help)
	@mkdir -p "$$(dirname "$(TRACE)/$$SYSTEM")"
	@printf '/include/ "%s/$(SYSTEM_DIR)/$(SYSTEM).dts"\n/ { trace-kib = <$(TRACE_KIB)>; };\n' "$$PWD" >$(TRACE)/$(SYSTEM).dts
	@$(MKIMAGE_PROGRAM) $(TRACE)/$(SYSTEM).dts --hypervisor $(HYP_BUILD)/tessera.bin --out $(TRACE)/systems/$(SYSTEM)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/trace.py --system $(SYSTEM) --build $(TRACE) --out $(TRACE) $(TRACE_FLAGS)

# The README's picture: a section in which Linux, FreeRTOS and all RT apps run.
trace-picture: ## draw docs/images/rt-timeline.png from a run
	@$(MAKE) --no-print-directory trace SYSTEM=rt TRACE_FLAGS="--seconds 0.6 --from-ms 527 --picture-ms 12"
	@cp $(TRACE)/rt.png docs/images/rt-timeline.png

trace-accelerators: ## draw docs/images/accelerators-timeline.png: an RT app preempts jobs of another VM in a region
	@$(MAKE) --no-print-directory trace SYSTEM_DIR=tests/e2e/systems SYSTEM=accel-rt \
		TRACE_FLAGS="--fabric --icount --seconds 0.0225 --picture-ms 3.2"
	@cp $(TRACE)/accel-rt.png docs/images/accelerators-timeline.png

.PHONY: trace trace-picture trace-accelerators
