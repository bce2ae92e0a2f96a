// SPDX-License-Identifier: Apache-2.0
// Proves the lines of the shared UART with eleven VMs, in mode 0, for all bytes, flushes and times
// at which VMs have something to send: a byte is in a line only if the line began with the number
// of the VM that wrote the byte; and a VM waits for at most one turn of each other VM.
module uart_lines_props
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  localparam int unsigned NumVms = 11,
  localparam int unsigned PointerBits = 2,
  // states of uart_lines
  localparam logic [3:0] Seek = 4'd0, Return = 4'd1, Newl = 4'd2, Open = 4'd3, Ten = 4'd4,
                                Unit = 4'd5, Close = 4'd6,
                         Space = 4'd7, Body = 4'd8
) (
  input logic clk_i,
  input logic scan_i, clear_i, take_i, ready_i, ready_tx_i, may_send_i,
  input vm_t clear_vm_i,
  input logic [PointerBits:0] limit_i, after_i,
  input logic [7:0] byte_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  // A cycle looks at the next VM, clears one, or takes a byte (uart_slots; proven by
  // io_uart_core_props).
  logic wanted, scans, clears, takes, busy, send;
  vm_t scan_q, vm, owner;
  logic [7:0] sent;
  assign clears = clear_i;
  assign takes  = !clear_i && take_i && wanted;
  assign scans  = !clear_i && !takes && scan_i;
  always_comb begin
    vm = scan_q;
    if (clears) vm = clear_vm_i;
    else if (takes) vm = owner;
  end
  always_ff @(posedge clk_i) begin
    if (!rst_n) scan_q <= '0;
    else if (scans) scan_q <= scan_q == vm_t'(NumVms - 1) ? '0 : scan_q + 1'b1;
  end
  always_comb assume (clear_vm_i < vm_t'(NumVms));

  uart_lines #(.NumVms(NumVms), .PointerBits(PointerBits)) dut (
    .clk_i, .rst_ni(rst_n), .raw_i(1'b0), .scan_i(scans), .vm_i(vm), .ready_i, .limit_i,
    .clear_i(clears), .busy_o(busy), .owner_o(owner), .take_o(wanted), .taken_i(takes), .byte_i,
    .after_i, .ready_tx_i, .send_o(send), .byte_o(sent)
  );

  // An arbitrary VM.
  (* keep *) vm_t any;
  always_ff @(posedge clk_i) any <= any;
  always_comb assume (any < vm_t'(NumVms));

  logic [3:0] state;
  logic open, shown;
  assign state = dut.state_q;
  assign open  = dut.open_q;
  assign shown = dut.shown_q;

  // ---- The line, read as a terminal reads it ----
  typedef enum logic [2:0] {RdStart, RdOpen, RdNumber, RdClosed, RdBody, RdReturn} reading_e;
  reading_e reading_q;
  vm_t number_q;
  logic digit;
  assign digit = sent[7:4] == 4'h3;
  always_ff @(posedge clk_i) begin
    if (!rst_n) reading_q <= RdStart;
    else if (send && takes) reading_q <= sent == Newline ? RdStart : RdBody;
    else if (send) begin
      reading_q <= RdBody;
      if (sent == io_uart_pkg::Return) reading_q <= RdReturn;
      if (sent == Newline) reading_q <= RdStart;
      if (sent == "[") reading_q <= RdOpen;
      if (digit) reading_q <= RdNumber;
      if (digit) number_q <= reading_q == RdOpen ? sent[3:0] : number_q * 4'd10 + sent[3:0];
      if (sent == "]") reading_q <= RdClosed;
    end
  end
  always_ff @(posedge clk_i) if (rst_n && send) begin
    // A byte of a VM is in a line that has begun with its number.
    if (takes) assert (reading_q == RdBody && number_q == vm);
    else begin
      assert (sent inside {"[", "]", " ", io_uart_pkg::Return, Newline} || digit);
      if (sent == "[") assert (reading_q == RdStart);
      if (digit) assert (reading_q inside {RdOpen, RdNumber});
      if (sent == "]") assert (reading_q == RdNumber && number_q < vm_t'(NumVms));
      if (sent == " ") assert (reading_q == RdClosed);
      if (sent == Newline) assert (reading_q == RdReturn);
    end
  end
  always_ff @(posedge clk_i) if (rst_n) begin
    // invariants
    assert (state <= Body && owner < vm_t'(NumVms));
    assert (open == (reading_q != RdStart));
    if (state != Seek) assert (shown);
    unique case (state)
      Seek:    if (open && shown) assert (reading_q == RdBody && number_q == owner);
      Return:  assert (open);
      Newl:    assert (reading_q == RdReturn);
      Open:    assert (reading_q == RdStart);
      Ten:     assert (reading_q == RdOpen && owner >= 4'd10);
      Unit:    assert (reading_q == (owner >= 4'd10 ? RdNumber : RdOpen)
                       && (reading_q == RdOpen || number_q == 4'd1));
      Close:   assert (reading_q == RdNumber && number_q == owner);
      Space:   assert (reading_q == RdClosed && number_q == owner);
      default: assert (reading_q == RdBody && number_q == owner);
    endcase
    assert (busy == (state != Seek));
    cover (takes && owner == 4'd10 && reading_q == RdBody && sent == Newline);
    cover (state == Newl && owner == 4'd0);
  end

  // ---- Turns ----
  // The number of VMs that have had a turn since the VM could have one, and of those before it.
  logic granted;
  logic [3:0] waited_q;
  function automatic vm_t from(vm_t later, vm_t earlier);  // distance in the order of turns
    return later >= earlier ? later - earlier : later + vm_t'(NumVms) - earlier;
  endfunction
  assign granted = dut.seeks && ready_i;
  always_comb if (scans && vm == any) assume (ready_i == may_send_i);
  always_ff @(posedge clk_i) begin
    if (!rst_n || !may_send_i || (granted && vm == any)) waited_q <= '0;
    else if (granted) waited_q <= waited_q + 1'b1;
  end
  always_ff @(posedge clk_i) if (rst_n) begin
    if (may_send_i) assert (waited_q < vm_t'(NumVms));
    // invariants
    assert (scan_q < vm_t'(NumVms));
    if (may_send_i && waited_q != '0) begin
      assert (owner != any && 5'(waited_q) + 5'(from(any, owner)) <= 5'(NumVms));
      if (dut.begun_q) assert (from(scan_q, dut.following) <= from(any, dut.following));
    end
    if (state != Seek) assert (!dut.begun_q);
    cover (waited_q == 4'd3);
  end
endmodule
