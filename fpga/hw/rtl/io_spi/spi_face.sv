// SPDX-License-Identifier: Apache-2.0
// A stock SPI controller (SiFive's, with FIFOs of 8 bytes) with a stock flash at it, for each VM:
// it sees its window of the shared flash. The state of a VM is a row of a memory. One event a cycle
// changes a row: an access to a VM's registers, the end of a request in the flash's channel, or the
// submission of one.
//
// A byte that the VM writes is at the chip in the same cycle. So the transmit FIFO is a count of
// bytes that the chip still owes; it owes some while it reads from the flash, a word of four bytes
// a request. Bytes to be programmed are collected in a page; the request follows when the VM
// deselects the chip.
module spi_face
  import fabric_pkg::*;
  import io_pkg::*;
  import spi_face_pkg::*;
#(
  /// VMs 0 .. NumVms - 1 have a controller and a chip.
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low. In the next NumVms cycles without an access the rows are cleared;
  /// accesses until then have no effect.
  input  logic       rst_ni,
  /// The low bits of the time base.
  input  io_time_t   time_i,
  /// Pulse: an access to a page of any device; those of other devices are ignored, but no other
  /// event happens in their cycle. Never delayed.
  input  io_access_t access_i,
  /// In the next cycle, the register in both halves; 0 if no register of these pages was read.
  output word_t      data_o,
  /// In the next cycle: there is no such register, or the access has not 32 bits.
  output logic       error_o,
  /// VMs that may use the device; accesses of others have no effect.
  input  logic [NumVms-1:0] allowed_i,
  /// Pulse: the requests of this VM are removed, and its registers and its chip are reset.
  input  io_flush_t  flush_i,
  // requests (io_channel)
  /// In a cycle without access.
  output io_submit_t submit_o,
  /// In the cycle of submit_o.
  input  logic       refused_i,
  /// Level: the end of a request of the face, until complete_ready_o.
  input  logic       complete_i,
  input  io_completion_t completion_i,
  output logic       complete_ready_o,
  /// Bytes to be programmed (flash_unit): a pulse, bytes of read_vm_i's page follow from
  /// read_index_i on; a byte when valid and ready.
  input  logic       read_start_i,
  input  vm_t        read_vm_i,
  input  logic [7:0] read_index_i,
  output logic       read_valid_o,
  output logic [7:0] read_byte_o,
  input  logic       read_ready_i,
  /// Level, registered: what the VM's interrupt pending register shows is enabled.
  output logic [NumVms-1:0] irq_o
);

  localparam int unsigned NumRegs = 30;
  // Cycles after which the request of a face is late, where deadlines decide: 2^20, 10 ms at 100
  // MHz.
  localparam int unsigned DueBit = 20;

  // ---- One event a cycle ----
  logic here, known, is_allowed, acts, reading, completes, scans, clears, due, ready_q;
  vm_t vm, scan_q;
  spi_reg_t register;
  logic [7:0] data;
  // In distributed RAM, read and written in the same cycle.
  spi_vm_t rows [16];
  spi_vm_t row, next;

  assign here     = access_i.valid && access_i.device == DevSpi;
  assign register = {access_i.word[3:0], access_i.write == '0 ? access_i.low[2]
                     : access_i.write[4]};
  assign known    = access_i.word < 9'(NumRegs / 2) && access_i.low[1:0] == '0
                    && access_i.write inside {8'h00, 8'h0f, 8'hf0};
  assign data     = access_i.write[4] ? access_i.data[39:32] : access_i.data[7:0];

  // A flush is never in the cycle of an access: it follows an access to another page.
  assign clears    = flush_i.valid || !ready_q;
  assign acts      = here && known && is_allowed && !clears;
  assign reading   = acts && access_i.write == '0;
  assign completes = !access_i.valid && !clears && complete_i;
  assign scans     = !access_i.valid && !flush_i.valid && !complete_i;
  always_comb begin
    vm = scan_q;
    if (flush_i.valid) vm = flush_i.vm;
    else if (access_i.valid) vm = access_i.vm;
    else if (complete_i) vm = completion_i.vm;
  end
  always_comb begin
    is_allowed = 1'b0;
    for (int v = 0; v < int'(NumVms); v++) begin
      if (access_i.vm == vm_t'(v)) is_allowed = allowed_i[v];
    end
  end
  assign row = rows[vm];

  logic read, writes_page;
  assign read        = is_read(row.state, row.op);
  assign writes_page = row.state == SfData && row.op == SfProgram;

  // The count of bytes, and the address, after one of them.
  logic [8:0] count;
  logic [23:0] addr;
  assign count = row.count + (completes ? '1 : 9'(!row.count[8]));
  assign addr  = {row.addr[23:8] + 16'(completes && row.addr[7:0] == '1), row.addr[7:0] + 1'b1};

  // ---- Registers ----
  spi_vm_t clocked, written;
  logic [7:0] answer;
  logic sends;
  spi_face_chip i_chip (
    .vm_i(row),
    .byte_i(data),
    .count_i(count),
    .addr_i(addr[7:0]),
    .vm_o(clocked),
    .byte_o(answer)
  );
  assign sends = register == SpiTxData && acts && !reading;

  always_comb begin
    written = row;
    unique case (register)
      SpiCsMode: begin
        if (row.held && data[1:0] != CsHold) written = deselected(row);
        written.held = data[1:0] == CsHold;
      end
      SpiFmt:    written.deaf = data[3];
      SpiTxData: if (row.held) written = clocked;
      SpiTxMark: written.tx_mark = data[2:0];
      SpiRxMark: written.rx_mark = data[2:0];
      SpiEnable: written.enable = data[1:0];
      default:   ;
    endcase
  end

  // ---- The end of a request ----
  logic delivers, over, wraps;  // over: the last step
  spi_vm_t completed;
  // A read that is still wanted delivers a byte in each cycle without an access, as many as the VM
  // has clocked, up to the end of the word.
  assign delivers = !row.stale && !row.writing && row.count != '0;
  assign over     = !delivers || row.addr[1:0] == '1;

  always_comb begin
    completed = row;
    if (over) {completed.waiting, completed.stale} = '0;
    if (delivers) begin
      completed.count = count;
      completed.addr  = addr;
    end else if (row.writing && !row.stale) begin
      if (completion_i.status != IoDone) begin
        completed.writing       = 1'b0;
        completed.program_error = row.op == SfProgram;
        completed.erase_error   = row.op != SfProgram;
      end else begin
        completed.count = 9'(row.addr[7:0]);
        if (row.op == SfErase || !wraps) {completed.writing, completed.writable} = '0;
      end
    end
  end
  assign complete_ready_o = completes && over;

  // ---- Submission ----
  // The bytes of a page wrap around in it. Those at its start, up to row.addr, take a second
  // request.
  logic [8:0] start, length;
  io_request_t request;
  assign start  = {1'b0, row.addr[7:0]} - row.count;
  assign wraps  = start[8] && row.addr[7:0] != '0;
  assign length = row.count - (wraps ? 9'(row.addr[7:0]) : '0);

  always_comb begin
    request      = '0;
    request.face = 1'b1;
    request.due  = {time_i[31:DueBit] + 1'b1, time_i[DueBit-1:0]};
    if (!row.writing) begin
      request.op     = FlashRead;
      request.length = 16'd4;
      request.target = {8'b0, row.addr[23:2], 2'b0};
    end else if (row.op == SfProgram) begin
      request.op     = FlashProgram;
      request.length = 16'(length);
      request.target = {8'b0, row.addr[23:8], start[7:0]};
    end else begin
      request.op     = FlashErase;
      request.target = {8'b0, row.addr[23:16], 16'b0};
    end
  end
  assign due      = !row.waiting && (row.writing || (read && row.count != '0));
  assign submit_o = '{valid: scans && ready_q && due, vm: vm, request: request};

  // ---- Received bytes ----
  logic [7:0] received [128];  // {VM, slot}
  logic [7:0] first, arriving;
  logic arrives, stored, pops;
  assign first    = received[{vm, row.rx_first}];
  assign arrives  = (sends && !(row.held && read)) || (completes && delivers);
  assign stored   = arrives && !row.deaf && !row.rx_count[3];
  assign pops     = reading && register == SpiRxData && row.rx_count != '0;
  always_comb begin
    arriving = 8'hFF;
    if (sends && row.held) arriving = answer;
    else if (completes && completion_i.status == IoDone)
      arriving = completion_i.data[8*row.addr[1:0]+:8];
  end

  always_comb begin
    next = row;
    if (acts && !reading) next = written;
    else if (completes) next = completed;
    else if (submit_o.valid) next.waiting = !refused_i;
    if (stored) next.rx_count = row.rx_count + 1'b1;
    if (pops) begin
      next.rx_count = row.rx_count - 1'b1;
      next.rx_first = row.rx_first + 1'b1;
    end
    if (clears) begin
      next = '0;
      // A new command sets these.
      {next.op, next.head, next.addr, next.count} = {row.op, row.head, row.addr, row.count};
    end
  end

  // Bytes in the transmit FIFO: those that the chip owes.
  logic [3:0] unsent, next_unsent;
  logic next_read, changes;
  logic [1:0] next_pending;
  assign unsent       = read ? row.count[3:0] : '0;
  assign next_read    = is_read(next.state, next.op);
  assign next_unsent  = next_read ? next.count[3:0] : '0;
  assign next_pending = pending(next.rx_count, next.rx_mark, next_unsent, next.tx_mark);
  assign changes      = clears || acts || completes || submit_o.valid;

  function automatic logic [1:0] pending(logic [3:0] rx_count, logic [2:0] rx_mark, logic [3:0] tx,
                                         logic [2:0] tx_mark);
    return {rx_count > {1'b0, rx_mark}, tx < {1'b0, tx_mark}};
  endfunction

  always_ff @(posedge clk_i) begin
    if (changes) rows[vm] <= next;
    if (stored) received[{vm, row.rx_first + row.rx_count[2:0]}] <= arriving;
  end

  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_vm
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) irq_o[v] <= 1'b0;
      else if (changes && vm == vm_t'(v)) irq_o[v] <= (next.enable & next_pending) != '0;
    end
  end

  // All rows are cleared after a reset, then looked at again and again.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scan_q  <= '0;
      ready_q <= 1'b0;
    end else begin
      if (scans) scan_q <= scan_q == vm_t'(NumVms - 1) ? '0 : scan_q + 1'b1;
      if (scans && scan_q == vm_t'(NumVms - 1)) ready_q <= 1'b1;
    end
  end

  spi_face_pages #(.NumVms(NumVms)) i_pages (
    .clk_i,
    .rst_ni,
    .write_i(sends && row.held && writes_page),
    .write_vm_i(vm),
    .write_index_i(row.addr[7:0]),
    .write_byte_i(data),
    .start_i(read_start_i),
    .vm_i(read_vm_i),
    .index_i(read_index_i),
    .valid_o(read_valid_o),
    .byte_o(read_byte_o),
    .ready_i(read_ready_i)
  );

  // ---- Reads ----
  // The manager sets the timing of the wire, and bytes have 8 bits: the registers for these have
  // constant values.
  logic [31:0] value;
  always_comb begin
    value = '0;
    unique case (register)
      SpiSckDiv:  value = 32'd3;
      SpiCsDef:   value = 32'd1;
      SpiCsMode:  value[1:0] = row.held ? CsHold : '0;
      SpiDelay0:  value = 32'h1_0001;
      SpiDelay1:  value = 32'h1;
      SpiFmt:     value = {12'b0, 4'd8, 12'b0, row.deaf, 3'b0};
      SpiTxData:  value[31] = unsent == 4'd8;
      SpiRxData:  value = row.rx_count == '0 ? 32'h8000_0000 : {24'b0, first};
      SpiTxMark:  value[2:0] = row.tx_mark;
      SpiRxMark:  value[2:0] = row.rx_mark;
      SpiEnable:  value[1:0] = row.enable;
      SpiPending: value[1:0] = pending(row.rx_count, row.rx_mark, unsent, row.tx_mark);
      default:    ;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_o  <= '0;
      error_o <= 1'b0;
    end else begin
      data_o  <= reading ? {value, value} : '0;
      error_o <= here && !known;
    end
  end

  logic unused;
  assign unused = &{1'b0, access_i.data, completion_i.tag, completion_i.bytes};

endmodule
