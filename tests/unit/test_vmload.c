/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's state at start: payloads verified and complete, device tree fixed up, devices reset. */
#include "unit.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "console.h"
#include "host.h"
#include "lib.h"
#include "testbed.h"

#define WORDS 500U /* of the payload, more than are copied between two polling points */
#define HAS 0U     /* a feature that arch/host has */
#define LACKS 1U
#define DEVICE_GPA UINT64_C(0x20000000)

static struct testbed_image *image;

static struct testbed_image *make(unsigned nvms)
{
    static const unsigned nvcpus[] = {1, 1};

    image = testbed_image_make(1, nvms, nvcpus, 1000);
    return image;
}

static void boot(void)
{
    testbed_image_seal(image);
    assert_true(testbed_boot_image(image));
}

static void start(unsigned vm)
{
    assert_true(testbed_vm_start(0, vm));
    assert_true(testbed_run_until_idle());
}

static const char *said(void)
{
    console_drain();
    return host_output();
}

static uint64_t *payload(void)
{
    return (uint64_t *)((char *)image + image->loads[0].offset);
}

/* Gives VM 0 a payload of distinct words. */
static void fill_payload(void)
{
    uint64_t copy[WORDS];
    struct word_sums sums = {0, 0};

    for (unsigned i = 0; i < WORDS; i++) {
        payload()[i] = (i + 1U) * UINT64_C(0x9e3779b97f4a7c15);
    }
    copy_words_summed(copy, payload(), sizeof(copy), &sums);
    image->loads[0].size = sizeof(copy);
    image->loads[0].words = sums.words;
    image->loads[0].sums = sums.sums;
}

/* Whether CPU 1 runs the first guest and no boot message is printed, then or when CPU 0 runs a
 * guest. */
static bool silent_if_another_cpu_is_first(void)
{
    static const unsigned nvcpus[] = {1, 1};
    bool first;

    image = testbed_image_make(2, 2, nvcpus, 1000);
    boot();
    hyp.entered = 1000;
    host_instret = 6000;
    first = testbed_vm_start(1, 0) && testbed_run_until_idle() && testbed_on_cpu(1) == 0;
    testbed_wait(1);
    start(1);
    return first && testbed_vm_state(1) == VM_RUNNING && strstr(said(), "boot:") == NULL;
}

/* The first test, in a child process: the boot message is printed once per process, and the next
 * test needs it. */
static void test_no_boot_message_if_another_cpu_is_first(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        _exit(!silent_if_another_cpu_is_first());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Before all other tests that start a VM, for the same reason. */
static void test_boot_message_is_printed_once(void **state)
{
    const char *output;

    (void)state;
    make(2);
    boot();
    hyp.entered = 1000;
    host_instret = 6000;
    start(0);
    output = said();
    assert_non_null(strstr(output, "boot: instret 5000 to the first guest"));
    testbed_wait(0);
    start(1);
    assert_int_equal(hyp.vms[1].state, VM_RUNNING);
    assert_null(strstr(said(), "boot:"));
    host_instret = 0;
}

static unsigned looks, interrupted_copies;

/* Another CPU interrupts at every seventh polling point. */
static void interrupt_often(void)
{
    const struct vm *vm = &hyp.vms[0];

    if (vm->state == VM_LOADING && ++looks % 7U == 0) {
        host_cpu->arch.kicks = 1;
        interrupted_copies +=
            vm->stage_done != 0 && vm->stage_done < WORDS * sizeof(uint64_t) && vm->sums.words != 0;
    }
}

static void test_interrupted_copy_of_a_payload_is_complete(void **state)
{
    (void)state;
    make(1);
    fill_payload();
    boot();
    looks = 0;
    interrupted_copies = 0;
    host_on_poll = interrupt_often;
    start(0);
    assert_int_equal(hyp.vms[0].state, VM_RUNNING);
    assert_memory_equal(testbed_memory(0, TESTBED_GPA), payload(), WORDS * sizeof(uint64_t));
    assert_true(interrupted_copies > 0);
}

/* Swapped words leave the sum unchanged but not the sum of sums. */
static void test_swapped_words_of_a_payload_are_found(void **state)
{
    uint64_t first;

    (void)state;
    make(1);
    fill_payload();
    boot();
    first = payload()[0];
    payload()[0] = payload()[1];
    payload()[1] = first;
    start(0);
    assert_int_equal(hyp.vms[0].state, VM_STOPPED);
    assert_non_null(
        strstr(said(), "vm-a is not started: its payload 0 (0xfa0 bytes for 0x80000000)"));
}

static void test_only_features_that_are_missing_are_fixed_up(void **state)
{
    uint8_t expected[sizeof(uint64_t)];
    uint64_t word = TESTBED_PAYLOAD;

    (void)state;
    make(1)->vms[0].nfixups = 2;
    image->fixups[0] = (struct sysimage_fixup){
        .feature = LACKS, .load = 0, .offset = 1, .size = 3, .bytes = "xyz"};
    image->fixups[1] =
        (struct sysimage_fixup){.feature = HAS, .load = 0, .offset = 5, .size = 3, .bytes = "abc"};
    boot();
    start(0);
    memcpy(expected, &word, sizeof(expected));
    memcpy(expected + 1, "xyz", 3);
    assert_memory_equal(testbed_memory(0, TESTBED_GPA), expected, sizeof(expected));
}

static struct sysimage_region device(uint64_t offset, uint32_t reset)
{
    return (struct sysimage_region){.gpa = DEVICE_GPA + offset,
                                    .hpa = HOST_DEVICE_BASE + offset,
                                    .size = 0x1000,
                                    .kind = SYSIMAGE_REGION_MMIO,
                                    .detail = reset};
}

/* A device continues DMA and interrupts until it is reset. */
static void test_devices_are_reset_when_their_vm_starts_and_stops(void **state)
{
    uint32_t *control, *status, *without;

    (void)state;
    make(1)->vms[0].nregions = 3;
    image->regions[1] = device(0, 8);
    image->regions[2] = device(0x1000, 0);
    boot();
    control = host_device(HOST_DEVICE_BASE + 8);
    status = host_device(HOST_DEVICE_BASE + 12);
    without = host_device(HOST_DEVICE_BASE + 0x1000);
    *control = 7;
    *status = 7;
    *without = 7;
    start(0);
    assert_int_equal(*control, 0);
    *control = 7;
    assert_true(testbed_vm_stop(0, 0, false));
    assert_true(testbed_run_until_idle());
    assert_int_equal(*control, 0);
    assert_int_equal(*status, 7);
    assert_int_equal(*without, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_boot_message_if_another_cpu_is_first),
        cmocka_unit_test(test_boot_message_is_printed_once),
        cmocka_unit_test(test_interrupted_copy_of_a_payload_is_complete),
        cmocka_unit_test(test_swapped_words_of_a_payload_are_found),
        cmocka_unit_test(test_only_features_that_are_missing_are_fixed_up),
        cmocka_unit_test(test_devices_are_reset_when_their_vm_starts_and_stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
