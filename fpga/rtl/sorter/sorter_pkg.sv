// SPDX-License-Identifier: Apache-2.0
// Commands of the sorter and their outcomes.
package sorter_pkg;

  typedef enum logic [1:0] {
    OpInsert = 2'd0,  // inserts {key_i, value_i} after the entries with the same key
    OpPop    = 2'd1,  // removes the least entry
    OpRemove = 2'd2,  // removes the entry of value_i
    OpUpdate = 2'd3   // changes the key of value_i's entry to key_i, after the entries with that key
  } sorter_op_e;

  typedef enum logic [1:0] {
    StDone      = 2'd0,
    StFull      = 2'd1,  // OpInsert: the queue is full
    StDuplicate = 2'd2,  // OpInsert: value_i is in the queue; a value identifies one entry
    StAbsent    = 2'd3   // OpPop: the queue is empty; OpRemove, OpUpdate: value_i is not in it
  } sorter_status_e;

endpackage
