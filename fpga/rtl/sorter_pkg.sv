// SPDX-License-Identifier: Apache-2.0
// What the sorter and its users share: the commands and their outcomes.
package sorter_pkg;

  typedef enum logic [1:0] {
    OpInsert = 2'd0,  // puts {key_i, value_i} behind the entries of the same key
    OpPop    = 2'd1,  // takes the least entry out
    OpRemove = 2'd2,  // takes the entry of value_i out
    OpUpdate = 2'd3   // gives the entry of value_i the key key_i, behind the entries that have it already
  } sorter_op_e;

  typedef enum logic [1:0] {
    StDone      = 2'd0,
    StFull      = 2'd1,  // OpInsert: there is no room
    StDuplicate = 2'd2,  // OpInsert: value_i is in the queue, and a value names one entry
    StAbsent    = 2'd3   // OpPop: the queue is empty; OpRemove, OpUpdate: value_i is not in it
  } sorter_status_e;

endpackage
