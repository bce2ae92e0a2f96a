// SPDX-License-Identifier: Apache-2.0
// Executes chunks on an SPI NOR flash with the commands of Infineon's S25FL128S (16 MiB, pages of
// 256 bytes, sectors of 64 KiB). Each VM has a window of whole sectors, its addresses start at 0.
// An erase or a program operation takes long inside the flash: after a slice it is suspended if
// another VM waits, and continues in a later chunk.
//
// The flash holds one erase and one program operation at a time, of different sectors; the erase is
// suspended meanwhile. So a program operation waits for no erase of another VM, and ends a
// suspended program operation before it starts. An erase waits until another VM's erase is over,
// which its own VM's turns continue: until then the arbiter does not serve the waiting VM.
//
// An erase that a flush has left is not waited for, so a VM that flushes could always end it in one
// of its own turns and start the next erase there. Therefore a VM that has begun an erase gives the
// others a turn, with no erase in the flash, before it starts another one. Under round robin an
// erase waits for at most one of each other VM, or two if its own VM has just erased.
//
// A flush or a timeout may end a request whose operation the flash still holds. The VM's next
// requests end that operation first, also reads, because its sector has no defined content; so does
// an erase of another VM.
//
// rst_ni does not reach the flash, which may execute or suspend operations of requests that the
// reset has removed. The software reset of the flash ends them; until then no VM is served. It
// starts before software has set half_i and deselect_i, so its times are fixed, and allowed for
// every board: the flash is deselected for 255 cycles, and SCK has 1/510 of the clock, at most the
// lowest sck-hz (1 MHz).
module io_flash
  import fabric_pkg::*;
  import io_pkg::*;
#(
  parameter int unsigned NumVms = 4,
  /// Cycles that the software reset of the flash takes: at least 35 us.
  parameter int unsigned ResetCycles = 32_768
) (
  input  logic       clk_i,
  /// Asynchronous, active low. FlReset follows, then ResetCycles cycles with all VMs blocked.
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
  /// Chunks (io_arbiter): a pulse; chunk_i is stable until done_o. abort_i, a level, ends the chunk
  /// with IoTimeout after the present command; the flash may then still hold its operation.
  input  logic       start_i,
  input  io_chunk_t  chunk_i,
  input  logic       abort_i,
  /// Pulse, with result_o. `again`: the arbiter serves the rest of the request in a later chunk.
  output logic       done_o,
  output io_result_t result_o,
  /// Another VM waits.
  input  logic       others_i,
  /// Pulse: the requests of this VM are removed; a suspended operation of it is no longer its own.
  input  logic       flush_i,
  input  vm_t        flush_vm_i,
  /// VMs whose erase waits for another VM's, and all VMs after a reset. A bit rises in the cycle
  /// after done_o.
  output logic [NumVms-1:0] blocked_o,
  /// Data to memory (io_writer), and from it (io_reader), or from the SPI face: a start is a pulse,
  /// and a byte moves when valid and ready.
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
  localparam logic [7:0] CmdRead = 8'h03, CmdEnable = 8'h06, CmdProgram = 8'h02, CmdErase = 8'hD8,
                                   CmdStatus = 8'h05;
  localparam logic [7:0] CmdSuspendErase = 8'h75, CmdResumeErase = 8'h7A;
  localparam logic [7:0] CmdSuspendProgram = 8'h85, CmdResumeProgram = 8'h8A;
  localparam logic [7:0] CmdReset = 8'hF0;
  localparam logic [7:0] ResetHalf = '1;  // half a period of SCK during CmdReset

  // A read: FlRead, FlStore (the writer ends). A new operation: FlEnable, FlBegin, FlPoll. A held
  // one: FlResume, FlPoll. Its suspension: FlSuspend, FlPoll. FlEnd ends the chunk. FlReset and
  // FlRecover follow a reset.
  typedef enum logic [3:0] {
    FlIdle, FlRead, FlStore, FlResume, FlEnable, FlBegin, FlPoll, FlSuspend, FlEnd, FlReset,
        FlRecover
  } state_e;

  state_e state_q;
  logic begun_q;     // the state's command
  logic finished_q;  // it is over, but its last byte may be left
  logic recovers;    // after a reset
  logic command, moves_data, enables, accepted, command_done, step, allowed, inline, answers,
      in_valid;
  logic [7:0] in_byte;

  assign recovers = state_q inside {FlReset, FlRecover};

  // ---- The window ----
  logic [32:0] end_of_chunk;
  logic [23:0] addr;
  logic [8:0] page_left;   // a program operation ends with its page
  logic partial;
  io_length_t bytes;
  assign end_of_chunk = {1'b0, chunk_i.target} + 33'(chunk_i.op == FlashErase ? 17'h10000
                                                     : 17'(chunk_i.bytes));
  // The sum has 33 bits, so a chunk that wraps around is not allowed.
  assign allowed      = end_of_chunk <= {8'b0, number_i, 16'b0};
  assign addr         = {first_i + chunk_i.target[23:16], chunk_i.target[15:0]};
  assign page_left    = 9'd256 - {1'b0, chunk_i.target[7:0]};
  assign partial      = chunk_i.op == FlashProgram && chunk_i.bytes > 16'(page_left);
  assign bytes        = partial ? 16'(page_left) : chunk_i.bytes;
  // So is each read of the SPI face, because io_arbiter does not cut it: none of them writes to
  // memory.
  assign inline       = chunk_i.op == FlashRead && chunk_i.first && chunk_i.last
                        && chunk_i.bytes <= 16'd4;

  io_status_e refusal;
  always_comb begin
    refusal = IoDone;
    if (!(chunk_i.op inside {FlashRead, FlashProgram, FlashErase})) refusal = IoBad;
    else if (chunk_i.op == FlashErase ? chunk_i.bytes != '0 || chunk_i.target[15:0] != '0
             : chunk_i.bytes == '0)
      refusal = IoBad;
    else if (!allowed) refusal = IoForbidden;
  end

  // ---- The operations that the flash holds: an erase, and a program operation ----
  localparam int unsigned Erase = 0, Program = 1;
  logic [1:0] held_q;
  logic [1:0] owned_q;        // a request of owner_q waits for it
  vm_t [1:0] owner_q;
  // the present one (the program operation, if it is held) is not suspended
  logic running_q;
  logic [NumVms-1:0] over_q;  // the operation of the VM's waiting request has become over since
  logic over;
  logic [1:0] of_vm, mine;    // of the chunk's VM; of its request
  logic program_now;          // the operation that starts, or the present one
  always_comb begin
    over = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) if (chunk_i.vm == vm_t'(v)) over = over_q[v];
    for (int i = 0; i < 2; i++) of_vm[i] = owner_q[i] == chunk_i.vm;
  end
  assign mine        = of_vm & owned_q;
  assign program_now = state_q == FlBegin ? chunk_i.op == FlashProgram : held_q[Program];

  // ---- Sequence ----
  logic waits_q;      // its erase waits for another VM
  logic gone_q;       // the chunk's VM has removed its requests since it began
  logic foreign_q;    // the operation that continues is not that of the chunk's request
  logic stopping_q;   // it is being suspended
  logic clears_q;     // an operation that a timeout has left is suspended for the chunk
  logic wip_q;        // write in progress, of the last status
  logic [31:0] elapsed_q;
  logic [1:0] count_q;
  logic lost;         // the data cannot be read
  logic unwanted;     // the chunk starts nothing any more
  io_result_t result_q;
  logic removes, ended;
  logic [1:0] rest;   // held without the one that is over
  assign lost     = chunk_i.op == FlashProgram && read_status_i != IoDone;
  assign removes  = flush_i && flush_vm_i == chunk_i.vm;
  assign unwanted = gone_q || removes || result_q.status != IoDone;
  assign answers  = inline && state_q == FlRead;
  // the last byte of an inline read is taken in this cycle
  assign step     = finished_q && (!in_valid || answers);
  assign ended    = state_q == FlPoll && step && !wip_q && !stopping_q;
  assign rest     = !ended ? held_q : held_q[Program] ? held_q & 2'b01 : 2'b00;

  // What the chunk waits for. To continue the erase, the flash must have ended the program
  // operation.
  logic continues, blocked;
  always_comb begin
    unique case (chunk_i.op)
      FlashErase:   continues = rest != '0;
      FlashProgram: continues = rest[Program] || (rest[Erase] && of_vm[Erase]);
      default:      continues = (rest & of_vm) != '0;
    endcase
  end
  assign blocked = chunk_i.op == FlashErase && rest == 2'b01 && owned_q[Erase] && !of_vm[Erase];

  // An erase for which the flash is free may first end its turn. All VMs have begun at most one
  // erase since a VM had had two turns with a free flash.
  logic [NumVms-1:0] passed_q;   // VMs that have begun an erase since then
  logic [NumVms-1:0] yielded_q;  // of these, the VMs that have given up a turn since the last erase
  logic passed, yielded, yields;
  always_comb begin
    {passed, yielded} = '0;
    for (int v = 0; v < int'(NumVms); v++)
      if (chunk_i.vm == vm_t'(v)) {passed, yielded} = {passed_q[v], yielded_q[v]};
  end
  assign yields = chunk_i.op == FlashErase && rest == '0 && others_i && passed && !yielded;

  function automatic state_e begins();
    if (blocked || yields) return FlEnd;
    if (continues) return FlResume;
    return chunk_i.op == FlashRead ? FlRead : FlEnable;
  endfunction

  function automatic state_e first_state();
    if (refusal != IoDone || over) return FlEnd;
    // a timeout may have ended the last chunk during a suspension
    return running_q ? FlSuspend : begins();
  endfunction

  logic interrupted;
  assign interrupted = (others_i && elapsed_q >= slice_i) || (foreign_q && gone_q);

  function automatic state_e after_status();
    // The operation continues in the flash: running_q makes the next chunk suspend it first.
    if (wip_q && abort_i) return FlEnd;
    if (wip_q) return !stopping_q && interrupted ? FlSuspend : FlPoll;
    return (stopping_q ? !clears_q : !foreign_q) || unwanted ? FlEnd : begins();
  endfunction

  state_e next;
  always_comb begin
    next = state_q;
    unique case (state_q)
      FlIdle:    if (start_i) next = first_state();
      FlRead:    if (step) next = inline ? FlEnd : FlStore;
      FlStore:   if (write_done_i) next = FlEnd;
      FlEnable:  if (step || !begun_q) next = lost || unwanted ? FlEnd : step ? FlBegin : FlEnable;
      FlResume, FlBegin, FlSuspend: if (step) next = FlPoll;
      FlReset:   if (step) next = FlRecover;
      FlRecover: if (elapsed_q >= ResetCycles) next = FlIdle;
      FlPoll:    if (step) next = after_status();
      default:   if (read_quiet_i) next = FlIdle;  // FlEnd
    endcase
  end

  logic ends, unfinished, waits;
  assign ends       = state_q inside {FlIdle, FlPoll} && next == FlEnd;
  assign waits      = ends && (blocked || yields) &&
                      (state_q == FlIdle ? refusal == IoDone && !over : (foreign_q || clears_q)
                       && !unwanted);
  assign unfinished = waits || (ends && state_q == FlPoll && stopping_q && !wip_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= FlReset;
      begun_q    <= 1'b0;
      finished_q <= 1'b0;
      gone_q     <= 1'b0;
      foreign_q  <= 1'b0;
      stopping_q <= 1'b0;
      clears_q   <= 1'b0;
      wip_q      <= 1'b0;
      waits_q    <= 1'b0;
      elapsed_q  <= '0;
      count_q    <= '0;
      result_q   <= '0;
    end else begin
      state_q    <= next;
      begun_q    <= (begun_q || (command && accepted)) && !step;
      finished_q <= command_done || (finished_q && !step);
      gone_q     <= removes || (gone_q && !start_i);
      // What starts after another operation is over has the rest of its slice: a chunk takes two
      // slices at most.
      elapsed_q  <= state_q inside {FlResume, FlReset} || (state_q == FlBegin && !foreign_q) ? '0
                    : elapsed_q + 1'b1;
      if (in_valid && state_q == FlPoll) wip_q <= in_byte[0];
      if (start_i) begin
        result_q  <= '{status: refusal, again: partial, bytes: bytes, data: '0};
        count_q   <= '0;
        foreign_q <= 1'b0;
        clears_q  <= next == FlSuspend;
        waits_q   <= 1'b0;
      end
      if (in_valid && answers) begin
        result_q.data[8*count_q+:8] <= in_byte;
        count_q <= count_q + 1'b1;
      end
      if (state_q != FlResume && next == FlResume) foreign_q <= !mine[rest[Program]];
      if (state_q == FlBegin && step) foreign_q <= 1'b0;
      if (state_q inside {FlResume, FlEnable}) clears_q <= 1'b0;
      stopping_q <= state_q == FlSuspend || (stopping_q && state_q == FlPoll);
      if (waits) waits_q <= 1'b1;
      if (unfinished) {result_q.again, result_q.bytes} <= {1'b1, 16'd0};
      if (write_done_i && state_q == FlStore && write_status_i != IoDone)
        result_q.status <= write_status_i;
      if (state_q inside {FlEnable, FlBegin} && lost) result_q.status <= read_status_i;
      if (abort_i && state_q inside {FlRead, FlBegin, FlPoll}) result_q.status <= IoTimeout;
    end
  end

  // The order of erases.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_order
    logic chunks, erases;
    assign chunks = chunk_i.vm == vm_t'(v);
    assign erases = state_q == FlBegin && !program_now;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        passed_q[v]  <= 1'b0;
        yielded_q[v] <= 1'b0;
      end else begin
        if (erases) passed_q[v] <= chunks || (passed_q[v] && !yielded);
        if (erases) yielded_q[v] <= 1'b0;
        else if (waits && yields && chunks) yielded_q[v] <= 1'b1;
      end
    end
  end

  // The record of the operations.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_over
    logic chunks, flushes;
    assign chunks  = chunk_i.vm == vm_t'(v);
    assign flushes = flush_i && flush_vm_i == vm_t'(v);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        over_q[v]    <= 1'b0;
        blocked_o[v] <= 1'b1;
      end else begin
        if (flushes) over_q[v] <= 1'b0;
        else if (ended && foreign_q && owned_q[held_q[Program]]
                 && owner_q[held_q[Program]] == vm_t'(v)) over_q[v] <= 1'b1;
        else if (state_q == FlEnd && chunks) over_q[v] <= 1'b0;
        if (recovers) blocked_o[v] <= 1'b1;
        else if (flushes || !held_q[Erase] || !owned_q[Erase]) blocked_o[v] <= 1'b0;
        else if (done_o && chunks && waits_q && !gone_q && result_q.status == IoDone)
          blocked_o[v] <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q    <= '0;
      owned_q   <= '0;
      owner_q   <= '0;
      running_q <= 1'b0;
    end else begin
      // What the flash holds changes only when it has reported an end, or a command to start was
      // sent.
      held_q <= rest;
      if (state_q == FlPoll && step && !wip_q) running_q <= 1'b0;
      if (state_q inside {FlResume, FlBegin}) running_q <= 1'b1;
      for (int i = 0; i < 2; i++) begin
        if (state_q == FlBegin && program_now == (i == Program)) begin
          held_q[i]  <= 1'b1;
          owned_q[i] <= !gone_q && !removes;
          owner_q[i] <= chunk_i.vm;
        end else if ((flush_i && flush_vm_i == owner_q[i])
                     || (state_q == FlEnd && result_q.status != IoDone && of_vm[i]))
          owned_q[i] <= 1'b0;
      end
    end
  end

  assign done_o   = state_q == FlEnd && read_quiet_i;
  always_comb begin
    result_o = result_q;
    if (result_q.status != IoDone) result_o.bytes = '0;
  end

  // ---- Data ----
  assign write_start_o = state_q != FlRead && next == FlRead && !inline;
  assign write_valid_o = in_valid && state_q == FlRead && !inline;
  assign write_byte_o  = in_byte;
  assign write_end_o   = state_q == FlRead && step && !inline;
  assign read_start_o  = state_q != FlEnable && next == FlEnable && chunk_i.op == FlashProgram;
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
      FlReset:  code = CmdReset;
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
  // A program operation starts when its first byte is there. A chunk that ends leaves no command in
  // progress.
  assign enables    = state_q == FlEnable && !lost && !unwanted
                      && (chunk_i.op == FlashErase || read_valid_i);
  assign command    = !begun_q && (moves_data || enables
                                   || state_q inside {FlReset, FlResume, FlPoll, FlSuspend});

  flash_command i_command (
    .clk_i, .rst_ni, .half_i(recovers ? ResetHalf : half_i), .deselect_i, .start_i(command),
    .accept_o(accepted), .code_i(code), .addressed_i(moves_data), .addr_i(addr), .bytes_i(length),
    .out_i(to_flash), .stop_i(moves_data && result_q.status != IoDone), .done_o(command_done),
    .in_valid_o(in_valid), .in_byte_o(in_byte),
    .in_ready_i(state_q == FlPoll || inline || write_ready_i), .out_valid_i(read_valid_i),
    .out_byte_i(read_byte_i), .out_ready_o(read_ready_o), .cs_no, .sck_o, .mosi_o, .miso_i
  );

  logic unused;
  assign unused = &{1'b0, chunk_i.addr, chunk_i.face};

endmodule
