/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the arch-neutral entry points in any order: hypercalls of every kind, guest events, timers,
 * keys and debug requests typed at the console. All invariants must hold afterwards. Three VMs on
 * two CPUs: the first has RT apps, two share memory, each may send messages to another VM.
 */
#include <string.h>

#include "component.h"
#include "debug_abi.h"
#include "fuzz.h"
#include "host.h"
#include "hypercall.h"
#include "sched.h"
#include "session.h"
#include "testbed.h"
#include "testbed_debug.h"
#include "testbed_ipc.h"
#include "testbed_rt.h"

#define CPUS 2U
#define VMS 3U
#define RT_APPS 4U
#define STEPS_MAX 200U
#define PARAMS (TESTBED_GPA + 0x200U)

/* A value that the hypervisor compares with, or an arbitrary one. */
static uint64_t word(struct input *in)
{
    static const uint64_t near[] = {0,
                                    1,
                                    2,
                                    3,
                                    8,
                                    40,
                                    64,
                                    127,
                                    128,
                                    129,
                                    1U << 16,
                                    0x10001,
                                    ~0UL,
                                    1UL << 63,
                                    PARAMS,
                                    TESTBED_GPA,
                                    TESTBED_GPA + TESTBED_VM_RAM,
                                    TESTBED_GPA + TESTBED_VM_RAM - 8,
                                    TESTBED_SHARED_GPA,
                                    TESTBED_SHARED_GPA + TESTBED_SHARED_SIZE - 40,
                                    1UL << 41};
    uint8_t which = byte(in);

    if (which >= 0xf0) {
        return bytes(in, 8);
    }
    return which >= 0xc0 ? near[14] + which - 0xc0 : near[which % (sizeof(near) / sizeof(near[0]))];
}

static struct vm *any_vm(struct input *in)
{
    return &hyp.vms[byte(in) % VMS];
}

/* --- events --- */

/* The number of the call that is `which` in the lists of all components. */
static ulong known_call(uint8_t which)
{
    static uint8_t numbers[HCALL_MAX];
    static unsigned count;

    if (count == 0) {
        FOR_EACH_COMPONENT(c)
        {
            for (const struct hcall_entry *e = c->hypercalls; e != NULL && e->fn != NULL; e++) {
                numbers[count++] = (uint8_t)e->number;
            }
        }
    }
    return numbers[which % count];
}

static void hypercall(struct input *in)
{
    unsigned cpu = byte(in) % CPUS;
    uint8_t which = byte(in);
    ulong number = which < 0xf0 ? known_call(which) : bytes(in, which & 7U);
    ulong a0 = word(in), a1 = word(in), a2 = word(in);
    uint64_t value;

    testbed_hypercall(cpu, number, a0, a1, a2, &value);
}

/* Writes parameters of an app, mostly valid ones, to the address that hypercalls use. */
static void parameters(struct input *in)
{
    struct {
        uint64_t entry, stack, arg;
        uint32_t period, budget, deadline, cpu;
    } p = {TESTBED_GPA, TESTBED_GPA + 0x800, 0, 1000, 100, 500, 0};

    p.period = (uint32_t)bytes(in, 2);
    p.budget = byte(in);
    p.deadline = (uint32_t)bytes(in, 2);
    p.cpu = byte(in) % (CPUS + 1);
    memcpy(testbed_memory(byte(in) % VMS, PARAMS), &p, sizeof(p));
}

static void waits(struct input *in)
{
    testbed_wait_until(byte(in) % CPUS, host_time + bytes(in, 2));
}

static void off(struct input *in)
{
    testbed_off(byte(in) % CPUS);
}

static void guest_ends(struct input *in)
{
    testbed_guest_ends(byte(in) % CPUS, byte(in) % 2 != 0);
}

static void guest_faults(struct input *in)
{
    testbed_guest_faults(byte(in) % CPUS);
}

static void start(struct input *in)
{
    testbed_vm_start(byte(in) % CPUS, byte(in) % VMS);
}

static void stop(struct input *in)
{
    testbed_vm_stop(byte(in) % CPUS, byte(in) % VMS, byte(in) % 2 != 0);
}

static void raises(struct input *in)
{
    const struct vm *vm = any_vm(in);

    testbed_raise(byte(in) % CPUS, vm->id, byte(in) % vm->nvcpus);
}

static void start_vcpu(struct input *in)
{
    const struct vm *vm = any_vm(in);

    if (vm->state == VM_RUNNING) { /* only a VCPU of a running VM can start another */
        testbed_vcpu_start(byte(in) % CPUS, vm->id, byte(in) % vm->nvcpus);
    }
}

static void advance(struct input *in)
{
    testbed_advance(bytes(in, 3));
}

static void end_job(struct input *in)
{
    testbed_end_job(byte(in) % CPUS);
}

/* Types any characters except the key that powers the machine off. */
static void keys(struct input *in)
{
    char text[64];
    unsigned length = byte(in) % (sizeof(text) - 1);

    for (unsigned i = 0; i < length; i++) {
        char c = (char)byte(in);

        text[i] = c == '\0' || c == 'q' ? '\x14' : c;
    }
    text[length] = '\0';
    testbed_enter(0);
    host_type(text);
}

/* A debug request as decoded from a frame. */
static void request(struct input *in)
{
    struct debug_request r = {.operation = byte(in), .vcpu = byte(in)};
    unsigned size = byte(in) % (sizeof(r.data) + 1);

    for (unsigned i = 0; i < size; i++) {
        r.data[i] = byte(in);
    }
    testbed_enter(0);
    do {
        session_request(&r, size, &testbed_debug_answer);
    } while (testbed_debug_answer.error == DEBUG_MORE);
}

/* A debug request with a valid operation. */
static void debug(struct input *in)
{
    testbed_debug(byte(in) % CPUS, byte(in) % 20U, byte(in) % VMS, byte(in) % 8U);
}

/* --- the target --- */

static void boot(void)
{
    static const unsigned nvcpus[VMS] = {2, 1, 2};
    struct testbed_image *image = testbed_image_make(CPUS, VMS, nvcpus, 1000);

    host_keeps_ram = true;
    for (unsigned i = 0; i < VMS; i++) {
        image->vms[i].send_to = 7;
        image->vms[i].message_irq = i == 1 ? 5 : 0;
    }
    testbed_image_share(image, 0);
    testbed_image_share(image, 1);
    testbed_image_watchdog(image, 1, 50, 400);
    testbed_image_rt(image, 0, RT_APPS, 2);
    fuzz_check(testbed_boot_image(image) ? NULL : "the system does not boot");
    for (unsigned i = 0; i < VMS; i++) {
        testbed_vm_start(0, i);
    }
    fuzz_check(testbed_run_until_idle() ? NULL : "the CPUs never become idle");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const all[])(struct input *) = {
        hypercall,  hypercall,  hypercall, hypercall,  hypercall,  hypercall,
        parameters, parameters, waits,     off,        guest_ends, guest_faults,
        start,      stop,       raises,    start_vcpu, advance,    advance,
        end_job,    keys,       request,   debug,
    };
    struct input in = {data, size};

    boot();
    for (unsigned i = 0; i < STEPS_MAX && in.left != 0; i++) {
        all[byte(&in) % (sizeof(all) / sizeof(all[0]))](&in);
        fuzz_check(testbed_run_until_idle() ? NULL : "the CPUs never become idle");
        fuzz_check(testbed_idle_violation());
        (void)host_output();
    }
    return 0;
}
