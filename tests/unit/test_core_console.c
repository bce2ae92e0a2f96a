/* SPDX-License-Identifier: Apache-2.0 */
/* The console of a build without the component `console` (services/serial/console.c): the program
 * is linked with it. */
#include <string.h>

#include "console.h"
#include "host.h"
#include "testbed.h"
#include "testbed_console.h"
#include "testbed_debug.h"
#include "unit.h"
#include "vuart.h"

#define MANY 5000U /* characters, more than the queue holds */

/* The program has no debugger, whose session testbed_boot_checked() would end. */
unsigned testbed_debug(unsigned cpu, unsigned operation, unsigned vm, unsigned vcpu)
{
    (void)cpu, (void)operation, (void)vm, (void)vcpu;
    return 0;
}

static void boot(unsigned nvms, unsigned keyboard)
{
    static const unsigned nvcpus[] = {1, 1, 1};
    struct testbed_image *image = testbed_image_make(1, nvms, nvcpus, 1000);

    image->vms[keyboard].flags |= SYSIMAGE_VM_FOCUS;
    testbed_image_seal(image);
    assert_true(testbed_boot_image(image));
    console_drain();
    (void)host_output();
}

static void test_typed_characters_reach_the_keyboards_vm(void **state)
{
    (void)state;
    boot(3, 1);
    host_type("\x14l"); /* no operator: Ctrl-T is a character as any other */
    assert_int_equal(vuart_getc(&hyp.vms[0]), -1);
    assert_int_equal(vuart_getc(&hyp.vms[1]), 0x14);
    assert_int_equal(vuart_getc(&hyp.vms[1]), 'l');
    assert_int_equal(vuart_getc(&hyp.vms[2]), -1);
    assert_string_equal(host_output(), "");
}

static void test_characters_of_vms_are_sent_unchanged_in_order(void **state)
{
    (void)state;
    boot(2, 0);
    testbed_write(0, "one\r", 4, true);
    testbed_write(1, "\033[2J\037", 5, false);
    testbed_write(0, "\ntwo\n", 5, false);
    console_end(&hyp.vms[0]);
    console_drain();
    assert_string_equal(host_output(), "one\r\033[2J\037\ntwo\n");
}

static void test_a_line_of_the_hypervisor_has_a_line_of_its_own(void **state)
{
    (void)state;
    boot(1, 0);
    console_log("%s %u", "first", 1U);
    console_drain();
    assert_string_equal(host_output(), "first 1\r\n");
    testbed_write(0, "word", 4, true);
    console_log("second");
    console_log("third");
    console_drain();
    testbed_write(0, "s\n", 2, true);
    console_drain();
    assert_string_equal(host_output(), "word\r\nsecond\r\nthird\r\ns\n");
}

/* A VM fills the UART until it has no room, waits for the interrupt of its UART, and goes on. */
static unsigned write_while_ready(struct vm *vm, unsigned done)
{
    unsigned burst = 0;

    vm->uart.tx_blocked = done < MANY;
    while (done + burst < MANY && burst < CONSOLE_FIFO && (burst > 0 || console_ready(vm))) {
        console_putc(vm, (char)('a' + vm->id));
        burst++;
        vm->uart.tx_blocked = false;
    }
    return burst;
}

static void count(unsigned *counts)
{
    for (const char *at = host_output(); *at != '\0'; at++) {
        counts[*at - 'a']++;
    }
}

static unsigned waiting_vms(void)
{
    unsigned waiting = 0;

    for (unsigned i = 0; i < 3; i++) {
        waiting += hyp.vms[i].uart.tx_blocked;
    }
    return waiting;
}

/* The UART sends 200 characters, then has no room again. Returns how many VMs were told of room: at
 * most one by an interrupt. */
static unsigned send_some(unsigned *counts)
{
    unsigned first = waiting_vms(), before = first;

    host_uart_room(200);
    while (host_uart_interrupt()) {
        assert_in_range(before - waiting_vms(), 0, 1);
        before = waiting_vms();
    }
    count(counts);
    return first - before;
}

/* Every VM writes until it has no room. Returns how many characters were written. */
static unsigned write_all(unsigned *done)
{
    unsigned wrote = 0;

    for (unsigned i = 0; i < 3; i++) {
        unsigned burst = write_while_ready(&hyp.vms[i], done[i]);

        done[i] += burst;
        wrote += burst;
    }
    return wrote;
}

static void test_a_slow_uart_loses_nothing_and_wakes_vms(void **state)
{
    unsigned done[3] = {0}, counts[3] = {0}, told = 0;

    (void)state;
    boot(3, 0);
    host_uart_room(0);
    while (done[0] + done[1] + done[2] < 3U * MANY) {
        while (write_all(done) > 0) {
        }
        for (unsigned i = 0; i < 3; i++) {
            assert_true(hyp.vms[i].console_busy || done[i] == MANY);
        }
        told += send_some(counts);
    }
    host_uart_room(HOST_UART_ENDLESS);
    console_drain();
    count(counts);
    assert_true(told > 20);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(counts[i], MANY);
    }
}

/* VM 0 writes without a look for room, faster than the UART sends. */
static void test_a_vm_that_does_not_wait_leaves_room_to_others(void **state)
{
    unsigned ready = 0;

    (void)state;
    boot(2, 0);
    for (unsigned i = 0; i < 4U * MANY; i++) {
        host_uart_room(1);
        console_putc(&hyp.vms[0], 'a');
        console_putc(&hyp.vms[0], 'a');
        while (host_uart_interrupt()) {
        }
        ready += console_ready(&hyp.vms[1]);
    }
    assert_true(ready > MANY / 2U);
    while (console_ready(&hyp.vms[1])) {
        console_putc(&hyp.vms[0], 'a');
    }
    for (unsigned i = 0; i < 2U * CONSOLE_FIFO; i++) { /* its own share waits behind VM 0's */
        console_putc(&hyp.vms[1], 'b');
    }
    (void)host_output();
    host_uart_room(HOST_UART_ENDLESS);
    console_drain();
    ready = 0;
    for (const char *at = host_output(); *at != '\0'; at++) {
        ready += *at == 'b';
    }
    assert_int_equal(ready, CONSOLE_FIFO);
}

/* Output of another hart between two interrupts must not stop the interrupts that tell the
 * others. */
static void test_every_vm_is_told_of_room(void **state)
{
    unsigned done[3] = {0};

    (void)state;
    boot(3, 0);
    host_uart_room(0);
    while (write_all(done) > 0) {
    }
    assert_int_equal(waiting_vms(), 3);
    host_uart_room(HOST_UART_ENDLESS);
    while (host_uart_interrupt()) {
        for (unsigned i = 0; i < MANY; i++) { /* sends all that waits */
            (void)console_write(&hyp.vms[0], "x", 1);
        }
    }
    assert_int_equal(waiting_vms(), 0);
}

static void test_a_write_takes_what_there_is_room_for(void **state)
{
    char text[CONSOLE_WRITE];
    unsigned wrote, total = 0;

    (void)state;
    boot(1, 0);
    memset(text, 'a', sizeof(text));
    host_uart_room(0);
    do {
        wrote = console_write(&hyp.vms[0], text, sizeof(text));
        total += wrote;
    } while (wrote == sizeof(text));
    assert_true(hyp.vms[0].console_busy);
    assert_int_equal(console_write(&hyp.vms[0], text, sizeof(text)), 0);
    host_uart_room(HOST_UART_ENDLESS);
    console_drain();
    assert_int_equal(strlen(host_output()), total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typed_characters_reach_the_keyboards_vm),
        cmocka_unit_test(test_characters_of_vms_are_sent_unchanged_in_order),
        cmocka_unit_test(test_a_line_of_the_hypervisor_has_a_line_of_its_own),
        cmocka_unit_test(test_a_slow_uart_loses_nothing_and_wakes_vms),
        cmocka_unit_test(test_a_write_takes_what_there_is_room_for),
        cmocka_unit_test(test_every_vm_is_told_of_room),
        cmocka_unit_test(test_a_vm_that_does_not_wait_leaves_room_to_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
