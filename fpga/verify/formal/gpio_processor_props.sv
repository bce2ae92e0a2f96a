// SPDX-License-Identifier: Apache-2.0
// Proves the GPIO with two VMs, for all commands and pads: the pins of a VM, its results and its
// counts are those of a processor that has this VM alone, so that no command of the other VM
// changes or delays anything; and a pin changes only by a command or a flush of its owner. That the
// commands of one VM are exact is proven by gpio_exact_props.
module gpio_processor_props
  import fabric_pkg::*;
  import io_gpio_pkg::*;
#(
  localparam int unsigned NumVms = 2,
  localparam int unsigned NumPins = 2,
  localparam int unsigned CommandDepth = 4,
  localparam int unsigned ResultDepth = 2
) (
  input logic clk_i,
  input logic [63:0] time_i,
  input logic [NumVms-1:0][NumPins-1:0] owner_i,
  input logic flush_i, command_valid_i, result_pop_i,
  input vm_t flush_vm_i, command_vm_i, result_vm_i,
  input logic [63:0] command_i,
  input logic [NumVms-1:0] start_i, stop_i,
  input logic [NumPins-1:0] pin_i
);
  logic rst_n = 1'b0, past = 1'b0;
  logic [63:0] time_q;
  logic [NumVms-1:0][NumPins-1:0] owner_q;
  always_ff @(posedge clk_i) begin
    rst_n   <= 1'b1;
    past    <= rst_n;
    time_q  <= time_i;
    owner_q <= owner_i;
  end
  // The time base counts every cycle; ownership does not change here.
  always_comb begin
    if (rst_n) assume (time_i == time_q + 64'd1 && owner_i == owner_q);
  end

  // An arbitrary VM and one of its pins.
  (* keep *) logic any, pin;
  always_ff @(posedge clk_i) begin
    any <= any;
    pin <= pin;
  end

  logic [NumVms-1:0] ready;
  logic refused, result_valid;
  gpio_result_t result;
  gpio_status_t [NumVms-1:0] status;
  logic [NumPins-1:0] level, drive;
  gpio_processor #(
    .NumVms(NumVms), .NumPins(NumPins), .CommandDepth(CommandDepth), .ResultDepth(ResultDepth)
  ) dut (
    .clk_i, .rst_ni(rst_n), .time_i, .owner_i, .flush_i, .flush_vm_i, .command_valid_i,
    .command_vm_i, .command_i, .command_ready_o(ready), .refused_o(refused), .start_i, .stop_i,
    .result_vm_i, .result_o(result), .result_valid_o(result_valid), .results_o(), .result_pop_i,
    .status_o(status), .pin_i, .pin_o(level), .pin_oe_o(drive)
  );

  // ---- The same VM alone, as VM 0 ----
  logic [NumPins-1:0] own;
  logic of_any, alone_ready, alone_refused, alone_result_valid;
  assign own    = any ? owner_i[1] & ~owner_i[0] : owner_i[0];
  assign of_any = command_vm_i == vm_t'(any);
  gpio_result_t alone_result;
  gpio_status_t alone_status;
  logic [NumPins-1:0] alone_level, alone_drive;
  gpio_processor #(
    .NumVms(1), .NumPins(NumPins), .CommandDepth(CommandDepth), .ResultDepth(ResultDepth)
  ) alone (
    .clk_i, .rst_ni(rst_n), .time_i, .owner_i(own), .flush_i(flush_i && flush_vm_i == vm_t'(any)),
    .flush_vm_i('0), .command_valid_i(command_valid_i && of_any), .command_vm_i('0), .command_i,
    .command_ready_o(alone_ready), .refused_o(alone_refused), .start_i(start_i[any]),
    .stop_i(stop_i[any]), .result_vm_i('0), .result_o(alone_result),
    .result_valid_o(alone_result_valid), .results_o(),
    .result_pop_i(result_pop_i && result_vm_i == vm_t'(any)), .status_o(alone_status), .pin_i,
    .pin_o(alone_level), .pin_oe_o(alone_drive)
  );

  always_ff @(posedge clk_i) if (rst_n) begin
    assert ((level & own) == alone_level && (drive & own) == alone_drive);
    assert (status[any] == alone_status && ready[any] == alone_ready);
    if (command_valid_i && of_any) assert (refused == alone_refused);
    if (result_vm_i == vm_t'(any)) begin
      assert (result_valid == alone_result_valid);
      if (result_valid) assert (result == alone_result);
    end
    if (command_valid_i && command_vm_i >= vm_t'(NumVms)) assert (refused);
    if (result_vm_i >= vm_t'(NumVms)) assert (!result_valid);
  end

  // The memory holds at most its depth; the commands to be executed are among those that it holds.
  logic [NumVms-1:0][2:0] space;
  logic [NumVms-1:0][1:0] oldest;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_space
    logic [2:0] held, left;
    assign space[v]  = dut.gen_vm[v].i_commands.space_o;
    assign oldest[v] = dut.gen_vm[v].i_commands.oldest[1:0];
    assign held      = dut.gen_vm[v].i_commands.write_q - dut.gen_vm[v].i_commands.oldest;
    assign left      = dut.gen_vm[v].i_commands.write_q - dut.gen_vm[v].i_commands.read_q;
    always_ff @(posedge clk_i) if (rst_n) begin
      assert (held <= 3'(CommandDepth) && left <= held);
    end
  end

  // Invariants of the comparison: the registers of both are equal.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_same
    logic [1:0] held;
    assign held = 2'(dut.gen_vm[v].i_results.i_fifo.usage_o);
    always_ff @(posedge clk_i) if (rst_n && any == 1'(v)) begin
      assert (dut.gen_vm[v].i_commands.write_q == alone.gen_vm[0].i_commands.write_q);
      assert (dut.gen_vm[v].i_commands.read_q == alone.gen_vm[0].i_commands.read_q);
      assert (dut.gen_vm[v].i_commands.body_q == alone.gen_vm[0].i_commands.body_q);
      assert (dut.gen_vm[v].i_commands.loop_q == alone.gen_vm[0].i_commands.loop_q);
      assert (dut.gen_vm[v].i_commands.count_q == alone.gen_vm[0].i_commands.count_q);
      for (int c = 0; c < int'(CommandDepth); c++) begin
        if ({1'b0, 2'(c) - oldest[v]} < 3'(CommandDepth) - space[v])
          assert (dut.gen_vm[v].i_commands.mem[c] == alone.gen_vm[0].i_commands.mem[c]);
      end
      assert (dut.gen_vm[v].i_sequencer.action_q == alone.gen_vm[0].i_sequencer.action_q);
      assert (dut.gen_vm[v].i_sequencer.due_q == alone.gen_vm[0].i_sequencer.due_q);
      assert (dut.gen_vm[v].i_sequencer.valid_q == alone.gen_vm[0].i_sequencer.valid_q);
      assert (dut.gen_vm[v].i_sequencer.bad_q == alone.gen_vm[0].i_sequencer.bad_q);
      assert (dut.gen_vm[v].i_sequencer.fresh_q == alone.gen_vm[0].i_sequencer.fresh_q);
      assert (dut.gen_vm[v].i_sequencer.fired_q == alone.gen_vm[0].i_sequencer.fired_q);
      assert (dut.gen_vm[v].i_sequencer.report_valid_q
              == alone.gen_vm[0].i_sequencer.report_valid_q);
      assert (dut.gen_vm[v].i_sequencer.report_q == alone.gen_vm[0].i_sequencer.report_q);
      assert (dut.gen_vm[v].i_results.i_fifo.write_q == alone.gen_vm[0].i_results.i_fifo.write_q);
      assert (dut.gen_vm[v].i_results.i_fifo.read_q == alone.gen_vm[0].i_results.i_fifo.read_q);
      assert (held <= 2'(ResultDepth));
      for (int r = 0; r < int'(ResultDepth); r++) begin
        if ({1'b0, 1'(r) - dut.gen_vm[v].i_results.i_fifo.read_q[0]} < held)
          assert (dut.gen_vm[v].i_results.i_fifo.mem[r] == alone.gen_vm[0].i_results.i_fifo.mem[r]);
      end
    end
  end
  always_ff @(posedge clk_i) if (rst_n) begin
    assert (dut.i_pins.meta_q == alone.i_pins.meta_q && dut.i_pins.level_q == alone.i_pins.level_q);
    assert (dut.i_pins.last_q == alone.i_pins.last_q);
  end

  // ---- Ownership ----
  logic was_level, was_drive, may_change_q;
  always_ff @(posedge clk_i) begin
    was_level    <= level[pin];
    was_drive    <= drive[pin];
    may_change_q <= own[pin] && (alone.gen_vm[0].i_sequencer.fire
                                 || (flush_i && flush_vm_i == vm_t'(any)));
    if (rst_n && past) begin
      // The pin is owned by `any`, which did nothing; or nobody owns it.
      if (own[pin] && !may_change_q) assert (level[pin] == was_level && drive[pin] == was_drive);
      if (!owner_q[0][pin] && !owner_q[1][pin]) assert (!level[pin] && !drive[pin]);
    end
  end

  always_ff @(posedge clk_i) if (rst_n) begin
    cover (any && alone_status.forbidden != '0 && level[pin] && own[pin]);
    cover (any && alone_status.dropped != '0 && alone.gen_vm[0].i_commands.loop_q && level == '1);
  end
endmodule
