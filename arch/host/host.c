/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contracts arch.h and platform.h for unit tests. Owns the simulated CPUs, clock, RAM, device
 * registers and console UART, which a test controls by host.h; pages.c has the contracts for
 * devices. One thread runs: the test steps one CPU at a time, so the data of this file need no
 * lock.
 */
#include "host.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "component.h"
#include "console.h"
#include "platform.h"
#include "sched.h"

struct cpu *host_cpu;
ticks_t host_time;
struct host_costs host_costs;
unsigned host_interrupts;
bool host_keeps_ram;
void (*host_on_poll)(void);
void (*host_on_release)(void);
uint64_t host_instret;

static struct cpu cpus[SYSIMAGE_MAX_HARTS];
static jmp_buf asleep;  /* to which a CPU without work returns; owner: host_schedule() */
static bool scheduling; /* inside sched_run(); owner: host_schedule() */
static unsigned char *ram, *trace_memory;
static uint32_t devices[HOST_DEVICE_SIZE / sizeof(uint32_t)];
static char output[1 << 16];
static size_t output_length;
static const char *typed = "";
static bool tx_notify; /* the transmit interrupt is enabled; the transmitter always has room */
/* the UART's state has changed since its last interrupt: only then it interrupts again */
static bool uart_news;
static bool typing;
static unsigned uart_room; /* characters that fit before the UART is full */

void host_reset(void)
{
    memset(cpus, 0, sizeof(cpus));
    memset(&hyp, 0, sizeof(hyp));
    memset(&sched_lock, 0, sizeof(sched_lock));
    memset(devices, 0, sizeof(devices));
    host_pages_reset();
    host_on_poll = NULL;
    host_on_release = NULL;
    host_interrupts = 0;
    ram = ram != NULL ? ram : malloc(HOST_RAM_SIZE);
    trace_memory = trace_memory != NULL ? trace_memory : malloc(HOST_TRACE_SIZE);
    if (ram == NULL || trace_memory == NULL) {
        abort();
    }
    if (!host_keeps_ram) {
        memset(ram, 0xa5, HOST_RAM_SIZE);
    }
    for (unsigned i = 0; i < SYSIMAGE_MAX_HARTS; i++) {
        cpus[i].arch.timer = TICKS_NEVER;
    }
    host_cpu = &cpus[0];
    host_time = 0;
    host_costs = (struct host_costs){0};
    output_length = 0;
    uart_room = HOST_UART_ENDLESS;
    typed = "";
}

void host_spend(ticks_t ticks)
{
    host_time += ticks;
    host_cpu->arch.taken += ticks;
}

ticks_t host_read_time(void)
{
    ticks_t now = host_time;

    if (scheduling) {
        host_spend(host_costs.clock);
    }
    return now;
}

static ticks_t ran_here(const struct cpu *cpu)
{
    return host_time - cpu->arch.resumed - (cpu->arch.taken - cpu->arch.taken_before);
}

ticks_t host_ran(const struct vcpu *v)
{
    return v->arch.ran + (v->state == VCPU_RUNNING ? ran_here(v->cpu) : 0);
}

/* Accounts the time so far to the current VCPU. */
static void host_account(void)
{
    if (host_cpu->current != NULL) {
        host_cpu->current->arch.ran += ran_here(host_cpu);
    }
    host_cpu->arch.resumed = host_time;
    host_cpu->arch.taken_before = host_cpu->arch.taken;
}

static struct vcpu *host_schedule(void)
{
    struct vcpu *next;

    host_account();
    scheduling = true;
    if (setjmp(asleep) != 0) {
        scheduling = false;
        return NULL;
    }
    sched_run(host_cpu);
    next = host_cpu->current;
    scheduling = false;
    host_cpu->loaded = next;
    if (next->last_cpu != (ulong)host_cpu) {
        host_fence(next->vm);
    }
    next->last_cpu = (ulong)host_cpu;
    vcpu_take_pending(next);
    host_spend(host_costs.leave);
    return next;
}

struct vcpu *host_step(unsigned id)
{
    host_cpu = &cpus[id];
    arch_irq_poll();
    if (host_cpu->current != NULL && host_cpu->flags == 0) {
        host_spend(host_costs.leave);
        return host_cpu->current;
    }
    /* left by longjmp(): do as sched_find_runnable() at a wake-up */
    if (host_cpu->current == NULL) {
        host_cpu->idle = false;
        host_cpu->since = host_time;
    }
    return host_schedule();
}

struct vcpu *host_wait(unsigned id)
{
    host_cpu = &cpus[id];
    if (host_cpu->current != NULL) {
        vcpu_wait(host_cpu->current);
    }
    return host_step(id);
}

ticks_t host_next_timer(void)
{
    ticks_t first = TICKS_NEVER;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        first = cpus[i].arch.timer < first ? cpus[i].arch.timer : first;
    }
    return first;
}

static uint64_t without_alias(uint64_t hpa)
{
    return hpa >= HOST_RAM_BASE + ARCH_DMA_ALIAS ? hpa - ARCH_DMA_ALIAS : hpa;
}

void *host_ram(uint64_t hpa)
{
    uint64_t offset = without_alias(hpa) - HOST_RAM_BASE;

    return offset < HOST_RAM_SIZE ? ram + offset : NULL;
}

uint32_t *host_device(uint64_t hpa)
{
    return hpa - HOST_DEVICE_BASE < HOST_DEVICE_SIZE
               ? &devices[(hpa - HOST_DEVICE_BASE) / sizeof(uint32_t)]
               : NULL;
}

void host_uart_room(unsigned count)
{
    uart_room = count;
    uart_news = tx_notify; /* the transmitter has room */
}

bool host_uart_interrupt(void)
{
    bool due = tx_notify && uart_news;

    if (due) {
        uart_news = false;
        console_interrupt(); /* the transmitter has room */
    }
    return due;
}

const char *host_output(void)
{
    for (unsigned i = 0; i < sizeof(output) && host_uart_interrupt(); i++) {
    }
    output[output_length] = '\0';
    output_length = 0;
    return output;
}

void host_type(const char *text)
{
    typed = text;
    typing = true;
    while (*typed != '\0') { /* interrupts until all characters are taken */
        console_interrupt();
    }
    typing = false;
}

/* --- the contract --- */

struct cpu *arch_cpu_get(unsigned id)
{
    return &cpus[id];
}

void arch_cpu_relax(void)
{
    fputs("host: a lock is taken that is held\n", stderr);
    abort();
}

static void polled(void)
{
    if (host_on_poll != NULL) {
        host_on_poll();
    }
}

bool arch_irq_pending(void)
{
    polled();
    return host_cpu->arch.kicks > 0 || host_cpu->arch.timer <= host_time;
}

void arch_timer_set(ticks_t deadline)
{
    host_cpu->arch.timer = deadline;
}

void arch_cpus_interrupt(ulong others)
{
    if (host_cpu->locks != 0 || (others & 1UL << host_cpu->id) != 0) {
        fputs("host: an interrupt is sent under a lock, or to the CPU itself\n", stderr);
        abort();
    }
    host_interrupts++;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        cpus[i].arch.kicks += (unsigned)(others >> i & 1U);
    }
}

void arch_cpu_sleep(void)
{
    longjmp(asleep, 1);
}

void arch_irq_poll(void)
{
    polled();
    if (host_cpu->arch.kicks > 0) {
        host_cpu->arch.kicks = 0;
        cpu_ipi_received();
    }
    if (host_cpu->arch.timer <= host_time) {
        timer_expire(host_cpu);
    }
}

bool arch_cpu_start(unsigned id)
{
    return id < SYSIMAGE_MAX_HARTS;
}

uint64_t arch_instret(void)
{
    return host_instret;
}

void arch_shutdown(bool failure)
{
    exit(failure ? 1 : 0);
}

void arch_vcpu_reset(struct vcpu *v, ulong entry, ulong arg)
{
    v->arch = (struct arch_vcpu){.deadline = TICKS_NEVER, .entry = entry, .arg = arg};
}

void arch_vcpu_argument(struct vcpu *v, ulong first, ulong stack)
{
    (void)v, (void)first, (void)stack;
}

void arch_vcpu_lines(struct vcpu *v)
{
    (void)v;
}

void arch_vcpu_mask(void)
{
}

void arch_vcpu_inject(struct vcpu *v, ulong bits)
{
    v->arch.raised |= bits;
}

void arch_vcpu_sync(struct vcpu *v)
{
    host_fence(v->vm);
}

bool arch_guest_irq(const struct arch_vcpu *v)
{
    return v->raised != 0;
}

ticks_t arch_vcpu_deadline(const struct arch_vcpu *v)
{
    return v->deadline;
}

ulong arch_vcpu_timer_bits(const struct vcpu *v)
{
    (void)v;
    return ARCH_VIRQ_NONE;
}

bool arch_vcpu_report(const struct vcpu *v, unsigned line)
{
    if (line < HOST_REPORT_LINES) {
        console_log("  line %u of vcpu %u", line, v->id);
    }
    return line < HOST_REPORT_LINES;
}

void arch_cpu_breakpoints(bool come)
{
    host_cpu->arch.breakpoints = come;
}

bool arch_vcpu_get(const struct vcpu *v, unsigned number, uint64_t *value)
{
    *value = number == 0 ? v->arch.entry : v->arch.arg;
    return number <= 1;
}

bool arch_vcpu_set(struct vcpu *v, unsigned number, uint64_t value)
{
    if (number == 1) {
        v->arch.arg = value;
    }
    return number == 1;
}

void arch_vcpu_breakpoint(struct vcpu *v)
{
    v->arch.exceptions++;
}

const char *arch_cause_name(ulong cause)
{
    (void)cause;
    return "host";
}

const char *arch_vm_init(struct vm *vm)
{
    (void)vm;
    return NULL;
}

void arch_vm_reset(struct vm *vm)
{
    vm->arch.lines = 0;
    vm->arch.resets++;
}

/* Steps that vm.arch.stop_steps requests. */
static bool host_vm_stop(struct vm *vm)
{
    if (vm->arch.stop_steps != 0) {
        vm->arch.stop_steps--;
    }
    return vm->arch.stop_steps == 0;
}

unsigned host_syncs;

static void host_cpu_sync(void)
{
    host_syncs++;
}

COMPONENT(host, .vm_stop = host_vm_stop, .cpu_sync = host_cpu_sync);

void arch_vm_irq(struct vm *vm, unsigned source, bool level)
{
    vm->arch.lines = level ? vm->arch.lines | 1U << source : vm->arch.lines & ~(1U << source);
}

void *arch_memory(hpa_t hpa)
{
    void *at = host_ram(hpa);
    bool trace =
        at == NULL || hyp.image == NULL || hpa == hyp.image->ram_base + hyp.image->ram_size;

    return trace ? trace_memory : at;
}

void *arch_window(hpa_t hpa, uint64_t *size)
{
    if (hpa < HOST_RAM_BASE) {
        *size = HOST_DEVICE_BASE + HOST_DEVICE_SIZE - hpa;
        return host_device(hpa);
    }
    *size = HOST_RAM_BASE + HOST_RAM_SIZE - without_alias(hpa);
    return host_ram(hpa);
}

void *arch_window_for(struct arch_cpu *cpu, hpa_t hpa, uint64_t size)
{
    (void)cpu, (void)size;
    return host_ram(hpa);
}

bool arch_has(unsigned feature)
{
    return feature == 0;
}

/* --- the board --- */

const struct platform_info platform = {.name = "host"};
const uint8_t platform_bitstream_key[BITSTREAM_KEY_SIZE] = {
    'a', ' ', 'k', 'e', 'y', ' ', 'o', 'f', ' ', 't', 'h', 'e', ' ', 'h', 'o', 's', 't'};

void platform_uart_init(void)
{
}

bool platform_uart_put(char c)
{
    if (uart_room == 0) {
        return false;
    }
    uart_room -= uart_room != HOST_UART_ENDLESS;
    if (output_length < sizeof(output) - 1) {
        output[output_length++] = c;
    }
    uart_news = true;
    return true;
}

int platform_uart_get(void)
{
    return typing && *typed != '\0' ? *typed++ : -1;
}

void platform_uart_again(bool tx)
{
    tx_notify |= tx;
    uart_news = tx_notify && uart_room > 0;
}

void platform_uart_notify_tx(bool enable)
{
    uart_news = enable && (uart_news || !tx_notify);
    tx_notify = enable;
}
