// SPDX-License-Identifier: Apache-2.0
// Definitions that the blocks of the I/O share: requests, chunks, completions. Overview:
// docs/hardware-io.md.
package io_pkg;
  import fabric_pkg::*;

  // Numbers of the devices, which are those of their pages, too.
  localparam dev_t DevUart = 4'd0, DevFlash = 4'd1, DevSend = 4'd2, DevReceive = 4'd3,
                             DevCopy = 4'd4, DevDisplay = 4'd5;
  localparam dev_t DevGpio = 4'd6, DevSpi = 4'd7;
  // Devices 1 to 4 execute requests, and have a channel: device number - 1.
  localparam int unsigned Channels = 4;
  localparam int unsigned ChFlash = 0, ChSend = 1, ChReceive = 2, ChCopy = 3;
  typedef logic [1:0] io_channel_t;

  // Operation, tag, length in bytes, address in the device: fields of a request.
  typedef logic [7:0] io_op_t;
  typedef logic [7:0] io_tag_t;
  typedef logic [15:0] io_length_t;
  typedef logic [31:0] io_target_t;

  // The low bits of the time base, in its cycles.
  typedef logic [31:0] io_time_t;

  // A request of a VM.
  typedef struct packed {
    io_op_t     op;
    io_tag_t    tag;     // the VM's own, returned with the completion
    io_length_t length;  // bytes
    io_target_t target;  // address in the device
    addr_t      addr;    // guest-physical address of the data
    io_time_t   due;     // absolute deadline
    logic       face;    // of the SPI face: its data are there, not in memory
  } io_request_t;

  // Operations of the flash.
  localparam io_op_t FlashRead = 8'd0, FlashProgram = 8'd1, FlashErase = 8'd2;
  // The operation of the copy device.
  localparam io_op_t CopyBytes = 8'd0;

  // Which request a device serves next.
  typedef enum logic [1:0] {
    PolicyRoundRobin = 2'd0,
    PolicyPriority   = 2'd1,
    PolicyEdf        = 2'd2
  } io_policy_e;

  // How a device chooses (io_arbiter, io_budget).
  typedef struct packed {
    // How the next request is chosen.
    io_policy_e  policy;
    // A chunk has at most 2^size bytes.
    logic [3:0]  size;
    // Limit for a chunk, and time from one replenishment of the budgets to the next, in cycles; 0:
    // none.
    logic [31:0] timeout;
    logic [31:0] period;
  } io_config_t;

  // Pulses of the manager and of VMs, with what they concern.
  typedef struct packed {
    logic        valid;
    vm_t         vm;
    io_request_t request;
  } io_submit_t;
  typedef struct packed {
    logic valid;
    vm_t  vm;
  } io_flush_t;
  typedef struct packed {
    logic        valid;
    vm_t         vm;
    // The budget in each period; 0: no limit.
    logic [31:0] cycles;
  } io_server_t;

  // A VM's access to a page; the page answers in the next cycle.
  typedef struct packed {
    // Pulse: an access in this cycle.
    logic       valid;
    vm_t        vm;
    dev_t       device;
    logic [8:0] word;   // of 64 bits in the page
    logic [2:0] low;    // the lowest bits of the address
    logic [7:0] write;  // byte strobes; 0: a read
    word_t      data;
  } io_access_t;

  // A part of a request, which the device executes without interruption.
  typedef struct packed {
    vm_t        vm;
    io_op_t     op;
    // Bytes of the chunk.
    io_length_t bytes;
    io_target_t target;  // of the first byte of the chunk
    addr_t      addr;    // of the first byte of the chunk
    // The first and the last chunk of its request.
    logic       first;
    logic       last;
    logic       face;    // of io_request_t
  } io_chunk_t;

  typedef enum logic [3:0] {
    IoDone      = 4'd0,
    // unknown operation, or a length or address that the operation does not allow
    IoBad       = 4'd1,
    IoForbidden = 4'd2,  // outside what the VM may use of the device
    IoViolation = 4'd3,  // memory outside the VM's windows
    IoBus       = 4'd4,  // the memory system answered with an error
    IoTimeout   = 4'd5   // the device did not answer in time
  } io_status_e;

  // What a device has done of a chunk.
  typedef struct packed {
    // IoDone, or why the request ends here.
    io_status_e  status;
    logic        again;  // the chunk is not complete: the rest of it competes again
    // Bytes of the chunk that are done.
    io_length_t  bytes;
    logic [31:0] data;   // of a read of at most four bytes
  } io_result_t;

  // The end of a request.
  typedef struct packed {
    vm_t         vm;
    io_tag_t     tag;
    io_status_e  status;
    // Bytes of the whole request that are done; 0 if the status is not IoDone.
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

  // A client of the DMA.
  typedef struct packed {
    // A burst is requested, until done; word is the next word of a write.
    logic      request;
    io_burst_t burst;
    io_word_t  word;
  } io_client_req_t;
  typedef struct packed {
    // Pulses: the word was taken, data are the next word read, the burst is over with status.
    logic       take;
    logic       give;
    logic       done;
    word_t      data;
    io_status_e status;
  } io_client_rsp_t;

endpackage
