// SPDX-License-Identifier: Apache-2.0
// Feeds the ICAP from memory, one 32-bit word a cycle, and checks the integrity of the
// bitstream. It serves the manager page and owns one transfer at a time.
//
// A bitstream in memory: magic; {region, task, 16 bits of zero}; number of body words; CRC-32 of
// these three words; body; CRC-32 of the body. The header and the length are checked before any
// word reaches the ICAP. The checksum of the body is checked at the end and, with verify, also
// before the first word (the body is then read twice). On any error the region is reported as
// failed.
module icap_ctrl
  import fabric_pkg::*;
  import fabric_axi_pkg::*;
#(
  parameter int unsigned NumPrrs = 3
) (
  input  logic        clk_i,
  /// Asynchronous, active low; no transfer after it, and cfg_abort_o is high.
  input  logic        rst_ni,
  /// Pulse: start a configuration; ignored while busy. If the region is not in Reconfig, over_o
  /// follows in the same cycle, with ErrState and without a result for the region.
  input  logic        start_i,
  /// The region; prr_i, verify_i, addr_i and length_i are sampled with start_i.
  input  prr_t        prr_i,
  /// Verify the checksum of the body before the first word reaches the ICAP.
  input  logic        verify_i,
  /// Host-physical address of the bitstream; it must be a multiple of 8, which is not checked.
  input  logic [63:0] addr_i,
  /// Length in bytes of header, body and both checksums; checked against the header.
  input  logic [31:0] length_i,
  /// High from the cycle after start_i to over_o, if the region is in Reconfig.
  output logic        busy_o,
  /// Region and task of the current or last bitstream.
  output prr_t        prr_o,
  output task_t       task_o,
  /// Result of the last transfer, see error_e; valid from the cycle after over_o to the next
  /// start_i.
  output logic [3:0]  error_o,
  /// Of the last transfer: cycles from the first word offered to the ICAP to the last one taken,
  /// and words sent to the ICAP. Valid until the next start_i.
  output logic [31:0] cycles_o,
  output logic [31:0] words_o,
  /// Pulse: done or failed. No read is outstanding.
  output logic        over_o,
  // regions
  /// State of each region, and the task that it waits for in Reconfig.
  input  prr_state_e [NumPrrs-1:0] state_i,
  input  task_t   [NumPrrs-1:0] target_i,
  /// Pulse: the region is configured, or the configuration failed.
  output logic    [NumPrrs-1:0] done_o,
  output logic    [NumPrrs-1:0] fail_o,
  /// The ICAP: a word moves when valid and ready. cfg_valid_o does not wait for ready, and a word
  /// that was offered is withdrawn when the transfer fails. cfg_error_i, from the device, ends the
  /// transfer.
  output logic        cfg_valid_o,
  output logic [31:0] cfg_data_o,
  input  logic        cfg_ready_i,
  input  logic        cfg_error_i,
  /// Discard the incomplete bitstream: a pulse, also in the first cycle after a reset, and a level
  /// during the reset.
  output logic        cfg_abort_o,
  // memory
  /// AXI4, reads only: bursts of dma_reader, without a guard.
  output slot_req_t   axi_req_o,
  input  slot_resp_t  axi_resp_i
);

  localparam logic [31:0] Magic = 32'h53494d42;  // "SIMB"
  localparam int unsigned HeaderWords = 4;
  // bytes: a body has at least one word and its checksum
  localparam logic [31:0] Least = 4 * (HeaderWords + 2);

  // IcHeader: the four words of the header are collected, and checked with the last one. IcBody:
  // words go to the ICAP, or in the first pass of a verification only to the checksum, which IcSum
  // compares. IcEnd waits until no read is outstanding; IcDrain discards what was read beyond the
  // end, and restarts the reader for the second pass after a verification.
  typedef enum logic [2:0] {IcIdle, IcHeader, IcBody, IcSum, IcEnd, IcDrain} state_e;
  // As in ICAP_STATUS.error: of the header, a region other than the selected one, a task other than
  // the one that the region waits for, the length, the checksum of the body, the memory's answer,
  // the region's state, the ICAP.
  typedef enum logic [3:0] {
    ErrNone, ErrHeader, ErrRegion, ErrTask, ErrLength, ErrSum, ErrBus, ErrState, ErrIcap
  } error_e;

  state_e state_q;
  error_e error_q, header_error;
  // First pass of a verification; the second pass has to be started; a word was sent.
  logic verifying_q, again_q, count_q;
  // The present word; body words left; the running CRC, inverted at the end.
  logic [31:0] word, count_left_q, crc_q;
  logic [1:0] index_q;
  logic word_valid, word_take, waits, too_short;
  prr_state_e region_state;
  task_t region_target;
  logic [HeaderWords-2:0][31:0] header_q;
  // As at the start: the manager may write the registers during a transfer.
  logic [63:0] addr, addr_q;
  logic [31:0] length, length_q;

  // CRC-32 (as in Ethernet and zlib) of a word, least significant byte first.
  function automatic logic [31:0] crc32(logic [31:0] crc, logic [31:0] data);
    logic [31:0] value = crc ^ data;
    for (int i = 0; i < 32; i++) value = {1'b0, value[31:1]} ^ (value[0] ? 32'hedb88320 : '0);
    return value;
  endfunction

  // State of the selected region.
  always_comb begin
    region_state  = StIdle;
    region_target = TaskNone;
    for (int p = 0; p < int'(NumPrrs); p++) begin
      if ((state_q == IcIdle ? prr_i : prr_o) == prr_t'(p)) begin
        region_state  = state_i[p];
        region_target = target_i[p];
      end
    end
  end
  assign waits = region_state == StReconfig;

  assign addr   = state_q == IcIdle ? addr_i : addr_q;
  assign length = state_q == IcIdle ? length_i : length_q;

  // A bitstream too short for a header is not read: the header would never be complete.
  assign too_short = length_i < Least;

  // The reader is the one used for a region's input. The manager is not restricted by windows.
  logic reader_go, reader_stop, reader_quiet, reader_error, reader_valid, reader_last, reader_take,
      check, check_q;
  logic [63:0] reader_data, check_addr;
  addr_t check_addr_q;
  beats_t check_beats;
  logic [29:0] reader_taken;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      check_q      <= 1'b0;
      check_addr_q <= '0;
    end else begin
      check_q      <= check;
      check_addr_q <= check_addr[AddrWidth-1:0];
    end
  end

  dma_reader #(.Depth(128)) i_reader (
    .clk_i, .rst_ni, .go_i(reader_go), .stop_i(reader_stop), .base_i(addr), .first_i('0),
    .beats_i(30'(length[31:3]) + 30'(|length[2:0])), .quiet_o(reader_quiet), .error_o(reader_error),
    .taken_o(reader_taken), .check_o(check), .check_addr_o(check_addr), .check_beats_o(check_beats),
    .check_gnt_i(1'b1), .ok_i(check_q), .bad_i(1'b0), .addr_i(check_addr_q), .data_o(reader_data),
    .valid_o(reader_valid), .last_o(reader_last), .ready_i(reader_take), .ar_o(axi_req_o.ar),
    .ar_valid_o(axi_req_o.ar_valid), .ar_ready_i(axi_resp_i.ar_ready), .r_i(axi_resp_i.r),
    .r_valid_i(axi_resp_i.r_valid), .r_ready_o(axi_req_o.r_ready)
  );
  assign axi_req_o.aw       = '0;
  assign axi_req_o.aw_valid = 1'b0;
  assign axi_req_o.w        = '0;
  assign axi_req_o.w_valid  = 1'b0;
  assign axi_req_o.b_ready  = 1'b1;

  // Two words a beat, the low word first.
  logic half_q;
  assign word        = half_q ? reader_data[63:32] : reader_data[31:0];
  assign word_valid  = reader_valid && state_q inside {IcHeader, IcBody, IcSum};
  assign word_take   = word_valid && (state_q != IcBody || verifying_q || cfg_ready_i);
  assign reader_take = (word_take && half_q) || state_q == IcDrain;
  assign cfg_valid_o = word_valid && state_q == IcBody && !verifying_q;
  assign cfg_data_o  = word;

  // The header, checked with its last word.
  always_comb begin
    header_error = ErrNone;
    // Header (4 words), body, checksum (1 word). The last assignment has priority: a header whose
    // own checksum is wrong says nothing else.
    if (header_q[2] + 32'd5 != {2'b0, length_q[31:2]} || length_q[1:0] != '0 || header_q[2] == '0)
      header_error = ErrLength;
    if (header_q[1][31:24] != {5'b0, prr_o}) header_error = ErrRegion;
    else if (header_q[1][23:16] != region_target) header_error = ErrTask;
    if (header_q[0] != Magic || word != ~crc_q) header_error = ErrHeader;
  end

  // The reader restarts after a verification and stops on any error.
  assign reader_go   = (state_q == IcIdle && start_i && waits && !too_short)
                       || (again_q && reader_quiet);
  assign reader_stop = state_q inside {IcEnd, IcDrain};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= IcIdle;
      error_q     <= ErrNone;
      verifying_q <= 1'b0;
      again_q     <= 1'b0;
      prr_o       <= '0;
      header_q    <= '0;
      index_q     <= '0;
      half_q      <= 1'b0;
      crc_q       <= '1;
      count_left_q <= '0;
      addr_q      <= '0;
      length_q    <= '0;
    end else begin
      if (word_take) begin
        half_q <= !half_q;
        crc_q  <= crc32(crc_q, word);
      end
      unique case (state_q)
        IcIdle: begin
          half_q  <= 1'b0;
          index_q <= '0;
          crc_q   <= '1;
          if (start_i) begin
            prr_o       <= prr_i;
            addr_q      <= addr_i;
            length_q    <= length_i;
            verifying_q <= verify_i;
            error_q     <= !waits ? ErrState : too_short ? ErrLength : ErrNone;
            if (waits) state_q <= too_short ? IcEnd : IcHeader;
          end
        end
        IcHeader: if (word_take) begin
          index_q <= index_q + 1'b1;
          if (index_q != 2'd3) header_q[index_q] <= word;
          else begin
            state_q      <= header_error == ErrNone ? IcBody : IcEnd;
            error_q      <= header_error;
            count_left_q <= header_q[2];
            crc_q        <= '1;
          end
        end
        IcBody: if (word_take) begin
          count_left_q <= count_left_q - 1'b1;
          if (count_left_q == 32'd1) state_q <= IcSum;
        end
        IcSum: if (word_take) begin
          state_q <= IcEnd;
          if (word != ~crc_q) error_q <= ErrSum;
        end
        // No read may be outstanding when the result is reported or the reader restarts.
        IcEnd: if (reader_quiet) begin
          state_q <= IcDrain;
        end
        default: begin  // IcDrain
          half_q  <= 1'b0;
          index_q <= '0;
          crc_q   <= '1;
          if (verifying_q && error_q == ErrNone) begin
            verifying_q <= 1'b0;
            again_q     <= 1'b1;
          end else if (!again_q) state_q <= IcIdle;
        end
      endcase
      if (again_q && reader_go) begin
        again_q <= 1'b0;
        state_q <= IcHeader;
      end
      // These two come after the case, so they override what it decided in the same cycle.
      if (reader_error && state_q inside {IcHeader, IcBody, IcSum}) begin
        error_q <= ErrBus;
        state_q <= IcEnd;
      end
      if (cfg_error_i && state_q inside {IcBody, IcSum} && !verifying_q) begin
        error_q <= ErrIcap;
        state_q <= IcEnd;
      end
    end
  end

  assign over_o  = (state_q == IcDrain && !again_q && !(verifying_q && error_q == ErrNone))
                   || (state_q == IcIdle && start_i && !waits);
  for (genvar p = 0; p < int'(NumPrrs); p++) begin : gen_result
    assign done_o[p] = over_o && state_q == IcDrain && prr_o == prr_t'(p) && error_q == ErrNone;
    assign fail_o[p] = over_o && state_q == IcDrain && prr_o == prr_t'(p) && error_q != ErrNone;
  end

  // Without an abort the ICAP would take the next bitstream as the rest of this one, or of one that
  // a reset has cut, because no reset reaches the device at the ICAP.
  logic reset_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reset_q <= 1'b1;
    else reset_q <= 1'b0;
  end
  assign cfg_abort_o = (fail_o != '0 && words_o != '0) || reset_q;

  // Duration of the transfer, for the figures.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycles_o <= '0;
      words_o  <= '0;
      count_q  <= 1'b0;
    end else if (state_q == IcIdle && start_i) begin
      cycles_o <= '0;
      words_o  <= '0;
      count_q  <= 1'b0;
    end else begin
      if (cfg_valid_o && cfg_ready_i) begin
        words_o <= words_o + 1'b1;
        count_q <= 1'b1;
      end
      if (state_q == IcBody && (count_q || cfg_valid_o)) cycles_o <= cycles_o + 1'b1;
    end
  end

  assign busy_o  = state_q != IcIdle;
  assign task_o  = header_q[1][23:16];
  assign error_o = error_q;

  logic unused;
  assign unused = &{1'b0, reader_last, reader_taken, check_beats, check_addr[63:AddrWidth],
                    axi_resp_i.aw_ready, axi_resp_i.w_ready, axi_resp_i.b_valid, axi_resp_i.b};

endmodule
