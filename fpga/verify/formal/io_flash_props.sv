// SPDX-License-Identifier: Apache-2.0
// Proves the flash's driver with two VMs, for all requests, flushes, timeouts and answers of the
// flash: a program or erase request is reported as done only after its own operation has been begun
// and is over, whatever was flushed or timed out before; before its software reset is over the
// flash gets no other command, and no VM is served; no command is given that the flash ignores in
// its state, nor a read of a VM while the flash holds an operation of it; commands with an address
// stay in the VM's window; only a read passes bytes on; only a VM whose erase waits for that of
// another VM is blocked; and a VM begins a second erase beside others only after a turn that it has
// given up while the flash held nothing. flash_command is any block that executes one command after
// the other.
module io_flash_props
  import fabric_pkg::*;
  import io_pkg::*;
#(
  localparam int unsigned NumVms = 2,
  localparam int unsigned ResetCycles = 3,
  // states of the driver
  localparam logic [3:0] Idle = 4'd0, Read = 4'd1, Store = 4'd2, Resume = 4'd3, Enable = 4'd4,
                                Begin = 4'd5, Poll = 4'd6,
                         Suspend = 4'd7, End = 4'd8, Reset = 4'd9, Recover = 4'd10
) (
  input logic clk_i,
  input logic [31:0] slice_i,
  input logic [7:0] first_i,
  input logic [8:0] number_i,
  input logic start_i, abort_i, others_i, flush_i, write_ready_i, write_done_i, read_valid_i,
      read_quiet_i,
  input io_chunk_t chunk_i,
  input vm_t flush_vm_i,
  input io_status_e write_status_i, read_status_i,
  input logic [7:0] read_byte_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // The chunk and its window are stable until done_o.
  logic busy_q = 1'b0, start, done;
  io_chunk_t chunk, chunk_q;
  logic [7:0] first, first_q;
  logic [8:0] number, number_q;
  assign start  = start_i && rst_n && !busy_q;
  assign chunk  = busy_q ? chunk_q : chunk_i;
  assign first  = busy_q ? first_q : first_i;
  assign number = busy_q ? number_q : number_i;
  always_ff @(posedge clk_i) begin
    busy_q   <= start || (busy_q && !done);
    chunk_q  <= chunk;
    first_q  <= first;
    number_q <= number;
  end

  io_result_t result;
  logic [NumVms-1:0] blocked;
  logic write_start, write_valid, write_end, read_start;
  io_flash #(.NumVms(NumVms), .ResetCycles(ResetCycles)) dut (
    .clk_i, .rst_ni(rst_n), .half_i(8'd1), .deselect_i(8'd1), .slice_i, .first_i(first),
    .number_i(number), .start_i(start), .chunk_i(chunk), .abort_i(abort_i && busy_q), .done_o(done),
    .result_o(result), .others_i, .flush_i, .flush_vm_i, .blocked_o(blocked),
    .write_start_o(write_start), .write_valid_o(write_valid), .write_byte_o(), .write_ready_i,
    .write_end_o(write_end), .write_done_i, .write_status_i, .read_start_o(read_start),
    .read_stop_o(), .read_valid_i, .read_byte_i, .read_ready_o(), .read_status_i, .read_quiet_i,
    .cs_no(), .sck_o(), .mosi_o(), .miso_i(1'b0)
  );

  // ---- flash_command: accepts a command when it has none, and ends it later ----
  logic under_way_q = 1'b0, given;
  assign given = rst_n && dut.command && dut.accepted;
  always_ff @(posedge clk_i) under_way_q <= rst_n && (given || (under_way_q && !dut.command_done));
  always_comb begin
    if (under_way_q) assume (!dut.accepted);
    if (!under_way_q) assume (!dut.command_done);
  end

  // ---- The flash after rst_ni, in any state until its software reset is over ----
  localparam logic [7:0] CmdReset = 8'hF0;
  logic resets_q = 1'b0;        // it has got the command
  logic [1:0] since_q = '0;     // cycles since, up to ResetCycles
  logic known, recovers;
  assign known    = since_q == 2'(ResetCycles);
  assign recovers = dut.state_q inside {Reset, Recover};
  always_ff @(posedge clk_i) begin
    if (given && dut.code == CmdReset) resets_q <= 1'b1;
    if (resets_q && !under_way_q && !known) since_q <= since_q + 1'b1;
  end

  // ---- The flash: what it holds, by the commands that it was given ----
  localparam logic [7:0] CmdRead = 8'h03, CmdEnable = 8'h06, CmdProgram = 8'h02, CmdErase = 8'hD8;
  logic [1:0] held_q = '0;      // erase, program
  logic running_q = 1'b0;       // the present one
  logic suspending_q = 1'b0;
  vm_t [1:0] holder_q;
  logic ready, over;            // by its status: it is not busy; the present operation is over
  assign ready = dut.state_q == Poll && dut.step && !dut.wip_q;
  assign over  = ready && !suspending_q;
  always_ff @(posedge clk_i) begin
    if (given) begin
      unique case (dut.code)
        CmdErase, CmdProgram: begin
          held_q[dut.code == CmdProgram]   <= 1'b1;
          holder_q[dut.code == CmdProgram] <= chunk.vm;
          running_q    <= 1'b1;
          suspending_q <= 1'b0;
        end
        8'h7A, 8'h8A: {running_q, suspending_q} <= 2'b10;
        8'h75, 8'h85: suspending_q <= 1'b1;
        default: ;
      endcase
    end
    if (ready) running_q <= 1'b0;
    if (over) held_q[held_q[1]] <= 1'b0;
  end

  logic ends_q = 1'b0;  // the recovery has ended in the last cycle
  always_ff @(posedge clk_i) ends_q <= recovers;

  // ---- An arbitrary VM, chosen by the solver, and its request ----
  (* keep *) logic chosen;
  vm_t any;
  assign any = {3'b0, chosen};
  always_ff @(posedge clk_i) chosen <= chosen;
  logic [1:0] mine_q = '0;      // held for its present request
  logic finished_q = 1'b0;      // that operation is over
  logic open_q = 1'b0;          // the request takes another turn
  io_chunk_t request_q;
  logic gone_q = 1'b0, flushes, ours, claims, begins;
  assign flushes = flush_i && flush_vm_i == any;
  assign ours    = busy_q && chunk.vm == any && !gone_q;
  assign begins  = given && dut.state_q == Begin && ours;
  assign claims  = done && ours && result.status == IoDone && (!result.again || result.bytes != '0);
  always_ff @(posedge clk_i) begin
    gone_q <= rst_n && !start && ((gone_q && busy_q) || (flushes && busy_q && chunk.vm == any));
    if (start && flushes && chunk.vm == any) gone_q <= 1'b1;
    if (begins) mine_q[chunk.op == FlashProgram] <= 1'b1;
    if (over && mine_q[held_q[1]]) begin
      mine_q[held_q[1]] <= 1'b0;
      finished_q <= 1'b1;
    end
    if (done && ours) begin
      open_q    <= result.status == IoDone && result.again && result.bytes == '0;
      request_q <= chunk;
      if (claims || result.status != IoDone) {mine_q, finished_q} <= '0;
    end
    if (flushes) {mine_q, finished_q, open_q} <= '0;
  end

  // ---- Its erases ----
  // The VM has begun one, and no other VM since; it has given up a turn; no other VM waited in this
  // turn.
  logic erased_q = 1'b0, gave_q = 1'b0, alone_q = 1'b0, gives;
  assign gives = chunk.vm == any && result.again && result.bytes == '0 && held_q == '0;
  always_ff @(posedge clk_i) begin
    alone_q <= rst_n && (!others_i || (alone_q && !start));
    if (dut.state_q == Begin && chunk.op == FlashErase) begin
      erased_q <= chunk.vm == any;
      gave_q   <= 1'b0;
    end else if (done && gives) gave_q <= 1'b1;
  end

  always_comb begin
    assume (chunk_i.vm < vm_t'(NumVms) && flush_vm_i < vm_t'(NumVms));
    assume (9'(first_i) + 9'(number_i) <= 9'd256 && number_i <= 9'd256);
    // io_arbiter serves no VM that is blocked, and a request's next turn is about the same bytes.
    if (start) assume (!blocked[chunk_i.vm[0]]);
    if (start && chunk.vm == any && open_q) assume (chunk == request_q);
  end

  // The request's operation; the chunk has to wait for an operation that the flash holds.
  io_op_t op;
  logic [1:0] of_vm;
  logic waits;
  assign op    = ours ? chunk.op : request_q.op;
  assign of_vm = held_q & {holder_q[1] == chunk.vm, holder_q[0] == chunk.vm};
  assign waits = chunk.op == FlashErase ? held_q != '0 : of_vm != '0
                 || (chunk.op == FlashProgram && held_q[1]);

  logic again;  // nothing of the chunk is done
  assign again = result.again && result.bytes == '0 && result.status == IoDone;

  // the chunk's own command is about to begin; its request ends with an error
  logic writing, fails;
  assign writing = dut.state_q == Begin && !dut.begun_q;
  assign fails   = ours && dut.state_q == End && result.status != IoDone;

  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (busy_q == !(dut.state_q inside {Idle, Reset, Recover}) && dut.state_q <= Recover);
    assert (recovers ? blocked == '1 && held_q == '0 : known && resets_q);
    if (dut.state_q == Reset) assert (resets_q == dut.begun_q && (dut.finished_q || since_q == '0));
    if (dut.state_q == Recover) assert (resets_q && !dut.begun_q && dut.elapsed_q <= 32'(since_q));
    if (busy_q) assert (chunk.vm < vm_t'(NumVms));
    assert (dut.begun_q == (under_way_q || dut.finished_q) && !(under_way_q && dut.finished_q));
    if (dut.state_q inside {Idle, Store, End}) assert (!dut.begun_q);
    for (int i = 0; i < 2; i++) begin
      if (!(writing && dut.program_now == (i == 1))) begin
        assert (dut.held_q[i] == held_q[i]);
        if (held_q[i]) assert (dut.owner_q[i] == holder_q[i]);
        if (!fails) assert (mine_q[i] == (held_q[i] && dut.owned_q[i] && holder_q[i] == any));
      end else assert (!held_q[i] && !mine_q[i]);
      assert (dut.owner_q[i] < vm_t'(NumVms) && (!held_q[i] || holder_q[i] < vm_t'(NumVms)));
    end
    if (!(dut.state_q inside {Begin, Resume} && !dut.begun_q)) assert (dut.running_q == running_q);
    if (running_q) assert (held_q != '0);
    if (dut.state_q inside {Resume, Begin} && dut.begun_q) assert (!suspending_q);
    if (dut.state_q == Suspend && dut.begun_q) assert (suspending_q);
    if (dut.state_q == Poll)
      assert (suspending_q == dut.stopping_q && (suspending_q || !dut.clears_q));
    if (dut.state_q == Begin) assert (!dut.clears_q);
    if (dut.state_q inside {Resume, Poll, Suspend}) assert (held_q != '0);
    if (busy_q) assert (dut.gone_q == gone_q || chunk.vm != any);

    if (dut.state_q inside {Read, Store}) assert (chunk.op == FlashRead);
    if (dut.state_q inside {Enable, Begin}) assert (chunk.op inside {FlashProgram, FlashErase});
    if (busy_q && dut.state_q != End) assert (dut.refusal == IoDone);

    if (dut.state_q == Begin && dut.begun_q) begin
      assert (held_q[chunk.op == FlashProgram] && holder_q[chunk.op == FlashProgram] == chunk.vm);
      assert (!held_q[chunk.op == FlashErase] || (chunk.op == FlashProgram && !of_vm[0]));
      assert (mine_q[chunk.op == FlashProgram] == ours || chunk.vm != any);
    end

    // the request
    assert (!(finished_q && mine_q != '0) && mine_q != 2'b11);
    if (dut.over_q[chosen]) assert (finished_q);
    if (finished_q && !(ours && dut.state_q == End)) assert (dut.over_q[chosen]);
    if (ours && finished_q) assert (dut.state_q == End);
    if (dut.state_q inside {Resume, Poll, Suspend} && !dut.clears_q)
      assert (ours ? dut.foreign_q == !mine_q[held_q[1]] : dut.foreign_q || !mine_q[held_q[1]]);
    if (finished_q) assert (op inside {FlashProgram, FlashErase});
    if (mine_q[0]) assert (op == FlashErase);
    if (mine_q[1]) assert (op == FlashProgram);
    if (dut.state_q inside {Read, Store, Enable} || writing) assert (!running_q && !waits);
    if (dut.state_q == Resume && !dut.begun_q) assert (!running_q);
    if (busy_q && chunk.vm == any && gone_q) assert (!finished_q && !open_q && mine_q == '0);
    if ((finished_q || mine_q != '0) && !(busy_q && ours)) assert (open_q);
    if (busy_q && dut.state_q != End) assert (!again);
    if (ours && dut.state_q == End && result.status == IoDone
        && chunk.op inside {FlashProgram, FlashErase})
      assert (finished_q == !again);
    if (claims && chunk.op inside {FlashProgram, FlashErase}) assert (finished_q);
    if (busy_q && dut.waits_q)
      assert (dut.state_q == End && chunk.op == FlashErase && dut.result_q.again
              && dut.result_q.bytes == '0);
    if (blocked[chosen] && !recovers && !ends_q)
      assert (open_q && request_q.op == FlashErase && !ours);

    // the order of erases
    if (erased_q) assert (dut.passed_q[chosen]);
    if (dut.yielded_q[chosen]) assert (gave_q || (dut.state_q == End && gives));
    if (dut.state_q == Enable && chunk.op == FlashErase && chunk.vm == any)
      assert (!erased_q || gave_q || alone_q);

    // commands
    if (given) assert (known || dut.code == CmdReset);
    if (given) begin
      unique case (dut.code)
        CmdRead: begin
          assert (!running_q);
          for (int i = 0; i < 2; i++) assert (!held_q[i] || holder_q[i] != chunk.vm);
        end
        CmdProgram: assert (!running_q && !held_q[1] && !(held_q[0] && holder_q[0] == chunk.vm));
        CmdErase:   assert (!running_q && held_q == '0);
        CmdEnable:  assert (!running_q);
        CmdReset:   assert (!known && held_q == '0);
        8'h7A:      assert (!running_q && held_q == 2'b01);
        8'h8A:      assert (!running_q && held_q[1]);
        8'h75:      assert (held_q == 2'b01);
        8'h85:      assert (held_q[1]);
        default:    assert (dut.code == 8'h05);
      endcase
      if (dut.moves_data) begin
        assert (dut.addr == {first, 16'b0} + chunk.target[23:0]);
        assert ({1'b0, chunk.target} + 33'(dut.code == CmdErase ? 17'h10000
                                           : 17'(dut.length)) <= {8'b0, number, 16'b0});
      end
    end

    // data
    if (write_start || write_valid || write_end) assert (chunk.op == FlashRead && busy_q | start);
    if (write_valid) assert (dut.state_q == Read);
    if (done && result.status != IoDone) assert (result.bytes == '0);
    cover (claims && chunk.op == FlashErase && finished_q);
    cover (begins && chunk.op == FlashProgram && holder_q[0] != any && held_q[0]);
    cover (claims && chunk.op == FlashRead && result.bytes == 16'd8);
    cover (blocked[chosen] && open_q && mine_q == '0);
    cover (done && gives && erased_q);
  end
endmodule
