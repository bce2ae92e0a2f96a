// SPDX-License-Identifier: Apache-2.0
// The memory of the IF pages: 16 words of registers and 128 words of context for every IF. One port
// belongs to the bus; the regions share the other, arbitrated word by word, so that no region can
// monopolise it. A reset does not clear it.
module if_mem
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumDevs = 4,
  parameter int unsigned NumPrrs = 3
) (
  input  logic     clk_i,
  /// Asynchronous, active low: resets the turn of the arbiter, and which of the two memories the
  /// last access read. The words of both memories keep their values.
  input  logic     rst_ni,
  /// Bus: an access in this cycle, never delayed; data are valid in the next cycle.
  input  logic     bus_req_i,
  /// Byte strobes; 0: a read.
  input  logic [7:0] bus_we_i,
  input  if_addr_t bus_addr_i,
  input  word_t    bus_data_i,
  output word_t    bus_data_o,
  /// Regions: a request stays until gnt_o, which comes in the same cycle, or at most NumPrrs - 1
  /// cycles later if others ask, too; data_o, for all regions, is valid in the cycle after the
  /// grant.
  input  logic     [NumPrrs-1:0] req_i,
  input  logic     [NumPrrs-1:0] we_i,
  input  if_addr_t [NumPrrs-1:0] addr_i,
  input  word_t    [NumPrrs-1:0] data_i,
  output logic     [NumPrrs-1:0] gnt_o,
  /// Of the region that was granted in the cycle before.
  output word_t    data_o
);

  localparam int unsigned VmBits = NumVms > 1 ? $clog2(NumVms) : 1;
  localparam int unsigned DevBits = NumDevs > 1 ? $clog2(NumDevs) : 1;
  localparam int unsigned IfBits = VmBits + DevBits;

  typedef struct packed {
    logic     we;
    if_addr_t addr;
    word_t    data;
  } access_t;

  access_t [NumPrrs-1:0] wanted;
  access_t chosen;
  // bus_ctx_q, ctx_q: which of the two memories was read.
  logic req, bus_ctx_q, ctx_q;
  word_t bus_regs, bus_ctx, regs, ctx;
  logic [IfBits-1:0] bus_if, if_index;

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_access
    assign wanted[p] = '{we: we_i[p], addr: addr_i[p], data: data_i[p]};
  end

  // A grant is an access: the memory accepts one in every cycle.
  rr_arb_tree #(.NumIn(NumPrrs), .DataType(access_t), .AxiVldRdy(1'b0), .LockIn(1'b0)) i_arbiter (
    .clk_i, .rst_ni, .flush_i(1'b0), .rr_i('0), .req_i, .gnt_o, .data_i(wanted), .req_o(req),
    .gnt_i(1'b1), .data_o(chosen), .idx_o()
  );

  // Row of an IF; the upper bits of VM and device must be 0, as fabric_bus checks.
  assign bus_if   = {VmBits'(bus_addr_i.vm), DevBits'(bus_addr_i.dev)};
  assign if_index = {VmBits'(chosen.addr.vm), DevBits'(chosen.addr.dev)};

  // Two memories, each with a power of two of words for an IF. Regions write whole words; the bus
  // writes bytes.
  fabric_tdp_ram #(.Words(16 * 2 ** IfBits)) i_regs (
    .clk_i, .a_en_i(bus_req_i && !bus_addr_i.ctx), .a_we_i(bus_we_i),
    .a_addr_i({bus_if, bus_addr_i.word[3:0]}), .a_data_i(bus_data_i), .a_data_o(bus_regs),
    .b_en_i(req && !chosen.addr.ctx), .b_we_i({8{chosen.we}}),
    .b_addr_i({if_index, chosen.addr.word[3:0]}), .b_data_i(chosen.data), .b_data_o(regs)
  );

  fabric_tdp_ram #(.Words(CtxBufferWords * 2 ** IfBits)) i_ctx (
    .clk_i, .a_en_i(bus_req_i && bus_addr_i.ctx), .a_we_i(bus_we_i),
    .a_addr_i({bus_if, bus_addr_i.word}), .a_data_i(bus_data_i), .a_data_o(bus_ctx),
    .b_en_i(req && chosen.addr.ctx), .b_we_i({8{chosen.we}}),
    .b_addr_i({if_index, chosen.addr.word}), .b_data_i(chosen.data), .b_data_o(ctx)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bus_ctx_q <= 1'b0;
      ctx_q     <= 1'b0;
    end else begin
      bus_ctx_q <= bus_addr_i.ctx;
      ctx_q     <= chosen.addr.ctx;
    end
  end

  assign bus_data_o = bus_ctx_q ? bus_ctx : bus_regs;
  assign data_o     = ctx_q ? ctx : regs;

endmodule
