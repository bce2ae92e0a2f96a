// SPDX-License-Identifier: Apache-2.0
// AXI4 subordinate to register accesses, for fabric_bus, io_bus and the SoC's peripherals: one
// access a cycle, answered in the next cycle. PULP's axi_to_axi_lite is not used because its
// axi_burst_splitter 0.31 has a combinational loop through its id_queue, which synthesis rejects.
// Bursts are served one beat at a time, and one transaction at a time. If a read and a write wait,
// the channel that was not served last is served: neither waits for more than one transaction of
// the other. WRAP bursts, which only caches send, are answered with SLVERR and access no register.
module fabric_axi_port
  import fabric_axi_pkg::*;
#(
  /// Width of the address space that the port serves; higher address bits are ignored.
  parameter int unsigned AddrBits = 21
) (
  input  logic       clk_i,
  /// Asynchronous, active low; without a transaction after it, and an answer that was in progress
  /// is lost. The port holds no access back while it is in reset: valid signals must be low until
  /// it has left the reset, as fabric_top ensures.
  input  logic       rst_ni,
  /// Without atomics: axi_atop_filter is upstream. An address is accepted in the first cycle in
  /// which the port is idle; write data may come later, and each cycle with data is an access. The
  /// port waits for b_ready and r_ready without limit, and accepts nothing until then.
  input  sub_req_t   req_i,
  output sub_resp_t  resp_o,
  /// Pulse, combinational from req_i: an access in this cycle. The addressed block cannot refuse or
  /// delay it. Write beats without a strobe and beats of WRAP bursts are no accesses.
  output logic       access_o,
  /// Byte strobes; 0: a read.
  output logic [7:0] write_o,
  /// Byte address of the access, and write data; valid with access_o.
  output logic [AddrBits-1:0] addr_o,
  output logic [63:0] data_o,
  /// Read data, in the cycle after access_o.
  input  logic [63:0] data_i,
  /// Access error, with data_i.
  input  logic       error_i
);

  // PtIdle: an address may be accepted; the first access of a read is then made at once. PtWrite:
  // beats of a write. PtAnswer: its response waits. PtRead: a beat of a read waits, and the access
  // of the next beat is made when it is taken.
  typedef enum logic [1:0] {PtIdle, PtWrite, PtAnswer, PtRead} state_e;

  state_e state_q;
  sub_id_t id_q;
  axi_pkg::len_t left_q;             // beats left after this one
  axi_pkg::size_t size_q;
  axi_pkg::burst_t burst_q;
  logic [AddrBits-1:0] addr_q, next_addr;
  logic access_q, error_q, error, take_read, take_write, next_read, beat, read_turn_q;
  logic [63:0] data_q;

  // The next multiple of the beat's size: only the first beat may be misaligned.
  assign next_addr = burst_q == axi_pkg::BURST_FIXED ? addr_q
                     : ((addr_q >> size_q) + 1'b1) << size_q;

  // read_turn_q is high after a write: then a read goes first.
  assign take_write = state_q == PtIdle && req_i.aw_valid && !(req_i.ar_valid && read_turn_q);
  assign take_read  = state_q == PtIdle && req_i.ar_valid && !(req_i.aw_valid && !read_turn_q);
  assign beat       = state_q == PtWrite && req_i.w_valid;
  assign next_read  = state_q == PtRead && req_i.r_ready && left_q != '0;

  assign access_o = (take_read && req_i.ar.burst != axi_pkg::BURST_WRAP)
                    || ((next_read || (beat && req_i.w.strb != '0))
                        && burst_q != axi_pkg::BURST_WRAP);
  assign write_o  = beat ? req_i.w.strb : '0;
  assign data_o   = req_i.w.data;
  always_comb begin
    addr_o = addr_q;
    if (take_read) addr_o = req_i.ar.addr[AddrBits-1:0];
    else if (next_read) addr_o = next_addr;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= PtIdle;
      id_q     <= '0;
      left_q   <= '0;
      size_q   <= '0;
      burst_q  <= '0;
      addr_q   <= '0;
      access_q <= 1'b0;
      error_q  <= 1'b0;
      data_q   <= '0;
      read_turn_q <= 1'b0;
    end else begin
      // The answer to an access is at data_i and error_i for one cycle only; it is kept for as long
      // as the requester does not take it. A write reports an error of any of its beats, a read
      // with each beat that beat's own.
      access_q <= access_o;
      if (take_write) error_q <= req_i.aw.burst == axi_pkg::BURST_WRAP;
      else if (take_read) error_q <= req_i.ar.burst == axi_pkg::BURST_WRAP;
      else if (next_read) error_q <= burst_q == axi_pkg::BURST_WRAP;
      else error_q <= error;
      if (take_read) data_q <= '0;  // a WRAP burst must not return earlier data
      else if (access_q) data_q <= data_i;
      if (take_write || take_read) read_turn_q <= take_write;
      unique case (state_q)
        PtIdle: begin
          if (take_write) begin
            state_q <= PtWrite;
            {id_q, left_q, size_q, burst_q} <= {req_i.aw.id, req_i.aw.len, req_i.aw.size,
                                                req_i.aw.burst};
            addr_q  <= req_i.aw.addr[AddrBits-1:0];
          end else if (take_read) begin
            state_q <= PtRead;
            {id_q, left_q, size_q, burst_q} <= {req_i.ar.id, req_i.ar.len, req_i.ar.size,
                                                req_i.ar.burst};
            addr_q  <= req_i.ar.addr[AddrBits-1:0];
          end
        end
        PtWrite: if (beat) begin
          addr_q <= next_addr;
          if (req_i.w.last) state_q <= PtAnswer;
        end
        PtAnswer: if (req_i.b_ready) state_q <= PtIdle;
        default: if (req_i.r_ready) begin  // PtRead
          addr_q <= next_addr;
          left_q <= left_q - 1'b1;
          if (left_q == '0) state_q <= PtIdle;
        end
      endcase
    end
  end

  assign error = error_q || (access_q && error_i);
  always_comb begin
    resp_o          = '0;
    resp_o.aw_ready = take_write;
    resp_o.ar_ready = take_read;
    resp_o.w_ready  = state_q == PtWrite;
    resp_o.b_valid  = state_q == PtAnswer;
    resp_o.b.id     = id_q;
    resp_o.b.resp   = error ? axi_pkg::RESP_SLVERR : axi_pkg::RESP_OKAY;
    resp_o.r_valid  = state_q == PtRead;
    resp_o.r.id     = id_q;
    resp_o.r.data   = access_q ? data_i : data_q;
    resp_o.r.resp   = error ? axi_pkg::RESP_SLVERR : axi_pkg::RESP_OKAY;
    resp_o.r.last   = left_q == '0;
  end

  logic unused;
  assign unused = &{1'b0, req_i.aw.addr[63:AddrBits], req_i.aw.lock, req_i.aw.cache, req_i.aw.prot,
                    req_i.aw.qos, req_i.aw.region, req_i.aw.atop, req_i.aw.user,
                    req_i.ar.addr[63:AddrBits], req_i.ar.lock, req_i.ar.cache, req_i.ar.prot,
                    req_i.ar.qos, req_i.ar.region, req_i.ar.user, req_i.w.user};

endmodule
