// SPDX-License-Identifier: Apache-2.0
// Decides which VM's request a device serves next, and cuts requests into chunks. After a chunk all
// VMs compete again, so a request waits for one chunk of a request that ranks below it, and under
// round robin for one chunk of each other VM.
//
// The best request is found by comparing one VM a cycle, while the device executes a chunk: a
// comparison of all at once is larger by the number of VMs. `fresh_q` marks the VMs that are still
// to be compared; nothing is granted before all are.
//
// Deadlines have 32 bits, so which of two is the earlier one depends on the time: they are ordered
// from 2^31 cycles before the start of the comparison on. Compared with each other only, three
// deadlines could each be before the next one.
//
// A VM that flushes its requests is not compared before the next grant. If its request was the best
// one, the comparison starts again. This, the comparison before a chunk and the wait for its
// completion count as use of the device: a VM with a budget takes no time of the others outside it,
// however short its requests are and however often it flushes.
module io_arbiter
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic        clk_i,
  /// Asynchronous, active low; the device is idle and no VM was served after it.
  input  logic        rst_ni,
  /// The time base, its low 32 bits, in cycles of clk_i.
  input  io_time_t    now_i,
  // configuration by the manager
  /// Levels, from registers. A change has effect on the comparison in progress only with changed_i;
  /// size and timeout apply from the next chunk and at once, respectively.
  input  io_policy_e  policy_i,
  /// A chunk has at most 2^size_i bytes. Up to 4 bytes of the SPI face are not cut.
  input  logic [3:0]  size_i,
  /// Cycles that a chunk may take, with NumVms + 2 for the comparison before it; 0: no limit.
  input  logic [31:0] timeout_i,
  /// 15 is the highest priority. Equal ones, and equal deadlines, take turns.
  input  prio_t [NumVms-1:0] prio_i,
  /// VMs that are not served now: they may not use the device, or have used their budget. A bit
  /// rises with changed_i, or in the cycle after charge_o.
  input  logic [NumVms-1:0] masked_i,
  /// Pulse: the configuration has changed.
  input  logic        changed_i,
  /// Requests (io_ring): VMs with one. head_i and progress_i answer head_vm_o in the same cycle.
  input  logic [NumVms-1:0] pending_i,
  /// Pulse: all requests of this VM are removed.
  input  logic        flush_i,
  input  vm_t         flush_vm_i,
  output vm_t         head_vm_o,
  input  io_request_t head_i,
  input  io_length_t  progress_i,
  /// Pulse at the end of a chunk: the request of update_vm_o has this progress, or is removed.
  output logic        update_o,
  output vm_t         update_vm_o,
  output logic        update_remove_o,
  output io_length_t  update_progress_o,
  /// The device: a pulse, two cycles at the earliest after the request is pending. The device must
  /// execute chunk_o, which is stable until done_i, and has no other back-pressure than done_i.
  output logic        start_o,
  output io_chunk_t   chunk_o,
  /// Level: the chunk takes longer than the timeout; the device has to end it at once.
  output logic        abort_o,
  /// Pulse: the chunk is over, with result_i; never without a chunk, and also after abort_o.
  input  logic        done_i,
  input  io_result_t  result_i,
  /// A chunk is being executed, or its completion waits.
  output logic        busy_o,
  /// Another VM's request waits.
  output logic        others_o,
  /// Completions: complete_o stays until complete_ready_i, unless the VM flushes its requests; no
  /// other request is served before. completion_o is stable until then.
  output logic        complete_o,
  output io_completion_t completion_o,
  input  logic        complete_ready_i,
  // budgets (io_budget)
  /// Pulse: charge_vm_o has used charge_cycles_o, by a chunk or by a flush. The device is idle
  /// outside these cycles only if no request may be served.
  output logic        charge_o,
  output vm_t         charge_vm_o,
  output logic [31:0] charge_cycles_o
);

  // A request's rank; the lower one is served first.
  typedef struct packed {
    logic       wraps;  // a deadline whose value is less than base_q: after those that are not
    io_time_t   order;
    logic [3:0] turn;   // VMs from the one served last to this one, in round robin
  } rank_t;

  // The last cycle of a chunk, a comparison of all VMs, and the start of the next chunk.
  localparam int unsigned ChooseCycles = NumVms + 2;

  // ArChoose: the device is idle. ArRun: it executes a chunk. ArComplete: a completion waits.
  typedef enum logic [1:0] {ArChoose, ArRun, ArComplete} state_e;

  state_e state_q;
  // flushed_q: VMs that have flushed since the last grant.
  logic [NumVms-1:0] fresh_q, flushed_q, eligible, to_compare;
  // abandoned_q: the VM of the present chunk has flushed, so the chunk ends without a completion.
  logic best_valid_q, best_flushed, chosen, grant, restart, better, abandoned_q, over, leave;
  vm_t best_q, candidate, last_q;
  rank_t best_rank_q, rank;
  // Cycles charged for the chunk, its comparison included.
  logic [31:0] cycles_q;
  // the earliest deadline, in units of 2^16 cycles; constant during a comparison
  logic [15:0] base_q;

  // ---- Comparison ----
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_eligible
    // The VM of the present chunk is not compared: its request changes when the chunk is over.
    assign eligible[v] = pending_i[v] && !masked_i[v] && !flushed_q[v] &&
                         !(state_q != ArChoose && chunk_o.vm == vm_t'(v));
  end
  assign to_compare = fresh_q & eligible;

  always_comb begin
    candidate = best_q;  // whose request is read for a grant
    for (int v = int'(NumVms) - 1; v >= 0; v--) begin
      if (to_compare[v]) candidate = vm_t'(v);
    end
  end
  assign head_vm_o = candidate;

  function automatic io_time_t order_of(io_policy_e policy, prio_t prio, io_time_t due);
    // The lower order is served first; under round robin all are equal, and the turn decides.
    if (policy == PolicyPriority) return 32'd15 - 32'(prio);
    return policy == PolicyEdf ? due : '0;
  endfunction

  prio_t candidate_prio;
  always_comb begin
    candidate_prio = '0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (candidate == vm_t'(v)) candidate_prio = prio_i[v];
    end
  end

  logic [32:0] ahead;
  logic earlier, equal;
  assign rank.wraps = policy_i == PolicyEdf && head_i.due[31:16] < base_q;
  assign rank.order = order_of(policy_i, candidate_prio, head_i.due);
  assign rank.turn  = candidate - last_q - 4'd1;
  assign ahead      = {1'b0, rank.order} - {1'b0, best_rank_q.order};
  assign equal      = rank.wraps == best_rank_q.wraps && ahead == '0;
  assign earlier    = rank.wraps == best_rank_q.wraps ? ahead[32] : !rank.wraps;
  assign better     = !best_valid_q || earlier || (equal && rank.turn < best_rank_q.turn);

  always_comb begin
    best_flushed = flush_i && flush_vm_i == best_q;
    for (int v = 0; v < int'(NumVms); v++) if (best_q == vm_t'(v)) best_flushed |= flushed_q[v];
  end

  // A VM that has been compared can be served until a change or its flush: only the VM that is
  // served uses its budget.
  assign chosen  = best_valid_q && to_compare == '0;
  assign restart = changed_i || (chosen && best_flushed);
  assign grant   = state_q == ArChoose && chosen && !restart;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q      <= '1;
      flushed_q    <= '0;
      best_valid_q <= 1'b0;
      best_q       <= '0;
      best_rank_q  <= '0;
      base_q       <= '0;
    end else begin
      if (restart || grant || (!best_valid_q && to_compare == '0))
        base_q <= {!now_i[31], now_i[30:16]};
      if (grant || eligible == '0) flushed_q <= '0;
      for (int v = 0; v < int'(NumVms); v++)
        if (flush_i && flush_vm_i == vm_t'(v)) flushed_q[v] <= 1'b1;
      if (restart || grant) begin
        fresh_q      <= '1;
        best_valid_q <= 1'b0;
      end else if (to_compare != '0) begin
        for (int v = 0; v < int'(NumVms); v++) if (candidate == vm_t'(v)) fresh_q[v] <= 1'b0;
        if (better) begin
          best_valid_q <= 1'b1;
          best_q       <= candidate;
          best_rank_q  <= rank;
        end
      end
    end
  end

  // ---- The chunk ----
  io_length_t left, size, bytes;
  assign left  = head_i.length - progress_i;
  assign size  = 16'd1 << size_i;
  // A read of the SPI face has four bytes, which one completion returns whatever the chunk size is.
  assign bytes = left < size || (head_i.face && left <= 16'd4) ? left : size;

  io_tag_t tag_q;
  io_length_t progress_q, done_bytes;
  assign done_bytes = progress_q + result_i.bytes;
  assign over       = result_i.status != IoDone || (!result_i.again && chunk_o.last);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= ArChoose;
      start_o     <= 1'b0;
      chunk_o     <= '0;
      last_q      <= '1;
      tag_q       <= '0;
      progress_q  <= '0;
      abandoned_q <= 1'b0;
      cycles_q    <= '0;
      completion_o <= '0;
    end else begin
      start_o <= grant;
      if (flush_i && state_q != ArChoose && flush_vm_i == chunk_o.vm) abandoned_q <= 1'b1;
      unique case (state_q)
        ArChoose: if (grant) begin
          state_q     <= ArRun;
          chunk_o     <= '{vm: best_q, op: head_i.op, bytes: bytes,
                           target: head_i.target + 32'(progress_i),
                           addr: head_i.addr + 41'(progress_i), first: progress_i == '0,
                           last: bytes == left, face: head_i.face};
          last_q      <= best_q;
          tag_q       <= head_i.tag;
          progress_q  <= progress_i;
          abandoned_q <= 1'b0;
          cycles_q    <= 32'(ChooseCycles);
        end
        ArRun: begin
          cycles_q <= cycles_q + 1'b1;
          if (done_i) state_q <= over ? ArComplete : ArChoose;
          completion_o <= '{vm: chunk_o.vm, tag: tag_q, status: result_i.status,
                            bytes: result_i.status == IoDone ? done_bytes : '0,
                            data: result_i.data};
        end
        default: begin  // ArComplete
          cycles_q <= cycles_q + 1'b1;
          if (complete_ready_i || abandoned_q) state_q <= ArChoose;
        end
      endcase
    end
  end

  assign others_o   = busy_o && eligible != '0;
  assign busy_o     = state_q != ArChoose;
  assign abort_o    = state_q == ArRun && timeout_i != '0 && cycles_q >= timeout_i;
  assign complete_o = state_q == ArComplete && !abandoned_q;

  assign update_o          = state_q == ArRun && done_i && !abandoned_q
                             && !(flush_i && flush_vm_i == chunk_o.vm);
  assign update_vm_o       = chunk_o.vm;
  assign update_remove_o   = over;
  assign update_progress_o = done_bytes;

  // A restart without a device that runs is the time of the VM that has flushed.
  assign leave           = state_q == ArRun ? done_i && !over : complete_ready_i || abandoned_q;
  assign charge_o        = state_q == ArChoose ? chosen && best_flushed : leave;
  assign charge_vm_o     = state_q == ArChoose ? best_q : chunk_o.vm;
  assign charge_cycles_o = state_q == ArChoose ? 32'(ChooseCycles) : cycles_q;

  logic unused;
  assign unused = &{1'b0, now_i[15:0]};

endmodule
