/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace: a ring of events for each CPU, in memory that the system image sets aside (trace_kib), for a tool on the
 * host to read out of a dump (scripts/trace.py; scripts/tessera/trace/ring.py has this layout in Python). Always
 * compiled in; without that memory an event costs a load and a branch, and exits cost nothing.
 */
#ifndef TRACE_H
#define TRACE_H

#include "trace_layout.h"

#include "cpu.h"
#include "vcpu.h"

struct trace_event {
    uint64_t time;     /* ticks of the board's counter */
    uint32_t executed; /* low half of what the CPU counts most finely: arch_executed() */
    uint32_t what;     /* TRACE_*, | VM << 8 | VCPU << 16 */
    uint64_t arg;
};

/* At the start of each CPU's share; the events follow. Addresses are host-physical. */
struct trace_ring {
    uint64_t magic;           /* TRACE_MAGIC */
    uint32_t version;         /* TRACE_VERSION */
    uint32_t cpu;             /* whose it is */
    struct trace_event *next; /* where the next event goes: over the oldest once the ring has been filled */
    struct trace_event *end;  /* an event does not begin behind this */
    uint64_t laps;            /* how often the ring has been filled */
};

#define TRACE_MAGIC UINT64_C(0x4543415254535354) /* "TSSTRACE" in memory order */
#define TRACE_VERSION 1U

/* Gives `cpu` its ring, if the image has memory for it. At boot, before any guest runs. */
void trace_init(struct cpu *cpu);

/* Writes an event of `kind` that concerns `v`, which may run elsewhere, into this CPU's ring if it has
 * one. Out of line: what is not an exit or a switch happens too seldom for its bytes. */
void trace(unsigned kind, const struct vcpu *v, uint64_t arg);

/* Raises guest interrupts of the VCPU whose state is loaded in this CPU, which is an event. */
static inline void vcpu_inject(struct vcpu *v, ulong bits)
{
    arch_vcpu_inject(v, bits);
    if (UNLIKELY(cpu_self()->trace != NULL) && bits != 0) {
        trace(TRACE_INJECT, v, bits);
    }
}

#endif
