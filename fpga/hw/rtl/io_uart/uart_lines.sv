// SPDX-License-Identifier: Apache-2.0
// Composes the line that is sent: its owner, "[3] ", and the owner's bytes up to a newline. A line
// that its owner has not completed is continued by its owner only; before another VM's line it is
// ended by CR LF. It serves io_uart_core, and owns the choice whose line is next: VMs take turns.
module uart_lines
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  /// VMs, and bits of a pointer into a VM's FIFO less one (uart_buffer).
  parameter int unsigned NumVms = 4,
  parameter int unsigned PointerBits = 6
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no line is in progress, and VM 0 is examined first.
  input  logic       rst_ni,
  /// Bytes as they are, without owners and without ends of lines.
  input  logic       raw_i,
  // a VM is examined; it has bytes that may be sent, which end at limit_i
  input  logic       scan_i,
  input  vm_t        vm_i,
  input  logic       ready_i,
  input  logic [PointerBits:0] limit_i,
  /// The state of VM vm_i is cleared.
  input  logic       clear_i,
  /// The VM whose bytes are sent, while busy_o.
  output logic       busy_o,
  output vm_t        owner_o,
  /// The owner's first byte: a level while one is wanted; taken_i: it is given in this cycle;
  /// after_i is the place of the next one.
  output logic       take_o,
  input  logic       taken_i,
  input  logic [7:0] byte_i,
  input  logic [PointerBits:0] after_i,
  /// The transmitter: send_o, a pulse, only if ready_tx_i.
  input  logic       ready_tx_i,
  output logic       send_o,
  output logic [7:0] byte_o
);

  // LnSeek: no VM's line. LnReturn, LnNewline: the end of an incomplete line. LnOpen to LnSpace:
  // the owner. LnBody: its bytes. The order of the encodings is that of the line.
  typedef enum logic [3:0] {
    LnSeek, LnReturn, LnNewline, LnOpen, LnTen, LnUnit, LnClose, LnSpace, LnBody
  } state_e;

  state_e state_q, first;
  logic [PointerBits:0] limit_q;
  logic open_q;    // the last byte on the line was no newline
  logic shown_q;   // the line on the wire began with owner_o, who may continue it
  logic begun_q;   // the VMs after the last owner have been examined since the end of its line
  logic seeks, two_digits, text;
  vm_t following;

  assign busy_o     = state_q != LnSeek;
  assign following  = owner_o == vm_t'(NumVms - 1) ? '0 : owner_o + 1'b1;
  assign seeks      = !busy_o && scan_i && (begun_q || vm_i == following);
  assign take_o     = state_q == LnBody && ready_tx_i;
  assign text       = busy_o && state_q != LnBody;
  assign send_o     = (text && ready_tx_i) || taken_i;
  assign two_digits = owner_o >= 4'd10;

  always_comb begin
    unique case (state_q)
      LnReturn:  byte_o = Return;
      LnNewline: byte_o = Newline;
      LnOpen:    byte_o = "[";
      LnTen:     byte_o = "1";
      LnUnit:    byte_o = {4'h3, two_digits ? owner_o - 4'd10 : owner_o};
      LnClose:   byte_o = "]";
      LnSpace:   byte_o = " ";
      default:   byte_o = byte_i;
    endcase
  end

  always_comb begin
    first = LnReturn;
    if (raw_i || (open_q && shown_q && owner_o == vm_i)) first = LnBody;
    else if (!open_q) first = LnOpen;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= LnSeek;
      owner_o <= vm_t'(NumVms - 1);
      limit_q <= '0;
      open_q  <= 1'b0;
      shown_q <= 1'b0;
      begun_q <= 1'b0;
    end else begin
      if (send_o) open_q <= byte_o != Newline;
      if (clear_i && vm_i == owner_o) begin
        state_q <= LnSeek;
        shown_q <= 1'b0;
      end else if (seeks) begin
        begun_q <= !ready_i;
        if (ready_i) begin
          state_q <= first;
          owner_o <= vm_i;
          limit_q <= limit_i;
          shown_q <= !raw_i;
        end
      end else if (taken_i) begin
        // The limit is that of the start: a VM that writes without pause does not keep the line.
        if (byte_i == Newline || after_i == limit_q) state_q <= LnSeek;
      end else if (text && ready_tx_i) begin
        state_q <= state_q == LnOpen && !two_digits ? LnUnit : state_e'(state_q + 1'b1);
      end
    end
  end

endmodule
