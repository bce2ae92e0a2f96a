// SPDX-License-Identifier: Apache-2.0
// Definitions that the blocks of the shared UART use.
package io_uart_pkg;

  localparam logic [7:0] Newline = 8'h0a, Return = 8'h0d;

  // Registers of a 16550A, at stride 4 on the bus. Registers 0 and 1 are the divisor while LCR.DLAB
  // is set. In this order: RBR and THR, IER, IIR and FCR, LCR, MCR, LSR, MSR, SCR.
  localparam logic [2:0] RegData = 3'd0, RegEnable = 3'd1, RegFifo = 3'd2, RegLine = 3'd3,
                                   RegModem = 3'd4,
                         RegStatus = 3'd5, RegModemStatus = 3'd6, RegScratch = 3'd7;

  // What a cycle does; each cycle is about one VM.
  typedef enum logic [2:0] {
    SlScan    = 3'd0,  // examines one VM after the other
    SlLook    = 3'd1,  // examines a VM again after its access
    // the VM reads or writes a register, in the cycle of the access on the bus
    SlAccess  = 3'd2,
    SlClear   = 3'd3,  // the VM's state returns to its reset values
    SlReceive = 3'd4,  // a byte from the line
    SlTake    = 3'd5   // a byte for the line
  } uart_slot_e;

  // Registers of a VM that change what its UART does.
  typedef struct packed {
    logic [3:0] enable;   // IER
    logic       loop;     // MCR.LOOP
    logic       divisor;  // LCR.DLAB
    logic       fifo;     // FCR: FIFOs enabled
    logic [1:0] trigger;  // FCR: 1, 4, 8, 14 bytes
  } uart_control_t;

  // A received byte.
  typedef struct packed {
    logic       pause;  // a break: the line was low for the whole byte
    logic       frame;  // the stop bit was low
    logic [7:0] data;
  } uart_received_t;

  // What a VM's receive FIFO tells to its registers.
  typedef struct packed {
    logic           filled;   // at least one byte
    logic           reached;  // as many as the trigger level
    logic           late;     // bytes have waited for four characters' time without an access
    logic           overrun;
    logic           error;    // head has an error that LSR has not shown yet
    uart_received_t head;
  } uart_waiting_t;

endpackage
