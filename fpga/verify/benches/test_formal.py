# SPDX-License-Identifier: Apache-2.0
"""Every proof, and fault injection for each proof of the fabric."""

import shutil

import pytest
from replacement import replaced
from rtl_tools import BUILD, FORMAL, FPGA, RTL, find_module, prove, yosys_path

STEPS = 30  # cycles after reset within which a fault must violate a property
COVER_STEPS = {"io_flash": 32}  # within which a cover point is reached, if more

# Proof, file, correct text, faulty text.
FAULTS = [
    ("hwtask_aes_sbox", "hwtask_aes_pkg.sv", "nibble_product(h, h), 4'ha)", "nibble_product(h, h), 4'hb)"),
    ("hwtask_aes_sbox", "hwtask_aes_pkg.sv", "8'h05", "8'h63"),
    (
        "region_gate",
        "region_gate.sv",
        "couple_i ? rsp_q : '0",
        "couple_i ? rsp_q : '{out_valid: rsp_q.out_valid, default: '0}",
    ),
    ("region_gate", "region_gate.sv", "couple_i ? rsp_i : '0", "rsp_i"),
    ("region_gate", "region_gate.sv", "couple_i ? rsp_q", "couple_i ? rsp_i"),
    ("region_gate", "region_gate.sv", "= req_q;", "= req_i;"),
    ("region_gate", "region_gate.sv", "rsp_o.out_valid && out_ready_q", "rsp_o.out_valid"),
    ("region_feed", "region_feed.sv", "unused_o != input_count_t'(InputBeats);", "1'b1;"),
    ("region_feed", "region_port.sv", ".flush_i(begins)", ".flush_i(1'b0)"),
    ("region_feed", "region_port.sv", "= valid && task_rsp_i.in_ready", "= task_rsp_i.in_ready"),
    ("fabric_reset_sync", "fabric_reset_sync.sv", "released_q <= first_q;", "released_q <= 1'b1;"),
    ("fabric_reset_sync", "fabric_reset_sync.sv", "posedge clk_i or negedge rst_ni", "posedge clk_i"),
    ("fabric_reset_sync", "fabric_reset_sync.sv", "= released_q;", "= rst_ni;"),
    ("fabric_axi_port", "fabric_axi_port.sv", "if (take_write || take_read) read_turn_q <= take_write;", ""),
    ("fabric_axi_port", "fabric_axi_port.sv", "if (take_read) data_q <= '0;", "if (1'b0) data_q <= '0;"),
    ("fabric_axi_port", "fabric_axi_port.sv", "&& burst_q != axi_pkg::BURST_WRAP", ""),
    ("dma_guard", "dma_lookup.sv", "windows[w].writable", "windows[w].readable"),
    ("dma_guard", "dma_lookup.sv", "&& !last[PageBits]", ""),
    ("conn_matrix", "conn_matrix.sv", "&& elsewhere == '0", ""),
    ("conn_matrix", "conn_matrix.sv", "connected_o[p] && (!command_i[p] || connect_i);", "connected_o[p];"),
    ("prr_fsm", "prr_fsm.sv", "requeue_o = q.next_valid;", "requeue_o = 1'b0;"),
    ("prr_fsm", "prr_fsm.sv", "passed = 1'b1;", ""),
    ("prr_fsm", "prr_fsm.sv", "to.client       = client;", "to.client       = from.client;"),
    ("prr_fsm", "prr_fsm.sv", "q.state != StReconfig && q.task_id != TaskNone", "q.state != StReconfig"),
    ("prr_run", "prr_run.sv", "PhDrain: if (quiet && save_i", "PhDrain: if (save_i"),
    ("prr_run", "prr_run.sv", "PhFlush: if (quiet) phase_q", "PhFlush: phase_q"),
    ("prr_run", "prr_run.sv", "failed_o = abort_i && quiet_o;", "failed_o = fault_o && running_o;"),
    ("prr_run", "prr_run.sv", "failed_o = abort_i && quiet_o;", "failed_o = abort_i && reader_quiet_i;"),
    ("prr_run", "prr_run.sv", "else if (fault_o) failed_why_o <= fault_why_o;", "else failed_why_o <= fault_why_o;"),
    ("prr_run", "prr_run.sv", "save_i && kept) phase_q", "save_i) phase_q"),
    ("prr_run", "prr_run.sv", "PhResume, PhRun});", "PhResume});"),
    ("prr_run", "prr_run.sv", "!(phase_q inside {PhBegin, PhLoad,", "!(phase_q inside {PhBegin,"),
    ("prr_run", "prr_run.sv", "ram_addr_o.ctx  = resuming_q;", "ram_addr_o.ctx  = 1'b0;"),
    ("ctx_mover", "ctx_mover.sv", "ahead <= 3'd1;", "ahead <= 3'd2;"),
    ("prr_run", "prr_fsm.sv", "leave = quiet_i;", "leave = 1'b1;"),
    ("dma_reader", "dma_reader.sv", "space >= CountBits'(want) && ", ""),
    ("dma_reader", "dma_reader.sv", "if (to_page_end < {5'b0, want}) want = to_page_end[4:0];", ""),
    ("dma_reader", "dma_reader.sv", "default: if (sent) begin", "default: if (sent || stop_i) begin"),
    ("dma_writer", "dma_writer.sv", "state_q != WrSend)", "!sent)"),
    ("dma_writer", "dma_writer.sv", "Depth - OnTheWay", "Depth"),
    ("dma_writer", "dma_writer.sv", "&& loose >= CountBits'(want)", ""),
    ("dma_writer", "dma_writer.sv", "if (to_page_end < {5'b0, want}) want = to_page_end[4:0];", ""),
    ("icap_ctrl", "icap_ctrl.sv", "region_state == StReconfig;", "region_state != StIdle;"),
    ("icap_ctrl", "icap_ctrl.sv", "state_q == IcIdle ? length_i : length_q", "length_i"),
    ("icap_ctrl", "icap_ctrl.sv", "{2'b0, length_q[31:2]}", "{2'b0, length_i[31:2]}"),
    ("icap_ctrl", "icap_ctrl.sv", "header_q[0] != Magic || word != ~crc_q", "word != ~crc_q"),
    ("icap_ctrl", "icap_ctrl.sv", "if (word != ~crc_q) error_q <= ErrSum;", ""),
    ("icap_ctrl", "icap_ctrl.sv", "IcEnd: if (reader_quiet) begin", "IcEnd: begin"),
    ("icap_ctrl", "icap_ctrl.sv", "(fail_o != '0 && words_o != '0) || reset_q", "reset_q"),
    ("icap_ctrl", "icap_ctrl.sv", "(fail_o != '0 && words_o != '0) || reset_q", "fail_o != '0 && words_o != '0"),
    ("prr_monitor", "prr_choice.sv", "region.client.prio < client.prio", "region.client.prio <= client.prio"),
    ("prr_monitor", "prr_choice.sv", "inside {RankFits, RankIdle, RankPreempt}", "== RankPreempt"),
    ("prr_monitor", "prr_choice.sv", "return free ? RankFree : RankIdle;", "return RankIdle;"),
    ("prr_monitor", "prr_choice.sv", "return free ? RankFitsFree : RankFits;", "return RankFits;"),
    ("prr_monitor", "prr_monitor.sv", "list_q[e].prio >= inserting.prio", "list_q[e].prio > 4'd7"),
    ("prr_monitor", "prr_monitor.sv", "(try_request && !overtaking)", "try_request"),
    ("prr_monitor", "prr_monitor.sv", "scan_q <= scan_q + 1'b1;", ""),
    ("prr_monitor", "prr_monitor.sv", "(changed || insert || rises ||", "(insert || rises ||"),
    ("prr_monitor", "prr_monitor.sv", "(changed || insert || rises ||", "(changed ||"),
    ("prr_monitor", "prr_monitor.sv", "\n                       && !cancel_i;", ";"),
    ("prr_monitor", "prr_monitor.sv", "lost_cancelled[p] || ", ""),
    ("prr_monitor", "prr_monitor.sv", "rises      = request_waits && (same & ~ahead) != '0", "rises      = 1'b0"),
    ("io_arbiter", "io_arbiter.sv", "chosen  = best_valid_q && to_compare == '0;", "chosen  = best_valid_q;"),
    ("io_arbiter", "io_arbiter.sv", "(equal && rank.turn < best_rank_q.turn)", "equal"),
    ("io_arbiter", "io_arbiter.sv", "? ahead[32] : !rank.wraps;", "? ahead != '0 : !rank.wraps;"),
    (
        "io_arbiter",
        "io_arbiter.sv",
        "assign earlier    = rank.wraps == best_rank_q.wraps ? ahead[32] : !rank.wraps;",
        "assign earlier    = ahead[31];",
    ),
    ("io_arbiter", "io_arbiter.sv", "(!best_valid_q && to_compare == '0)) base_q", "1'b1) base_q"),
    ("io_arbiter", "io_arbiter.sv", "restart = changed_i || (chosen", "restart = (chosen"),
    ("io_arbiter", "io_arbiter.sv", "(chosen && best_flushed);", "1'b0;"),
    ("io_arbiter", "io_arbiter.sv", "best_flushed = flush_i && flush_vm_i == best_q;", "best_flushed = 1'b0;"),
    ("io_arbiter", "io_arbiter.sv", "best_flushed |= flushed_q[v];", "best_flushed |= 1'b0;"),
    ("io_arbiter", "io_arbiter.sv", "&& !flushed_q[v] &&", "&&"),
    ("io_arbiter", "io_arbiter.sv", "if (grant || eligible == '0) flushed_q", "if (!grant) flushed_q"),
    ("io_arbiter", "io_arbiter.sv", "ArChoose ? chosen && best_flushed : leave", "ArChoose ? 1'b0 : leave"),
    ("io_arbiter", "io_arbiter.sv", "ChooseCycles = NumVms + 2", "ChooseCycles = NumVms + 1"),
    ("io_arbiter", "io_arbiter.sv", "(head_i.face && left <= 16'd4)", "1'b1"),
    ("io_arbiter", "io_arbiter.sv", "(head_i.face && left <= 16'd4)", "1'b0"),
    ("io_arbiter", "io_arbiter.sv", "== ArComplete && !abandoned_q;", "== ArComplete;"),
    ("io_arbiter", "io_arbiter.sv", "&& !abandoned_q && !(flush_i", "&& !(flush_i"),
    ("io_ring", "io_ring.sv", "if (flushes) count_o[v] <= '0;", "if (flushes) count_o[v] <= 3'(submits);"),
    ("io_ring", "io_ring.sv", "if (flushes || removes) begun_q", "if (flushes) begun_q"),
    ("io_ring", "io_ring.sv", "if (submit_i && !full)", "if (submit_i)"),
    ("io_budget", "io_budget.sv", "(untouched ? '0 : spent[charge_vm_i])", "spent[charge_vm_i]"),
    ("io_budget", "io_budget.sv", "total >= budget", "total > budget"),
    ("io_reader", "io_reader.sv", "bytes_i == '0 ? '0 : {", "{"),
    ("io_reader", "io_reader.sv", "over_q != '0 && left_q", "fifo_valid && left_q"),
    ("io_reader", "io_reader.sv", "if (stop_i || (done_i && status_i != IoDone)) begin", "if (stop_i) begin"),
    # With two blocks it is 23 cycles from the reset, too many for the solver.
    ("io_reader-shallow", "io_reader.sv", "(Depth - BlockWords)", "(Depth)"),
    ("io_dma", "io_dma.sv", "else if ((request_i & ~Background) != '0)", "else if (1'b0)"),
    ("io_dma", "io_dma.sv", "if (behind && passing_q", "if (1'b0 && passing_q"),
    ("io_dma", "io_dma.sv", "pick   = ahead != '0 ? ahead : candidates;", "pick   = candidates;"),
    ("io_dma", "io_dma.sv", "(after_q & ~kind) | ", ""),
    ("io_copy", "io_copy.sv", "(ends[31:0] != '0 || !chunk_i.last)", "ends[31:0] != '0"),
    ("io_copy", "io_copy.sv", "state_q == CpEnd && read_quiet_i;", "state_q == CpEnd;"),
    ("io_copy", "io_copy.sv", "if (status_q == IoDone) status_q <= write_status_i;", ""),
    ("io_copy", "io_copy.sv", "status_q <= failure;", "status_q <= IoDone;"),
    ("io_copy", "io_copy.sv", "state_q == CpCopy && write_ready_i;", "state_q == CpCopy;"),
    ("io_flash", "io_flash.sv", "state_q    <= FlReset;", "state_q    <= FlIdle;"),
    ("io_flash", "io_flash.sv", "if (elapsed_q >= ResetCycles) next = FlIdle;", "next = FlIdle;"),
    ("io_flash", "io_flash.sv", "if (recovers) blocked_o", "if (state_q == FlReset) blocked_o"),
    ("io_flash", "io_flash.sv", "return running_q ? FlSuspend : begins();", "return begins();"),
    ("io_flash", "io_flash.sv", "(state_q == FlEnd && result_q.status != IoDone && of_vm[i])", "1'b0"),
    ("io_flash", "io_flash.sv", "if ((flush_i && flush_vm_i == owner_q[i]) ||", "if ("),
    ("io_flash", "io_flash.sv", "owned_q[i] <= !gone_q && !removes;", "owned_q[i] <= !removes;"),
    ("io_flash", "io_flash.sv", "continues = (rest & of_vm) != '0;", "continues = 1'b0;"),
    ("io_flash", "io_flash.sv", "rest[Program] || (rest[Erase] && of_vm[Erase]);", "rest[Program];"),
    ("io_flash", "io_flash.sv", "if (blocked || yields) return", "if (blocked) return"),
    ("io_flash", "io_flash.sv", "&& waits_q && !gone_q &&", "&& waits_q &&"),
    ("io_flash", "io_flash.sv", "&& !lost && !unwanted && (chunk_i", "&& (chunk_i"),
    ("io_flash", "io_flash.sv", "step && !wip_q && !stopping_q;", "step && !wip_q;"),
    ("io_flash", "io_flash.sv", "addr         = {first_i + chunk_i", "addr         = {chunk_i"),
    ("spi_face", "spi_face.sv", "received[{vm, row.rx_first + ", "received[{completion_i.vm, row.rx_first + "),
    ("spi_face", "spi_face.sv", "if (changes && vm == vm_t'(v))", "if (changes)"),
    ("spi_face", "spi_face.sv", "else if (complete_i) vm = completion_i.vm;", ""),
    ("spi_face", "spi_face.sv", "= !row.waiting && (row.writing", "= (row.writing"),
    ("spi_face", "spi_face.sv", "arrives && !row.deaf && !row.rx_count[3];", "arrives && !row.deaf;"),
    ("spi_face", "spi_face.sv", "(wraps ? 9'(row.addr[7:0]) : '0);", "9'd0;"),
    ("spi_face", "spi_face_pkg.sv", "deselected.stale = vm.waiting;", "deselected.stale = 1'b0;"),
    ("io_eth_send", "io_eth_check.sv", "(of_source && byte_i != own)", "1'b0"),
    ("io_eth_send", "io_eth_check.sv", "link && (link_q || index_i == '0);", "link;"),
    ("io_eth_send", "io_eth_queue.sv", "(approved_i && !discard_i", "(!discard_i"),
    ("io_eth_send", "io_eth_send.sv", "state_q == SdFill && failure == IoDone &&", "state_q == SdFill &&"),
    ("io_eth_send", "io_eth_send.sv", "{4'b0, row_i.vlan[11:8]}", "row_i.vlan[7:0]"),
    ("io_eth_send", "io_eth_send.sv", "index_q == '0 && !tail;", "1'b0;"),
    ("io_eth_send", "io_eth_send.sv", "read_quiet_i && (tail || abort_i);", "read_quiet_i;"),
    ("io_eth_send", "io_eth_queue.sv", "(1) && begun_i));", "(1)));"),
    ("io_eth_filter", "io_eth_filter.sv", "group && row_i.mac == source_q;", "1'b0;"),
    ("io_eth_filter", "io_eth_filter.sv", "row_i.in_vlan && row_i.vlan == tag_q", "row_i.vlan == tag_q"),
    ("io_eth_filter", "io_eth_filter.sv", "dest_q == '1 || row_i.multicast", "1'b1"),
    ("io_eth_filter", "io_eth_filter.sv", "walk_q && (complete || !addressed);", "walk_q;"),
    ("io_eth_receive", "io_eth_receive.sv", "rest = frame_i.mask[NumVms-1:0] & ~past_q;", "rest = ~past_q;"),
    ("io_eth_receive", "io_eth_receive.sv", "~enabled_i | stale | flushes;", "~enabled_i | flushes;"),
    ("io_eth_receive", "io_eth_receive.sv", "~enabled_i | stale | flushes;", "stale | flushes;"),
    ("io_eth_receive", "io_eth_receive.sv", "past_q      <= past_q | flushes;", ""),
    ("io_eth_receive", "io_eth_receive.sv", "space_q != '0 && !abandons;", "space_q != '0;"),
    ("io_eth_receive", "io_eth_receive.sv", "&& space_q != '0 && !abandons;", "&& !abandons;"),
    ("io_eth_receive", "io_eth_receive.sv", "head_i.op == OpReceive ? head_i.length : '0;", "head_i.length;"),
    ("io_eth_receive", "io_eth_receive.sv", "if (valid_i && space_q == '0) status_q <= IoBad;", ""),
    ("io_eth_receive", "io_eth_receive.sv", "== RvComplete && !abandoned_q;", "== RvComplete;"),
    ("io_eth_receive", "io_eth_receive.sv", "abandoned_q || dropped || (flush_i", "abandoned_q || (flush_i"),
    ("io_eth_receive", "io_eth_receive.sv", "dropped_q || !frame_valid_i;", "!frame_valid_i;"),
    ("io_eth_receive", "io_eth_receive.sv", "offer && (head_valid_i || whole_i)", "offer"),
    ("io_eth_receive", "io_eth_receive.sv", "!dropped && whole_i && rest == '0;", "!dropped && rest == '0;"),
    ("gpio_exact", "gpio_processor.sv", "assign next = now + 1'b1;", "assign next = now;"),
    ("gpio_processor", "gpio_processor.sv", "&& command_vm_i == vm_t'(v)),", "),"),
    ("gpio_processor", "gpio_processor.sv", "= flush || stop_i[v];", "= flush || stop_i != '0;"),
    ("gpio_processor", "gpio_processor.sv", "result_pop_i && result_vm_i == vm_t'(v)", "result_pop_i"),
    ("gpio_processor", "gpio_pins.sv", "if (owner[p] == vm_t'(v)) change = change_i[v];", "change |= change_i[v];"),
    ("gpio_processor", "gpio_pins.sv", "owner_i[v][p] && !owned[p];", "owner_i[v][p];"),
    ("gpio_processor", "gpio_pins.sv", "(flush_i && flush_vm_i == owner[p]);", "flush_i;"),
    ("gpio_processor", "gpio_pins.sv", "!owned[p] || (flush_i", "(flush_i"),
    ("gpio_exact", "gpio_sequencer.sv", "past       = reached && ahead != '0;", "past       = 1'b0;"),
    ("gpio_exact", "gpio_sequencer.sv", "(reached || at_once);", "(past || at_once);"),
    ("gpio_exact", "gpio_sequencer.sv", "|| past || foreign || bad_q);", "|| foreign || bad_q);"),
    ("gpio_exact", "gpio_sequencer.sv", "ahead[15:0] | {16{too_far}}", "ahead[15:0]"),
    ("gpio_processor", "gpio_commands.sv", "push_i && space_o != '0;", "push_i;"),
    ("io_display", "display_bank.sv", "mem[take_addr_i] <= '0;", ""),
    ("io_display", "display_lines.sv", "&& position_i != '1;", ";"),
    ("io_display", "display_lines.sv", "{!sent_q, position_i[PosBits-1:1]};", "{sent_q, position_i[PosBits-1:1]};"),
    ("io_display", "display_fetch.sv", "moves && words_q != '0;", "moves;"),
    ("io_display", "display_fetch.sv", "&& !late_q && !over;", "&& !over;"),
    ("io_display", "display_fetch.sv", "&& !below && dy", "&& dy"),
    ("io_display", "display_fetch.sv", "rect_i.enabled && !below", "!below"),
    ("io_display", "display_fetch.sv", "(line_i ? next_active_i : again_q)", "(line_i || again_q)"),
    ("io_display", "display_fetch.sv", "if (stop_i && state_q != FtBurst)", "if (stop_i)"),
    ("io_display", "display_fetch.sv", "5'd16 - {1'b0, word_q[3:0]};", "5'd16;"),
    ("io_display", "display_timing.sv", "enable_i && quiet_i) state_q", "enable_i) state_q"),
    ("uart_lines", "uart_lines.sv", "shown_q && owner_o == vm_i)", "shown_q)"),
    ("uart_lines", "uart_lines.sv", "(begun_q || vm_i == following)", "1'b1"),
    ("uart_lines", "uart_lines.sv", "open_q <= byte_o != Newline;", "open_q <= taken_i && byte_o != Newline;"),
    ("uart_lines", "uart_lines.sv", "else if (!open_q) first = LnOpen;", "else first = LnOpen;"),
    ("uart_lines", "uart_lines.sv", "two_digits ? owner_o - 4'd10 :", "two_digits ? owner_o :"),
    ("io_uart_core", "uart_lines.sv", "(clear_i && vm_i == owner_o)", "(1'b0)"),
    ("io_uart_core", "uart_buffer.sv", "advance = take_i ||", "advance = (take_i && byte_o != Newline) ||"),
    ("io_uart_core", "uart_slots.sv", "{SlClear, flush_vm_q}", "{SlClear, vm_q}"),
    ("io_uart_core", "uart_slots.sv", "{SlTake, take_vm_i}", "{SlTake, scan_q}"),
    ("io_uart_core", "io_uart_core.sv", "= allowed_i[v] && !begins;", "= !begins;"),
    ("io_uart_core", "uart_queue.sv", "rows[vm_i] <= next;", "rows[push ? '0 : vm_i] <= next;"),
]


# Proofs that take 20 s and more, and further shapes of the sorter; `make test` still proves gpio_exact, and io_reader
# with a small buffer.
LONG = (
    *("fabric_sorter-five", "fabric_sorter-odd", "fabric_sorter-order"),
    *("gpio_processor", "io_arbiter", "io_reader"),
)


def proofs():
    for path in sorted(FORMAL.glob("*.sby")):
        yield pytest.param(path, id=path.stem, marks=[pytest.mark.long] if path.stem in LONG else [])


@pytest.mark.timeout(900)
@pytest.mark.parametrize("script", proofs())
def test_proof(script):
    assert "DONE (PASS" in prove(script)


def test_the_s_box_for_simulation_is_the_same(tmp_path):
    """The table that replaces it in fpga/target/cosim has the same properties, which determine every value."""
    shutil.copytree(RTL, tmp_path / "rtl")
    shutil.copy(FPGA / "target" / "cosim" / "replace" / "hwtask_aes_sbox.sv", tmp_path / yosys_path("hwtask_aes_sbox"))
    assert "DONE (PASS" in prove(
        FORMAL / "hwtask_aes_sbox.sby", tmp_path / "rtl", BUILD / "formal" / "hwtask_aes_sbox-table"
    )


# Proofs with cover statements in their properties; the sorter has a separate sby file for them.
COVERED = [path for path in sorted(FORMAL.glob("*.sby")) if not path.stem.startswith("fabric_sorter")]
# Of these, what `make test` covers: the result changes with assumptions only, and all of them take 100 s.
COVERED_ALWAYS = ("prr_fsm", "prr_monitor", "io_ring", "spi_face")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in COVERED_ALWAYS else pytest.mark.long)
        for path in COVERED
    ],
)
def test_cover_points_are_reachable(script):
    """The assumptions leave every cover point reachable."""
    folder = BUILD / "formal" / f"{script.stem}-reach"
    assert "DONE (PASS" in prove(script, RTL, folder, COVER_STEPS.get(script.stem, STEPS), "cover")


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("proof", "file", "right", "wrong"), FAULTS)
def test_a_fault_is_found(proof, file, right, wrong, tmp_path):
    shutil.copytree(RTL, tmp_path / "rtl")
    name = file.removesuffix(".sv")
    text = find_module(name).read_text(encoding="utf-8")
    (tmp_path / yosys_path(name)).write_text(replaced(text, right, wrong), encoding="utf-8")
    folder = BUILD / "formal" / f"{proof}-fault"
    with pytest.raises(AssertionError, match="Assert failed"):
        prove(FORMAL / f"{proof}.sby", tmp_path / "rtl", folder, STEPS)
