// SPDX-License-Identifier: Apache-2.0
// Both bridges of the Genesys2 (fpga/target/genesys2) with plain signals, for their bench: m_memory
// and m_devices are the SoC's sides, s_memory and s_devices those of the bus.
module genesys2_bridges
  import fabric_axi_pkg::*;
  import genesys2_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic [4:0]    m_memory_awid,
  input  logic [63:0]   m_memory_awaddr,
  input  logic [7:0]    m_memory_awlen,
  input  logic [2:0]    m_memory_awsize,
  input  logic [1:0]    m_memory_awburst,
  input  logic          m_memory_awlock,
  input  logic [3:0]    m_memory_awcache,
  input  logic [2:0]    m_memory_awprot,
  input  logic [3:0]    m_memory_awqos,
  input  logic [3:0]    m_memory_awregion,
  input  logic          m_memory_awvalid,
  output logic          m_memory_awready,
  input  logic [4:0]    m_memory_arid,
  input  logic [63:0]   m_memory_araddr,
  input  logic [7:0]    m_memory_arlen,
  input  logic [2:0]    m_memory_arsize,
  input  logic [1:0]    m_memory_arburst,
  input  logic          m_memory_arlock,
  input  logic [3:0]    m_memory_arcache,
  input  logic [2:0]    m_memory_arprot,
  input  logic [3:0]    m_memory_arqos,
  input  logic [3:0]    m_memory_arregion,
  input  logic          m_memory_arvalid,
  output logic          m_memory_arready,
  input  logic [63:0]   m_memory_wdata,
  input  logic [7:0]    m_memory_wstrb,
  input  logic          m_memory_wlast,
  input  logic          m_memory_wvalid,
  output logic          m_memory_wready,
  output logic [4:0]    m_memory_bid,
  output logic [1:0]    m_memory_bresp,
  output logic          m_memory_bvalid,
  input  logic          m_memory_bready,
  output logic [4:0]    m_memory_rid,
  output logic [63:0]   m_memory_rdata,
  output logic [1:0]    m_memory_rresp,
  output logic          m_memory_rlast,
  output logic          m_memory_rvalid,
  input  logic          m_memory_rready,
  input  logic [4:0]    m_devices_awid,
  input  logic [63:0]   m_devices_awaddr,
  input  logic [7:0]    m_devices_awlen,
  input  logic [2:0]    m_devices_awsize,
  input  logic [1:0]    m_devices_awburst,
  input  logic          m_devices_awlock,
  input  logic [3:0]    m_devices_awcache,
  input  logic [2:0]    m_devices_awprot,
  input  logic [3:0]    m_devices_awqos,
  input  logic [3:0]    m_devices_awregion,
  input  logic          m_devices_awvalid,
  output logic          m_devices_awready,
  input  logic [4:0]    m_devices_arid,
  input  logic [63:0]   m_devices_araddr,
  input  logic [7:0]    m_devices_arlen,
  input  logic [2:0]    m_devices_arsize,
  input  logic [1:0]    m_devices_arburst,
  input  logic          m_devices_arlock,
  input  logic [3:0]    m_devices_arcache,
  input  logic [2:0]    m_devices_arprot,
  input  logic [3:0]    m_devices_arqos,
  input  logic [3:0]    m_devices_arregion,
  input  logic          m_devices_arvalid,
  output logic          m_devices_arready,
  input  logic [63:0]   m_devices_wdata,
  input  logic [7:0]    m_devices_wstrb,
  input  logic          m_devices_wlast,
  input  logic          m_devices_wvalid,
  output logic          m_devices_wready,
  output logic [4:0]    m_devices_bid,
  output logic [1:0]    m_devices_bresp,
  output logic          m_devices_bvalid,
  input  logic          m_devices_bready,
  output logic [4:0]    m_devices_rid,
  output logic [63:0]   m_devices_rdata,
  output logic [1:0]    m_devices_rresp,
  output logic          m_devices_rlast,
  output logic          m_devices_rvalid,
  input  logic          m_devices_rready,
  output logic [4:0]    s_memory_awid,
  output logic [63:0]   s_memory_awaddr,
  output logic [7:0]    s_memory_awlen,
  output logic [2:0]    s_memory_awsize,
  output logic [1:0]    s_memory_awburst,
  output logic          s_memory_awlock,
  output logic [3:0]    s_memory_awcache,
  output logic [2:0]    s_memory_awprot,
  output logic [3:0]    s_memory_awqos,
  output logic [3:0]    s_memory_awregion,
  output logic          s_memory_awvalid,
  input  logic          s_memory_awready,
  output logic [4:0]    s_memory_arid,
  output logic [63:0]   s_memory_araddr,
  output logic [7:0]    s_memory_arlen,
  output logic [2:0]    s_memory_arsize,
  output logic [1:0]    s_memory_arburst,
  output logic          s_memory_arlock,
  output logic [3:0]    s_memory_arcache,
  output logic [2:0]    s_memory_arprot,
  output logic [3:0]    s_memory_arqos,
  output logic [3:0]    s_memory_arregion,
  output logic          s_memory_arvalid,
  input  logic          s_memory_arready,
  output logic [255:0]  s_memory_wdata,
  output logic [31:0]   s_memory_wstrb,
  output logic          s_memory_wlast,
  output logic          s_memory_wvalid,
  input  logic          s_memory_wready,
  input  logic [4:0]    s_memory_bid,
  input  logic [1:0]    s_memory_bresp,
  input  logic          s_memory_bvalid,
  output logic          s_memory_bready,
  input  logic [4:0]    s_memory_rid,
  input  logic [255:0]  s_memory_rdata,
  input  logic [1:0]    s_memory_rresp,
  input  logic          s_memory_rlast,
  input  logic          s_memory_rvalid,
  output logic          s_memory_rready,
  output logic [4:0]    s_devices_awid,
  output logic [63:0]   s_devices_awaddr,
  output logic [7:0]    s_devices_awlen,
  output logic [2:0]    s_devices_awsize,
  output logic [1:0]    s_devices_awburst,
  output logic          s_devices_awlock,
  output logic [3:0]    s_devices_awcache,
  output logic [2:0]    s_devices_awprot,
  output logic [3:0]    s_devices_awqos,
  output logic [3:0]    s_devices_awregion,
  output logic          s_devices_awvalid,
  input  logic          s_devices_awready,
  output logic [4:0]    s_devices_arid,
  output logic [63:0]   s_devices_araddr,
  output logic [7:0]    s_devices_arlen,
  output logic [2:0]    s_devices_arsize,
  output logic [1:0]    s_devices_arburst,
  output logic          s_devices_arlock,
  output logic [3:0]    s_devices_arcache,
  output logic [2:0]    s_devices_arprot,
  output logic [3:0]    s_devices_arqos,
  output logic [3:0]    s_devices_arregion,
  output logic          s_devices_arvalid,
  input  logic          s_devices_arready,
  output logic [31:0]   s_devices_wdata,
  output logic [3:0]    s_devices_wstrb,
  output logic          s_devices_wlast,
  output logic          s_devices_wvalid,
  input  logic          s_devices_wready,
  input  logic [4:0]    s_devices_bid,
  input  logic [1:0]    s_devices_bresp,
  input  logic          s_devices_bvalid,
  output logic          s_devices_bready,
  input  logic [4:0]    s_devices_rid,
  input  logic [31:0]   s_devices_rdata,
  input  logic [1:0]    s_devices_rresp,
  input  logic          s_devices_rlast,
  input  logic          s_devices_rvalid,
  output logic          s_devices_rready,
  input  logic          bus_clk_i,
  input  logic          bus_rst_ni
);

  sub_req_t memory_req, devices_req;
  sub_resp_t memory_resp, devices_resp;
  mem_req_t mem_req;
  mem_resp_t mem_resp;
  io_req_t io_req;
  io_resp_t io_resp;

  memory_bridge i_memory (
    .clk_i,
    .rst_ni,
    .req_i(memory_req),
    .resp_o(memory_resp),
    .bus_clk_i,
    .bus_rst_ni,
    .bus_req_o(mem_req),
    .bus_resp_i(mem_resp)
  );
  device_bridge i_devices (
    .clk_i,
    .rst_ni,
    .req_i(devices_req),
    .resp_o(devices_resp),
    .bus_clk_i,
    .bus_rst_ni,
    .bus_req_o(io_req),
    .bus_resp_i(io_resp)
  );

    assign memory_req.aw = '{id: m_memory_awid, addr: m_memory_awaddr, len: m_memory_awlen,
                             size: m_memory_awsize,
    burst: m_memory_awburst, lock: m_memory_awlock, cache: m_memory_awcache, prot: m_memory_awprot,
        qos:
    m_memory_awqos, region: m_memory_awregion, atop: '0, user: '0};
    assign memory_req.ar = '{id: m_memory_arid, addr: m_memory_araddr, len: m_memory_arlen,
                             size: m_memory_arsize,
    burst: m_memory_arburst, lock: m_memory_arlock, cache: m_memory_arcache, prot: m_memory_arprot,
        qos:
    m_memory_arqos, region: m_memory_arregion, user: '0};
  assign memory_req.w = '{data: m_memory_wdata, strb: m_memory_wstrb, last: m_memory_wlast,
                          user: '0};
  assign memory_req.aw_valid = m_memory_awvalid;
  assign memory_req.ar_valid = m_memory_arvalid;
  assign memory_req.w_valid = m_memory_wvalid;
  assign memory_req.b_ready = m_memory_bready;
  assign memory_req.r_ready = m_memory_rready;
  assign m_memory_awready = memory_resp.aw_ready;
  assign m_memory_arready = memory_resp.ar_ready;
  assign m_memory_wready = memory_resp.w_ready;
  assign m_memory_bvalid = memory_resp.b_valid;
  assign m_memory_rvalid = memory_resp.r_valid;
  assign m_memory_bid = memory_resp.b.id;
  assign m_memory_bresp = memory_resp.b.resp;
  assign m_memory_rid = memory_resp.r.id;
  assign m_memory_rdata = memory_resp.r.data;
  assign m_memory_rresp = memory_resp.r.resp;
  assign m_memory_rlast = memory_resp.r.last;

    assign devices_req.aw = '{id: m_devices_awid, addr: m_devices_awaddr, len: m_devices_awlen,
                              size:
    m_devices_awsize, burst: m_devices_awburst, lock: m_devices_awlock, cache: m_devices_awcache,
        prot:
    m_devices_awprot, qos: m_devices_awqos, region: m_devices_awregion, atop: '0, user: '0};
    assign devices_req.ar = '{id: m_devices_arid, addr: m_devices_araddr, len: m_devices_arlen,
                              size:
    m_devices_arsize, burst: m_devices_arburst, lock: m_devices_arlock, cache: m_devices_arcache,
        prot:
    m_devices_arprot, qos: m_devices_arqos, region: m_devices_arregion, user: '0};
  assign devices_req.w = '{data: m_devices_wdata, strb: m_devices_wstrb, last: m_devices_wlast,
                           user: '0};
  assign devices_req.aw_valid = m_devices_awvalid;
  assign devices_req.ar_valid = m_devices_arvalid;
  assign devices_req.w_valid = m_devices_wvalid;
  assign devices_req.b_ready = m_devices_bready;
  assign devices_req.r_ready = m_devices_rready;
  assign m_devices_awready = devices_resp.aw_ready;
  assign m_devices_arready = devices_resp.ar_ready;
  assign m_devices_wready = devices_resp.w_ready;
  assign m_devices_bvalid = devices_resp.b_valid;
  assign m_devices_rvalid = devices_resp.r_valid;
  assign m_devices_bid = devices_resp.b.id;
  assign m_devices_bresp = devices_resp.b.resp;
  assign m_devices_rid = devices_resp.r.id;
  assign m_devices_rdata = devices_resp.r.data;
  assign m_devices_rresp = devices_resp.r.resp;
  assign m_devices_rlast = devices_resp.r.last;

  assign s_memory_awid = mem_req.aw.id;
  assign s_memory_awaddr = mem_req.aw.addr;
  assign s_memory_awlen = mem_req.aw.len;
  assign s_memory_awsize = mem_req.aw.size;
  assign s_memory_awburst = mem_req.aw.burst;
  assign s_memory_awlock = mem_req.aw.lock;
  assign s_memory_awcache = mem_req.aw.cache;
  assign s_memory_awprot = mem_req.aw.prot;
  assign s_memory_awqos = mem_req.aw.qos;
  assign s_memory_awregion = mem_req.aw.region;
  assign s_memory_arid = mem_req.ar.id;
  assign s_memory_araddr = mem_req.ar.addr;
  assign s_memory_arlen = mem_req.ar.len;
  assign s_memory_arsize = mem_req.ar.size;
  assign s_memory_arburst = mem_req.ar.burst;
  assign s_memory_arlock = mem_req.ar.lock;
  assign s_memory_arcache = mem_req.ar.cache;
  assign s_memory_arprot = mem_req.ar.prot;
  assign s_memory_arqos = mem_req.ar.qos;
  assign s_memory_arregion = mem_req.ar.region;
  assign s_memory_wdata = mem_req.w.data;
  assign s_memory_wstrb = mem_req.w.strb;
  assign s_memory_wlast = mem_req.w.last;
  assign s_memory_awvalid = mem_req.aw_valid;
  assign s_memory_arvalid = mem_req.ar_valid;
  assign s_memory_wvalid = mem_req.w_valid;
  assign s_memory_bready = mem_req.b_ready;
  assign s_memory_rready = mem_req.r_ready;
  assign mem_resp.b = '{id: s_memory_bid, resp: s_memory_bresp, user: '0};
  assign mem_resp.r = '{id: s_memory_rid, data: s_memory_rdata, resp: s_memory_rresp,
                        last: s_memory_rlast, user: '0};
  assign mem_resp.aw_ready = s_memory_awready;
  assign mem_resp.ar_ready = s_memory_arready;
  assign mem_resp.w_ready = s_memory_wready;
  assign mem_resp.b_valid = s_memory_bvalid;
  assign mem_resp.r_valid = s_memory_rvalid;

  assign s_devices_awid = io_req.aw.id;
  assign s_devices_awaddr = io_req.aw.addr;
  assign s_devices_awlen = io_req.aw.len;
  assign s_devices_awsize = io_req.aw.size;
  assign s_devices_awburst = io_req.aw.burst;
  assign s_devices_awlock = io_req.aw.lock;
  assign s_devices_awcache = io_req.aw.cache;
  assign s_devices_awprot = io_req.aw.prot;
  assign s_devices_awqos = io_req.aw.qos;
  assign s_devices_awregion = io_req.aw.region;
  assign s_devices_arid = io_req.ar.id;
  assign s_devices_araddr = io_req.ar.addr;
  assign s_devices_arlen = io_req.ar.len;
  assign s_devices_arsize = io_req.ar.size;
  assign s_devices_arburst = io_req.ar.burst;
  assign s_devices_arlock = io_req.ar.lock;
  assign s_devices_arcache = io_req.ar.cache;
  assign s_devices_arprot = io_req.ar.prot;
  assign s_devices_arqos = io_req.ar.qos;
  assign s_devices_arregion = io_req.ar.region;
  assign s_devices_wdata = io_req.w.data;
  assign s_devices_wstrb = io_req.w.strb;
  assign s_devices_wlast = io_req.w.last;
  assign s_devices_awvalid = io_req.aw_valid;
  assign s_devices_arvalid = io_req.ar_valid;
  assign s_devices_wvalid = io_req.w_valid;
  assign s_devices_bready = io_req.b_ready;
  assign s_devices_rready = io_req.r_ready;
  assign io_resp.b = '{id: s_devices_bid, resp: s_devices_bresp, user: '0};
  assign io_resp.r = '{id: s_devices_rid, data: s_devices_rdata, resp: s_devices_rresp,
                       last: s_devices_rlast, user: '0};
  assign io_resp.aw_ready = s_devices_awready;
  assign io_resp.ar_ready = s_devices_arready;
  assign io_resp.w_ready = s_devices_wready;
  assign io_resp.b_valid = s_devices_bvalid;
  assign io_resp.r_valid = s_devices_rvalid;

endmodule
