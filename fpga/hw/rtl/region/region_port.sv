// SPDX-License-Identifier: Apache-2.0
// The region's side of its boundary, between the static side and a HW task: the space for input
// beats that the static side has sent and the task has not taken. It is part of every region.
module region_port
  import region_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low: region_rst_no of the region, low while it is decoupled and after
  /// each save or failure. No beat is kept after it.
  input  logic        rst_ni,
  // the boundary: in_valid sends a beat, in_ready reports that the task has taken one. The task
  // sees a beat in the next cycle at the earliest, all other signals in the same cycle.
  input  region_req_t req_i,
  output region_rsp_t rsp_o,
  // the task, with the handshake of region_pkg
  output region_req_t task_req_o,
  input  region_rsp_t task_rsp_i
);

  logic begins, valid, last, ready;
  fabric_pkg::word_t data;
  // Not used: region_feed counts the beats on the static side, where a task cannot reach the count.
  input_count_t usage;

  // A job may end before it has taken all of its input.
  assign begins = req_i.start || req_i.ctx_restore;

  fabric_word_fifo #(.Width(65), .Depth(InputBeats)) i_fifo (
    .clk_i, .rst_ni, .flush_i(begins), .data_i({req_i.in_last, req_i.in_data}),
    .valid_i(req_i.in_valid), .ready_o(ready), .data_o({last, data}), .valid_o(valid),
    .ready_i(task_rsp_i.in_ready), .usage_o(usage)
  );

  always_comb begin
    task_req_o          = req_i;
    task_req_o.in_valid = valid;
    // The memory still has beats of earlier jobs.
    task_req_o.in_data  = valid ? data : '0;
    task_req_o.in_last  = valid && last;
    rsp_o               = task_rsp_i;
    rsp_o.in_ready      = valid && task_rsp_i.in_ready;
  end

  // region_feed sends no beat without space.
  logic unused;
  assign unused = &{1'b0, ready, usage};

endmodule
