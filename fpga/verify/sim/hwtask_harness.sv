// SPDX-License-Identifier: Apache-2.0
// Two instances of one HW task, memories for their streams, and a model of the region's wrapper: it
// starts a job, stops it repeatedly, saves its context, restores the context into the other
// instance and resumes there. It measures the longest wait and transfer, and records violations of
// the HW-task interface (region_pkg).
module hwtask_harness
  import fabric_pkg::*;
  import region_pkg::*;
#(
  parameter task_t       Task      = TaskQam16,
  parameter int unsigned MemBeats  = 8192,
  /// Cycles without progress that count as an error.
  parameter int unsigned Patience  = 4000
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  /// Pulse; the other inputs stay stable until done_o.
  input  logic             start_i,
  input  logic [31:0]      cmd_i,
  input  logic [31:0]      size_i,
  input  logic [255:0]     custom_i,
  /// Input availability: cycles with data out of 256; 255: always.
  input  logic [7:0]       in_rate_i,
  /// Output availability, in the same unit.
  input  logic [7:0]       out_rate_i,
  /// Cycles from start or resume to stop; all ones: never.
  input  logic [31:0]      stop_after_i,
  /// Mask of a random number that is added to stop_after_i.
  input  logic [31:0]      stop_mask_i,
  /// When stopped: 1: resume in the other instance, 0: withdraw the stop.
  input  logic             move_i,
  input  logic [31:0]      seed_i,
  output logic             done_o,
  output logic [31:0]      result_o,
  /// Start to over, inclusive.
  output logic [31:0]      cycles_o,
  output logic [31:0]      beats_in_o,
  output logic [31:0]      beats_out_o,
  output logic [31:0]      stops_o,
  output logic [31:0]      max_wait_o,
  /// Pulse to last word, inclusive.
  output logic [31:0]      max_save_o,
  /// Pulse to stopped, inclusive.
  output logic [31:0]      max_restore_o,
  output logic [31:0]      errors_o
);

  localparam int unsigned CtxWords = hwtask_pkg::task_ctx_words(Task);

  typedef enum logic [3:0] {
    WIdle, WStart, WRun, WSave, WSaving, WReset, WRestore, WRestoring, WResume, WDone, WFailed
  } state_e;

  word_t mem_in [MemBeats];
  word_t mem_out[MemBeats];
  word_t ctx_mem[MaxCtxWords];

  state_e state_q;
  logic   active_q;
  logic [31:0] timer_q, wait_q, stop_at_q, random_q, ctx_count_q, quiet_q;

  // ---- The two instances ----
  logic start, resume, stop, save, restore;
  region_rsp_t [1:0] rsp;
  logic in_valid, in_last, out_ready, ctx_in_valid, ctx_out_ready;

  for (genvar i = 0; i < 2; i++) begin : gen_task
    logic here, rst_n;
    assign here = active_q == 1'(i);
    // The unused instance is in reset, like a region that is being configured.
    assign rst_n = rst_ni && here && state_q != WReset;
    region_req_t req;
    assign req = '{start: start && here, resume: resume && here, stop: stop && here, cmd: cmd_i,
                   size: size_i, custom: custom_i, in_data: mem_in[beats_in_o], in_valid: in_valid
                   && here, in_last: in_last, out_ready: out_ready && here, ctx_save: save && here,
                   ctx_restore: restore && here, ctx_data: ctx_mem[ctx_count_q],
                   ctx_valid: ctx_in_valid && here, ctx_ready: ctx_out_ready && here};
    hwtask_any #(.Task(Task)) i_task (.clk_i, .rst_ni(rst_n), .req_i(req), .rsp_o(rsp[i]));
  end

  // ---- Streams ----
  logic in_open_q, out_open_q, take, give;
  logic [31:0] beats;

  assign beats     = (size_i + 32'd7) / 32'd8;
  assign in_valid  = in_open_q && beats_in_o < beats;
  assign in_last   = beats_in_o + 32'd1 == beats;
  assign out_ready = out_open_q;
  assign take      = in_valid && rsp[active_q].in_ready;
  assign give      = out_ready && rsp[active_q].out_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_open_q  <= 1'b0;
      out_open_q <= 1'b0;
      random_q   <= 32'h1;
    end else begin
      random_q <= start_i ? seed_i | 32'h1 : xorshift(random_q);
      // Offered data stay; space may come and go.
      if (!in_open_q || take) in_open_q <= in_rate_i == 8'hff || random_q[7:0] < in_rate_i;
      out_open_q <= out_rate_i == 8'hff || random_q[15:8] < out_rate_i;
    end
  end

  function automatic logic [31:0] xorshift(input logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  // ---- Model of the wrapper ----
  logic at_stop, at_over, made_to_wait;
  assign at_stop      = rsp[active_q].stopped;
  assign at_over      = rsp[active_q].over;
  assign made_to_wait = (rsp[active_q].in_ready && !in_valid)
                        || (rsp[active_q].out_valid && !out_ready);

  assign start         = state_q == WStart;
  assign stop          = state_q == WRun && timer_q >= stop_at_q;
  assign save          = state_q == WSave;
  assign restore       = state_q == WRestore;
  assign resume        = state_q == WResume;
  assign ctx_in_valid  = state_q == WRestoring && ctx_count_q < CtxWords;
  assign ctx_out_ready = state_q == WSaving;
  assign done_o        = state_q == WDone || state_q == WFailed;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q       <= WIdle;
      active_q      <= 1'b0;
      timer_q       <= '0;
      wait_q        <= '0;
      stop_at_q     <= '1;
      ctx_count_q   <= '0;
      quiet_q       <= '0;
      result_o      <= '0;
      cycles_o      <= '0;
      beats_in_o    <= '0;
      beats_out_o   <= '0;
      stops_o       <= '0;
      max_wait_o    <= '0;
      max_save_o    <= '0;
      max_restore_o <= '0;
    end else begin
      timer_q  <= timer_q + 32'd1;
      cycles_o <= cycles_o + 32'd1;
      quiet_q  <= take || give ? '0 : quiet_q + 32'd1;
      if (take) beats_in_o <= beats_in_o + 32'd1;
      if (give) begin
        mem_out[beats_out_o] <= rsp[active_q].out_data;
        beats_out_o          <= beats_out_o + 32'd1;
      end
      unique case (state_q)
        WIdle, WDone, WFailed:
        if (start_i) begin
          state_q       <= WStart;
          cycles_o      <= 32'd1;
          beats_in_o    <= '0;
          beats_out_o   <= '0;
          stops_o       <= '0;
          max_wait_o    <= '0;
          max_save_o    <= '0;
          max_restore_o <= '0;
        end else cycles_o <= cycles_o;
        WStart, WResume: begin
          state_q   <= WRun;
          timer_q   <= '0;
          wait_q    <= '0;
          // A job that is moved repeatedly without a beat is stuck as well.
          if (state_q == WStart) quiet_q <= '0;
          stop_at_q <= stop_after_i == '1 ? '1 : stop_after_i + (random_q & stop_mask_i);
        end
        WRun: begin
          if (stop && !made_to_wait) wait_q <= wait_q + 32'd1;
          if (at_over || at_stop) begin
            if (stop && wait_q > max_wait_o) max_wait_o <= wait_q;
            result_o <= rsp[active_q].result;
            stops_o  <= stops_o + 32'(at_stop);
            state_q  <= at_over ? WDone : move_i ? WSave : WResume;
          end else if (quiet_q > Patience) state_q <= WFailed;
        end
        WSave: begin
          state_q     <= WSaving;
          ctx_count_q <= '0;
          timer_q     <= 32'd1;
        end
        WSaving: begin
          if (rsp[active_q].ctx_valid) begin
            ctx_mem[ctx_count_q] <= rsp[active_q].ctx_data;
            ctx_count_q          <= ctx_count_q + 32'd1;
            if (rsp[active_q].ctx_last) begin
              if (timer_q + 32'd1 > max_save_o) max_save_o <= timer_q + 32'd1;
              state_q  <= WReset;
              active_q <= !active_q;
            end
          end
          if (timer_q > Patience) state_q <= WFailed;
        end
        WReset: state_q <= WRestore;
        WRestore: begin
          state_q     <= WRestoring;
          ctx_count_q <= '0;
          timer_q     <= 32'd1;
        end
        WRestoring: begin
          if (ctx_in_valid && rsp[active_q].ctx_ready) ctx_count_q <= ctx_count_q + 32'd1;
          if (at_stop) begin
            if (timer_q + 32'd1 > max_restore_o) max_restore_o <= timer_q + 32'd1;
            state_q <= WResume;
          end
          if (timer_q > Patience) state_q <= WFailed;
        end
        default: state_q <= WFailed;
      endcase
    end
  end

  // ---- Checks ----
  logic  held_q, last_q, running;
  word_t held_data_q;
  logic [15:0] now;

  assign running = state_q == WRun || state_q == WStart || state_q == WResume;
  always_comb begin
    now     = '0;
    now[0]  = held_q && state_q == WRun && (!rsp[active_q].out_valid
                                            || rsp[active_q].out_data != held_data_q);
    now[1]  = at_stop && (rsp[active_q].in_ready || rsp[active_q].out_valid);
    now[2]  = at_stop && at_over;
    now[3]  = rsp[!active_q].stopped || rsp[!active_q].over || rsp[!active_q].in_ready
              || rsp[!active_q].out_valid ||
              rsp[!active_q].ctx_ready || rsp[!active_q].ctx_valid;
    now[4]  = !running && state_q != WDone && (rsp[active_q].in_ready || rsp[active_q].out_valid
                                               || at_over);
    now[5]  = give && last_q;
    now[6]  = at_over && state_q == WRun && beats_out_o != '0 && !last_q;
    now[7]  = state_q == WSaving && rsp[active_q].ctx_valid
              && rsp[active_q].ctx_last != (ctx_count_q + 1 == CtxWords);
    now[8]  = state_q == WSaving && timer_q > 4 + CtxWords;
    now[9]  = state_q == WRestoring && timer_q > 6 + CtxWords;
    now[10] = state_q == WFailed;
    now[11] = state_q == WDone && (rsp[active_q].stopped || rsp[active_q].in_ready
                                   || rsp[active_q].out_valid);
    now[12] = at_stop && state_q == WRun && !stop;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      errors_o    <= '0;
      held_q      <= 1'b0;
      last_q      <= 1'b0;
      held_data_q <= '0;
    end else begin
      errors_o    <= errors_o | 32'(now);
      held_q      <= rsp[active_q].out_valid && !out_ready;
      held_data_q <= rsp[active_q].out_data;
      if (start_i) last_q <= 1'b0;
      else if (give) last_q <= rsp[active_q].out_last;
    end
  end

endmodule
