// SPDX-License-Identifier: Apache-2.0
// From memory to a device's bytes: reads consecutive addresses, in any alignment, ahead of the
// device, which gets the bytes of a burst when the burst is over without an error.
module io_reader
  import fabric_pkg::*;
  import io_pkg::*;
#(
  /// Words of its FIFO, a power of two: two blocks, so that one is read while the device takes the
  /// other one; at least one block.
  parameter int unsigned Depth = 32
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no transfer after it.
  input  logic       rst_ni,
  // the device's side
  /// Pulse, when quiet_o: bytes_i bytes from addr_i of the VM follow.
  input  logic       start_i,
  input  vm_t        vm_i,
  /// Guest-physical address, in any alignment, and number of bytes, 0..65535.
  input  addr_t      addr_i,
  input  io_length_t bytes_i,
  /// Pulse: the device takes no more bytes of this transfer.
  input  logic       stop_i,
  /// The bytes in order: one moves when valid_o and ready_i; valid_o does not wait for ready_i.
  output logic       valid_o,
  output logic [7:0] byte_o,
  input  logic       ready_i,
  /// IoDone as long as no burst has failed; after a failure no byte follows, nor has one of the
  /// failed burst been given.
  output io_status_e status_o,
  /// No transfer, and no burst is outstanding.
  output logic       quiet_o,
  /// DMA (io_dma): request_o and burst_o are stable until done_i; words come with give_i and cannot
  /// be refused, so a burst is requested only when the FIFO has space for all of it.
  output logic       request_o,
  output io_burst_t  burst_o,
  input  word_t      data_i,
  input  logic       give_i,
  input  logic       done_i,
  input  io_status_e status_i
);

  localparam int unsigned BlockWords = 16;

  vm_t vm_q;
  addr_t next_q;                 // of the next word to request
  // bytes that are not requested yet, counted from the first word's first byte
  logic [16:0] coming_q;
  io_length_t left_q;            // bytes that the device has not taken
  logic [2:0] lane_q;            // of the next byte in the first word of the FIFO
  logic reading_q, taken, word_over, good, fifo_ready, fifo_valid;
  logic [$clog2(Depth):0] usage, over_q;  // over_q: words in the FIFO whose bursts are over
  logic [4:0] in_block;
  logic [13:0] words_left;
  beats_t beats;
  word_t word;

  // Words to the end of the block of 128 bytes, which no burst crosses.
  assign in_block   = 5'(BlockWords) - {1'b0, next_q[BlockBits-1:3]};
  assign words_left = coming_q[16:3] + 14'(coming_q[2:0] != '0);
  assign beats      = words_left < 14'(in_block) ? beats_t'(words_left) : in_block;

  assign valid_o   = over_q != '0 && left_q != '0;
  assign byte_o    = word[8*lane_q+:8];
  assign taken     = valid_o && ready_i;
  assign word_over = taken && (lane_q == '1 || left_q == 16'd1);
  assign request_o = reading_q;
  assign quiet_o   = !reading_q && left_q == '0;
  assign good      = done_i && status_i == IoDone;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      vm_q      <= '0;
      next_q    <= '0;
      coming_q  <= '0;
      left_q    <= '0;
      lane_q    <= '0;
      reading_q <= 1'b0;
      burst_o   <= '0;
      status_o  <= IoDone;
    end else if (start_i) begin
      vm_q     <= vm_i;
      next_q   <= {addr_i[AddrWidth-1:3], 3'b0};
      coming_q <= bytes_i == '0 ? '0 : {1'b0, bytes_i} + 17'(addr_i[2:0]);
      left_q   <= bytes_i;
      lane_q   <= addr_i[2:0];
      status_o <= IoDone;
    end else begin
      if (taken) begin
        lane_q <= lane_q + 1'b1;
        left_q <= left_q - 1'b1;
      end
      if (!reading_q && coming_q != '0 && usage <= ($clog2(Depth) + 1)'(Depth - BlockWords)) begin
        reading_q <= 1'b1;
        burst_o   <= '{vm: vm_q, write: 1'b0, addr: next_q, beats: beats};
        next_q    <= next_q + {{(AddrWidth - 8){1'b0}}, beats, 3'b0};
        coming_q  <= words_left == 14'(beats) ? '0 : coming_q - {9'b0, beats, 3'b0};
      end
      if (done_i) begin
        reading_q <= 1'b0;
        if (status_i != IoDone) status_o <= status_i;
      end
      if (stop_i || (done_i && status_i != IoDone)) begin
        coming_q <= '0;
        left_q   <= '0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) over_q <= '0;
    else if (quiet_o) over_q <= '0;
    else over_q <= over_q + (good ? ($clog2(Depth) + 1)'(burst_o.beats) : '0)
                   - ($clog2(Depth) + 1)'(word_over);
  end

  fabric_word_fifo #(.Width(64), .Depth(Depth)) i_fifo (
    .clk_i, .rst_ni, .flush_i(quiet_o), .data_i, .valid_i(give_i), .ready_o(fifo_ready),
    .data_o(word), .valid_o(fifo_valid), .ready_i(word_over), .usage_o(usage)
  );

  logic unused;
  assign unused = &{1'b0, fifo_ready, fifo_valid};

endmodule
