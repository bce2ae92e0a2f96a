// SPDX-License-Identifier: Apache-2.0
// A HW task for benches: every output beat is the input beat plus the sum of all earlier input
// beats, xor custom[0]. Its context is that sum and padding words. CMD selects a misbehaviour, so
// that benches can check its containment.
module hwtask_probe
  import region_pkg::*;
#(
  parameter int unsigned CtxWords = 12
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  region_req_t req_i,
  output region_rsp_t rsp_o
);

  // Misbehaviour, selected by CMD[3:0].
  localparam logic [3:0] WrongHang = 4'd1;      // never stops, never ends
  localparam logic [3:0] WrongEndless = 4'd2;   // produces endless output
  localparam logic [3:0] WrongTalk = 4'd3;      // keeps driving outputs after the end
  localparam logic [3:0] WrongLong = 4'd4;      // endless context
  localparam logic [3:0] WrongCtx = 4'd5;       // context words while it runs
  localparam logic [3:0] WrongMute = 4'd6;      // no context on a save request
  localparam logic [3:0] WrongStop = 4'd7;      // stops without a request

  typedef enum logic [2:0] {PbIdle, PbRun, PbEnd, PbStopped, PbSave, PbRestore, PbTalk} state_e;

  state_e state_q;
  logic [63:0] sum_q;
  logic [31:0] done_q;     // beats
  logic [63:0] left_q;     // beats until the next consistency point, from custom[1]
  logic [6:0] word_q;
  logic [3:0] wrong;
  logic move;
  logic [31:0] beats;

  assign wrong = req_i.cmd[3:0];
  assign beats = 32'((req_i.size + 32'd7) >> 3);

  // A beat passes when both sides are ready, so no beat is ever partly used.
  logic at_point;
  assign at_point    = left_q == '0 && wrong != WrongHang;
  assign move        = state_q == PbRun && req_i.in_valid && req_i.out_ready
                       && !(req_i.stop && at_point) && wrong != WrongHang && wrong != WrongEndless;
  assign rsp_o.in_ready  = move;
  assign rsp_o.out_valid = (state_q == PbRun && req_i.in_valid && !(req_i.stop && at_point)
                            && wrong != WrongHang)
                       || (state_q == PbRun && wrong == WrongEndless && !(req_i.stop && at_point))
                           || state_q == PbTalk;
  assign rsp_o.out_data  = (req_i.in_data + sum_q) ^ {req_i.custom[0], req_i.custom[0]};
  assign rsp_o.out_last  = done_q + 1'b1 == beats;
  assign rsp_o.over      = state_q == PbEnd;
  assign rsp_o.result    = sum_q[31:0];
  assign rsp_o.stopped   = state_q inside {PbStopped, PbSave}
                           || (state_q == PbRun && wrong == WrongStop && done_q == 32'd5);
  assign rsp_o.ctx_ready = state_q == PbRestore;
  assign rsp_o.ctx_valid = (state_q == PbSave && wrong != WrongMute)
                           || (state_q == PbRun && wrong == WrongCtx);
  assign rsp_o.ctx_last  = word_q == 7'(CtxWords - 1) && wrong != WrongLong;
  assign rsp_o.ctx_data  = word_q == '0 ? sum_q : word_q == 7'd1 ? {left_q[31:0], done_q}
                           : {57'h5, word_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= PbIdle;
      sum_q   <= '0;
      done_q  <= '0;
      left_q  <= '0;
      word_q  <= '0;
    end else begin
      unique case (state_q)
        PbIdle: begin
          sum_q  <= '0;
          done_q <= '0;
          left_q <= 64'(req_i.custom[1]);
          word_q <= '0;
          if (req_i.start) state_q <= beats == '0 ? PbEnd : PbRun;
          else if (req_i.ctx_restore) state_q <= PbRestore;
        end
        PbRun: begin
          if (move) begin
            sum_q  <= sum_q + req_i.in_data;
            done_q <= done_q + 1'b1;
            left_q <= left_q == '0 ? 64'(req_i.custom[1]) : left_q - 1'b1;
            if (done_q + 1'b1 == beats) state_q <= PbEnd;
          end
          if (req_i.stop && at_point) state_q <= PbStopped;
        end
        PbEnd: state_q <= wrong == WrongTalk ? PbTalk : PbIdle;
        PbStopped: begin
          word_q <= '0;
          if (req_i.ctx_save) state_q <= PbSave;
          else if (req_i.resume) state_q <= PbRun;
        end
        PbSave: if (rsp_o.ctx_valid && req_i.ctx_ready) begin
          word_q <= word_q + 1'b1;
          if (rsp_o.ctx_last) state_q <= PbStopped;
        end
        PbRestore: if (req_i.ctx_valid) begin
          word_q <= word_q + 1'b1;
          if (word_q == '0) sum_q <= req_i.ctx_data;
          if (word_q == 7'd1) {left_q, done_q} <= {32'b0, req_i.ctx_data};
          if (word_q == 7'(CtxWords - 1)) state_q <= PbStopped;
        end
        default: ;
      endcase
    end
  end

  logic unused;
  assign unused = &{1'b0, req_i, left_q[63:32]};

endmodule
