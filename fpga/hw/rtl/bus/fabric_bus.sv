// SPDX-License-Identifier: Apache-2.0
// The fabric's register space: PULP's atomics filter (answers atomics with an error),
// fabric_axi_port, and the address decoder (fabric_map_pkg). It owns the decision which block an
// address selects and which bytes of an IF page a guest may write. The selected block answers in
// the cycle after the access; an address that selects none is answered with SLVERR.
module fabric_bus
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import fabric_map_pkg::*;
  import if_page_pkg::*;
#(
  /// Parameters of the fabric: addresses of VMs, devices and sorters beyond them are unmapped.
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumDevs = 4,
  parameter int unsigned NumSorters = 2
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no transaction is in progress after it, and an answer that was due
  /// is lost. axi_req_i must be idle during the reset: fabric_top masks its valid signals.
  input  logic       rst_ni,
  /// AXI4 subordinate, as described at fabric_top.
  input  sub_req_t   axi_req_i,
  output sub_resp_t  axi_resp_o,
  // the access
  /// Byte strobes; 0: a read.
  output logic [7:0] write_o,
  /// Write data, valid with every select below. All selects are pulses, combinational from the bus.
  output word_t      data_o,
  /// Offset in the manager page, or in the windows' page.
  output logic [10:0] offset_o,
  /// Selects the manager page.
  output logic       regs_o,
  /// Selects the table of DMA windows of an existing VM.
  output logic       windows_o,
  /// Selects registers of sorters, puts into sorters; at the address sort_addr_o of that range.
  output logic       sort_regs_o,
  output logic       sort_puts_o,
  output logic [18:0] sort_addr_o,
  /// Selects IF pages and context buffers.
  output logic       mem_o,
  /// The addressed IF, which also selects the flags that stat_i, over_i and int_i describe.
  output if_addr_t   mem_addr_o,
  /// Byte strobes of the write that reach the memory of the IF pages.
  output logic [7:0] mem_write_o,
  /// Write data for the IF memory: those of the bus, or 0 for the reset of an IF.
  output word_t      mem_data_o,
  /// Pulses: a write of START, OVER or INT_CTRL.
  output logic       set_start_o,
  output logic       clear_over_o,
  output logic       set_int_o,
  /// Read data: of the manager page, of windows and flags in the cycle of the access, the others a
  /// cycle later. sort_data_i must be 0 unless a sorter's register was read.
  input  word_t      regs_data_i,
  /// In the cycle of the access: no register at this address.
  input  logic       regs_error_i,
  input  word_t      windows_data_i,
  input  word_t      mem_data_i,
  input  word_t      sort_data_i,
  input  logic [31:0] stat_i,
  input  logic       over_i,
  input  logic [1:0] int_i
);

  // 2 MiB.
  localparam int unsigned AddrBits = $clog2(Span);

  sub_req_t plain_req;
  sub_resp_t plain_resp;
  // *_q describe the access of the cycle before, whose answer is due.
  logic access, error_q, in_page, known, is_if, is_ctx, is_windows, is_regs, is_mem, mem_q, regs_q;
  logic is_sort_regs, is_sort_puts;
  logic [AddrBits-1:0] addr;
  word_t flags_q, answer, keep_q, merged;
  vm_t vm;
  dev_t dev;
  if_word_t word;

  axi_atop_filter #(
    .AxiIdWidth(SubIdWidth), .AxiMaxWriteTxns(2), .req_t(sub_req_t), .resp_t(sub_resp_t)
  ) i_no_atomics (
    .clk_i, .rst_ni, .slv_req_i(axi_req_i), .slv_resp_o(axi_resp_o), .mst_req_o(plain_req),
    .mst_resp_i(plain_resp)
  );

  fabric_axi_port #(.AddrBits(AddrBits)) i_port (
    .clk_i, .rst_ni, .req_i(plain_req), .resp_o(plain_resp), .access_o(access), .write_o,
    .addr_o(addr), .data_o, .data_i(answer), .error_i(error_q)
  );

  // Address decoder. The addresses are those of fabric_map_pkg, written as bit patterns; checked
  // below.
  assign is_if      = addr[20];
  assign is_ctx     = addr[20:18] == 3'b001;
  assign is_windows = addr[20:11] == 10'd2 && 32'(addr[10:7]) < NumVms;
  assign is_regs    = addr[20:12] == 9'd0 && addr[11:10] == '0;
  assign is_sort_regs = addr[20:11] == 10'd6 && 32'(addr[10:6]) < NumSorters
                        && 32'(addr[5:0]) < SorterSpan;
  assign is_sort_puts = addr[20:19] == 2'b01 && 32'(addr[18:14]) < NumSorters && write_o != '0;
  assign vm         = is_if ? addr[19:16] : addr[17:14];
  assign dev        = is_if ? addr[15:12] : addr[13:10];
  assign word       = addr[6:3];
  // A guest's page has 4 KiB, of which the first 128 bytes exist.
  assign in_page    = addr[11:7] == '0;
  assign known      = 32'(vm) < NumVms && 32'(dev) < NumDevs;

  assign offset_o   = addr[10:0];
  assign regs_o     = access && is_regs;
  assign windows_o  = access && is_windows;
  assign sort_regs_o = access && is_sort_regs;
  assign sort_puts_o = access && is_sort_puts;
  assign sort_addr_o = is_sort_regs ? 19'(addr[10:0]) : addr[18:0];
  assign is_mem     = access && known && ((is_if && in_page) || is_ctx);

  // The reset of an IF that is not connected clears the results of its last job, in the cycle of
  // the manager's write.
  localparam int unsigned ResetLsb = RegsIfReset % 8 * 8;
  logic resets;
  vm_t reset_vm;
  dev_t reset_dev;
  assign reset_vm  = data_o[ResetLsb+RegsIfResetVmLsb+:RegsIfResetVmWidth];
  assign reset_dev = data_o[ResetLsb+RegsIfResetDevLsb+:RegsIfResetDevWidth];
  assign resets    = regs_o && addr[9:3] == 7'(RegsIfReset / 8) && write_o[RegsIfReset%8]
                     && 32'(reset_vm) < NumVms && 32'(reset_dev) < NumDevs;

  assign mem_o = is_mem || resets;
  always_comb begin
    mem_addr_o = '{ctx: is_ctx, vm: vm, dev: dev, word: is_ctx ? addr[9:3] : {3'b0, word}};
    if (resets)
      mem_addr_o = '{ctx: 1'b0, vm: reset_vm, dev: reset_dev, word: {3'b0, if_word(IfDoneSize)}};
  end
  assign mem_data_o = resets ? '0 : data_o;

  // Flags of an IF page are kept in if_flags, and a guest cannot write the results of a job.
  logic if_write;
  assign if_write     = is_mem && is_if && write_o != '0;
  assign set_start_o  = writes(IfStart) && data_o[if_lsb(IfStart)];
  assign clear_over_o = writes(IfOver) && data_o[if_lsb(IfOver)];
  assign set_int_o    = writes(IfIntCtrl);
  assign mem_write_o  = resets ? {8{!stat_i[IfStatConnectedLsb]}} : is_ctx ? write_o
                        : write_o & if_writable(word);

  function automatic logic writes(input int unsigned offset);
    return if_write && word == if_word(offset) && write_o[offset%8];
  endfunction

  always_comb begin
    flags_q = '0;
    if (is_windows) flags_q = windows_data_i;
    else if (is_if) begin
      if (word == if_word(IfStat)) flags_q[if_lsb(IfStat)+:32] = stat_i;
      if (word == if_word(IfOver)) flags_q[if_lsb(IfOver)] = over_i;
      if (word == if_word(IfIntCtrl)) flags_q[if_lsb(IfIntCtrl)+:2] = int_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_q <= 1'b0;
      mem_q   <= 1'b0;
      regs_q  <= 1'b0;
      keep_q  <= '0;
    end else begin
      error_q <= access && !is_mem && !is_windows && !is_sort_regs && !is_sort_puts
                 && (!is_regs || regs_error_i);
      // Words that hold only flags are not taken from the memory.
      mem_q   <= is_mem && (is_ctx || word == if_word(IfDoneSize) || if_writable(word) != '0);
      regs_q  <= is_regs;
      keep_q  <= is_regs ? regs_data_i : flags_q;
    end
  end

  // The memory holds zeros for flag bits, and if_flags zeros for all others, so the two are ORed.
  // sort_data_i is zero unless a sorter's register was read.
  assign merged = mem_data_i | keep_q;
  assign answer = (mem_q && !regs_q ? merged : keep_q) | sort_data_i;

  if (Ifs != 'h100000 || IfStride != 'h1000 || Contexts != 'h40000 || ContextStride != 'h400
      || Windows != 'h1000 || Sorters != 'h3000 || SorterStride != 'h40 || SortPut != 'h80000
          || SortPutStride != 'h4000
      || IfSpan > 8 * PageWords)
      begin : gen_check
    $error("the register map has changed: update the address decoder");
  end

endmodule
