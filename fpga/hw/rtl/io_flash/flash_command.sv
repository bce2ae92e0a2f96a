// SPDX-License-Identifier: Apache-2.0
// Executes one command on an SPI flash: selects it, sends the command and its address, moves data
// in one direction, and deselects it. SCK stops between two bytes while a byte is missing, or is
// not taken. It serves io_flash, which decides what is sent, and owns the pins and the time between
// two commands.
module flash_command (
  input  logic        clk_i,
  /// Asynchronous, active low; the flash is deselected at once, also within a byte.
  input  logic        rst_ni,
  /// Configuration, in cycles: half a period of SCK, and deselection between two commands.
  input  logic [7:0]  half_i,
  input  logic [7:0]  deselect_i,
  // the command
  /// Level, until accept_o; the other inputs are stable from then on until done_o.
  input  logic        start_i,
  /// The flash has been deselected for long enough: for deselect_i cycles, or 255 after rst_ni,
  /// which may cut a command before software has set deselect_i.
  output logic        accept_o,
  input  logic [7:0]  code_i,
  /// An address of 24 bits follows.
  input  logic        addressed_i,
  input  logic [23:0] addr_i,
  /// Bytes of data that follow.
  input  logic [15:0] bytes_i,
  /// The data goes to the flash.
  input  logic        out_i,
  /// Level: end the command after the present byte.
  input  logic        stop_i,
  /// Pulse: the command is over.
  output logic        done_o,
  // data
  /// Data from the flash: a byte stays until in_ready_i; up to four are kept. Left ones are
  /// discarded by the next command.
  output logic        in_valid_o,
  output logic [7:0]  in_byte_o,
  input  logic        in_ready_i,
  /// Data to the flash: a byte is taken when out_valid_i and out_ready_o, a pulse at the start of
  /// the byte on the wire.
  input  logic        out_valid_i,
  input  logic [7:0]  out_byte_i,
  output logic        out_ready_o,
  // pins
  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i
);

  // CmHead: bytes of the address. CmData: data. CmLast: the last byte is on the wire.
  typedef enum logic [1:0] {CmIdle, CmHead, CmData, CmLast} state_e;

  state_e state_q;
  logic [1:0] head_q;       // bytes of command and address that follow
  logic [15:0] left_q;      // bytes of data that are not started
  logic [7:0] wait_q, head_byte;
  logic begins, start, ready, received, sends_data, incoming_q, ends, in_ready;
  logic [2:0] usage;

  // The byte that is started next.
  always_comb begin
    unique case (head_q)
      2'd3:    head_byte = addr_i[23:16];
      2'd2:    head_byte = addr_i[15:8];
      default: head_byte = addr_i[7:0];
    endcase
  end
  // A received byte must have a place in the FIFO before its first bit is clocked.
  assign sends_data = state_q == CmData && ready && !stop_i
                      && (out_i ? out_valid_i : usage <= 3'd1);
  assign accept_o   = state_q == CmIdle && wait_q == '0;
  assign begins     = start_i && accept_o;
  assign start      = begins || (state_q == CmHead && ready) || sends_data;

  logic [7:0] byte_out, byte_in;
  always_comb begin
    byte_out = '0;
    if (state_q == CmIdle) byte_out = code_i;
    else if (state_q == CmHead) byte_out = head_byte;
    else if (out_i) byte_out = out_byte_i;
  end

  spi_port i_port (
    .clk_i, .rst_ni, .half_i, .start_i(start), .byte_i(byte_out), .ready_o(ready),
    .done_o(received), .byte_o(byte_in), .sck_o, .mosi_o, .miso_i
  );

  // There is space for the byte that is being received, for one that has been received in this
  // cycle, and for the next one.
  fabric_word_fifo #(.Width(8), .Depth(4)) i_in (
    .clk_i, .rst_ni, .flush_i(begins), .data_i(byte_in), .valid_i(received && incoming_q),
    .ready_o(in_ready), .data_o(in_byte_o), .valid_o(in_valid_o), .ready_i(in_ready_i),
    .usage_o(usage)
  );

  assign ends        = state_q == CmData && ready && stop_i;
  assign out_ready_o = sends_data && out_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q    <= CmIdle;
      head_q     <= '0;
      left_q     <= '0;
      wait_q     <= '1;
      incoming_q <= 1'b0;
      cs_no      <= 1'b1;
    end else begin
      if (start) incoming_q <= sends_data && !out_i;
      unique case (state_q)
        CmIdle: begin
          if (wait_q != '0) wait_q <= wait_q - 1'b1;
          head_q <= addressed_i ? 2'd3 : 2'd0;
          left_q <= bytes_i;
          if (begins) state_q <= addressed_i ? CmHead : bytes_i == '0 ? CmLast : CmData;
        end
        CmHead: if (ready) begin
          head_q <= head_q - 1'b1;
          if (head_q == 2'd1) state_q <= left_q == '0 ? CmLast : CmData;
        end
        CmData: if (sends_data) begin
          left_q <= left_q - 1'b1;
          if (left_q == 16'd1) state_q <= CmLast;
        end
        default: ;  // CmLast
      endcase
      if (begins) cs_no <= 1'b0;
      if (done_o) begin
        cs_no   <= 1'b1;
        state_q <= CmIdle;
        wait_q  <= deselect_i;
      end
    end
  end

  assign done_o = (state_q == CmLast && received) || ends;

  logic unused;
  assign unused = &{1'b0, in_ready};

endmodule
