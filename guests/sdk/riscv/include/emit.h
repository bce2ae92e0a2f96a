/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions generated at run time, for guests that need code no compiler emits: encodings by
 * format (Unprivileged ISA, section 2.2), and a buffer that they are appended to. Execute fence.i
 * before running the code.
 */
#ifndef GUEST_EMIT_H
#define GUEST_EMIT_H

#include <stddef.h>
#include <stdint.h>

#define INSN_NOP 0x00000013U
#define INSN_RET 0x00008067U
#define INSN_ECALL 0x00000073U
#define INSN_WFI 0x10500073U
#define INSN_SFENCE_VMA 0x12000073U

#define OPCODE_LOAD 0x03U
#define OPCODE_LOAD_FP 0x07U
#define OPCODE_ADDI 0x13U
#define OPCODE_STORE 0x23U
#define OPCODE_STORE_FP 0x27U
#define OPCODE_BRANCH 0x63U
#define OPCODE_SYSTEM 0x73U
#define FUNCT3_DOUBLE 3U
#define FUNCT3_CSRRW 1U
#define FUNCT3_CSRRS 2U
#define FUNCT3_CSRRC 3U
#define FUNCT3_CSRRCI 7U

/* The immediate is signed and truncated to 12 bits; in a CSR instruction it is the CSR number. */
static inline uint32_t insn_i(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1,
                              uint32_t immediate)
{
    return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | immediate << 20;
}

static inline uint32_t insn_s(uint32_t opcode, uint32_t funct3, uint32_t rs1, uint32_t rs2,
                              uint32_t immediate)
{
    return opcode | (immediate & 31U) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 |
           (immediate >> 5 & 127U) << 25;
}

static inline uint32_t insn_ld(uint32_t rd, uint32_t rs1, uint32_t offset)
{
    return insn_i(OPCODE_LOAD, FUNCT3_DOUBLE, rd, rs1, offset);
}

static inline uint32_t insn_sd(uint32_t rs2, uint32_t rs1, uint32_t offset)
{
    return insn_s(OPCODE_STORE, FUNCT3_DOUBLE, rs1, rs2, offset);
}

static inline uint32_t insn_csr(uint32_t funct3, uint32_t rd, uint32_t csr, uint32_t rs1)
{
    return insn_i(OPCODE_SYSTEM, funct3, rd, rs1, csr);
}

/* Appends instructions of four bytes; the caller ensures that the buffer is large enough. */
struct emitter {
    uint32_t *next;
};

static inline void emit(struct emitter *to, uint32_t instruction)
{
    *to->next++ = instruction;
}

/* Makes the emitted instructions visible to this hart's instruction fetch. */
static inline void emit_done(void)
{
    __asm__ volatile("fence.i" : : : "memory");
}

#endif
