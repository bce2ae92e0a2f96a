// SPDX-License-Identifier: Apache-2.0
// Proves the SPI face with two VMs, for all accesses and ends of requests: what another VM does
// changes no register, no received byte and no interrupt of a VM; a VM has one request at a time; a
// request reads a whole word, programs bytes of one page, or erases a sector; the FIFOs do not
// overflow.
module spi_face_props
  import fabric_pkg::*;
  import io_pkg::*;
  import spi_face_pkg::*;
#(
  localparam int unsigned NumVms = 2
) (
  input logic clk_i,
  input io_time_t time_i,
  input io_access_t access_i,
  input logic [NumVms-1:0] allowed_i,
  input io_flush_t flush_i,
  input logic refused_i, complete_i,
  input io_completion_t completion_i,
  input logic read_start_i, read_ready_i,
  input vm_t read_vm_i,
  input logic [7:0] read_index_i
);
  logic rst_n = 1'b0;
  always_ff @(posedge clk_i) rst_n <= 1'b1;

  io_submit_t submit;
  logic [NumVms-1:0] irq;
  spi_face #(.NumVms(NumVms)) dut (
    .clk_i, .rst_ni(rst_n), .time_i, .access_i, .data_o(), .error_o(), .allowed_i, .flush_i,
    .submit_o(submit), .refused_i, .complete_i, .completion_i, .complete_ready_o(), .read_start_i,
    .read_vm_i, .read_index_i, .read_valid_o(), .read_byte_o(), .read_ready_i, .irq_o(irq)
  );

  // An arbitrary VM, and a slot of its receive FIFO, chosen by the solver.
  (* keep *) logic [3:0] slot;
  always_ff @(posedge clk_i) slot <= slot;
  vm_t any;
  spi_vm_t row;
  logic [7:0] byte_of;
  assign any     = {3'b0, slot[3]};
  assign row     = dut.rows[any];
  assign byte_of = dut.received[{any, slot[2:0]}];

  // A request is complete only if there is one.
  always_comb begin
    assume (access_i.vm < vm_t'(NumVms) && flush_i.vm < vm_t'(NumVms)
            && completion_i.vm < vm_t'(NumVms));
    if (complete_i && completion_i.vm == any) assume (row.waiting);
    assume (!(access_i.valid && flush_i.valid));
  end

  logic past = 1'b0, mine_q, irq_q;
  spi_vm_t row_q;
  logic [7:0] byte_q;
  always_ff @(posedge clk_i) begin
    past   <= rst_n && dut.ready_q;
    mine_q <= (access_i.valid && access_i.vm == any) || (complete_i && completion_i.vm == any)
              || (flush_i.valid && flush_i.vm == any) || (submit.valid && submit.vm == any);
    row_q  <= row;
    byte_q <= byte_of;
    irq_q  <= irq[slot[3]];
  end

  io_request_t request;
  assign request = submit.request;

  always_ff @(posedge clk_i) if (rst_n && (dut.ready_q || any < dut.scan_q)) begin
    // invariants
    assert (row.rx_count <= 4'd8);
    assert (!is_read(row.state, row.op) || row.count <= 9'd8);
    assert (!(row.writing || row.state inside {SfId, SfHead, SfData}) || row.count <= 9'd256);
    assert (row.state != SfHead || row.count == '0);
    assert (!row.writing || row.op inside {SfProgram, SfErase});
    assert (!(row.writing && row.op == SfProgram) || row.count != '0);
    assert (!row.writing || row.state inside {SfCommand, SfIgnore, SfStatus});
    assert (!row.stale || row.waiting);
    assert (!(row.waiting && !row.stale) || row.writing || is_read(row.state, row.op));
  end

  always_ff @(posedge clk_i) if (rst_n && dut.ready_q) begin
    // isolation
    if (past && !mine_q) assert (row == row_q && byte_of == byte_q && irq[slot[3]] == irq_q);

    // requests
    if (submit.valid && submit.vm == any) begin
      assert (!row.waiting && request.face && request.target[31:24] == '0);
      unique case (request.op)
        FlashRead:    assert (request.length == 16'd4 && request.target[1:0] == '0);
        FlashProgram: assert (request.length != '0
                              && 17'(request.length) + 17'(request.target[7:0]) <= 17'd256);
        default:      assert (request.op == FlashErase && request.length == '0
                              && request.target[15:0] == '0);
      endcase
    end
    cover (submit.valid && submit.vm == any && any == 4'd1);
    cover (complete_i && completion_i.vm == any && row.stale);
  end
endmodule
