// SPDX-License-Identifier: Apache-2.0
// The sorters of the fabric. Each has registers of its own, and an address for each value and
// order: one write of the key there puts the value into its queue. Sorter 0 also executes the
// commands of the manager page.
//
// A write is executed in the next cycle. If it needs a second one, that cycle ends before the next
// transaction reads the outcome. Beats of one burst follow each other faster: a command that comes
// while another one is executed is ignored.
module sort_array
  import fabric_pkg::*;
  import fabric_map_pkg::*;
  import fabric_sorter_pkg::*;
#(
  /// Number of sorters, 1..32.
  parameter int unsigned NumSorters = 2,
  /// Entries of each sorter, 2..256.
  parameter int unsigned Depth = 64
) (
  input  logic        clk_i,
  /// Asynchronous, active low; all queues are empty and all orders 0 after it.
  input  logic        rst_ni,
  // the access
  /// Selects the sorters' registers.
  input  logic        regs_i,
  /// Selects the addresses of puts.
  input  logic        puts_i,
  /// Byte strobes; 0: a read. Only whole words are written.
  input  logic [7:0]  write_i,
  /// The address within the selected range.
  input  logic [18:0] addr_i,
  /// A put writes its key, the register of a removal the value, ORDER the order.
  input  word_t       data_i,
  /// Read data, in the cycle after the access; 0 after other accesses.
  output word_t       data_o,
  /// Commands of the manager page for sorter 0: a pulse with its operands. A command that comes
  /// while another one is executed is lost; software reads busy_o in SORT_STATUS before.
  input  logic        command_i,
  input  logic [1:0]  op_i,
  input  sort_key_t   key_i,
  input  sort_value_t value_i,
  /// State of sorter 0: outcome of its last command, number of entries, least entry.
  output logic [1:0]  status_o,
  /// A command starts in this cycle, or needs a second one.
  output logic        busy_o,
  output logic [8:0]  count_o,
  output logic        head_valid_o,
  output sort_key_t   head_key_o,
  output sort_value_t head_value_o
);

  // Positions of sorter, value and difference of orders in the address, from fabric_map_pkg.
  localparam int unsigned IndexBits = NumSorters == 1 ? 1 : $clog2(NumSorters);
  localparam int unsigned RegLsb = $clog2(SorterStride);
  localparam int unsigned DeltaLsb = $clog2(SortPutOrderStride);
  localparam int unsigned ValueLsb = $clog2(SortPutValueStride);
  localparam int unsigned PutLsb = $clog2(SortPutStride);

  // ---- The access, a cycle later ----
  // What the access of the cycle before was; at most one is high.
  logic put_q, write_q, read_q;
  logic [18:0] addr_q;
  word_t data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      put_q   <= 1'b0;
      write_q <= 1'b0;
      read_q  <= 1'b0;
    end else begin
      put_q   <= puts_i && write_i == '1;
      write_q <= regs_i && write_i == '1;
      read_q  <= regs_i && write_i == '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (regs_i || puts_i) begin
      addr_q <= addr_i;
      data_q <= data_i;
    end
  end

  logic [IndexBits-1:0] index;
  assign index = put_q ? addr_q[PutLsb+:IndexBits] : addr_q[RegLsb+:IndexBits];

  function automatic logic selects(input logic [RegLsb-4:0] word, input int unsigned offset);
    return word == (RegLsb - 3)'(offset / 8);
  endfunction

  // ---- The command: of a put, a removal, or the manager page ----
  typedef struct packed {
    logic [IndexBits-1:0] index;
    logic [2:0]           op;
    sort_key_t            key;
    sort_order_t          order;
    sort_value_t          value;
  } command_t;

  // Only one command is executed at a time, in all sorters, because the operands are kept once.
  logic remove, start;
  logic [NumSorters-1:0] waiting;
  // ORDER of each sorter; the address of a put adds -16 .. 15 to it.
  sort_order_t [NumSorters-1:0] base_q;
  command_t command, kept_q;

  assign remove = write_q && selects(addr_q[RegLsb-1:3], SorterRemove);
  assign start  = (put_q || remove || command_i) && waiting == '0;

  always_comb begin
    command = '{index: '0, op: {1'b0, op_i}, key: key_i, order: base_q[0], value: value_i};
    if (put_q) command = '{index: index, op: OpPut, key: data_q,
                           order: base_q[index]
                           + sort_order_t'($signed(addr_q[ValueLsb-1:DeltaLsb])),
                           value: sort_value_t'(addr_q[PutLsb-1:ValueLsb])};
    else if (remove) command = '{index: index, op: OpRemove, key: '0, order: '0,
                                 value: data_q[SorterRemoveValueLsb+:SorterRemoveValueWidth]};
    if (!start) command = kept_q;
  end
  // The operands of a command that takes two cycles must stay.
  always_ff @(posedge clk_i) kept_q <= command;

  // ---- The sorters ----
  logic [NumSorters-1:0] head_valid;
  logic [NumSorters-1:0][1:0] status;
  logic [NumSorters-1:0][8:0] count;
  sort_key_t   [NumSorters-1:0] head_key;
  sort_value_t [NumSorters-1:0] head_value;

  for (genvar s = 0; s < int'(NumSorters); s++) begin : gen_sorter
    sort_port #(.Depth(Depth), .Index(s)) i_port (
      .clk_i, .rst_ni, .command_i(start && command.index == IndexBits'(s)), .op_i(command.op),
      .key_i(command.key), .order_i(command.order), .value_i(command.value), .status_o(status[s]),
      .waiting_o(waiting[s]), .count_o(count[s]), .head_valid_o(head_valid[s]),
      .head_key_o(head_key[s]), .head_value_o(head_value[s])
    );
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) base_q[s] <= '0;
      else if (write_q && index == IndexBits'(s) && selects(addr_q[RegLsb-1:3], SorterOrder))
        base_q[s] <= data_q[SorterOrderOrderLsb+:SorterOrderOrderWidth];
    end
  end

  // ---- Answers ----
  always_comb begin
    data_o = '0;
    if (read_q) begin
      if (selects(addr_q[RegLsb-1:3], SorterHead)) begin
        data_o[SorterHeadValueLsb+:SorterHeadValueWidth] = head_value[index];
        data_o[SorterHeadValidLsb] = head_valid[index];
      end
      if (selects(addr_q[RegLsb-1:3], SorterHeadKey)) data_o = head_key[index];
      if (selects(addr_q[RegLsb-1:3], SorterStatus)) begin
        data_o[SorterStatusStatusLsb+:SorterStatusStatusWidth] = status[index];
        data_o[SorterStatusCountLsb+:SorterStatusCountWidth]   = count[index];
      end
      if (selects(addr_q[RegLsb-1:3], SorterOrder))
        data_o[SorterOrderOrderLsb+:SorterOrderOrderWidth] = base_q[index];
    end
  end

  assign status_o     = status[0];
  assign busy_o       = start || waiting != '0;
  assign count_o      = count[0];
  assign head_valid_o = head_valid[0];
  assign head_key_o   = head_key[0];
  assign head_value_o = head_value[0];

  logic unused;
  assign unused = &{1'b0, addr_q};

endmodule
