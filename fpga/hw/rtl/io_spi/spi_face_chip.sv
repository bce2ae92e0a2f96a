// SPDX-License-Identifier: Apache-2.0
// A byte arrives at the chip of the SPI face: what becomes of the VM's state, and what comes back.
// Combinational; it serves spi_face, which keeps the state. The chip is an S25FL128S with the
// commands that identify, read, program and erase it.
module spi_face_chip
  import spi_face_pkg::*;
(
  /// State of the VM before the byte, while the chip is selected.
  input  spi_vm_t    vm_i,
  input  logic [7:0] byte_i,
  /// vm_i.count and one more, and the same of the low byte of vm_i.addr.
  input  logic [8:0] count_i,
  input  logic [7:0] addr_i,
  output spi_vm_t    vm_o,
  /// Comes back at once, unless is_read() of vm_i.
  output logic [7:0] byte_o
);

  // Commands of the S25FL128S: RDID, RDSR1, RDCR, WREN, WRDI; CLSR, READ, FAST_READ, PP, SE.
  localparam logic [7:0] CmdId = 8'h9F, CmdStatus = 8'h05, CmdConfig = 8'h35, CmdEnable = 8'h06,
                                 CmdDisable = 8'h04;
  localparam logic [7:0] CmdClear = 8'h30, CmdRead = 8'h03, CmdFast = 8'h0B, CmdProgram = 8'h02,
                                    CmdErase = 8'hD8;
  localparam logic [7:0] None = 8'hFF;  // the wire is not driven

  logic busy;  // only the status can be read; an error lasts until it is cleared
  assign busy  = vm_i.writing || vm_i.program_error || vm_i.erase_error;

  // Manufacturer, type and size of the S25FL128S, with 64 KiB sectors, as RDID returns them.
  function automatic logic [7:0] id(logic [8:0] number);
    unique case (number)
      9'd0:    return 8'h01;
      9'd1:    return 8'h20;
      9'd2:    return 8'h18;
      9'd3:    return 8'h4D;
      9'd4:    return 8'h01;
      9'd5:    return 8'h80;
      default: return None;
    endcase
  endfunction

  // An operation with an address of three bytes; a fast read has a dummy byte after it.
  function automatic spi_vm_t operation(spi_vm_t vm, spi_op_e op);
    operation       = vm;
    operation.state = SfHead;
    operation.op    = op;
    operation.head  = op == SfFast ? 3'd4 : 3'd3;
  endfunction

  // The first byte after the selection. Unknown commands, and writes without WREN, are ignored.
  function automatic spi_vm_t command(spi_vm_t vm, logic [7:0] code);
    command       = vm;
    command.count = '0;
    command.state = SfIgnore;
    unique case (code)
      CmdId:      command.state = SfId;
      CmdStatus:  command.state = SfStatus;
      CmdConfig:  command.state = SfConfig;
      CmdEnable:  command.writable = 1'b1;
      CmdDisable: command.writable = 1'b0;
      CmdRead:    command = operation(command, SfRead);
      CmdFast:    command = operation(command, SfFast);
      CmdProgram: if (vm.writable) command = operation(command, SfProgram);
      CmdErase:   if (vm.writable) command = operation(command, SfErase);
      default:    ;
    endcase
  endfunction

  // While an operation is not over only its status can be read, and an error be cleared.
  function automatic spi_vm_t busy_command(spi_vm_t vm, logic [7:0] code);
    busy_command       = vm;
    busy_command.state = code == CmdStatus ? SfStatus : SfIgnore;
    if (code == CmdClear) {busy_command.program_error, busy_command.erase_error} = '0;
  endfunction

  function automatic spi_vm_t data(spi_vm_t vm, logic [8:0] count, logic [7:0] addr);
    data = vm;
    if (vm.op == SfErase) data.state = SfIgnore;  // a byte too many
    else if (vm.op == SfProgram || !vm.count[3]) data.count = count;
    if (vm.op == SfProgram) data.addr[7:0] = addr;
  endfunction

  always_comb begin
    vm_o   = vm_i;
    byte_o = None;
    unique case (vm_i.state)
      SfCommand: vm_o = busy ? busy_command(vm_i, byte_i) : command(vm_i, byte_i);
      SfId: begin
        byte_o     = id(vm_i.count);
        vm_o.count = count_i;
      end
      // SR1: SRWD 0, P_ERR, E_ERR, no block protected, WEL, WIP.
      SfStatus:  byte_o = {1'b0, vm_i.program_error, vm_i.erase_error, 3'b0, vm_i.writable, busy};
      SfConfig:  byte_o = '0;
      SfHead: begin
        vm_o.head = vm_i.head - 1'b1;
        if (!(vm_i.op == SfFast && vm_i.head == 3'd1)) vm_o.addr = {vm_i.addr[15:0], byte_i};
        if (vm_i.head == 3'd1) vm_o.state = SfData;
      end
      SfData:    vm_o = data(vm_i, count_i, addr_i);
      default:   ;  // SfIgnore
    endcase
  end

endmodule
