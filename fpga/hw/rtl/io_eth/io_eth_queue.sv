// SPDX-License-Identifier: Apache-2.0
// Bytes from the driver to the transmitter, in io_eth_send. A frame starts on the wire when it
// is approved and enough of it is here that the memory's latency cannot starve it, or all of it is.
// Until all of it is here the driver can discard it.
module io_eth_queue #(
  /// Bytes, a power of two.
  parameter int unsigned Bytes = 256,
  /// Bytes of a frame that are here when it starts, at most Bytes.
  parameter int unsigned Threshold = 64,
  /// Bytes of the last frame that are here when tail_o rises, at most Bytes.
  parameter int unsigned Ahead = 64,
  localparam int unsigned PointerBits = $clog2(Bytes)
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the queue is empty after it.
  input  logic       rst_ni,
  /// The driver: a byte is pushed when valid_i and ready_o, which is low only while the queue is
  /// full.
  input  logic       valid_i,
  input  logic [7:0] byte_i,
  input  logic       last_i,
  output logic       ready_o,
  /// The frame whose bytes arrive may start.
  input  logic       approved_i,
  /// Pulse: removes the bytes of the frame whose last byte has not arrived. No byte is pushed in
  /// this cycle.
  input  logic       discard_i,
  /// The transmitter: a byte is taken when valid_o and ready_i. valid_o rises when the frame may
  /// start; within a frame it falls only when the driver is late.
  output logic       valid_o,
  output logic [7:0] byte_o,
  output logic       last_o,
  input  logic       ready_i,
  /// Pulse: a frame that has begun is discarded.
  output logic       abort_o,
  /// Level: preamble or bytes of a frame are on the wire; what follows the bytes is not counted.
  input  logic       begun_i,
  /// No frame waits for the wire, and the one that is on it, if any, has at most Ahead bytes left.
  output logic       tail_o
);

  logic [8:0] mem [Bytes];
  // first_q: of the frame whose bytes arrive
  logic [PointerBits:0] write_q, read_q, first_q, level;
  // frames that are here as a whole, or were when they began
  logic [PointerBits:0] whole_q;
  // open_q: the first frame has begun or may start.
  logic open_q, push, pop, arrives, leaves;

  assign level   = write_q - read_q;
  assign ready_o = level != (PointerBits + 1)'(Bytes);
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign arrives = push && last_i;
  assign leaves  = pop && last_o;

  assign valid_o          = open_q && level != '0;
  assign {last_o, byte_o} = mem[read_q[PointerBits-1:0]];
  // Without whole frames, the frame that has begun is the one whose bytes arrive, and all bytes
  // here are its own.
  assign abort_o          = discard_i && open_q && whole_q == '0;
  assign tail_o           = level <= (PointerBits + 1)'(Ahead)
                            && (whole_q == '0 || (whole_q == (PointerBits + 1)'(1) && begun_i));

  always_ff @(posedge clk_i) begin
    if (push) mem[write_q[PointerBits-1:0]] <= {last_i, byte_i};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      first_q <= '0;
      whole_q <= '0;
      open_q  <= 1'b0;
    end else begin
      if (abort_o) begin
        read_q  <= write_q;
        first_q <= write_q;
      end else begin
        if (pop) read_q <= read_q + 1'b1;
        if (arrives) first_q <= write_q + 1'b1;
        if (discard_i) write_q <= first_q;
        else if (push) write_q <= write_q + 1'b1;
      end
      whole_q <= whole_q + (PointerBits + 1)'(arrives) - (PointerBits + 1)'(leaves);
      if (abort_o || leaves) open_q <= 1'b0;
      else if (whole_q != '0 || (approved_i && !discard_i
                                 && level >= (PointerBits + 1)'(Threshold))) open_q <= 1'b1;
    end
  end

endmodule
