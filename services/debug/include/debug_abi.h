/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between a debugger's tool (tools/gdb) and the hypervisor over the console, explained
 * in docs/debugging.md.
 *
 * A request is typed: the console's escape key, DEBUG_KEY, bytes as hexadecimal digits, a carriage
 * return. An answer is an application program command (ECMA-48 section 8.3.2), which terminals do
 * not show: ESC _ DEBUG_MARK, the session's nonce as 16 digits, bytes as digits, ESC \. By the
 * nonce, which no guest sees, the tool distinguishes answers from guests' output. Numbers are
 * little-endian. Requests and answers end with their Fletcher checksum (debug_check).
 */
#ifndef DEBUG_ABI_H
#define DEBUG_ABI_H

#include "types.h"

#define DEBUG_VERSION 1U
#define DEBUG_KEY 'd'
#define DEBUG_END '\r'
#define DEBUG_MARK "\033_t"

#define DEBUG_DATA 32U /* most bytes of data in a frame */
#define DEBUG_REGISTERS (DEBUG_DATA / 8U)
#define DEBUG_EVENT 0U /* `sequence` of an event, sent without a request: read the status */
#define DEBUG_ALL 0xffU

/* A request; fields that an operation does not use are 0. */
struct debug_request {
    uint8_t sequence;   /* not 0; a repeated number asks for the last answer again */
    uint8_t operation;  /* enum debug_operation */
    uint8_t vcpu;       /* id */
    uint8_t count;      /* of registers or bytes */
    uint8_t address[8]; /* little-endian */
    uint8_t data[DEBUG_DATA];
};
#define DEBUG_HEAD offsetof(struct debug_request, data)

enum debug_operation {
    /* data: name of the VM; address: nonce -> data: version, VCPUs, VCPUs of RT apps */
    DEBUG_ATTACH = 0,
    DEBUG_DETACH = 1,    /* resumes the VM */
    DEBUG_STATUS = 2,    /* vcpu: the first -> data: struct debug_status */
    DEBUG_STOP = 3,      /* starts a halt; the status shows when it is complete */
    DEBUG_CONTINUE = 4,  /* vcpu: resume only this one, or DEBUG_ALL */
    DEBUG_GET = 5,       /* count registers of vcpu from number `address` on -> data */
    DEBUG_SET = 6,       /* register number `address` of vcpu := data */
    DEBUG_READ = 7,      /* count bytes at guest-physical `address` -> data */
    DEBUG_WRITE = 8,     /* data to guest-physical `address` */
    DEBUG_RESTART = 9,   /* or start; the VM is halted before its first instruction */
    DEBUG_OFF = 10,      /* stops the VM, as from the console */
    DEBUG_EXCEPTION = 11 /* vcpu is at its own breakpoint instruction: injects the exception */
};

struct debug_answer {
    uint8_t sequence; /* of the request, or DEBUG_EVENT */
    uint8_t error;    /* enum debug_error */
    uint8_t data[DEBUG_DATA];
};
#define DEBUG_ANSWER_HEAD offsetof(struct debug_answer, data)

enum debug_error {
    DEBUG_OK = 0,
    DEBUG_ERR_FRAME = 1,     /* not hexadecimal, too short, too long, or wrong checksum */
    DEBUG_ERR_OPERATION = 2, /* no such operation */
    DEBUG_ERR_NO_VM = 3,     /* attach: no VM of that name */
    DEBUG_ERR_OFF = 4,       /* attach, stop, continue: the VM is stopped */
    DEBUG_ERR_DETACHED = 5,  /* no VM is attached */
    DEBUG_ERR_RUNNING = 6,   /* the VM must be halted */
    DEBUG_ERR_VCPU = 7,      /* no such VCPU, or it is off */
    DEBUG_ERR_REGISTER = 8,  /* no such register, or it cannot be written */
    DEBUG_ERR_ADDRESS = 9,   /* part of the range is not the VM's memory */
    DEBUG_ERR_SIZE = 10      /* count or data do not fit the operation */
};

enum debug_reason {
    DEBUG_REASON_RUNS = 0,
    DEBUG_REASON_ASKED = 1,      /* attach, stop */
    DEBUG_REASON_BREAKPOINT = 2, /* of `vcpu` */
    DEBUG_REASON_RESTART = 3     /* the VM has restarted, before its first instruction */
};

struct debug_status {
    uint8_t vm_state;  /* enum vm_state */
    uint8_t still;     /* 1: no VCPU of the VM runs, nor will before DEBUG_CONTINUE */
    uint8_t reason;    /* enum debug_reason: why the VM is halted */
    uint8_t vcpu;      /* id of the one that `reason` names */
    uint8_t starts[4]; /* starts of the VM so far */
    uint8_t vcpus[24]; /* enum vcpu_state, from the requested VCPU on */
};

/* Fletcher's checksum with 16-bit sums; `sum` starts at 0, and its low half is the first sum. */
static inline uint32_t debug_check(uint32_t sum, uint8_t byte)
{
    uint32_t low = (sum + byte) & 0xffffU;

    return low | ((sum >> 16) + low) << 16;
}

#endif
