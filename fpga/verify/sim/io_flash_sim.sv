// SPDX-License-Identifier: Apache-2.0
// One channel for benches: the flash with its model, and what a request passes from its submission
// to the completion in memory. Each VM has one window, at VmBase, onto VmBytes of memory of its
// own. It only connects them.
module io_flash_sim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 16,
  parameter int unsigned Depth = 4,
  parameter int unsigned Sectors = 32,
  parameter int unsigned ProgramCycles = 25_000,
  parameter int unsigned EraseCycles = 13_000_000,
  parameter int unsigned SuspendCycles = 4_000,
  parameter int unsigned ResetCycles = 3_500,
  localparam page_t VmBase = page_t'(41'h4000_0000 >> PageBits),
  localparam page_t VmPages = 29'd16
) (
  input  logic clk_i,
  input  logic rst_ni,
  /// Reset of the flash by its supply.
  input  logic power_ni,
  // configuration
  input  logic [1:0] policy_i,
  input  logic [3:0] size_i,
  input  logic [31:0] timeout_i,
  input  logic [31:0] period_i,
  input  logic [NumVms-1:0][3:0] prio_i,
  input  logic set_budget_i,
  input  logic [31:0] set_cycles_i,
  input  logic [NumVms-1:0] allowed_i,
  input  logic changed_i,
  input  logic [7:0] half_i,
  input  logic [31:0] slice_i,
  input  logic [NumVms-1:0][7:0] first_i,
  input  logic [NumVms-1:0][8:0] number_i,
  input  logic set_i,
  input  logic [3:0] set_vm_i,
  input  logic [40:0] set_addr_i,
  // requests
  input  logic submit_i,
  input  logic [3:0] vm_i,
  input  logic [7:0] op_i,
  input  logic [7:0] tag_i,
  input  logic [15:0] length_i,
  input  logic [31:0] target_i,
  input  logic [40:0] addr_i,
  input  logic [31:0] due_i,
  output logic refused_o,
  input  logic flush_i,
  input  logic [3:0] flush_vm_i,
  // observation
  output logic start_o,
  output logic [3:0] chunk_vm_o,
  output logic chunk_done_o,
  output logic busy_o,
  output logic [NumVms-1:0] written_o,
  output logic [NumVms-1:0] lost_o,
  output logic cs_no,
  output logic sck_o,
  output logic ignored_o,
  /// One of these pulses is up: written_o, lost_o, ignored_o.
  output logic event_o,
  /// Cycles since the reset, and when memory took the last word.
  output logic [31:0] cycle_o,
  output logic [31:0] beat_o,
  output logic [7:0] shortest_o,
  output logic [4:0] m_axi_awid,
  output logic [63:0] m_axi_awaddr,
  output logic [7:0] m_axi_awlen,
  output logic [2:0] m_axi_awsize,
  output logic [1:0] m_axi_awburst,
  output logic m_axi_awlock,
  output logic [3:0] m_axi_awcache,
  output logic [2:0] m_axi_awprot,
  output logic m_axi_awvalid,
  input  logic m_axi_awready,
  output logic [4:0] m_axi_arid,
  output logic [63:0] m_axi_araddr,
  output logic [7:0] m_axi_arlen,
  output logic [2:0] m_axi_arsize,
  output logic [1:0] m_axi_arburst,
  output logic m_axi_arlock,
  output logic [3:0] m_axi_arcache,
  output logic [2:0] m_axi_arprot,
  output logic m_axi_arvalid,
  input  logic m_axi_arready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0] m_axi_wstrb,
  output logic m_axi_wlast,
  output logic m_axi_wvalid,
  input  logic m_axi_wready,
  input  logic [4:0] m_axi_bid,
  input  logic [1:0] m_axi_bresp,
  input  logic m_axi_bvalid,
  output logic m_axi_bready,
  input  logic [4:0] m_axi_rid,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0] m_axi_rresp,
  input  logic m_axi_rlast,
  input  logic m_axi_rvalid,
  output logic m_axi_rready
);

  logic start, abort, others, done, complete, complete_ready;
  logic [NumVms-1:0] blocked;
  io_chunk_t chunk;
  io_result_t result;
  io_completion_t completion;

  io_channel #(.NumVms(NumVms), .Depth(Depth)) i_channel (
    .clk_i, .rst_ni, .now_i(cycle_o), .policy_i(io_policy_e'(policy_i)), .size_i, .timeout_i,
    .period_i, .prio_i, .set_budget_i, .set_vm_i, .set_cycles_i, .allowed_i(allowed_i & ~blocked),
    .changed_i, .submit_i, .submit_vm_i(vm_i),
    .submit_request_i('{op: op_i, tag: tag_i, length: length_i, target: target_i, addr: addr_i,
                        due: due_i, face: 1'b0}),
    .refused_o, .count_o(), .flush_i, .flush_vm_i, .start_o(start), .chunk_o(chunk),
    .abort_o(abort), .others_o(others), .busy_o, .done_i(done), .result_i(result),
    .complete_o(complete), .completion_o(completion), .complete_ready_i(complete_ready)
  );
  assign start_o      = start;
  assign chunk_vm_o   = chunk.vm;
  assign chunk_done_o = done;

  assign event_o = ignored_o || written_o != '0 || lost_o != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {cycle_o, beat_o} <= '0;
    else begin
      cycle_o <= cycle_o + 1'b1;
      if (m_axi_wvalid && m_axi_wready) beat_o <= cycle_o;
    end
  end

  // ---- The device ----
  logic write_start, write_valid, write_ready, write_end, write_done, read_start, read_stop,
      read_valid, read_ready;
  logic read_quiet, mosi, miso;
  logic [7:0] write_byte, read_byte;
  io_status_e write_status, read_status;
  io_flash #(.NumVms(NumVms), .ResetCycles(ResetCycles)) i_flash (
    .clk_i, .rst_ni, .half_i, .deselect_i(8'd5), .slice_i, .first_i(first_i[chunk.vm]),
    .number_i(number_i[chunk.vm]), .start_i(start), .chunk_i(chunk),
    .abort_i(abort), .done_o(done), .result_o(result), .others_i(others), .flush_i, .flush_vm_i,
    .blocked_o(blocked), .write_start_o(write_start), .write_valid_o(write_valid),
    .write_byte_o(write_byte), .write_ready_i(write_ready), .write_end_o(write_end),
    .write_done_i(write_done), .write_status_i(write_status), .read_start_o(read_start),
    .read_stop_o(read_stop), .read_valid_i(read_valid), .read_byte_i(read_byte),
    .read_ready_o(read_ready), .read_status_i(read_status), .read_quiet_i(read_quiet), .cs_no,
    .sck_o, .mosi_o(mosi), .miso_i(miso)
  );
  flash_model #(
    .Sectors(Sectors), .ProgramCycles(ProgramCycles), .EraseCycles(EraseCycles),
    .SuspendCycles(SuspendCycles), .ResetCycles(ResetCycles - 100)
  ) i_model (
    .clk_i, .rst_ni(power_ni), .cs_ni(cs_no), .sck_i(sck_o), .mosi_i(mosi), .miso_o(miso),
    .ignored_o, .shortest_o
  );

  // ---- Memory ----
  localparam int unsigned Clients = 3;
  logic written, lost;
  vm_t event_vm;
  logic [Clients-1:0] request, take, give, over;
  io_burst_t [Clients-1:0] burst;
  io_word_t [Clients-1:0] word;
  word_t data;
  io_status_e status;
  logic check, ok, bad;
  dma_check_t check_request;
  addr_t host;
  slot_req_t req;
  slot_resp_t resp;
  window_t [NumVms-1:0][NumWindows-1:0] windows;

  io_complete #(.NumVms(NumVms), .NumChannels(1)) i_complete (
    .clk_i, .rst_ni, .set_i, .set_vm_i, .set_channel_i(1'b0), .set_addr_i, .clear_i(flush_i),
    .clear_vm_i(flush_vm_i), .complete_i(complete), .completion_i(completion),
    .ready_o(complete_ready), .busy_o(), .busy_vm_o(), .written_o(written), .lost_o(lost),
    .event_vm_o(event_vm), .event_channel_o(), .request_o(request[0]), .burst_o(burst[0]),
    .word_o(word[0]), .done_i(over[0]), .status_i(status)
  );
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_events
    assign written_o[v] = written && event_vm == vm_t'(v);
    assign lost_o[v]    = lost && event_vm == vm_t'(v);
  end
  io_writer i_writer (
    .clk_i, .rst_ni, .start_i(write_start), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .valid_i(write_valid), .byte_i(write_byte), .ready_o(write_ready), .end_i(write_end),
    .done_o(write_done), .status_o(write_status), .request_o(request[1]), .burst_o(burst[1]),
    .word_o(word[1]), .take_i(take[1]), .done_i(over[1]), .status_i(status)
  );
  io_reader i_reader (
    .clk_i, .rst_ni, .start_i(read_start), .vm_i(chunk.vm), .addr_i(chunk.addr),
    .bytes_i(chunk.bytes), .stop_i(read_stop), .valid_o(read_valid), .byte_o(read_byte),
    .ready_i(read_ready), .status_o(read_status), .quiet_o(read_quiet), .request_o(request[2]),
    .burst_o(burst[2]), .data_i(data), .give_i(give[2]), .done_i(over[2]), .status_i(status)
  );
  assign word[2] = '0;
  io_dma #(.NumClients(Clients)) i_dma (
    .clk_i, .rst_ni, .request_i(request), .burst_i(burst), .word_i(word), .take_o(take),
    .data_o(data), .give_o(give), .done_o(over), .status_o(status), .check_o(check),
    .check_request_o(check_request), .check_gnt_i(1'b1), .ok_i(ok), .bad_i(bad), .addr_i(host),
    .axi_req_o(req), .axi_resp_i(resp)
  );
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_windows
    always_comb begin
      windows[v]    = '0;
      windows[v][0] = '{guest: VmBase, pages: VmPages, host: page_t'(v) * VmPages, readable: 1'b1,
                        writable: 1'b1};
    end
  end
  dma_guard #(.NumVms(NumVms)) i_guard (
    .clk_i, .rst_ni, .windows_i(windows), .check_i(check), .request_i(check_request), .ok_o(ok),
    .bad_o(bad), .addr_o(host)
  );

  assign {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awvalid} =
    {4'b0, req.aw.id, req.aw.addr, req.aw.len, req.aw.size, req.aw.burst, req.aw_valid};
  assign {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst, m_axi_arvalid} =
    {4'b0, req.ar.id, req.ar.addr, req.ar.len, req.ar.size, req.ar.burst, req.ar_valid};
  assign {m_axi_awlock, m_axi_awcache, m_axi_awprot} = {req.aw.lock, req.aw.cache, req.aw.prot};
  assign {m_axi_arlock, m_axi_arcache, m_axi_arprot} = {req.ar.lock, req.ar.cache, req.ar.prot};
  assign {m_axi_wdata, m_axi_wstrb, m_axi_wlast, m_axi_wvalid} = {req.w.data, req.w.strb,
          req.w.last, req.w_valid};
  assign {m_axi_bready, m_axi_rready} = {req.b_ready, req.r_ready};
  always_comb begin
    resp          = '0;
    resp.aw_ready = m_axi_awready;
    resp.ar_ready = m_axi_arready;
    resp.w_ready  = m_axi_wready;
    resp.b_valid  = m_axi_bvalid;
    resp.b.resp   = m_axi_bresp;
    resp.r_valid  = m_axi_rvalid;
    resp.r.data   = m_axi_rdata;
    resp.r.resp   = m_axi_rresp;
    resp.r.last   = m_axi_rlast;
  end

  logic unused;
  assign unused = &{1'b0, take[0], take[2], give[1:0], m_axi_bid, m_axi_rid};
endmodule
