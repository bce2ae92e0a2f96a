// SPDX-License-Identifier: Apache-2.0
// Proves the monitor with two regions and a list of four, for all regions and requests: every
// request is answered within two cycles with a region, a place in the list or a refusal; only a
// client of higher priority preempts; no client is allocated two regions; no client gets a region
// that a waiting client of higher priority could use; no client keeps waiting while a usable region
// exists; and a client that cancelled gets no region.
module prr_monitor_props
  import fabric_pkg::*;
#(
  localparam int unsigned NumPrrs = 2,
  localparam int unsigned ListDepth = 4
) (
  input logic clk_i,
  input logic request_i, cancel_i, found_ready_i,
  input client_t request_client_i,
  input vm_t cancel_vm_i,
  input dev_t cancel_dev_i,
  input logic [NumPrrs-1:0] requeue_i,
  input client_t [NumPrrs-1:0] requeue_client_i,
  input device_t device_i,
  input region_t [NumPrrs-1:0] regions_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  logic cancels, past = 1'b0;
  assign cancels = cancel_i && !request_i && rst_n;
  always_ff @(posedge clk_i) past <= rst_n;

  // One device for all: only the client and the priority matter.
  device_t [MaxDevs-1:0] devices;
  device_t device_q;
  always_ff @(posedge clk_i) if (!rst_n) device_q <= device_i;
  assign devices = {MaxDevs{device_q}};

  logic answered, found, overflow;
  solution_t answer, found_solution;
  logic [NumPrrs-1:0] alloc;
  client_t alloc_client;
  task_t alloc_task;
  logic [2:0] waiting;

  prr_monitor #(.NumPrrs(NumPrrs), .ListDepth(ListDepth)) dut (
    .clk_i, .rst_ni(rst_n), .request_i(request_i && rst_n), .request_client_i,
    .answered_o(answered), .answer_o(answer), .cancel_i(cancels), .cancel_vm_i, .cancel_dev_i,
    .found_o(found), .found_solution_o(found_solution), .found_ready_i,
    .requeue_i(rst_n ? requeue_i : '0), .requeue_client_i, .overflow_o(overflow),
    .devices_i(devices), .regions_i, .alloc_o(alloc), .alloc_client_o(alloc_client),
    .alloc_task_o(alloc_task), .waiting_o(waiting)
  );

  // An invariant of the state machines and the monitor together: no client has, or was promised,
  // two regions.
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_owner
    for (genvar o = 0; o < int'(NumPrrs); o++) begin : gen_other
      always_comb begin
        assume (regions_i[p].state <= StHold);
        if (regions_i[p].next_valid) assume (regions_i[p].state inside {StPreempt, StSwitch});
        if (o != p && regions_i[p].client_valid) begin
          if (regions_i[o].client_valid)
            assume (regions_i[p].client >> 4 != regions_i[o].client >> 4);
          if (regions_i[o].next_valid) assume (regions_i[p].client >> 4 != regions_i[o].next >> 4);
        end
      end
    end
  end

  // An arbitrary entry of the list, chosen by the solver, and the policy's solution for it with the
  // regions of the previous cycle.
  (* keep *) logic [1:0] any_entry;
  always_ff @(posedge clk_i) any_entry <= any_entry;
  logic [NumPrrs-1:0] any_choice;
  solution_t any_solution;
  prr_choice #(.NumPrrs(NumPrrs)) i_any (
    .client_i(dut.list_q[any_entry]), .device_i(device_q), .regions_i(dut.regions_q),
    .choice_o(any_choice), .solution_o(any_solution)
  );

  // The number of cycles in which nothing happened except the scan of the list.
  logic [2:0] calm;
  always_ff @(posedge clk_i) begin
    if (!rst_n || dut.changed || dut.request_q || dut.cancel_q || cancels || dut.lost_q != '0
        || !found_ready_i || found) calm <= '0;
    else if (calm != 3'd7) calm <= calm + 3'd1;
  end

  // Requests of the last two cycles.
  logic ago1 = 1'b0, ago2 = 1'b0;
  logic [2:0] waiting_q;
  client_t client1, client2;
  always_ff @(posedge clk_i) begin
    ago1      <= request_i && rst_n;
    ago2      <= ago1 && rst_n;
    client1   <= request_client_i;
    client2   <= client1;
    waiting_q <= waiting;
  end

  // Entries of the client that requested two cycles ago, with at least the priority of that
  // request.
  logic [ListDepth-1:0] listed;
  for (genvar e = 0; e < int'(ListDepth); e++) begin : gen_listed
    assign listed[e] = 3'(e) < waiting && dut.list_q[e].vm == client2.vm
                       && dut.list_q[e].dev == client2.dev && dut.list_q[e].prio >= client2.prio;
  end

  // The client that cancelled last, as long as it has not requested or lost a region since.
  logic gone = 1'b0;
  vm_t gone_vm;
  dev_t gone_dev;
  logic [NumPrrs-1:0] lost_again;
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_again
    assign lost_again[p] = requeue_i[p] && requeue_client_i[p].vm == gone_vm
                           && requeue_client_i[p].dev == gone_dev;
  end
  always_ff @(posedge clk_i) begin
    if (cancels) {gone, gone_vm, gone_dev} <= {1'b1, cancel_vm_i, cancel_dev_i};
    else if (!rst_n || lost_again != '0
             || (request_i && request_client_i.vm == gone_vm
                 && request_client_i.dev == gone_dev)) gone <= 1'b0;
  end

  // Idle regions with a last client other than the one that is allocated a region.
  logic [NumPrrs-1:0] others, usable;
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_others
    assign others[p] = regions_i[p].state == StIdle && regions_i[p].client_valid
                       && regions_i[p].client >> 4 != alloc_client >> 4;
    assign usable[p] = regions_i[p].size >= device_q.size && !device_q.excluded[p];
  end

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_region
    always_ff @(posedge clk_i) begin
      if (rst_n && alloc[p]) begin
        // Only a region that is idle, or has a client of strictly lower priority, or was the
        // client's own.
        assert (regions_i[p].state inside {StIdle, StBusy, StHold});
        if (regions_i[p].state != StIdle) assert (regions_i[p].client.prio < alloc_client.prio);
        // Large enough and not excluded, unless the region is the client's own and has the task
        // already.
        if (regions_i[p].state != StIdle) assert (usable[p]);
        assert (alloc_task != TaskNone && alloc_task == device_q.task_id);
        // No busy region is preempted while another usable region is idle.
        for (int o = 0; o < int'(NumPrrs); o++) begin
          if (regions_i[p].state != StIdle) assert (!(regions_i[o].state == StIdle && usable[o]));
          // No last client of an idle region loses it while another usable idle region has no
          // client, unless only the client's region holds the task.
          if (others[p] && regions_i[o].state == StIdle && !regions_i[o].client_valid && usable[o])
            assert (regions_i[p].task_id == device_q.task_id
                    && regions_i[o].task_id != device_q.task_id);
          // Of the idle regions that are equal otherwise, the one whose client has the lowest
          // priority.
          if (others[p] && others[o] && usable[o] && regions_i[o].size == regions_i[p].size
              && (regions_i[o].task_id == device_q.task_id)
                  == (regions_i[p].task_id == device_q.task_id))
            assert (regions_i[p].client.prio <= regions_i[o].client.prio);
          // No client has two regions.
          if (o != p)
            assert (!(regions_i[o].client_valid && regions_i[o].client.vm == alloc_client.vm
              && regions_i[o].client.dev == alloc_client.dev && regions_i[o].state != StIdle));
          assert (!(regions_i[o].next_valid && regions_i[o].next.vm == alloc_client.vm
              && regions_i[o].next.dev == alloc_client.dev));
        end
      end
    end
  end

  for (genvar e = 0; e < int'(ListDepth); e++) begin : gen_entry
    always_ff @(posedge clk_i) begin
      if (rst_n && 3'(e) < waiting) begin
        // The list is sorted, and contains no client twice.
        if (e > 0) assert (dut.list_q[e-1].prio >= dut.list_q[e].prio);
        for (int o = 0; o < e; o++) begin
          assert (!(dut.list_q[o].vm == dut.list_q[e].vm
                    && dut.list_q[o].dev == dut.list_q[e].dev));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      assert (waiting <= 3'(ListDepth));
      assert (alloc == '0 || (alloc & (alloc - 1'b1)) == '0);
      // The list changes by at most one entry.
      if (ago2) assert (waiting <= waiting_q + 3'd1 && waiting + 3'd1 >= waiting_q);
      // Every request is answered after two cycles, for the client that requested.
      if (ago2 && !ago1) begin
        assert (answered && answer.client == client2);
        // The answer is a region, a place in the list, or a refusal; a refusal only when the list
        // is full or there is no such device.
        if (answer.method == MethodUnavailable && !answer.listed)
          assert (waiting_q == 3'(ListDepth) || device_q.task_id == TaskNone);
      end
      // A client that is reported as listed is in the list, with at least the priority that it
      // requested with.
      if (ago2 && !ago1 && answered && answer.listed) assert (listed != '0);
      // A client that cancelled gets no region, not even in the cycle of the cancellation.
      if (gone) assert (alloc == '0 || alloc_client.vm != gone_vm || alloc_client.dev != gone_dev);
      if (cancels && !dut.request_q)
        assert (alloc == '0 || alloc_client.vm != cancel_vm_i || alloc_client.dev != cancel_dev_i);
      // Invariant for the induction: the monitor's own record of a cancellation is at most one
      // cycle old.
      if (dut.cancel_q)
        assert (gone && dut.cancel_vm_q == gone_vm && dut.cancel_dev_q == gone_dev
                && !dut.request_q);
      if (gone && !dut.cancel_q) begin
        assert (!dut.request_q || dut.request_client_q.vm != gone_vm
                || dut.request_client_q.dev != gone_dev);
        for (int e = 0; e < int'(ListDepth); e++) begin
          if (3'(e) < waiting)
            assert (dut.list_q[e].vm != gone_vm || dut.list_q[e].dev != gone_dev);
        end
        for (int p = 0; p < int'(NumPrrs); p++) begin
          if (dut.lost_q[p])
            assert (dut.lost_client_q[p].vm != gone_vm || dut.lost_client_q[p].dev != gone_dev);
        end
      end
      // Solutions from the list are in order of priority: every earlier entry was tried with the
      // same regions.
      if (found) assert (!dut.changed && dut.scan_q < dut.count_q);
      // No overtaking: the scanned entries have no solution. And every entry is scanned, one a
      // cycle: after as many cycles as there are entries, no client waits while there is a region
      // for it.
      if (3'(any_entry) < waiting && 3'(any_entry) < dut.scan_q && past)
        assert (any_solution.method == MethodUnavailable);
      assert (dut.scan_q <= waiting);
      if (past) assert (dut.scan_q >= waiting || dut.scan_q >= calm);
      // A request takes no region that a waiting client of at least the same priority could get.
      if (dut.request_q && alloc != '0)
        assert (dut.count_q == '0 || dut.scan_done || alloc_client.prio > dut.list_q[0].prio
          || (dut.solution.method == MethodAssign && regions_i[dut.solution.prr[0]].client_valid
              && regions_i[dut.solution.prr[0]].client.vm == alloc_client.vm));
    end
    cover (rst_n && found && waiting == 3'd3);
    cover (rst_n && (alloc & others) != '0 && regions_i[0].state == StIdle
           && regions_i[1].state == StIdle);
    cover (rst_n && dut.rises && waiting == 3'd3);
    cover (rst_n && calm == 3'd5 && waiting == 3'd4);
    cover (rst_n && gone && dut.cancel_q && dut.remove);
    cover (rst_n && alloc != '0 && dut.request_q && waiting == 3'd2);
  end
endmodule
