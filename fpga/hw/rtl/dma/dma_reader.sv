// SPDX-License-Identifier: Apache-2.0
// Reads a job's input in bursts of at most 16 beats that stay within a page, each checked by the
// guard, into a FIFO that has space for every requested beat. Reads therefore never block the bus,
// whatever the task does, and the reader is quiescent a bounded time after a stop. It serves a
// region (prr_slot) and, without windows, the ICAP (icap_ctrl).
module dma_reader
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
#(
  /// Beats of the FIFO, a power of two, at least one burst. It bounds the beats outstanding.
  parameter int unsigned Depth = 64
) (
  input  logic        clk_i,
  /// Asynchronous, active low. The reader then counts nothing as outstanding: the reset must also
  /// reach the memory's port, or a late answer would be taken as data.
  input  logic        rst_ni,
  // control
  /// Pulse, when quiescent: start at beat first_i.
  input  logic        go_i,
  /// Pulse or level: issue no further burst and discard what the task has not taken.
  input  logic        stop_i,
  /// Guest-physical address of beat 0.
  input  logic [63:0] base_i,
  /// First beat to read, nonzero after a resume.
  input  logic [29:0] first_i,
  /// Beats of the whole job.
  input  logic [29:0] beats_i,
  /// No transaction is outstanding.
  output logic        quiet_o,
  /// Pulse: the memory system answered with an error.
  output logic        error_o,
  /// Beats that the task has taken, including first_i.
  output logic [29:0] taken_o,
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
  // stream to the task
  /// The stream: a beat moves when valid_o and ready_i and no stop; valid_o does not wait for
  /// ready_i. last_o marks the last beat of the job.
  output word_t       data_o,
  output logic        valid_o,
  output logic        last_o,
  input  logic        ready_i,
  // bus
  /// AXI4 read channels, with one ID. ar_valid_o stays until accepted; r_ready_o is always high.
  output slot_ar_t    ar_o,
  output logic        ar_valid_o,
  input  logic        ar_ready_i,
  input  slot_r_t     r_i,
  input  logic        r_valid_i,
  output logic        r_ready_o
);

  localparam int unsigned CountBits = $clog2(Depth) + 1;

  // RdAsk: the next burst waits for space and the guard's grant. RdAnswer: the guard answers.
  // RdSend: the address waits for the bus. A burst takes three cycles at least.
  typedef enum logic [1:0] {RdOff, RdAsk, RdAnswer, RdSend} state_e;

  state_e state_q;
  // From a stop to the next job: beats that arrive are discarded.
  logic dropping_q;
  logic [29:0] next_q, left;
  logic [63:0] address;
  logic [9:0] to_page_end;
  beats_t want, want_q;
  addr_t host_q;
  logic [CountBits-1:0] usage, coming_q, space;
  logic pop, sent, arrived, fifo_ready;

  assign address     = base_i + {31'b0, next_q, 3'b0};
  assign left        = beats_i - next_q;
  // In beats, 1 .. 512.
  assign to_page_end = 10'd512 - {1'b0, address[PageBits-1:3]};
  assign space       = CountBits'(Depth) - usage - coming_q;

  always_comb begin
    want = BurstBeats[4:0];
    if (left < 30'(BurstBeats)) want = left[4:0];
    if (to_page_end < {5'b0, want}) want = to_page_end[4:0];
  end

  assign check_o       = state_q == RdAsk && left != '0 && space >= CountBits'(want) && !stop_i;
  assign check_addr_o  = address;
  assign check_beats_o = want;
  assign sent          = ar_valid_o && ar_ready_i;
  assign arrived       = r_valid_i && r_ready_o;

  assign ar_valid_o = state_q == RdSend;
  always_comb begin
    ar_o       = '0;
    ar_o.addr  = 64'(host_q);
    ar_o.len   = 8'(want_q) - 8'd1;
    ar_o.size  = 3'd3;
    ar_o.burst = axi_pkg::BURST_INCR;
    ar_o.cache = axi_pkg::CACHE_MODIFIABLE;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= RdOff;
      next_q  <= '0;
      want_q  <= '0;
      host_q  <= '0;
    end else begin
      unique case (state_q)
        RdOff: if (go_i) begin
          state_q <= RdAsk;
          next_q  <= first_i;
        end
        RdAsk: begin
          if (stop_i || left == '0) state_q <= RdOff;
          else if (check_o && check_gnt_i) state_q <= RdAnswer;
          want_q <= want;
        end
        RdAnswer: begin
          // A refused burst ends the reading; prr_run, which sees bad_i as well, aborts the job.
          if (stop_i || bad_i) state_q <= RdOff;
          else if (ok_i) state_q <= RdSend;
          host_q <= addr_i;
        end
        // An AXI request must not be withdrawn: the address stays valid until accepted.
        default: if (sent) begin
          state_q <= stop_i || dropping_q ? RdOff : RdAsk;
          next_q  <= next_q + 30'(want_q);
        end
      endcase
    end
  end

  // Beats still outstanding, and whether to discard them on arrival.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      coming_q   <= '0;
      dropping_q <= 1'b0;
      taken_o    <= '0;
    end else begin
      coming_q <= coming_q + (sent ? CountBits'(want_q) : '0) - CountBits'(arrived);
      if (go_i) dropping_q <= 1'b0;
      else if (stop_i) dropping_q <= 1'b1;
      if (go_i) taken_o <= first_i;
      else if (pop) taken_o <= taken_o + 1'b1;
    end
  end

  assign r_ready_o = 1'b1;  // the FIFO has space for every outstanding beat
  assign quiet_o   = (state_q == RdOff || (state_q == RdAsk && left == '0)) && coming_q == '0;
  assign error_o   = arrived && r_i.resp[1] && !dropping_q;
  assign pop       = valid_o && ready_i && !stop_i;
  assign last_o    = taken_o + 30'd1 == beats_i;

  fabric_word_fifo #(.Width(64), .Depth(Depth)) i_fifo (
    .clk_i, .rst_ni, .flush_i(stop_i | dropping_q), .data_i(r_i.data),
    .valid_i(arrived & ~dropping_q), .ready_o(fifo_ready), .data_o, .valid_o, .ready_i,
    .usage_o(usage)
  );

  // The FIFO cannot overflow, because no burst is requested without space for it; a single ID keeps
  // the responses in order.
  logic unused;
  assign unused = &{1'b0, fifo_ready, r_i.id, r_i.last, r_i.user, r_i.resp[0]};

endmodule
