# SPDX-License-Identifier: Apache-2.0
"""The SoC in RTL: the program that drives every block from the core, and what the simulation refuses."""

import re
import struct
import subprocess
from pathlib import Path

import costs
import measure_soc
import pytest
import sources
from figures import measured
from program import DRAM, PROGRAM, STALE_OF, Report, run, start
from rtl_tools import TOP

from tessera.bench import published

# Metric: the report of the program that has it. The worst one counts, if there are several.
FIGURES = {
    "soc.fabric.read": "fabric_read",
    "soc.fabric.write": "fabric_write_posted",
    "soc.fabric.write.read": "fabric_write_read",
    "soc.dram.uncached": "dram_uncached_read",
    "soc.request": "request_to_solution",
    "soc.configuration": "configuration_to_handler",
    "soc.connect": "connect_to_seen",
    "soc.qam16.512": "qam_512",
    "soc.qam16.16": "qam_16",
    "soc.sorter.insert": "sorter_insert",
    "soc.sorter.pop": "sorter_pop",
    "soc.clear.4096": "clear_4096",
    "soc.irq.claim": "trap_to_claim",
    "soc.flash.1": "shared_flash_1",
    "soc.flash.256": "shared_flash_256",
    "soc.copy.512": "shared_copy_512_to_handler",
    "soc.ethernet.128": "shared_frame_128_loop",
}
# Metric: the path of program/costs.c, warm.
PATHS = {
    "soc.path.copy": "copy",
    "soc.path.timers": "timers",
    "soc.path.interrupt": "interrupt",
    "soc.path.job": "job",
    "soc.path.put": "put",
}
# Parts of the program, and how often each of these checks must have succeeded.
CHECKS = {
    "store": 8, "amo_new": 1, "sc_new": 1, "bus_error_traps": 1, "timer": 1, "software": 1, "board_lines": 1,
    "uart_received": 1, "cleared": 1, "spi_flash": 1, "sorter_head": 6, "configuration_words": 2, "wrong_symbols": 5,
    "violation_address": 1, "wrong_after_flush": 1, "page_faults": 1, "shared_flash_wrong": 2,
    "shared_flash_outside": 2, "shared_flash_no_window": 2, "shared_copy_wrong": 2, "shared_receive_wrong": 1,
    "shared_pin_cycle": 1,
}  # fmt: skip


def test_a_core_with_h_counts_the_events_that_are_selected(tmp_path):
    """Its counters 3 to 8 read 0 until mhpmevent selects an event. The core itself is not here."""
    made = TOP / "build" / "soc" / "program-h" / "fpga" / "target" / "soc" / "program" / "costs.o"
    command = ["make", "-s", "--no-print-directory", str(made.relative_to(TOP)), f"CVA6_DIR={tmp_path}"]
    subprocess.run(command, cwd=TOP, check=True)
    text = subprocess.run(
        ["riscv64-unknown-elf-objdump", "-d", str(made)], capture_output=True, text=True, check=True
    ).stdout
    selected = dict(re.findall(r"csrwi?\s+mhpmevent(\d+),(\d+)", text))
    assert selected == {"3": "1", "4": "2", "5": "6", "6": "10"}
    assert set(re.findall(r"mhpmcounter(\d+)", text)) == set(selected)


MANIFEST = """// Floating point unit
${CVA6_REPO_DIR}/core/cvfpu/src/fpnew_pkg.sv
+incdir+${CVA6_REPO_DIR}/core/include/
${CVA6_REPO_DIR}/core/include/${TARGET_CFG}_config_pkg.sv // the configuration
${CVA6_REPO_DIR}/vendor/pulp-platform/axi/src/axi_pkg.sv
${CVA6_REPO_DIR}/core/cva6.sv
${CVA6_REPO_DIR}/core/alu.sv

-F ${HPDCACHE_DIR}/rtl/hpdcache.Flist
"""
TRACED = """module cva6;
  //pragma translate_off
`ifdef PITON_ARIANE
  // a queue
`endif
  // a trace
  //pragma translate_on

endmodule
"""


def test_the_manifest_of_a_checkout(tmp_path, capfd):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "Flist.cva6").write_text(MANIFEST, encoding="utf-8")
    for name in ("core/cvfpu/src/fpnew_pkg.sv", "core/include/cv64a6_imafdch_sv39_config_pkg.sv"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("package p;\nendpackage\n", encoding="utf-8")
    (tmp_path / "core" / "cva6.sv").write_text(TRACED, encoding="utf-8")
    core = sources.checkout_core(tmp_path, tmp_path / "build")
    names = ["fpnew_pkg.sv", "cv64a6_imafdch_sv39_config_pkg.sv", "cva6.sv"]
    assert [path.name for path in core.files] == names
    assert core.files[2].read_text(encoding="utf-8") == "module cva6;\n  \nendmodule\n"
    assert core.options == ["+define+WT_DCACHE", f"+incdir+{tmp_path}/core/include/"]
    messages = capfd.readouterr().err.splitlines()
    assert [Path(line.rpartition(" ")[2]).name for line in messages] == ["alu.sv", "hpdcache.Flist"]


def test_a_folder_without_cva6_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CVA6_DIR", str(tmp_path))
    with pytest.raises(ValueError, match=f"CVA6_DIR={tmp_path}: no core/Flist.cva6 there"):
        sources.checkout()


@pytest.fixture(scope="module")
def report() -> Report:
    return run()


def test_every_check_of_the_program_holds(report):
    assert report.wrong == []
    assert report.last == "passed 0"
    assert report.code == 0


@pytest.mark.parametrize(("name", "times"), CHECKS.items())
def test_the_program_came_to(report, name, times):
    assert report.checks.get(name) == times


def test_dma_is_not_coherent(report):
    """Without a flush the core reads old bytes; other data has taken a few of the lines."""
    assert report.stale > STALE_OF // 2


@pytest.mark.parametrize(("metric", "name"), FIGURES.items())
def test_cycles(report, metric, name):
    measured(metric, report.worst(name))


@pytest.mark.parametrize(("metric", "name"), PATHS.items())
def test_cycles_of_a_path(report, metric, name):
    measured(metric, report.warm(name))


# The program's report of eight operations in a row: cycles of one. A trap has three more instructions and two CSR
# accesses in its handler.
PRIVILEGED = {
    "csr_read_8": costs.CSR,
    "csr_write_8": costs.CSR,
    "csr_write_status_8": costs.FLUSH,
    "sfence_8": costs.FLUSH,
    "trap_and_return_8": costs.TRAP + 2 * costs.CSR + 1,
}


@pytest.mark.parametrize(("name", "cycles"), PRIVILEGED.items())
def test_privileged_operations_take_what_the_model_says(report, name, cycles):
    assert report.worst(name) == 8 * cycles


def test_a_walk_of_a_page_table_takes_what_the_model_says(report):
    assert report.worst("tlb_miss_8") - report.worst("tlb_hit_8") == 8 * costs.WALK


def test_the_figures_that_documents_show(report):
    """Of a run at latency 1, which stands for all."""
    runs = dict.fromkeys(measure_soc.LATENCIES, report)
    found = {published.figure_of(one): one for one in measure_soc.records(runs, runs)}
    assert found["soc.cycles.qam_512@latency-10"]["value"] == report.worst("qam_512")
    assert found["soc.cycles.sorter_insert@latency-1"]["n"] == len(report.cycles["sorter_insert"])
    assert found["soc.cost.timers.warm@write-back-1"]["value"] == report.warm("timers")
    parts = ("instructions", "misses", "stores", "registers", "atomics", "device")
    assert found["soc.model.job.cold@latency-1"]["value"] == pytest.approx(
        sum(found[f"soc.model.job.cold.{part}@latency-1"]["value"] for part in parts)
    )


def test_predictions_of_the_hypervisors_paths():
    model = costs.Model(instruction=1.25, miss=6, store=2, device=25)
    count = published.read(measure_soc.FIGURES)["riscv.hypercall.null@7.2"].values["value"]
    found = {published.figure_of(one): one for one in measure_soc.records_of_predictions(model, 10)}
    without = found["soc.predicted.hypercall.null@latency-10"]
    hidden, waited = 1.25 * count, (1.25 + 12 / 5) * count
    assert [without[what] for what in ("min", "median", "max")] == pytest.approx(
        [hidden, waited, (1.25 + 0.41 * 16) * count]
    )
    # Six CSR accesses of 2 cycles, a trap with its return of 14: instead of eight instructions.
    more = 6 * 2 + 14 - 8 * 1.25
    privileged = found["soc.predicted.privileged.hypercall.null@latency-10"]
    assert [privileged[what] for what in ("min", "max")] == pytest.approx([hidden + more, waited + more])


@pytest.mark.long
def test_a_wrong_result_is_an_error(tmp_path):
    """The program with another key for the sorter: the entries come out in another order."""
    keys, other = (struct.pack("<6Q", 50, 10, 40, key, 30, 20) for key in (11, 9))
    text = PROGRAM.read_bytes()
    assert text.count(keys) == 1
    broken = tmp_path / "broken.bin"
    broken.write_bytes(text.replace(keys, other))
    found = run(program=broken)
    assert found.wrong == ["sorter_head 0x3 0x1", "sorter_head 0x1 0x3"]
    assert (found.code, found.last) == (1, "failed 2")


REFUSED = {
    "no address": (["program.bin"], "expected ADDRESS:FILE"),
    "no file": ([f"{DRAM:#x}:/nowhere/program.bin"], "/nowhere/program.bin: No such file or directory"),
    "outside of DRAM": (["0x40000000:/bin/true"], "address outside of DRAM"),
    "latency": (["--latency=0"], "--latency: expected 1 to 200 cycles"),
    "option": (["--wrong"], "usage: soc_sim"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    arguments, message = REFUSED[case]
    done = start(*arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_program_that_does_not_end():
    done = start("--cycles=2000", f"{DRAM:#x}:{PROGRAM}")
    assert done.returncode == 124
    assert "did not end within 2000 cycles" in done.stderr


# Jobs wait for DRAM as often at any latency, so two runs predict the third: cycles = base + waits * latency. At most as
# often as here: of two copies one waits 10 times, the other 12.
WAITS = {"qam_512": 34, "qam_16": 3, "shared_copy_512_to_handler": 12}
LATENCIES = (10, 30)
PATHS_COUNTED = 13  # warm and cold, but for costs.SHORT
PATHS_OF_MEMORY = 6  # of these, without registers, fences and AMOs


@pytest.fixture(scope="module")
def slower() -> dict[int, Report]:
    return {latency: run(latency=latency) for latency in LATENCIES}


@pytest.mark.long
@pytest.mark.parametrize("latency", LATENCIES)
def test_with_a_slower_dram(slower, latency):
    assert slower[latency].wrong == []
    assert slower[latency].code == 0


@pytest.mark.long
@pytest.mark.parametrize(("name", "most"), WAITS.items())
def test_jobs_take_what_the_latency_predicts(report, slower, name, most):
    alone = report.worst(name)
    waits = (slower[10].worst(name) - alone) / (10 - 1)
    assert waits <= most
    assert slower[30].worst(name) == pytest.approx(alone + waits * (30 - 1), rel=0.02)


def worst_error(model: costs.Model, paths: list[costs.Path], latency: int, **cache: bool) -> float:
    """In percent. In a failure the errors of all paths are printed."""
    errors = {(path.name, path.cold): 100 * model.error(path, latency, **cache) for path in paths}
    print(model, latency, errors)
    return max(map(abs, errors.values()))


@pytest.fixture(scope="module")
def fitted(report, slower) -> costs.Model:
    """The model that latencies of 1 and 10 give, without the path `text`."""
    runs = {1: report.paths, 10: slower[10].paths}
    return costs.fit({latency: [path for path in paths if path.name != "text"] for latency, paths in runs.items()})


@pytest.mark.long
def test_the_model_predicts_latency_30_from_1_and_10(fitted, slower):
    assert len(slower[30].paths) == PATHS_COUNTED
    measured("soc.model.error.30", worst_error(fitted, slower[30].paths, 30))


@pytest.fixture(scope="module")
def write_back() -> dict[int, Report]:
    return {latency: run(latency=latency, model="write-back") for latency in (1, 30)}


@pytest.mark.long
def test_the_model_predicts_the_write_back_cache(fitted, write_back):
    """Where nothing empties the cache: a fence and an AMO do."""
    for latency, found in write_back.items():
        paths = [path for path in found.paths if not path.synchronizes]
        assert len(paths) == PATHS_OF_MEMORY
        measured(f"soc.model.error.write_back.{latency}", worst_error(fitted, paths, latency, write_back=True))


@pytest.mark.long
def test_with_the_write_back_cache(write_back):
    found = write_back[1]
    assert found.wrong == []
    assert found.code == 0
    assert found.stale == 0  # a fence empties this cache
