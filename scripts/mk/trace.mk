# SPDX-License-Identifier: Apache-2.0
# A trace of SYSTEM, whatever its file says of traces: docs/trace.md.
TRACE_KIB ?= 4096
TRACE_FLAGS ?=
TRACE := $(BUILD)/trace

trace: image | setup-dev ## run SYSTEM and draw what its harts did (TRACE_KIB=4096 a hart; TRACE_FLAGS: scripts/trace.py --help)
	@mkdir -p "$$(dirname "$(TRACE)/$$SYSTEM")"
	@printf '/include/ "%s/$(SYSTEM_DIR)/$(SYSTEM).dts"\n/ { trace-kib = <$(TRACE_KIB)>; };\n' "$$PWD" >$(TRACE)/$(SYSTEM).dts
	@$(MKIMAGE_PROGRAM) $(TRACE)/$(SYSTEM).dts --hypervisor $(HYP_BUILD)/tessera.bin --out $(TRACE)/systems/$(SYSTEM)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/trace.py --system $(SYSTEM) --build $(TRACE) --out $(TRACE) $(TRACE_FLAGS)

.PHONY: trace
