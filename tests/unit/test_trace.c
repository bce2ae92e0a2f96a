/* SPDX-License-Identifier: Apache-2.0 */
/* The trace rings: which event is written where, and that nothing is written without trace
 * memory. */
#include "unit.h"

#include <string.h>

#include "arch.h"
#include "host.h"
#include "hypercall.h"
#include "ipc_abi.h"
#include "testbed.h"
#include "trace.h"

#define RING_BYTES 1024U
#define PLACES ((RING_BYTES - sizeof(struct trace_ring)) / sizeof(struct trace_event))

static void boot(uint32_t kib)
{
    static const unsigned nvcpus[] = {1, 2};
    struct testbed_image *image = testbed_image_make(2, 2, nvcpus, 1000);

    image->header.trace_kib = kib;
    testbed_image_seal(image);
    host_reset();
    memset(arch_memory(0), 0xa5, 4U * RING_BYTES);
    assert_true(testbed_boot_image(image));
    testbed_enter(0);
}

static struct trace_event *event_of(struct trace_ring *ring, size_t place)
{
    return (struct trace_event *)(void *)(ring + 1) + place;
}

/* Discards the events of the boot. */
static struct trace_ring *emptied(unsigned cpu)
{
    struct trace_ring *ring = cpu_get(cpu)->trace;

    ring->next = event_of(ring, 0);
    ring->laps = 0;
    return ring;
}

static void write_events(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        trace(TRACE_SEND, &hyp.vms[1].vcpus[1], i);
    }
}

static void test_ring_of_each_cpu(void **state)
{
    (void)state;
    boot(1);
    for (unsigned i = 0; i < 2; i++) {
        struct trace_ring *ring = cpu_get(i)->trace;

        assert_ptr_equal(ring, (char *)arch_memory(0) + i * RING_BYTES);
        assert_int_equal(ring->magic, TRACE_MAGIC);
        assert_int_equal(ring->version, TRACE_VERSION);
        assert_int_equal(ring->cpu, i);
    }
    assert_null(cpu_get(2)->trace);
}

static void test_event(void **state)
{
    struct trace_ring *ring;
    const struct trace_event *event;

    (void)state;
    boot(1);
    testbed_advance(4711);
    testbed_enter(0);
    ring = emptied(0);
    trace(TRACE_INJECT, &hyp.vms[1].vcpus[1], UINT64_MAX);
    event = event_of(ring, 0);
    assert_int_equal(event->time, arch_time());
    assert_int_equal(event->what, TRACE_INJECT | 1U << 8 | 1U << 16);
    assert_int_equal(event->arg, UINT64_MAX);
    assert_ptr_equal(ring->next, event + 1);
}

/* A successful call of messages is followed by the event that its component records; others are
 * not. */
static void test_hypercalls(void **state)
{
    struct trace_ring *ring;
    const struct trace_event *event;

    (void)state;
    boot(1);
    assert_true(testbed_vm_start(0, 0));
    for (unsigned i = 0; cpu_get(0)->current == NULL && i < 100; i++) {
        (void)host_step(0);
    }
    assert_ptr_equal(cpu_get(0)->current, &hyp.vms[0].vcpus[0]);
    ring = emptied(0);
    event = event_of(ring, 0);
    hypercall_trace(HCALL_IPC_SEND_MSG, 1, (struct hcall_ret){HCALL_OK, 0});
    hypercall_trace(HCALL_IPC_SEND_MSG, 1, (struct hcall_ret){HCALL_ERR_DENIED, 0});
    hypercall_trace(HCALL_IPC_RECV_MSG, 0, (struct hcall_ret){HCALL_OK, 20});
    assert_int_equal(event[0].what, TRACE_HYPERCALL);
    assert_int_equal(event[0].arg, HCALL_IPC_SEND_MSG);
    assert_int_equal(event[1].what, TRACE_SEND);
    assert_int_equal(event[1].arg, 1);
    assert_int_equal(event[2].what, TRACE_HYPERCALL);
    assert_int_equal(event[3].what, TRACE_HYPERCALL);
    assert_int_equal(event[4].what, TRACE_RECEIVE);
    assert_int_equal(event[4].arg, 20);
    assert_ptr_equal(ring->next, event + 5);
}

/* For every number of events around the ring's size: the last ones are present in order, and no
 * memory after the ring is written. */
static void test_wrap(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= 3 * PLACES + 1; count++) {
        struct trace_ring *ring;
        struct trace_ring neighbour;

        boot(1);
        ring = emptied(0);
        neighbour = *cpu_get(1)->trace;
        write_events(count);
        assert_int_equal(ring->laps, count / PLACES);
        assert_ptr_equal(ring->next, event_of(ring, count % PLACES));
        for (unsigned i = count > PLACES ? count - (unsigned)PLACES : 0; i < count; i++) {
            assert_int_equal(event_of(ring, i % PLACES)->arg, i);
        }
        assert_memory_equal(&neighbour, cpu_get(1)->trace, sizeof(neighbour));
    }
}

static void test_no_trace(void **state)
{
    const unsigned char *memory = arch_memory(0);

    (void)state;
    boot(0);
    assert_null(cpu_get(0)->trace);
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_run_until_idle());
    write_events(3);
    for (unsigned i = 0; i < 4U * RING_BYTES; i++) {
        assert_int_equal(memory[i], 0xa5);
    }
}

static unsigned count_of(struct trace_ring *ring, uint32_t what)
{
    unsigned found = 0;

    for (struct trace_event *e = event_of(ring, 0); e < ring->next; e++) {
        found += e->what == what;
    }
    return found;
}

static void test_switches_are_events(void **state)
{
    (void)state;
    boot(16);
    assert_true(count_of(cpu_get(0)->trace, TRACE_IDLE) > 0);
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_vm_start(0, 1));
    assert_true(testbed_run_until_idle());
    for (unsigned vm = 0; vm < 2; vm++) {
        uint32_t what = TRACE_SWITCH | vm << 8;

        assert_true(count_of(cpu_get(0)->trace, what) + count_of(cpu_get(1)->trace, what) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_of_each_cpu), cmocka_unit_test(test_event),
        cmocka_unit_test(test_hypercalls),       cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_no_trace),         cmocka_unit_test(test_switches_are_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
