// SPDX-License-Identifier: Apache-2.0
// The chip-independent part of the fabric, for a board's top or a simulation's (fabric_sim). It
// connects its blocks; it also delays accesses after a reset, selects the fault that is reported,
// and arbitrates guard and memory with PULP's arbiters. Regions and ICAP are outside.
// All ports are synchronous to clk_i.
`include "axi/typedef.svh"
module fabric_top
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import region_pkg::*;
#(
  /// Number of VMs, 1..16.
  parameter int unsigned NumVms = 4,
  /// Number of devices for each VM, 1..16.
  parameter int unsigned NumDevs = 4,
  /// Number of regions, 1..8.
  parameter int unsigned NumPrrs = 3,
  /// Entries of each sorter, 2..256.
  parameter int unsigned SorterDepth = 64,
  /// Number of sorters, 1..32.
  parameter int unsigned NumSorters = 2,
  /// Entries of the search list, 1..32.
  parameter int unsigned ListDepth = NumVms * NumDevs < MaxListDepth ? NumVms * NumDevs
                                     : MaxListDepth,
  /// Size class of each region, two bits each, region 0 in the lowest bits.
  /// The default: region 0 has class 0, region 1 class 1, all others class 2.
  parameter logic [2*MaxPrrs-1:0] PrrSizes = 16'b10_10_10_10_10_10_01_00
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the fabric leaves reset at the second edge of clk_i after its
  /// release. Until then all valid signals to memory and to the ICAP, all interrupts and
  /// region_rst_no are low, and no access is accepted. The memory of the IF pages keeps its words.
  input  logic       rst_ni,
  /// AXI4 subordinate: the 2 MiB register space of docs/fabric.md, addressed by bits 20:0. One
  /// transaction at a time; a beat takes a cycle, an answer follows in the next. Accesses during
  /// and just after a reset wait and are not lost.
  input  sub_req_t   sub_req_i,
  output sub_resp_t  sub_resp_o,
  /// AXI4 manager: the DMA of all regions and the reads of bitstreams, at host-physical addresses.
  /// Bursts of 1..16 beats of 64 bits, INCR, never across a page of 4 KiB. R and B are always
  /// accepted, and all write data of a burst are present when its address is valid, so the memory
  /// system never waits for a task.
  output mgr_req_t   mgr_req_o,
  input  mgr_resp_t  mgr_resp_i,
  /// Level: an enabled bit of IRQ_STATUS is set. To the hypervisor only.
  output logic       irq_manager_o,
  /// Level, one bit for each VM: a job of one of its IFs is over or failed, with the enable of that
  /// outcome set and the IF not masked. It falls when the VM clears OVER.
  output logic [NumVms-1:0] irq_vm_o,
  /// Reset of the task, active low: low from the fabric's reset until the region is configured and
  /// whenever it is decoupled, and for three cycles after a save, a failure, or the end of a job
  /// that was being preempted.
  output logic        [NumPrrs-1:0] region_rst_no,
  /// To and from the regions, with a register on each path (region_gate); the handshake is that of
  /// region_pkg. Whatever a decoupled region drives on region_rsp_i is ignored.
  output region_req_t [NumPrrs-1:0] region_req_o,
  input  region_rsp_t [NumPrrs-1:0] region_rsp_i,
  // the ICAP
  /// Words of a bitstream; a word moves when valid and ready. cfg_valid_o does not wait for ready,
  /// and falls between words while memory is slow.
  output logic       cfg_valid_o,
  output logic [31:0] cfg_data_o,
  input  logic       cfg_ready_i,
  /// High for a cycle: the device found an error in the bitstream; the transfer ends as failed.
  input  logic       cfg_error_i,
  /// Discard an incomplete bitstream: a pulse after a failure, if words were sent, and high during
  /// the reset and in the first cycle after it.
  output logic       cfg_abort_o
);

  // ---- Reset ----
  logic rst_n;
  fabric_reset_sync i_reset (
    .clk_i,
    .rst_ni,
    .rst_no(rst_n)
  );

  // A bus manager may start as soon as rst_ni is released, before the fabric leaves reset: until
  // then nothing is accepted.
  logic accept_q;
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) accept_q <= 1'b0;
    else accept_q <= 1'b1;
  end

  // Masking ready as well as valid: neither side sees a handshake that the other does not.
  sub_req_t  bus_req;
  sub_resp_t bus_resp;
  always_comb begin
    bus_req             = sub_req_i;
    bus_req.aw_valid    = sub_req_i.aw_valid && accept_q;
    bus_req.w_valid     = sub_req_i.w_valid && accept_q;
    bus_req.ar_valid    = sub_req_i.ar_valid && accept_q;
    sub_resp_o          = bus_resp;
    sub_resp_o.aw_ready = bus_resp.aw_ready && accept_q;
    sub_resp_o.w_ready  = bus_resp.w_ready && accept_q;
    sub_resp_o.ar_ready = bus_resp.ar_ready && accept_q;
  end

  // ---- Bus ----
  logic [7:0] bus_write, mem_write;
  word_t bus_data, regs_data, windows_data, mem_data, mem_wdata;
  logic [10:0] offset;
  logic regs_access, regs_error, windows_access, mem_access, set_start, clear_over, set_int,
      over_flag;
  logic sort_regs, sort_puts;
  logic [18:0] sort_addr;
  word_t sort_data;
  if_addr_t mem_addr;
  logic [31:0] stat;
  logic [1:0] int_flags;

  fabric_bus #(.NumVms(NumVms), .NumDevs(NumDevs), .NumSorters(NumSorters)) i_bus (
    .clk_i,
    .rst_ni(rst_n),
    .axi_req_i(bus_req),
    .axi_resp_o(bus_resp),
    .write_o(bus_write),
    .data_o(bus_data),
    .offset_o(offset),
    .regs_o(regs_access),
    .windows_o(windows_access),
    .sort_regs_o(sort_regs),
    .sort_puts_o(sort_puts),
    .sort_addr_o(sort_addr),
    .mem_o(mem_access),
    .mem_addr_o(mem_addr),
    .mem_write_o(mem_write),
    .mem_data_o(mem_wdata),
    .set_start_o(set_start),
    .clear_over_o(clear_over),
    .set_int_o(set_int),
    .regs_data_i(regs_data),
    .regs_error_i(regs_error),
    .windows_data_i(windows_data),
    .mem_data_i(mem_data),
    .sort_data_i(sort_data),
    .stat_i(stat),
    .over_i(over_flag),
    .int_i(int_flags)
  );

  // ---- Region state ----
  // One element for each region, driven by its prr_slot.
  region_t    [NumPrrs-1:0] regions;
  prr_state_e [NumPrrs-1:0] state;
  client_t    [NumPrrs-1:0] client, requeue_client;
  task_t      [NumPrrs-1:0] target;
  fault_e     [NumPrrs-1:0] fault_why, failed_why;
  logic       [NumPrrs-1:0] client_valid, alloc, cancel, connect, stop_cmd, cfg_done, cfg_fail,
      coupled, connected, stays, drop;
  logic       [NumPrrs-1:0] requeue, stopped, expired, fault, failed, running, start_taken, over,
      saved, restored;
  logic       [NumPrrs-1:0] start_pending, ctx_saved, quiet;

  // ---- Manager page, monitor ----
  // Commands of the manager page, each a pulse with its operands valid in the same cycle.
  logic request, answered, cancel_cmd, found, found_ready, found_valid, found_pop, overflow,
      connect_on;
  client_t request_client, alloc_client;
  task_t alloc_task;
  solution_t answer, found_solution, first_solution;
  logic if_reset, if_mask, if_masked;
  vm_t cancel_vm, connect_vm, if_reset_vm, if_mask_vm;
  dev_t cancel_dev, connect_dev, if_reset_dev, if_mask_dev;
  device_t [MaxDevs-1:0] devices;
  logic [31:0] hold_cycles, stop_cycles, icap_length, icap_cycles, icap_words;
  logic [$clog2(ListDepth+1)-1:0] waiting;
  logic icap_start, icap_verify, icap_busy, icap_over;
  prr_t icap_prr, icap_prr_now;
  logic [63:0] icap_addr;
  logic [3:0] icap_error;
  task_t icap_task;
  logic sort_cmd, sort_busy, sort_head_valid;
  logic [1:0] sort_op, sort_status;
  logic [8:0] sort_count;
  sort_key_t sort_key, sort_head_key;
  sort_value_t sort_value, sort_head_value;
  logic violation, fault_write;
  logic [63:0] fault_addr;
  client_t fault_client;
  prr_t fault_prr;
  fault_e fault_reason;

  fabric_manager #(
    .NumVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs), .ListDepth(ListDepth),
    .SorterDepth(SorterDepth), .NumSorters(NumSorters)
  ) i_manager (
    .clk_i,
    .rst_ni(rst_n),
    .access_i(regs_access),
    .write_i(bus_write),
    .offset_i(offset[9:0]),
    .data_i(bus_data),
    .data_o(regs_data),
    .error_o(regs_error),
    .request_o(request),
    .request_client_o(request_client),
    .answered_i(answered),
    .answer_i(answer),
    .cancel_o(cancel_cmd),
    .cancel_vm_o(cancel_vm),
    .cancel_dev_o(cancel_dev),
    .if_reset_o(if_reset),
    .if_reset_vm_o(if_reset_vm),
    .if_reset_dev_o(if_reset_dev),
    .if_mask_o(if_mask),
    .if_mask_vm_o(if_mask_vm),
    .if_mask_dev_o(if_mask_dev),
    .if_masked_o(if_masked),
    .found_i(found_valid),
    .found_solution_i(first_solution),
    .found_pop_o(found_pop),
    .waiting_i(9'(waiting)),
    .devices_o(devices),
    .hold_cycles_o(hold_cycles),
    .stop_cycles_o(stop_cycles),
    .connect_o(connect),
    .connect_on_o(connect_on),
    .connect_vm_o(connect_vm),
    .connect_dev_o(connect_dev),
    .stop_o(stop_cmd),
    .regions_i(regions),
    .target_i(target),
    .coupled_i(coupled),
    .connected_i(connected),
    .quiet_i(quiet),
    .icap_start_o(icap_start),
    .icap_verify_o(icap_verify),
    .icap_prr_o(icap_prr),
    .icap_addr_o(icap_addr),
    .icap_length_o(icap_length),
    .icap_busy_i(icap_busy),
    .icap_prr_i(icap_prr_now),
    .icap_error_i(icap_error),
    .icap_task_i(icap_task),
    .icap_done_i(cfg_done),
    .icap_cycles_i(icap_cycles),
    .icap_words_i(icap_words),
    .sort_o(sort_cmd),
    .sort_op_o(sort_op),
    .sort_key_o(sort_key),
    .sort_value_o(sort_value),
    .sort_status_i(sort_status),
    .sort_busy_i(sort_busy),
    .sort_count_i(sort_count),
    .sort_head_valid_i(sort_head_valid),
    .sort_head_key_i(sort_head_key),
    .sort_head_value_i(sort_head_value),
    .event_over_i(icap_over),
    .event_stopped_i(|stopped),
    .event_violation_i(violation),
    .event_fault_i(|fault),
    .event_expired_i(|expired),
    .event_overflow_i(overflow),
    .fault_addr_i(fault_addr),
    .fault_write_i(fault_write),
    .fault_client_i(fault_client),
    .fault_prr_i(fault_prr),
    .fault_why_i(fault_reason),
    .irq_o(irq_manager_o)
  );

  // The monitor's allocation reaches a region combinationally, in the cycle in which the monitor
  // decides with the region's present state.
  prr_monitor #(.NumVms(NumVms), .NumPrrs(NumPrrs), .ListDepth(ListDepth)) i_monitor (
    .clk_i,
    .rst_ni(rst_n),
    .request_i(request),
    .request_client_i(request_client),
    .answered_o(answered),
    .answer_o(answer),
    .cancel_i(cancel_cmd),
    .cancel_vm_i(cancel_vm),
    .cancel_dev_i(cancel_dev),
    .found_o(found),
    .found_solution_o(found_solution),
    .found_ready_i(found_ready),
    .requeue_i(requeue),
    .requeue_client_i(requeue_client),
    .overflow_o(overflow),
    .devices_i(devices),
    .regions_i(regions),
    .alloc_o(alloc),
    .alloc_client_o(alloc_client),
    .alloc_task_o(alloc_task),
    .waiting_o(waiting)
  );

  // Solutions that the manager has not read yet. A full queue stops the monitor's search, so no
  // solution is lost; a write of NEW_SOLUTION_POP removes one.
  stream_fifo #(.FALL_THROUGH(1'b0), .DEPTH(8), .T(solution_t)) i_found (
    .clk_i,
    .rst_ni(rst_n),
    .flush_i(1'b0),
    .testmode_i(1'b0),
    .usage_o(),
    .data_i(found_solution),
    .valid_i(found),
    .ready_o(found_ready),
    .data_o(first_solution),
    .valid_o(found_valid),
    .ready_i(found_pop)
  );

  // Sorter 0 is also commanded through the manager page.
  sort_array #(.NumSorters(NumSorters), .Depth(SorterDepth)) i_sorters (
    .clk_i,
    .rst_ni(rst_n),
    .regs_i(sort_regs),
    .puts_i(sort_puts),
    .write_i(bus_write),
    .addr_i(sort_addr),
    .data_i(bus_data),
    .data_o(sort_data),
    .command_i(sort_cmd),
    .op_i(sort_op),
    .key_i(sort_key),
    .value_i(sort_value),
    .status_o(sort_status),
    .busy_o(sort_busy),
    .count_o(sort_count),
    .head_valid_o(sort_head_valid),
    .head_key_o(sort_head_key),
    .head_value_o(sort_head_value)
  );

  // ---- IFs ----
  // A job starts on `stays`, not on `connected`, so that a disconnection in the same cycle wins.
  conn_matrix #(.NumPrrs(NumPrrs)) i_matrix (
    .clk_i,
    .rst_ni(rst_n),
    .command_i(connect),
    .connect_i(connect_on),
    .vm_i(connect_vm),
    .dev_i(connect_dev),
    .state_i(state),
    .client_valid_i(client_valid),
    .client_i(client),
    .drop_i(drop),
    .connected_o(connected),
    .stays_o(stays)
  );

  if_flags #(.NumVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs)) i_flags (
    .clk_i,
    .rst_ni(rst_n),
    .vm_i(mem_addr.vm),
    .dev_i(mem_addr.dev),
    .set_start_i(set_start),
    .clear_over_i(clear_over),
    .set_int_i(set_int),
    .int_i(bus_data[if_page_pkg::if_lsb(fabric_map_pkg::IfIntCtrl)+:2]),
    .int_o(int_flags),
    .reset_i(if_reset),
    .reset_vm_i(if_reset_vm),
    .reset_dev_i(if_reset_dev),
    .set_mask_i(if_mask),
    .mask_vm_i(if_mask_vm),
    .mask_dev_i(if_mask_dev),
    .masked_i(if_masked),
    .stat_o(stat),
    .over_o(over_flag),
    .connected_i(connected),
    .running_i(running),
    .client_i(client),
    .start_taken_i(start_taken),
    .over_i(over),
    .saved_i(saved),
    .restored_i(restored),
    .failed_i(failed),
    .failed_why_i(failed_why),
    .start_pending_o(start_pending),
    .ctx_saved_o(ctx_saved),
    .irq_o(irq_vm_o)
  );

  // The regions' access to the IF memory, granted to one region a cycle.
  logic     [NumPrrs-1:0] ram_req, ram_we, ram_gnt;
  if_addr_t [NumPrrs-1:0] ram_addr;
  word_t    [NumPrrs-1:0] ram_wdata;
  word_t ram_rdata;

  if_mem #(.NumVms(NumVms), .NumDevs(NumDevs), .NumPrrs(NumPrrs)) i_mem (
    .clk_i,
    .rst_ni(rst_n),
    .bus_req_i(mem_access),
    .bus_we_i(mem_write),
    .bus_addr_i(mem_addr),
    .bus_data_i(mem_wdata),
    .bus_data_o(mem_data),
    .req_i(ram_req),
    .we_i(ram_we),
    .addr_i(ram_addr),
    .data_i(ram_wdata),
    .gnt_o(ram_gnt),
    .data_o(ram_rdata)
  );

  // ---- Guard ----
  // One check a cycle is granted, in round robin; the answer goes to the region in checked_q.
  window_t [NumVms-1:0][NumWindows-1:0] windows;
  dma_check_t [NumPrrs-1:0] checks;
  dma_check_t check;
  logic [NumPrrs-1:0] check_req, check_gnt, checked_q;
  logic check_any, check_ok, check_bad;
  addr_t check_addr;

  dma_windows #(.NumVms(NumVms)) i_windows (
    .clk_i,
    .rst_ni(rst_n),
    .req_i(windows_access),
    .we_i(bus_write == '1),
    .word_i(offset[10:3]),
    .data_i(bus_data),
    .data_o(windows_data),
    .windows_o(windows)
  );
  // A region waits for at most NumPrrs - 1 checks of the others. Without the lock a region may
  // withdraw its request, which it does when its job is stopped.
  rr_arb_tree #(.NumIn(NumPrrs), .DataType(dma_check_t), .AxiVldRdy(1'b0),
                .LockIn(1'b0)) i_check_arbiter (
    .clk_i,
    .rst_ni(rst_n),
    .flush_i(1'b0),
    .rr_i('0),
    .req_i(check_req),
    .gnt_o(check_gnt),
    .data_i(checks),
    .req_o(check_any),
    .gnt_i(1'b1),
    .data_o(check),
    .idx_o()
  );

  dma_guard #(.NumVms(NumVms)) i_guard (
    .clk_i,
    .rst_ni(rst_n),
    .windows_i(windows),
    .check_i(check_any),
    .request_i(check),
    .ok_o(check_ok),
    .bad_o(check_bad),
    .addr_o(check_addr)
  );

  // The answer of the guard, and what a refusal reports, belong to the check of the cycle before.
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) begin
      checked_q   <= '0;
      fault_addr  <= '0;
      fault_write <= 1'b0;
    end else begin
      checked_q   <= check_gnt & check_req;
      fault_addr  <= check.addr;
      fault_write <= check.write;
    end
  end

  // ---- Fault report ----
  // The region whose address was refused is reported, else the first region with a fault. A job
  // that is already ending may have issued a last check before it was stopped; its refusal is not
  // reported as a violation, because a region raises no fault while its job is aborted.
  logic [NumPrrs-1:0] refused, reported;
  assign refused   = checked_q & {NumPrrs{check_bad}} & fault;
  assign violation = |refused;
  assign reported      = violation ? refused : fault;
  always_comb begin
    fault_client = '0;
    fault_prr    = '0;
    fault_reason = FaultNone;
    // The last assignment counts: of simultaneous faults that of the lowest region number.
    for (int p = int'(NumPrrs) - 1; p >= 0; p--) begin
      if (reported[p]) begin
        fault_client = client[p];
        fault_prr    = prr_t'(p);
        fault_reason = fault_why[p];
      end
    end
  end

  // ---- Memory: the regions' DMA and the ICAP ----
  // Requester p is region p, requester NumPrrs the ICAP.
  slot_req_t  [NumPrrs:0] slot_req;
  slot_resp_t [NumPrrs:0] slot_resp;
  localparam int unsigned MuxIdWidth = SlotIdWidth + $clog2(NumPrrs + 1);

  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_prr
    // The promise of the region, and the task that it holds, are needed only in its descriptor.
    logic next_valid;
    client_t next;
    task_t held;
    assign regions[p] = '{state: state[p], client_valid: client_valid[p], client: client[p],
                          next_valid: next_valid, next: next, task_id: held,
                          size: PrrSizes[2*p+:2]};
    // A client cannot cancel while its region is being configured.
    assign cancel[p] = cancel_cmd && client_valid[p] && client[p].vm == cancel_vm
                       && client[p].dev == cancel_dev && !(icap_busy && icap_prr_now == prr_t'(p));
    prr_slot i_slot (
      .clk_i,
      .rst_ni(rst_n),
      .alloc_i(alloc[p]),
      .alloc_client_i(alloc_client),
      .alloc_task_i(alloc_task),
      .cancel_i(cancel[p]),
      .stop_cmd_i(stop_cmd[p]),
      .hold_cycles_i(hold_cycles),
      .stop_cycles_i(stop_cycles),
      .cfg_done_i(cfg_done[p]),
      .cfg_fail_i(cfg_fail[p]),
      .state_o(state[p]),
      .client_valid_o(client_valid[p]),
      .client_o(client[p]),
      .held_task_o(held),
      .target_o(target[p]),
      .next_valid_o(next_valid),
      .next_o(next),
      .quiet_o(quiet[p]),
      .couple_o(coupled[p]),
      .drop_o(drop[p]),
      .requeue_o(requeue[p]),
      .requeue_client_o(requeue_client[p]),
      .stopped_o(stopped[p]),
      .expired_o(expired[p]),
      .fault_o(fault[p]),
      .fault_why_o(fault_why[p]),
      .failed_o(failed[p]),
      .failed_why_o(failed_why[p]),
      .connected_i(stays[p]),
      .start_pending_i(start_pending[p]),
      .ctx_saved_i(ctx_saved[p]),
      .running_o(running[p]),
      .start_taken_o(start_taken[p]),
      .over_o(over[p]),
      .saved_o(saved[p]),
      .restored_o(restored[p]),
      .ram_req_o(ram_req[p]),
      .ram_we_o(ram_we[p]),
      .ram_addr_o(ram_addr[p]),
      .ram_data_o(ram_wdata[p]),
      .ram_gnt_i(ram_gnt[p]),
      .ram_data_i(ram_rdata),
      .check_o(check_req[p]),
      .check_request_o(checks[p]),
      .check_gnt_i(check_gnt[p]),
      .check_ok_i(check_ok && checked_q[p]),
      .check_bad_i(check_bad && checked_q[p]),
      .check_addr_i(check_addr),
      .axi_req_o(slot_req[p]),
      .axi_resp_i(slot_resp[p]),
      .region_rst_no(region_rst_no[p]),
      .region_req_o(region_req_o[p]),
      .region_rsp_i(region_rsp_i[p])
    );
  end

  icap_ctrl #(.NumPrrs(NumPrrs)) i_icap (
    .clk_i,
    .rst_ni(rst_n),
    .start_i(icap_start),
    .prr_i(icap_prr),
    .verify_i(icap_verify),
    .addr_i(icap_addr),
    .length_i(icap_length),
    .busy_o(icap_busy),
    .prr_o(icap_prr_now),
    .task_o(icap_task),
    .error_o(icap_error),
    .cycles_o(icap_cycles),
    .words_o(icap_words),
    .over_o(icap_over),
    .state_i(state),
    .target_i(target),
    .done_o(cfg_done),
    .fail_o(cfg_fail),
    .cfg_valid_o,
    .cfg_data_o,
    .cfg_ready_i,
    .cfg_error_i,
    .cfg_abort_o,
    .axi_req_o(slot_req[NumPrrs]),
    .axi_resp_i(slot_resp[NumPrrs])
  );

  typedef logic [MuxIdWidth-1:0] mux_id_t;
  `AXI_TYPEDEF_AW_CHAN_T(mux_aw_t, bus_addr_t, mux_id_t, bus_user_t)
  `AXI_TYPEDEF_B_CHAN_T(mux_b_t, mux_id_t, bus_user_t)
  `AXI_TYPEDEF_AR_CHAN_T(mux_ar_t, bus_addr_t, mux_id_t, bus_user_t)
  `AXI_TYPEDEF_R_CHAN_T(mux_r_t, bus_data_t, mux_id_t, bus_user_t)
  `AXI_TYPEDEF_REQ_T(mux_req_t, mux_aw_t, w_t, mux_ar_t)
  `AXI_TYPEDEF_RESP_T(mux_resp_t, mux_b_t, mux_r_t)
  mux_req_t mux_req;
  mux_resp_t mux_resp;

  // Spill registers on AW and AR cut the paths from the DMAs to memory. The multiplexer keeps the
  // order of the write bursts that it accepted, 8 at most, and serves requesters in round robin.
  axi_mux #(
    .SlvAxiIDWidth(SlotIdWidth), .slv_aw_chan_t(slot_aw_t), .mst_aw_chan_t(mux_aw_t),
    .w_chan_t(w_t), .slv_b_chan_t(slot_b_t), .mst_b_chan_t(mux_b_t), .slv_ar_chan_t(slot_ar_t),
    .mst_ar_chan_t(mux_ar_t), .slv_r_chan_t(slot_r_t), .mst_r_chan_t(mux_r_t),
    .slv_req_t(slot_req_t), .slv_resp_t(slot_resp_t), .mst_req_t(mux_req_t),
    .mst_resp_t(mux_resp_t), .NoSlvPorts(NumPrrs + 1), .MaxWTrans(8), .FallThrough(1'b0),
    .SpillAw(1'b1), .SpillW(1'b0), .SpillB(1'b0), .SpillAr(1'b1), .SpillR(1'b0)
  ) i_mux (
    .clk_i,
    .rst_ni(rst_n),
    .test_i(1'b0),
    .slv_reqs_i(slot_req),
    .slv_resps_o(slot_resp),
    .mst_req_o(mux_req),
    .mst_resp_i(mux_resp)
  );

  // The external port has an ID wide enough for any number of regions; the ID is the first member
  // of the struct.
  always_comb begin
    mgr_req_o          = '0;
    mgr_req_o.aw       = mgr_aw_t'(mux_req.aw);
    mgr_req_o.aw_valid = mux_req.aw_valid;
    mgr_req_o.w        = mux_req.w;
    mgr_req_o.w_valid  = mux_req.w_valid;
    mgr_req_o.b_ready  = mux_req.b_ready;
    mgr_req_o.ar       = mgr_ar_t'(mux_req.ar);
    mgr_req_o.ar_valid = mux_req.ar_valid;
    mgr_req_o.r_ready  = mux_req.r_ready;
    mux_resp           = '0;
    mux_resp.aw_ready  = mgr_resp_i.aw_ready;
    mux_resp.w_ready   = mgr_resp_i.w_ready;
    mux_resp.b         = mux_b_t'(mgr_resp_i.b);
    mux_resp.b_valid   = mgr_resp_i.b_valid;
    mux_resp.ar_ready  = mgr_resp_i.ar_ready;
    mux_resp.r         = mux_r_t'(mgr_resp_i.r);
    mux_resp.r_valid   = mgr_resp_i.r_valid;
  end

  // The widths of identifiers and registers hold within these limits only.
  if (NumVms inside {[1:MaxVms]} && NumDevs inside {[1:MaxDevs]} && NumPrrs inside {[1:MaxPrrs]}
      && SorterDepth inside {[2:MaxSorterDepth]} && NumSorters inside {[1:MaxSorters]}
      && ListDepth inside {[1:MaxListDepth]}) begin : gen_possible
  end else begin : gen_impossible
    $error("parameters of fabric_top out of range");
  end

endmodule
