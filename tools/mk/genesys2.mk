# SPDX-License-Identifier: Apache-2.0
# The Genesys2's design, fpga/target/genesys2 (docs/fabric.md#the-genesys2). With CVA6_DIR the core is that of a checkout, with H (docs/fabric.md#the-soc).
GENESYS2 := $(BUILD)/genesys2

# Everything but the vendor's tool: LiteX's part, the lists of sources, the checks of both, and the boot program.
genesys2: | yosys setup-litex ## generate and check the Genesys2's design for Vivado (build/genesys2; docs/fabric.md#the-genesys2)
	@$(FPGA_PYTHON) fpga/target/genesys2/design.py $(GENESYS2) --software

genesys2-bitstreams: genesys2 ## build the Genesys2's bitstreams, with Vivado in PATH
	@command -v vivado >/dev/null || { echo "genesys2-bitstreams: vivado is not in PATH; see docs/fabric.md#the-genesys2" >&2; exit 1; }
	@cd $(GENESYS2) && vivado -mode batch -nojournal -log vivado.log -source $(abspath fpga/target/genesys2/dfx.tcl) -tclargs $(abspath $(GENESYS2))

.PHONY: genesys2 genesys2-bitstreams

# The files of the SD card. FIRMWARE and IMAGE name others than those of SYSTEM; TREE, a device tree, and BITSTREAM are optional.
genesys2-sd: FIRMWARE ?= $(BUILD)/firmware/$(BOARD)/firmware.bin
genesys2-sd: IMAGE ?= $(BUILD)/systems/$(SYSTEM)/tessera.bin
genesys2-sd: | setup-litex ## make an SD card's image with SYSTEM for the Genesys2 (PLATFORM=genesys2; build/genesys2-sd.img; FIRMWARE=, IMAGE=, TREE=, BITSTREAM=)
	@$(FPGA_PYTHON) tools/sdimage.py --out $(BUILD)/genesys2-sd.img --firmware "$(FIRMWARE)" --image "$(IMAGE)" \
	    $(if $(TREE),--tree "$(TREE)") $(if $(BITSTREAM),--bitstream "$(BITSTREAM)")

.PHONY: genesys2-sd
