// SPDX-License-Identifier: Apache-2.0
// A model of an SPI NOR flash with the commands and times of Infineon's S25FL128S (data sheet
// 001-98283): reads, page program, erase of a sector of 64 KiB, and the suspension of both; another
// sector may be programmed while an erase is suspended; the software reset, which ends both. What
// is suspended, or was ended by the software reset, reads as 0x5A. Its times are parameters in
// cycles of clk_i, which also samples the pins: the output changes one cycle after SCK has fallen.
// It ignores a command that begins too soon after the last one, and a software reset whose SCK is
// too fast.
module flash_model #(
  /// Sectors that exist; addresses beyond them wrap around.
  parameter int unsigned Sectors = 16,
  /// At 100 MHz: 250 us, 130 ms, 40 us (typical values).
  parameter int unsigned ProgramCycles = 25_000,
  parameter int unsigned EraseCycles = 13_000_000,
  parameter int unsigned SuspendCycles = 4_000,
  /// Of the software reset, at 100 MHz 35 us. The flash must not be selected meanwhile.
  parameter int unsigned ResetCycles = 3_500,
  /// For which the flash is deselected between two commands, at 100 MHz 50 ns.
  parameter int unsigned DeselectCycles = 5,
  /// Half a period of SCK during the software reset, at 100 MHz that of 1 MHz: the driver sends it
  /// before software has set SCK, so a board with the lowest sck-hz must take it.
  parameter int unsigned ResetHalfCycles = 50,
  /// 1: a byte that was never written holds `pattern`; 0: it is erased.
  parameter bit Pattern = 1'b1
) (
  input  logic clk_i,
  /// Of the flash's own supply: no reset of its controller reaches it.
  input  logic rst_ni,
  input  logic cs_ni,
  input  logic sck_i,
  input  logic mosi_i,
  output logic miso_o,
  /// A command was given that the flash ignores in its present state, or because of its times on
  /// the pins.
  output logic ignored_o,
  /// SCK's shortest high or low time so far, in cycles.
  output logic [7:0] shortest_o
);
  localparam int unsigned Bytes = Sectors * 65536;
  localparam int unsigned AddrBits = $clog2(Bytes);

  logic [7:0] mem [Bytes];
  logic [AddrBits-1:0] addr_q;
  logic sck_q, selected_q, rise, fall, enabled_q, output_q;
  logic [6:0] shift_q;
  logic [7:0] code_q, out_q, since_q, deselected_q;
  logic early_q;              // the command began too soon
  logic fast_q;               // its SCK is too fast for the software reset
  logic [2:0] bit_q;
  logic [15:0] bytes_q;       // complete bytes of the command
  // An operation is there until it is over; it may be suspended.
  typedef struct packed {
    logic there;
    logic suspended;
    logic [AddrBits-1:0] addr;
    logic [31:0] left;
  } operation_t;
  operation_t erase_q, program_q;
  logic suspending_q, erases, programs, wip;
  logic [31:0] suspend_q, reset_q;
  assign erases   = erase_q.there && !erase_q.suspended;
  assign programs = program_q.there && !program_q.suspended;
  assign wip      = erases || programs;

  function automatic logic [7:0] pattern(int unsigned a);
    return 8'(a * 167 + (a >> 8) * 13 + (a >> 16));
  endfunction
  initial for (int unsigned a = 0; a < Bytes; a++) mem[a] = Pattern ? pattern(a) : 8'hFF;

  assign rise = selected_q && !cs_ni && sck_i && !sck_q;
  assign fall = selected_q && !cs_ni && !sck_i && sck_q;

  logic [7:0] received;
  logic [AddrBits-1:0] next_addr;
  assign received  = {shift_q, mosi_i};
  assign next_addr = code_q == 8'h02 ? {addr_q[AddrBits-1:8], addr_q[7:0] + 8'd1} : addr_q + 1'b1;

  function automatic logic [7:0] content(logic [AddrBits-1:0] a);
    if (erase_q.there && a[AddrBits-1:16] == erase_q.addr[AddrBits-1:16]) return 8'h5A;
    if (program_q.there && a[AddrBits-1:8] == program_q.addr[AddrBits-1:8]) return 8'h5A;
    return mem[a];
  endfunction

  // Bytes may be programmed: not beside another program operation, nor in the sector that is
  // erased.
  logic programmable;
  assign programmable = enabled_q && !wip && !program_q.there
                        && !(erase_q.there && addr_q[AddrBits-1:16] == erase_q.addr[AddrBits-1:16]);

  // A command takes effect when the flash is deselected after whole bytes.
  logic ends, whole;
  assign ends  = selected_q && cs_ni;
  assign whole = bit_q == '0 && bytes_q != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sck_q, selected_q, enabled_q, output_q} <= '0;
      {shift_q, code_q, out_q, bit_q, bytes_q} <= '0;
      {erase_q, program_q, suspending_q} <= '0;
      {suspend_q, reset_q, addr_q, early_q, fast_q} <= '0;
      ignored_o    <= 1'b0;
      since_q      <= '1;
      deselected_q <= '1;
      shortest_o   <= '1;
      miso_o       <= 1'b0;
    end else begin
      sck_q      <= sck_i;
      selected_q <= !cs_ni;
      ignored_o  <= 1'b0;

      // pins
      if (rise || fall) begin
        since_q <= 8'd1;
        if (since_q < shortest_o) shortest_o <= since_q;
        if (since_q < 8'(ResetHalfCycles)) fast_q <= 1'b1;
      end else if (since_q != '1) since_q <= since_q + 1'b1;
      if (cs_ni) since_q <= '1;
      if (!cs_ni) deselected_q <= '0;
      else if (deselected_q != '1) deselected_q <= deselected_q + 1'b1;
      if (!selected_q && !cs_ni) begin
        {bit_q, bytes_q, code_q, output_q, fast_q} <= '0;
        early_q <= deselected_q < 8'(DeselectCycles);
      end
      if (rise) begin
        shift_q <= received[6:0];
        bit_q   <= bit_q + 1'b1;
        if (bit_q == '1) begin
          bytes_q <= bytes_q + 1'b1;
          if (bytes_q == '0) code_q <= received;
          else if (bytes_q <= 16'd3) addr_q <= AddrBits'({addr_q, received});
          else if (code_q == 8'h02 && programmable) begin
            mem[addr_q] <= mem[addr_q] & received;
            addr_q      <= next_addr;
          end
          if ((bytes_q == 16'd3 && code_q == 8'h03) || (bytes_q > 16'd3 && code_q == 8'h03)) begin
            output_q <= !wip;
            if (bytes_q > 16'd3) addr_q <= next_addr;
          end
          if (bytes_q == '0 && received == 8'h05) output_q <= 1'b1;
        end
      end
      if (fall && output_q) begin
        if (bit_q == '0) begin
          out_q  <= code_q == 8'h05 ? {7'b0, wip} : content(addr_q);
          miso_o <= code_q == 8'h05 ? 1'b0 : 1'(content(addr_q) >> 7);
        end else miso_o <= out_q[3'd7-bit_q];
      end else if (fall) miso_o <= 1'b1;

      // time
      if (!suspending_q) begin
        if (erases) erase_q.left <= erase_q.left - 1'b1;
        if (erases && erase_q.left == '0) erase_q.there <= 1'b0;
        if (programs) program_q.left <= program_q.left - 1'b1;
        if (programs && program_q.left == '0) program_q.there <= 1'b0;
      end else begin
        suspend_q <= suspend_q - 1'b1;
        if (suspend_q == '0) begin
          suspending_q <= 1'b0;
          if (programs) program_q.suspended <= 1'b1;
          else erase_q.suspended <= 1'b1;
        end
      end

      // commands
      if (reset_q != '0) begin
        reset_q <= reset_q - 1'b1;
        if (ends) ignored_o <= 1'b1;
      end else if (ends && whole && !early_q && !(code_q == 8'hF0 && fast_q)) begin
        unique case (code_q)
          8'hF0: begin
            reset_q <= ResetCycles;
            {erase_q, program_q, suspending_q, enabled_q} <= '0;
            if (erase_q.there)
              for (int unsigned a = 0; a < 65536; a++)
                mem[{erase_q.addr[AddrBits-1:16], 16'(a)}] <= 8'h5A;
            if (program_q.there)
              for (int unsigned a = 0; a < 256; a++)
                mem[{program_q.addr[AddrBits-1:8], 8'(a)}] <= 8'h5A;
          end
          8'h06: enabled_q <= !wip;
          8'h02: begin
            if (!programmable || bytes_q < 16'd5) ignored_o <= 1'b1;
            else program_q <= '{there: 1'b1, suspended: 1'b0, addr: addr_q, left: ProgramCycles};
            enabled_q <= 1'b0;
          end
          8'hD8: begin
            if (!enabled_q || wip || erase_q.there || program_q.there || bytes_q < 16'd4)
              ignored_o <= 1'b1;
            else begin
              erase_q <= '{there: 1'b1, suspended: 1'b0, addr: addr_q, left: EraseCycles};
              for (int unsigned a = 0; a < 65536; a++)
                mem[{addr_q[AddrBits-1:16], 16'(a)}] <= 8'hFF;
            end
            enabled_q <= 1'b0;
          end
          8'h75, 8'h85: begin
            if (!suspending_q && (code_q == 8'h75 ? erases : programs)) begin
              suspending_q <= 1'b1;
              suspend_q    <= SuspendCycles;
            end
          end
          // What is not suspended was over before its suspension.
          8'h7A: if (erase_q.suspended && program_q.there) ignored_o <= 1'b1;
                 else erase_q.suspended <= 1'b0;
          8'h8A: program_q.suspended <= 1'b0;
          8'h03: ignored_o <= wip;
          8'h05: ;
          default: ignored_o <= 1'b1;
        endcase
      end else if (ends) ignored_o <= 1'b1;
    end
  end
endmodule
