# SPDX-License-Identifier: Apache-2.0
# GDB on one VM of a running system (docs/debugging.md), and its server, tools/gdb.
# A TCP port or the path of a socket; by default a socket in build/debug.
PORT ?=
export PORT

GDB_TOOL := $(BUILD)/gdb/release/tessera-gdb
CRATES := $(CACHE)/crates/gdbstub.json
# Offline and locked: all dependencies are in cache/crates.
CARGO_BUILD = CARGO_TARGET_DIR=$(BUILD)/gdb $${CARGO:-cargo} $(1) --locked --offline --quiet --manifest-path tools/gdb/Cargo.toml

$(CRATES): guests/packages.lock tools/fetch.py | setup-debug
	@$(PYTHON) tools/fetch.py crates
	@touch $@

# The filter in front of gdbstub, of this server and of iasim's.
RSP_SRCS := tools/rsp/Cargo.toml $(wildcard tools/rsp/src/*.rs)

$(GDB_TOOL): $(CRATES) $(RSP_SRCS) tools/gdb/Cargo.toml tools/gdb/Cargo.lock $(wildcard tools/gdb/src/*.rs) | setup-debug
	@echo "  CARGO tools/gdb"
	@$(call CARGO_BUILD,build --release)
	@touch $@

gdb-tool: $(GDB_TOOL)

test-gdb-tool: $(CRATES) | setup-debug ## run the unit tests of the GDB server
	$(call cargo_test,test-gdb-tool,$(call CARGO_BUILD,test --package tessera-gdb --package tessera-rsp))
	@$(some_selected)

debug: image gdb-tool ## boot SYSTEM and attach GDB to its VM=linux only (SYMBOLS=elf, GDB=path); the other VMs run
	@$(RUN) debug --system "$$SYSTEM" "$$VM"

debug-server: image gdb-tool ## boot SYSTEM with its console on this terminal, with a GDB server for VM=linux at a socket, or at PORT=number (TCP) or PORT=path
	@$(RUN) debug-server --system "$$SYSTEM" $(if $(PORT),--listen "$$PORT") "$$VM"

.PHONY: gdb-tool test-gdb-tool debug debug-server
