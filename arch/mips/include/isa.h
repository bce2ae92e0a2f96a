/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembly where C is compiled to microMIPS, HYP_MICROMIPS (docs/porting.md): what exceptions enter is MIPS32 code, and
 * calls C by JAL, which the linker makes JALX. What C calls is microMIPS code too: C may jump instead of calling, and a
 * jump cannot change the mode. Of 32 bits each instruction, so that tables of them stay what they are.
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
