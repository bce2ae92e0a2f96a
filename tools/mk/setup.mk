# SPDX-License-Identifier: Apache-2.0
# Tools and Python packages. Targets that need them name `setup` (or `setup-dev`) as an order-only
# prerequisite.
VENV := $(CACHE)/venv
PYTHON := $(VENV)/bin/python

setup: ## install missing tools for building and running (prints which, and why)
	@tools/setup.sh run

setup-dev: ## also install the tools for tests and checks
	@tools/setup.sh dev

setup-debug: ## also install the tools for debugging guests
	@tools/setup.sh debug

setup-fpga: ## also install the tools for the fabric's benches, proofs and synthesis
	@tools/setup.sh fpga

setup-litex: ## also install the builder of the Genesys2's design and the tools for its SD card
	@tools/setup.sh litex

setup-site: ## also install the tools for the documentation's site
	@tools/setup.sh site

setup-browser: ## also install a browser without a window, for tests of the documents' pictures
	@tools/setup.sh browser

setup-qemu-new: $(CACHE)/qemu-new/qemu-system-riscv64 ## fetch a newer QEMU into cache/ (use: QEMU=cache/qemu-new/qemu-system-riscv64)

$(CACHE)/qemu-new/qemu-system-riscv64: | setup
	@$(PYTHON) tools/fetch.py qemu-new

update-lock: | setup ## pin Debian's current versions of the guests in guests/packages.lock
	@$(PYTHON) tools/fetch.py linux linux-modules uboot grub edk2 ssh iperf python userland lwip --update-lock

.PHONY: setup setup-browser setup-debug setup-dev setup-fpga setup-litex setup-qemu-new setup-site update-lock
