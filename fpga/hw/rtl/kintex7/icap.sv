// SPDX-License-Identifier: Apache-2.0
// The ICAP (internal configuration access port) of a Kintex-7: ICAPE2. The simulation model is
// fpga/verify/sim/icap.sv; the search path of the build selects one. Words have the bit order of a
// bitstream file; the primitive expects the bits of each byte reversed.
module icap (
  input  logic        clk_i,
  /// Asynchronous, active low. It does not reset the device's configuration logic: abort_i does.
  input  logic        rst_ni,
  /// A word moves when valid_i and ready_o; it reaches the primitive in the same cycle. ready_o is
  /// low only during an abort, for five cycles.
  input  logic        valid_i,
  input  logic [31:0] data_i,
  output logic        ready_o,
  /// Discard the incomplete bitstream; the next word starts a new one. Up for some cycles after
  /// rst_ni rises, so that all bits of the sequence start together although rst_ni has no
  /// synchronizer here.
  input  logic        abort_i,
  /// The device reports an error in the bitstream: valid in the cycle after a word has moved.
  output logic        error_o
);

  logic [31:0] swapped, status;
  logic sent_q, aborting;
  logic [2:0] abort_q;  // remaining cycles of the abort

  for (genvar b = 0; b < 4; b++) begin : gen_byte
    for (genvar i = 0; i < 8; i++) begin : gen_bit
      assign swapped[8*b+i] = data_i[8*b+7-i];
    end
  end

  // The abort sequence of UG470 (configuration abort): RDWRB rises while the ICAP is selected for
  // writing and stays high for four cycles. Without it the device takes the next words as the rest
  // of the truncated packet.
  localparam logic [2:0] AbortCycles = 3'd5;
  assign aborting = abort_q != '0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) abort_q <= '0;
    else if (abort_i) abort_q <= AbortCycles;
    else if (aborting) abort_q <= abort_q - 1'b1;
  end

  ICAPE2 #(.ICAP_WIDTH("X32")) i_icap (
    .CLK(clk_i), .CSIB(~(valid_i | aborting)), .RDWRB(aborting && abort_q != AbortCycles),
    .I(aborting ? '1 : swapped), .O(status)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sent_q <= 1'b0;
    else sent_q <= valid_i && ready_o;
  end

  assign ready_o = !aborting;
  // CFGERR_B, low when the configuration logic has detected an error.
  assign error_o = sent_q & ~status[7];

  // The remaining status bits are not used.
  logic unused;
  assign unused = ^{status[31:8], status[6:0]};

endmodule
