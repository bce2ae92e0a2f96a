// SPDX-License-Identifier: Apache-2.0
// Writes a job's output: collects beats in a FIFO and sends bursts of at most 16 beats that stay
// within a page, each checked by the guard. A burst is announced (AW) only when all of its beats
// are in the FIFO, so the bus never waits for a task, and the writer is quiescent a bounded time
// after a stop. It serves prr_slot.
module dma_writer
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
#(
  /// Beats of the FIFO, a power of two, more than a burst and OnTheWay.
  parameter int unsigned Depth = 64
) (
  input  logic        clk_i,
  /// Asynchronous, active low; nothing counts as outstanding after it.
  input  logic        rst_ni,
  // control
  /// Pulse, when quiescent: start at beat first_i.
  input  logic        go_i,
  /// Level: accept beats from the task.
  input  logic        open_i,
  /// Level: send the remaining beats, also in short bursts.
  input  logic        flush_i,
  /// Level: announce no further burst and discard the beats that were not announced.
  input  logic        stop_i,
  /// Guest-physical address of beat 0.
  input  logic [63:0] base_i,
  /// First beat to write, nonzero after a resume.
  input  logic [29:0] first_i,
  /// No transaction is outstanding, and no beat waits to be sent.
  output logic        quiet_o,
  /// Pulse: the memory system answered with an error.
  output logic        error_o,
  /// Beats that the task has produced, including first_i.
  output logic [29:0] given_o,
  // guard
  /// Request to check a burst; the answer comes in the cycle after check_gnt_i.
  output logic        check_o,
  output logic [63:0] check_addr_o,
  output beats_t      check_beats_o,
  input  logic        check_gnt_i,
  input  logic        ok_i,
  input  logic        bad_i,
  /// Host-physical address, with ok_i.
  input  addr_t       addr_i,
  // stream from the task
  /// A beat; at most two arrive after ready_o has fallen.
  input  word_t       data_i,
  input  logic        valid_i,
  output logic        ready_o,
  // bus
  /// AXI4 write channels, with one ID. Valid signals stay until accepted; b_ready_o is always high.
  output slot_aw_t    aw_o,
  output logic        aw_valid_o,
  input  logic        aw_ready_i,
  output w_t          w_o,
  output logic        w_valid_o,
  input  logic        w_ready_i,
  input  slot_b_t     b_i,
  input  logic        b_valid_i,
  output logic        b_ready_o
);

  localparam int unsigned CountBits = $clog2(Depth) + 1;
  // ready_o and a beat take a cycle each at the region's boundary, so up to two beats are on their
  // way when it is calculated.
  localparam int unsigned OnTheWay = 2;

  // WrAsk: waits for a burst's beats and the guard's grant. WrAnswer: the guard answers. WrSend:
  // the address waits for the bus.
  typedef enum logic [1:0] {WrAsk, WrAnswer, WrSend} state_e;

  state_e state_q;
  logic stopping_q, stop;
  logic [29:0] next_q;
  logic [63:0] address;
  logic [9:0] to_page_end;
  beats_t want, want_q;
  addr_t host_q;
  // Beats in the FIFO; those of announced bursts that were not sent yet; the others.
  logic [CountBits-1:0] usage, promised_q, loose;
  // Bursts without a response, at most 15.
  logic [3:0] unanswered_q;
  logic push, sent, moved, fifo_ready, fifo_valid, enough;

  // Lengths of the announced bursts, in order.
  beats_t length, beat_q;
  logic length_valid, length_ready, burst_done;
  word_t fifo_data;

  assign address     = base_i + {31'b0, next_q, 3'b0};
  assign to_page_end = 10'd512 - {1'b0, address[PageBits-1:3]};
  assign loose       = usage - promised_q;
  assign stop        = stop_i | stopping_q;

  always_comb begin
    want = BurstBeats[4:0];
    // Without a flush a short burst is sent only at the end of a page.
    if (flush_i && loose < CountBits'(BurstBeats)) want = loose[4:0];
    if (to_page_end < {5'b0, want}) want = to_page_end[4:0];
  end

  assign enough        = loose != '0 && loose >= CountBits'(want);
  assign check_o       = state_q == WrAsk && enough && length_ready && unanswered_q != '1 && !stop;
  assign check_addr_o  = address;
  assign check_beats_o = want;
  assign sent          = aw_valid_o && aw_ready_i;
  assign aw_valid_o    = state_q == WrSend;

  always_comb begin
    aw_o       = '0;
    aw_o.addr  = 64'(host_q);
    aw_o.len   = 8'(want_q) - 8'd1;
    aw_o.size  = 3'd3;
    aw_o.burst = axi_pkg::BURST_INCR;
    aw_o.cache = axi_pkg::CACHE_MODIFIABLE;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= WrAsk;
      next_q  <= '0;
      want_q  <= '0;
      host_q  <= '0;
    end else begin
      unique case (state_q)
        WrAsk: begin
          if (check_o && check_gnt_i) state_q <= WrAnswer;
          if (go_i) next_q <= first_i;
          want_q <= want;
        end
        WrAnswer: begin
          if (stop || bad_i) state_q <= WrAsk;
          else if (ok_i) state_q <= WrSend;
          host_q <= addr_i;
        end
        default: if (sent) begin
          state_q <= WrAsk;
          next_q  <= next_q + 30'(want_q);
        end
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      promised_q   <= '0;
      unanswered_q <= '0;
      stopping_q   <= 1'b0;
      beat_q       <= '0;
      given_o      <= '0;
    end else begin
      promised_q   <= promised_q + (sent ? CountBits'(want_q) : '0) - CountBits'(moved);
      unanswered_q <= unanswered_q + 4'(sent) - 4'(b_valid_i);
      if (go_i) stopping_q <= 1'b0;
      else if (stop_i) stopping_q <= 1'b1;
      if (moved) beat_q <= burst_done ? '0 : beat_q + 1'b1;
      if (go_i) given_o <= first_i;
      else if (push) given_o <= given_o + 1'b1;
    end
  end

  assign burst_done = beat_q + 5'd1 == length;
  assign moved      = w_valid_o && w_ready_i;
  // The beats of an announced burst are in the FIFO, so the data follow without a gap.
  assign w_valid_o  = length_valid;
  assign w_o        = '{data: fifo_data, strb: '1, last: burst_done, user: '0};
  assign b_ready_o  = 1'b1;
  assign error_o    = b_valid_i && b_i.resp[1] && !stopping_q;
  assign push       = valid_i && open_i && !stop;
  assign ready_o    = usage < CountBits'(Depth - OnTheWay) && open_i && !stop;
  assign quiet_o    = unanswered_q == '0 && (state_q == WrAsk) && promised_q == '0
                      && (loose == '0 || stop);

  // The flush discards beats that were not announced, once all announced beats were sent.
  fabric_word_fifo #(.Width(64), .Depth(Depth)) i_fifo (
    .clk_i, .rst_ni, .flush_i(stop && promised_q == '0 && state_q != WrSend), .data_i,
    .valid_i(push), .ready_o(fifo_ready), .data_o(fifo_data), .valid_o(fifo_valid), .ready_i(moved),
    .usage_o(usage)
  );
  fabric_word_fifo #(.Width(5), .Depth(4)) i_lengths (
    .clk_i, .rst_ni, .flush_i(1'b0), .data_i(want_q), .valid_i(sent), .ready_o(length_ready),
    .data_o(length), .valid_o(length_valid), .ready_i(moved & burst_done), .usage_o()
  );

  logic unused;
  assign unused = &{1'b0, fifo_ready, fifo_valid, b_i.id, b_i.user, b_i.resp[0]};

endmodule
