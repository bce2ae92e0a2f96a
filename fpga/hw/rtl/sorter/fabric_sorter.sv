// SPDX-License-Identifier: Apache-2.0
// A queue of {key, order, value} that is always sorted: least key first; among equal keys, the
// entry whose order is earlier, and first in, first out among equal orders. Orders wrap around:
// they are compared by the sign of their difference, so those of equal keys must lie within half
// the range.
//
// Entries do not move. An entry stays in the slot it was written to, and `order_q` is a permutation
// of the slots: the first `count_q` are the queue, least entry first, the others are free. An
// insertion compares the new key with all keys in parallel; the number of keys that are not greater
// is its position P, and order_q[P ..] rotates right by one, which moves the free slot at its end
// to P. A removal rotates the same range left, and the slot is free. So only 1 + log2(Depth) bits
// an entry pass a multiplexer, and the 3:1 multiplexer for each slot's key and value is saved.
//
// A command is done in the cycle in which op_valid_i and op_ready_o are both 1, and status_o is its
// outcome in that cycle. OpUpdate, and OpPut of a value in the queue, take two cycles, every other
// command one. op_valid_i and its operands must stay stable until op_ready_o. The head can be read
// in every cycle, without a command; between the two cycles of OpUpdate it is the head of the other
// entries. A new command is possible in every cycle.
//
// A value identifies one entry: inserting a value that is in the queue is refused.
module fabric_sorter #(
  /// Number of entries, 2 .. 256.
  parameter  int unsigned Depth      = 64,
  /// Bits of a key, unsigned, and of a value.
  parameter  int unsigned KeyWidth   = 64,
  parameter  int unsigned ValueWidth = 16,
  /// Width of the order; 0: entries have none.
  parameter  int unsigned OrderWidth = 0,
  localparam int unsigned OrderBits  = OrderWidth == 0 ? 1 : OrderWidth,
  localparam int unsigned SlotWidth  = $clog2(Depth),
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  input  logic                              clk_i,
  /// Asynchronous, active low; the queue is empty after it. Keys and values are not reset.
  input  logic                              rst_ni,
  /// A command is done in a cycle with op_valid_i and op_ready_o. op_ready_o is low only in the
  /// first cycle of an update.
  input  logic                              op_valid_i,
  output logic                              op_ready_o,
  input  fabric_sorter_pkg::sorter_op_e     op_i,
  /// Operands of OpInsert, OpUpdate and OpPut; of OpRemove the value only, of OpPop none.
  input  logic [KeyWidth-1:0]               key_i,
  input  logic [OrderBits-1:0]              order_i,
  input  logic [ValueWidth-1:0]             value_i,
  /// Combinational, valid with op_valid_i and op_ready_o.
  output fabric_sorter_pkg::sorter_status_e status_o,
  /// The least entry, valid in every cycle: a command changes it in the cycle after it is done.
  output logic                              head_valid_o,
  /// All ones when the queue is empty.
  output logic [KeyWidth-1:0]               head_key_o,
  /// All ones when the queue is empty.
  output logic [ValueWidth-1:0]             head_value_o,
  /// Entries in the queue, 0 .. Depth.
  output logic [CountWidth-1:0]             count_o
);
  import fabric_sorter_pkg::*;

  logic [KeyWidth-1:0]   keys_q  [Depth];
  logic [ValueWidth-1:0] values_q[Depth];
  logic [Depth-1:0]      used_q;
  logic [SlotWidth-1:0]  order_q [Depth];
  logic [CountWidth-1:0] count_q;
  logic                  second_q;  // the second cycle of OpUpdate

  // An entry enters or leaves in this cycle, never both.
  logic put, take;

  // ---- Search ----
  logic [Depth-1:0] not_greater, match, at_match;
  logic [Depth-1:0] not_before;  // the new entry's order is not before the slot's
  logic [SlotWidth-1:0] match_slot, taken_slot;
  logic [CountWidth-1:0] insert_at, match_at;
  // The value of the command is in the queue; and the state of the queue.
  logic present, empty, full;

  for (genvar i = 0; i < Depth; i++) begin : gen_slot
    logic ge, eq;
    sorter_ge #(.Width(KeyWidth)) i_ge (.a_i(key_i), .b_i(keys_q[i]), .tie_i(not_before[i]),
                                        .ge_o(ge));
    sorter_eq #(.Width(ValueWidth)) i_eq (.a_i(value_i), .b_i(values_q[i]), .eq_o(eq));
    assign not_greater[i] = used_q[i] & ge;
    assign match[i]       = used_q[i] & eq;
    assign at_match[i]    = order_q[i] == taken_slot;
  end

  if (OrderWidth == 0) begin : gen_unordered
    assign not_before = '1;
    logic unused_order;
    assign unused_order = ^order_i;
  end else begin : gen_ordered
    for (genvar i = 0; i < Depth; i++) begin : gen_tie
      logic [OrderBits-1:0] tie_q, ahead;
      // The order of the slot's entry.
      always_ff @(posedge clk_i) if (put && order_q[Depth-1] == SlotWidth'(i)) tie_q <= order_i;
      assign ahead         = order_i - tie_q;
      assign not_before[i] = !ahead[OrderBits-1];
      logic unused_ahead;
      assign unused_ahead = ^ahead[OrderBits-2:0];
    end
  end

  sorter_count #(.Width(Depth)) i_count (.bits_i(not_greater), .count_o(insert_at));

  // At most one bit of `match` is set, so the OR of the numbers of all set bits is the number of
  // that bit.
  always_comb begin
    match_slot = '0;
    for (int unsigned i = 0; i < Depth; i++) if (match[i]) match_slot = match_slot | SlotWidth'(i);
  end
  always_comb begin
    match_at = '0;
    for (int unsigned i = 0; i < Depth; i++) if (at_match[i]) match_at = match_at | CountWidth'(i);
  end

  assign present = |match;
  assign empty   = count_q == '0;
  assign full    = count_q == CountWidth'(Depth);

  // ---- Decision ----
  logic [CountWidth-1:0] at;
  logic inserts, updates;

  // In the second cycle of an update the value is no longer present, so second_q tells it from an
  // insertion.
  assign inserts = op_i == OpInsert || (op_i == OpPut && !present && !second_q);
  assign updates = op_i == OpUpdate || (op_i == OpPut && !inserts);

  always_comb begin
    status_o = StDone;
    unique case (op_i)
      OpInsert: if (present) status_o = StDuplicate; else if (full) status_o = StFull;
      OpPop:    if (empty) status_o = StAbsent;
      OpRemove: if (!present) status_o = StAbsent;
      OpUpdate: if (!present && !second_q) status_o = StAbsent;
      OpPut:    if (inserts && full) status_o = StFull;
      // Encodings without a command have no effect.
      default:  status_o = StAbsent;
    endcase
  end

  assign put        = op_valid_i && status_o == StDone && (inserts || second_q);
  assign take       = op_valid_i && status_o == StDone && !inserts && !second_q;
  assign op_ready_o = !(updates && status_o == StDone && !second_q);
  // A pop takes the least entry, a removal or update that of the value.
  assign taken_slot = op_i == OpPop ? order_q[0] : match_slot;
  assign at         = put ? insert_at : match_at;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      second_q <= 1'b0;
      count_q  <= '0;
    end else begin
      second_q <= op_valid_i && !op_ready_o;
      count_q  <= count_q + CountWidth'(put) - CountWidth'(take);
    end
  end

  // ---- Order: [at ..] rotates right or left ----
  for (genvar p = 0; p < Depth; p++) begin : gen_order
    logic [SlotWidth-1:0] from_left, from_right;
    if (p == 0) begin : gen_first
      assign from_left = order_q[Depth-1];
    end else begin : gen_next
      assign from_left = CountWidth'(p) == at ? order_q[Depth-1] : order_q[p-1];
    end
    if (p == Depth - 1) begin : gen_last
      assign from_right = taken_slot;
    end else begin : gen_before
      assign from_right = order_q[p+1];
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) order_q[p] <= SlotWidth'(p);
      else if ((put || take) && CountWidth'(p) >= at) order_q[p] <= put ? from_left : from_right;
    end
  end

  // ---- Slots ----
  for (genvar i = 0; i < Depth; i++) begin : gen_store
    logic here;
    assign here = put && order_q[Depth-1] == SlotWidth'(i);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) used_q[i] <= 1'b0;
      else if (here) used_q[i] <= 1'b1;
      else if (take && taken_slot == SlotWidth'(i)) used_q[i] <= 1'b0;
    end
    always_ff @(posedge clk_i) begin
      if (here) begin
        keys_q[i]   <= key_i;
        values_q[i] <= value_i;
      end
    end
  end

  // ---- Head ----
  // A second copy in distributed memory, where reading one of many needs no multiplexer.
  logic [KeyWidth+ValueWidth-1:0] copy_q[2**SlotWidth];
  logic [KeyWidth+ValueWidth-1:0] head;

  always_ff @(posedge clk_i) begin
    if (put) copy_q[order_q[Depth-1]] <= {key_i, value_i};
  end

  assign head         = copy_q[order_q[0]];
  assign head_valid_o = !empty;
  assign head_key_o   = empty ? '1 : head[ValueWidth+:KeyWidth];
  assign head_value_o = empty ? '1 : head[ValueWidth-1:0];
  assign count_o      = count_q;

endmodule
