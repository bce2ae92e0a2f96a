# SPDX-License-Identifier: Apache-2.0
# Tools and Python packages. Targets that need them name `setup` (or `setup-dev`) as an order-only
# prerequisite.
VENV := $(CACHE)/venv
PYTHON := $(VENV)/bin/python

setup: ## install missing tools for building and running (prints which, and why)
	@scripts/setup.sh run

setup-dev: ## also install the tools for tests and checks
	@scripts/setup.sh dev

setup-debug: ## also install the tools for debugging guests
	@scripts/setup.sh debug

setup-fpga: ## also install the tools for the fabric's benches, proofs and synthesis
	@scripts/setup.sh fpga

setup-litex: ## also install the builder of the Genesys2's design and the tools for its SD card
	@scripts/setup.sh litex

setup-site: ## also install the tools for the documentation's site
	@scripts/setup.sh site

setup-browser: ## also install a browser without a window, for tests of the documents' pictures
	@scripts/setup.sh browser

setup-qemu-new: $(CACHE)/qemu-new/qemu-system-riscv64 ## fetch a newer QEMU into cache/ (use: QEMU=cache/qemu-new/qemu-system-riscv64)

$(CACHE)/qemu-new/qemu-system-riscv64: | setup
	@$(PYTHON) scripts/fetch.py qemu-new

update-lock: | setup ## pin Debian's current versions of the guests in guests/packages.lock
	@$(PYTHON) scripts/fetch.py linux linux-modules uboot grub edk2 ssh iperf python userland lwip --update-lock

.PHONY: setup setup-browser setup-debug setup-dev setup-fpga setup-litex setup-qemu-new setup-site update-lock
