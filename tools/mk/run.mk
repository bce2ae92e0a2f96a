# SPDX-License-Identifier: Apache-2.0
# Running systems, and the tests of whole systems.
RUN := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/run.py
VM ?= linux
CONSOLES ?= shared
export VM CONSOLES

# The simulator for boards that QEMU does not emulate.
SIMULATOR := $(if $(filter mips,$(HYP_ARCH)),$(IASIM)) $(if $(filter spike,$(BOARD)),$(FW_BUILD)/firmware.elf) \
	$(if $(filter cva6-sim,$(BOARD)),$(FW_BUILD)/firmware.bin $(if $(CVA6_DIR),$(BUILD)/soc/core-h/soc_sim))

run: image $(SIMULATOR) ## boot SYSTEM in QEMU or, with PLATFORM=m5150, in iasim, with PLATFORM=spike in Spike (SPIKE=path), with PLATFORM=cva6-sim on the SoC in RTL (CVA6_DIR=path), with its console on this terminal or CONSOLES=pty (QEMU=path, CPU=flags such as sstc=false, FIRMWARE=path or opensbi; FLASH=, PCAP=, PINS=, UART=, SCREEN=file of its shared devices)
	@$(RUN) run --system "$$SYSTEM" --consoles "$$CONSOLES"

smoke: image $(SIMULATOR) ## boot SYSTEM headless until every guest has given its sign of life
	@$(RUN) smoke --system "$$SYSTEM"

native: image $(SIMULATOR) ## boot the guest of SYSTEM's VM=linux (or uboot, freertos) without a hypervisor
	@$(RUN) native --system "$$SYSTEM" "$$VM"

# Four files of tests at a time: with three, the two CPUs are idle while tests wait for time to pass. Tests that
# count instructions run in virtual time.
E2E_ALONE := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider
E2E := $(E2E_ALONE) -n 4 --dist loadfile --no-loadscope-reorder

test-e2e: image iasim | setup-dev setup-qemu-new ## boot systems in QEMU and use them as a user would
	@$(E2E) -m "not long" $(PYTEST_ONLY) tests/e2e

test-e2e-long: image iasim | setup-dev setup-qemu-new
	@$(call part,$(E2E_ALONE) -m alone $(PYTEST_ONLY) tests/e2e)
	@$(call part,$(E2E) -m "long and not alone" $(PYTEST_ONLY) tests/e2e)
	@$(some_selected)

# $(call suite,command,name): runs the command and prints its duration.
define suite
	@TIMEFORMAT='test: $(2) took %0lR'; time $(1)
endef

# Suites that run while the fabric's benches run in the background: they count instructions, not
# time. They run one after the other, so that a failure is the last output.
FOREGROUND := check-analyze site test-pictures check-model test-fuzz-host test-image test-guests test-iasim test-mips

test: fetch-guests $(CRATES) | setup-dev setup-debug setup-fpga setup-litex setup-site setup-browser setup-qemu-new ## run all tests except those of soak: unit, image builder, bare guests, simulator and its systems, fabric, fabric behind QEMU, SoC, end to end, tutorials
	$(call suite,$(MAKE) --no-print-directory test-unit,test-unit)
	$(call suite,MAKE="$(MAKE)" tools/background.sh $(BUILD)/test-fpga.log test-fpga $(FOREGROUND),test-fpga and the suites in parallel)
	$(call suite,$(MAKE) --no-print-directory test-cosim,test-cosim)
	$(call suite,$(MAKE) --no-print-directory test-soc,test-soc)
	$(call suite,$(MAKE) --no-print-directory test-e2e,test-e2e)
	$(call suite,$(MAKE) --no-print-directory test-tutorials,test-tutorials)
	$(call suite,$(MAKE) --no-print-directory test-newer,test-newer)
	@echo "test: all suites passed"

# The suites that concern the files changed since BASE= (default: since main's upstream, or since the commit before).
BASE ?=
export BASE

test-changed: $(if $(NAMES),,fetch-guests $(CRATES)) | setup-dev ## run the suites that concern the files changed since the commit BASE= (NAMES=1 only names them)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/changed.py --base "$$BASE" $(if $(NAMES),--names)

# Systems on a newer QEMU. Tests of what differs between the versions: the processor's features and the firmware, virtual
# time, the plugin of the fabric and its instructions, interrupts of the shared devices. Many tests of test-e2e
# use this QEMU by themselves. In soak the whole files, and the bounds, the attacks and the leaks.
NEWER := $(CACHE)/qemu-new/qemu-system-riscv64
NEWER_TESTS := $(addprefix tests/e2e/test_,regression.py \
	$(addprefix accelerators.py::test_,two_vms_share_the_devices an_allocated_device_does_not_exit same_run_twice \
	    jobs_are_preempted_and_resumed) \
	hardware_io.py::test_drivers overlays.py::test_a_device_comes_and_goes_with_its_overlay \
	rt_sorter.py::test_timers_of_guests shared_devices.py::test_rectangles)

test-newer: | setup-dev setup-qemu-new ## boot systems on a newer QEMU and use them as a user would
	@QEMU=$(NEWER) $(E2E) -m "not long" $(PYTEST_ONLY) $(NEWER_TESTS)

test-newer-long: image iasim | setup-dev setup-qemu-new
	@QEMU=$(NEWER) $(E2E) $(PYTEST_ONLY) $(addprefix tests/e2e/test_,smoke.py regression.py accelerators.py edk2.py \
		accelerators_faults.py attacks_accel.py hardware_io.py overlays.py rt_devices.py rt_sorter.py shared_devices.py \
		accelerators_many.py accelerators_response.py shared_net.py shared_rt.py bounds.py leak.py attacks.py \
		attacks_variants.py)

# Fault injection: removes one check of the hypervisor at a time; then an attack of the hostile
# guest must be detected. Also unit-mutants. Takes long; ONLY=words selects some.
mutate-faults: | setup-dev ## check that attack and unit tests fail when the hypervisor is broken (tables in build/mutants)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -p no:cacheprovider $(PYTEST_ONLY) tests/mutations
	@echo "build/mutants/faults.md: the removed checks, and the failure of each attack; unit_faults.md: faults, and the unit test that finds each"

.PHONY: test-changed test-newer test-newer-long run smoke native test-e2e test-e2e-long test mutate-faults

picture: image | setup-dev ## draw docs/images/demo.svg from a real run of the demo
	@$(PYTHON) tools/picture.py -- $(PYTHON) tools/run.py run --system demo

network-picture: | setup-dev ## draw docs/images/network.svg from a real run of the system network
	@$(MAKE) --no-print-directory image SYSTEM=network
	@$(PYTHON) tools/picture.py --scene network -- $(PYTHON) tools/run.py run --system network

web-picture: | setup-dev setup-browser ## draw docs/images/freertos-web.png: the page of FreeRTOS in a browser
	@$(MAKE) --no-print-directory image SYSTEM=network
	@$(PYTHON) tools/web_picture.py

io-pictures: | setup-dev ## draw docs/images/hardware-io-*.png from a run of the system hardware-io
	@$(MAKE) --no-print-directory image SYSTEM=hardware-io
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/io_pictures.py

.PHONY: picture network-picture web-picture io-pictures

# Systems on the M5150, in its simulator.
test-mips: iasim | setup-dev ## boot systems for the M5150 in iasim, on both boards
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -n 2 --dist loadfile -m "not long" $(PYTEST_ONLY) tests/mips

test-mips-long: iasim | setup-dev # attacks and random instructions in configurations that test-mips omits
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -n 2 --dist loadfile -m long $(PYTEST_ONLY) tests/mips

.PHONY: test-mips test-mips-long
