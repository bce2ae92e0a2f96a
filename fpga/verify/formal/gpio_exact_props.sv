// SPDX-License-Identifier: Apache-2.0
// Proves the times of the GPIO with one VM, for all times and pins: a set after an until, submitted
// to a sequencer without other commands, takes effect in exactly the cycle of its time, and not
// before; or, if it was submitted too late for that, three cycles after it was submitted, with a
// report of the number of cycles. What the VM submits afterwards changes nothing.
// gpio_processor_props proves that a VM beside others behaves as it does alone.
module gpio_exact_props
  import fabric_pkg::*;
  import io_gpio_pkg::*;
#(
  localparam int unsigned NumPins = 2
) (
  input logic clk_i,
  input logic [63:0] time_i,
  input logic [0:0][NumPins-1:0] owner_i,
  input logic flush_i, command_valid_i, result_pop_i,
  input vm_t flush_vm_i, command_vm_i, result_vm_i,
  input logic [63:0] command_i,
  input logic [0:0] start_i, stop_i,
  input logic [NumPins-1:0] pin_i
);
  logic rst_n = 1'b0;
  logic [63:0] time_q;
  logic [0:0][NumPins-1:0] owner_q;
  always_ff @(posedge clk_i) begin
    rst_n   <= 1'b1;
    time_q  <= time_i;
    owner_q <= owner_i;
  end
  // The time base counts every cycle; ownership does not change here.
  always_comb begin
    if (rst_n) assume (time_i == time_q + 64'd1 && owner_i == owner_q);
  end

  // An arbitrary pin.
  (* keep *) logic pin;
  always_ff @(posedge clk_i) pin <= pin;

  gpio_status_t [0:0] status;
  logic [NumPins-1:0] level;
  gpio_processor #(
    .NumVms(1), .NumPins(NumPins), .CommandDepth(4), .ResultDepth(2)
  ) dut (
    .clk_i, .rst_ni(rst_n), .time_i, .owner_i, .flush_i, .flush_vm_i, .command_valid_i,
    .command_vm_i, .command_i, .command_ready_o(), .refused_o(), .start_i, .stop_i, .result_vm_i,
    .result_o(), .result_valid_o(), .results_o(), .result_pop_i,
    .status_o(status), .pin_i, .pin_o(level), .pin_oe_o()
  );

  typedef enum logic [1:0] {ExIdle, ExUntil, ExSet} exact_e;
  exact_e exact_q = ExIdle;
  gpio_time_t until_q, earliest_q, now, ahead, effect, left;
  logic value_q, before_q, masked_q, late;
  gpio_command_t command, head;
  logic idle, submits, disturbed, at_time, is_set;
  logic [2:0] waiting;
  assign command   = command_i;
  assign head      = dut.gen_vm[0].i_commands.head_o;
  assign waiting   = dut.gen_vm[0].i_commands.write_q - dut.gen_vm[0].i_commands.read_q;
  assign now       = time_i[47:0];
  assign submits   = rst_n && command_valid_i && command_vm_i == '0;
  assign disturbed = stop_i[0] || (flush_i && flush_vm_i == '0);
  assign idle      = status[0].running && waiting == '0 && !dut.gen_vm[0].i_commands.loop_q
                     && !dut.gen_vm[0].i_sequencer.valid_q;
  assign is_set    = command.action.op == GpSet && command.delay == '0 && !command.now;

  // The cycle of the effect: the until's time, or three cycles after the set was submitted.
  assign ahead   = until_q - earliest_q;
  assign late    = ahead > 48'h8000_0000_0000;
  assign effect  = late ? earliest_q : until_q;
  assign at_time = exact_q == ExSet && now == effect;
  assign left    = effect - now;

  always_ff @(posedge clk_i) begin
    if (!rst_n || disturbed || at_time) exact_q <= ExIdle;
    else if (exact_q == ExIdle && idle && submits && command.action.op == GpUntil) begin
      exact_q  <= ExUntil;
      until_q  <= {command.action.mask[7:0], command.action.value, command.delay};
      before_q <= level[pin];
    end else if (exact_q == ExUntil && submits) begin
      exact_q    <= is_set ? ExSet : ExIdle;
      earliest_q <= now + 48'd3;
      masked_q   <= !command.action.bank && command.action.mask[pin];
      value_q    <= command.action.value[pin];
    end
  end

  always_ff @(posedge clk_i) if (rst_n) begin
    if (exact_q != ExIdle && !at_time && owner_i[0][pin]) assert (level[pin] == before_q);
    if (at_time) begin
      if (owner_i[0][pin]) assert (level[pin] == (masked_q ? value_q : before_q));
      assert (dut.gen_vm[0].i_sequencer.fired_q);
      assert (!late || dut.gen_vm[0].report_valid);
      assert (dut.gen_vm[0].report.late == late);
      if (late) assert (dut.gen_vm[0].report.by == (-ahead > 48'hffff ? 16'hffff : 16'(-ahead)));
    end

    // invariants: the until and the set are in the memory, or in the sequencer
    assert (exact_q inside {ExIdle, ExUntil, ExSet});
    if (exact_q != ExIdle && !at_time)
      assert (status[0].running && !dut.gen_vm[0].i_commands.loop_q);
    if (exact_q == ExUntil) begin
      assert (!dut.gen_vm[0].i_sequencer.valid_q && waiting <= 3'd1);
      if (waiting == 3'd1)
        assert (head.action.op == GpUntil && {head.action.mask[7:0], head.action.value,
                                              head.delay} == until_q);
    end
    if ((exact_q == ExUntil && waiting == '0) || (exact_q == ExSet && !at_time))
      assert (dut.gen_vm[0].i_sequencer.due_q == until_q && !dut.gen_vm[0].i_sequencer.fresh_q);
    if (exact_q == ExSet && !at_time) begin
      if (dut.gen_vm[0].i_sequencer.valid_q) begin
        assert (left != '0 && left <= (late ? 48'd1 : ahead + 48'd1));
        assert (dut.gen_vm[0].i_sequencer.action_q.op == GpSet && !dut.gen_vm[0].i_sequencer.bad_q);
        assert ((!dut.gen_vm[0].i_sequencer.action_q.bank
                 && dut.gen_vm[0].i_sequencer.action_q.mask[pin]) == masked_q);
        assert (dut.gen_vm[0].i_sequencer.action_q.value[pin] == value_q);
      end else begin
        assert (now == earliest_q - 48'd2 && waiting != '0);
        assert (head.action.op == GpSet && head.delay == '0 && !head.now);
        assert ((!head.action.bank && head.action.mask[pin]) == masked_q
                && head.action.value[pin] == value_q);
      end
    end
    cover (at_time && !late && masked_q && owner_i[0][pin] && level[pin] && !before_q && left == '0
           && ahead > 48'd4);
    cover (at_time && late && owner_i[0][pin]);
  end

  // Every late command is counted.
  gpio_count_t counted_q;
  logic count_q = 1'b0;
  always_ff @(posedge clk_i) begin
    count_q   <= rst_n && at_time && late && !(flush_i && flush_vm_i == '0);
    counted_q <= status[0].late;
    if (count_q) assert (status[0].late == (counted_q == '1 ? counted_q : counted_q + 8'd1));
  end
endmodule
