// SPDX-License-Identifier: Apache-2.0
// Definitions that every block of the fabric shares: limits, identifiers, types. Overview:
// docs/fabric.md.
package fabric_pkg;

  // Limits of the parameters.
  // MaxVms to MaxListDepth bound the parameters of fabric_top, which refuses others at elaboration.
  // They also give the widths of the identifiers below, so that a register has the same layout
  // whatever the parameters are.
  localparam int unsigned MaxVms = 16;
  localparam int unsigned MaxDevs = 16;
  localparam int unsigned MaxPrrs = 8;
  // Entries of a sorter; sorters; entries of the search list.
  localparam int unsigned MaxSorterDepth = 256;
  localparam int unsigned MaxSorters = 32;
  localparam int unsigned MaxListDepth = 32;

  // Fixed sizes. An IF's context buffer is 1 KiB: the first two words are prr_slot's, the last
  // eight hold the registers that the job was started with, and the rest is the task's.
  localparam int unsigned DataWidth = 64;
  localparam int unsigned CtxBufferWords = 128;
  localparam int unsigned CtxHeaderWords = 2;
  localparam int unsigned CtxJobWords = 8;
  // Words that a task's own context may have; ctx_mover refuses to save more.
  localparam int unsigned MaxCtxWords = CtxBufferWords - CtxHeaderWords - CtxJobWords;

  // Number of a VM, of a device of a VM, of a region (partially reconfigurable region, PRR).
  typedef logic [3:0] vm_t;
  typedef logic [3:0] dev_t;
  typedef logic [2:0] prr_t;
  typedef logic [3:0] prio_t;  // 15 is the highest priority
  // Identifies what a region can compute; the numbers are below.
  typedef logic [7:0] task_t;
  // A beat of a stream, a register of a page, a word of a context; byte 0 in bits 7:0.
  typedef logic [63:0] word_t;
  // The eight custom registers of an IF, register 0 in the lowest bits.
  typedef logic [7:0][31:0] custom_t;

  // Task numbers, used in bitstream headers and in the device table.
  // No task: of a region, that it is empty or no longer trusted; of a device, that it is not
  // configured, so that no request for it can be served.
  localparam task_t TaskNone = 8'd0;
  localparam task_t TaskQam16 = 8'd1;
  localparam task_t TaskQam64 = 8'd2;
  localparam task_t TaskFft512 = 8'd3;
  localparam task_t TaskFft1024 = 8'd4;
  localparam task_t TaskAes128 = 8'd5;
  localparam task_t TaskG722 = 8'd6;

  // States of a region (transitions: docs/fabric.md).
  typedef enum logic [2:0] {
    StIdle     = 3'd0,  // no owner; may still hold a task and be connected to its last client
    StBusy     = 3'd1,  // a job runs
    StPreempt  = 3'd2,  // the job was requested to stop at its next consistency point
    StSwitch   = 3'd3,  // bus traffic drains, a context is saved or restored
    StReconfig = 3'd4,  // decoupled and quiescent, waiting for or receiving a bitstream
    StHold     = 3'd5   // reserved for the client it was allocated to, until used or expired
  } prr_state_e;

  // The client that requests a region or owns it.
  typedef struct packed {
    vm_t   vm;
    dev_t  dev;
    prio_t prio;
  } client_t;

  // Size class that a device needs or a region has: 0 is the smallest.
  // A region is large enough if its class is not below the device's.
  typedef logic [1:0] size_class_t;

  // A device as configured by the manager: the task that its region must hold, and the size class.
  typedef struct packed {
    task_t       task_id;
    size_class_t size;
    logic [MaxPrrs-1:0] excluded;  // regions that must not hold it
  } device_t;

  // A region's descriptor, as the monitor sees it.
  typedef struct packed {
    // What the region does now.
    prr_state_e  state;
    // `client` is meaningful. In Idle it is the last client, which stays connected until the region
    // is allocated again.
    logic        client_valid;
    client_t     client;
    // promised to `next`, which gets the region when the current job has left
    logic        next_valid;
    client_t     next;
    task_t       task_id;      // the task that the region holds
    size_class_t size;
  } region_t;

  // The monitor's answer to a request.
  typedef enum logic [1:0] {
    // No region: the client waits in the search list, if `listed`.
    MethodUnavailable = 2'd0,
    MethodAssign      = 2'd1,
    MethodPreempt     = 2'd2
  } method_e;

  typedef struct packed {
    // Assign: the client has the region now, or as soon as it is configured. Preempt: the client
    // has the promise of the region, until the present job has left.
    method_e method;
    logic    reconfig;       // the region has to be configured with the device's task first
    logic    listed;         // unavailable, and in the search list
    // The region, unless unavailable; the client that requested.
    prr_t    prr;
    client_t client;
    logic    evicted_valid;  // another client's IF was or will be disconnected
    // The IF that was disconnected, with evicted_valid.
    vm_t     evicted_vm;
    dev_t    evicted_dev;
  } solution_t;

  // Why a job ended without a result, as in STAT of the IF; FaultNone: it did not fail.
  typedef enum logic [2:0] {
    FaultNone    = 3'd0,
    FaultDma     = 3'd1,  // an address outside the VM's windows
    FaultBus     = 3'd2,  // the memory system answered with an error
    FaultHung    = 3'd3,  // no consistency point, or no context, in time
    FaultRogue   = 3'd4,  // the task violated the HW-task interface
    FaultContext = 3'd5   // a context that is too long, or belongs to another task
  } fault_e;

  // Guest-physical and host-physical addresses (Sv39x4 has 41 bits); windows are whole pages.
  localparam int unsigned AddrWidth = 41;
  localparam int unsigned PageBits = 12;
  localparam int unsigned PageWidth = AddrWidth - PageBits;
  localparam int unsigned NumWindows = 4;
  typedef logic [AddrWidth-1:0] addr_t;
  typedef logic [PageWidth-1:0] page_t;

  typedef struct packed {
    // First guest-physical page, number of pages, first host-physical page; a page has 4 KiB.
    page_t guest;
    page_t pages;  // zero: the window is closed
    page_t host;
    // Rights of the VM's DMA; a window with neither right never matches.
    logic  readable;
    logic  writable;
  } window_t;

  // A burst that a region's DMA requests.
  localparam int unsigned BurstBeats = 16;
  typedef logic [4:0] beats_t;  // 1..16
  typedef struct packed {
    // Whose windows are searched.
    vm_t         vm;
    // 1: memory is written, which needs a writable window; 0: read.
    logic        write;
    // Guest-physical byte address of the first beat; it must be a multiple of 8.
    logic [63:0] addr;
    beats_t      beats;
  } dma_check_t;

  // The memory of the IF pages: 16 words of registers and 128 words of context for each IF.
  typedef struct packed {
    logic       ctx;   // 1: context buffer, 0: registers
    // An IF of the fabric: others would alias, so fabric_bus checks VM and device.
    vm_t        vm;
    dev_t       dev;
    // Word in the buffer, 0..127, or in the registers, 0..15 (the upper bits are ignored).
    logic [6:0] word;
  } if_addr_t;

  // The sorters: key is an absolute deadline, order that among equal keys, value an RT-VCPU.
  // Keys are unsigned; orders wrap around, and are compared by the sign of their difference.
  typedef logic [63:0] sort_key_t;
  typedef logic [31:0] sort_order_t;
  typedef logic [15:0] sort_value_t;

endpackage
