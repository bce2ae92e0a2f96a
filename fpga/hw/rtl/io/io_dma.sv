// SPDX-License-Identifier: Apache-2.0
// Memory accesses of all devices: one burst at a time, in round robin, each checked by the guard. A
// client promises the words that it writes and space for those that it reads, so a burst never
// waits for a device.
//
// Clients in the background let the others pass, which have to keep up with a wire. At most
// MaxPassing bursts of the others pass between two of the background, whichever of its clients get
// these. Its clients take turns, so with two of them one waits for up to 2 * MaxPassing + 1 bursts.
module io_dma
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_pkg::*;
#(
  /// Requesters of bursts, and which of them are in the background.
  parameter int unsigned NumClients = 4,
  parameter logic [NumClients-1:0] Background = '0,
  localparam int unsigned MaxPassing = NumClients - 2,
  localparam int unsigned CountBits = $clog2(NumClients)
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no burst is in progress after it. It must reset the memory's port,
  /// too.
  input  logic        rst_ni,
  // clients
  /// A burst is requested; stable until its done_o.
  input  logic      [NumClients-1:0] request_i,
  input  io_burst_t [NumClients-1:0] burst_i,
  /// The next word to write, which must be there when it is needed; taken with take_o, a pulse.
  input  io_word_t  [NumClients-1:0] word_i,
  output logic      [NumClients-1:0] take_o,
  /// A word was read; for the client with give_o, a pulse, which cannot refuse it.
  output word_t       data_o,
  output logic      [NumClients-1:0] give_o,
  /// Pulse: the burst is over, with status_o: IoDone, IoViolation or IoBus. Of a refused write all
  /// words are taken, of a refused read none are given.
  output logic      [NumClients-1:0] done_o,
  output io_status_e  status_o,
  // guard
  /// Request to check a burst; the answer comes in the cycle after check_gnt_i.
  output logic        check_o,
  output dma_check_t  check_request_o,
  input  logic        check_gnt_i,
  input  logic        ok_i,
  input  logic        bad_i,
  /// Host-physical address, with ok_i.
  input  addr_t       addr_i,
  /// AXI4, one burst of 1..16 beats at a time, in a block of 128 bytes. w_valid is high until the
  /// last beat is sent; R and B are accepted when they come.
  output slot_req_t   axi_req_o,
  input  slot_resp_t  axi_resp_i
);

  // DmChoose: the guard is asked for the chosen client. DmAnswer: its answer. DmSend: the address,
  // and the words of a write. DmRead, DmResponse: words or response. DmDrop: the words of a refused
  // write are discarded. DmDone: done_o to the client.
  typedef enum logic [2:0] {DmChoose, DmAnswer, DmSend, DmRead, DmResponse, DmDrop, DmDone} state_e;

  state_e state_q;
  logic [NumClients-1:0] chosen, chosen_q;
  io_burst_t burst;
  logic write_q;
  io_word_t word;
  io_status_e status_q;
  addr_t host_q;
  beats_t beats_q, left_q;  // of the burst, and those that are left of it
  logic error, written, read, addressed, addressed_q, sent;

  // ---- Choice ----
  // after_q: after the one of its kind chosen last
  logic [NumClients-1:0] candidates, ahead, pick, kind, after_q;
  // bursts that have passed one in the background
  logic [CountBits-1:0] passing_q;
  logic behind, grant;
  assign behind = (request_i & Background) != '0;
  always_comb begin
    candidates = request_i;
    if (behind && passing_q == CountBits'(MaxPassing)) candidates = request_i & Background;
    else if ((request_i & ~Background) != '0) candidates = request_i & ~Background;
  end
  assign ahead  = candidates & after_q;
  assign pick   = ahead != '0 ? ahead : candidates;
  always_comb begin
    chosen = '0;
    for (int c = int'(NumClients) - 1; c >= 0; c--) if (pick[c]) chosen = NumClients'(1) << c;
  end
  assign kind   = (chosen & Background) != '0 ? Background : ~Background;
  assign grant  = check_o && check_gnt_i;

  always_comb begin
    burst = '0;
    for (int c = 0; c < int'(NumClients); c++) begin
      if (chosen[c]) burst |= burst_i[c];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      after_q   <= '0;
      passing_q <= '0;
    end else begin
      // Each kind has its own round robin: only clients above the chosen one, of its kind, stay
      // ahead.
      if (grant) after_q <= (after_q & ~kind) | (kind & ~(chosen | (chosen - 1'b1)));
      if (!behind || (grant && (chosen & Background) != '0)) passing_q <= '0;
      else if (grant) passing_q <= passing_q + 1'b1;
    end
  end

  always_comb begin
    word = '0;
    for (int c = 0; c < int'(NumClients); c++) begin
      if (chosen_q[c]) word = word_i[c];
    end
  end

  assign check_o         = state_q == DmChoose && request_i != '0;
  assign check_request_o = '{vm: burst.vm, write: burst.write, addr: 64'(burst.addr),
                             beats: burst.beats};
  assign written         = axi_req_o.w_valid && axi_resp_i.w_ready;
  assign read            = state_q == DmRead && axi_resp_i.r_valid;
  assign error           = write_q ? axi_resp_i.b.resp[1] : axi_resp_i.r.resp[1];
  // Of a write, address and words are sent at the same time.
  assign addressed       = addressed_q || (write_q ? axi_resp_i.aw_ready : axi_resp_i.ar_ready);
  assign sent            = !write_q || left_q == '0 || (written && left_q == 5'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= DmChoose;
      chosen_q <= '0;
      write_q  <= 1'b0;
      beats_q  <= '0;
      status_q <= IoDone;
      host_q   <= '0;
      left_q   <= '0;
      addressed_q <= 1'b0;
    end else begin
      unique case (state_q)
        DmChoose: if (grant) begin
          state_q  <= DmAnswer;
          chosen_q <= chosen;
          write_q  <= burst.write;
          beats_q  <= burst.beats;
          left_q   <= burst.beats;
          status_q <= IoDone;
        end
        DmAnswer: begin
          host_q      <= addr_i;
          addressed_q <= 1'b0;
          if (ok_i) state_q <= DmSend;
          else if (bad_i) begin
            state_q  <= write_q ? DmDrop : DmDone;
            status_q <= IoViolation;
          end
        end
        DmSend: begin
          addressed_q <= addressed;
          if (written) left_q <= left_q - 1'b1;
          if (addressed && sent) state_q <= write_q ? DmResponse : DmRead;
        end
        DmRead: if (read) begin
          left_q <= left_q - 1'b1;
          if (error) status_q <= IoBus;
          if (left_q == 5'd1) state_q <= DmDone;
        end
        DmResponse: if (axi_resp_i.b_valid) begin
          state_q <= DmDone;
          if (error) status_q <= IoBus;
        end
        DmDrop: begin  // the words of a refused burst
          left_q <= left_q - 1'b1;
          if (left_q == 5'd1) state_q <= DmDone;
        end
        default: state_q <= DmChoose;  // DmDone
      endcase
    end
  end

  assign data_o   = axi_resp_i.r.data;
  assign take_o   = chosen_q & {NumClients{written || state_q == DmDrop}};
  assign give_o   = chosen_q & {NumClients{read}};
  assign done_o   = chosen_q & {NumClients{state_q == DmDone}};
  assign status_o = status_q;

  always_comb begin
    axi_req_o          = '0;
    axi_req_o.aw.addr  = 64'(host_q);
    axi_req_o.aw.len   = 8'(beats_q) - 8'd1;
    axi_req_o.aw.size  = 3'd3;
    axi_req_o.aw.burst = axi_pkg::BURST_INCR;
    axi_req_o.aw.cache = axi_pkg::CACHE_MODIFIABLE;
    axi_req_o.ar.addr  = axi_req_o.aw.addr;
    axi_req_o.ar.len   = axi_req_o.aw.len;
    axi_req_o.ar.size  = axi_req_o.aw.size;
    axi_req_o.ar.burst = axi_req_o.aw.burst;
    axi_req_o.ar.cache = axi_req_o.aw.cache;
    axi_req_o.aw_valid = state_q == DmSend && write_q && !addressed_q;
    axi_req_o.ar_valid = state_q == DmSend && !write_q;
    axi_req_o.w        = '{data: word.data, strb: word.strobes, last: left_q == 5'd1, user: '0};
    axi_req_o.w_valid  = state_q == DmSend && write_q && left_q != '0;
    axi_req_o.r_ready  = state_q == DmRead;
    axi_req_o.b_ready  = state_q == DmResponse;
  end

  logic unused;
  assign unused = &{1'b0, axi_resp_i.b.id, axi_resp_i.b.user, axi_resp_i.b.resp[0], axi_resp_i.r.id,
                    axi_resp_i.r.user, axi_resp_i.r.resp[0], axi_resp_i.r.last};

endmodule
