// SPDX-License-Identifier: Apache-2.0
// Received frames, first in, first out, in a block RAM. Bytes are stored as they arrive; at the end
// of a frame they are kept or removed. A frame that does not fit is removed as a whole. The first
// frame can be read several times, and already while it arrives; whether it is kept is known at its
// end only.
//
// Frames to a group take a copy for each VM, so a flood of them fills the buffer. They get only
// half of it, in bytes and in frames; the rest is for frames to one VM. Those are not limited, so a
// flood of them to a VM with slow memory fills the buffer.
module io_eth_buffer
  import io_eth_pkg::*;
#(
  /// A power of two, 4096 or more.
  parameter int unsigned Bytes = 4096,
  /// A power of two.
  parameter int unsigned Frames = 32,
  localparam int unsigned PointerBits = $clog2(Bytes)
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the buffer is empty after it.
  input  logic       rst_ni,
  /// The wire's side: a byte in each cycle with valid_i, which cannot be held back; end_i comes
  /// without a byte.
  input  logic       valid_i,
  input  logic [7:0] byte_i,
  input  logic       end_i,
  /// In the cycle of end_i: the frame is to be kept.
  input  logic       keep_i,
  /// Of the frame that arrives, complete with end_i: it has a VLAN tag; it is for a group.
  input  logic       tagged_i,
  input  logic       group_i,
  /// VMs that the frame is for, complete with end_i. As soon as there is one, the frame can be
  /// read.
  input  logic [15:0] mask_i,
  /// In the cycle of end_i: it does not fit.
  output logic       full_o,
  // the first frame
  /// Falls, without remove_i and for several cycles, if the frame is removed at its end.
  output logic       frame_valid_o,
  /// As far as it has arrived.
  output io_eth_frame_t frame_o,
  /// It has arrived and is kept.
  output logic       whole_o,
  /// Frames in the buffer, with the one that arrives if it can be read.
  output logic [$clog2(Frames):0] number_o,
  /// Pulse: removes it.
  input  logic       remove_i,
  /// Level: its bytes are read, from the first one on, without the tag.
  input  logic       read_i,
  /// Bytes of the frame: one moves when valid_o and ready_i, the first one a cycle after read_i,
  /// then one a cycle. They stop where the frame has not arrived yet. A fall of read_i starts
  /// again.
  output logic       valid_o,
  output logic [7:0] byte_o,
  /// All bytes of the frame, which is whole, have been read.
  output logic       over_o,
  input  logic       ready_i
);

  logic [7:0] mem [Bytes];
  // first_q: of the frame that arrives; base_q: of the one that is read
  logic [PointerBits:0] write_q, first_q, base_q;
  logic [10:0] offset_q;
  logic [$clog2(Frames):0] kept;
  io_eth_frame_t arriving, first;
  logic [PointerBits:0] group_bytes_q;      // of the kept frames to a group
  logic [$clog2(Frames):0] group_frames_q;
  // lost_q: a byte of the frame that arrives did not fit.
  logic lost_q, fits, store, keep, frames_ready, first_group, half, fetch, skip;

  // ---- Arriving ----
  assign fits   = write_q - base_q != (PointerBits + 1)'(Bytes);
  assign store  = valid_i && fits;
  // The longest frame is shorter than half of the buffer, so one that is read while it arrives is
  // never lost by this.
  assign half   = group_bytes_q + (write_q - first_q) > (PointerBits + 1)'(Bytes / 2)
                  || group_frames_q == ($clog2(Frames) + 1)'(Frames / 2);
  assign full_o = lost_q || !frames_ready || (group_i && half);
  assign keep   = end_i && keep_i && !full_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      first_q <= '0;
      lost_q  <= 1'b0;
    end else if (end_i) begin
      lost_q <= 1'b0;
      // A frame that is not kept leaves by resetting the write pointer.
      if (keep) first_q <= write_q;
      else write_q <= first_q;
    end else if (valid_i) begin
      if (fits) write_q <= write_q + 1'b1;
      else lost_q <= 1'b1;
    end
  end

  fabric_word_fifo #(.Width(1 + $bits(io_eth_frame_t)), .Depth(Frames)) i_frames (
    .clk_i, .rst_ni, .flush_i(1'b0), .data_i({group_i, arriving}), .valid_i(keep),
    .ready_o(frames_ready), .data_o({first_group, first}), .valid_o(whole_o), .ready_i(remove_i),
    .usage_o(kept)
  );

  logic group_comes, group_goes;
  assign group_comes = keep && group_i;
  assign group_goes  = remove_i && first_group;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      group_bytes_q  <= '0;
      group_frames_q <= '0;
    end else begin
      group_bytes_q  <= group_bytes_q + (group_comes ? (PointerBits + 1)'(arriving.bytes) : '0)
                        - (group_goes ? (PointerBits + 1)'(first.bytes) : '0);
      group_frames_q <= group_frames_q + ($clog2(Frames) + 1)'(group_comes)
                        - ($clog2(Frames) + 1)'(group_goes);
    end
  end

  assign arriving      = '{bytes: 11'(write_q - first_q), has_tag: tagged_i, mask: mask_i};
  assign frame_o       = whole_o ? first : arriving;
  assign frame_valid_o = whole_o || (mask_i != '0 && !lost_q);
  assign number_o      = whole_o ? kept : ($clog2(Frames) + 1)'(frame_valid_o);

  // ---- Leaving ----
  logic [PointerBits-1:0] read_addr;
  assign read_addr = base_q[PointerBits-1:0] + PointerBits'(offset_q);
  assign fetch     = read_i && offset_q != frame_o.bytes && (!valid_o || ready_i);
  // From the last byte of the addresses to the type after the tag.
  assign skip      = frame_o.has_tag && offset_q == 11'd11;
  assign over_o    = whole_o && offset_q == frame_o.bytes && !valid_o;

  always_ff @(posedge clk_i) begin
    if (store) mem[write_q[PointerBits-1:0]] <= byte_i;
    if (fetch) byte_o <= mem[read_addr];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      base_q   <= '0;
      offset_q <= '0;
      valid_o  <= 1'b0;
    end else begin
      if (remove_i) base_q <= base_q + (PointerBits + 1)'(frame_o.bytes);
      if (!read_i) begin
        offset_q <= '0;
        valid_o  <= 1'b0;
      end else if (fetch) begin
        offset_q <= offset_q + (skip ? 11'd5 : 11'd1);
        valid_o  <= 1'b1;
      end else if (ready_i) valid_o <= 1'b0;
    end
  end

endmodule
