// SPDX-License-Identifier: Apache-2.0
// Proves the arbiter with three VMs, for all requests, deadlines, configurations and devices: no
// request of a lower rank is granted while one of a higher rank may be served, so that under
// priorities and EDF a request waits for one chunk of those below it; under round robin it waits
// for one chunk of each other VM; all time for which a request waits is charged to a VM, and one
// that flushes delays it once; a chunk lies within its request, and a completion names the VM and
// the tag of the request that was served.
module io_arbiter_props
  import fabric_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumVms = 3,
  localparam logic [1:0] Run = 2'd1, Complete = 2'd2  // states of the arbiter
) (
  input logic clk_i,
  input io_time_t now_i,
  input io_policy_e policy_i,
  input logic [3:0] size_i,
  input logic [31:0] timeout_i,
  input prio_t [NumVms-1:0] prio_i,
  input logic [NumVms-1:0] masked_i, arrives_i,
  input logic changed_i, flush_i, done_i, complete_ready_i,
  input vm_t flush_vm_i,
  input io_request_t [NumVms-1:0] request_i,
  input io_result_t result_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // The heads of the FIFOs: they arrive at any time, and stay until the arbiter removes them.
  logic [NumVms-1:0] pending_q = '0;
  io_request_t [NumVms-1:0] head_q;
  io_length_t [NumVms-1:0] progress_q;
  vm_t head_vm, update_vm;
  logic update, update_remove;
  io_length_t update_progress;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_head
    logic replaced;
    assign replaced = (update && update_vm == vm_t'(v) && update_remove)
                      || (flush_i && flush_vm_i == vm_t'(v));
    always_ff @(posedge clk_i) begin
      if (!pending_q[v] || replaced) begin
        pending_q[v]  <= arrives_i[v] && rst_n;
        head_q[v]     <= request_i[v];
        progress_q[v] <= '0;
      end else if (update && update_vm == vm_t'(v)) progress_q[v] <= update_progress;
    end
  end

  logic start, busy, complete, abort, charge;
  vm_t charge_vm;

  // The configuration changes with changed_i only; a device ends a chunk once, and does no more
  // than the chunk.
  logic past = 1'b0;
  io_policy_e policy_q;
  prio_t [NumVms-1:0] prio_q;
  logic [NumVms-1:0] masked_q;
  logic charged_q = 1'b0;
  vm_t charged_vm_q;
  always_ff @(posedge clk_i) begin
    past     <= rst_n;
    policy_q <= policy_i;
    prio_q   <= prio_i;
    masked_q <= masked_i;
    charged_q <= charge;
    charged_vm_q <= charge_vm;
  end

  logic [31:0] charge_cycles;
  io_chunk_t chunk;
  io_completion_t completion;
  logic dut_running;
  assign dut_running = dut.state_q == Run;
  always_comb begin
    if (past && !changed_i) assume (policy_i == policy_q && prio_i == prio_q);
    // A mask falls at any time, when budgets are replenished; it rises with a change, or after a
    // charge.
    for (int v = 0; v < int'(NumVms); v++) begin
      if (past && !changed_i && !(charged_q && charged_vm_q == vm_t'(v)))
        assume (!masked_i[v] || masked_q[v]);
    end
    assume (result_i.bytes <= chunk.bytes);
    assume (flush_vm_i < vm_t'(NumVms));
    if (!dut_running || start) assume (!done_i);
    assume (policy_i <= PolicyEdf);
    assume (!dut.cycles_q[31]);  // a chunk takes less than 2^31 cycles
  end

  io_arbiter #(.NumVms(NumVms)) dut (
    .clk_i, .rst_ni(rst_n), .now_i, .policy_i, .size_i, .timeout_i, .prio_i, .masked_i, .changed_i,
    .pending_i(pending_q), .flush_i, .flush_vm_i, .head_vm_o(head_vm),
    .head_i(head_q[head_vm[1:0]]), .progress_i(progress_q[head_vm[1:0]]), .update_o(update),
    .update_vm_o(update_vm), .update_remove_o(update_remove), .update_progress_o(update_progress),
    .start_o(start), .chunk_o(chunk), .abort_o(abort), .done_i, .result_i, .busy_o(busy),
    .others_o(), .complete_o(complete), .completion_o(completion), .complete_ready_i,
    .charge_o(charge), .charge_vm_o(charge_vm), .charge_cycles_o(charge_cycles)
  );

  // The earliest deadline is 2^31 cycles before the begin of the comparison, or of the wait for a
  // request; rounded down.
  io_time_t base_q, due_base;
  logic begins;
  assign begins   = dut.restart || dut.grant || (!dut.best_valid_q && dut.to_compare == '0);
  assign due_base = {base_q[31:16], 16'b0};
  always_ff @(posedge clk_i) begin
    if (!rst_n) base_q <= '0;
    else if (begins) base_q <= now_i - 32'h8000_0000;
  end

  // Ranks by the definition.
  logic [NumVms-1:0] servable;
  logic [NumVms-1:0][3:0] turn;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_rank
    assign servable[v] = pending_q[v] && !masked_i[v] && !dut.flushed_q[v]
                         && !(busy && chunk.vm == vm_t'(v));
    assign turn[v]     = vm_t'(v) - dut.last_q - 4'd1;
  end

  function automatic logic ahead(int a, int b);  // request of VM a before that of VM b
    if (policy_i == PolicyPriority && prio_i[a] != prio_i[b]) return prio_i[a] > prio_i[b];
    if (policy_i == PolicyEdf && head_q[a].due != head_q[b].due)
      return head_q[a].due - due_base < head_q[b].due - due_base;
    return turn[a] < turn[b];
  endfunction

  function automatic io_time_t order_of(logic [1:0] v);
    if (policy_i == PolicyPriority) return 32'd15 - 32'(prio_i[v]);
    return policy_i == PolicyEdf ? head_q[v].due - due_base : '0;
  endfunction

  io_time_t best_order;
  assign best_order = policy_i == PolicyEdf ? dut.best_rank_q.order - due_base
                      : dut.best_rank_q.order;

  // An arbitrary VM, chosen by the solver.
  (* keep *) logic [1:0] any;
  always_ff @(posedge clk_i) any <= any;
  always_comb assume (any < 2'(NumVms));

  // The number of chunks of others since its request could be served, and of VMs whose turn is
  // before its own.
  logic [3:0] waited_q, before_any;
  always_comb begin
    before_any = '0;
    for (int v = 0; v < int'(NumVms); v++) before_any += 4'(turn[v] < turn[any]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_n || !servable[any] || changed_i) waited_q <= '0;
    else if (dut.grant && dut.best_q != vm_t'(any)) waited_q <= waited_q + 1'b1;
  end

  // Cycles for which its request waits beside those that are charged to a VM.
  logic [31:0] uncharged_q;
  logic [3:0] compared;
  always_comb begin
    compared = '0;
    for (int v = 0; v < int'(NumVms); v++) compared += 4'(!dut.fresh_q[v]);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_n || !servable[any] || changed_i) uncharged_q <= '0;
    else if (!charge) uncharged_q <= uncharged_q + 1'b1;
    else uncharged_q <= uncharged_q + 1'b1 > charge_cycles ? uncharged_q + 1'b1 - charge_cycles
                        : '0;
  end

  // VMs whose flushes have begun the comparison again since the last grant.
  logic [NumVms-1:0] delayed_q;
  logic restarts;
  assign restarts = dut.chosen && dut.best_flushed;
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_delayed
    always_ff @(posedge clk_i) begin
      if (!rst_n || dut.grant || dut.eligible == '0) delayed_q[v] <= 1'b0;
      else if (restarts && dut.best_q == vm_t'(v)) delayed_q[v] <= 1'b1;
    end
  end

  // The request that is served, and whether its VM has been flushed since.
  logic gone_q;
  always_ff @(posedge clk_i) begin
    if (dut.grant) gone_q <= 1'b0;
    else if (flush_i && flush_vm_i == chunk.vm) gone_q <= 1'b1;
  end
  io_request_t served_q;
  always_ff @(posedge clk_i) if (dut.grant) served_q <= head_q[head_vm[1:0]];

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (dut.base_q == base_q[31:16]);
    assert (dut.best_q < vm_t'(NumVms) && chunk.vm < vm_t'(NumVms));
    assert (dut.last_q == '1 || dut.last_q < vm_t'(NumVms));
    for (int v = 0; v < int'(NumVms); v++) begin
      assert (progress_q[v] <= head_q[v].length || !pending_q[v]);
    end
    for (int v = 0; v < int'(NumVms); v++)
      assert (dut.fresh_q[v] || dut.flushed_q[v] || servable[v] || changed_i);
    if (dut.best_valid_q) begin
      assert (!dut.fresh_q[dut.best_q[1:0]]);
      assert (dut.best_rank_q.turn == turn[dut.best_q[1:0]] || changed_i);
      assert (best_order == order_of(dut.best_q[1:0]) || changed_i
              || dut.flushed_q[dut.best_q[1:0]]);
      assert (dut.best_rank_q.wraps == (policy_i == PolicyEdf && dut.best_rank_q.order < due_base)
              || changed_i);
      if (servable[any] && !dut.fresh_q[any] && !changed_i) begin
        assert (order_of(any) >= best_order);
        assert (order_of(any) > best_order || turn[any] >= turn[dut.best_q[1:0]]);
      end
    end
    if (!dut.best_valid_q) assert (dut.fresh_q == '1);
    assert ((delayed_q & ~dut.flushed_q) == '0);
    if (dut.best_valid_q) assert (!delayed_q[dut.best_q[1:0]]);
    if (busy) assert (dut.cycles_q != '0);
    if (dut.state_q == Run) begin
      assert (served_q.tag == dut.tag_q);
      if (!dut.abandoned_q) begin
        assert (pending_q[chunk.vm[1:0]] && head_q[chunk.vm[1:0]] == served_q);
        assert (progress_q[chunk.vm[1:0]] == dut.progress_q);
      end
    end
    assert (dut.state_q != Complete || served_q.tag == dut.tag_q);

    // the policy
    if (dut.grant) begin
      assert (servable[dut.best_q[1:0]]);
      if (servable[any]) assert (!ahead(int'(any), int'(dut.best_q)));
    end
    if (policy_i == PolicyRoundRobin && servable[any])
      assert (5'(waited_q) + 5'(before_any) <= 5'(NumVms - 1) || changed_i);
    if (servable[any]) assert (uncharged_q <= (busy ? dut.cycles_q - 1'b1 : 32'(compared)));

    // the chunk
    if (dut.state_q == Run) begin
      assert (chunk.op == served_q.op);
      assert (17'(dut.progress_q) + 17'(chunk.bytes) <= 17'(served_q.length));
      assert (chunk.target == served_q.target + 32'(dut.progress_q));
      assert (chunk.addr == served_q.addr + 41'(dut.progress_q));
      assert (chunk.last == (17'(dut.progress_q) + 17'(chunk.bytes) == 17'(served_q.length)));
      assert (chunk.bytes != '0 || chunk.last);
      assert (chunk.face == served_q.face);
      assert (!chunk.face || served_q.length > 16'd4 || chunk.last);
    end

    // the completion
    if (busy) assert (gone_q == dut.abandoned_q);
    if (complete) begin
      assert (!gone_q);
      assert (completion.vm == chunk.vm && completion.tag == served_q.tag);
      assert (completion.bytes <= served_q.length);
    end
    cover (complete && completion.vm == 4'd1 && completion.bytes > 16'd8);
    cover (waited_q == 4'd2);
  end

  // A chunk has at most 2^size_i bytes, with the configuration at its grant; one of the SPI face
  // may have 4.
  always_ff @(posedge clk_i) begin
    if (rst_n && dut.grant)
      assert (dut.bytes <= 16'd1 << size_i || (dut.head_i.face && dut.bytes <= 16'd4));
  end
endmodule
