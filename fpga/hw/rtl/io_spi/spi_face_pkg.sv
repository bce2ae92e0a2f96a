// SPDX-License-Identifier: Apache-2.0
// The state of the SPI face: registers of its controller and of its chip for one VM (spi_face).
package spi_face_pkg;

  // Numbers of the controller's registers of 32 bits: the byte offset in the page divided by 4.
  // SpiFmt and SpiCsMode are kept in part; the divider, the delays and SpiCsDef are constants.
  typedef logic [4:0] spi_reg_t;
  localparam spi_reg_t SpiSckDiv = 5'd0, SpiCsDef = 5'd5, SpiCsMode = 5'd6, SpiDelay0 = 5'd10,
                                   SpiDelay1 = 5'd11;
  localparam spi_reg_t SpiFmt = 5'd16, SpiTxData = 5'd18, SpiRxData = 5'd19, SpiTxMark = 5'd20,
                                SpiRxMark = 5'd21;
  localparam spi_reg_t SpiEnable = 5'd28, SpiPending = 5'd29;
  // The mode of SpiCsMode in which the chip is selected; all others deselect it.
  localparam logic [1:0] CsHold = 2'd2;

  // What the chip does with the next byte. SfCommand: takes it as the command. SfIgnore: nothing,
  // until it is deselected. SfId, SfStatus, SfConfig: returns RDID, SR1 or CR1 and ignores the
  // byte.
  typedef enum logic [2:0] {
    SfCommand, SfIgnore, SfId, SfStatus, SfConfig,
    SfHead,  // address, and a dummy byte
    SfData   // of the operation; an erase has none
  } spi_state_e;
  // READ; FAST_READ, with a dummy byte after the address; page program; erase of a sector (64 KiB).
  typedef enum logic [1:0] {SfRead, SfFast, SfProgram, SfErase} spi_op_e;

  // All zero after a reset.
  typedef struct packed {
    // controller
    logic        held;      // the chip is selected
    logic        deaf;      // received bytes are dropped
    // Interrupts: fewer bytes than tx_mark are unsent; more than rx_mark were received.
    logic [2:0]  tx_mark;
    logic [2:0]  rx_mark;
    logic [1:0]  enable;    // of interrupts: {rx, tx}
    logic [2:0]  rx_first;  // slot of the first received byte
    // Received bytes, 0..8.
    logic [3:0]  rx_count;
    // chip
    spi_state_e  state;
    spi_op_e     op;
    logic [2:0]  head;      // bytes of address and dummy that follow
    logic [23:0] addr;
    // Of the ID: the byte's number. Read: bytes that the VM has clocked, and the flash has not
    // delivered. Program: bytes of the page, before addr, that are not in the flash.
    logic [8:0]  count;
    logic        writable;  // WEL
    logic        writing;   // an operation that changes the flash is not over
    logic        program_error;
    logic        erase_error;
    // request
    logic        waiting;   // one is in the flash's channel
    logic        stale;     // what it reads is discarded
  } spi_vm_t;

  function automatic logic is_read(spi_state_e state, spi_op_e op);
    return state == SfData && op inside {SfRead, SfFast};
  endfunction

  // The chip is deselected: it executes an operation that is complete.
  function automatic spi_vm_t deselected(spi_vm_t vm);
    deselected       = vm;
    deselected.state = SfCommand;
    if (is_read(vm.state, vm.op)) deselected.stale = vm.waiting;
    else if (vm.state == SfData && (vm.op == SfErase || vm.count != '0)) deselected.writing = 1'b1;
  endfunction

endpackage
