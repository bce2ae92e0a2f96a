// SPDX-License-Identifier: Apache-2.0
// Definitions that the blocks of the I/O share: requests, chunks, completions. Overview: docs/hardware-io.md.
package io_pkg;
  import fabric_pkg::*;

  typedef logic [7:0] io_op_t;
  typedef logic [7:0] io_tag_t;
  typedef logic [15:0] io_length_t;
  typedef logic [31:0] io_target_t;

  // The low bits of the time base, in its cycles. A later time is at most 2^31 - 1 cycles after an earlier one.
  typedef logic [31:0] io_time_t;

  // A request of a VM.
  typedef struct packed {
    io_op_t     op;
    io_tag_t    tag;     // the VM's own, returned with the completion
    io_length_t length;  // bytes
    io_target_t target;  // address in the device
    addr_t      addr;    // guest-physical address of the data
    io_time_t   due;     // absolute deadline
  } io_request_t;

  // Which request a device serves next.
  typedef enum logic [1:0] {
    PolicyRoundRobin = 2'd0,
    PolicyPriority   = 2'd1,
    PolicyEdf        = 2'd2
  } io_policy_e;

  // A part of a request, which the device executes without interruption.
  typedef struct packed {
    vm_t        vm;
    io_op_t     op;
    io_length_t bytes;
    io_target_t target;  // of the first byte of the chunk
    addr_t      addr;    // of the first byte of the chunk
    logic       first;
    logic       last;
  } io_chunk_t;

  typedef enum logic [3:0] {
    IoDone      = 4'd0,
    IoBad       = 4'd1,  // unknown operation, or a length or address that the operation does not allow
    IoForbidden = 4'd2,  // outside what the VM may use of the device
    IoViolation = 4'd3,  // memory outside the VM's windows
    IoBus       = 4'd4,  // the memory system answered with an error
    IoTimeout   = 4'd5   // the device did not answer in time
  } io_status_e;

  // What a device has done of a chunk.
  typedef struct packed {
    io_status_e  status;
    logic        again;  // the chunk is not complete: the rest of it takes another turn
    io_length_t  bytes;
    logic [31:0] data;   // of a read of at most four bytes
  } io_result_t;

  // The end of a request.
  typedef struct packed {
    vm_t         vm;
    io_tag_t     tag;
    io_status_e  status;
    io_length_t  bytes;
    logic [31:0] data;
  } io_completion_t;

  // A burst of a device's DMA, at most 16 words of 64 bits in a block of 128 bytes.
  localparam int unsigned BlockBits = 7;
  typedef struct packed {
    vm_t    vm;
    logic   write;
    addr_t  addr;   // guest-physical, of the first word
    beats_t beats;
  } io_burst_t;

  // A word to be written, and its bytes that are.
  typedef struct packed {
    word_t      data;
    logic [7:0] strobes;
  } io_word_t;

endpackage
