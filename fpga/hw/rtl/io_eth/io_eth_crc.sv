// SPDX-License-Identifier: Apache-2.0
// One byte's step of the CRC-32 of IEEE 802.3. The register starts with all ones; the FCS is its
// complement, low byte first. After a frame with its FCS the register has the value io_eth_mac_rx
// compares with.
module io_eth_crc (
  /// Combinational: the register before and after byte_i.
  input  logic [31:0] crc_i,
  input  logic [7:0]  byte_i,
  output logic [31:0] crc_o
);

  localparam logic [31:0] Polynomial = 32'hEDB88320;  // the bit that is sent first is the low one

  always_comb begin
    crc_o = crc_i ^ {24'b0, byte_i};
    for (int b = 0; b < 8; b++) crc_o = (crc_o >> 1) ^ (crc_o[0] ? Polynomial : '0);
  end

endmodule
