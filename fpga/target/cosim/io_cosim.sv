// SPDX-License-Identifier: Apache-2.0
// The shared devices as a part of an emulated machine (docs/fabric.md): io_top with the model of
// the flash, and four parts whose other half is C++ (shared.cc): the register port, the memory,
// the wire of the Ethernet device, and the pads of the pins.
module io_cosim
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_eth_pkg::*;
#(
  parameter int unsigned NumVms = 6,
  parameter int unsigned Sectors = 256,
  /// A hundredth of the data sheet's time, because every cycle of it is simulated.
  parameter int unsigned EraseCycles = 130_000,
  /// Shorter than the data sheet's time, for the same reason.
  parameter int unsigned FlashResetCycles = 100,
  localparam int unsigned NumPins = 32
) (
  input  logic clk_i,
  /// Asynchronous, active low.
  input  logic rst_ni,
  /// The machine's time, in cycles of clk_i; it may jump forward while active_o is low.
  input  logic [63:0] time_i,
  /// Pulse: an access to the register port; the members are stable until access_done_o.
  input  logic access_i,
  input  logic access_write_i,
  input  logic [63:0] access_addr_i,
  /// log2 of the bytes.
  input  logic [1:0] access_size_i,
  input  logic [63:0] access_data_i,
  /// Pulse: the access has its answer.
  output logic access_done_o,
  output logic [1:0] access_resp_o,
  output logic [63:0] access_data_o,
  /// Of the memory: further cycles before the first word of a burst.
  input  logic [7:0] latency_i,
  /// Levels, as of io_top.
  output logic irq_manager_o,
  output logic [NumVms-1:0] irq_vm_o,
  /// Something may change although no register is accessed and nothing arrives.
  output logic active_o,
  /// Cycles until the first command of a pin that waits for its time; all ones: none does.
  output logic [47:0] rest_o,
  /// The UART's line, and the cycles of a bit on it.
  output logic tx_o,
  input  logic rx_i,
  output logic [15:0] bit_cycles_o,
  /// What the Ethernet device sends and receives in this cycle: {enable, error, data}.
  output logic [9:0] sent_o,
  input  logic [9:0] received_i,
  /// Levels of driven pins, and which ones are driven.
  output logic [NumPins-1:0] pin_o,
  output logic [NumPins-1:0] pin_oe_o,
  input  logic [NumPins-1:0] pin_i,
  /// Pulse: a frame is sent to the screen, if the manager has chosen frames on request.
  input  logic frame_i,
  /// A pixel in this cycle: valid, data enable; red, green, blue. The last line of a frame is over.
  output logic [1:0] screen_o,
  output logic [23:0] color_o,
  output logic frame_ends_o,
  /// Violations of the AXI protocol by the devices since reset.
  output logic [31:0] complaints_o
);

  sub_req_t   sub_req;
  sub_resp_t  sub_resp;
  slot_req_t  slot_req;
  slot_resp_t slot_resp;
  mgr_req_t   mgr_req;
  mgr_resp_t  mgr_resp;
  gmii_t sent;
  logic cs_n, sck, mosi, miso, busy, pixel, data_enable;

  io_top #(.NumVms(NumVms), .NumPins(NumPins), .FlashResetCycles(FlashResetCycles)) i_top (
    .clk_i,
    .rst_ni,
    .time_i,
    .sub_req_i(sub_req),
    .sub_resp_o(sub_resp),
    .mgr_req_o(slot_req),
    .mgr_resp_i(slot_resp),
    .irq_manager_o,
    .irq_vm_o,
    .tx_o,
    .rx_i,
    .cs_no(cs_n),
    .sck_o(sck),
    .mosi_o(mosi),
    .miso_i(miso),
    .send_tick_i(1'b1),
    .gmii_o(sent),
    .receive_tick_i(1'b1),
    .gmii_i(received_i),
    .pin_i,
    .pin_o,
    .pin_oe_o,
    .frame_i,
    .pixel_o(pixel),
    .hsync_o(),
    .vsync_o(),
    .data_enable_o(data_enable),
    .color_o
  );
  assign sent_o   = sent;
  assign screen_o = {pixel, data_enable};

  // Two cycles, as pixels on their way to the outputs.
  logic [1:0] frame_ends_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) frame_ends_q <= '0;
    else frame_ends_q <= {frame_ends_q[0], i_top.i_display.i_display.frame_o};
  end
  assign frame_ends_o = frame_ends_q[1];

  // A sequencer of pins works, or waits for the time of its command, or has none.
  logic [NumVms-1:0] works;
  logic [NumVms-1:0][47:0] rest;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_rest
    logic running, valid, more;
    logic [47:0] left;
    assign running  = i_top.i_gpio.i_processor.gen_vm[v].i_sequencer.running_q;
    assign valid    = i_top.i_gpio.i_processor.gen_vm[v].i_sequencer.valid_q;
    assign more     = i_top.i_gpio.i_processor.gen_vm[v].head_valid;
    assign left     = i_top.i_gpio.i_processor.gen_vm[v].i_sequencer.due_q - time_i[47:0];
    assign works[v] = running && (valid ? left[47] : more);
    assign rest[v]  = running && valid && !left[47] ? left : '1;
  end
  always_comb begin
    rest_o = '1;
    for (int v = 0; v < int'(NumVms); v++) if (rest[v] < rest_o) rest_o = rest[v];
  end

  // The UART looks at one VM after the other: whether it has bytes of the VM, as of the last look.
  // Those of an incomplete line are sent after a time, so that they keep the model active, too.
  logic [NumVms-1:0] buffered_q;
  logic sends, receives;
  assign sends        = !i_top.i_uart.i_uart.i_transmit.ready_o;
  assign receives     = i_top.i_uart.i_uart.valid;
  assign bit_cycles_o = i_top.uart_divider;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) buffered_q <= '0;
    else if (i_top.i_uart.i_uart.i_core.slot == io_uart_pkg::SlScan) begin
      for (int v = 0; v < int'(NumVms); v++) begin
        if (i_top.i_uart.i_uart.i_core.vm == vm_t'(v)) begin
          buffered_q[v] <= i_top.i_uart.i_uart.i_core.i_buffer.count != '0
                           || i_top.i_uart.i_uart.i_core.waiting.filled;
        end
      end
    end
  end

  // Requests to receive wait for a frame, which arrives on the wire.
  logic requested, received;
  assign requested = i_top.waiting[io_pkg::ChFlash] != '0 || i_top.waiting[io_pkg::ChSend] != '0
                     || i_top.waiting[io_pkg::ChCopy] != '0;
  assign received  = i_top.i_ethernet.i_ethernet.frame_valid;

  // What a VM has used of its budget counts until the replenishment, whose time the device counts
  // in cycles that are simulated.
  logic [2:0] used;
  assign used[0] = (i_top.i_flash.i_channel.i_budget.exhausted_o
                    | (i_top.i_flash.i_channel.i_budget.limited_q
                       & ~i_top.i_flash.i_channel.i_budget.untouched_q)) != '0;
  assign used[1] = (i_top.i_ethernet.i_channel.i_budget.exhausted_o
                    | (i_top.i_ethernet.i_channel.i_budget.limited_q
                       & ~i_top.i_ethernet.i_channel.i_budget.untouched_q)) != '0;
  assign used[2] = (i_top.i_copy.i_channel.i_budget.exhausted_o
                    | (i_top.i_copy.i_channel.i_budget.limited_q
                       & ~i_top.i_copy.i_channel.i_budget.untouched_q)) != '0;

  assign busy     = i_top.accesses != '0 || i_top.completes || i_top.request != '0 || requested
                    || received || !i_top.i_display.i_display.idle_o || sends || receives
                        || buffered_q != '0 || used != '0
                    || i_top.i_flash.i_flash.recovers;
  assign active_o = busy || sent.enable || works != '0;

  flash_model #(.Sectors(Sectors), .EraseCycles(EraseCycles), .ResetCycles(FlashResetCycles / 2),
                .Pattern(1'b0)) i_flash (
    .clk_i,
    .rst_ni,
    .cs_ni(cs_n),
    .sck_i(sck),
    .mosi_i(mosi),
    .miso_o(miso),
    .ignored_o(),
    .shortest_o()
  );

  /// Content of the flash, for the file that keeps it.
  export "DPI-C" function cosim_flash_get;
  export "DPI-C" function cosim_flash_set;
  function automatic byte unsigned cosim_flash_get(int unsigned addr);
    return i_flash.mem[addr];
  endfunction
  function automatic void cosim_flash_set(int unsigned addr, byte unsigned value);
    i_flash.mem[addr] = value;
  endfunction

  cosim_register_port i_port (
    .clk_i,
    .rst_ni,
    .start_i(access_i),
    .write_i(access_write_i),
    .addr_i(access_addr_i),
    .size_i(access_size_i),
    .data_i(access_data_i),
    .done_o(access_done_o),
    .resp_o(access_resp_o),
    .data_o(access_data_o),
    .req_o(sub_req),
    .resp_i(sub_resp)
  );

  // The memory port has wider IDs; the ID is the first member of the structs.
  always_comb begin
    mgr_req            = '0;
    mgr_req.aw         = mgr_aw_t'(slot_req.aw);
    mgr_req.aw_valid   = slot_req.aw_valid;
    mgr_req.w          = slot_req.w;
    mgr_req.w_valid    = slot_req.w_valid;
    mgr_req.b_ready    = slot_req.b_ready;
    mgr_req.ar         = mgr_ar_t'(slot_req.ar);
    mgr_req.ar_valid   = slot_req.ar_valid;
    mgr_req.r_ready    = slot_req.r_ready;
    slot_resp          = '0;
    slot_resp.aw_ready = mgr_resp.aw_ready;
    slot_resp.w_ready  = mgr_resp.w_ready;
    slot_resp.b        = slot_b_t'(mgr_resp.b);
    slot_resp.b_valid  = mgr_resp.b_valid;
    slot_resp.ar_ready = mgr_resp.ar_ready;
    slot_resp.r        = slot_r_t'(mgr_resp.r);
    slot_resp.r_valid  = mgr_resp.r_valid;
  end

  cosim_memory i_memory (
    .clk_i,
    .rst_ni,
    .latency_i,
    .req_i(mgr_req),
    .resp_o(mgr_resp)
  );

  cosim_axi_check i_check (
    .clk_i,
    .rst_ni,
    .req_i(mgr_req),
    .resp_i(mgr_resp),
    .complaints_o
  );

endmodule
