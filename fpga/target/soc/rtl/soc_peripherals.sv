// SPDX-License-Identifier: Apache-2.0
// Boot ROM, CLINT, PLIC, UART and SPI at one subordinate port of the crossbar. It owns the address
// decoder; an access to an address without a register gives 0, and writes to it have no effect.
module soc_peripherals
  import fabric_axi_pkg::*;
  import soc_pkg::*;
#(
  /// As in soc_rom.
  parameter logic [63:0] StartAddr = DramBase
) (
  input  logic        clk_i,
  /// Asynchronous, active low; all peripherals in their reset state.
  input  logic        rst_ni,
  /// AXI4 subordinate, one transaction at a time (fabric_axi_port); an access is answered in the
  /// next cycle. Atomics get an error.
  input  sub_req_t    req_i,
  output sub_resp_t   resp_o,
  /// Sources 3 and up of the PLIC.
  input  logic [NumSources:BoardSource] source_i,
  /// To the core, levels: external interrupts of M-mode and S-mode, software interrupt, timer
  /// interrupt.
  output logic [1:0]  irq_o,
  output logic        ipi_o,
  output logic        timer_irq_o,
  /// mtime (soc_clint).
  output logic [63:0] time_o,
  /// UART, idle high; rx_i is asynchronous.
  input  logic        rx_i,
  output logic        tx_o,
  /// SPI, mode 0.
  output logic        cs_no,
  output logic        sck_o,
  output logic        mosi_o,
  input  logic        miso_i
);

  typedef enum logic [2:0] {UnRom, UnClint, UnPlic, UnUart, UnSpi, UnNone} unit_e;

  sub_req_t plain_req;
  sub_resp_t plain_resp;
  logic valid, uart_irq, spi_irq;
  logic [7:0] write;
  logic [29:0] addr;
  access_t access, rom_access, clint_access, plic_access, uart_access, spi_access;
  logic [63:0] data, answer, rom_data, clint_data, plic_data, uart_data, spi_data;
  unit_e unit, unit_q;

  axi_atop_filter #(
    .AxiIdWidth(SubIdWidth), .AxiMaxWriteTxns(2), .req_t(sub_req_t), .resp_t(sub_resp_t)
  ) i_no_atomics (
    .clk_i,
    .rst_ni,
    .slv_req_i(req_i),
    .slv_resp_o(resp_o),
    .mst_req_o(plain_req),
    .mst_resp_i(plain_resp)
  );
  fabric_axi_port #(.AddrBits(30)) i_port (
    .clk_i,
    .rst_ni,
    .req_i(plain_req),
    .resp_o(plain_resp),
    .access_o(valid),
    .write_o(write),
    .addr_o(addr),
    .data_o(data),
    .data_i(answer),
    .error_i(1'b0)
  );
  // Writes tell the half by their strobes, reads by their address.
  assign access = '{valid: valid, write: write,
                    addr: {addr[29:3], write == '0 ? addr[2] : write[3:0] == '0, addr[1:0]},
                    data: data, word: write[3:0] == '0 ? data[63:32] : data[31:0]};

  always_comb begin
    unit = UnNone;
    if (access.addr[29:16] == RomBase[29:16]) unit = UnRom;
    if (access.addr[29:16] == ClintBase[29:16]) unit = UnClint;
    if (access.addr[29:26] == PlicBase[29:26]) unit = UnPlic;
    if (access.addr[29:12] == UartBase[29:12]) unit = UnUart;
    if (access.addr[29:12] == SpiBase[29:12]) unit = UnSpi;
  end
  always_comb begin
    {rom_access, clint_access, plic_access, uart_access, spi_access} = {5{access}};
    rom_access.valid   = valid && unit == UnRom;
    clint_access.valid = valid && unit == UnClint;
    plic_access.valid  = valid && unit == UnPlic;
    uart_access.valid  = valid && unit == UnUart;
    spi_access.valid   = valid && unit == UnSpi;
  end

  // The answer is that of the unit that was accessed a cycle ago.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) unit_q <= UnNone;
    else unit_q <= unit;
  end
  always_comb begin
    unique case (unit_q)
      UnRom:   answer = rom_data;
      UnClint: answer = clint_data;
      UnPlic:  answer = plic_data;
      UnUart:  answer = uart_data;
      UnSpi:   answer = spi_data;
      default: answer = '0;
    endcase
  end

  soc_rom #(.StartAddr(StartAddr)) i_rom (
    .clk_i,
    .access_i(rom_access),
    .data_o(rom_data)
  );
  soc_clint i_clint (
    .clk_i,
    .rst_ni,
    .access_i(clint_access),
    .data_o(clint_data),
    .time_o,
    .timer_irq_o,
    .ipi_o
  );
  soc_plic i_plic (
    .clk_i,
    .rst_ni,
    .access_i(plic_access),
    .data_o(plic_data),
    .source_i({source_i, spi_irq, uart_irq}),
    .irq_o
  );
  soc_uart i_uart (
    .clk_i,
    .rst_ni,
    .access_i(uart_access),
    .data_o(uart_data),
    .irq_o(uart_irq),
    .rx_i,
    .tx_o
  );
  soc_spi i_spi (
    .clk_i,
    .rst_ni,
    .access_i(spi_access),
    .data_o(spi_data),
    .irq_o(spi_irq),
    .cs_no,
    .sck_o,
    .mosi_o,
    .miso_i
  );

endmodule
