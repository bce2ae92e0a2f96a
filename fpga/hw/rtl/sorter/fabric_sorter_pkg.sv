// SPDX-License-Identifier: Apache-2.0
// Commands of the sorter and their outcomes, for fabric_sorter, its port and the registers' block.
// A command that does not end with StDone changes nothing.
package fabric_sorter_pkg;

  typedef enum logic [2:0] {
    OpInsert = 3'd0,  // inserts {key_i, value_i} after the entries with the same key and order
    OpPop    = 3'd1,  // removes the least entry
    OpRemove = 3'd2,  // removes the entry of value_i
    // changes value_i's entry to {key_i, order_i}, after the entries with that key and order
    OpUpdate = 3'd3,
    OpPut    = 3'd4   // OpUpdate if value_i is in the queue, else OpInsert
  } sorter_op_e;

  typedef enum logic [1:0] {
    // The command was executed.
    StDone      = 2'd0,
    StFull      = 2'd1,  // OpInsert, OpPut: the queue is full
    StDuplicate = 2'd2,  // OpInsert: value_i is in the queue; a value identifies one entry
    StAbsent    = 2'd3   // OpPop: the queue is empty; OpRemove, OpUpdate: value_i is not in it
  } sorter_status_e;

endpackage
