// SPDX-License-Identifier: Apache-2.0
// The PRR Monitor answers requests for regions. It keeps requests that cannot be served in the
// search list, sorted by priority and then by age, and retries the list whenever a region changes.
//
// Order of choice, best first: the region that the client has already; an idle region that holds
// the task; an idle region; a region of a client of lower priority. Of idle regions that are equal
// in this respect, one without a client precedes one that is still connected to its last client.
// Ties: the smallest region, then the client of lowest priority, then the lowest region number.
// Equal priority is never preempted.
//
// A client is in the list at most once, with the highest priority that it requested with.
//
// There is no overtaking: an entry is tried only after every entry before it was found unsolvable
// with the same state of the regions. The same holds for a new request, unless its priority is
// higher than that of every entry.
module prr_monitor
  import fabric_pkg::*;
#(
  /// VMs 0 .. NumVms - 1 may own regions; requests of others are answered "unavailable".
  parameter int unsigned NumVms = MaxVms,
  parameter int unsigned NumPrrs = 3,
  /// Entries of the search list. A request that does not fit is answered without `listed`.
  parameter int unsigned ListDepth = 16,
  localparam int unsigned CountBits = $clog2(ListDepth + 1)
) (
  input  logic      clk_i,
  /// Asynchronous, active low. After it the search list is empty and answered_o is low; a request,
  /// a cancellation or a requeued client that was in progress is lost.
  input  logic      rst_ni,
  /// The manager's request, a pulse; the answer is valid two cycles later and stays until the next
  /// request. No back-pressure: each request is decided, but of requests in consecutive cycles only
  /// the last one is answered.
  input  logic      request_i,
  input  client_t   request_client_i,
  /// Level: answer_o belongs to the last request. Low from the cycle after request_i.
  output logic      answered_o,
  output solution_t answer_o,
  /// The manager's cancellation of a waiting request, a pulse; never in the cycle of a request. The
  /// entry leaves the list two cycles later. A cancellation of a client that does not wait has no
  /// effect here.
  input  logic      cancel_i,
  input  vm_t       cancel_vm_i,
  input  dev_t      cancel_dev_i,
  /// Solutions for entries of the list: a pulse with each, only while found_ready_i is high. While
  /// it is low the list is not tried; requests are still answered.
  output logic      found_o,
  output solution_t found_solution_o,
  input  logic      found_ready_i,
  /// Pulse for each region: its client lost the region and waits again. All regions may report in
  /// the same cycle; the clients enter the list one a cycle, the lowest region first.
  input  logic    [NumPrrs-1:0] requeue_i,
  input  client_t [NumPrrs-1:0] requeue_client_i,
  /// Pulse: the list is full and a requeued client was dropped.
  output logic      overflow_o,
  // devices and regions
  /// The manager's table; a change has effect on the next trial, but does not start one.
  input  device_t [MaxDevs-1:0] devices_i,
  /// All regions. A change restarts the search at the first entry, in the cycle after it is
  /// registered.
  input  region_t [NumPrrs-1:0] regions_i,
  /// Pulse, combinational from the state of the regions: allocate this region to alloc_client_o,
  /// whose device needs alloc_task_o. At most one bit.
  output logic    [NumPrrs-1:0] alloc_o,
  output client_t   alloc_client_o,
  output task_t     alloc_task_o,
  // status for the manager
  /// Entries in the list, 0 .. ListDepth.
  output logic [CountBits-1:0] waiting_o
);

  // The list: entry 0 is served first.
  client_t [ListDepth-1:0] list_q;
  // Number of entries; the entry that is tried next, count_q when the list was searched.
  logic [CountBits-1:0] count_q, scan_q;
  logic scan_done;

  // Clients that lost their region, one for each region, until they are put into the list.
  logic    [NumPrrs-1:0] lost_q;
  client_t [NumPrrs-1:0] lost_client_q;

  logic request_q, cancel_q, changed, try_request, try_list, overtaking, found;
  vm_t cancel_vm_q;
  dev_t cancel_dev_q;
  client_t request_client_q, asking;
  region_t [NumPrrs-1:0] regions_q;
  device_t device;
  logic [NumPrrs-1:0] choice;
  solution_t solution;

  // A request or a cancellation (never both in one cycle) is registered; it is decided with the
  // state of the regions one cycle later.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_q        <= 1'b0;
      cancel_q         <= 1'b0;
      cancel_vm_q      <= '0;
      cancel_dev_q     <= '0;
      request_client_q <= '0;
      regions_q        <= '0;
    end else begin
      request_q <= request_i;
      cancel_q  <= cancel_i;
      if (cancel_i) begin
        cancel_vm_q  <= cancel_vm_i;
        cancel_dev_q <= cancel_dev_i;
      end
      if (request_i) request_client_q <= request_client_i;
      regions_q <= regions_i;
    end
  end

  // A trial in the cycle of a change would use a scan position that belongs to the state before, so
  // it waits for a cycle.
  assign changed     = regions_i != regions_q;
  // Every entry was found unsolvable with the present state of the regions.
  assign scan_done   = scan_q >= count_q && !changed;
  // The request would get a region before an entry that has not been tried with this state.
  assign overtaking  = count_q != '0 && !scan_done && request_client_q.prio <= list_q[0].prio;
  assign try_request = request_q;
  // One entry is tried in a cycle, and none in the cycle of a request, so a search of the whole
  // list takes at least count_q cycles. No entry is tried during a cancellation: the regions see a
  // cancellation now, the list one cycle later.
  assign try_list    = !request_q && !changed && scan_q < count_q && found_ready_i && lost_q == '0
                       && !cancel_q && !cancel_i;
  assign asking      = request_q ? request_client_q : list_q[scan_q[CountBits-1:0]];
  // Ignore requests from VM ids >= NumVms: they have no DMA windows, so no access could be
  // authorised.
  assign device      = 32'(asking.vm) < NumVms ? devices_i[asking.dev]
                       : '{task_id: TaskNone, size: '0, excluded: '0};

  prr_choice #(.NumPrrs(NumPrrs)) i_choice (
    .client_i(asking), .device_i(device), .regions_i, .choice_o(choice), .solution_o(solution)
  );

  assign found            = solution.method != MethodUnavailable;
  assign found_o          = try_list && found;
  assign found_solution_o = solution;
  // A client that has the region already, or the promise of it, gets the same answer but no
  // allocation.
  logic granted, mine;
  assign mine           = found && choice == '0;
  assign granted        = found && !mine && ((try_request && !overtaking) || try_list);
  assign alloc_o        = granted ? choice : '0;
  assign alloc_client_o = asking;
  assign alloc_task_o   = device.task_id;

  // At most one change of the list a cycle: insert a request or the first lost client, remove an
  // entry that was solved or cancelled.
  logic insert, rises, remove, is_listed, full, request_waits;
  client_t inserting;
  logic [CountBits-1:0] place;
  logic [ListDepth-1:0] same, ahead, cancelled, removing;
  logic [NumPrrs-1:0] lost_first, lost_cancelled;

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_lost
    assign lost_cancelled[p] = cancel_q && lost_client_q[p].vm == cancel_vm_q
                               && lost_client_q[p].dev == cancel_dev_q;
  end

  // The lowest set bit.
  assign lost_first    = lost_q & (~lost_q + NumPrrs'(1));
  assign full          = count_q == CountBits'(ListDepth);
  // A device without a task can never be served, so its request is not listed.
  assign request_waits = try_request && (!found || (overtaking && !mine))
                         && device.task_id != TaskNone;

  always_comb begin
    inserting = request_client_q;
    if (!request_q) begin
      for (int p = 0; p < int'(NumPrrs); p++) begin
        if (lost_first[p]) inserting = lost_client_q[p];
      end
    end
  end

  for (genvar e = 0; e < int'(ListDepth); e++) begin : gen_entry
    logic used;
    assign used         = CountBits'(e) < count_q;
    assign same[e]      = used && list_q[e].vm == inserting.vm && list_q[e].dev == inserting.dev;
    assign ahead[e]     = used && list_q[e].prio >= inserting.prio;
    assign cancelled[e] = used && cancel_q && list_q[e].vm == cancel_vm_q
                          && list_q[e].dev == cancel_dev_q;
    // A client that is served at once because its new priority is higher leaves the list.
    assign removing[e]  = cancelled[e] || (found_o && CountBits'(e) == scan_q)
                          || (try_request && granted && same[e]);
  end

  assign is_listed  = |same;
  assign remove     = |removing;
  assign insert     = (request_waits || (!request_q && lost_q != '0)) && !is_listed && !full
                      && !cancel_q;
  // A waiting client that requests again with a higher priority moves up.
  assign rises      = request_waits && (same & ~ahead) != '0 && !cancel_q;
  assign overflow_o = !request_q && lost_q != '0 && !is_listed && full && !cancel_q;

  always_comb begin
    // The place of the new entry: after all entries of the same or a higher priority.
    place = '0;
    for (int e = 0; e < int'(ListDepth); e++) place = place + CountBits'(ahead[e]);
  end

  for (genvar e = 0; e < int'(ListDepth); e++) begin : gen_list
    logic from_here;  // this entry or an earlier one leaves
    // this entry moves one place down; when a client moves up, not beyond its old place
    logic moves;
    assign from_here = |(removing & ListDepth'((2 ** (e + 1)) - 1));
    assign moves = CountBits'(e) >= place && (insert
                                              || (rises
                                                  && (same & ListDepth'((2 ** e) - 1)) == '0));
    client_t previous, following;
    if (e == 0) begin : gen_first
      assign previous = inserting;
    end else begin : gen_later
      assign previous = place == CountBits'(e) ? inserting : list_q[e-1];
    end
    if (e == int'(ListDepth) - 1) begin : gen_last
      assign following = '0;
    end else begin : gen_inner
      assign following = list_q[e+1];
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) list_q[e] <= '0;
      else if (moves) list_q[e] <= previous;
      else if (!insert && remove && from_here) list_q[e] <= following;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q       <= '0;
      scan_q        <= '0;
      lost_q        <= '0;
      lost_client_q <= '0;
    end else begin
      count_q <= count_q + CountBits'(insert) - CountBits'(remove);
      // Whatever changes regions or list restarts the search.
      if (changed || insert || rises || remove || granted) scan_q <= '0;
      else if (try_list) scan_q <= scan_q + 1'b1;
      for (int p = 0; p < int'(NumPrrs); p++) begin
        if (requeue_i[p]) begin
          lost_q[p]        <= 1'b1;
          lost_client_q[p] <= requeue_client_i[p];
        end else if (lost_cancelled[p] || (!request_q && !cancel_q && lost_first[p]))
          lost_q[p] <= 1'b0;
      end
    end
  end

  // The registered answer.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answered_o <= 1'b0;
      answer_o   <= '0;
    end else if (request_i) begin
      answered_o <= 1'b0;
    end else if (request_q) begin
      answered_o <= 1'b1;
      answer_o   <= solution;
      if (!mine && !granted) begin
        answer_o        <= '0;
        answer_o.client <= request_client_q;
        answer_o.listed <= request_waits && (insert || is_listed);
      end
    end
  end

  assign waiting_o = count_q;

endmodule
