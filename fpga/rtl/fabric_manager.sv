// SPDX-License-Identifier: Apache-2.0
// The manager page: the register block that PeakRDL makes, and what its fields are wired to. A command's strobe comes
// with the write, its fields a cycle later, so commands are given on a cycle later.
module fabric_manager
  import fabric_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  parameter int unsigned NumDevs = 4,
  parameter int unsigned NumPrrs = 3,
  parameter int unsigned ListDepth = 16,
  parameter int unsigned SorterDepth = 64
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // bus
  input  logic       access_i,
  input  logic [7:0] write_i,
  input  logic [9:0] offset_i,
  input  word_t      data_i,
  output word_t      data_o,         // in the same cycle
  output logic       error_o,        // in the same cycle: there is no such register
  // monitor
  output logic       request_o,
  output client_t    request_client_o,
  input  logic       answered_i,
  input  solution_t  answer_i,
  output logic       cancel_o,
  output vm_t        cancel_vm_o,
  output dev_t       cancel_dev_o,
  input  logic       found_i,
  input  solution_t  found_solution_i,
  output logic       found_pop_o,
  input  logic [8:0] waiting_i,
  output device_t [MaxDevs-1:0] devices_o,
  // regions
  output logic [31:0] hold_cycles_o,
  output logic [31:0] stop_cycles_o,
  output logic    [NumPrrs-1:0] connect_o,
  output logic       connect_on_o,
  output vm_t        connect_vm_o,
  output dev_t       connect_dev_o,
  output logic    [NumPrrs-1:0] stop_o,
  input  region_t [NumPrrs-1:0] regions_i,
  input  task_t   [NumPrrs-1:0] target_i,
  input  logic    [NumPrrs-1:0] coupled_i,
  input  logic    [NumPrrs-1:0] connected_i,
  // configuration port
  output logic       icap_start_o,
  output logic       icap_verify_o,
  output prr_t       icap_prr_o,
  output logic [63:0] icap_addr_o,
  output logic [31:0] icap_length_o,
  input  logic       icap_busy_i,
  input  prr_t       icap_prr_i,
  input  logic [3:0] icap_error_i,
  input  task_t      icap_task_i,
  input  logic    [NumPrrs-1:0] icap_done_i,
  input  logic [31:0] icap_cycles_i,
  input  logic [31:0] icap_words_i,
  // sorter
  output logic       sort_o,
  output logic [1:0] sort_op_o,
  output sort_key_t  sort_key_o,
  output sort_value_t sort_value_o,
  input  logic [1:0] sort_status_i,
  input  logic       sort_busy_i,
  input  logic [8:0] sort_count_i,
  input  logic       sort_head_valid_i,
  input  sort_key_t  sort_head_key_i,
  input  sort_value_t sort_head_value_i,
  // events
  input  logic       event_over_i,
  input  logic       event_stopped_i,
  input  logic       event_violation_i,
  input  logic       event_fault_i,
  input  logic       event_expired_i,
  input  logic       event_overflow_i,
  input  logic [63:0] fault_addr_i,
  input  logic       fault_write_i,
  input  client_t    fault_client_i,
  input  prr_t       fault_prr_i,
  input  fault_e     fault_why_i,
  output logic       irq_o
);

  fabric_regs_pkg::fabric_regs__in_t  hw_in;
  fabric_regs_pkg::fabric_regs__out_t hw_out;
  logic [63:0] bit_enable;
  logic unused_stall_w, unused_stall_r, unused_rd_ack, unused_wr_ack, rd_err, wr_err;

  for (genvar b = 0; b < 8; b++) begin : gen_enable
    assign bit_enable[8*b+:8] = {8{write_i[b]}};
  end

  fabric_regs i_regs (
    .clk(clk_i), .arst_n(rst_ni), .s_cpuif_req(access_i), .s_cpuif_req_is_wr(write_i != '0),
    .s_cpuif_addr({offset_i[9:3], 3'b0}), .s_cpuif_wr_data(data_i), .s_cpuif_wr_biten(bit_enable),
    .s_cpuif_req_stall_wr(unused_stall_w), .s_cpuif_req_stall_rd(unused_stall_r), .s_cpuif_rd_ack(unused_rd_ack), .s_cpuif_rd_err(rd_err),
    .s_cpuif_rd_data(data_o), .s_cpuif_wr_ack(unused_wr_ack), .s_cpuif_wr_err(wr_err), .hwif_in(hw_in),
    .hwif_out(hw_out)
  );

  assign error_o = rd_err || wr_err;

  // A part of a register is meant by its bytes, not by where it begins: the block knows whole registers only.
  logic unused_low;
  assign unused_low = ^offset_i[2:0];

  // Who this is.
  assign hw_in.ID.magic.next             = 32'h54534642;
  assign hw_in.ID.version.next           = 8'd1;
  assign hw_in.PARAMS.vms.next           = 8'(NumVms);
  assign hw_in.PARAMS.devs.next          = 8'(NumDevs);
  assign hw_in.PARAMS.prrs.next          = 8'(NumPrrs);
  assign hw_in.PARAMS.sorter_depth.next  = 16'(SorterDepth);
  assign hw_in.PARAMS.list_depth.next    = 16'(ListDepth);
  assign hw_in.PARAMS.windows.next       = 8'(NumWindows);

  // Interrupts.
  logic [6:0] pending;
  assign hw_in.IRQ_STATUS.new_solution.next   = found_i;
  assign hw_in.IRQ_STATUS.reconfig_over.hwset = event_over_i;
  assign hw_in.IRQ_STATUS.prr_stopped.hwset   = event_stopped_i;
  assign hw_in.IRQ_STATUS.dma_violation.hwset = event_violation_i;
  assign hw_in.IRQ_STATUS.task_fault.hwset    = event_fault_i;
  assign hw_in.IRQ_STATUS.hold_expired.hwset  = event_expired_i;
  assign hw_in.IRQ_STATUS.list_overflow.hwset = event_overflow_i;
  assign pending = {hw_out.IRQ_STATUS.list_overflow.value, hw_out.IRQ_STATUS.hold_expired.value,
                    hw_out.IRQ_STATUS.task_fault.value, hw_out.IRQ_STATUS.dma_violation.value,
                    hw_out.IRQ_STATUS.prr_stopped.value, hw_out.IRQ_STATUS.reconfig_over.value, found_i};
  assign irq_o   = (pending & hw_out.IRQ_ENABLE.enable.value) != '0;

  // The monitor's answers.
  assign hw_in.SOLUTION.method.next          = answer_i.method;
  assign hw_in.SOLUTION.reconfig.next        = answer_i.reconfig;
  assign hw_in.SOLUTION.listed.next          = answer_i.listed;
  assign hw_in.SOLUTION.prr.next             = answer_i.prr;
  assign hw_in.SOLUTION.evicted.next         = answer_i.evicted_valid;
  assign hw_in.SOLUTION.vm.next              = answer_i.client.vm;
  assign hw_in.SOLUTION.dev.next             = answer_i.client.dev;
  assign hw_in.SOLUTION.prio.next            = answer_i.client.prio;
  assign hw_in.SOLUTION.evicted_vm.next      = answer_i.evicted_vm;
  assign hw_in.SOLUTION.evicted_dev.next     = answer_i.evicted_dev;
  assign hw_in.SOLUTION.valid.next           = answered_i;
  assign hw_in.NEW_SOLUTION.method.next      = found_solution_i.method;
  assign hw_in.NEW_SOLUTION.reconfig.next    = found_solution_i.reconfig;
  assign hw_in.NEW_SOLUTION.listed.next      = found_solution_i.listed;
  assign hw_in.NEW_SOLUTION.prr.next         = found_solution_i.prr;
  assign hw_in.NEW_SOLUTION.evicted.next     = found_solution_i.evicted_valid;
  assign hw_in.NEW_SOLUTION.vm.next          = found_solution_i.client.vm;
  assign hw_in.NEW_SOLUTION.dev.next         = found_solution_i.client.dev;
  assign hw_in.NEW_SOLUTION.prio.next        = found_solution_i.client.prio;
  assign hw_in.NEW_SOLUTION.evicted_vm.next  = found_solution_i.evicted_vm;
  assign hw_in.NEW_SOLUTION.evicted_dev.next = found_solution_i.evicted_dev;
  assign hw_in.NEW_SOLUTION.valid.next       = found_i;
  assign hw_in.LIST.waiting.next             = waiting_i;

  assign hw_in.ICAP_STATUS.busy.next    = icap_busy_i;
  assign hw_in.ICAP_STATUS.prr.next     = icap_prr_i;
  assign hw_in.ICAP_STATUS.error.next   = icap_error_i;
  assign hw_in.ICAP_STATUS.task_id.next = icap_task_i;
  assign hw_in.ICAP_COUNTS.cycles.next  = icap_cycles_i;
  assign hw_in.ICAP_COUNTS.words.next   = icap_words_i;

  assign hw_in.SORT_STATUS.status.next  = sort_status_i;
  assign hw_in.SORT_STATUS.busy.next    = sort_busy_i;
  assign hw_in.SORT_STATUS.count.next   = sort_count_i;
  assign hw_in.SORT_HEAD_KEY.key.next   = sort_head_key_i;
  assign hw_in.SORT_HEAD.value.next     = sort_head_value_i;
  assign hw_in.SORT_HEAD.valid.next     = sort_head_valid_i;

  for (genvar p = 0; p < int'(MaxPrrs); p++) begin : gen_status
    region_t region;
    task_t target;
    logic coupled, connected, configured;
    logic [23:0] took_q;
    if (p < int'(NumPrrs)) begin : gen_there
      assign region     = regions_i[p];
      assign target     = target_i[p];
      assign coupled    = coupled_i[p];
      assign connected  = connected_i[p];
      assign configured = icap_done_i[p];
    end else begin : gen_none
      assign region     = '0;
      assign target     = '0;
      assign coupled    = 1'b0;
      assign connected  = 1'b0;
      assign configured = 1'b0;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) took_q <= '0;
      else if (configured) took_q <= icap_cycles_i[31:24] == '0 ? icap_cycles_i[23:0] : '1;
    end
    assign hw_in.PRR_STATUS[p].state.next     = region.state;
    assign hw_in.PRR_STATUS[p].coupled.next   = coupled;
    assign hw_in.PRR_STATUS[p].size.next      = region.size;
    assign hw_in.PRR_STATUS[p].connected.next = connected;
    assign hw_in.PRR_STATUS[p].client.next    = region.client_valid;
    assign hw_in.PRR_STATUS[p].vm.next        = region.client.vm;
    assign hw_in.PRR_STATUS[p].dev.next       = region.client.dev;
    assign hw_in.PRR_STATUS[p].prio.next      = region.client.prio;
    assign hw_in.PRR_STATUS[p].task_id.next   = region.task_id;
    assign hw_in.PRR_STATUS[p].target.next    = target;
    assign hw_in.PRR_STATUS[p].reconfig_time.next = took_q;
    logic unused_next;
    assign unused_next = &{1'b0, region.next_valid, region.next};
  end

  for (genvar d = 0; d < int'(MaxDevs); d++) begin : gen_device
    assign devices_o[d] = '{task_id: d < int'(NumDevs) ? hw_out.DEVICE[d].task_id.value : TaskNone,
                            size: hw_out.DEVICE[d].size.value};
  end

  // Commands.
  logic [MaxPrrs-1:0] connect_q, stop_q;
  logic unknown;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      request_o    <= 1'b0;
      cancel_o     <= 1'b0;
      icap_start_o <= 1'b0;
      found_pop_o  <= 1'b0;
      sort_o       <= 1'b0;
      connect_q    <= '0;
      stop_q       <= '0;
    end else begin
      request_o    <= hw_out.REQUEST.vm.swmod;
      cancel_o     <= hw_out.CANCEL.vm.swmod;
      icap_start_o <= hw_out.ICAP_START.prr.swmod;
      found_pop_o  <= hw_out.NEW_SOLUTION_POP.pop.swmod;
      sort_o       <= hw_out.SORT_COMMAND.op.swmod;
      for (int p = 0; p < int'(MaxPrrs); p++) begin
        connect_q[p] <= hw_out.PRR_CONNECT[p].connect.swmod;
        stop_q[p]    <= hw_out.PRR_STOP[p].stop.swmod;
      end
    end
  end

  always_comb begin
    connect_on_o  = 1'b0;
    connect_vm_o  = '0;
    connect_dev_o = '0;
    for (int p = 0; p < int'(MaxPrrs); p++) begin
      if (connect_q[p]) begin
        connect_on_o  = hw_out.PRR_CONNECT[p].connect.value;
        connect_vm_o  = hw_out.PRR_CONNECT[p].vm.value;
        connect_dev_o = hw_out.PRR_CONNECT[p].dev.value;
      end
    end
  end

  assign request_client_o = '{vm: hw_out.REQUEST.vm.value, dev: hw_out.REQUEST.dev.value, prio: hw_out.REQUEST.prio.value};
  assign cancel_vm_o      = hw_out.CANCEL.vm.value;
  assign cancel_dev_o     = hw_out.CANCEL.dev.value;
  assign hold_cycles_o    = hw_out.HOLD_TIME.cycles.value;
  assign stop_cycles_o    = hw_out.STOP_TIME.cycles.value;
  assign connect_o        = connect_q[NumPrrs-1:0];
  assign stop_o           = stop_q[NumPrrs-1:0];
  assign icap_verify_o    = hw_out.ICAP_START.verify.value;
  assign icap_prr_o       = hw_out.ICAP_START.prr.value;
  assign icap_addr_o      = hw_out.ICAP_ADDR.addr.value;
  assign icap_length_o    = hw_out.ICAP_LENGTH.length.value;
  assign sort_op_o        = hw_out.SORT_COMMAND.op.value;
  assign sort_key_o       = hw_out.SORT_KEY.key.value;
  assign sort_value_o     = hw_out.SORT_COMMAND.value.value;
  assign unknown          = ^{connect_q, stop_q};

  // The last fault, kept for the manager.
  fault_e why_q;
  client_t client_q;
  prr_t prr_q;
  logic write_q;
  logic [63:0] addr_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      why_q    <= FaultNone;
      client_q <= '0;
      prr_q    <= '0;
      write_q  <= 1'b0;
      addr_q   <= '0;
    end else begin
      if (event_fault_i) begin
        why_q    <= fault_why_i;
        client_q <= fault_client_i;
        prr_q    <= fault_prr_i;
      end
      if (event_violation_i) begin
        write_q <= fault_write_i;
        addr_q  <= fault_addr_i;
      end
    end
  end
  assign hw_in.FAULT_ADDR.addr.next  = addr_q;
  assign hw_in.FAULT_INFO.vm.next    = client_q.vm;
  assign hw_in.FAULT_INFO.dev.next   = client_q.dev;
  assign hw_in.FAULT_INFO.prr.next   = prr_q;
  assign hw_in.FAULT_INFO.write.next = write_q;
  assign hw_in.FAULT_INFO.why.next   = why_q;

  logic unused;
  assign unused = &{1'b0, unknown, client_q.prio, unused_stall_w, unused_stall_r, unused_rd_ack,
                    unused_wr_ack};

endmodule
