// SPDX-License-Identifier: Apache-2.0
// What the core executes first: a0 = the hart's number, a1 = the device tree, to StartAddr.
// Firmware expects both registers. A loader has placed it in DRAM, or it starts from a ROM of the
// board. Serves soc_peripherals.
module soc_rom
  import soc_pkg::*;
#(
  /// Address of the firmware, and of the device tree.
  parameter logic [63:0] StartAddr = DramBase,
  parameter logic [63:0] DeviceTree = 64'hbff0_0000
) (
  input  logic        clk_i,
  /// A read; writes have no effect. Beyond the eight words it reads 0.
  input  access_t     access_i,
  /// In the cycle after the access.
  output logic [63:0] data_o
);

  localparam logic [63:0] Words [8] = '{
    64'h0000_0297_f140_2573,  // csrr a0, mhartid; auipc t0, 0
    64'h01c2_b283_0142_b583,  // ld a1, 20(t0); ld t0, 28(t0)
    64'h0000_0013_0002_8067,  // jr t0; nop
    DeviceTree,
    StartAddr,
    64'h0, 64'h0, 64'h0
  };

  always_ff @(posedge clk_i) data_o <= access_i.addr[15:6] == '0 ? Words[access_i.addr[5:3]] : '0;

  logic unused;
  assign unused = &{1'b0, access_i};

endmodule
