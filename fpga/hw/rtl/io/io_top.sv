// SPDX-License-Identifier: Apache-2.0
// The shared devices, with one bus port and one port to memory (docs/hardware-io.md), for a board's
// top or a simulation's. It connects its blocks, orders flushes, and selects the burst of a fault.
// All ports are synchronous to clk_i, except those that say otherwise.
module io_top
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
  import io_pkg::*;
  import io_eth_pkg::*;
  import display_pkg::mode_t;
  import display_pkg::rect_t;
  import display_pkg::pixel_t;
  import io_gpio_pkg::gpio_pins_t;
#(
  /// Number of VMs, 1..16.
  parameter int unsigned NumVms = 4,
  /// Requests of a VM for one device, a power of two, 2..16.
  parameter int unsigned Depth = 4,
  /// Number of pins, 1..32.
  parameter int unsigned NumPins = 32,
  /// Cycles that the software reset of the flash takes: at least 35 us.
  parameter int unsigned FlashResetCycles = 32_768
) (
  input  logic       clk_i,
  /// Asynchronous, active low; the block leaves reset at the second edge of clk_i after its
  /// release. Until then the flash is deselected with SCK low, tx_o is high, all pins of the GPIO
  /// are inputs, nothing is sent on the Ethernet wire or to the screen, no burst is requested, and
  /// no interrupt is raised.
  input  logic       rst_ni,
  /// The time base that the harts read, in cycles of clk_i: one more in every cycle.
  input  logic [63:0] time_i,
  /// AXI4 subordinate: 2 MiB, addressed by bits 20:0, one transaction at a time; a beat takes a
  /// cycle, its answer follows in the next. An access before the block has left reset is lost.
  input  sub_req_t   sub_req_i,
  output sub_resp_t  sub_resp_o,
  /// AXI4 manager: the DMA of all devices at host-physical addresses, one burst at a time, 1..16
  /// beats of 64 bits within 128 bytes. All data of a write are there when its address is valid.
  output slot_req_t  mgr_req_o,
  input  slot_resp_t mgr_resp_i,
  /// Level, for the hypervisor: a DMA fault or a lost completion, enabled.
  output logic       irq_manager_o,
  /// Level, one bit for each VM: an enabled interrupt of one of its pages, unless the manager masks
  /// it.
  output logic [NumVms-1:0] irq_vm_o,
  /// UART, idle high; rx_i is asynchronous.
  output logic       tx_o,
  input  logic       rx_i,
  /// Flash, SPI mode 0; miso_i is sampled at the end of SCK's high phase.
  output logic       cs_no,
  output logic       sck_o,
  output logic       mosi_o,
  input  logic       miso_i,
  /// Ethernet: GMII, a byte passes in each direction in a cycle of its tick. gmii_o changes in the
  /// cycle after the tick. The board crosses to the clocks of its PHY.
  input  logic       send_tick_i,
  output gmii_t      gmii_o,
  input  logic       receive_tick_i,
  input  gmii_t      gmii_i,
  /// GPIO: pin_i is asynchronous; levels and output enables come from registers.
  input  logic [NumPins-1:0] pin_i,
  output logic [NumPins-1:0] pin_o,
  output logic [NumPins-1:0] pin_oe_o,
  /// Screen (io_display): frame_i asks for a frame in the mode that waits for it; the other signals
  /// are those of a pixel from pixel_o, a pulse, to the next one.
  input  logic       frame_i,
  output logic       pixel_o,
  output logic       hsync_o,
  output logic       vsync_o,
  output logic       data_enable_o,
  output pixel_t     color_o
);

  // Devices 0 to 7 exist; accesses to pages of others get an error.
  localparam logic [15:0] Devices = 16'b1111_1111;
  localparam int unsigned CountBits = $clog2(Depth) + 1;

  logic rst_n;
  fabric_reset_sync i_reset (
    .clk_i,
    .rst_ni,
    .rst_no(rst_n)
  );

  // ---- Bus ----
  // Read data and errors of the pages are ORed: a block that is not accessed answers 0.
  logic [7:0] write;
  word_t data, regs_data, channel_data, gpio_data, display_data, uart_data, spi_data;
  logic [10:0] offset;
  logic regs_access, regs_error, windows_access, channel_error, gpio_error, display_error,
      uart_error, spi_error, nobody_q;
  io_access_t page;

  io_bus #(.NumVms(NumVms)) i_bus (
    .clk_i,
    .rst_ni(rst_n),
    .axi_req_i(sub_req_i),
    .axi_resp_o(sub_resp_o),
    .write_o(write),
    .data_o(data),
    .offset_o(offset),
    .regs_o(regs_access),
    .regs_data_i(regs_data),
    .regs_error_i(regs_error),
    .windows_o(windows_access),
    .page_o(page),
    .page_data_i(channel_data | gpio_data | display_data | uart_data | spi_data),
    .page_error_i(channel_error || gpio_error || display_error || uart_error || spi_error
                  || nobody_q)
  );
  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) nobody_q <= 1'b0;
    else nobody_q <= page.valid && !Devices[page.device];
  end

  // ---- Manager page ----
  // Configuration, from the registers of io_manager to the devices.
  logic [7:0][NumVms-1:0] allowed;           // by device: the VMs that may use it
  prio_t [Channels-1:0][NumVms-1:0] prio;    // by channel: the VMs' priorities
  io_server_t [Channels-1:0] server;         // pulses that set budgets
  io_config_t [Channels-1:0] config_of;      // policy, chunk size, timeout and period
  io_flush_t flush;                          // pulse: all state of a VM goes
  // To the manager: what failed, whose accesses may follow, what the counter of lost frames is.
  logic changed, fault, fault_bus, written, lost, window_write, row_write;
  io_burst_t fault_burst;
  logic [NumVms-1:0] busy, vm_irq, vm_irq_mask;
  // To the devices: rights and sizes of each VM (windows of the flash, rows of Ethernet, pins,
  // rectangles of the screen), and the clocks of the wires.
  logic [7:0] flash_half, flash_deselect, window_first;
  logic [8:0] window_number;
  logic [31:0] flash_slice, count, flash_bytes;
  vm_t window_vm, row_vm, count_vm, size_vm, event_vm;
  io_channel_t event_channel;
  io_eth_vm_t row;
  lost_e count_why;
  gpio_pins_t [NumVms-1:0] owner;
  logic [15:0] uart_divider;
  logic [11:0] uart_flush_time;
  logic uart_mode;
  vm_t uart_focus;
  logic screen_enable, screen_on_request, rect_write;
  logic [7:0] pixel_cycles;
  logic [11:0] burst_cycles;
  mode_t mode;
  vm_t rect_vm;
  rect_t rect;

  io_manager #(.NumVms(NumVms), .Depth(Depth), .NumPins(NumPins), .Devices(Devices)) i_manager (
    .clk_i,
    .rst_ni(rst_n),
    .access_i(regs_access),
    .write_i(write),
    .offset_i(offset),
    .data_i(data),
    .data_o(regs_data),
    .error_o(regs_error),
    .time_i,
    .fault_i(fault),
    .fault_burst_i(fault_burst),
    .fault_bus_i(fault_bus),
    .lost_i(lost),
    .lost_vm_i(event_vm),
    .lost_channel_i(event_channel),
    .irq_o(irq_manager_o),
    .busy_i(busy),
    .flush_o(flush),
    .vm_irq_i(vm_irq),
    .vm_irq_mask_o(vm_irq_mask),
    .allowed_o(allowed),
    .prio_o(prio),
    .server_o(server),
    .config_o(config_of),
    .changed_o(changed),
    .uart_divider_o(uart_divider),
    .uart_mode_o(uart_mode),
    .uart_focus_o(uart_focus),
    .uart_flush_time_o(uart_flush_time),
    .flash_half_o(flash_half),
    .flash_deselect_o(flash_deselect),
    .flash_slice_o(flash_slice),
    .window_write_o(window_write),
    .window_vm_o(window_vm),
    .window_first_o(window_first),
    .window_number_o(window_number),
    .row_write_o(row_write),
    .row_vm_o(row_vm),
    .row_o(row),
    .count_why_o(count_why),
    .count_vm_o(count_vm),
    .count_i(count),
    .owner_o(owner),
    .screen_enable_o(screen_enable),
    .screen_on_request_o(screen_on_request),
    .pixel_cycles_o(pixel_cycles),
    .burst_cycles_o(burst_cycles),
    .mode_o(mode),
    .rect_write_o(rect_write),
    .rect_vm_o(rect_vm),
    .rect_o(rect)
  );

  // ---- Requests ----
  // Requests of the pages, by channel; refused_o follows in the same cycle.
  io_submit_t [Channels-1:0] submit;
  // A VM's flush of one channel, and what reaches the channel.
  io_flush_t [Channels-1:0] own_flush, channel_flush;
  logic [Channels-1:0] refused, complete, complete_ready;
  io_completion_t [Channels-1:0] completion;
  logic [Channels-1:0][NumVms-1:0][CountBits-1:0] waiting;
  logic [NumVms-1:0] channel_irq, gpio_irq, display_irq, uart_irq, spi_irq;
  logic ring_set;
  vm_t ring_vm;
  io_channel_t ring_channel;
  addr_t ring_addr;

  io_pages #(.NumVms(NumVms), .Depth(Depth)) i_pages (
    .clk_i,
    .rst_ni(rst_n),
    .access_i(page),
    .data_o(channel_data),
    .error_o(channel_error),
    .allowed_i(allowed[DevCopy:DevFlash]),
    .reset_i(flush),
    .submit_o(submit),
    .refused_i(refused),
    .count_i(waiting),
    .flush_o(own_flush),
    .set_o(ring_set),
    .set_vm_o(ring_vm),
    .set_channel_o(ring_channel),
    .set_addr_o(ring_addr),
    .written_i(written),
    .event_vm_i(event_vm),
    .event_channel_i(event_channel),
    .size_vm_o(size_vm),
    .flash_bytes_i(flash_bytes),
    .irq_o(channel_irq)
  );
  assign vm_irq   = channel_irq | gpio_irq | display_irq | uart_irq | spi_irq;
  assign irq_vm_o = vm_irq & ~vm_irq_mask;

  // The manager's flush of all devices goes first; a VM's own one waits for a cycle.
  for (genvar c = 0; c < int'(Channels); c++) begin : gen_flush
    io_flush_t held_q;
    assign channel_flush[c] = flush.valid ? flush : own_flush[c].valid ? own_flush[c] : held_q;
    always_ff @(posedge clk_i or negedge rst_n) begin
      if (!rst_n) held_q <= '0;
      else begin
        held_q.valid <= flush.valid && own_flush[c].valid;
        held_q.vm    <= own_flush[c].vm;
      end
    end
  end

  // ---- Devices ----
  // Clients of the DMA: 0 completions; writer and reader of flash 1, 2, of Ethernet 3, 4; 5
  // display; writer and reader of copies 6, 7, which go last, because no wire waits for them.
  localparam int unsigned NumClients = 8;
  localparam logic [NumClients-1:0] Copies = 8'b1100_0000;
  io_client_req_t [NumClients-1:0] client_req;
  io_client_rsp_t [NumClients-1:0] client_rsp;
  logic [Channels-1:0] accesses;  // memory, for accesses_vm
  vm_t [Channels-1:0] accesses_vm;
  logic [NumVms-1:0] display_accesses;

  // The SPI face uses the flash's channel; its data and completions go directly between the two.
  io_submit_t face_submit;
  logic face_complete, face_ready, face_start, face_valid, face_take;
  vm_t face_vm;
  logic [7:0] face_index, face_byte;

  uart_page #(.NumVms(NumVms)) i_uart (
    .clk_i,
    .rst_ni(rst_n),
    .divider_i(uart_divider),
    .mode_i(uart_mode),
    .focus_i(uart_focus),
    .flush_time_i(uart_flush_time),
    .allowed_i(allowed[DevUart]),
    .flush_i(flush),
    .access_i(page),
    .data_o(uart_data),
    .error_o(uart_error),
    .irq_o(uart_irq),
    .tx_o,
    .rx_i
  );

  flash_unit #(.NumVms(NumVms), .Depth(Depth), .ResetCycles(FlashResetCycles)) i_flash (
    .clk_i,
    .rst_ni(rst_n),
    .now_i(time_i[31:0]),
    .config_i(config_of[ChFlash]),
    .prio_i(prio[ChFlash]),
    .allowed_i(allowed[DevFlash] | allowed[DevSpi]),
    .changed_i(changed),
    .server_i(server[ChFlash]),
    .half_i(flash_half),
    .deselect_i(flash_deselect),
    .slice_i(flash_slice),
    .window_write_i(window_write),
    .window_vm_i(window_vm),
    .window_first_i(window_first),
    .window_number_i(window_number),
    // spi_face submits only in cycles without an access, so the two never coincide.
    .submit_i(submit[ChFlash].valid ? submit[ChFlash] : face_submit),
    .refused_o(refused[ChFlash]),
    .count_o(waiting[ChFlash]),
    .flush_i(channel_flush[ChFlash]),
    .complete_o(complete[ChFlash]),
    .completion_o(completion[ChFlash]),
    .complete_ready_i(complete_ready[ChFlash]),
    .face_complete_o(face_complete),
    .face_ready_i(face_ready),
    .face_start_o(face_start),
    .face_vm_o(face_vm),
    .face_index_o(face_index),
    .face_valid_i(face_valid),
    .face_byte_i(face_byte),
    .face_take_o(face_take),
    .busy_o(accesses[ChFlash]),
    .busy_vm_o(accesses_vm[ChFlash]),
    .size_vm_i(size_vm),
    .size_bytes_o(flash_bytes),
    .dma_req_o(client_req[2:1]),
    .dma_rsp_i(client_rsp[2:1]),
    .cs_no,
    .sck_o,
    .mosi_o,
    .miso_i
  );

  io_eth_unit #(.NumVms(NumVms), .Depth(Depth)) i_ethernet (
    .clk_i,
    .rst_ni(rst_n),
    .now_i(time_i[31:0]),
    .config_i(config_of[ChSend]),
    .prio_i(prio[ChSend]),
    .allowed_i(allowed[DevSend]),
    .changed_i(changed),
    .server_i(server[ChSend]),
    .row_write_i(row_write),
    .row_vm_i(row_vm),
    .row_i(row),
    .count_why_i(count_why),
    .count_vm_i(count_vm),
    .count_o(count),
    .submit_i(submit[ChReceive:ChSend]),
    .refused_o(refused[ChReceive:ChSend]),
    .waiting_o(waiting[ChReceive:ChSend]),
    .flush_i(channel_flush[ChReceive:ChSend]),
    .complete_o(complete[ChReceive:ChSend]),
    .completion_o(completion[ChReceive:ChSend]),
    .complete_ready_i(complete_ready[ChReceive:ChSend]),
    .busy_o(accesses[ChReceive:ChSend]),
    .busy_vm_o(accesses_vm[ChReceive:ChSend]),
    .dma_req_o(client_req[4:3]),
    .dma_rsp_i(client_rsp[4:3]),
    .send_tick_i,
    .gmii_o,
    .receive_tick_i,
    .gmii_i
  );

  copy_unit #(.NumVms(NumVms), .Depth(Depth)) i_copy (
    .clk_i,
    .rst_ni(rst_n),
    .now_i(time_i[31:0]),
    .config_i(config_of[ChCopy]),
    .prio_i(prio[ChCopy]),
    .allowed_i(allowed[DevCopy]),
    .changed_i(changed),
    .server_i(server[ChCopy]),
    .submit_i(submit[ChCopy]),
    .refused_o(refused[ChCopy]),
    .count_o(waiting[ChCopy]),
    .flush_i(channel_flush[ChCopy]),
    .complete_o(complete[ChCopy]),
    .completion_o(completion[ChCopy]),
    .complete_ready_i(complete_ready[ChCopy]),
    .busy_o(accesses[ChCopy]),
    .busy_vm_o(accesses_vm[ChCopy]),
    .dma_req_o(client_req[7:6]),
    .dma_rsp_i(client_rsp[7:6])
  );

  gpio_page #(.NumVms(NumVms), .NumPins(NumPins)) i_gpio (
    .clk_i,
    .rst_ni(rst_n),
    .time_i,
    .access_i(page),
    .data_o(gpio_data),
    .error_o(gpio_error),
    .allowed_i(allowed[DevGpio]),
    .owner_i(owner),
    .flush_i(flush),
    .irq_o(gpio_irq),
    .pin_i,
    .pin_o,
    .pin_oe_o
  );

  display_page #(.NumVms(NumVms)) i_display (
    .clk_i,
    .rst_ni(rst_n),
    .access_i(page),
    .data_o(display_data),
    .error_o(display_error),
    .enable_i(screen_enable),
    .on_request_i(screen_on_request),
    .pixel_cycles_i(pixel_cycles),
    .burst_cycles_i(burst_cycles),
    .mode_i(mode),
    .rect_write_i(rect_write),
    .rect_vm_i(rect_vm),
    .rect_i(rect),
    .flush_i(flush),
    .irq_o(display_irq),
    .busy_o(display_accesses),
    .idle_o(),
    .dma_req_o(client_req[5]),
    .dma_rsp_i(client_rsp[5]),
    .frame_i,
    .pixel_o,
    .hsync_o,
    .vsync_o,
    .data_enable_o,
    .color_o
  );

  spi_face #(.NumVms(NumVms)) i_spi (
    .clk_i,
    .rst_ni(rst_n),
    .time_i(time_i[31:0]),
    .access_i(page),
    .data_o(spi_data),
    .error_o(spi_error),
    .allowed_i(allowed[DevSpi]),
    .flush_i(channel_flush[ChFlash]),
    .submit_o(face_submit),
    .refused_i(refused[ChFlash]),
    .complete_i(face_complete),
    .completion_i(completion[ChFlash]),
    .complete_ready_o(face_ready),
    .read_start_i(face_start),
    .read_vm_i(face_vm),
    .read_index_i(face_index),
    .read_valid_o(face_valid),
    .read_byte_o(face_byte),
    .read_ready_i(face_take),
    .irq_o(spi_irq)
  );

  // ---- Completions ----
  // A completion is being written to memory for completes_vm.
  logic completes;
  vm_t completes_vm;

  io_complete #(.NumVms(NumVms), .NumChannels(Channels)) i_complete (
    .clk_i,
    .rst_ni(rst_n),
    .set_i(ring_set),
    .set_vm_i(ring_vm),
    .set_channel_i(ring_channel),
    .set_addr_i(ring_addr),
    .clear_i(flush.valid),
    .clear_vm_i(flush.vm),
    .complete_i(complete),
    .completion_i(completion),
    .ready_o(complete_ready),
    .busy_o(completes),
    .busy_vm_o(completes_vm),
    .written_o(written),
    .lost_o(lost),
    .event_vm_o(event_vm),
    .event_channel_o(event_channel),
    .request_o(client_req[0].request),
    .burst_o(client_req[0].burst),
    .word_o(client_req[0].word),
    .done_i(client_rsp[0].done),
    .status_i(client_rsp[0].status)
  );

  // BUSY: memory is accessed for the VM, or will be for a chunk that has begun.
  for (genvar v = 0; v < int'(NumVms); v++) begin : gen_busy
    always_comb begin
      busy[v] = display_accesses[v] || (completes && completes_vm == vm_t'(v));
      for (int c = 0; c < int'(Channels); c++) busy[v] |= accesses[c] && accesses_vm[c] == vm_t'(v);
    end
  end

  // ---- Memory ----
  // The clients' structures, by signal.
  logic [NumClients-1:0] request, take, give, done;
  io_burst_t [NumClients-1:0] burst;
  io_word_t [NumClients-1:0] word;
  word_t read_data;
  io_status_e status;
  logic check, check_gnt, ok, bad;
  dma_check_t check_request;
  addr_t host;

  for (genvar c = 0; c < int'(NumClients); c++) begin : gen_client
    assign request[c]    = client_req[c].request;
    assign burst[c]      = client_req[c].burst;
    assign word[c]       = client_req[c].word;
    assign client_rsp[c] = '{take: take[c], give: give[c], done: done[c], data: read_data,
                             status: status};
  end

  io_dma #(.NumClients(NumClients), .Background(Copies)) i_dma (
    .clk_i,
    .rst_ni(rst_n),
    .request_i(request),
    .burst_i(burst),
    .word_i(word),
    .take_o(take),
    .data_o(read_data),
    .give_o(give),
    .done_o(done),
    .status_o(status),
    .check_o(check),
    .check_request_o(check_request),
    .check_gnt_i(check_gnt),
    .ok_i(ok),
    .bad_i(bad),
    .addr_i(host),
    .axi_req_o(mgr_req_o),
    .axi_resp_i(mgr_resp_i)
  );

  io_guard #(.NumVms(NumVms)) i_guard (
    .clk_i,
    .rst_ni(rst_n),
    .req_i(windows_access),
    .we_i(write == '1),
    .word_i(offset[10:3]),
    .data_i(data),
    .check_i(check),
    .request_i(check_request),
    .gnt_o(check_gnt),
    .ok_o(ok),
    .bad_o(bad),
    .addr_o(host)
  );

  // A client keeps its burst until done, so it can be reported.
  assign fault     = done != '0 && status != IoDone;
  assign fault_bus = status == IoBus;
  always_comb begin
    // At most one client's burst ends in a cycle.
    fault_burst = '0;
    for (int c = 0; c < int'(NumClients); c++) if (done[c]) fault_burst = burst[c];
  end

endmodule
