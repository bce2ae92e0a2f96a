/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fabric as its drivers see it, natively on a machine that has it (tests/cosim): the guest is
 * the manager and two of its VMs. It prints what it finds; the test compares.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fabric_regs.h"
#include "machine.h"
#include "print.h"
#include "uart.h"

#define BASE 0x18000000UL
#define IRQ_MANAGER 20U
#define IRQ_VMS 21U
#define VMS 4U

enum {
    TASK_QAM16 = 1,
    TASK_AES128 = 5
};
enum {
    DEVICE_QAM,
    DEVICE_AES
};
enum {
    STATE_PREEMPT = 2,
    STATE_RECONFIG = 4,
    STATE_HOLD = 5
};

#define QAM_BYTES 2350U
#define LONG_BYTES 16384U
#define HOLD_CYCLES 5000U
#define FILLER 4000U /* words of a bitstream */
#define GUEST_IN 0x40000000UL
#define GUEST_OUT 0x50000000UL

int main(unsigned long hart, const void *fdt);

/* --- Registers --- */

#define REG(name) offsetof(fabric_regs_t, name)

static volatile uint64_t *reg(size_t offset)
{
    return (volatile uint64_t *)(BASE + offset);
}

static volatile uint32_t *page(uint32_t vm, uint32_t device, size_t offset)
{
    return (volatile uint32_t *)(BASE + FABRIC_IFS + (16U * vm + device) * FABRIC_IF_STRIDE +
                                 offset);
}

static volatile uint64_t *page64(uint32_t vm, uint32_t device, size_t offset)
{
    return (volatile uint64_t *)(BASE + FABRIC_IFS + (16U * vm + device) * FABRIC_IF_STRIDE +
                                 offset);
}

#define IF(vm, device, name) (*page(vm, device, offsetof(fabric_if_t, name)))
#define IF64(vm, device, name) (*page64(vm, device, offsetof(fabric_if_t, name)))

/* --- Interrupts and faults --- */

static volatile uint32_t vm_interrupts[VMS], manager_events, faults;
static volatile uint64_t interrupted_at;
/* interrupts of VMs that the handler completes without an end of their cause */
static volatile uint32_t unhandled;

static void on_manager(void)
{
    uint64_t events = *reg(REG(IRQ_STATUS));

    manager_events |= (uint32_t)events;
    *reg(REG(IRQ_STATUS)) = events;
}

static void on_vm(uint32_t vm)
{
    vm_interrupts[vm]++;
    if (unhandled > 0) {
        unhandled--;
        return;
    }
    for (uint32_t device = 0; device < 2; device++) {
        IF(vm, device, INT_CTRL) = 0; /* the line is a level */
    }
}

static void on_interrupt(void)
{
    uint32_t source = plic_claim(plic_context(0));

    interrupted_at = csr_read_time();
    if (source == IRQ_MANAGER) {
        on_manager();
    } else if (source >= IRQ_VMS && source < IRQ_VMS + VMS) {
        on_vm(source - IRQ_VMS);
    }
    plic_complete(plic_context(0), source);
}

static bool on_exception(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    print("fabric: access fault %lu at %lx\n", (unsigned long)cause, (unsigned long)stval);
    faults++;
    frame->sepc += trap_instruction_length(frame->sepc);
    return true;
}

static void start_interrupts(void)
{
    trap_set_interrupt(IRQ_EXTERNAL, on_interrupt);
    trap_set_exception(on_exception);
    plic_set_threshold(plic_context(0), 0);
    for (uint32_t n = 0; n < 1 + VMS; n++) {
        plic_set_priority(IRQ_MANAGER + n, 1);
        plic_enable(plic_context(0), IRQ_MANAGER + n, true);
    }
    csr_set_sie(SIE_EXTERNAL);
    csr_set_sstatus(SSTATUS_SIE);
}

/* Sleeps until a condition that an interrupt makes true. */
static void wait_until(bool (*condition)(void))
{
    csr_clear_sstatus(SSTATUS_SIE);
    while (!condition()) {
        csr_wait_for_interrupt();
        csr_set_sstatus(SSTATUS_SIE);
        csr_clear_sstatus(SSTATUS_SIE);
    }
    csr_set_sstatus(SSTATUS_SIE);
}

/* --- Memory that the fabric reads and writes --- */

static uint8_t input[VMS][LONG_BYTES] __attribute__((aligned(4096)));
static uint8_t output[VMS][8 * LONG_BYTES] __attribute__((aligned(4096)));
static uint32_t bitstream[FILLER + 7] __attribute__((aligned(64)));

static uint32_t crc32(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint32_t sum = ~UINT32_C(0);

    for (size_t n = 0; n < bytes; n++) {
        sum ^= at[n];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (UINT32_C(0xedb88320) & (0U - (sum & 1U)));
        }
    }
    return ~sum;
}

/* Bytes that a test can compute: a linear congruential generator's highest. */
static void fill_input(void)
{
    uint32_t state = 1;

    for (size_t n = 0; n < LONG_BYTES; n++) {
        state = state * 1664525U + 1013904223U;
        for (uint32_t vm = 0; vm < VMS; vm++) {
            input[vm][n] = (uint8_t)(state >> 24);
        }
    }
}

static void open_window(uint32_t vm, uint32_t number, uint64_t guest, const void *host,
                        uint64_t bytes)
{
    size_t at = FABRIC_WINDOWS + vm * FABRIC_VM_WINDOWS_STRIDE + number * FABRIC_WINDOW_STRIDE;

    *reg(at + offsetof(fabric_window_t, SIZE)) = bytes;
    *reg(at + offsetof(fabric_window_t, HOST)) = (uint64_t)host;
    *reg(at + offsetof(fabric_window_t, GUEST)) = guest;
}

/* --- The manager --- */

static uint64_t request(uint32_t vm, uint32_t device, uint32_t priority)
{
    uint64_t solution;

    *reg(REG(REQUEST)) = vm | device << 4 | priority << 8;
    do {
        solution = *reg(REG(SOLUTION));
    } while ((solution & FABRIC_REGS__SOLUTION__VALID_bm) == 0);
    print("fabric: request of VM %u, device %u: method %lu, region %lu, reconfigure %lu\n", vm,
          device, (unsigned long)(solution & 3), (unsigned long)(solution >> 4 & 7),
          (unsigned long)(solution >> 2 & 1));
    return solution;
}

static bool configured(void)
{
    return (manager_events & FABRIC_REGS__IRQ_STATUS__RECONFIG_OVER_bm) != 0;
}

static void configure(uint32_t prr, uint32_t task)
{
    bitstream[0] = UINT32_C(0x53494d42);
    bitstream[1] = prr << 24 | task << 16;
    bitstream[2] = FILLER + 2U;
    bitstream[3] = crc32(bitstream, 12);
    bitstream[4] = UINT32_C(0xc5000000) | prr << 16 | task << 8;
    bitstream[5] = FILLER;
    for (uint32_t n = 0; n < FILLER; n++) {
        bitstream[6 + n] = n * UINT32_C(0x9e3779b9);
    }
    bitstream[FILLER + 6] = crc32(bitstream + 4, 4 * (FILLER + 2U));
    manager_events = 0;
    *reg(REG(ICAP_ADDR)) = (uint64_t)bitstream;
    *reg(REG(ICAP_LENGTH)) = sizeof bitstream;
    *reg(REG(ICAP_START)) = prr;
    wait_until(configured);
    print("fabric: region %u has task %u: error %lu, %lu words in %lu cycles\n", prr, task,
          (unsigned long)(*reg(REG(ICAP_STATUS)) >> 8 & 15),
          (unsigned long)(*reg(REG(ICAP_COUNTS)) >> 32),
          (unsigned long)(*reg(REG(ICAP_COUNTS)) & UINT32_MAX));
}

/* Gives a client the region of a solution; returns the region. */
static uint32_t serve(uint64_t solution, uint32_t task)
{
    uint32_t prr = (uint32_t)(solution >> 4 & 7);

    if ((solution & FABRIC_REGS__SOLUTION__RECONFIG_bm) != 0) {
        configure(prr, task);
    }
    *reg(REG(PRR_CONNECT) + 8U * prr) = 1U | (solution >> 8 & 255U) << 4;
    return prr;
}

static bool first_over(void)
{
    return vm_interrupts[0] != 0;
}

static bool second_over(void)
{
    return vm_interrupts[1] != 0;
}

static void start(uint32_t vm, uint32_t device, uint64_t source, uint32_t bytes)
{
    IF(vm, device, OVER) = 1;
    IF(vm, device, CMD) = 0;
    IF64(vm, device, DATA_ADDR) = source;
    IF64(vm, device, RESULT) = GUEST_OUT;
    IF(vm, device, DATA_SIZE) = bytes;
    vm_interrupts[vm] = 0;
    IF(vm, device, INT_CTRL) = 3;
    IF(vm, device, START) = 1;
}

/* --- The scenes --- */

static void print_job(const char *name, uint32_t vm, uint32_t device)
{
    uint32_t bytes = IF(vm, device, DONE_SIZE);

    print("fabric: %s: STAT %x, %u bytes, crc %x\n", name, IF(vm, device, STAT) & 0xf1fU, bytes,
          crc32(output[vm], bytes));
}

static void qam(void)
{
    uint64_t begin;

    serve(request(0, DEVICE_QAM, 5), TASK_QAM16);
    begin = csr_read_time();
    start(0, DEVICE_QAM, GUEST_IN, QAM_BYTES);
    wait_until(first_over);
    begin = interrupted_at - begin;
    print_job("QAM16", 0, DEVICE_QAM);
    print("fabric: QAM16 took %lu ticks\n", (unsigned long)begin);
}

static void aes(void)
{
    serve(request(1, DEVICE_AES, 5), TASK_AES128);
    for (uint32_t n = 0; n < 16; n++) {
        input[1][n] = (uint8_t)(n * 0x11U); /* FIPS 197, appendix C.1 */
    }
    for (uint32_t n = 0; n < 4; n++) {
        *page(1, DEVICE_AES, offsetof(fabric_if_t, CUSTOM) + 4U * n) =
            0x03020100U + n * 0x04040404U;
    }
    start(1, DEVICE_AES, GUEST_IN, 16);
    wait_until(second_over);
    print("fabric: AES-128: ");
    for (uint32_t n = 0; n < 16; n++) {
        print("%02x", output[1][n]);
    }
    print("\n");
}

static bool second_over_twice(void)
{
    return vm_interrupts[1] > 1;
}

/* The line is a level: while it is high, it interrupts again after each completion. */
static void completed_early(void)
{
    unhandled = 1;
    start(1, DEVICE_AES, GUEST_IN, 16);
    wait_until(second_over_twice);
    print("fabric: completed early: %u interrupts\n", vm_interrupts[1]);
}

static void outside_the_windows(void)
{
    manager_events = 0;
    start(1, DEVICE_AES, GUEST_IN + LONG_BYTES, 16);
    wait_until(second_over);
    (void)*reg(REG(FAULT_INFO)); /* FAULT_ADDR belongs to the FAULT_INFO that was read last */
    print("fabric: outside: STAT %x, fault at %lx, events %x\n", IF(1, DEVICE_AES, STAT) & 0xf04U,
          (unsigned long)*reg(REG(FAULT_ADDR)), manager_events);
}

/* A window that leads to a device, or to nothing: the manager's mistake, which the bus answers. */
static void without_memory(const char *what, const void *host)
{
    open_window(1, 0, GUEST_IN | 1U, host, LONG_BYTES);
    serve(request(1, DEVICE_AES, 5), TASK_AES128);
    start(1, DEVICE_AES, GUEST_IN, 16);
    wait_until(second_over);
    print("fabric: DMA from %s: STAT %x\n", what, IF(1, DEVICE_AES, STAT) & 0xf04U);
    open_window(1, 0, GUEST_IN | 1U, input[1], LONG_BYTES);
}

static bool stopped(void)
{
    return (manager_events & FABRIC_REGS__IRQ_STATUS__PRR_STOPPED_bm) != 0;
}

/* The client that took the region gives it up, and the preempted one gets it from the search
 * list. */
static void take_and_leave(uint64_t solution)
{
    uint32_t prr = serve(solution, TASK_AES128);
    uint64_t next;

    *reg(REG(CANCEL)) = 2U | DEVICE_AES << 4;
    do {
        next = *reg(REG(NEW_SOLUTION));
    } while ((next & FABRIC_REGS__NEW_SOLUTION__VALID_bm) == 0);
    *reg(REG(NEW_SOLUTION_POP)) = 1;
    print("fabric: VM 2 had region %u; from the list: VM %lu, region %lu\n", prr,
          (unsigned long)(next >> 8 & 15), (unsigned long)(next >> 4 & 7));
    serve(next, TASK_AES128);
}

/* VM 0 and 1 have a job each; VM 2 takes VM 1's region and leaves again; both jobs end with the
 * right output. */
static void preemption(void)
{
    uint64_t solution;

    serve(request(3, DEVICE_AES, 15), TASK_AES128); /* occupies the third region */
    serve(request(1, DEVICE_AES, 8), TASK_AES128);
    start(1, DEVICE_AES, GUEST_IN, LONG_BYTES);
    serve(request(0, DEVICE_QAM, 5), TASK_QAM16);
    start(0, DEVICE_QAM, GUEST_IN, LONG_BYTES);
    manager_events = 0;
    solution = request(2, DEVICE_AES, 9);
    wait_until(stopped);
    print("fabric: preempted: STAT %x\n", IF(1, DEVICE_AES, STAT) & 0x1fU);
    take_and_leave(solution);
    wait_until(first_over);
    wait_until(second_over);
    print_job("beside", 0, DEVICE_QAM);
    print_job("resumed", 1, DEVICE_AES);
}

static bool expired(void)
{
    return (manager_events & FABRIC_REGS__IRQ_STATUS__HOLD_EXPIRED_bm) != 0;
}

/* A client that does not use its region loses it after HOLD_TIME, while nothing accesses the
 * fabric. */
static void hold_time(void)
{
    uint64_t begin;

    *reg(REG(HOLD_TIME)) = HOLD_CYCLES;
    manager_events = 0;
    request(2, DEVICE_QAM, 5);
    begin = csr_read_time();
    wait_until(expired);
    print("fabric: hold expired after %lu ticks\n", (unsigned long)(interrupted_at - begin));
    *reg(REG(HOLD_TIME)) = UINT32_MAX;
}

static void wrong_accesses(void)
{
    (void)*reg(0x2000);                                     /* between windows and contexts */
    *reg(0x30000) = 1;                                      /* the same, written */
    (void)*(volatile uint32_t *)(BASE + FABRIC_IFS + 0x80); /* behind the registers of an IF page */
    print("fabric: %u access faults\n", faults);
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart;
    (void)fdt;
    uart_init();
    print("fabric: ID %lx, PARAMS %lx\n", (unsigned long)*reg(REG(ID)),
          (unsigned long)*reg(REG(PARAMS)));
    fill_input();
    start_interrupts();
    *reg(REG(IRQ_ENABLE)) = 0x7e; /* all but new_solution */
    *reg(REG(DEVICE)) = TASK_QAM16;
    *reg(REG(DEVICE) + 8U) = TASK_AES128 | 1U << 8;
    for (uint32_t vm = 0; vm < VMS; vm++) {
        open_window(vm, 0, GUEST_IN | 1U, input[vm], LONG_BYTES);
        open_window(vm, 1, GUEST_OUT | 2U, output[vm], sizeof output[vm]);
    }
    qam();
    aes();
    completed_early();
    outside_the_windows();
    without_memory("nothing", (const void *)PLATFORM_HOLE);
    without_memory("the PLIC", (const void *)PLATFORM_PLIC_BASE);
    preemption();
    hold_time();
    wrong_accesses();
    print("fabric: done, %lu instructions\n", (unsigned long)csr_read_instret());
    return 0;
}
