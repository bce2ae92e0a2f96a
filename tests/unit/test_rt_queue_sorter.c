/* SPDX-License-Identifier: Apache-2.0 */
/* The queues in sorters: the fabric that is needed at boot, and the accesses of each operation. */
#include "unit.h"

#include <string.h>

#include "component.h"
#include "testbed.h"
#include "testbed_queue.h"
#include "testbed_rt.h"
#include "testbed_sorter.h"

#define APPS 3U

/* Boots one VM with APPS slots on `harts` CPUs. */
static bool boots(unsigned harts)
{
    static const unsigned vcpus[] = {1};
    struct testbed_image *image = testbed_image_make(harts, 1, vcpus, 1000);

    testbed_image_rt(image, 0, APPS, 0);
    return testbed_boot_image(image);
}

static int set_up(void **state)
{
    (void)state;
    testbed_fabric_reset();
    return 0;
}

static void a_system_with_sorters_boots(void **state)
{
    (void)state;
    assert_true(boots(SYSIMAGE_MAX_HARTS));
}

static void boot_empties_the_sorters_it_uses(void **state)
{
    (void)state;
    for (unsigned sorter = 0; sorter < 6; sorter++) {
        for (unsigned value = 0; value < RT_QUEUE_MAX; value++) {
            testbed_sorter_put(sorter, value % 7, 1000 * (value % 2) + value);
        }
    }
    assert_true(boots(2));
    for (unsigned sorter = 0; sorter < 4; sorter++) {
        assert_int_equal(testbed_sorter_count(sorter), 0);
    }
    assert_int_equal(testbed_sorter_count(4), RT_QUEUE_MAX);
    assert_true(boots(SYSIMAGE_MAX_HARTS));
}

static void a_sorter_that_stays_full_is_refused(void **state)
{
    (void)state;
    testbed_sorter_put(1, 5, 5);
    testbed_fabric.sticky = true;
    assert_false(boots(1));
    testbed_fabric.sticky = false;
    assert_true(boots(1));
}

static void no_fabric_is_refused(void **state)
{
    (void)state;
    testbed_fabric.magic = 0;
    assert_false(boots(1));
}

static void two_sorters_for_each_hart_are_needed(void **state)
{
    (void)state;
    testbed_fabric.sorters = 3;
    assert_true(boots(1));
    assert_false(boots(2));
    testbed_fabric.sorters = 4;
    assert_true(boots(2));
}

static void an_entry_for_each_app_is_needed(void **state)
{
    (void)state;
    testbed_fabric.depth = APPS - 1;
    assert_false(boots(1));
    testbed_fabric.depth = APPS;
    assert_true(boots(1));
}

static void a_system_without_apps_needs_no_fabric(void **state)
{
    static const unsigned vcpus[] = {1};

    (void)state;
    testbed_fabric.magic = 0;
    assert_true(testbed_boot(1, 1, vcpus, 1000));
}

/* --- accesses --- */

static struct rt_queue q;
static struct heap_node nodes[RT_QUEUE_MAX];

static void assert_accesses(unsigned reads, unsigned writes)
{
    assert_int_equal(testbed_fabric.reads, reads);
    assert_int_equal(testbed_fabric.writes, writes);
    assert_null(testbed_queue_violation(&q));
    testbed_fabric.reads = 0;
    testbed_fabric.writes = 0;
}

/* A queue of `n` nodes with keys from 10 on, and no node in nodes[n]. */
static void fill(unsigned n)
{
    testbed_queue_init(&q);
    memset(nodes, 0, sizeof(nodes));
    for (unsigned i = 0; i < n; i++) {
        nodes[i] = (struct heap_node){.key = 10 + i, .order = 0};
        rt_queue_insert(&q, &nodes[i]);
    }
    assert_accesses(0, n);
}

static void accesses_do_not_depend_on_the_length(void **state)
{
    (void)state;
    for (unsigned n = 2; n < RT_QUEUE_MAX; n++) {
        fill(n);
        nodes[n].key = n % 2 == 0 ? 5 : 1000;
        rt_queue_insert(&q, &nodes[n]);
        assert_accesses(0, 1);
        rt_queue_first(&q)->key += 2000;
        rt_queue_first_grew(&q);
        assert_accesses(1, 1);
        rt_queue_remove(&q, rt_queue_first(&q));
        assert_accesses(1, 1);
    }
}

static void a_single_node_is_not_read(void **state)
{
    (void)state;
    fill(1);
    nodes[0].key = 100;
    rt_queue_first_grew(&q);
    assert_accesses(0, 1);
    nodes[1].key = 200;
    rt_queue_replace_first(&q, &nodes[1]);
    assert_accesses(0, 1);
    assert_ptr_equal(rt_queue_first(&q), &nodes[1]);
    rt_queue_remove(&q, &nodes[1]);
    assert_accesses(0, 1);
}

/* A write of ORDER precedes a put only if the order is not among the 32 that an address can
 * name. */
static void the_order_is_written_if_it_is_far(void **state)
{
    static const struct {
        unsigned order, writes;
    } steps[] = {{15, 1}, {16, 2}, {0, 1}, {UINT32_MAX, 2}, {14, 1}, {15, 2}, {31, 2}};

    (void)state;
    testbed_queue_init(&q);
    memset(nodes, 0, sizeof(nodes));
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        nodes[i].order = steps[i].order;
        rt_queue_insert(&q, &nodes[i]);
        assert_accesses(0, steps[i].writes);
    }
    assert_ptr_equal(rt_queue_first(&q), &nodes[3]);
}

/* Bits of HEAD that are no value are ignored. */
static void an_answer_is_masked(void **state)
{
    (void)state;
    fill(3);
    testbed_fabric.noise = ~(uint64_t)(SORTER_NODES - 1U);
    rt_queue_remove(&q, &nodes[0]);
    assert_ptr_equal(rt_queue_first(&q), &nodes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_system_with_sorters_boots, set_up),
        cmocka_unit_test_setup(boot_empties_the_sorters_it_uses, set_up),
        cmocka_unit_test_setup(a_sorter_that_stays_full_is_refused, set_up),
        cmocka_unit_test_setup(no_fabric_is_refused, set_up),
        cmocka_unit_test_setup(two_sorters_for_each_hart_are_needed, set_up),
        cmocka_unit_test_setup(an_entry_for_each_app_is_needed, set_up),
        cmocka_unit_test_setup(a_system_without_apps_needs_no_fabric, set_up),
        cmocka_unit_test_setup(accesses_do_not_depend_on_the_length, set_up),
        cmocka_unit_test_setup(a_single_node_is_not_read, set_up),
        cmocka_unit_test_setup(the_order_is_written_if_it_is_far, set_up),
        cmocka_unit_test_setup(an_answer_is_masked, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
