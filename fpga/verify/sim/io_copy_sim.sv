// SPDX-License-Identifier: Apache-2.0
// The copy device behind its DMA and guard, with a memory of 16 KiB for each of four VMs. A VM's
// windows: three pages at 1 GiB; its last page at 1.25 GiB, read only; its pages 2 and 1 again, on
// both sides of 4 GiB.
module io_copy_sim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumVms = 4,
  localparam int unsigned WordBits = 11  // of a VM
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  // configuration
  input  logic [3:0]  size_i,
  input  logic [31:0] timeout_i,
  // requests
  input  logic        submit_i,
  input  vm_t         vm_i,
  input  logic [7:0]  op_i,
  input  logic [7:0]  tag_i,
  input  logic [15:0] length_i,
  input  logic [31:0] target_i,
  input  logic [40:0] addr_i,
  output logic        refused_o,
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  output logic        busy_o,
  output vm_t         busy_vm_o,
  output logic        complete_o,
  output vm_t         complete_vm_o,
  output logic [7:0]  complete_tag_o,
  output logic [3:0]  complete_status_o,
  output logic [15:0] complete_bytes_o,
  // memory: cycles before a burst's first word or its response; reads, writes of a word that fail
  input  logic [15:0] latency_i,
  input  logic [1:0]  bad_i,
  input  logic [12:0] bad_word_i,
  /// A burst is under way.
  output logic        active_o,
  output logic [31:0] cycle_o,
  output logic [31:0] bursts_o
);

  localparam int unsigned Clients = 2;
  io_client_req_t [Clients-1:0] client;
  io_client_rsp_t [Clients-1:0] answer;
  io_completion_t completion;

  copy_unit #(.NumVms(NumVms)) i_copy (
    .clk_i, .rst_ni, .now_i(cycle_o), .config_i('{policy: PolicyRoundRobin, size: size_i,
                                                  timeout: timeout_i, period: '0}), .prio_i('0),
    .allowed_i('1), .changed_i(1'b0), .server_i('0),
    .submit_i('{valid: submit_i, vm: vm_i, request: '{op: op_i, tag: tag_i, length: length_i,
                                                      target: target_i, addr: addr_i, due: '0,
                                                      face: 1'b0}}),
    .refused_o, .count_o(), .flush_i('{valid: flush_i, vm: flush_vm_i}), .complete_o,
    .completion_o(completion), .complete_ready_i(1'b1), .busy_o, .busy_vm_o, .dma_req_o(client),
    .dma_rsp_i(answer)
  );
  assign complete_vm_o     = completion.vm;
  assign complete_tag_o    = completion.tag;
  assign complete_status_o = completion.status;
  assign complete_bytes_o  = completion.bytes;

  // ---- DMA and guard ----
  logic [Clients-1:0] request, take, give, done;
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

  for (genvar c = 0; c < int'(Clients); c++) begin : gen_client
    assign {request[c], burst[c], word[c]} = client[c];
    assign answer[c] = '{take: take[c], give: give[c], done: done[c], data: data, status: status};
  end
  io_dma #(.NumClients(Clients)) i_dma (
    .clk_i, .rst_ni, .request_i(request), .burst_i(burst), .word_i(word), .take_o(take),
    .data_o(data), .give_o(give), .done_o(done), .status_o(status), .check_o(check),
    .check_request_o(check_request), .check_gnt_i(1'b1), .ok_i(ok), .bad_i(bad), .addr_i(host),
    .axi_req_o(req), .axi_resp_i(resp)
  );
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_windows
    localparam page_t First = page_t'(4 * v);
    assign windows[v] = {
      window_t'{guest: 29'h40000, pages: 29'd3, host: First, readable: 1'b1, writable: 1'b1},
      window_t'{guest: 29'h50000, pages: 29'd1, host: First + 29'd3, readable: 1'b1,
                writable: 1'b0},
      window_t'{guest: 29'hFFFFF, pages: 29'd1, host: First + 29'd2, readable: 1'b1,
                writable: 1'b1},
      window_t'{guest: 29'h100000, pages: 29'd1, host: First + 29'd1, readable: 1'b1,
                writable: 1'b1}
    };
  end
  dma_guard #(.NumVms(NumVms)) i_guard (
    .clk_i, .rst_ni, .windows_i(windows), .check_i(check), .request_i(check_request), .ok_o(ok),
    .bad_o(bad), .addr_o(host)
  );

  // ---- Memory ----
  word_t mem [NumVms << WordBits];
  typedef enum logic [1:0] {MemIdle, MemRead, MemWrite, MemResponse} state_e;
  state_e state_q;
  logic [WordBits+1:0] at_q;
  logic [7:0] left_q;  // words after this one
  logic [15:0] wait_q;
  logic failed_q, moves, here;
  assign here     = at_q == bad_word_i;
  assign active_o = state_q != MemIdle;

  always_comb begin
    resp          = '0;
    resp.aw_ready = state_q == MemIdle;
    resp.ar_ready = state_q == MemIdle && !req.aw_valid;
    resp.w_ready  = state_q == MemWrite;
    resp.r_valid  = state_q == MemRead && wait_q >= latency_i;
    resp.r.data   = mem[at_q];
    resp.r.resp   = bad_i[0] && here ? axi_pkg::RESP_SLVERR : axi_pkg::RESP_OKAY;
    resp.r.last   = left_q == '0;
    resp.b_valid  = state_q == MemResponse && wait_q >= latency_i;
    resp.b.resp   = failed_q ? axi_pkg::RESP_SLVERR : axi_pkg::RESP_OKAY;
  end
  assign moves = (req.w_valid && resp.w_ready) || (req.r_ready && resp.r_valid);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= MemIdle;
      at_q     <= '0;
      left_q   <= '0;
      wait_q   <= '0;
      failed_q <= 1'b0;
      cycle_o  <= '0;
      bursts_o <= '0;
    end else begin
      cycle_o <= cycle_o + 1'b1;
      wait_q  <= wait_q + 16'(wait_q != '1);
      unique case (state_q)
        MemIdle: begin
          wait_q   <= '0;
          failed_q <= 1'b0;
          at_q     <= req.aw_valid ? req.aw.addr[3+:WordBits+2] : req.ar.addr[3+:WordBits+2];
          left_q   <= req.aw_valid ? req.aw.len : req.ar.len;
          if (req.aw_valid || req.ar_valid) begin
            state_q  <= req.aw_valid ? MemWrite : MemRead;
            bursts_o <= bursts_o + 1'b1;
          end
        end
        MemRead, MemWrite: if (moves) begin
          at_q   <= at_q + 1'b1;
          left_q <= left_q - 1'b1;
          if (state_q == MemWrite && bad_i[1] && here) failed_q <= 1'b1;
          if (left_q == '0) state_q <= state_q == MemRead ? MemIdle : MemResponse;
        end
        default: if (req.b_ready && resp.b_valid) state_q <= MemIdle;  // MemResponse
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    for (int b = 0; b < 8; b++) begin
      if (moves && state_q == MemWrite && req.w.strb[b] && !(bad_i[1] && here))
        mem[at_q][8*b+:8] <= req.w.data[8*b+:8];
    end
  end

endmodule
