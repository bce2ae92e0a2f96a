// SPDX-License-Identifier: Apache-2.0
// The ICAP in simulation, with the ports of fpga/hw/rtl/kintex7/icap.sv. The body
// of a bitstream is {8'hc5, region, task, 7'h0, slow}, the number of the words that follow, and
// these words. A slow bitstream is accepted at one word every other cycle. The region holds the new
// task when the last word has arrived; until then its outputs are undefined. rst_ni empties the
// regions, but does not reach the device's configuration logic, which may be in the middle of a
// bitstream. fabric_sim reads held_q and torn_q.
module icap (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  input  logic [31:0] data_i,
  output logic        ready_o,
  input  logic        abort_i,
  output logic        error_o
);

  logic [7:0][7:0] held_q;   // the task in each region, 0: none
  logic [7:0] torn_q;        // region is being written
  logic [7:0] task_q;
  logic [2:0] prr_q;
  logic [31:0] left_q;
  logic [1:0] part_q;        // expects: first word, length, words
  logic slow_q, toggle_q;
  initial {task_q, prr_q, left_q, part_q, slow_q, toggle_q} = '0;

  assign ready_o = !slow_q || toggle_q;
  assign error_o = valid_i && part_q == 2'd0 && data_i[31:24] != 8'hc5;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= '0;
      torn_q <= '0;
    end else begin
      toggle_q <= !toggle_q;
      if (abort_i) {part_q, slow_q} <= '0;
      if (valid_i && ready_o) begin
        unique case (part_q)
          2'd0: if (data_i[31:24] == 8'hc5) begin
            prr_q                <= data_i[18:16];
            task_q               <= data_i[15:8];
            slow_q               <= data_i[0];
            torn_q[data_i[18:16]] <= 1'b1;
            held_q[data_i[18:16]] <= '0;
            part_q               <= 2'd1;
          end
          2'd1: begin
            left_q <= data_i;
            part_q <= 2'd2;
          end
          default: begin
            left_q <= left_q - 1'b1;
            if (left_q == 32'd1) begin
              part_q        <= 2'd0;
              torn_q[prr_q] <= 1'b0;
              held_q[prr_q] <= task_q;
            end
          end
        endcase
      end
    end
  end

endmodule
