// SPDX-License-Identifier: Apache-2.0
// Saves a task's context into its IF's buffer and restores it, one word a cycle; it serves prr_run,
// and owns the format of the buffer. Words arrive two cycles after ctx_ready_o, and ctx_ready_i is
// two cycles old, so a FIFO takes the words of a save, and the words of a restore are sent without
// waiting once the task is ready. Word 0 of the buffer holds the task and the length of the
// context, word 1 the numbers of beats that the job has consumed and produced; the task's own words
// follow, and the job registers that prr_run keeps are at the end. An incomplete save is a fault,
// and its job is lost.
module ctx_mover
  import fabric_pkg::*;
(
  input  logic        clk_i,
  /// Asynchronous, active low; no transfer is in progress after it.
  input  logic        rst_ni,
  /// Pulse, while the task is stopped and the mover idle; ctx_save_o is the same pulse.
  input  logic        save_i,
  /// Pulse, after the region's reset, while the mover is idle.
  input  logic        restore_i,
  /// Level: abort the transfer at once, without done_o. The buffer may then hold a part of a
  /// context, which nothing marks as saved.
  input  logic        abort_i,
  /// The task that the region holds: written to the header by a save, required by a restore.
  input  task_t       task_i,
  /// Beats that the task has consumed and produced.
  input  logic [29:0] taken_i,
  input  logic [29:0] given_i,
  /// Pulse: the save or restore is complete. A restore is complete when the task has raised
  /// stopped. There is no limit of time here: prr_fsm's stop time ends a transfer that does not
  /// end.
  output logic        done_o,
  /// Pulse: the context is too long, or belongs to another task. The mover is idle afterwards.
  output logic        bad_o,
  /// Beat counts of the restored context, valid from done_o to the next restore.
  output logic [29:0] taken_o,
  output logic [29:0] given_o,
  // the task
  /// The region's side, through region_gate, as region_pkg describes it.
  output logic        ctx_save_o,
  output logic        ctx_restore_o,
  input  logic        stopped_i,
  output word_t       ctx_data_o,
  output logic        ctx_valid_o,
  input  logic        ctx_ready_i,
  /// A word of the task that has moved.
  input  word_t       ctx_data_i,
  input  logic        ctx_moved_i,
  input  logic        ctx_last_i,
  /// Space for this word and for two more that may be in flight.
  output logic        ctx_ready_o,
  /// The IF's context buffer: unless aborted, a request stays until ram_gnt_i, which may come in
  /// the same cycle; data of a read are valid in the cycle after the grant.
  output logic        ram_req_o,
  output logic        ram_we_o,
  output logic [6:0]  ram_word_o,
  output word_t       ram_data_o,
  input  logic        ram_gnt_i,
  input  word_t       ram_data_i
);

  // Marks a context of this format. That a save is complete, is a flag of if_flags, set with
  // done_o; the header is checked all the same, because it names the task.
  localparam logic [15:0] Magic = 16'h7e55;

  // Save: CtxSave (the task's words), CtxCounts, CtxHeader. Restore: CtxReadHeader, CtxReadCounts,
  // CtxRestore (the task's words), CtxStand (until the task is stopped).
  typedef enum logic [2:0] {
    CtxOff, CtxSave, CtxCounts, CtxHeader, CtxReadHeader, CtxReadCounts, CtxRestore, CtxStand
  } state_e;

  state_e state_q;
  logic [6:0] word_q, total_q;   // task words moved or requested; their total
  // Words that were sent to the task.
  logic [6:0] sent_q;
  logic arrives_q;               // the word granted a cycle ago arrives now
  logic sends_q;                 // the task has been ready for the words of a restore
  logic [2:0] ahead;
  logic fifo_ready, fifo_valid, fifo_last, pop, saves, reading, header_ok;
  word_t header, fifo_data;

  // Magic, task, version of the format, words of the task.
  assign header    = {Magic, task_i, 8'd1, 25'b0, total_q};
  assign header_ok = ram_data_i[63:32] == header[63:32] && ram_data_i[31:0] <= 32'(MaxCtxWords);
  // A word that was requested needs a place in the FIFO when it arrives.
  assign reading   = state_q == CtxRestore && word_q != total_q && ahead + 3'(arrives_q) < 3'd4;

  always_comb begin
    ram_req_o  = 1'b0;
    ram_we_o   = 1'b0;
    ram_word_o = word_q + 7'(CtxHeaderWords);
    ram_data_o = fifo_data;
    unique case (state_q)
      CtxSave: begin
        ram_req_o = fifo_valid && word_q != 7'(MaxCtxWords);
        ram_we_o  = 1'b1;
      end
      CtxCounts: begin
        ram_req_o  = 1'b1;
        ram_we_o   = 1'b1;
        ram_word_o = 7'd1;
        ram_data_o = {2'b0, taken_i, 2'b0, given_i};
      end
      CtxHeader: begin
        ram_req_o  = 1'b1;
        ram_we_o   = 1'b1;
        ram_word_o = 7'd0;
        ram_data_o = header;
      end
      CtxReadHeader: begin
        ram_req_o  = 1'b1;
        ram_word_o = {6'b0, arrives_q};  // the header, then the counts while the header is compared
      end
      CtxReadCounts: begin
        ram_req_o  = !arrives_q;
        ram_word_o = 7'd1;
      end
      CtxRestore: ram_req_o = reading;
      default: ;
    endcase
  end

  assign saves         = state_q == CtxSave && ram_req_o && ram_gnt_i;
  assign pop           = saves || ctx_valid_o;
  // and two more words may be in flight
  assign ctx_ready_o   = state_q == CtxSave && ahead <= 3'd1;
  assign ctx_data_o    = fifo_data;
  assign ctx_valid_o   = state_q == CtxRestore && (sends_q || ctx_ready_i) && fifo_valid;
  assign ctx_save_o    = save_i;
  assign ctx_restore_o = state_q == CtxReadHeader && arrives_q && header_ok;
  assign done_o        = (state_q == CtxHeader && ram_gnt_i) || (state_q == CtxStand && stopped_i);
  assign bad_o         = (state_q == CtxReadHeader && arrives_q && !header_ok)
                         || (state_q == CtxSave && fifo_valid && word_q == 7'(MaxCtxWords));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= CtxOff;
      word_q    <= '0;
      total_q   <= '0;
      sent_q    <= '0;
      arrives_q <= 1'b0;
      sends_q   <= 1'b0;
      taken_o   <= '0;
      given_o   <= '0;
    end else if (abort_i) begin
      state_q   <= CtxOff;
      arrives_q <= 1'b0;
    end else begin
      arrives_q <= ram_req_o && !ram_we_o && ram_gnt_i;
      sends_q   <= state_q == CtxRestore && (sends_q || ctx_ready_i);
      unique case (state_q)
        CtxOff: begin
          word_q  <= '0;
          sent_q  <= '0;
          total_q <= '0;
          if (save_i) state_q <= CtxSave;
          else if (restore_i) state_q <= CtxReadHeader;
        end
        CtxSave: begin
          if (saves) begin
            word_q  <= word_q + 1'b1;
            total_q <= word_q + 1'b1;
            if (fifo_last) state_q <= CtxCounts;
          end else if (bad_o) state_q <= CtxOff;
        end
        CtxCounts: if (ram_gnt_i) state_q <= CtxHeader;
        CtxHeader: if (ram_gnt_i) state_q <= CtxOff;
        CtxReadHeader: if (arrives_q) begin
          state_q <= header_ok ? CtxReadCounts : CtxOff;
          total_q <= ram_data_i[6:0];
        end
        CtxReadCounts: if (arrives_q) begin
          state_q <= total_q == '0 ? CtxStand : CtxRestore;
          taken_o <= ram_data_i[61:32];
          given_o <= ram_data_i[29:0];
        end
        CtxRestore: begin
          if (reading && ram_gnt_i) word_q <= word_q + 1'b1;
          if (ctx_valid_o) begin
            sent_q <= sent_q + 1'b1;
            if (sent_q + 1'b1 == total_q) state_q <= CtxStand;
          end
        end
        default: if (stopped_i) state_q <= CtxOff;
      endcase
    end
  end

  // One bit next to the word marks the task's last word.
  fabric_word_fifo #(.Width(65), .Depth(4)) i_ahead (
    .clk_i, .rst_ni, .flush_i(!(state_q inside {CtxSave, CtxRestore})),
    .data_i(state_q == CtxSave ? {ctx_last_i, ctx_data_i} : {1'b0, ram_data_i}),
    .valid_i(state_q == CtxSave ? ctx_moved_i : arrives_q), .ready_o(fifo_ready),
    .data_o({fifo_last, fifo_data}), .valid_o(fifo_valid), .ready_i(pop), .usage_o(ahead)
  );

  logic unused;
  assign unused = &{1'b0, fifo_ready};

endmodule
