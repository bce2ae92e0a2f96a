/* SPDX-License-Identifier: Apache-2.0 */
/* Records events in the ring of the CPU that executes them, without a lock: no other CPU writes
 * there. It serves all parts that tell a tool on the host what they did. */
#include "trace.h"

#include "arch.h"
#include "system.h"

void trace_init(struct cpu *cpu)
{
    const struct sysimage_header *image = hyp.image;
    uint64_t size = (uint64_t)image->trace_kib << 10;
    char *memory = (char *)arch_memory((hpa_t)(image->ram_base + image->ram_size)) + cpu->id * size;
    struct trace_ring *ring = (struct trace_ring *)(void *)memory;

    if (size == 0) {
        return;
    }
    ring->magic = TRACE_MAGIC;
    ring->version = TRACE_VERSION;
    ring->cpu = (uint32_t)cpu->id;
    ring->next = (struct trace_event *)(ring + 1);
    ring->end = (struct trace_event *)(void *)(memory + size) - 1;
    ring->laps = 0;
    cpu->trace = ring;
}

void trace(unsigned kind, const struct vcpu *v, uint64_t arg)
{
    struct trace_ring *ring = cpu_self()->trace;
    struct trace_event *event;

    if (ring == NULL) {
        return;
    }
    event = ring->next;
    event->time = arch_time();
    event->executed = arch_executed();
    event->what = kind | v->trace_id;
    event->arg = arg;
    event++;
    if (event > ring->end) {
        ring->laps++;
        event = (struct trace_event *)(ring + 1);
    }
    ring->next = event;
}
