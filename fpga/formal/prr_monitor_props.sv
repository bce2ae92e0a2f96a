// SPDX-License-Identifier: Apache-2.0
// What is proven of the monitor, with two regions and a list of four, whatever regions and requests are:
// every request is answered within two cycles, and an answer is a region or a place in the list or says that there is
// none; nobody is preempted but by higher priority; no client is given two regions; nobody is given a region while
// somebody more urgent waits for whom it would do.
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

  // One device for all: what matters is who asks, and how urgently.
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
    .clk_i, .rst_ni(rst_n), .request_i(request_i && rst_n), .request_client_i, .answered_o(answered), .answer_o(answer),
    .cancel_i(cancel_i && !request_i && rst_n), .cancel_vm_i, .cancel_dev_i, .found_o(found),
    .found_solution_o(found_solution), .found_ready_i, .requeue_i(rst_n ? requeue_i : '0), .requeue_client_i,
    .overflow_o(overflow), .devices_i(devices), .regions_i, .alloc_o(alloc), .alloc_client_o(alloc_client),
    .alloc_task_o(alloc_task), .waiting_o(waiting)
  );

  // What the regions' state machines and the monitor keep together: nobody has, or was promised, two regions.
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_owner
    for (genvar o = 0; o < int'(NumPrrs); o++) begin : gen_other
      always_comb begin
        assume (regions_i[p].state <= StHold);
        if (regions_i[p].next_valid) assume (regions_i[p].state inside {StPreempt, StSwitch});
        if (o != p && regions_i[p].client_valid) begin
          if (regions_i[o].client_valid) assume (regions_i[p].client >> 4 != regions_i[o].client >> 4);
          if (regions_i[o].next_valid) assume (regions_i[p].client >> 4 != regions_i[o].next >> 4);
        end
      end
    end
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

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_region
    always_ff @(posedge clk_i) begin
      if (rst_n && alloc[p]) begin
        // Only what is idle, or has a client of strictly lower priority, or was the client's own.
        assert (regions_i[p].state inside {StIdle, StBusy, StHold});
        if (regions_i[p].state != StIdle) assert (regions_i[p].client.prio < alloc_client.prio);
        // Large enough, unless it has the task already and is its own.
        if (regions_i[p].state != StIdle) assert (regions_i[p].size >= device_q.size);
        assert (alloc_task != TaskNone && alloc_task == device_q.task_id);
        // Nobody busy is sent away while another region that would do is idle.
        for (int o = 0; o < int'(NumPrrs); o++) begin
          if (regions_i[p].state != StIdle) assert (!(regions_i[o].state == StIdle && regions_i[o].size >= device_q.size));
          // No client has two.
          if (o != p) assert (!(regions_i[o].client_valid && regions_i[o].client.vm == alloc_client.vm
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
        // The list is sorted, and nobody is in it twice.
        if (e > 0) assert (dut.list_q[e-1].prio >= dut.list_q[e].prio);
        for (int o = 0; o < e; o++) begin
          assert (!(dut.list_q[o].vm == dut.list_q[e].vm && dut.list_q[o].dev == dut.list_q[e].dev));
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (rst_n) begin
      assert (waiting <= 3'(ListDepth));
      assert (alloc == '0 || (alloc & (alloc - 1'b1)) == '0);
      // The list changes by one at most.
      if (ago2) assert (waiting <= waiting_q + 3'd1 && waiting + 3'd1 >= waiting_q);
      // Every request is answered after two cycles, to whom it came from.
      if (ago2 && !ago1) begin
        assert (answered && answer.client == client2);
        // A region, a place in the list, or no: and no only when the list is full or there is no such device.
        if (answer.method == MethodUnavailable && !answer.listed)
          assert (waiting_q == 3'(ListDepth) || device_q.task_id == TaskNone);
      end
      // What comes out of the list goes by priority: whatever is given to an entry of it, all before it were tried with
      // the very same regions.
      if (found) assert (!dut.changed && dut.scan_q < dut.count_q);
      // A request takes nothing that somebody at least as urgent may be waiting for.
      if (dut.request_q && alloc != '0) assert (dut.count_q == '0 || dut.scan_done || alloc_client.prio > dut.list_q[0].prio
          || (dut.solution.method == MethodAssign && regions_i[dut.solution.prr[0]].client_valid
              && regions_i[dut.solution.prr[0]].client.vm == alloc_client.vm));
    end
    cover (rst_n && found && waiting == 3'd3);
    cover (rst_n && alloc != '0 && dut.request_q && waiting == 3'd2);
  end
endmodule
