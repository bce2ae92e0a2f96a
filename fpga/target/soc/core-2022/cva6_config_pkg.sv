// SPDX-License-Identifier: Apache-2.0
// The options of CVA6 that are macros of this name. Without FPU and CV-X-IF: the package does not
// contain the divider of the FPU. The names are CVA6's.
package cva6_config_pkg;

  localparam int CVA6ConfigXlen = 64;
  localparam bit CVA6ConfigFpuEn = 1'b0;
  localparam bit CVA6ConfigF16En = 1'b0;
  localparam bit CVA6ConfigF16AltEn = 1'b0;
  localparam bit CVA6ConfigF8En = 1'b0;
  localparam bit CVA6ConfigFVecEn = 1'b0;
  localparam bit CVA6ConfigCvxifEn = 1'b0;
  localparam bit CVA6ConfigCExtEn = 1'b1;
  localparam bit CVA6ConfigAExtEn = 1'b1;
  localparam bit CVA6ConfigFetchUserEn = 1'b0;
  localparam int CVA6ConfigFetchUserWidth = CVA6ConfigXlen;
  localparam bit CVA6ConfigDataUserEn = 1'b0;
  localparam int CVA6ConfigDataUserWidth = CVA6ConfigXlen;
  localparam bit CVA6ConfigRenameEn = 1'b0;

endpackage
