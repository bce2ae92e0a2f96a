# SPDX-License-Identifier: Apache-2.0
# Running what was built, and the tests of the whole.
RUN := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/run.py
VM ?= linux
CONSOLES ?= shared
export VM CONSOLES

# What runs systems for boards that QEMU does not have.
SIMULATOR := $(if $(filter mips,$(HYP_ARCH)),$(IASIM))

run: image $(SIMULATOR) ## boot SYSTEM in QEMU or, with PLATFORM=m5150, in iasim, its console here, or CONSOLES=pty (QEMU=path, CPU=flags such as sstc=false)
	@$(RUN) run --system "$$SYSTEM" --consoles "$$CONSOLES"

smoke: image $(SIMULATOR) ## boot SYSTEM headless until every guest has given its sign of life
	@$(RUN) smoke --system "$$SYSTEM"

native: image $(SIMULATOR) ## boot the guest of VM=linux (uboot, freertos) of SYSTEM without a hypervisor
	@$(RUN) native --system "$$SYSTEM" "$$VM"

# Two files of tests at a time leave two cores idle for a fifth of the time, so three; what counts instructions does so in
# virtual time.
E2E_ALONE := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider
E2E := $(E2E_ALONE) -n 3 --dist loadfile --no-loadscope-reorder

test-e2e: image iasim | setup-dev setup-qemu-new ## boot real systems in QEMU and use them as a person would
	@$(E2E_ALONE) -m alone tests/e2e
	@$(E2E) -m "not long and not alone" tests/e2e

test-e2e-long: image iasim | setup-dev setup-qemu-new
	@$(E2E) -m long tests/e2e

# $(call suite,command,name): runs it and says how long it took.
define suite
	@TIMEFORMAT='test: $(2) took %0lR'; time $(1)
endef

# The fabric's benches beside what else counts instructions and not time. One after the other, so that a failure is the
# last thing on the screen.
BESIDE := test-coverage check-model test-fuzz-host test-image test-guests test-iasim test-mips

test: | setup-dev setup-fpga ## every test but those of soak: unit, image builder, bare guests, the simulator and what runs in it, the fabric, end to end
	$(call suite,$(MAKE) --no-print-directory test-unit,test-unit)
	$(call suite,MAKE="$(MAKE)" scripts/beside.sh $(BUILD)/test-fpga.log test-fpga $(BESIDE),test-fpga and what ran beside it)
	$(call suite,$(MAKE) --no-print-directory test-e2e,test-e2e)
	$(call suite,$(MAKE) --no-print-directory test-newer,test-newer)
	@echo "test: all suites passed"

# Systems once more on a newer QEMU; in soak the bounds, the attacks and leaks, too.
NEWER := $(CACHE)/qemu-new/qemu-system-riscv64

test-newer: | setup-dev setup-qemu-new
	@QEMU=$(NEWER) $(E2E) $(addprefix tests/e2e/test_,smoke.py regression.py)

test-newer-long: image iasim | setup-dev setup-qemu-new
	@QEMU=$(NEWER) $(E2E) $(addprefix tests/e2e/test_,bounds.py leak.py attacks.py attacks_variants.py)

# One defence of the hypervisor taken out at a time: the attacks of the hostile guest must fail then. Takes long;
# ONLY=words runs some (pytest's -k).
ONLY ?=

mutate-faults: | setup-dev ## see that the hostile guest's attacks fail where a defence is missing (table in build/mutants)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider tests/mutations $(if $(ONLY),-k "$(ONLY)")
	@echo "build/mutants/faults.md: what was taken out, and how each attack failed"

.PHONY: test-newer test-newer-long run smoke native test-e2e test-e2e-long test mutate-faults

picture: image | setup-dev ## draw docs/images/demo.svg from a real run of the demo
	@$(PYTHON) scripts/picture.py -- $(PYTHON) scripts/run.py run --system demo

.PHONY: picture

# Systems on the M5150, in its simulator.
test-mips: iasim | setup-dev ## boot systems for the M5150 in iasim, on both of its boards
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m "not long" tests/mips

test-mips-long: iasim | setup-dev # attacks and random instructions where test-mips has not tried them
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -m long tests/mips

.PHONY: test-mips test-mips-long
