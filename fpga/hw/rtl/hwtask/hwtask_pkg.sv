// SPDX-License-Identifier: Apache-2.0
// Declared properties of each HW task: the size of its context and the longest wait to a
// consistency point. The benches measure both and fail when a task exceeds them.
package hwtask_pkg;

  // 64-bit words of context. QAM: input bytes left. FFT: these and the flag of a saturation. AES:
  // the vector or counter in two words, input bytes left. G.722: codec_t of g722_pkg, 1224 bits.
  localparam int unsigned QamCtxWords = 1;
  localparam int unsigned FftCtxWords = 1;
  localparam int unsigned AesCtxWords = 3;
  localparam int unsigned G722CtxWords = 20;

  // Cycles from stop to stopped or over, not counting cycles in which a stream makes the task wait.
  // QAM: the output beats of two groups, one that is mapped and one that is collected, 8 each for
  // 16-QAM and 16 each for 64-QAM. FFT: a block of Points / 2 beats comes in, and as many output
  // beats leave after it. AES: the present block. G.722: the present octet.
  localparam int unsigned Qam16Wait = 20;
  localparam int unsigned Qam64Wait = 38;
  localparam int unsigned Fft512Wait = 540;
  localparam int unsigned Fft1024Wait = 1060;
  localparam int unsigned AesWait = 20;
  localparam int unsigned G722Wait = 90;

  // The same by task number, for the benches; 0: no such task.
  function automatic int unsigned task_ctx_words(input fabric_pkg::task_t id);
    case (id)
      fabric_pkg::TaskQam16, fabric_pkg::TaskQam64:   return QamCtxWords;
      fabric_pkg::TaskFft512, fabric_pkg::TaskFft1024: return FftCtxWords;
      fabric_pkg::TaskAes128:                          return AesCtxWords;
      fabric_pkg::TaskG722:                            return G722CtxWords;
      default:                                         return 0;
    endcase
  endfunction

  function automatic int unsigned task_wait(input fabric_pkg::task_t id);
    case (id)
      fabric_pkg::TaskQam16:   return Qam16Wait;
      fabric_pkg::TaskQam64:   return Qam64Wait;
      fabric_pkg::TaskFft512:  return Fft512Wait;
      fabric_pkg::TaskFft1024: return Fft1024Wait;
      fabric_pkg::TaskAes128:  return AesWait;
      fabric_pkg::TaskG722:    return G722Wait;
      default:                 return 0;
    endcase
  endfunction

endpackage
