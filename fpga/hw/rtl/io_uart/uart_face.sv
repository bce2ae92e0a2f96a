// SPDX-License-Identifier: Apache-2.0
// What a VM reads, and its interrupt, of the VM that this cycle is about. It serves io_uart_core,
// and owns the registers of both outputs.
module uart_face
  import fabric_pkg::*;
  import io_uart_pkg::*;
#(
  /// As of io_uart.
  parameter int unsigned NumVms = 4
) (
  input  logic       clk_i,
  /// Asynchronous, active low; no interrupt after it.
  input  logic       rst_ni,
  input  vm_t        vm_i,
  /// The VM has the UART.
  input  logic       allowed_i,
  /// The VM's row of each block.
  input  uart_control_t control_i,
  input  logic [7:0] stored_i,
  input  uart_waiting_t waiting_i,
  input  logic       space_i,
  input  logic       empty_pending_i,
  /// IIR shows the interrupt of the empty transmitter.
  output logic       shows_empty_o,
  /// The cycle is an access: data_o is valid in the next cycle.
  input  logic       access_i,
  input  logic [2:0] reg_i,
  output logic [7:0] data_o,
  /// Registers: the bit of vm_i is renewed in each cycle, so a change of a VM's state is visible in
  /// the cycle after the next one that concerns the VM.
  output logic [NumVms-1:0] irq_o
);

  localparam logic [7:0] Connected = 8'hb0;  // MSR: DCD, DSR, CTS

  logic [3:0] cause;
  logic [7:0] data, status, modem;

  always_comb begin
    // Interrupt causes of IIR in ascending priority; bit 0: none.
    cause = 4'h1;
    if (control_i.enable[1] && empty_pending_i) cause = 4'h2;
    if (control_i.enable[0] && waiting_i.late) cause = 4'hc;
    if (control_i.enable[0] && waiting_i.reached) cause = 4'h4;
    if (control_i.enable[2] && (waiting_i.overrun || waiting_i.error)) cause = 4'h6;
  end
  assign shows_empty_o = cause == 4'h2;

  assign status = {waiting_i.error, {2{space_i}}, waiting_i.error && waiting_i.head.pause,
                   waiting_i.error, 1'b0, waiting_i.overrun, waiting_i.filled};
  assign modem  = control_i.loop ? {stored_i[3:2], stored_i[0], stored_i[1], 4'b0} : Connected;

  always_comb begin
    unique case (reg_i)
      RegData: data = control_i.divisor ? stored_i : waiting_i.head.data;
      RegFifo: data = {{2{control_i.fifo}}, 2'b0, cause};
      RegStatus: data = status;
      RegModemStatus: data = modem;
      default: data = stored_i;
    endcase
    // Without the UART: nothing is received, and nothing has to be waited for.
    if (!allowed_i) data = reg_i == RegStatus ? 8'h60 : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      data_o <= '0;
      irq_o  <= '0;
    end else begin
      if (access_i) data_o <= data;
      for (int v = 0; v < int'(NumVms); v++)
        if (vm_i == vm_t'(v)) irq_o[v] <= allowed_i && !cause[0];
    end
  end

  logic unused;
  assign unused = &{1'b0, control_i.trigger, control_i.enable[3]};

endmodule
