/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembly where C is compiled to microMIPS (HYP_MICROMIPS, docs/benchmarks.md). Exception vectors
 * are MIPS32 code and call C by JAL, which the linker turns into JALX. Functions that C calls must
 * be microMIPS: C may tail-call them by a jump, which cannot change the mode. They use 32-bit
 * instructions only, so that tables of instructions keep their layout.
 */
#ifndef ISA_H
#define ISA_H

#ifdef HYP_MICROMIPS
#define CALLED_BY_C \
    .set push;      \
    .set micromips; \
    .set insn32
#define END_CALLED_BY_C .set pop
#else
#define CALLED_BY_C
#define END_CALLED_BY_C
#endif

#endif
