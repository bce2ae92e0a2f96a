// SPDX-License-Identifier: Apache-2.0
// Executes chunks on an SPI NOR flash with the commands of Infineon's S25FL128S (16 MiB, pages of 256 bytes,
// sectors of 64 KiB). Each VM has a window of whole sectors, its addresses begin at 0. An erase or a program
// operation takes long inside the flash: after a slice it is suspended if another VM waits, and takes another
// turn. The flash suspends one operation only: the turns of a second one continue the first, until that is
// over.
module io_flash
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  // configuration
  /// Cycles of half a period of SCK, at least 1.
  input  logic [7:0] half_i,
  /// Cycles for which the flash is not selected between two commands.
  input  logic [7:0] deselect_i,
  /// Cycles for which an erase or a program operation continues before it is suspended.
  input  logic [31:0] slice_i,
  /// Window of the chunk's VM, in sectors: the first one, and the number (flash_windows).
  input  logic [7:0] first_i,
  input  logic [8:0] number_i,
  // chunks (io_arbiter)
  input  logic       start_i,
  input  io_chunk_t  chunk_i,
  input  logic       abort_i,
  output logic       done_o,
  output io_result_t result_o,
  /// Another VM waits.
  input  logic       others_i,
  /// Pulse: the requests of this VM are removed; a suspended operation of it is no longer its own.
  input  logic       flush_i,
  input  vm_t        flush_vm_i,
  // data to memory (io_writer), and from it (io_reader), or from the SPI face
  output logic       write_start_o,
  output logic       write_valid_o,
  output logic [7:0] write_byte_o,
  input  logic       write_ready_i,
  output logic       write_end_o,
  input  logic       write_done_i,
  input  io_status_e write_status_i,
  output logic       read_start_o,
  output logic       read_stop_o,
  input  logic       read_valid_i,
  input  logic [7:0] read_byte_i,
  output logic       read_ready_o,
  input  io_status_e read_status_i,
  /// No burst of the reader is outstanding.
  input  logic       read_quiet_i,
  // pins
  output logic       cs_no,
  output logic       sck_o,
  output logic       mosi_o,
  input  logic       miso_i
);

  // Commands of the flash.
  localparam logic [7:0] CmdRead = 8'h03, CmdEnable = 8'h06, CmdProgram = 8'h02, CmdErase = 8'hD8, CmdStatus = 8'h05;
  localparam logic [7:0] CmdSuspendErase = 8'h75, CmdResumeErase = 8'h7A;
  localparam logic [7:0] CmdSuspendProgram = 8'h85, CmdResumeProgram = 8'h8A;

  typedef enum logic [3:0] {
    FlIdle, FlRead, FlStore, FlResume, FlEnable, FlBegin, FlPoll, FlSuspend, FlEnd
  } state_e;

  state_e state_q;
  logic begun_q;     // the state's command
  logic finished_q;  // it is over, but its last byte may be left
  logic command, moves_data, enables, accepted, command_done, step, allowed, inline, in_valid;
  logic [7:0] in_byte;

  // ---- The window ----
  logic [32:0] end_of_chunk;
  logic [23:0] addr;
  logic [8:0] page_left;   // a program operation ends with its page
  logic partial;
  io_length_t bytes;
  assign end_of_chunk = {1'b0, chunk_i.target} + 33'(chunk_i.op == FlashErase ? 17'h10000 : 17'(chunk_i.bytes));
  assign allowed      = end_of_chunk <= {8'b0, number_i, 16'b0};
  assign addr         = {first_i + chunk_i.target[23:16], chunk_i.target[15:0]};
  assign page_left    = 9'd256 - {1'b0, chunk_i.target[7:0]};
  assign partial      = chunk_i.op == FlashProgram && chunk_i.bytes > 16'(page_left);
  assign bytes        = partial ? 16'(page_left) : chunk_i.bytes;
  // So is each read of the SPI face, because io_arbiter does not cut it: none of them writes to memory.
  assign inline       = chunk_i.op == FlashRead && chunk_i.first && chunk_i.last && chunk_i.bytes <= 16'd4;

  io_status_e refusal;
  always_comb begin
    refusal = IoDone;
    if (!(chunk_i.op inside {FlashRead, FlashProgram, FlashErase})) refusal = IoBad;
    else if (chunk_i.op == FlashErase ? chunk_i.bytes != '0 || chunk_i.target[15:0] != '0 : chunk_i.bytes == '0)
      refusal = IoBad;
    else if (!allowed) refusal = IoForbidden;
  end

  // ---- The operation that is suspended, if any ----
  logic suspended_q, program_q, owned_q;  // owned_q: a request of owner_q waits for it
  vm_t owner_q;
  logic [NumVms-1:0] over_q;              // the operation of the VM's waiting request has become over meanwhile
  logic over;
  always_comb begin
    over = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) if (chunk_i.vm == vm_t'(v)) over = over_q[v];
  end

  // ---- Sequence ----
  logic gone_q;       // the chunk's VM has removed its requests since it began
  logic foreign_q;    // the operation in the flash is not that of the chunk, which helps it to its end
  logic stopping_q;   // it is being suspended
  logic wip_q;        // write in progress, of the last status
  logic [31:0] elapsed_q;
  logic [1:0] count_q;
  logic in_flash, program_now, lost;  // lost: the data cannot be read
  io_result_t result_q;
  assign in_flash    = state_q inside {FlResume, FlPoll, FlSuspend};
  assign program_now = in_flash ? program_q : chunk_i.op == FlashProgram;
  assign lost        = chunk_i.op == FlashProgram && read_status_i != IoDone;
  assign step        = finished_q && (!in_valid || inline);  // the last byte of an inline read is taken in this cycle

  logic removes;
  assign removes = flush_i && flush_vm_i == chunk_i.vm;

  function automatic state_e first_state();
    if (refusal != IoDone || over) return FlEnd;
    if (chunk_i.op == FlashRead) return FlRead;
    return suspended_q ? FlResume : FlEnable;
  endfunction

  function automatic state_e after_status();
    if (!wip_q) return foreign_q && !stopping_q ? FlEnable : FlEnd;
    if (abort_i) return FlEnd;
    return !stopping_q && others_i && elapsed_q >= slice_i ? FlSuspend : FlPoll;
  endfunction

  state_e next;
  always_comb begin
    next = state_q;
    unique case (state_q)
      FlIdle:    if (start_i) next = first_state();
      FlRead:    if (step) next = inline ? FlEnd : FlStore;
      FlStore:   if (write_done_i) next = FlEnd;
      FlEnable:  if (step || !begun_q) next = lost || gone_q ? FlEnd : step ? FlBegin : FlEnable;
      FlResume, FlBegin, FlSuspend: if (step) next = FlPoll;
      FlPoll:    if (step) next = after_status();
      default:   if (read_quiet_i) next = FlIdle;  // FlEnd
    endcase
  end

  logic suspends;
  assign suspends = state_q == FlPoll && next == FlEnd && stopping_q && !wip_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= FlIdle;
      begun_q    <= 1'b0;
      finished_q <= 1'b0;
      gone_q     <= 1'b0;
      foreign_q  <= 1'b0;
      stopping_q <= 1'b0;
      wip_q      <= 1'b0;
      elapsed_q  <= '0;
      count_q    <= '0;
      result_q   <= '0;
    end else begin
      state_q    <= next;
      begun_q    <= (begun_q || (command && accepted)) && !step;
      finished_q <= command_done || (finished_q && !step);
      gone_q     <= removes || (gone_q && !start_i);
      elapsed_q  <= state_q inside {FlResume, FlBegin} ? '0 : elapsed_q + 1'b1;
      if (in_valid && state_q == FlPoll) wip_q <= in_byte[0];
      if (start_i) begin
        result_q   <= '{status: refusal, again: partial, bytes: bytes, data: '0};
        count_q    <= '0;
        foreign_q  <= suspended_q && !(owned_q && owner_q == chunk_i.vm);
        stopping_q <= 1'b0;
      end
      if (in_valid && inline) begin
        result_q.data[8*count_q+:8] <= in_byte;
        count_q <= count_q + 1'b1;
      end
      if (state_q == FlSuspend) stopping_q <= 1'b1;
      if (state_q == FlPoll && next == FlEnable) foreign_q <= 1'b0;
      if (suspends) {result_q.again, result_q.bytes} <= {1'b1, 16'd0};
      if (write_done_i && state_q == FlStore && write_status_i != IoDone) result_q.status <= write_status_i;
      if (state_q inside {FlEnable, FlBegin} && lost) result_q.status <= read_status_i;
      if (abort_i && state_q inside {FlRead, FlBegin, FlPoll}) result_q.status <= IoTimeout;
    end
  end

  // The record of the operation: it is written when one begins, and it is in force while one is suspended.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_over
    logic mine;
    assign mine = chunk_i.vm == vm_t'(v);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) over_q[v] <= 1'b0;
      else if (flush_i && flush_vm_i == vm_t'(v)) over_q[v] <= 1'b0;
      else if (state_q == FlPoll && next == FlEnable && owned_q && owner_q == vm_t'(v)) over_q[v] <= 1'b1;
      else if (state_q == FlEnd && mine) over_q[v] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      suspended_q <= 1'b0;
      program_q   <= 1'b0;
      owned_q     <= 1'b0;
      owner_q     <= '0;
    end else begin
      if (state_q == FlResume && step) suspended_q <= 1'b0;
      if (suspends) suspended_q <= 1'b1;
      if (state_q == FlBegin) begin
        program_q <= chunk_i.op == FlashProgram;
        owned_q   <= !gone_q && !removes;
        owner_q   <= chunk_i.vm;
      end
      if (flush_i && flush_vm_i == owner_q) owned_q <= 1'b0;
    end
  end

  assign done_o   = state_q == FlEnd && read_quiet_i;
  always_comb begin
    result_o = result_q;
    if (result_q.status != IoDone) result_o.bytes = '0;
  end

  // ---- Data ----
  assign write_start_o = state_q == FlIdle && next == FlRead && !inline;
  assign write_valid_o = in_valid && state_q == FlRead && !inline;
  assign write_byte_o  = in_byte;
  assign write_end_o   = state_q == FlRead && step && !inline;
  assign read_start_o  = state_q == FlIdle && next inside {FlEnable, FlResume} && chunk_i.op == FlashProgram;
  assign read_stop_o   = state_q == FlEnd;

  // ---- Commands ----
  logic [7:0] code;
  logic to_flash;
  logic [15:0] length;
  always_comb begin
    to_flash = 1'b0;
    length   = '0;
    unique case (state_q)
      FlRead: begin
        code   = CmdRead;
        length = chunk_i.bytes;
      end
      FlEnable: code = CmdEnable;
      FlBegin: begin
        code     = program_now ? CmdProgram : CmdErase;
        length   = chunk_i.op == FlashProgram ? bytes : '0;
        to_flash = 1'b1;
      end
      FlResume:  code = program_now ? CmdResumeProgram : CmdResumeErase;
      FlSuspend: code = program_now ? CmdSuspendProgram : CmdSuspendErase;
      default: begin
        code   = CmdStatus;
        length = 16'd1;
      end
    endcase
  end

  assign moves_data = state_q inside {FlRead, FlBegin};
  // A program operation begins when its first byte is there.
  assign enables    = state_q == FlEnable && (chunk_i.op == FlashErase || read_valid_i);
  assign command    = !begun_q && (moves_data || in_flash || enables);

  flash_command i_command (
    .clk_i, .rst_ni, .half_i, .deselect_i, .start_i(command), .accept_o(accepted), .code_i(code), .addressed_i(moves_data),
    .addr_i(addr), .bytes_i(length), .out_i(to_flash), .stop_i(moves_data && result_q.status != IoDone),
    .done_o(command_done), .in_valid_o(in_valid), .in_byte_o(in_byte),
    .in_ready_i(state_q == FlPoll || inline || write_ready_i), .out_valid_i(read_valid_i), .out_byte_i(read_byte_i),
    .out_ready_o(read_ready_o), .cs_no, .sck_o, .mosi_o, .miso_i
  );

  logic unused;
  assign unused = &{1'b0, chunk_i.addr, chunk_i.face};

endmodule
