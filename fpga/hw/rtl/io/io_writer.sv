// SPDX-License-Identifier: Apache-2.0
// From a device's bytes to bursts in memory: bytes go to consecutive addresses, in any alignment,
// and only they are written. It serves one transfer of one device at a time, and gathers bytes into
// blocks of 128 bytes, each a burst.
module io_writer
  import fabric_pkg::*;
  import io_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; idle after it.
  input  logic       rst_ni,
  // the device's side
  /// Pulse, when ready_o: the next byte goes to addr_i of the VM.
  input  logic       start_i,
  input  vm_t        vm_i,
  /// Guest-physical.
  input  addr_t      addr_i,
  /// A byte moves when valid_i and ready_o; ready_o falls while two blocks wait for the DMA.
  input  logic       valid_i,
  input  logic [7:0] byte_i,
  output logic       ready_o,
  /// Pulse: no byte follows.
  input  logic       end_i,
  /// Pulse, after end_i: all bytes are written, or not, with status_o, that of the first burst that
  /// failed.
  output logic       done_o,
  output io_status_e status_o,
  /// DMA (io_dma): request_o and burst_o are stable until done_i. All words of a burst are in the
  /// FIFO when it is requested.
  output logic       request_o,
  output io_burst_t  burst_o,
  output io_word_t   word_o,
  input  logic       take_i,
  input  logic       done_i,
  input  io_status_e status_i
);

  // Two blocks: one is filled while the other one is written.
  localparam int unsigned Depth = 32;

  // WrFill: bytes come. WrRest: the last word and the last block are closed. WrDrain: the DMA
  // writes the rest.
  typedef enum logic [1:0] {WrIdle, WrFill, WrRest, WrDrain} state_e;

  // A block whose words are all in the FIFO.
  typedef struct packed {
    addr_t  addr;
    beats_t beats;
  } closed_t;

  state_e state_q;
  vm_t vm_q;
  addr_t addr_q;      // of the next byte
  addr_t block_q;     // of the first word of the block that is being filled
  beats_t words_q;    // of that block, in the FIFO
  io_word_t word_q, filled;
  closed_t closed;
  logic accepted, push, close, closed_valid, closed_ready, fifo_ready, fifo_valid;
  logic [$clog2(Depth):0] usage;

  assign ready_o  = state_q == WrIdle || (state_q == WrFill && fifo_ready && closed_ready);
  assign accepted = state_q == WrFill && valid_i && ready_o;

  always_comb begin
    filled = word_q;
    for (int b = 0; b < 8; b++) begin
      if (accepted && addr_q[2:0] == 3'(b)) begin
        filled.data[8*b+:8] = byte_i;
        filled.strobes[b]   = 1'b1;
      end
    end
  end

  // A word is complete with its last byte, or with the last byte of all; so is a block with its
  // last word.
  assign push = (accepted && addr_q[2:0] == '1)
                || (state_q == WrRest && word_q.strobes != '0 && fifo_ready && closed_ready);
  assign close = (accepted && addr_q[BlockBits-1:0] == '1)
                 || (state_q == WrRest && (word_q.strobes == '0 ? words_q != '0 && closed_ready
                                           : push));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= WrIdle;
      vm_q     <= '0;
      addr_q   <= '0;
      block_q  <= '0;
      words_q  <= '0;
      word_q   <= '0;
      status_o <= IoDone;
    end else begin
      if (done_i && status_o == IoDone) status_o <= status_i;
      if (accepted) addr_q <= addr_q + 1'b1;
      word_q <= push ? '0 : filled;
      if (close) begin
        words_q <= '0;
        block_q <= {block_q[AddrWidth-1:BlockBits] + 1'b1, {BlockBits{1'b0}}};
      end else if (push) words_q <= words_q + 1'b1;
      unique case (state_q)
        WrIdle: if (start_i) begin
          state_q  <= WrFill;
          vm_q     <= vm_i;
          addr_q   <= addr_i;
          block_q  <= {addr_i[AddrWidth-1:3], 3'b0};
          status_o <= IoDone;
        end
        WrFill: if (end_i) state_q <= WrRest;
        WrRest: if (close || (word_q.strobes == '0 && words_q == '0)) state_q <= WrDrain;
        default: if (done_o) state_q <= WrIdle;  // WrDrain
      endcase
    end
  end
  assign done_o = state_q == WrDrain && !closed_valid;

  fabric_word_fifo #(.Width($bits(io_word_t)), .Depth(Depth)) i_words (
    .clk_i, .rst_ni, .flush_i(1'b0), .data_i(filled), .valid_i(push), .ready_o(fifo_ready),
    .data_o(word_o), .valid_o(fifo_valid), .ready_i(take_i), .usage_o(usage)
  );
  fabric_word_fifo #(.Width($bits(closed_t)), .Depth(2)) i_closed (
    .clk_i, .rst_ni, .flush_i(1'b0), .data_i({block_q, words_q + beats_t'(push)}), .valid_i(close),
    .ready_o(closed_ready), .data_o(closed), .valid_o(closed_valid), .ready_i(done_i), .usage_o()
  );
  assign request_o = closed_valid;
  assign burst_o   = '{vm: vm_q, write: 1'b1, addr: closed.addr, beats: closed.beats};

  logic unused;
  assign unused = &{1'b0, fifo_valid, usage};

endmodule
