/* SPDX-License-Identifier: Apache-2.0 */
/* The debug session in the hypervisor: frames, halting one VM while others run, and refused
 * requests. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arch.h"
#include "console_keys.h"
#include "host.h"
#include "rt_abi.h"
#include "rt_app.h"
#include "sched.h"
#include "session.h"
#include "testbed_debug.h"
#include "testbed_rt.h"
#include "vuart.h"

#define NONCE UINT64_C(0x1122334455667788)
#define MARK "\033_t8877665544332211" /* the nonce in memory order */
#define QUANTUM_US 1000U
#define MS (1000U * TESTBED_TICKS_PER_US)

static void boot(unsigned cpus)
{
    static const unsigned nvcpus[] = {2, 1, 1};

    assert_true(testbed_boot(cpus, 3, nvcpus, QUANTUM_US));
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_vm_start(0, 1));
    assert_true(testbed_run_until_idle());
    assert_true(testbed_vcpu_start(0, 0, 1));
    assert_true(testbed_run_until_idle());
}

static void assert_consistent(void)
{
    const char *wrong = testbed_violation();

    if (wrong != NULL) {
        fail_msg("%s", wrong);
    }
    assert_true(testbed_run_until_idle());
    wrong = testbed_idle_violation();
    if (wrong != NULL) {
        fail_msg("%s", wrong);
    }
}

/* --- frames --- */

/* Types the text in pieces of the UART's FIFO size. */
static void type_text(const char *text)
{
    char piece[17];

    testbed_enter(0);
    for (size_t length = strlen(text); length > 0; length = strlen(text)) {
        snprintf(piece, sizeof(piece), "%s", text);
        host_type(piece);
        text += length < 16 ? length : 16;
    }
}

/* A request encoded as the debug server does; `spoil` corrupts the checksum. */
static const char *frame(const struct debug_request *r, unsigned size, uint32_t spoil)
{
    static char text[2 * (sizeof(*r) + 40)];
    const uint8_t *bytes = (const uint8_t *)r;
    unsigned total = (unsigned)DEBUG_HEAD + size;
    uint32_t sum = 0;
    char *to = text + sprintf(text, "%c%c", CONSOLE_ESCAPE, DEBUG_KEY);

    for (unsigned i = 0; i < total; i++) {
        sum = debug_check(sum, bytes[i]);
        to += sprintf(to, "%02x", bytes[i]);
    }
    sum ^= spoil;
    for (unsigned i = 0; i < 4; i++) {
        to += sprintf(to, "%02x", sum >> (8U * i) & 0xffU);
    }
    sprintf(to, "%c", DEBUG_END);
    return text;
}

/* Types a request; returns the output. */
static const char *request(const struct debug_request *r, unsigned size, uint32_t spoil)
{
    host_output();
    type_text(frame(r, size, spoil));
    return host_output();
}

static struct debug_request attach_request(const char *name)
{
    struct debug_request r = {.sequence = 1, .operation = DEBUG_ATTACH};

    for (unsigned i = 0; i < 8; i++) {
        r.address[i] = (uint8_t)(NONCE >> (8U * i));
    }
    memcpy(r.data, name, strlen(name));
    return r;
}

static void assert_answer(const char *printed, const char *expected)
{
    char text[400];

    snprintf(text, sizeof(text), MARK "%s", expected);
    if (strncmp(printed, text, strlen(text)) != 0) {
        fail_msg("printed: %s", printed);
    }
    assert_string_equal(printed + strlen(printed) - 2, "\033\\");
}

static void test_a_request_is_answered(void **state)
{
    struct debug_request r = attach_request("vm-a");

    (void)state;
    boot(2);
    assert_answer(request(&r, 4, 0),
                  "0100" /* sequence, no error */ "010200" /* version, VCPUs, apps */);
    assert_int_equal(vuart_getc(&hyp.vms[0]), -1); /* no guest has received any of the frame */
    assert_true(testbed_run_until_idle());
    r = (struct debug_request){.sequence = 2, .operation = DEBUG_STATUS};
    assert_answer(request(&r, 0, 0), "0200"
                                     "02010100" /* running, halted, by request */ "01000000"
                                     "0404");
    assert_consistent();
}

static void test_invalid_frame_is_refused(void **state)
{
    static const char *const bad[] = {
        "\024d\r",
        "\024d0\r",
        "\024d00\r",
        "\024d0102zz\r",
        "\024d010200000000000000000000000000000\r",
        "\024dA0\r",
    };
    struct debug_request r = attach_request("vm-a");
    char text[1000];

    (void)state;
    boot(1);
    request(&r, 4, 0);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        host_output();
        type_text(bad[i]);
        assert_answer(host_output(), "0001");
    }
    assert_answer(request(&r, 4, 1), "0001"); /* the checksum is wrong */
    memset(text, '0', sizeof(text));
    memcpy(text, "\024d", 2);
    memcpy(text + sizeof(text) - 2, "\r", 2); /* longer than the longest frame */
    host_output();
    type_text(text);
    assert_answer(host_output(), "0001");
    r = (struct debug_request){.sequence = 2, .operation = 200};
    assert_answer(request(&r, 0, 0), "0202");
    assert_int_equal(vuart_getc(&hyp.vms[0]), -1);
    assert_consistent();
}

static void test_the_escape_key_ends_a_frame(void **state)
{
    struct debug_request r = attach_request("vm-a");

    (void)state;
    boot(1);
    type_text("\024d0102030405");
    assert_answer(request(&r, 4, 0), "0100");
    type_text("\024d01\024"
              /* An unfinished frame, then the key that gives the keyboard to the second VM. */
              "2x");
    assert_int_equal(vuart_getc(&hyp.vms[1]), 'x');
    assert_int_equal(vuart_getc(&hyp.vms[0]), -1);
}

/* The debug server waits for each answer; a request typed before that is ignored. */
static void test_input_during_a_request_is_lost(void **state)
{
    struct debug_request r = attach_request("vm-a");
    char text[400];

    (void)state;
    boot(1);
    request(&r, 4, 0);
    assert_true(testbed_run_until_idle());
    (void)host_output();
    r = (struct debug_request){.sequence = 5, .operation = DEBUG_STATUS};
    snprintf(text, sizeof(text), "%s\024d1\r", frame(&r, 0, 0));
    testbed_enter(0);
    host_type(text);
    assert_answer(host_output(), "0500");
    r.sequence = 6;
    assert_answer(request(&r, 0, 0), "0600"); /* nothing of the ignored request is left */
    assert_int_equal(vuart_getc(&hyp.vms[0]), -1);
}

static void test_repeated_request_is_not_executed_again(void **state)
{
    struct debug_request r = attach_request("vm-a");
    char first[400];

    (void)state;
    boot(1);
    request(&r, 4, 0);
    assert_true(testbed_run_until_idle());
    r = (struct debug_request){.sequence = 9, .operation = DEBUG_CONTINUE, .vcpu = DEBUG_ALL};
    snprintf(first, sizeof(first), "%s", request(&r, 0, 0));
    assert_answer(first, "0900");
    assert_int_equal(testbed_debug(0, DEBUG_STOP, 0, 0), DEBUG_OK); /* like a breakpoint */
    assert_true(testbed_run_until_idle());
    assert_string_equal(request(&r, 0, 0), first);
    assert_true(testbed_debug_halted(0));
}

/* --- halting --- */

static void assert_held(unsigned vm)
{
    for (unsigned i = 0; i < hyp.vms[vm].total; i++) {
        assert_int_not_equal(testbed_vcpu_state(vm, i), VCPU_RUNNING);
    }
}

static void test_attached_vm_halts_while_others_run(void **state)
{
    (void)state;
    for (unsigned cpus = 1; cpus <= 3; cpus++) {
        ticks_t before;

        boot(cpus);
        assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
        assert_consistent();
        assert_held(0);
        assert_true(testbed_debug_halted(0));
        testbed_raise(0, 0, 1); /* must not wake the VCPU */
        assert_consistent();
        assert_held(0);
        before = testbed_runtime(1, 0);
        for (unsigned i = 0; i < 10; i++) {
            testbed_advance(QUANTUM_US * TESTBED_TICKS_PER_US);
            assert_true(testbed_run_until_idle());
        }
        testbed_enter(0);
        assert_int_equal(testbed_on_cpu(0) == 100 || (cpus > 1 && testbed_on_cpu(1) == 100) ||
                             testbed_on_cpu(2) == 100,
                         1);
        assert_int_equal(testbed_debug(0, DEBUG_DETACH, 0, 0), DEBUG_OK);
        assert_consistent();
        assert_true(testbed_runtime(1, 0) >= before);
        assert_int_not_equal(testbed_vcpu_state(0, 0), VCPU_HELD);
        assert_int_not_equal(testbed_vcpu_state(0, 1), VCPU_HELD);
        assert_null(sched_watch);
    }
}

static void test_breakpoints_of_the_attached_vm_only(void **state)
{
    (void)state;
    boot(3);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    for (unsigned i = 0; i < 20; i++) {
        assert_consistent();
        for (unsigned cpu = 0; cpu < 3; cpu++) {
            const struct vcpu *v = cpu_get(cpu)->current;

            assert_true(v == NULL || v->vm == &hyp.vms[0] || !cpu_get(cpu)->arch.breakpoints);
            assert_true(v == NULL || v->vm != &hyp.vms[0] || cpu_get(cpu)->arch.breakpoints);
        }
        testbed_advance(QUANTUM_US * TESTBED_TICKS_PER_US);
    }
}

static void test_a_breakpoint_stops_all_vcpus(void **state)
{
    struct vcpu *v;
    struct debug_status status;

    (void)state;
    boot(3);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    v = &hyp.vms[0].vcpus[1];
    assert_int_equal(v->state, VCPU_RUNNING);
    testbed_enter((unsigned)v->cpu->id);
    host_output();
    assert_true(sched_watch->breakpoint(v));
    assert_non_null(strstr(host_output(), "\033_t")); /* an event */
    assert_consistent();
    assert_true(testbed_debug_halted(0));
    memcpy(&status, testbed_debug_answer.data, sizeof(status));
    assert_int_equal(status.reason, DEBUG_REASON_BREAKPOINT);
    assert_int_equal(status.vcpu, 1);
    assert_int_equal(testbed_debug(0, DEBUG_EXCEPTION, 0, 1), DEBUG_OK);
    assert_int_equal(v->arch.exceptions, 1);
    testbed_enter(0);
    /* Another VM handles its own breakpoint. */
    assert_false(sched_watch->breakpoint(&hyp.vms[1].vcpus[0]));
}

static void test_one_vcpu_runs_alone(void **state)
{
    (void)state;
    boot(3);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, 1), DEBUG_OK);
    /* VCPUs refetch instructions when they continue, since a breakpoint may have been set */
    assert_int_equal(hyp.vms[0].vcpus[0].last_cpu, VCPU_NO_CPU);
    assert_int_equal(hyp.vms[0].vcpus[1].last_cpu, VCPU_NO_CPU);
    assert_consistent();
    assert_int_equal(testbed_vcpu_state(0, 1), VCPU_RUNNING);
    assert_int_equal(testbed_vcpu_state(0, 0), VCPU_HELD);
    assert_int_equal(testbed_debug(0, DEBUG_GET, 0, 0), DEBUG_ERR_RUNNING);
    assert_int_equal(testbed_debug(0, DEBUG_STOP, 0, 0), DEBUG_OK);
    assert_consistent();
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, 7), DEBUG_ERR_VCPU);
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    assert_consistent();
    assert_int_equal(testbed_vcpu_state(0, 0), VCPU_RUNNING);
}

static void test_restarted_vm_stays_halted(void **state)
{
    (void)state;
    boot(2);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    testbed_vm_stop(0, 0, true);
    assert_consistent();
    assert_int_equal(testbed_vm_state(0), VM_RUNNING);
    assert_true(testbed_debug_halted(0));
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    assert_consistent();
    assert_int_equal(testbed_vcpu_state(0, 0), VCPU_RUNNING);
    assert_int_equal(testbed_debug(0, DEBUG_RESTART, 0, 0), DEBUG_OK);
    assert_consistent();
    assert_true(testbed_debug_halted(0));
    assert_int_equal(testbed_debug(0, DEBUG_OFF, 0, 0), DEBUG_OK);
    assert_consistent();
    assert_int_equal(testbed_vm_state(0), VM_STOPPED);
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_ERR_OFF);
    assert_int_equal(testbed_debug(0, DEBUG_STOP, 0, 0), DEBUG_ERR_OFF);
    assert_int_equal(testbed_debug(0, DEBUG_RESTART, 0, 0), DEBUG_OK);
    assert_consistent();
    assert_true(testbed_debug_halted(0));
}

static void test_invalid_requests_are_refused(void **state)
{
    (void)state;
    boot(2);
    for (unsigned op = DEBUG_STATUS; op <= DEBUG_EXCEPTION; op++) {
        assert_int_equal(testbed_debug(0, op, 0, 0), DEBUG_ERR_DETACHED);
    }
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 2, 0), DEBUG_ERR_OFF);
    assert_int_equal(testbed_debug(0, DEBUG_EXCEPTION + 1, 0, 0), DEBUG_ERR_OPERATION);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_debug(0, DEBUG_GET, 0, 2), DEBUG_ERR_VCPU);
    assert_int_equal(testbed_debug(0, DEBUG_SET, 0, 0), DEBUG_ERR_SIZE);
    assert_int_equal(testbed_debug(0, DEBUG_READ, 0, 0), DEBUG_ERR_ADDRESS); /* of size 0 */
    assert_int_equal(testbed_debug(0, DEBUG_DETACH, 0, 0), DEBUG_OK);
    assert_int_equal(testbed_debug(0, DEBUG_DETACH, 0, 0), DEBUG_OK);
    assert_consistent();
}

static enum debug_error memory(unsigned operation, gpa_t gpa, unsigned count, uint8_t fill)
{
    struct debug_request r = {.operation = (uint8_t)operation, .count = (uint8_t)count};

    for (unsigned i = 0; i < 8; i++) {
        r.address[i] = (uint8_t)(gpa >> (8U * i));
    }
    memset(r.data, fill, sizeof(r.data));
    session_request(&r, operation == DEBUG_WRITE ? count : 0, &testbed_debug_answer);
    return testbed_debug_answer.error;
}

static void test_access_is_limited_to_the_vms_memory(void **state)
{
    static const gpa_t outside[] = {0,
                                    TESTBED_GPA - 1,
                                    TESTBED_GPA - 8,
                                    TESTBED_GPA + TESTBED_VM_RAM - 7,
                                    TESTBED_GPA + TESTBED_VM_RAM,
                                    UINT64_MAX - 7,
                                    UINT64_MAX};
    uint8_t *ram;

    (void)state;
    boot(1);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 1, 0), DEBUG_OK);
    assert_true(testbed_run_until_idle());
    testbed_enter(0);
    ram = testbed_memory(1, TESTBED_GPA + 0x1000);
    assert_int_equal(memory(DEBUG_WRITE, TESTBED_GPA + 0x1001, DEBUG_DATA, 0x5a), DEBUG_OK);
    assert_int_equal(ram[0], 0);
    assert_int_equal(ram[1], 0x5a);
    assert_int_equal(ram[DEBUG_DATA], 0x5a);
    assert_int_equal(ram[DEBUG_DATA + 1], 0);
    assert_int_equal(memory(DEBUG_READ, TESTBED_GPA + 0x1000, 2, 0), DEBUG_OK);
    assert_int_equal(testbed_debug_answer.data[0], 0);
    assert_int_equal(testbed_debug_answer.data[1], 0x5a);
    assert_int_equal(memory(DEBUG_READ, TESTBED_GPA + TESTBED_VM_RAM - 8, 8, 0), DEBUG_OK);
    assert_int_equal(memory(DEBUG_READ, TESTBED_GPA, DEBUG_DATA + 1, 0), DEBUG_ERR_SIZE);
    for (unsigned i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        assert_int_equal(memory(DEBUG_READ, outside[i], 8, 0), DEBUG_ERR_ADDRESS);
        assert_int_equal(memory(DEBUG_WRITE, outside[i], 8, 1), DEBUG_ERR_ADDRESS);
    }
    assert_int_equal(memory(DEBUG_GET, 0, DEBUG_REGISTERS + 1, 0), DEBUG_ERR_SIZE);
    assert_int_equal(memory(DEBUG_GET, 0, 2, 0), DEBUG_OK);
    assert_int_equal(memory(DEBUG_GET, 0, 3, 0), DEBUG_ERR_REGISTER);
    memset(ram + 1, 0, DEBUG_DATA);
    assert_consistent();
}

static enum debug_error set_register(unsigned vcpu, unsigned number, uint64_t value)
{
    struct debug_request r = {
        .operation = DEBUG_SET, .vcpu = (uint8_t)vcpu, .address = {(uint8_t)number}};

    for (unsigned i = 0; i < 8; i++) {
        r.data[i] = (uint8_t)(value >> (8U * i));
    }
    testbed_enter(0);
    session_request(&r, 8, &testbed_debug_answer);
    return testbed_debug_answer.error;
}

/* Setting a register ends a VCPU's wait for an interrupt. */
static void test_setting_a_register_ends_a_wait(void **state)
{
    const struct vcpu *v = &hyp.vms[0].vcpus[0];

    (void)state;
    boot(3);
    assert_int_equal(v->state, VCPU_RUNNING);
    testbed_wait((unsigned)v->cpu->id);
    assert_consistent();
    assert_int_equal(v->state, VCPU_BLOCKED);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    assert_consistent();
    assert_int_equal(set_register(0, 2, 5), DEBUG_ERR_REGISTER); /* no such register */
    assert_int_equal(set_register(0, 0, 5), DEBUG_ERR_REGISTER); /* read-only */
    assert_int_equal(v->state, VCPU_BLOCKED);
    assert_int_equal(set_register(0, 1, UINT64_C(0x8877665544332211)), DEBUG_OK);
    assert_true(v->arch.arg == UINT64_C(0x8877665544332211));
    assert_consistent();
    assert_int_equal(v->state, VCPU_HELD);
    assert_int_equal(set_register(0, 1, 6), DEBUG_OK); /* a halted VCPU stays halted */
    assert_consistent();
    assert_int_equal(v->state, VCPU_HELD);
    assert_int_equal(testbed_debug(0, DEBUG_DETACH, 0, 0), DEBUG_OK);
    assert_consistent();
    assert_int_equal(v->state, VCPU_RUNNING);
}

static void test_vm_name_must_match_completely(void **state)
{
    static const char *const wrong[] = {"", "v", "vm-", "vm-ab", "vm-d", "xm-a"};

    (void)state;
    boot(1);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct debug_request r = attach_request(wrong[i]);

        assert_answer(request(&r, (unsigned)strlen(wrong[i]), 0), "0103");
    }
    assert_null(sched_watch);
    assert_int_equal(vuart_getc(&hyp.vms[0]), -1);
}

/* Releasing a VM with many VCPUs has polling points; input typed meanwhile is lost. */
static void test_releasing_a_large_vm_has_polling_points(void **state)
{
    static const unsigned nvcpus[] = {8, 1};
    static const unsigned apps = 30;
    struct testbed_image *image = testbed_image_make(1, 2, nvcpus, QUANTUM_US);
    struct debug_request r = attach_request("vm-a");

    (void)state;
    testbed_image_rt(image, 0, apps, 0);
    assert_true(testbed_boot_image(image));
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_vm_start(0, 1));
    assert_true(testbed_run_until_idle());
    assert_answer(request(&r, 4, 0), "0100"
                                     "01261e");
    assert_true(testbed_run_until_idle());
    r = (struct debug_request){.sequence = 2, .operation = DEBUG_CONTINUE, .vcpu = DEBUG_ALL};
    assert_answer(request(&r, 0, 0), "0200");
    assert_consistent();
    r = attach_request("vm-b"); /* releases vm-a first */
    r.sequence = 3;
    assert_answer(request(&r, 4, 0), "0300"
                                     "010100");
    assert_consistent();
    r = attach_request("vm-a");
    request(&r, 4, 0);
    assert_true(testbed_run_until_idle());
    r = (struct debug_request){.sequence = 4, .operation = DEBUG_DETACH};
    assert_answer(request(&r, 0, 0), "0400");
    assert_null(sched_watch);
    assert_consistent();
}

/* --- RT apps --- */

static struct rt_app *app(unsigned vm)
{
    return rt_app_of(&hyp.vms[vm], 0);
}

static void run_for(ticks_t ticks)
{
    unsigned used;
    const char *wrong = testbed_rt_run(host_time + ticks, false, NULL, 0, &used);

    if (wrong != NULL) {
        fail_msg("%s", wrong);
    }
}

static void launch(unsigned vm, unsigned period_us, unsigned budget_us)
{
    static const uint32_t work = 100U * TESTBED_TICKS_PER_US;
    struct rt_params abi = {.entry = TESTBED_GPA,
                            .stack = TESTBED_GPA + 0x1000,
                            .period_us = period_us,
                            .deadline_us = period_us,
                            .budget_us = budget_us};

    while (testbed_on_cpu(0) != (int)(100U * vm)) { /* until the manager's VCPU runs */
        run_for(37);
    }
    testbed_enter(0);
    memcpy(testbed_memory(vm, TESTBED_GPA + 0x100), &abi, sizeof(abi));
    assert_int_equal(
        testbed_hypercall(0, HCALL_RT_CREATE_APP, TESTBED_GPA + 0x100, sizeof(abi), 0, NULL), 0);
    assert_int_equal(testbed_hypercall_decided(0, HCALL_RT_LAUNCH_APP, RT_OWN_VM, 0, 0, NULL), 0);
    testbed_rt_jobs(vm, 0, &work, 1);
    assert_true(testbed_run_until_idle());
}

static void test_apps_of_a_halted_vm_disturb_no_others(void **state)
{
    static const unsigned nvcpus[] = {1, 1};
    struct testbed_image *image = testbed_image_make(1, 2, nvcpus, QUANTUM_US);
    uint64_t done, still;

    (void)state;
    testbed_image_rt(image, 0, 1, 0);
    testbed_image_rt(image, 1, 1, 0);
    assert_true(testbed_boot_image(image));
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_vm_start(0, 1));
    assert_true(testbed_run_until_idle());
    launch(0, 1000, 400);
    launch(1, 1500, 600);
    run_for(20 * MS);
    assert_true(app(0)->stats.completions > 15 && app(1)->stats.completions > 10);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    run_for(2 * MS);
    assert_true(testbed_debug_halted(0));
    still = app(0)->stats.completions;
    done = app(1)->stats.completions;
    run_for(300 * MS);
    assert_int_equal(app(0)->stats.completions, still);
    assert_in_range(app(1)->stats.completions - done, 199, 201);
    assert_int_equal(app(1)->stats.misses, 0);
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    run_for(100 * MS);
    assert_in_range(app(0)->stats.completions - still, 97, 101);
    assert_int_equal(app(1)->stats.misses, 0);
    assert_int_equal(testbed_debug(0, DEBUG_DETACH, 0, 0), DEBUG_OK);
    assert_consistent();
}

static void assert_starts(unsigned vm, unsigned starts)
{
    assert_int_equal(hyp.vms[vm].starts, starts);
}

static void test_watchdog_is_suspended_while_attached(void **state)
{
    static const unsigned nvcpus[] = {1, 1};
    struct testbed_image *image = testbed_image_make(1, 2, nvcpus, QUANTUM_US);

    (void)state;
    testbed_image_watchdog(image, 0, 5, 0);
    assert_true(testbed_boot_image(image));
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_vm_start(0, 1));
    assert_true(testbed_run_until_idle());
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 0, 0), DEBUG_OK);
    run_for(20 * MS);
    /* Suspended also while it runs. */
    assert_int_equal(testbed_debug(0, DEBUG_CONTINUE, 0, DEBUG_ALL), DEBUG_OK);
    run_for(20 * MS);
    assert_starts(0, 1);
    assert_int_equal(testbed_debug(0, DEBUG_ATTACH, 1, 0), DEBUG_OK); /* releases the first VM */
    run_for(4 * MS);
    assert_starts(0, 1);
    run_for(2 * MS);
    assert_starts(0, 2);
    assert_int_equal(testbed_debug(0, DEBUG_DETACH, 0, 0), DEBUG_OK);
    assert_consistent();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_answered),
        cmocka_unit_test(test_invalid_frame_is_refused),
        cmocka_unit_test(test_the_escape_key_ends_a_frame),
        cmocka_unit_test(test_input_during_a_request_is_lost),
        cmocka_unit_test(test_repeated_request_is_not_executed_again),
        cmocka_unit_test(test_attached_vm_halts_while_others_run),
        cmocka_unit_test(test_breakpoints_of_the_attached_vm_only),
        cmocka_unit_test(test_a_breakpoint_stops_all_vcpus),
        cmocka_unit_test(test_one_vcpu_runs_alone),
        cmocka_unit_test(test_restarted_vm_stays_halted),
        cmocka_unit_test(test_invalid_requests_are_refused),
        cmocka_unit_test(test_access_is_limited_to_the_vms_memory),
        cmocka_unit_test(test_setting_a_register_ends_a_wait),
        cmocka_unit_test(test_vm_name_must_match_completely),
        cmocka_unit_test(test_releasing_a_large_vm_has_polling_points),
        cmocka_unit_test(test_apps_of_a_halted_vm_disturb_no_others),
        cmocka_unit_test(test_watchdog_is_suspended_while_attached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
