// SPDX-License-Identifier: Apache-2.0
// What every block of the fabric shares: limits, identifiers, types. docs/fabric.md explains the whole.
//
// # The HW-task interface
//
// Every accelerator is a module `hwtask_<name>` with exactly these ports, so that any region can host any task. The
// region's wrapper (prr_slot) is on the other side; a task never sees an address, an interrupt or the system bus.
//
//   input  logic             clk_i, rst_ni   reset is asserted while the region is decoupled and released after it
//   -- control
//   input  logic             start_i         pulse: begin a new job; cmd, size and custom are stable from here to the end
//   input  logic             resume_i        pulse: go on with the job from where stopped_o was raised, here or elsewhere
//   input  logic             stop_i          level: stop at the next consistency point
//   input  logic [31:0]      cmd_i           the IF's CMD register
//   input  logic [31:0]      size_i          the IF's DATA_SIZE register: bytes of input of the whole job
//   input  logic [7:0][31:0] custom_i        the IF's custom ports
//   output logic             stopped_o       level, until resume_i or reset: at a consistency point, streams idle
//   output logic             over_o          pulse: the job is done and its last output beat was taken
//   output logic [31:0]      result_o        valid with over_o: the job's own status word, task-defined (0: fine)
//   -- stream in: a beat moves when valid and ready; valid never waits for ready, and data stay until taken
//   input  logic [63:0]      in_data_i
//   input  logic             in_valid_i
//   input  logic             in_last_i       with the last beat of the job
//   output logic             in_ready_o
//   -- stream out: whole 64-bit beats
//   output logic [63:0]      out_data_o
//   output logic             out_valid_o
//   output logic             out_last_o      with the last beat of the job
//   input  logic             out_ready_i
//   -- context port: words in the same order both ways, moved when valid and ready
//   input  logic             ctx_save_i      pulse while stopped_o: send the context once, ctx_last_o with its last word
//   input  logic             ctx_restore_i   pulse after reset instead of start_i: take that context, then wait stopped
//   input  logic [63:0]      ctx_data_i
//   input  logic             ctx_valid_i
//   output logic             ctx_ready_o
//   output logic [63:0]      ctx_data_o
//   output logic             ctx_valid_o
//   output logic             ctx_last_o
//   input  logic             ctx_ready_i
//
// Rules that a task keeps, and that the wrapper checks, because a task is not trusted:
// - A consistency point is a moment at which the job can be described by the task's context and the numbers of beats it
//   has taken and given. The wrapper counts the beats and saves them with the context; a task holds no half-used beat.
// - When stop_i is high the task raises stopped_o within TaskWait cycles in which neither stream makes it wait, or ends
//   with over_o. While stopped_o is high both in_ready_o and out_valid_o are low. over_o and stopped_o exclude each other.
// - stop_i may fall again without a save: resume_i follows whenever stopped_o was raised. stop_i is low at resume_i.
// - A context has at most MaxCtxWords words, always as many as TaskCtxWords says. One word a cycle once under way; the
//   first at most four cycles after ctx_save_i; ready for the first at most four after ctx_restore_i.
// - After ctx_restore_i and all words the task raises stopped_o (within two cycles); resume_i then goes on with the job.
//   cmd, size and custom are already stable at ctx_restore_i and need not be part of the context.
// - Outputs before start_i or ctx_restore_i are idle: no valid, no ready, no stopped, no over.
// - in_last_i is a service: the number of beats is also (size_i + 7) / 8.
package fabric_pkg;

  // Limits of the parameters.
  localparam int unsigned MaxVms = 16;
  localparam int unsigned MaxDevs = 16;
  localparam int unsigned MaxPrrs = 8;
  localparam int unsigned MaxSorterDepth = 256;
  localparam int unsigned MaxListDepth = 32;

  // Sizes that do not change. An IF's context buffer is 1 KiB: its first two words are the wrapper's, its last eight the
  // registers that the job began with, and the rest is the task's.
  localparam int unsigned DataWidth = 64;
  localparam int unsigned CtxBufferWords = 128;
  localparam int unsigned CtxHeaderWords = 2;
  localparam int unsigned CtxJobWords = 8;
  localparam int unsigned MaxCtxWords = CtxBufferWords - CtxHeaderWords - CtxJobWords;

  typedef logic [3:0] vm_t;
  typedef logic [3:0] dev_t;
  typedef logic [2:0] prr_t;
  typedef logic [3:0] prio_t;  // 15 is the most urgent
  typedef logic [7:0] task_t;
  typedef logic [63:0] word_t;
  typedef logic [7:0][31:0] custom_t;

  // What a region can hold. The numbers are those of bitstream headers and of the IF's device table.
  localparam task_t TaskNone = 8'd0;
  localparam task_t TaskQam16 = 8'd1;
  localparam task_t TaskQam64 = 8'd2;
  localparam task_t TaskFft512 = 8'd3;
  localparam task_t TaskFft1024 = 8'd4;
  localparam task_t TaskAes128 = 8'd5;
  localparam task_t TaskG722 = 8'd6;

  // A region's states (docs/fabric.md has the picture).
  typedef enum logic [2:0] {
    StIdle     = 3'd0,  // nobody's turn; may still hold a task and be connected to its last client
    StBusy     = 3'd1,  // a job runs
    StPreempt  = 3'd2,  // the job was told to stop at its next consistency point
    StSwitch   = 3'd3,  // bus traffic drains, a context is saved or restored
    StReconfig = 3'd4,  // decoupled and quiet, waiting for or receiving a bitstream
    StHold     = 3'd5   // reserved for the client it was given to, until used or expired
  } prr_state_e;

  // Who wants a region, or has it.
  typedef struct packed {
    vm_t   vm;
    dev_t  dev;
    prio_t prio;
  } client_t;

  // What a region needs, or how large a region is: 0 is the smallest class.
  typedef logic [1:0] size_class_t;

  // A device as the manager describes it: what must be in the region.
  typedef struct packed {
    task_t       task_id;
    size_class_t size;
  } device_t;

  // A region's descriptor, as the monitor sees it.
  typedef struct packed {
    prr_state_e  state;
    logic        client_valid;
    client_t     client;
    logic        next_valid;   // promised to another client, who gets it when the job has left
    client_t     next;
    task_t       task_id;      // what it holds
    size_class_t size;
  } region_t;

  // The monitor's answer.
  typedef enum logic [1:0] {
    MethodUnavailable = 2'd0,
    MethodAssign      = 2'd1,
    MethodPreempt     = 2'd2
  } method_e;

  typedef struct packed {
    method_e method;
    logic    reconfig;       // the region has to be configured with the device's task first
    logic    listed;         // unavailable, and waiting in the search list
    prr_t    prr;
    client_t client;
    logic    evicted_valid;  // somebody else's IF was or will be disconnected
    vm_t     evicted_vm;
    dev_t    evicted_dev;
  } solution_t;

  // Why a job ended without its result, as in STAT of the IF; zero: it did not.
  typedef enum logic [2:0] {
    FaultNone    = 3'd0,
    FaultDma     = 3'd1,  // an address outside the VM's windows
    FaultBus     = 3'd2,  // the memory system answered with an error
    FaultHung    = 3'd3,  // no consistency point, or no context, in time
    FaultRogue   = 3'd4,  // the task talked out of turn
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
    page_t guest;
    page_t pages;  // zero: the window is closed
    page_t host;
    logic  readable;
    logic  writable;
  } window_t;

  // One burst that a region's DMA would like to make.
  localparam int unsigned BurstBeats = 16;
  typedef logic [4:0] beats_t;  // 1..16
  typedef struct packed {
    vm_t         vm;
    logic        write;
    logic [63:0] addr;
    beats_t      beats;
  } dma_check_t;

  // The memory behind the IF pages: 16 words of registers and 128 words of context for each IF.
  typedef struct packed {
    logic       ctx;   // context buffer, else registers
    vm_t        vm;
    dev_t       dev;
    logic [6:0] word;
  } if_addr_t;

  // The sorter: key is an absolute deadline, value an RT-VCPU.
  typedef logic [63:0] sort_key_t;
  typedef logic [15:0] sort_value_t;

endpackage
