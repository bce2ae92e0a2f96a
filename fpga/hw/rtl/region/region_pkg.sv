// SPDX-License-Identifier: Apache-2.0
// The HW-task interface: the boundary between a region and its static side.
//
// Every accelerator is a module `hwtask_<name>` with the ports clk_i, rst_ni, `region_req_t req_i`
// and `region_rsp_t rsp_o`, so that any region can host any task. rst_ni is low while the region is
// decoupled. A region is a task and a region_port; the static side (prr_slot) drives the request. A
// task never sees an address, an interrupt or the system bus.
//
// Streams and context words move when valid and ready. valid never waits for ready, and data stay
// stable until they have moved.
//
// region_gate registers all signals at the boundary but cmd, size and custom, which are registers
// of the static side that change only between jobs. A request therefore reaches the region, and a
// response the static side, a cycle later. Input beats are sent to region_port without a handshake:
// there, in_ready reports a beat that the task has taken.
//
// Rules for a task. The static side (prr_slot) enforces them, because a task is not trusted:
// - A consistency point is a moment at which the task's context and the numbers of beats consumed
//   and produced describe the job completely. prr_slot counts the beats and saves the counts
//   with the context; a task holds no partly used beat.
// - When stop is high, the task raises stopped within TaskWait cycles, not counting cycles in which
//   a stream makes it wait, or it ends with over. While stopped is high, in_ready and out_valid are
//   low. over and stopped exclude each other.
// - stop may be withdrawn without a save: resume follows whenever stopped was raised. stop is low
//   at resume.
// - stopped falls in the cycle after resume, for at least a cycle.
// - A context always has as many words as TaskCtxWords says, at most MaxCtxWords, in the same order
//   in both directions. It moves one word a cycle: the first word at most four cycles after
//   ctx_save, and the task is ready for the first word at most four cycles after ctx_restore. From
//   then on it takes a word in every cycle with ctx_valid.
// - Within two cycles of the last restored word the task raises stopped; resume then continues the
//   job. cmd, size and custom are already stable at ctx_restore and need not be part of the
//   context.
// - Responses are idle before start or ctx_restore: no valid, no ready, no stopped, no over.
// - in_last is redundant: the number of beats is also (size + 7) / 8.
package region_pkg;

  // Input beats that a region has space for: as many cycles as a beat and its answer take.
  localparam int unsigned InputBeats = 4;
  // 0 .. InputBeats.
  typedef logic [$clog2(InputBeats):0] input_count_t;

  /// From the static side to the region.
  typedef struct packed {
    /// Pulse: start a job. cmd, size and custom are stable from here to the end of the job.
    logic start;
    /// Pulse: continue the job where stopped was raised, in this or another region.
    logic resume;
    /// Level: stop at the next consistency point.
    logic stop;
    /// The IF's CMD register.
    logic [31:0] cmd;
    /// The IF's DATA_SIZE register: input bytes of the whole job.
    logic [31:0] size;
    /// The IF's custom registers.
    fabric_pkg::custom_t custom;
    /// Input stream; in_last marks the last beat of the job.
    fabric_pkg::word_t in_data;
    logic in_valid;
    logic in_last;
    /// Output stream.
    logic out_ready;
    /// Pulse while stopped: send the context once.
    logic ctx_save;
    /// Pulse after reset, instead of start: load the following context, then stay stopped.
    logic ctx_restore;
    /// Context words to the task.
    fabric_pkg::word_t ctx_data;
    logic ctx_valid;
    /// Context words from the task.
    logic ctx_ready;
  } region_req_t;

  /// From the region to the static side.
  typedef struct packed {
    /// Level, until resume or reset: at a consistency point, streams idle.
    logic stopped;
    /// Pulse: the job is done, and its last output beat was taken.
    logic over;
    /// Valid with over: the job's status word, defined by the task (0: success).
    logic [31:0] result;
    /// Input stream.
    logic in_ready;
    /// Output stream in whole 64-bit beats; out_last marks the last beat of the job.
    fabric_pkg::word_t out_data;
    logic out_valid;
    logic out_last;
    /// Context words to the task.
    logic ctx_ready;
    /// Context words from the task; ctx_last marks the last one.
    fabric_pkg::word_t ctx_data;
    logic ctx_valid;
    logic ctx_last;
  } region_rsp_t;

endpackage
