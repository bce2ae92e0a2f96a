// SPDX-License-Identifier: Apache-2.0
// The VMs' pages of the devices that execute requests (fabric_channel of io.rdl): a request is a
// write of ADDR and one of SUBMIT. ADDR and DEADLINE lie in distributed RAM, so they keep their
// values; a bit for each says that it was written since the VM's reset, and until then it is 0.
module io_pages
  import fabric_pkg::*;
  import fabric_map_pkg::*;
  import io_pkg::*;
#(
  /// Parameters of io_top.
  parameter int unsigned NumVms = 4,
  parameter int unsigned Depth = 4,
  localparam int unsigned CountBits = $clog2(Depth) + 1
) (
  input  logic       clk_i,
  /// Asynchronous, active low; what a VM can write reads as 0 after it.
  input  logic       rst_ni,
  /// Pulse: an access to a page of any device; those of other devices are ignored. Never delayed.
  input  io_access_t access_i,
  /// In the next cycle; 0 if no register of these pages was read.
  output word_t      data_o,
  /// In the next cycle: there is no such register, or the access has not 64 bits.
  output logic       error_o,
  /// VMs that may use each device.
  input  logic [Channels-1:0][NumVms-1:0] allowed_i,
  /// Pulse: addresses, deadlines, events and enables of this VM are cleared.
  input  io_flush_t  reset_i,
  // requests
  /// Pulse, in the cycle of the write of SUBMIT, if the VM may use the device; else the bit
  /// INT.refused of the page is set. No back-pressure but refused_i.
  output io_submit_t [Channels-1:0] submit_o,
  /// In the cycle of submit_o: the FIFO is full; the bit INT.refused of the page is set.
  input  logic       [Channels-1:0] refused_i,
  /// Requests that are not complete, for STATUS.
  input  logic       [Channels-1:0][NumVms-1:0][CountBits-1:0] count_i,
  /// Pulse, a cycle after the write.
  output io_flush_t  [Channels-1:0] flush_o,
  // completion rings (io_complete)
  /// Pulse, in the cycle of the write of RING: the ring of this VM and channel is at set_addr_o, a
  /// multiple of 128 bytes, and empty.
  output logic       set_o,
  output vm_t        set_vm_o,
  output io_channel_t set_channel_o,
  output addr_t      set_addr_o,
  /// Pulse: a completion of this VM and channel was written; it is pending from the next cycle on.
  input  logic       written_i,
  input  vm_t        event_vm_i,
  input  io_channel_t event_channel_i,
  // the flash's window of the VM whose page is accessed: its size in bytes, in the same cycle
  output vm_t        size_vm_o,
  input  logic [31:0] flash_bytes_i,
  /// Level, from registers: a completion is pending on a page with the interrupt enabled.
  output logic [NumVms-1:0] irq_o
);

  // Registers of a page; the rest of its 4 KiB answers with an error.
  localparam int unsigned NumWords = ChannelSpan / 8;

  typedef logic [5:0] row_t;  // {channel, VM}
  // By {channel, VM}.
  addr_t addrs [64];
  addr_t addr;
  io_time_t due [64];
  io_time_t deadline;

  logic here, reads, writes, known;
  io_channel_t channel;
  row_t row;
  logic allowed, enable, pending;
  logic [CountBits-1:0] count;
  word_t data;

  // The four devices with a channel have the same page.
  assign here    = access_i.valid && access_i.device >= DevFlash && access_i.device <= DevCopy;
  assign channel = io_channel_t'(access_i.device - DevFlash);
  assign row     = {channel, access_i.vm};
  assign known   = 32'(access_i.word) < NumWords && access_i.low == '0
                   && access_i.write inside {8'h00, 8'hff};
  assign reads   = here && access_i.write == '0;
  assign writes  = here && access_i.write == '1;

  function automatic logic at(int unsigned offset);
    return access_i.word == 9'(offset / 8);
  endfunction

  // ---- Requests ----
  logic sets_addr, sets_due;
  assign sets_addr = writes && at(ChannelAddr);
  assign sets_due  = writes && at(ChannelDeadline);
  always_ff @(posedge clk_i) begin
    if (sets_addr) addrs[row] <= access_i.data[AddrWidth-1:0];
    if (sets_due) due[row] <= access_i.data[31:0];
  end

  io_request_t request;
  assign request = '{
    op: access_i.data[ChannelSubmitOpLsb+:8], tag: access_i.data[ChannelSubmitTagLsb+:8],
    length: access_i.data[ChannelSubmitLengthLsb+:16],
    target: access_i.data[ChannelSubmitTargetLsb+:32], addr: addr, due: deadline, face: 1'b0
  };
  for (genvar c = 0; c < int'(Channels); c++) begin : gen_channel
    logic mine;
    assign mine        = channel == io_channel_t'(c);
    assign submit_o[c] = '{valid: writes && at(ChannelSubmit) && mine && allowed, vm: access_i.vm,
                           request: request};
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) flush_o[c] <= '0;
      else flush_o[c] <= '{valid: writes && at(ChannelFlush) && mine && access_i.data[0],
                           vm: access_i.vm};
    end
  end

  assign set_o         = writes && at(ChannelRing);
  assign set_vm_o      = access_i.vm;
  assign set_channel_o = channel;
  assign set_addr_o    = {access_i.data[AddrWidth-1:7], 7'b0};

  // ---- Events ----
  logic clears, refuses, clears_refused;
  // A completion in the cycle in which the VM clears the bit is not lost.
  assign clears         = writes && at(ChannelInt);
  assign refuses        = writes && at(ChannelSubmit) && (refused_i[channel] || !allowed);
  assign clears_refused = clears && access_i.data[ChannelIntRefusedLsb];

  // Bits of each VM in distributed RAM, one for each channel, so that a reset of the VM clears them
  // in one cycle. No VM's page is accessed in this cycle: it follows the one of the manager's
  // write. rst_ni does not reach the RAM: until the first write, which writes the bits of all
  // channels, a VM's bits are 0.
  logic [Channels-1:0] refused, addr_set, due_set;
  logic [NumVms-1:0] bits_valid_q;
  logic bits_valid, writes_bits;
  vm_t bits_vm;
  assign bits_vm     = reset_i.valid ? reset_i.vm : access_i.vm;
  assign writes_bits = reset_i.valid || refuses || clears_refused || sets_addr || sets_due;
  always_comb begin
    bits_valid = 1'b0;
    for (int v = 0; v < int'(NumVms); v++)
      if (access_i.vm == vm_t'(v)) bits_valid = bits_valid_q[v];
  end
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_bits_valid
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) bits_valid_q[v] <= 1'b0;
      else if (writes_bits && bits_vm == vm_t'(v)) bits_valid_q[v] <= 1'b1;
    end
  end
  for (genvar c = 0; c < int'(Channels); c++) begin : gen_bits
    logic refusals [16];
    logic addrs_set [16];
    logic dues_set [16];
    logic mine, all;
    assign mine        = channel == io_channel_t'(c) && !reset_i.valid;
    assign all         = reset_i.valid || (writes_bits && !bits_valid);
    assign refused[c]  = bits_valid && refusals[access_i.vm];
    assign addr_set[c] = bits_valid && addrs_set[access_i.vm];
    assign due_set[c]  = bits_valid && dues_set[access_i.vm];
    always_ff @(posedge clk_i) begin
      if (all || (mine && (refuses || clears_refused))) refusals[bits_vm] <= mine && refuses;
      if (all || (mine && sets_addr)) addrs_set[bits_vm] <= mine && sets_addr;
      if (all || (mine && sets_due)) dues_set[bits_vm] <= mine && sets_due;
    end
  end
  assign addr     = addr_set[channel] ? addrs[row] : '0;
  assign deadline = due_set[channel] ? due[row] : '0;

  logic [NumVms-1:0][Channels-1:0] enable_q, pending_q;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    logic reset;
    assign reset    = reset_i.valid && reset_i.vm == vm_t'(v);
    assign irq_o[v] = (enable_q[v] & pending_q[v]) != '0;
    for (genvar c = 0; c < int'(Channels); c++) begin : gen_events
      logic mine, rises;
      assign mine  = clears && access_i.vm == vm_t'(v) && channel == io_channel_t'(c);
      assign rises = written_i && event_vm_i == vm_t'(v) && event_channel_i == io_channel_t'(c);
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) {enable_q[v][c], pending_q[v][c]} <= '0;
        else if (reset) {enable_q[v][c], pending_q[v][c]} <= '0;
        else begin
          if (mine) enable_q[v][c] <= access_i.data[ChannelIntEnableLsb];
          pending_q[v][c] <= rises || (pending_q[v][c]
                                       && !(mine && access_i.data[ChannelIntPendingLsb]));
        end
      end
    end
  end

  // ---- Reads ----
  always_comb begin
    // Of the addressed VM and channel.
    {allowed, enable, pending, count} = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (access_i.vm == vm_t'(v)) begin
        allowed = allowed_i[channel][v];
        enable  = enable_q[v][channel];
        pending = pending_q[v][channel];
        count   = count_i[channel][v];
      end
    end
  end
  assign size_vm_o = access_i.vm;

  always_comb begin
    data = '0;
    if (at(ChannelAddr)) data = word_t'(addr);
    if (at(ChannelDeadline)) data = word_t'(deadline);
    if (at(ChannelStatus)) begin
      data[ChannelStatusWaitingLsb+:CountBits] = count;
      data[ChannelStatusAllowedLsb]            = allowed;
    end
    if (at(ChannelInt)) begin
      data[ChannelIntEnableLsb]  = enable;
      data[ChannelIntPendingLsb] = pending;
      data[ChannelIntRefusedLsb] = refused[channel];
    end
    if (at(ChannelInfo)) begin
      data[ChannelInfoDeviceLsb+:4] = access_i.device;
      data[ChannelInfoDepthLsb+:8]  = 8'(Depth);
      data[ChannelInfoSizeLsb+:32]  = channel == io_channel_t'(ChFlash) ? flash_bytes_i : '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_o  <= '0;
      error_o <= 1'b0;
    end else begin
      data_o  <= reads && known ? data : '0;
      error_o <= here && !known;
    end
  end

  logic unused;
  assign unused = &{1'b0, access_i.low};

endmodule
