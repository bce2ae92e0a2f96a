# SPDX-License-Identifier: Apache-2.0
# The benchmark. QEMU=path measures with this emulator only; the default is the one in PATH and,
# after `make setup-qemu-new`, the newer one. BENCH_FLAGS="--only switch" selects measurements.
BENCH_FLAGS ?=

bench: $(if $(filter cva6-sim,$(BOARD)),bench-soc,bench-all) ## run the benchmark: figures against goals and other hypervisors (build/bench; with PLATFORM=cva6-sim: bench-soc)

bench-all: | setup-dev
	@mkdir -p $(BUILD)
	@for system in $(BENCH_SYSTEMS); do $(MAKE) --no-print-directory image SYSTEM=$$system >$(BUILD)/bench-image.log 2>&1 || { \
	    tail -n 20 $(BUILD)/bench-image.log >&2; echo "bench: systems/bench/$$system.dts cannot be built" >&2; exit 1; }; done
	@for board in m5150 m5150-generic; do $(MAKE) --no-print-directory hyp iasim guests-mips BOARD=$$board \
	    >$(BUILD)/bench-image.log 2>&1 || { tail -n 20 $(BUILD)/bench-image.log >&2; \
	    echo "bench: the hypervisor for $$board cannot be built" >&2; exit 1; }; done
	@PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python tools/bench.py --out $(BUILD)/bench $(BENCH_FLAGS)
	@$(MAKE) --no-print-directory bench-fpga

# Without a new run, from results.jsonl and rt-stress.json in build/bench.
bench-pictures: | setup-dev ## draw the last benchmark's pictures again, those of the documents too
	@PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python tools/bench.py --out $(BUILD)/bench --draw --pictures docs/images

# From results.jsonl in build/bench, or RESULTS="file ...": parts of a benchmark, too.
RESULTS ?=
bench-record: | setup-dev ## record the last benchmark's figures in docs/figures.tsv, and write them into the documents
	@PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tools $(VENV)/bin/python tools/record_figures.py $(RESULTS)

# BREAK_EVEN_FLAGS="--cpu-mhz 600": for another CPU; the program's --help lists the others.
BREAK_EVEN_FLAGS ?=
break-even: | setup-dev ## which HW tasks, frame sizes and rates are worth a reconfiguration (build/break-even)
	@$(MAKE) --no-print-directory image SYSTEM=soft-tasks >/dev/null
	@PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python tools/break_even.py $(BREAK_EVEN_FLAGS)

.PHONY: bench bench-record bench-all bench-pictures break-even
