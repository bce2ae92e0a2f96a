// SPDX-License-Identifier: Apache-2.0
// Sends frames: preamble, start of frame, the bytes, padding to 60 bytes, FCS, and an interframe
// gap of 12 bytes. A frame whose next byte is missing ends with an error, which makes every
// receiver discard it.
module io_eth_mac_tx
  import io_eth_pkg::*;
(
  input  logic       clk_i,
  /// Asynchronous, active low; the wire is idle after it.
  input  logic       rst_ni,
  /// A byte passes the wire in this cycle.
  input  logic       tick_i,
  /// Frames: a frame starts when its first byte is valid; ready_o takes a byte in a cycle of
  /// tick_i. From the first byte on valid_i must not fall before last_i.
  input  logic       valid_i,
  input  logic [7:0] byte_i,
  input  logic       last_i,
  output logic       ready_o,
  /// Pulse: the frame on the wire, if any, ends with an error.
  input  logic       abort_i,
  /// Pulse: a byte was missing; the frame ends with an error.
  output logic       starved_o,
  /// Level: preamble or bytes of a frame are on the wire.
  output logic       begun_o,
  /// Wire: a register that changes in the cycle after tick_i.
  output gmii_t      gmii_o
);

  localparam logic [7:0] Preamble = 8'h55, StartOfFrame = 8'hD5;
  // Bytes of each part; the first one is seven bytes of preamble and the start of frame.
  localparam logic [5:0] StartBytes = 6'd8, FcsBytes = 6'd4, GapBytes = 6'd12;

  // In the order of the wire: preamble and start of frame, bytes, padding, FCS, interframe gap.
  // After the byte with an error the gap follows at once, without padding and FCS.
  typedef enum logic [2:0] {TxIdle, TxStart, TxData, TxPad, TxFcs, TxGap} state_e;

  state_e state_q;
  // bytes of the state that have passed; in TxData and TxPad: of the frame, at most MinBytes
  logic [5:0] count_q;
  logic [31:0] crc_q, crc;
  logic abort_q, sends, enough;
  logic [7:0] data;

  assign sends     = valid_i && !abort_q;
  assign ready_o   = tick_i && state_q == TxData && sends;
  assign starved_o = tick_i && state_q == TxData && !valid_i && !abort_q;
  assign begun_o   = state_q inside {TxStart, TxData};
  // This byte makes the frame long enough.
  assign enough    = count_q >= 6'(MinBytes - 1);
  assign data      = state_q == TxData ? byte_i : '0;

  io_eth_crc i_crc (.crc_i(crc_q), .byte_i(data), .crc_o(crc));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= TxIdle;
      count_q <= '0;
      crc_q   <= '1;
      gmii_o  <= '0;
    end else if (tick_i) begin
      gmii_o  <= '0;
      count_q <= count_q + 1'b1;
      unique case (state_q)
        TxIdle: begin
          count_q <= '0;
          if (valid_i) begin
            state_q <= TxStart;
            count_q <= 6'd1;
            gmii_o  <= '{enable: 1'b1, error: 1'b0, data: Preamble};
          end
        end
        TxStart: begin
          crc_q  <= '1;
          gmii_o <= '{enable: 1'b1, error: 1'b0, data: count_q == StartBytes - 6'd1 ? StartOfFrame
                      : Preamble};
          if (count_q == StartBytes - 6'd1) begin
            state_q <= TxData;
            count_q <= '0;
          end
        end
        TxData, TxPad: begin
          crc_q  <= crc;
          gmii_o <= '{enable: 1'b1, error: state_q == TxData && !sends, data: data};
          if (enough) count_q <= count_q;
          if (state_q == TxData && !sends) begin
            state_q <= TxGap;
            count_q <= '0;
          end else if (state_q == TxPad || last_i) begin
            state_q <= enough ? TxFcs : TxPad;
            if (enough) count_q <= '0;
          end
        end
        TxFcs: begin
          crc_q  <= crc_q >> 8;
          gmii_o <= '{enable: 1'b1, error: 1'b0, data: ~crc_q[7:0]};
          if (count_q == FcsBytes - 6'd1) begin
            state_q <= TxGap;
            count_q <= '0;
          end
        end
        default: if (count_q == GapBytes - 6'd1) state_q <= TxIdle;  // TxGap
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) abort_q <= 1'b0;
    else if (state_q inside {TxStart, TxData}) abort_q <= abort_q || abort_i;
    // a frame starts in this cycle
    else abort_q <= abort_i && tick_i && state_q == TxIdle && valid_i;
  end

endmodule
