// SPDX-License-Identifier: Apache-2.0
// Proves the sorter for every sequence of commands. It reads internal signals.
//
// The solver chooses two values that stay constant; since they are arbitrary, what is proven of
// them holds for any two values. A model records for each value whether it should be in the queue,
// its key, and which of the two was inserted later. Together: an inserted entry stays until it is
// removed, with its key (nothing lost, nothing invented), the keys are sorted, and equal keys are
// in order of insertion.
module fabric_sorter_props
  import fabric_sorter_pkg::*;
#(
  parameter  int unsigned Depth      = 4,
  parameter  int unsigned KeyWidth   = 2,
  parameter  int unsigned ValueWidth = 3,
  parameter  int unsigned OrderWidth = 0,
  localparam int unsigned OrderBits  = OrderWidth == 0 ? 1 : OrderWidth,
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  op_valid_i,
  input sorter_op_e            op_i,
  input logic [KeyWidth-1:0]   key_i,
  input logic [OrderBits-1:0]  order_i,
  input logic [ValueWidth-1:0] value_i
);

  logic                  op_ready_o;
  sorter_status_e        status_o;
  logic                  head_valid_o;
  logic [KeyWidth-1:0]   head_key_o;
  logic [ValueWidth-1:0] head_value_o;
  logic [CountWidth-1:0] count_o;

  fabric_sorter #(.Depth(Depth), .KeyWidth(KeyWidth), .ValueWidth(ValueWidth),
                  .OrderWidth(OrderWidth)) dut (.*);

  // Registers without a reset: arbitrary at first, constant afterwards.
  (* keep *) logic [ValueWidth-1:0] any_a, any_b;
  always_ff @(posedge clk_i) begin
    any_a <= any_a;
    any_b <= any_b;
  end

  // All orders are in half of their range, whose begin is arbitrary.
  (* keep *) logic [OrderBits-1:0] any_begin;
  always_ff @(posedge clk_i) any_begin <= any_begin;
  logic [OrderBits-1:0] rank;
  assign rank = order_i - any_begin;
  always_comb if (OrderWidth != 0) assume (!rank[OrderBits-1]);

  // The first cycle is the reset.
  logic past_q = 1'b0;
  always_ff @(posedge clk_i) past_q <= 1'b1;
  always_comb assume (rst_ni == past_q);
  always_comb assume (any_a != any_b);

  // The bus rule: a command is stable until it is done.
  logic waits_q = 1'b0;
  sorter_op_e op_q;
  logic [KeyWidth-1:0] key_q;
  logic [OrderBits-1:0] tie_q;
  logic [ValueWidth-1:0] value_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && op_valid_i && !op_ready_o;
    op_q    <= op_i;
    key_q   <= key_i;
    tie_q   <= order_i;
    value_q <= value_i;
  end
  always_comb
    if (waits_q)
      assume (op_valid_i && op_i == op_q && key_i == key_q && order_i == tie_q
              && value_i == value_q);

  // ---- Model of the two chosen values ----
  logic in_a_q = 1'b0, in_b_q = 1'b0, b_later_q = 1'b0;
  logic [KeyWidth-1:0] key_a_q, key_b_q;
  logic [OrderBits-1:0] rank_a_q, rank_b_q;
  logic done, in_both;
  logic put_a, put_b, out_a, out_b;

  assign done    = rst_ni && op_valid_i && op_ready_o && status_o == StDone;
  assign put_a   = done && (op_i == OpInsert || op_i == OpUpdate || op_i == OpPut)
                   && value_i == any_a;
  assign put_b   = done && (op_i == OpInsert || op_i == OpUpdate || op_i == OpPut)
                   && value_i == any_b;
  assign out_a   = done && ((op_i == OpRemove && value_i == any_a)
                            || (op_i == OpPop && head_value_o == any_a));
  assign out_b   = done && ((op_i == OpRemove && value_i == any_b)
                            || (op_i == OpPop && head_value_o == any_b));
  assign in_both = in_a_q && in_b_q;

  // A before B among equal keys.
  logic a_first;
  assign a_first = OrderWidth == 0 || rank_a_q == rank_b_q ? b_later_q : rank_a_q < rank_b_q;

  always_ff @(posedge clk_i) begin
    if (put_a) begin
      in_a_q    <= 1'b1;
      key_a_q   <= key_i;
      rank_a_q  <= rank;
      b_later_q <= 1'b0;
    end
    if (put_b) begin
      in_b_q    <= 1'b1;
      key_b_q   <= key_i;
      rank_b_q  <= rank;
      b_later_q <= 1'b1;
    end
    if (out_a) in_a_q <= 1'b0;
    if (out_b) in_b_q <= 1'b0;
  end

  // ---- Positions of the two values in the real queue ----
  logic [Depth-1:0] queued, is_a, is_b;
  logic [KeyWidth-1:0] real_key_a, real_key_b;
  logic a_before_b;
  for (genvar p = 0; p < Depth; p++) begin : gen_position
    assign queued[p] = CountWidth'(p) < count_o;
    assign is_a[p]   = queued[p] && dut.values_q[dut.order_q[p]] == any_a;
    assign is_b[p]   = queued[p] && dut.values_q[dut.order_q[p]] == any_b;
  end
  always_comb begin
    real_key_a = '0;
    real_key_b = '0;
    a_before_b = 1'b0;
    for (int unsigned p = 0; p < Depth; p++) begin
      if (is_a[p]) real_key_a = dut.keys_q[dut.order_q[p]];
      if (is_b[p]) real_key_b = dut.keys_q[dut.order_q[p]];
      for (int unsigned r = p + 1; r < Depth; r++) if (is_a[p] && is_b[r]) a_before_b = 1'b1;
    end
  end

  // Ranks of the slots' orders.
  logic [OrderBits-1:0] ranks[Depth];
  for (genvar i = 0; i < Depth; i++) begin : gen_rank
    if (OrderWidth == 0) begin : gen_none
      assign ranks[i] = '0;
    end else begin : gen_some
      assign ranks[i] = dut.gen_ordered.gen_tie[i].tie_q - any_begin;
    end
  end

  // Between the cycles of an update the value is out of the queue, while the model still has it.
  logic mid_a, mid_b;
  assign mid_a = dut.second_q && value_i == any_a;
  assign mid_b = dut.second_q && value_i == any_b;

  always_comb begin
    if (past_q) begin
      // Nothing lost, nothing invented, no key changed.
      assert ((is_a != '0) == (in_a_q && !mid_a));
      assert ((is_b != '0) == (in_b_q && !mid_b));
      if (is_a != '0) assert (real_key_a == key_a_q);
      if (is_b != '0) assert (real_key_b == key_b_q);
      // Among equal keys by order, then first in, first out.
      if (in_both && !dut.second_q && key_a_q == key_b_q) assert (a_before_b == a_first);
      if (in_both && dut.second_q && !mid_a && !mid_b && key_a_q == key_b_q)
        assert (a_before_b == a_first);
      // Order, and the bookkeeping it depends on.
      assert (count_o <= CountWidth'(Depth));
      for (int unsigned p = 0; p < Depth; p++) begin
        assert (32'(dut.order_q[p]) < Depth);
        assert (dut.used_q[dut.order_q[p]] == queued[p]);
        if (queued[p])
          assert (dut.copy_q[dut.order_q[p]] == {dut.keys_q[dut.order_q[p]],
                                                 dut.values_q[dut.order_q[p]]});
        if (p + 1 < Depth && queued[p+1])
          assert (dut.keys_q[dut.order_q[p]] <= dut.keys_q[dut.order_q[p+1]]);
        if (OrderWidth != 0 && queued[p]) begin
          assert (!ranks[dut.order_q[p]][OrderBits-1]);
          if (is_a[p]) assert (ranks[dut.order_q[p]] == rank_a_q);
          if (is_b[p]) assert (ranks[dut.order_q[p]] == rank_b_q);
          if (p + 1 < Depth && queued[p+1]
              && dut.keys_q[dut.order_q[p]] == dut.keys_q[dut.order_q[p+1]])
            assert (ranks[dut.order_q[p]] <= ranks[dut.order_q[p+1]]);
        end
        for (int unsigned r = p + 1; r < Depth; r++) begin
          assert (dut.order_q[p] != dut.order_q[r]);
          if (queued[r]) assert (dut.values_q[dut.order_q[p]] != dut.values_q[dut.order_q[r]]);
        end
      end
      // The head is the first of the queue.
      assert (head_valid_o == (count_o != '0));
      if (head_valid_o)
        assert ({head_key_o, head_value_o} == {dut.keys_q[dut.order_q[0]],
                                               dut.values_q[dut.order_q[0]]});
      else assert ({head_key_o, head_value_o} == '1);
    end
  end

  // The second cycle of an update belongs to a waiting update whose entry was removed.
  always_comb begin
    if (past_q) begin
      assert (dut.second_q == waits_q);
      if (dut.second_q) begin
        assert ((op_i == OpUpdate || op_i == OpPut) && op_ready_o && status_o == StDone
                && count_o < CountWidth'(Depth));
        for (int unsigned p = 0; p < Depth; p++)
          if (queued[p]) assert (dut.values_q[dut.order_q[p]] != value_i);
      end
      // What is refused, and why.
      if (op_valid_i && !dut.second_q && value_i == any_a) begin
        if (op_i == OpInsert) assert ((status_o == StDuplicate) == in_a_q);
        if (op_i == OpPut)
          assert (status_o == (in_a_q || count_o < CountWidth'(Depth) ? StDone : StFull));
        if (op_i == OpRemove || op_i == OpUpdate) assert ((status_o == StAbsent) == !in_a_q);
      end
      if (op_valid_i && op_i == OpPop) assert ((status_o == StAbsent) == (count_o == '0));
      if (op_valid_i && op_i == OpInsert && status_o == StFull)
        assert (count_o == CountWidth'(Depth));
      if (op_valid_i && op_i == OpInsert && status_o == StDone)
        assert (count_o < CountWidth'(Depth));
    end
  end

  // The proofs are not vacuous: these states are reachable.
  always_comb begin
    if (past_q) begin
      cover (count_o == CountWidth'(Depth) && in_both && key_a_q == key_b_q && !b_later_q);
      cover (OrderWidth != 0 && in_both && key_a_q == key_b_q && !a_first && b_later_q);
      cover (dut.second_q && count_o == CountWidth'(Depth - 1));
    end
  end

endmodule
