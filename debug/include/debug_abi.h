/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger's tool (tools/gdb) and the hypervisor say to each other over the console. docs/debugging.md explains it.
 *
 * A request is typed: the console's escape key, DEBUG_KEY, bytes as hexadecimal digits, a carriage return. An answer is
 * ESC _ DEBUG_MARK, the session's nonce as 16 digits, bytes as digits, ESC \ (an application program command, ECMA-48
 * section 8.3.2, which terminals do not show). The nonce is how the tool knows an answer from what a guest prints: no
 * guest ever sees it. Numbers are little-endian. Both end with their Fletcher checksum (debug_check).
 */
#ifndef DEBUG_ABI_H
#define DEBUG_ABI_H

#include "types.h"

#define DEBUG_VERSION 1U
#define DEBUG_KEY 'd'
#define DEBUG_END '\r'
#define DEBUG_MARK "\033_t"

#define DEBUG_DATA 32U /* bytes of data in a frame, at most */
#define DEBUG_REGISTERS (DEBUG_DATA / 8U)
#define DEBUG_EVENT 0U /* `sequence` of what nobody has asked for: look at the status */
#define DEBUG_ALL 0xffU

/* A request; what an operation does not use is 0. */
struct debug_request {
    uint8_t sequence; /* not 0; the same one again means: what was the answer? */
    uint8_t operation;
    uint8_t vcpu;
    uint8_t count;
    uint8_t address[8];
    uint8_t data[DEBUG_DATA];
};
#define DEBUG_HEAD offsetof(struct debug_request, data)

enum debug_operation {
    DEBUG_ATTACH = 0,    /* data: name of the VM; address: nonce -> data: version, VCPUs, of which RT apps' */
    DEBUG_DETACH = 1,    /* it runs on */
    DEBUG_STATUS = 2,    /* vcpu: first one -> data: struct debug_status */
    DEBUG_STOP = 3,      /* is begun: the status tells when it has come about */
    DEBUG_CONTINUE = 4,  /* vcpu: that one alone, or DEBUG_ALL */
    DEBUG_GET = 5,       /* count registers of vcpu from number `address` on -> data */
    DEBUG_SET = 6,       /* register number `address` of vcpu := data */
    DEBUG_READ = 7,      /* count bytes at guest-physical `address` -> data */
    DEBUG_WRITE = 8,     /* data to guest-physical `address` */
    DEBUG_RESTART = 9,   /* or start; it stands still before its first instruction */
    DEBUG_OFF = 10,      /* the VM is stopped, as by the console */
    DEBUG_EXCEPTION = 11 /* vcpu stands before a breakpoint instruction of its own: it takes the exception */
};

struct debug_answer {
    uint8_t sequence; /* the request's, or DEBUG_EVENT */
    uint8_t error;
    uint8_t data[DEBUG_DATA];
};
#define DEBUG_ANSWER_HEAD offsetof(struct debug_answer, data)

enum debug_error {
    DEBUG_OK = 0,
    DEBUG_ERR_FRAME = 1,     /* not hexadecimal, too short or too long, or the checksum is wrong */
    DEBUG_ERR_OPERATION = 2, /* no such operation */
    DEBUG_ERR_NO_VM = 3,     /* attach: no VM of that name */
    DEBUG_ERR_OFF = 4,       /* attach, stop, continue: the VM is stopped */
    DEBUG_ERR_DETACHED = 5,  /* nothing is attached to */
    DEBUG_ERR_RUNNING = 6,   /* only while the VM stands still */
    DEBUG_ERR_VCPU = 7,      /* no such VCPU, or it is off */
    DEBUG_ERR_REGISTER = 8,  /* no such register, or it cannot be written */
    DEBUG_ERR_ADDRESS = 9,   /* not all of it is the VM's memory */
    DEBUG_ERR_SIZE = 10      /* count or data do not fit the operation */
};

enum debug_reason {
    DEBUG_REASON_RUNS = 0,
    DEBUG_REASON_ASKED = 1,      /* attach, stop */
    DEBUG_REASON_BREAKPOINT = 2, /* of `vcpu` */
    DEBUG_REASON_RESTART = 3     /* the VM has begun anew and stands before its first instruction */
};

struct debug_status {
    uint8_t vm_state; /* enum vm_state */
    uint8_t still;    /* 1: nothing of the VM runs, nor will before DEBUG_CONTINUE */
    uint8_t reason;   /* enum debug_reason, why it is told to stand still */
    uint8_t vcpu;
    uint8_t starts[4]; /* how often the VM was started */
    uint8_t vcpus[24]; /* enum vcpu_state, from the one asked for on */
};

/* Fletcher's checksum with sums of 16 bits; `sum` is 0 at first, the first sum is its low half. */
static inline uint32_t debug_check(uint32_t sum, uint8_t byte)
{
    uint32_t low = (sum + byte) & 0xffffU;

    return low | ((sum >> 16) + low) << 16;
}

#endif
