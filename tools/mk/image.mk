# SPDX-License-Identifier: Apache-2.0
# System images: build/systems/$(SYSTEM)/tessera.bin from systems/$(SYSTEM).dts and the files that
# it names.
VENV ?= $(CACHE)/venv
PYTHON ?= $(VENV)/bin/python

# Features of the machine that the hypervisor must not use: `make image WITHOUT=sstc,htinst`
WITHOUT ?=

# Directories of kernels and disk images, separated by colons, that are searched after the system
# file's folder.
GUEST_PATH ?=

# Names from the user are passed to the shell in its environment, because they may contain any
# character.
export SYSTEM WITHOUT GUEST_PATH

# Guests have the hypervisor's architecture.
GUESTS := $(if $(filter mips,$(HYP_ARCH)),$(MIPS_OUT),$(BUILD)/guests)
MKIMAGE_PROGRAM := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/mkimage.py --guests "$$GUEST_PATH:$(GUESTS):$(BUILD)/fpga" --board $(BOARD)
# The benchmark's systems are in systems/bench and are named without the folder. Some of them are variants of others.
BENCH_SYSTEMS := $(sort $(patsubst systems/bench/%.dts,%,$(wildcard systems/bench/*.dts)) $(shell sed -n 's,^//= ,,p' systems/bench/variants.dtsi))
SYSTEM_DIR := systems$(if $(wildcard systems/$(SYSTEM).dts),,$(if $(filter $(BENCH_SYSTEMS),$(SYSTEM)),/bench))
MKIMAGE := $(MKIMAGE_PROGRAM) "$(SYSTEM_DIR)/$$SYSTEM.dts"

# Guests that make can build; a system may also name other files.
IMAGE_GUESTS := $(addprefix $(BUILD)/guests/,linux/Image linux/initramfs.cpio.gz linux/flash.cpio.gz linux/network.cpio.gz linux/messages.cpio.gz linux/python.cpio.gz linux/passthrough.cpio.gz linux/slot-disk.img linux/function-disk.img linux/disk.cpio.gz linux/disk.img linux/grub-disk.img storage/disk.img debian/disk.img debian/initramfs.cpio.gz debian/installer.gz debian/installer-disk.img uboot/u-boot.bin edk2/code.fd) $(BARE_GUESTS) $(MIPS_GUESTS)

# Bitstreams for the simulated fabric; a system names them simb/<task>-<region>.bin.
SIMB := $(BUILD)/fpga/simb

$(SIMB)/%.bin: tools/simb.py tools/tessera/fabric/bitstream.py | setup-dev
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tools/simb.py $@

# make would expand a path with a dollar sign, and a system file must not run commands: no path here
# contains one.
image: | $(if $(filter mips,$(HYP_ARCH)),setup-dev,setup) ## build build/systems/SYSTEM/tessera.bin (SYSTEM=demo, GUEST_PATH=dir of images, WITHOUT=sstc,htinst hides features)
	@files=$$($(MKIMAGE) --list-files | sed '/[$$]/d') && $(MAKE) --no-print-directory image-file IMAGE_FILES="$$(echo $$files)"

# The image, of a hypervisor without the components that the system does not need (HYP_UNUSED).
image-file: image-parts
	@$(MKIMAGE) --hypervisor $(HYP_BUILD)/tessera.bin --out "$(BUILD)/systems/$$SYSTEM" --without "$$WITHOUT" --components "$(HYP_COMPONENTS)" $(if $(HYP_SORTERS),--sorters)
	@echo "$(BUILD)/systems/$$SYSTEM/tessera.bin: $$(stat -c %s "$(BUILD)/systems/$$SYSTEM/tessera.bin") bytes"

# The hypervisor, and those guests and bitstreams that the system names.
# A system with bitstreams, with shared devices, or with queues in sorters runs with the fabric's RTL on QEMU.
# On QEMU the project's own firmware runs, unless QEMU is older than 10.0 (docs/porting.md#the-firmware).
image-parts: hyp $(if $(filter qemu-virt,$(BOARD)),$(FW_BUILD)/firmware.bin) $(filter $(IMAGE_GUESTS) $(SIMB)/%.bin,$(IMAGE_FILES)) $(if $(filter qemu-virt,$(BOARD)),$(if $(filter $(SIMB)/%.bin shared,$(IMAGE_FILES))$(HYP_SORTERS),cosim))

docs: | setup ## generate docs/configuration.md from the schema, docs/hypercalls.md from the comments in abi/
	@PYTHONPATH=tools PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m tessera.image.configdoc > $(CACHE)/configuration.md
	@PYTHONPATH=tools PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m tessera.calldoc > $(CACHE)/hypercalls.md
	@mv $(CACHE)/configuration.md $(CACHE)/hypercalls.md docs

test-image: | setup-dev setup-fpga ## test the system image builder
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider -n 2 --dist loadfile $(PYTEST_ONLY) tests/image

.PHONY: image image-file image-parts docs test-image
