/* SPDX-License-Identifier: Apache-2.0 */
/* The console: the keyboard's focus, the order and completeness of output, unfinished lines, and
 * the messages of a panic. */
#include <string.h>

#include "component.h"
#include "console_parts.h"
#include "host.h"
#include "testbed.h"
#include "unit.h"
#include "vuart.h"

/* Boots `nvms` VMs; bit i of `wanting`: VM i wants the keyboard. Returns the VM that receives a
 * typed character. */
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
        if (vuart_getc(&hyp.vms[i]) == 'x') {
            assert_int_equal(reached, -1);
            reached = (int)i;
        }
    }
    return reached;
}

static void test_keyboard_focus_after_boot(void **state)
{
    (void)state;
    assert_int_equal(typed_reaches(3, 1U << 1), 1);
    assert_int_equal(typed_reaches(3, 1U << 2), 2);
    assert_int_equal(typed_reaches(3, 1U << 0), 0);
    assert_int_equal(typed_reaches(3, 1U << 1 | 1U << 2), 1);
    assert_int_equal(typed_reaches(3, 0), 0);
    assert_int_equal(typed_reaches(1, 0), 0);
}

static void test_last_line_is_ended(void **state)
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

/* The guest's next step: writes a character if the console is ready, or waits until the console
 * becomes ready. */
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

static unsigned waiting_vms(void)
{
    unsigned waiting = 0;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        waiting += hyp.vms[i].uart.tx_blocked;
    }
    return waiting;
}

/* Or an interrupt could have to wait for the locks of all VMs. What another one writes sends the
 * output of those that wait. */
static void test_each_vm_is_told_of_room_by_a_separate_interrupt(void **state)
{
    unsigned before = 2;

    (void)state;
    assert_int_equal(typed_reaches(3, 0), 0);
    host_uart_room(0);
    for (unsigned i = 0; i < 2; i++) {
        while (write_one(&hyp.vms[i], 'x')) {
        }
    }
    assert_int_equal(waiting_vms(), 2);
    host_uart_room(HOST_UART_ENDLESS);
    for (unsigned i = 0; i < 1000; i++) {
        console_putc(&hyp.vms[2], i % 20U == 0 ? '\n' : 'y');
    }
    while (host_uart_interrupt()) {
        assert_in_range(before - waiting_vms(), 0, 1);
        before = waiting_vms();
    }
    assert_int_equal(before, 0);
}

/* As on two harts of which only one takes the UART's interrupts: output of the other hart must not
 * miss an interrupt. */
static void test_output_never_stalls(void **state)
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
                fail_msg("round %u: no progress before '%s'", round, c);
            }
        }
        output = host_output();
        assert_string_equal(output + strlen(output) - 2, "# ");
        assert_non_null(strstr(output, "0-1\r\n"));
        console_end(&hyp.vms[0]);
        (void)host_output();
    }
}

static bool work_pending;
static unsigned steps_left;

static void begin_work(char key)
{
    work_pending = key == 'x';
    steps_left = 5;
}

static bool step_work(unsigned waiting)
{
    (void)waiting;
    work_pending = --steps_left > 0;
    return true;
}

static const struct console_part part = {.commands = {begin_work, step_work, &work_pending}};

COMPONENT(test, .console = &part);

/* The operator's work continues although another hart has sent all output and needs no further
 * interrupt. */
static void test_operators_work_is_completed(void **state)
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

static void test_unfinished_line_of_a_stopped_vm_is_ended(void **state)
{
    (void)state;
    assert_int_equal(typed_reaches(1, 0), 0);
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_run_until_idle());
    console_putc(&hyp.vms[0], '#');
    assert_true(testbed_vm_stop(0, 0, true));
    assert_true(testbed_run_until_idle());
    assert_int_equal(hyp.vms[0].restarts, 1);
    console_putc(&hyp.vms[0], '!');
    assert_non_null(strstr(host_output(), "#\r\n"));
}

/* The console keeps its state across a boot, so this ends lines that earlier tests have begun. */
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

/* The terminal's final content after a UART that accepts `at_once` characters and is then full
 * until all are sent. */
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

/* The drain before power-off ends also when the UART has failed. */
static void test_blocked_uart_does_not_stop_the_drain(void **state)
{
    (void)state;
    boot_quiet(1);
    host_uart_room(0);
    console_log("late");
    out_drain(1000);
    host_uart_room(HOST_UART_ENDLESS);
    assert_non_null(strstr(host_output(), "late\r\n"));
}

/* Writes without checking the status, like a driver that has found its FIFO empty. */
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

static void test_output_beyond_the_fifo_is_lost(void **state)
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

static void test_unfinished_sequence_ends_with_its_vm(void **state)
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

/* Also for text that waits after a complete line, because the UART accepts nothing. */
static void test_text_after_a_waiting_line_ends_with_its_vm(void **state)
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
    assert_true(testbed_run_until_idle());
}

/* Waits until the console splits unfinished lines and shows them. */
static void flush_unfinished_lines(void)
{
    for (unsigned i = 0; i < 3; i++) {
        pass_ms(CONSOLE_FLUSH_MS);
    }
}

static void test_split_line_ends_with_its_vm(void **state)
{
    (void)state;
    boot_quiet(2);
    write_fifo(&hyp.vms[1], "login: ");
    flush_unfinished_lines();
    assert_non_null(strstr(host_output(), "login: \033[m\r\n"));
    console_end(&hyp.vms[1]);
    assert_non_null(strstr(host_output(), "vm-b    |\033[0m \r\n"));
    console_end(&hyp.vms[1]); /* a second call prints nothing */
    assert_string_equal(host_output(), "");
}

/* Later output is a new line: a program that joins the pieces of a split line must not append
 * it. */
static void test_line_ends_when_another_vm_gets_exclusive_use(void **state)
{
    const char *output;

    (void)state;
    for (unsigned rests = 0; rests < 2; rests++) {
        boot_quiet(2);
        write_fifo(&hyp.vms[1], "alive 7");
        if (rests != 0) {
            flush_unfinished_lines();
            assert_non_null(strstr(host_output(), "alive 7\033[m\r\n"));
        }
        console_set_mode(CONSOLE_ALONE);
        assert_non_null(
            strstr(host_output(), rests != 0 ? "vm-b    |\033[0m \r\n" : "alive 7\r\n"));
        write_fifo(&hyp.vms[1], "\nalive 8\n");
        assert_int_equal(console_end_alone("", 0), 9);
        write_fifo(&hyp.vms[1], "alive 9\n");
        output = host_output();
        assert_ptr_equal(strstr(output, "\033[31mvm-b    |\033[0m alive 9\r\n"), output);
    }
}

/* A complete line is not split, although the mode changes before it is shown. */
static void test_waiting_line_stays_whole_in_another_mode(void **state)
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

/* A line that grows on the terminal and is restarted and finished between two updates of the
 * terminal. */
static void test_restarted_line_is_redrawn(void **state)
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

static void test_unfinished_line_is_shown_after_a_pause(void **state)
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

/* Unfinished lines are handled one by one, so that the latency does not grow with their number. */
static void test_each_unfinished_line_is_shown_by_a_separate_interrupt(void **state)
{
    const char *output;

    (void)state;
    boot_quiet(2);
    console_set_focus(NULL);
    write_fifo(&hyp.vms[0], "one");
    write_fifo(&hyp.vms[1], "two");
    for (unsigned i = 0; i < 3; i++) {
        console_flush(); /* both lines, and the end of the round: both were written to */
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

/* The switch from channels to lines is announced to the program at the terminal, also if the first
 * line is unfinished. */
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

static void test_raw_text_is_sent_whole_or_refused(void **state)
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

static void test_console_begins_a_new_line(void **state)
{
    (void)state;
    boot_quiet(1);
    console_open();
    assert_string_equal(host_output(), "\r\n");
}

/* The last test, since it uses up buffers reserved for a panic. A CPU that never returns holds the
 * lock, the log is full, and a VM has exclusive use of the terminal. */
static void test_panic_messages_are_shown(void **state)
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
    console_seize(); /* a second CPU panics: the lock is free, so the console does not wait */
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
        cmocka_unit_test(test_keyboard_focus_after_boot),
        cmocka_unit_test(test_last_line_is_ended),
        cmocka_unit_test(test_each_vm_is_told_of_room_by_a_separate_interrupt),
        cmocka_unit_test(test_output_never_stalls),
        cmocka_unit_test(test_operators_work_is_completed),
        cmocka_unit_test(test_unfinished_line_of_a_stopped_vm_is_ended),
        cmocka_unit_test(test_a_full_uart_loses_and_doubles_nothing),
        cmocka_unit_test(test_blocked_uart_does_not_stop_the_drain),
        cmocka_unit_test(test_several_lines_in_a_fifo_are_shown_in_their_order),
        cmocka_unit_test(test_output_beyond_the_fifo_is_lost),
        cmocka_unit_test(test_unfinished_sequence_ends_with_its_vm),
        cmocka_unit_test(test_text_after_a_waiting_line_ends_with_its_vm),
        cmocka_unit_test(test_split_line_ends_with_its_vm),
        cmocka_unit_test(test_line_ends_when_another_vm_gets_exclusive_use),
        cmocka_unit_test(test_waiting_line_stays_whole_in_another_mode),
        cmocka_unit_test(test_restarted_line_is_redrawn),
        cmocka_unit_test(test_unfinished_line_is_shown_after_a_pause),
        cmocka_unit_test(test_each_unfinished_line_is_shown_by_a_separate_interrupt),
        cmocka_unit_test(test_a_growing_line_after_channels_is_announced),
        cmocka_unit_test(test_raw_text_is_sent_whole_or_refused),
        cmocka_unit_test(test_console_begins_a_new_line),
        cmocka_unit_test(test_panic_messages_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
