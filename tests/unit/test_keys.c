/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's keys, typed on the console after its escape key, and their effects. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "component.h"
#include "console_keys.h"
#include "host.h"
#include "hypercall.h"
#include "testbed.h"
#include "testbed_ipc.h"

#define VMS 3U

static void boot(unsigned cpus)
{
    static const unsigned nvcpus[VMS] = {1, 1, 1};

    assert_true(testbed_boot(cpus, VMS, nvcpus, 1000));
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_run_until_idle());
    (void)host_output();
}

static const char *key(char c)
{
    const char text[] = {CONSOLE_ESCAPE, c, '\0'};

    testbed_enter(0);
    host_type(text);
    return host_output();
}

static void assert_says(char c, const char *words)
{
    const char *said = key(c);

    if (strstr(said, words) == NULL) {
        fail_msg("key %c: no '%s' in: %s", c, words, said);
    }
}

static void test_n_cycles_the_keyboard_focus(void **state)
{
    (void)state;
    boot(1);
    assert_says('n', "keyboard: vm-b");
    assert_says('n', "keyboard: vm-c");
    assert_ptr_equal(console_focus(), &hyp.vms[2]);
    assert_says('n', "keyboard: vm-a");
    assert_says('3', "keyboard: vm-c");
    assert_says('1', "keyboard: vm-a");
    assert_ptr_equal(console_focus(), &hyp.vms[0]);
}

/* The component virtio registers the list; this system has no ports. */
static void test_list_of_a_component(void **state)
{
    (void)state;
    boot(1);
    assert_says('h', "p  list counters of NICs and consoles");
    assert_says('p', "no buffer malformed");
    assert_says('l', "vm-c");
}

static void test_unknown_vm_number(void **state)
{
    (void)state;
    boot(1);
    assert_says('0', "there is no VM 0; this system has 1 to 3");
    assert_says('4', "there is no VM 4; this system has 1 to 3");
    assert_says('9', "there is no VM 9; this system has 1 to 3");
    assert_ptr_equal(console_focus(), &hyp.vms[0]);
}

static void test_any_other_key_prints_the_help(void **state)
{
    static const char others[] = {'h', 'x', ':', '/', ' ', 'Q', '\r'};

    (void)state;
    boot(1);
    key('2');
    for (unsigned i = 0; i < sizeof(others); i++) {
        assert_says(others[i], "the VM that has the keyboard (vm-b)");
    }
    assert_int_equal(testbed_vm_state(0), VM_RUNNING);
    assert_int_equal(testbed_vm_state(1), VM_STOPPED);
}

static void test_stop_start_and_restart(void **state)
{
    (void)state;
    boot(1);
    key('s');
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_vm_state(0), VM_STOPPED);
    assert_says('s', "vm-a is stopped already");
    assert_says('g', "vm-a starts");
    assert_says('g', "vm-a is loading already");
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_vm_state(0), VM_RUNNING);
    key('r');
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_vm_state(0), VM_RUNNING);
    assert_int_equal(testbed_vm_restarts(0), 1);
    key('s');
    assert_true(testbed_run_until_idle());
    assert_says('r', "vm-a starts"); /* a stopped VM is started */
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_vm_state(0), VM_RUNNING);
    assert_int_equal(testbed_vm_restarts(0), 1);
    /* VMs without the keyboard focus are not affected. */
    assert_int_equal(testbed_vm_state(1), VM_STOPPED);
    assert_int_equal(testbed_vm_state(2), VM_STOPPED);
}

/* A restart during a restart has no effect. */
static void test_a_vm_that_is_being_loaded_is_not_restarted_twice(void **state)
{
    (void)state;
    boot(1);
    assert_true(testbed_vm_stop(0, 0, true));
    assert_says('r', "vm-a is stopping already");
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_vm_restarts(0), 1);
}

static struct {
    char key;
    unsigned polls; /* until then */
} typed;

static void type_once(void)
{
    if (--typed.polls == 0) {
        host_on_poll = NULL;
        host_type((const char[]){CONSOLE_ESCAPE, typed.key, '\0'});
    }
}

/* Stops vm-a, and types a key after that many polls for interrupts. Returns what the console
 * says. */
static const char *stop_with_key(bool restart, char key, unsigned polls)
{
    boot(1);
    assert_true(testbed_vm_stop(0, 0, restart));
    typed.key = key;
    typed.polls = polls;
    host_on_poll = type_once;
    assert_true(testbed_run_until_idle());
    host_on_poll = NULL;
    assert_int_equal(typed.polls, 0);
    testbed_enter(0); /* the key may have come while the CPU was idle */
    assert_true(testbed_run_until_idle());
    return host_output();
}

/* Regression: between the report "stopped" and the end of the stop, the key that starts the VM was
 * refused. */
static void test_a_vm_starts_whenever_the_key_comes(void **state)
{
    bool at_once = false; /* after the end of the stop */

    (void)state;
    for (unsigned polls = 1; !at_once; polls++) {
        const char *said = stop_with_key(false, 'g', polls);

        assert_int_equal(testbed_vm_state(0), VM_RUNNING);
        assert_non_null(strstr(said, "vm-a starts\r\n"));
        at_once = testbed_vm_restarts(0) == 0;
        assert_true(at_once ||
                    strstr(said, "vm-a stopped by the console, starts again\r\n") != NULL);
        assert_true(polls < 100);
    }
}

/* Regression: a key that came between the report "starts again" and the end of the stop was obeyed
 * without a report. */
static void test_a_stop_is_reported_whenever_its_key_comes(void **state)
{
    unsigned starts = 0;

    (void)state;
    for (unsigned polls = 1; starts == 0; polls++) {
        const char *said = stop_with_key(true, 's', polls);

        starts = testbed_vm_restarts(0);
        if (starts == 0) {
            assert_int_equal(testbed_vm_state(0), VM_STOPPED);
            assert_non_null(strstr(said, "vm-a stopped by the console\r\n"));
        }
        assert_true(polls < 100);
    }
}

static unsigned count(const char *text, const char *words)
{
    unsigned n = 0;

    for (text = strstr(text, words); text != NULL; text = strstr(text + strlen(words), words)) {
        n++;
    }
    return n;
}

static void test_the_list_shows_every_vm_once(void **state)
{
    const char *said;

    (void)state;
    boot(2);
    assert_true(testbed_vm_start(1, 1));
    assert_true(testbed_run_until_idle());
    testbed_advance(100000);
    assert_int_not_equal(testbed_on_cpu(0), -1);
    assert_int_not_equal(testbed_on_cpu(1), -1);
    testbed_enter(0);
    host_type("\024l\024l"); /* only one list is printed at a time */
    said = host_output();
    assert_int_equal(count(said, "name      state"), 1);
    assert_int_equal(count(said, "* "), 1);
    assert_int_equal(count(said, "* \x20"
                                 "1 vm-a      running"),
                     1);
    assert_int_equal(count(said, "2 vm-b      running"), 1);
    assert_int_equal(count(said, "3 vm-c      stopped"), 1);
    /* The third VM, which was never started. */
    assert_int_equal(count(said, " 0.0%  2048 KB       0"), 1);
    assert_int_equal(count(key('l'), "name      state"), 1);
}

/* A list that is requested while another one is printed follows it, once. */
/* A third list, of this program. */
static unsigned third_line(unsigned at)
{
    console_log("third: line %u", at);
    return at == 0 ? 1 : 0;
}

static const struct console_part part = {.list = {'e', "list for tests", third_line}};

COMPONENT(test, .console = &part);

static void test_lists_follow_in_the_order_of_their_keys(void **state)
{
    const char *said, *vms, *third, *ports;

    (void)state;
    boot(1);
    testbed_enter(0);
    host_type("\024l\024e\024p\024e");
    said = host_output();
    vms = strstr(said, "3 vm-c      stopped");
    third = strstr(said, "third: line 1");
    ports = strstr(said, "no buffer malformed");
    assert_true(vms != NULL && third != NULL && ports != NULL && vms < third && third < ports);
    assert_int_equal(count(said, "third: line 0"), 1);
}

static void test_a_second_list_follows_the_first(void **state)
{
    const char *said, *vms, *ports;

    (void)state;
    boot(1);
    testbed_enter(0);
    host_type("\024l\024p\024p");
    said = host_output();
    vms = strstr(said, "3 vm-c      stopped");
    ports = strstr(said, "no buffer malformed");
    assert_true(vms != NULL && ports != NULL && vms < ports);
    assert_int_equal(count(said, "no buffer malformed"), 1);
    host_type("\024p\024l");
    said = host_output();
    assert_int_equal(count(said, "name      state"), 1);
    assert_int_equal(count(said, "no buffer malformed"), 1);
}

/* Shared memory does not count as the VM's memory. */
static void test_the_list_counts_ram_only(void **state)
{
    static const uint32_t none[2];

    (void)state;
    assert_true(testbed_ipc_boot(2, 1, none, none, 3));
    (void)host_output();
    assert_int_equal(count(key('l'), "  2048 KB "), 2);
}

static void test_exclusive_use_of_the_terminal(void **state)
{
    (void)state;
    boot(1);
    assert_says('a', "vm-a has the terminal alone; Ctrl-T a returns");
    console_putc(&hyp.vms[1], 'x');
    console_putc(&hyp.vms[1], '\n');
    assert_says('a', "keyboard: vm-a");
    assert_says('n', "keyboard: vm-b");
}

static int pipe_end;

/* Called at the child's exit, while the console still holds its output. */
static void pass_output_on(void)
{
    const char *said = host_output();

    if (write(pipe_end, said, strlen(said)) < 0) {
        _exit(99);
    }
}

static void test_quit_prints_a_message_and_powers_off(void **state)
{
    char said[256] = "";
    int ends[2], status = -1;
    pid_t child;

    (void)state;
    boot(1);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        pipe_end = ends[1];
        atexit(pass_output_on);
        key('q');
        _exit(98);
    }
    close(ends[1]);
    assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_non_null(strstr(said, "bye\r\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_n_cycles_the_keyboard_focus),
        cmocka_unit_test(test_list_of_a_component),
        cmocka_unit_test(test_unknown_vm_number),
        cmocka_unit_test(test_any_other_key_prints_the_help),
        cmocka_unit_test(test_stop_start_and_restart),
        cmocka_unit_test(test_a_vm_that_is_being_loaded_is_not_restarted_twice),
        cmocka_unit_test(test_a_vm_starts_whenever_the_key_comes),
        cmocka_unit_test(test_a_stop_is_reported_whenever_its_key_comes),
        cmocka_unit_test(test_the_list_shows_every_vm_once),
        cmocka_unit_test(test_lists_follow_in_the_order_of_their_keys),
        cmocka_unit_test(test_a_second_list_follows_the_first),
        cmocka_unit_test(test_the_list_counts_ram_only),
        cmocka_unit_test(test_exclusive_use_of_the_terminal),
        cmocka_unit_test(test_quit_prints_a_message_and_powers_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
