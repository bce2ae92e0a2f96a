/* SPDX-License-Identifier: Apache-2.0 */
/* Timers in sorters: the fabric that is needed at boot. */
#include "unit.h"

#include "testbed.h"
#include "testbed_sorter.h"

static bool boots(unsigned harts)
{
    static const unsigned vcpus[] = {2, 1};

    return testbed_boot(harts, 2, vcpus, 1000);
}

static int set_up(void **state)
{
    (void)state;
    testbed_fabric_reset();
    testbed_sorters_clear();
    return 0;
}

static void boot_empties_a_sorter_for_each_hart(void **state)
{
    (void)state;
    for (unsigned sorter = 0; sorter < 3; sorter++) {
        testbed_sorter_put(sorter, 5, 7);
    }
    assert_true(boots(2));
    assert_int_equal(testbed_sorter_count(0), 0);
    assert_int_equal(testbed_sorter_count(1), 0);
    assert_int_equal(testbed_sorter_count(2), 1);
}

static void a_sorter_for_each_hart_is_needed(void **state)
{
    (void)state;
    testbed_fabric.sorters = 1;
    assert_true(boots(1));
    assert_false(boots(2));
    testbed_fabric.magic = 0;
    assert_false(boots(1));
}

/* All timers can be armed on one CPU: those of three VCPUs and two VMs, and some of the
 * hypervisor. */
static void an_entry_for_each_timer_is_needed(void **state)
{
    unsigned needed = 5;

    (void)state;
    for (testbed_fabric.depth = needed; !boots(1); testbed_fabric.depth++) {
        needed++;
    }
    assert_in_range(needed, 6, 12);
    testbed_fabric.depth = needed - 1;
    assert_false(boots(2));
}

static void more_timers_than_an_address_can_name_are_refused(void **state)
{
    static const unsigned vcpus[] = {8, 8, 8, 8, 8, 8, 8, 8};

    (void)state;
    testbed_fabric.depth = 256;
    assert_false(testbed_boot(1, 8, vcpus, 1000));
    assert_true(boots(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(boot_empties_a_sorter_for_each_hart, set_up),
        cmocka_unit_test_setup(a_sorter_for_each_hart_is_needed, set_up),
        cmocka_unit_test_setup(an_entry_for_each_timer_is_needed, set_up),
        cmocka_unit_test_setup(more_timers_than_an_address_can_name_are_refused, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
