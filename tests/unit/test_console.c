/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "console.h"
#include "console_parts.h"
#include "host.h"
#include "testbed.h"
#include "unit.h"
#include "vuart.h"

/* Boots `nvms` VMs, of which those in the mask `wanting` want the keyboard; the VM that a typed character reaches. */
static int typed_reaches(unsigned nvms, unsigned wanting)
{
    static const unsigned nvcpus[] = {1, 1, 1};
    struct testbed_image *image = testbed_image_make(1, nvms, nvcpus, 1000);
    int reached = -1;

    for (unsigned i = 0; i < nvms; i++) {
        image->vms[i].flags |= (wanting & (1U << i)) != 0 ? SYSIMAGE_VM_FOCUS : 0;
    }
    testbed_image_seal(image);
    assert_true(testbed_boot_image(image));
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
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_settle());
    console_putc(&hyp.vms[0], '#');
    assert_true(testbed_vm_stop(0, 0, true));
    assert_true(testbed_settle());
    assert_int_equal(hyp.vms[0].restarts, 1);
    console_putc(&hyp.vms[0], '!');
    assert_non_null(strstr(host_output(), "#\r\n"));
}

/* The console keeps its state over a boot: lines that earlier tests began are ended. */
static void boot_quiet(unsigned nvms)
{
    assert_int_equal(typed_reaches(nvms, 0), 0);
    for (unsigned i = 0; i < nvms; i++) {
        console_end(&hyp.vms[i]);
    }
    (void)host_output();
    console_flush();
    (void)host_output();
}

/* What stands on the terminal in the end of a UART that takes `at_once` characters, then is full until it has sent them. */
static void show_on_slow_uart(unsigned at_once, char *all, size_t size)
{
    boot_quiet(2);
    all[0] = '\0';
    host_uart_room(0);
    for (const char *c = "login: \rroot\n"; *c != '\0'; c++) {
        console_putc(&hyp.vms[0], *c);
    }
    console_log("a line");
    for (unsigned i = 0; i < size; i++) {
        const char *sent;

        host_uart_room(at_once);
        sent = host_output();
        assert_true(strlen(sent) <= at_once && strlen(all) + strlen(sent) < size);
        strcat(all, sent);
    }
}

static void test_a_full_uart_loses_and_doubles_nothing(void **state)
{
    char fast[500], slow[500];

    (void)state;
    show_on_slow_uart(HOST_UART_ENDLESS, fast, sizeof(fast));
    assert_non_null(strstr(fast, "root\r\n"));
    assert_non_null(strstr(fast, "a line\r\n"));
    show_on_slow_uart(1, slow, sizeof(slow));
    assert_string_equal(slow, fast);
    show_on_slow_uart(3, slow, sizeof(slow));
    assert_string_equal(slow, fast);
}

/* Before the machine goes off: nobody waits for ever for a UART that has failed. */
static void test_a_uart_that_takes_nothing_does_not_stop_a_drain(void **state)
{
    (void)state;
    boot_quiet(1);
    host_uart_room(0);
    console_log("late");
    out_drain(1000);
    host_uart_room(HOST_UART_ENDLESS);
    assert_non_null(strstr(host_output(), "late\r\n"));
}

/* As a driver does that found its FIFO empty. */
static void write_fifo(struct vm *vm, const char *text)
{
    for (; *text != '\0'; text++) {
        console_putc(vm, *text);
    }
}

static void test_several_lines_in_a_fifo_are_shown_in_their_order(void **state)
{
    const char *output, *one, *two, *six;

    (void)state;
    boot_quiet(2);
    host_uart_room(0);
    write_fifo(&hyp.vms[1], "one\ntwo\nsix\nten");
    host_uart_room(HOST_UART_ENDLESS);
    output = host_output();
    one = strstr(output, "one\r\n");
    two = strstr(output, "two\r\n");
    six = strstr(output, "six\r\n");
    assert_true(one != NULL && two != NULL && six != NULL && one < two && two < six);
    assert_null(strstr(output, "ten"));
    console_end(&hyp.vms[1]);
    assert_non_null(strstr(host_output(), "ten\r\n"));
}

static void test_what_goes_beyond_a_fifo_is_lost(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(2);
    host_uart_room(0);
    write_fifo(&hyp.vms[1], "line\n0123456789abcdefXYZ");
    host_uart_room(HOST_UART_ENDLESS);
    (void)host_output();
    console_end(&hyp.vms[1]);
    output = host_output();
    assert_non_null(strstr(output, "0123456789abcdef\r\n"));
    assert_null(strstr(output, "X"));
}

static void test_a_sequence_ends_with_its_vms_life(void **state)
{
    static const char *const begun[] = {"\033]0;half", "text\033[", "\033[3"};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        boot_quiet(2);
        write_fifo(&hyp.vms[1], begun[i]);
        (void)host_output();
        console_end(&hyp.vms[1]);
        (void)host_output();
        write_fifo(&hyp.vms[1], "1 again\n");
        assert_non_null(strstr(host_output(), " 1 again\r\n"));
    }
}

/* Though the UART took nothing, so that it is behind a line that waits. */
static void test_what_waits_behind_a_line_ends_with_its_vms_life(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(2);
    for (unsigned ended = 0; ended < 2; ended++) {
        host_uart_room(0);
        write_fifo(&hyp.vms[1], ended ? "one\ntwo\n" : "one\n\033]0;half");
        console_end(&hyp.vms[1]);
        host_uart_room(HOST_UART_ENDLESS);
        (void)host_output();
        write_fifo(&hyp.vms[1], "again\n");
        output = host_output();
        assert_ptr_equal(strstr(output, "\033[31mvm-b    |\033[0m again\r\n"), output);
    }
}

static void pass_ms(unsigned ms)
{
    testbed_advance(ms * 1000U * (ticks_t)hyp.us);
    assert_true(testbed_settle());
}

/* So long that what is unfinished is cut and shown. */
static void let_lines_rest(void)
{
    for (unsigned i = 0; i < 3; i++) {
        pass_ms(CONSOLE_FLUSH_MS);
    }
}

static void test_a_cut_line_ends_with_its_vms_life(void **state)
{
    (void)state;
    boot_quiet(2);
    write_fifo(&hyp.vms[1], "login: ");
    let_lines_rest();
    assert_non_null(strstr(host_output(), "login: \033[m\r\n"));
    console_end(&hyp.vms[1]);
    assert_non_null(strstr(host_output(), "vm-b    |\033[0m \r\n"));
    console_end(&hyp.vms[1]); /* once */
    assert_string_equal(host_output(), "");
}

/* What it writes next is another line: a program that joins the pieces of a cut one must not take it for the rest. */
static void test_a_line_ends_where_another_vm_gets_the_terminal_alone(void **state)
{
    const char *output;

    (void)state;
    for (unsigned rests = 0; rests < 2; rests++) {
        boot_quiet(2);
        write_fifo(&hyp.vms[1], "alive 7");
        if (rests != 0) {
            let_lines_rest();
            assert_non_null(strstr(host_output(), "alive 7\033[m\r\n"));
        }
        console_set_mode(CONSOLE_ALONE);
        assert_non_null(strstr(host_output(), rests != 0 ? "vm-b    |\033[0m \r\n" : "alive 7\r\n"));
        write_fifo(&hyp.vms[1], "\nalive 8\n");
        assert_int_equal(console_end_alone("", 0), 9);
        write_fifo(&hyp.vms[1], "alive 9\n");
        output = host_output();
        assert_ptr_equal(strstr(output, "\033[31mvm-b    |\033[0m alive 9\r\n"), output);
    }
}

/* It is not cut, though it is shown later than the mode changes. */
static void test_a_line_that_waits_whole_is_whole_in_another_mode(void **state)
{
    (void)state;
    boot_quiet(1);
    host_uart_room(0);
    write_fifo(&hyp.vms[0], "whole\n");
    console_set_mode(CONSOLE_CHANNELS);
    host_uart_room(HOST_UART_ENDLESS);
    assert_non_null(strstr(host_output(), "whole\r\n"));
    console_set_mode(CONSOLE_LINES);
}

/* A line that grows on the terminal, and is begun anew and finished between two looks at it. */
static void test_a_line_begun_anew_is_drawn_anew(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(1);
    write_fifo(&hyp.vms[0], "abc");
    assert_non_null(strstr(host_output(), "abc"));
    assert_int_equal(console_write(&hyp.vms[0], "\rxy\n", 4), 4);
    output = host_output();
    assert_ptr_equal(strstr(output, "\r\033[0m\033[K\033[31mvm-a"), output);
    assert_non_null(strstr(output, "xy\r\n"));
    assert_null(strstr(output, "abc"));
}

static void test_an_unfinished_line_is_shown_once_it_rests(void **state)
{
    (void)state;
    boot_quiet(2);
    write_fifo(&hyp.vms[1], "login");
    pass_ms(CONSOLE_FLUSH_MS);
    write_fifo(&hyp.vms[1], ": ");
    pass_ms(CONSOLE_FLUSH_MS);
    assert_null(strstr(host_output(), "login"));
    pass_ms(CONSOLE_FLUSH_MS);
    assert_non_null(strstr(host_output(), "login: "));
}

/* They are looked after one by one, so that none takes longer for there being others. */
static void test_each_unfinished_line_is_shown_by_an_interrupt_of_its_own(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(2);
    console_set_focus(NULL);
    write_fifo(&hyp.vms[0], "one");
    write_fifo(&hyp.vms[1], "two");
    for (unsigned i = 0; i < 3; i++) {
        console_flush(); /* both, and the round's end: they were written to */
    }
    assert_string_equal(host_output(), "");
    console_flush();
    output = host_output();
    assert_non_null(strstr(output, "one"));
    assert_null(strstr(output, "two"));
    console_flush();
    assert_non_null(strstr(host_output(), "two"));
    console_set_focus(&hyp.vms[0]);
}

/* A program at the other end is told that lines follow, also where they begin with one that grows. */
static void test_a_growing_line_after_channels_is_announced(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(1);
    console_set_mode(CONSOLE_CHANNELS);
    write_fifo(&hyp.vms[0], "x");
    assert_string_equal(host_output(), "\037ax");
    console_set_mode(CONSOLE_LINES);
    write_fifo(&hyp.vms[0], "#");
    output = host_output();
    assert_ptr_equal(strstr(output, "\037."), output);
    assert_string_equal(output + strlen(output) - 1, "#");
}

static void test_what_is_sent_as_it_is_has_room_or_is_refused(void **state)
{
    static char text[CONSOLE_RAW];
    const char *output;

    (void)state;
    boot_quiet(1);
    memset(text, 'x', sizeof(text));
    assert_true(console_send(text, sizeof(text) - 1U));
    assert_false(console_send("yz", 2));
    assert_true(console_send("z", 1));
    output = host_output();
    assert_int_equal(strlen(output), sizeof(text));
    assert_memory_equal(output, text, sizeof(text) - 1U);
    assert_int_equal(output[sizeof(text) - 1U], 'z');
    assert_true(console_send("yz", 2));
    assert_string_equal(host_output(), "yz");
}

static void test_the_console_begins_a_line_of_its_own(void **state)
{
    (void)state;
    boot_quiet(1);
    console_open();
    assert_string_equal(host_output(), "\r\n");
}

/* Last of all tests: what it uses up is for a hypervisor that fails. The lock is held by a CPU that will not come back,
 * no more lines fit, and a VM has the terminal alone. */
static void test_a_hypervisor_that_fails_can_still_tell(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(1);
    console_set_mode(CONSOLE_ALONE);
    for (unsigned i = 0; i < 40; i++) {
        console_log("before %u", i);
    }
    assert_null(strstr(host_output(), "before"));
    console_lock.next++;
    console_seize();
    console_seize(); /* another CPU fails too: nobody has the lock, so it is not waited for */
    for (unsigned i = 0; i < 3; i++) {
        console_log("failure %u", i);
    }
    output = host_output();
    assert_non_null(strstr(output, "before 29\r\n"));
    assert_null(strstr(output, "before 30"));
    assert_non_null(strstr(output, "failure 0\r\n"));
    assert_non_null(strstr(output, "failure 1\r\n"));
    assert_null(strstr(output, "failure 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keyboard_goes_where_the_system_file_says),
        cmocka_unit_test(test_the_last_line_is_ended),
        cmocka_unit_test(test_output_never_stops_half_way),
        cmocka_unit_test(test_an_operator_is_not_forgotten),
        cmocka_unit_test(test_what_a_stopped_vm_began_to_write_is_a_line),
        cmocka_unit_test(test_a_full_uart_loses_and_doubles_nothing),
        cmocka_unit_test(test_a_uart_that_takes_nothing_does_not_stop_a_drain),
        cmocka_unit_test(test_several_lines_in_a_fifo_are_shown_in_their_order),
        cmocka_unit_test(test_what_goes_beyond_a_fifo_is_lost),
        cmocka_unit_test(test_a_sequence_ends_with_its_vms_life),
        cmocka_unit_test(test_what_waits_behind_a_line_ends_with_its_vms_life),
        cmocka_unit_test(test_a_cut_line_ends_with_its_vms_life),
        cmocka_unit_test(test_a_line_ends_where_another_vm_gets_the_terminal_alone),
        cmocka_unit_test(test_a_line_that_waits_whole_is_whole_in_another_mode),
        cmocka_unit_test(test_a_line_begun_anew_is_drawn_anew),
        cmocka_unit_test(test_an_unfinished_line_is_shown_once_it_rests),
        cmocka_unit_test(test_each_unfinished_line_is_shown_by_an_interrupt_of_its_own),
        cmocka_unit_test(test_a_growing_line_after_channels_is_announced),
        cmocka_unit_test(test_what_is_sent_as_it_is_has_room_or_is_refused),
        cmocka_unit_test(test_the_console_begins_a_line_of_its_own),
        cmocka_unit_test(test_a_hypervisor_that_fails_can_still_tell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
