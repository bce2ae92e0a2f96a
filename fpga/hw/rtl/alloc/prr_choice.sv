// SPDX-License-Identifier: Apache-2.0
// Selects a region for a client: each region gets a score, and the lowest score wins. The header of
// prr_monitor, which owns the only instance, gives the order. Combinational: the answer belongs to
// the state of the regions in the same cycle.
module prr_choice
  import fabric_pkg::*;
#(
  parameter int unsigned NumPrrs = 3
) (
  /// The client that requests, and its device as configured: TaskNone selects no region.
  input  client_t   client_i,
  input  device_t   device_i,
  /// All regions, as their state machines register them.
  input  region_t [NumPrrs-1:0] regions_i,
  /// The region to allocate, at most one bit; none if no region can be had, or if the client has
  /// one already whose allocation must not be repeated.
  output logic    [NumPrrs-1:0] choice_o,
  /// The answer for the manager: with MethodUnavailable all fields are 0 except the client.
  /// `listed` is 0; prr_monitor sets it.
  output solution_t solution_o
);

  // Ranks of regions, best first. A free region has no client; the last client of another idle
  // region would pay a trap, and often a reconfiguration, to get a region again.
  typedef enum logic [2:0] {
    RankMine = 3'd0, RankFitsFree = 3'd1, RankFits = 3'd2, RankFree = 3'd3, RankIdle = 3'd4,
               RankPreempt = 3'd5,
    RankNone = 3'd6
  } rank_e;
  // Compared as one number, the most significant field first: a better rank, then the smaller
  // region, then the client of lower priority, then the lower region number, which makes all scores
  // differ.
  typedef struct packed {
    rank_e       rank;
    size_class_t size;
    prio_t       prio;
    prr_t        prr;
  } score_t;

  score_t [NumPrrs-1:0] scores;
  score_t best;
  // The region with the best score, whatever its rank.
  region_t chosen;

  function automatic logic [7:0] interface_of(client_t client);
    return 8'(client >> $bits(prio_t));  // its VM and device
  endfunction

  function automatic logic owned(logic valid, logic [7:0] owner, client_t client);
    return valid && owner == interface_of(client);
  endfunction

  // A client whose job is being preempted or moved gets no region until that ends; otherwise it
  // would have two.
  logic [NumPrrs-1:0] moving;
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_moving
    assign moving[p] = owned(regions_i[p].client_valid, interface_of(regions_i[p].client), client_i)
                       && regions_i[p].state inside {StPreempt, StSwitch};
  end

  // The rank of an idle region; `free`: no other client would lose it.
  function automatic rank_e ranked_idle(logic free, logic held);
    if (held) return free ? RankFitsFree : RankFits;
    return free ? RankFree : RankIdle;
  endfunction

  // The rank of one region for the client. What the client already has or was promised precedes the
  // checks of size and exclusion, which were made when it was allocated.
  function automatic rank_e ranked(region_t region, prr_t prr, client_t client, device_t device);
    logic held = region.task_id == device.task_id;
    if (owned(region.next_valid, interface_of(region.next), client)) return RankMine;
    if (owned(region.client_valid, interface_of(region.client), client)
        && (region.state inside {StHold, StBusy, StReconfig}
            || (region.state == StIdle && held))) return RankMine;
    // Too small, or excluded by the manager for this device.
    if (region.size < device.size || device.excluded[prr]) return RankNone;
    if (region.state == StIdle)
      return ranked_idle(!region.client_valid || owned(1'b1, interface_of(region.client), client),
                         held);
    if (region.state inside {StBusy, StHold} && region.client.prio < client.prio)
      return RankPreempt;
    return RankNone;
  endfunction

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_score
    always_comb begin
      scores[p].rank = device_i.task_id == TaskNone || moving != '0
                       ? RankNone : ranked(regions_i[p], prr_t'(p), client_i, device_i);
      scores[p].size = regions_i[p].size;
      // The priority of the client that would lose the region; 0 where no client does.
      scores[p].prio = scores[p].rank inside {RankFits, RankIdle, RankPreempt}
                       ? regions_i[p].client.prio : '0;
      scores[p].prr  = prr_t'(p);
    end
  end

  always_comb begin
    // The minimum over all regions, one comparator after the other; NumPrrs is at most 8.
    best = scores[0];
    for (int p = 1; p < int'(NumPrrs); p++) begin
      if (scores[p] < best) best = scores[p];
    end
  end

  always_comb begin
    chosen   = '0;
    choice_o = '0;
    for (int p = 0; p < int'(NumPrrs); p++) begin
      if (best.prr == prr_t'(p)) begin
        chosen      = regions_i[p];
        // The client's own idle region is allocated again, so that no other client can get it.
        choice_o[p] = !(best.rank inside {RankMine, RankNone})
                      || (best.rank == RankMine && regions_i[p].state == StIdle);
      end
    end
  end

  always_comb begin
    // `evicted` names the client of the chosen region, which loses it unless it is the requester.
    solution_o               = '0;
    solution_o.client        = client_i;
    solution_o.prr           = best.prr;
    solution_o.evicted_vm    = chosen.client.vm;
    solution_o.evicted_dev   = chosen.client.dev;
    solution_o.evicted_valid = chosen.client_valid && best.rank != RankMine;
    solution_o.reconfig      = chosen.task_id != device_i.task_id;
    unique case (best.rank)
      // A client that was promised the region gets the same answer as then.
      RankMine: solution_o.method = chosen.next_valid ? MethodPreempt : MethodAssign;
      RankFitsFree, RankFits, RankFree, RankIdle: solution_o.method = MethodAssign;
      // A region in Hold has no job: it changes its client at once.
      RankPreempt: solution_o.method = chosen.state == StBusy ? MethodPreempt : MethodAssign;
      default: begin
        solution_o        = '0;
        solution_o.client = client_i;
      end
    endcase
  end

  logic unused;
  assign unused = &{1'b0, chosen.size, chosen.client.prio, chosen.next};

endmodule
