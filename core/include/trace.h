/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace: a ring of events for each CPU, in memory that the system image reserves (trace_kib). A
 * tool on the host reads it from a memory dump, in this layout. Always compiled in; without that
 * memory an event costs a load and a branch, and exits cost nothing.
 */
#ifndef TRACE_H
#define TRACE_H

#include "trace_layout.h"

#include "cpu.h"
#include "vcpu.h"

struct trace_event {
    uint64_t time;     /* ticks of the board's counter */
    uint32_t executed; /* low half of the CPU's finest event counter: arch_executed() */
    uint32_t what;     /* TRACE_*, | VM << 8 | VCPU << 16 */
    uint64_t arg;      /* as trace_layout.h says for the kind */
};

/* At the start of each CPU's part of the memory; the events follow. Addresses are host-physical. */
struct trace_ring {
    uint64_t magic;   /* TRACE_MAGIC */
    uint32_t version; /* TRACE_VERSION */
    uint32_t cpu;     /* number of the CPU */
    /* place of the next event; overwrites the oldest once the ring has wrapped */
    struct trace_event *next;
    struct trace_event *end; /* events start before this address */
    uint64_t laps;           /* how often the ring has wrapped */
};

#define TRACE_MAGIC UINT64_C(0x4543415254535354) /* "TSSTRACE" in memory order */
#define TRACE_VERSION 2U

/* Gives `cpu` its ring, if the image has memory for it. At boot, before any guest runs. */
void trace_init(struct cpu *cpu);

/* Records an event of `kind` about `v`, which may run on another CPU, in this CPU's ring if it has
 * one. Not inline: events other than exits and switches are too rare to be worth the code. */
void trace(unsigned kind, const struct vcpu *v, uint64_t arg);

/* Raises interrupts of the VCPU that is loaded on this CPU, and records the event. */
static inline void vcpu_inject(struct vcpu *v, ulong bits)
{
    arch_vcpu_inject(v, bits);
    if (cpu_self()->trace != NULL && bits != 0) {
        trace(TRACE_INJECT, v, bits);
    }
}

#endif
