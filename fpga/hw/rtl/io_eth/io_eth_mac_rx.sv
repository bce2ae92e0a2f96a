// SPDX-License-Identifier: Apache-2.0
// Receives frames: finds their start, checks length and FCS, and passes their bytes on without the
// FCS. Whether a frame is good is known at its end only.
module io_eth_mac_rx
  import io_eth_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; a frame that is on the wire after it is skipped to its end, without
  /// end_o.
  input  logic       rst_ni,
  /// A byte passes the wire in this cycle.
  input  logic       tick_i,
  input  gmii_t      gmii_i,
  /// Pulse: a byte of the frame, four ticks after it was on the wire; nothing can hold it back.
  output logic       valid_o,
  output logic [7:0] byte_o,
  /// Pulse: the frame is over; or, with WireNoStart, something was not a frame and no byte has
  /// passed.
  output logic       end_o,
  output wire_e      wire_o
);

  localparam logic [7:0] Preamble = 8'h55, StartOfFrame = 8'hD5;
  // The register after a frame with a right FCS.
  localparam logic [31:0] Residue = 32'hDEBB20E3;
  localparam int unsigned FcsBytes = 4;
  localparam logic [10:0] Shortest = 11'(MinBytes + FcsBytes), Longest = 11'(MaxBytes + FcsBytes);

  // RxWait: the wire is idle. RxStart: preamble. RxData: the frame. RxSkip: until the wire is idle.
  typedef enum logic [1:0] {RxWait, RxStart, RxData, RxSkip} state_e;

  state_e state_q;
  logic [10:0] count_q, longest;   // bytes with FCS, at most one more than the longest frame has
  logic [FcsBytes-1:0][7:0] line_q;  // the last bytes: the FCS at the end
  logic [31:0] crc_q, crc;
  logic tagged_q, error_q, no_start, starts;

  assign longest  = tagged_q ? Longest + 11'(TagBytes) : Longest;
  assign starts   = gmii_i.enable && !gmii_i.error && gmii_i.data == StartOfFrame;
  assign no_start = gmii_i.enable ? gmii_i.error || !(gmii_i.data inside {Preamble, StartOfFrame})
                    : state_q == RxStart;

  io_eth_crc i_crc (.crc_i(crc_q), .byte_i(gmii_i.data), .crc_o(crc));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= RxSkip;  // a frame that is in progress at reset is not complete
      count_q  <= '0;
      line_q   <= '0;
      crc_q    <= '1;
      tagged_q <= 1'b0;
      error_q  <= 1'b0;
    end else if (tick_i) begin
      unique case (state_q)
        RxWait, RxStart: begin
          count_q  <= '0;
          crc_q    <= '1;
          tagged_q <= 1'b0;
          error_q  <= 1'b0;
          if (!gmii_i.enable) state_q <= RxWait;
          else if (no_start) state_q <= RxSkip;
          else state_q <= starts ? RxData : RxStart;
        end
        RxData: begin
          line_q <= {line_q[FcsBytes-2:0], gmii_i.data};
          crc_q  <= crc;
          // A longer frame is not passed on, and counted no further.
          if (count_q <= longest) count_q <= count_q + 1'b1;
          if (count_q == 11'd13) tagged_q <= {line_q[0], gmii_i.data} == TypeTag;
          if (gmii_i.error) error_q <= 1'b1;
          if (!gmii_i.enable) state_q <= RxWait;
        end
        default: if (!gmii_i.enable) state_q <= RxWait;  // RxSkip
      endcase
    end
  end

  assign valid_o = tick_i && state_q == RxData && gmii_i.enable && count_q >= 11'(FcsBytes)
                   && count_q < longest;
  assign byte_o  = line_q[FcsBytes-1];
  assign end_o   = tick_i && (state_q == RxData ? !gmii_i.enable : state_q != RxSkip && no_start);

  always_comb begin
    wire_o = WireGood;
    if (state_q != RxData) wire_o = WireNoStart;
    else if (count_q < Shortest) wire_o = WireRunt;
    else if (count_q > longest) wire_o = WireLong;
    else if (error_q || crc_q != Residue) wire_o = WireFcs;
  end

endmodule
