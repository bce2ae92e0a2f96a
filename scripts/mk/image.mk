# SPDX-License-Identifier: Apache-2.0
# System images: systems/$(SYSTEM).dts and what it names become build/systems/$(SYSTEM)/tessera.bin.
VENV ?= $(CACHE)/venv
PYTHON ?= $(VENV)/bin/python

# Features of the machine to do without: `make image WITHOUT=sstc,htinst`
WITHOUT ?=

# Directories of kernels and disk images that are not beside the system file, separated by colons.
GUEST_PATH ?=

# Names that people type reach the shell by its environment, whatever characters are in them.
export SYSTEM WITHOUT GUEST_PATH

# Guests are of the hypervisor's architecture.
GUESTS := $(if $(filter mips,$(HYP_ARCH)),$(MIPS_OUT),$(BUILD)/guests)
MKIMAGE_PROGRAM := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) scripts/mkimage.py --guests "$$GUEST_PATH:$(GUESTS)" --board $(BOARD)
MKIMAGE := $(MKIMAGE_PROGRAM) "systems/$$SYSTEM.dts"

# Guests that we know how to make; a system may name files of its own beside them.
IMAGE_GUESTS := $(addprefix $(BUILD)/guests/,linux/Image linux/initramfs.cpio.gz uboot/u-boot.bin) $(BARE_GUESTS) $(MIPS_GUESTS)

# A path with a dollar is none of ours, and make would expand it: a system file must not run commands.
image: | $(if $(filter mips,$(HYP_ARCH)),setup-dev,setup) ## build build/systems/SYSTEM/tessera.bin (SYSTEM=demo, GUEST_PATH=dir of images, WITHOUT=sstc,htinst hides features)
	@files=$$($(MKIMAGE) --list-files | sed '/[$$]/d') && $(MAKE) --no-print-directory image-parts IMAGE_FILES="$$(echo $$files)"
	@$(MKIMAGE) --hypervisor $(HYP_BUILD)/tessera.bin --out "$(BUILD)/systems/$$SYSTEM" --without "$$WITHOUT"
	@echo "$(BUILD)/systems/$$SYSTEM/tessera.bin: $$(stat -c %s "$(BUILD)/systems/$$SYSTEM/tessera.bin") bytes"

# The hypervisor and those guests that the system names.
image-parts: hyp $(filter $(IMAGE_GUESTS),$(IMAGE_FILES))

docs: | setup ## write docs/configuration.md anew from the schema
	@PYTHONPATH=scripts PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m tessera.configdoc > $(CACHE)/configuration.md
	@mv $(CACHE)/configuration.md docs/configuration.md

test-image: | setup-dev ## tests of the system image builder
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m pytest -q -p no:cacheprovider tests/image

.PHONY: image image-parts docs test-image
