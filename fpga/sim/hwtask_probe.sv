// SPDX-License-Identifier: Apache-2.0
// A HW task for benches: every output beat is the input beat plus the sum of all earlier input
// beats, xor custom[0]. Its context is that sum and padding words. CMD selects a misbehaviour, so
// that benches can check its containment.
module hwtask_probe #(
  parameter int unsigned CtxWords = 12
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  logic             resume_i,
  input  logic             stop_i,
  input  logic [31:0]      cmd_i,
  input  logic [31:0]      size_i,
  input  logic [7:0][31:0] custom_i,
  output logic             stopped_o,
  output logic             over_o,
  output logic [31:0]      result_o,
  input  logic [63:0]      in_data_i,
  input  logic             in_valid_i,
  input  logic             in_last_i,
  output logic             in_ready_o,
  output logic [63:0]      out_data_o,
  output logic             out_valid_o,
  output logic             out_last_o,
  input  logic             out_ready_i,
  input  logic             ctx_save_i,
  input  logic             ctx_restore_i,
  input  logic [63:0]      ctx_data_i,
  input  logic             ctx_valid_i,
  output logic             ctx_ready_o,
  output logic [63:0]      ctx_data_o,
  output logic             ctx_valid_o,
  output logic             ctx_last_o,
  input  logic             ctx_ready_i
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

  assign wrong = cmd_i[3:0];
  assign beats = 32'((size_i + 32'd7) >> 3);

  // A beat passes when both sides are ready, so no beat is ever partly used.
  logic at_point;
  assign at_point    = left_q == '0 && wrong != WrongHang;
  assign move        = state_q == PbRun && in_valid_i && out_ready_i && !(stop_i && at_point)
                       && wrong != WrongHang && wrong != WrongEndless;
  assign in_ready_o  = move;
  assign out_valid_o = (state_q == PbRun && in_valid_i && !(stop_i && at_point) && wrong != WrongHang)
                       || (state_q == PbRun && wrong == WrongEndless && !(stop_i && at_point)) || state_q == PbTalk;
  assign out_data_o  = (in_data_i + sum_q) ^ {custom_i[0], custom_i[0]};
  assign out_last_o  = done_q + 1'b1 == beats;
  assign over_o      = state_q == PbEnd;
  assign result_o    = sum_q[31:0];
  assign stopped_o   = state_q inside {PbStopped, PbSave} || (state_q == PbRun && wrong == WrongStop && done_q == 32'd5);
  assign ctx_ready_o = state_q == PbRestore;
  assign ctx_valid_o = (state_q == PbSave && wrong != WrongMute) || (state_q == PbRun && wrong == WrongCtx);
  assign ctx_last_o  = word_q == 7'(CtxWords - 1) && wrong != WrongLong;
  assign ctx_data_o  = word_q == '0 ? sum_q : word_q == 7'd1 ? {left_q[31:0], done_q} : {57'h5, word_q};

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
          left_q <= 64'(custom_i[1]);
          word_q <= '0;
          if (start_i) state_q <= beats == '0 ? PbEnd : PbRun;
          else if (ctx_restore_i) state_q <= PbRestore;
        end
        PbRun: begin
          if (move) begin
            sum_q  <= sum_q + in_data_i;
            done_q <= done_q + 1'b1;
            left_q <= left_q == '0 ? 64'(custom_i[1]) : left_q - 1'b1;
            if (done_q + 1'b1 == beats) state_q <= PbEnd;
          end
          if (stop_i && at_point) state_q <= PbStopped;
        end
        PbEnd: state_q <= wrong == WrongTalk ? PbTalk : PbIdle;
        PbStopped: begin
          word_q <= '0;
          if (ctx_save_i) state_q <= PbSave;
          else if (resume_i) state_q <= PbRun;
        end
        PbSave: if (ctx_valid_o && ctx_ready_i) begin
          word_q <= word_q + 1'b1;
          if (ctx_last_o) state_q <= PbStopped;
        end
        PbRestore: if (ctx_valid_i) begin
          word_q <= word_q + 1'b1;
          if (word_q == '0) sum_q <= ctx_data_i;
          if (word_q == 7'd1) {left_q, done_q} <= {32'b0, ctx_data_i};
          if (word_q == 7'(CtxWords - 1)) state_q <= PbStopped;
        end
        default: ;
      endcase
    end
  end

  logic unused;
  assign unused = &{1'b0, in_last_i, custom_i[7:2], cmd_i[31:4], left_q[63:32]};

endmodule
