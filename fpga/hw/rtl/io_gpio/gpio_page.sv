// SPDX-License-Identifier: Apache-2.0
// The GPIO pages of the VMs (fabric_gpio of io.rdl), for io_top. It owns the interrupt enables and
// the counts of refused commands, gpio_processor the rest.
module gpio_page
  import fabric_pkg::*;
  import fabric_map_pkg::*;
  import io_pkg::*;
  import io_gpio_pkg::*;
#(
  /// As of io_top.
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumPins = 32
) (
  input  logic       clk_i,
  /// Asynchronous, active low; all pins are inputs after it.
  input  logic       rst_ni,
  /// The time base, in cycles of clk_i.
  input  logic [63:0] time_i,
  /// Pulse: an access to a page of any device; those of other devices are ignored. Never delayed.
  input  io_access_t access_i,
  /// In the next cycle; 0 if no register of these pages was read.
  output word_t      data_o,
  /// In the next cycle: there is no such register, or the access has not 64 bits.
  output logic       error_o,
  /// VMs that have the device: without it a VM's writes have no effect, and its pins are inputs.
  /// Pins that each VM may drive, pin n in bit n. Both are levels.
  input  logic [NumVms-1:0] allowed_i,
  input  gpio_pins_t [NumVms-1:0] owner_i,
  /// Pulse, as of gpio_processor: the VM's enable is cleared, too.
  input  io_flush_t  flush_i,
  /// Level: the VM has a result, and its interrupt is enabled.
  output logic [NumVms-1:0] irq_o,
  // the pads: pin_i is asynchronous; the outputs are registers of gpio_pins
  input  logic [NumPins-1:0] pin_i,
  output logic [NumPins-1:0] pin_o,
  output logic [NumPins-1:0] pin_oe_o
);

  localparam int unsigned NumWords = GpioSpan / 8;

  logic here, writes, known, allowed, enable, valid, refused, pop;
  logic [NumVms-1:0] start, stop, enable_q, has_result;
  logic [NumVms-1:0][NumPins-1:0] owner;
  logic [NumVms-1:0][7:0] refused_q;
  gpio_status_t [NumVms-1:0] status;
  gpio_status_t own_status;
  gpio_pins_t own;
  gpio_result_t result;
  logic [7:0] refusals;
  word_t data;

  assign here   = access_i.valid && access_i.device == DevGpio;
  // Only whole words exist here; other accesses get an error and have no effect.
  assign known  = 32'(access_i.word) < NumWords && access_i.low == '0
                  && access_i.write inside {8'h00, 8'hff};
  // A VM without the device reads its page, and writes nothing.
  assign writes = here && access_i.write == '1 && allowed;

  function automatic logic at(int unsigned offset);
    return access_i.word == 9'(offset / 8);
  endfunction

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    logic mine, flush;
    assign mine       = writes && access_i.vm == vm_t'(v);
    assign flush      = flush_i.valid && flush_i.vm == vm_t'(v);
    assign start[v]   = mine && at(GpioControl) && access_i.data[GpioControlStartLsb];
    assign stop[v]    = mine && at(GpioControl) && access_i.data[GpioControlStopLsb];
    assign owner[v]   = owner_i[v][NumPins-1:0] & {NumPins{allowed_i[v]}};
    assign irq_o[v]   = enable_q[v] && has_result[v];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        enable_q[v]  <= 1'b0;
        refused_q[v] <= '0;
      end else if (flush) begin
        enable_q[v]  <= 1'b0;
        refused_q[v] <= '0;
      end else begin
        if (mine && at(GpioInt)) enable_q[v] <= access_i.data[GpioIntEnableLsb];
        // Commands that a full memory has refused; stops at 255.
        if (mine && refused && refused_q[v] != '1) refused_q[v] <= refused_q[v] + 1'b1;
      end
    end
  end

  gpio_processor #(.NumVms(NumVms), .NumPins(NumPins)) i_processor (
    .clk_i, .rst_ni, .time_i, .owner_i(owner), .flush_i(flush_i.valid), .flush_vm_i(flush_i.vm),
    .command_valid_i(writes && at(GpioCommand)), .command_vm_i(access_i.vm),
    .command_i(access_i.data), .command_ready_o(), .refused_o(refused), .start_i(start),
    .stop_i(stop), .result_vm_i(access_i.vm), .result_o(result), .result_valid_o(valid),
    .results_o(has_result), .result_pop_i(pop), .status_o(status), .pin_i, .pin_o, .pin_oe_o
  );
  // A result has two registers, so reading does not remove it.
  assign pop = writes && at(GpioPop) && access_i.data[GpioPopPopLsb];

  // ---- Reads ----
  always_comb begin
    {allowed, enable, own_status, own, refusals} = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (access_i.vm == vm_t'(v)) begin
        allowed    = allowed_i[v];
        enable     = enable_q[v];
        own_status = status[v];
        own        = gpio_pins_t'(owner[v]);
        refusals   = refused_q[v];
      end
    end
  end

  always_comb begin
    data = '0;
    if (at(GpioStatus)) begin
      data[GpioStatusRunningLsb]      = own_status.running;
      data[GpioStatusLateLsb+:8]      = own_status.late;
      data[GpioStatusForbiddenLsb+:8] = own_status.forbidden;
      data[GpioStatusDroppedLsb+:8]   = own_status.dropped;
      data[GpioStatusSpaceLsb+:8]     = own_status.space;
      data[GpioStatusRefusedLsb+:8]   = refusals;
    end
    if (at(GpioResult) && valid) begin
      data[GpioResultByLsb+:16]     = result.report.by;
      data[GpioResultLateLsb]       = result.report.late;
      data[GpioResultForbiddenLsb]  = result.report.forbidden;
      data[GpioResultTimeoutLsb]    = result.report.timeout;
      data[GpioResultBadLsb]        = result.report.bad;
      data[GpioResultOpLsb+:4]      = result.report.op;
      data[GpioResultValidLsb]      = 1'b1;
      data[GpioResultPinsLsb+:32]   = result.pins;
    end
    if (at(GpioResultTime) && valid) data = result.stamp;
    if (at(GpioTime)) data = time_i;
    if (at(GpioInt)) data[GpioIntEnableLsb] = enable;
    if (at(GpioOwn)) data[GpioOwnMaskLsb+:32] = own;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_o  <= '0;
      error_o <= 1'b0;
    end else begin
      data_o  <= here && access_i.write == '0 && known ? data : '0;
      error_o <= here && !known;
    end
  end

  logic unused;
  assign unused = &{1'b0, access_i.low};

endmodule
