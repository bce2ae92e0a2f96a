/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "console.h"
#include "host.h"
#include "unit.h"
#include "vuart.h"
#include "world.h"

/* Boots `nvms` VMs, of which those in the mask `wanting` want the keyboard; the VM that a typed character reaches. */
static int typed_reaches(unsigned nvms, unsigned wanting)
{
    static const unsigned nvcpus[] = {1, 1, 1};
    struct world_image *image = world_image_make(1, nvms, nvcpus, 1000);
    int reached = -1;

    for (unsigned i = 0; i < nvms; i++) {
        image->vms[i].flags |= (wanting & (1U << i)) != 0 ? SYSIMAGE_VM_FOCUS : 0;
    }
    world_image_seal(image);
    assert_true(world_boot_image(image));
    host_type("x");
    for (unsigned i = 0; i < nvms; i++) {
        if (vuart_take(&hyp.vms[i]) == 'x') {
            assert_int_equal(reached, -1);
            reached = (int)i;
        }
    }
    return reached;
}

static void test_keyboard_goes_where_the_system_file_says(void **state)
{
    (void)state;
    assert_int_equal(typed_reaches(3, 1U << 1), 1);
    assert_int_equal(typed_reaches(3, 1U << 2), 2);
    assert_int_equal(typed_reaches(3, 1U << 0), 0);
    assert_int_equal(typed_reaches(3, 1U << 1 | 1U << 2), 1);
    assert_int_equal(typed_reaches(3, 0), 0);
    assert_int_equal(typed_reaches(1, 0), 0);
}

static void test_the_last_line_is_ended(void **state)
{
    const char *output;

    (void)state;
    assert_int_equal(typed_reaches(2, 0), 0);
    console_putc(&hyp.vms[0], '#');
    console_log("bye");
    console_drain();
    output = host_output();
    assert_non_null(strstr(output, "bye\r\n"));
    assert_string_equal(output + strlen(output) - 3, "#\r\n");
    console_log("again");
    console_drain();
    output = host_output();
    assert_null(strchr(output, '#'));
    assert_string_equal(output + strlen(output) - 7, "again\r\n");
}

/* What the guest does next: writes if there is room, or waits until it is told that there is. */
static bool write_one(struct vm *vm, char c)
{
    if (vm->uart.tx_blocked) {
        return false;
    }
    vm->uart.tx_blocked = !console_ready(vm);
    if (vm->uart.tx_blocked) {
        return false;
    }
    console_putc(vm, c);
    return true;
}

/* As on two harts, of which one has the UART's interrupts: none of them may be missing for what another wrote. */
static void test_output_never_stops_half_way(void **state)
{
    static const char said[] = "cat online\r\n0-1\r\n\r\nsome more of it\r\n# ";
    uint32_t random = 1;

    (void)state;
    assert_int_equal(typed_reaches(1, 0), 0);
    (void)host_output();
    for (unsigned round = 0; round < 5000; round++) {
        const char *output;

        for (const char *c = said; *c != '\0';) {
            random = random * 1664525U + 1013904223U;
            if ((random >> 16) % 3 == 0 && write_one(&hyp.vms[0], *c)) {
                c++;
            } else if (!host_uart_interrupt() && hyp.vms[0].uart.tx_blocked) {
                fail_msg("round %u: stands still before '%s'", round, c);
            }
        }
        output = host_output();
        assert_string_equal(output + strlen(output) - 2, "# ");
        assert_non_null(strstr(output, "0-1\r\n"));
        console_end(&hyp.vms[0]);
        (void)host_output();
    }
}

static bool at_work;
static unsigned steps_left;

static void begin_work(char key)
{
    at_work = key == 'x';
    steps_left = 5;
}

static bool step_work(unsigned waiting)
{
    (void)waiting;
    at_work = --steps_left > 0;
    return true;
}
CONSOLE_OPERATOR(begin_work, step_work, &at_work);

/* Though another hart sends all that there is, and wants no more interrupts. */
static void test_an_operator_is_not_forgotten(void **state)
{
    (void)state;
    assert_int_equal(typed_reaches(1, 0), 0);
    (void)host_output();
    host_type("\024x");
    for (unsigned i = 0; i < 1000; i++) {
        (void)console_write(&hyp.vms[0], "", 0);
    }
    assert_int_equal(steps_left, 5);
    (void)host_output();
    assert_int_equal(steps_left, 0);
}

static void test_what_a_stopped_vm_began_to_write_is_a_line(void **state)
{
    (void)state;
    assert_int_equal(typed_reaches(1, 0), 0);
    assert_true(world_vm_start(0, 0));
    assert_true(world_settle());
    console_putc(&hyp.vms[0], '#');
    assert_true(world_vm_stop(0, 0, true));
    assert_true(world_settle());
    assert_int_equal(hyp.vms[0].restarts, 1);
    console_putc(&hyp.vms[0], '!');
    assert_non_null(strstr(host_output(), "#\r\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyboard_goes_where_the_system_file_says),
        cmocka_unit_test(test_the_last_line_is_ended),
        cmocka_unit_test(test_output_never_stops_half_way),
        cmocka_unit_test(test_an_operator_is_not_forgotten),
        cmocka_unit_test(test_what_a_stopped_vm_began_to_write_is_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
