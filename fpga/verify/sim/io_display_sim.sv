// SPDX-License-Identifier: Apache-2.0
// The shared display for benches, with the DMA, the guard, and a client that competes for the
// memory; records what is sent. A VM has four windows of VmPages: memory of its own at VmBase; at
// BrokenBase the memory answers with errors, at SlowBase it delays each burst by slow_i cycles,
// both with the same contents. The guard refuses all other addresses.
module io_display_sim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_pkg::*;
  import display_pkg::*;
#(
  parameter int unsigned NumVms = 16,
  parameter int unsigned MaxWidth = 64,
  localparam page_t VmBase = page_t'(41'h4000_0000 >> PageBits),
  localparam page_t BrokenBase = page_t'(41'h5000_0000 >> PageBits),
  localparam page_t SlowBase = page_t'(41'h6000_0000 >> PageBits),
  localparam page_t VmPages = 29'd4,
  localparam page_t Broken = 29'h0800_0000,  // bits of host-physical pages
  localparam page_t Slow = 29'h0400_0000,
  localparam int unsigned RecordBits = 16
) (
  input  logic clk_i,
  input  logic rst_ni,
  // configuration; axes are active, front, sync, back
  input  logic enable_i,
  input  logic [63:0] h_i,
  input  logic [63:0] v_i,
  input  logic [7:0] pixel_cycles_i,
  input  logic frame_mode_i,
  input  logic frame_i,
  input  logic [11:0] burst_cycles_i,
  input  logic rect_write_i,
  input  logic [3:0] rect_vm_i,
  input  logic [64:0] rect_i,
  input  logic flush_i,
  input  logic [3:0] flush_vm_i,
  input  logic [3:0] fb_vm_i,
  input  logic [2:0] fb_write_i,
  input  logic [40:0] fb_base_i,
  input  logic [15:0] fb_stride_i,
  input  logic fb_on_i,
  output logic [57:0] fb_o,
  output logic [16:0] fb_status_o,
  output logic [NumVms-1:0] busy_o,
  output logic idle_o,
  output logic frame_o,
  // memory
  input  logic [15:0] slow_i,
  input  logic compete_i,
  /// Bursts of each of the two clients, and the most of the display's between two of the other
  /// one's.
  output logic [31:0] bursts_o,
  output logic [31:0] competed_o,
  output logic [31:0] in_row_o,
  // record
  input  logic record_i,  // pulse: begins the record anew
  output logic [RecordBits:0] recorded_o,
  /// Cycles since the last pixel, if they were not pixel_cycles_i: sticky.
  output logic uneven_o,
  output logic [4:0] m_axi_awid,
  output logic [63:0] m_axi_awaddr,
  output logic [7:0] m_axi_awlen,
  output logic [2:0] m_axi_awsize,
  output logic [1:0] m_axi_awburst,
  output logic m_axi_awlock,
  output logic [3:0] m_axi_awcache,
  output logic [2:0] m_axi_awprot,
  output logic m_axi_awvalid,
  input  logic m_axi_awready,
  output logic [4:0] m_axi_arid,
  output logic [63:0] m_axi_araddr,
  output logic [7:0] m_axi_arlen,
  output logic [2:0] m_axi_arsize,
  output logic [1:0] m_axi_arburst,
  output logic m_axi_arlock,
  output logic [3:0] m_axi_arcache,
  output logic [2:0] m_axi_arprot,
  output logic m_axi_arvalid,
  input  logic m_axi_arready,
  output logic [63:0] m_axi_wdata,
  output logic [7:0] m_axi_wstrb,
  output logic m_axi_wlast,
  output logic m_axi_wvalid,
  input  logic m_axi_wready,
  input  logic [4:0] m_axi_bid,
  input  logic [1:0] m_axi_bresp,
  input  logic m_axi_bvalid,
  output logic m_axi_bready,
  input  logic [4:0] m_axi_rid,
  input  logic [63:0] m_axi_rdata,
  input  logic [1:0] m_axi_rresp,
  input  logic m_axi_rlast,
  input  logic m_axi_rvalid,
  output logic m_axi_rready
);

  // ---- Display and DMA; client 1 reads its 16 words of VM 0 again and again ----
  localparam int unsigned Clients = 2;
  logic [Clients-1:0] request, take, give, over;
  io_burst_t [Clients-1:0] burst;
  word_t data;
  io_status_e status;
  logic check, ok, bad, pixel;
  dma_check_t check_request;
  addr_t host;
  slot_req_t req;
  slot_resp_t resp;
  window_t [NumVms-1:0][NumWindows-1:0] windows;
  logic hsync, vsync, data_enable;
  pixel_t color;

  io_display #(.NumVms(NumVms), .MaxWidth(MaxWidth)) i_display (
    .clk_i, .rst_ni, .enable_i, .mode_i({h_i, v_i}), .pixel_cycles_i, .frame_mode_i, .frame_i,
    .burst_cycles_i, .rect_write_i, .rect_vm_i, .rect_i(rect_i), .flush_i, .flush_vm_i, .fb_vm_i,
    .fb_write_i(fb_write_i), .fb_i({fb_base_i, fb_stride_i, fb_on_i}), .fb_o(fb_o),
    .fb_status_o(fb_status_o), .busy_o, .idle_o, .request_o(request[0]), .burst_o(burst[0]),
    .data_i(data), .give_i(give[0]), .done_i(over[0]), .status_i(status), .pixel_o(pixel),
    .hsync_o(hsync), .vsync_o(vsync), .data_enable_o(data_enable), .red_o(color.red),
    .green_o(color.green), .blue_o(color.blue), .frame_o
  );
  assign request[1] = compete_i && !over[1];
  assign burst[1]   = '{vm: '0, write: 1'b0, addr: addr_t'({VmBase, 12'b0}), beats: 5'd16};
  io_dma #(.NumClients(Clients)) i_dma (
    .clk_i, .rst_ni, .request_i(request), .burst_i(burst), .word_i('0), .take_o(take),
    .data_o(data), .give_o(give), .done_o(over), .status_o(status), .check_o(check),
    .check_request_o(check_request), .check_gnt_i(1'b1), .ok_i(ok), .bad_i(bad), .addr_i(host),
    .axi_req_o(req), .axi_resp_i(resp)
  );
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_windows
    localparam page_t Own = page_t'(v) * VmPages;
    assign windows[v] = {
      {VmBase, VmPages, Own, 2'b10}, {BrokenBase, VmPages, Own | Broken, 2'b10},
      {SlowBase, VmPages, Own | Slow, 2'b10}, {PageWidth * 3 + 2{1'b0}}
    };
  end
  dma_guard #(.NumVms(NumVms)) i_guard (
    .clk_i, .rst_ni, .windows_i(windows), .check_i(check), .request_i(check_request), .ok_o(ok),
    .bad_o(bad), .addr_o(host)
  );

  // ---- Record ----
  logic [26:0] recorded [2**RecordBits];  // vsync, hsync, data enable, pixel
  logic [7:0] since_q;
  logic [31:0] row_q;
  logic seen_q;
  always_ff @(posedge clk_i) begin
    if (record_i) {recorded_o, uneven_o, seen_q} <= '0;
    else if (pixel && !recorded_o[RecordBits]) begin
      recorded[recorded_o[RecordBits-1:0]] <= {vsync, hsync, data_enable, color};
      recorded_o <= recorded_o + 1'b1;
      seen_q     <= 1'b1;
      if (seen_q && since_q != pixel_cycles_i && frame_mode_i == 1'b0) uneven_o <= 1'b1;
    end
    since_q <= pixel ? 8'd1 : since_q + 8'd1;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {bursts_o, competed_o, in_row_o, row_q} <= '0;
    else begin
      bursts_o   <= bursts_o + 32'(over[0]);
      competed_o <= competed_o + 32'(over[1]);
      if (over[1] || !compete_i) row_q <= '0;
      else row_q <= row_q + 32'(over[0]);
      if (row_q > in_row_o) in_row_o <= row_q;
    end
  end

  // ---- Memory ----
  logic [15:0] wait_q;
  logic delayed, broken_q;
  assign delayed = req.ar.addr[PageBits+26] && wait_q < slow_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {wait_q, broken_q} <= '0;
    else begin
      wait_q <= req.ar_valid && !resp.ar_ready ? wait_q + 16'(wait_q != '1) : '0;
      if (req.ar_valid) broken_q <= req.ar.addr[PageBits+27];
    end
  end
  assign {m_axi_awid, m_axi_awaddr, m_axi_awlen, m_axi_awsize, m_axi_awburst, m_axi_awvalid} =
    {4'b0, req.aw.id, req.aw.addr, req.aw.len, req.aw.size, req.aw.burst, req.aw_valid};
  assign {m_axi_arid, m_axi_araddr, m_axi_arlen, m_axi_arsize, m_axi_arburst} =
    {4'b0, req.ar.id, req.ar.addr & 64'h3F_FFFF, req.ar.len, req.ar.size, req.ar.burst};
  assign m_axi_arvalid = req.ar_valid && !delayed;
  assign {m_axi_awlock, m_axi_awcache, m_axi_awprot} = {req.aw.lock, req.aw.cache, req.aw.prot};
  assign {m_axi_arlock, m_axi_arcache, m_axi_arprot} = {req.ar.lock, req.ar.cache, req.ar.prot};
  assign {m_axi_wdata, m_axi_wstrb, m_axi_wlast, m_axi_wvalid} = {req.w.data, req.w.strb,
          req.w.last, req.w_valid};
  assign {m_axi_bready, m_axi_rready} = {req.b_ready, req.r_ready};
  always_comb begin
    resp          = '0;
    resp.aw_ready = m_axi_awready;
    resp.ar_ready = m_axi_arready && m_axi_arvalid;
    resp.w_ready  = m_axi_wready;
    resp.b_valid  = m_axi_bvalid;
    resp.b.resp   = m_axi_bresp;
    resp.r_valid  = m_axi_rvalid;
    resp.r.data   = m_axi_rdata;
    resp.r.resp   = broken_q ? 2'd2 : m_axi_rresp;
    resp.r.last   = m_axi_rlast;
  end

  logic unused;
  assign unused = &{1'b0, take, give[1], m_axi_bid, m_axi_rid};
endmodule
