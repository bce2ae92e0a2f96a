/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device for components, and pages of it for VMs. Each CPU has its own view of a page's
 * permission, like a TLB: it follows at once on the CPU that changes the page, and elsewhere when
 * arch/riscv would execute a fence.
 */
#include "arch_pages.h"

#include <string.h>

#include "arch.h"
#include "arch_device.h"
#include "host.h"
#include "sched.h"

#define MAX_PAGES 64U
#define MAX_SOURCES 64U
#define WRITABLE (UINT64_C(1) << 63) /* of the entry; bit n: CPU n may store */

struct host_registers host_registers;
void (*host_device_handler)(void);

static uint64_t entries[MAX_PAGES];
static const struct vm *owners[MAX_PAGES];
static gpa_t addresses[MAX_PAGES];
static hpa_t given[MAX_PAGES]; /* what they are mapped to */
static unsigned used;          /* owner: this file, as of the arrays */

static struct {
    struct vm *vm;     /* that has the source, or NULL */
    unsigned guest;    /* its number there */
} routes[MAX_SOURCES]; /* owner: this file */

void host_pages_reset(void)
{
    used = 0;
    memset(routes, 0, sizeof(routes));
    host_device_handler = NULL;
}

bool arch_device_map(hpa_t base, uint64_t size)
{
    bool ram = host_ram(base) != NULL && host_ram(base + size - 1U) != NULL;

    return ram || host_registers.read != NULL;
}

bool arch_device_probe(hpa_t address, uint64_t *value)
{
    *value = host_registers.read != NULL ? host_registers.read(address, 8) : 0;
    return host_registers.read != NULL;
}

bool arch_device_interrupt(unsigned irq, void (*handler)(void))
{
    bool is_free = irq < MAX_SOURCES && routes[irq].vm == NULL && host_device_handler == NULL;

    host_device_handler = is_free ? handler : host_device_handler;
    return is_free;
}

bool arch_device_route(unsigned irq, struct vm *vm, unsigned guest)
{
    bool is_free = irq < MAX_SOURCES && routes[irq].vm == NULL;

    if (is_free) {
        routes[irq].vm = vm;
        routes[irq].guest = guest;
    }
    return is_free;
}

bool host_device_raise(unsigned irq)
{
    struct vm *vm = routes[irq].vm;

    if (vm != NULL) {
        spin_lock(&vm->lock);
        arch_vm_irq(vm, routes[irq].guest, true);
        vm_unlock(vm);
    }
    return vm != NULL;
}

uint64_t arch_device_read64(const volatile void *at)
{
    return host_registers.read((uint64_t)at, 8);
}

void arch_device_write64(volatile void *at, uint64_t value)
{
    host_registers.write((uint64_t)at, 8, value);
}

uint8_t arch_device_read8(const volatile void *at)
{
    return (uint8_t)host_registers.read((uint64_t)at, 1);
}

void arch_device_write8(volatile void *at, uint8_t value)
{
    host_registers.write((uint64_t)at, 1, value);
}

uint32_t arch_device_read32(const volatile void *at)
{
    return (uint32_t)host_registers.read((uint64_t)at, 4);
}

void arch_device_write32(volatile void *at, uint32_t value)
{
    host_registers.write((uint64_t)at, 4, value);
}

bool arch_page_map(struct arch_page *page, struct vm *vm, gpa_t gpa, hpa_t hpa)
{
    if (used == MAX_PAGES) {
        return false;
    }
    entries[used] = 0;
    owners[used] = vm;
    addresses[used] = gpa;
    given[used] = hpa;
    *page = (struct arch_page){vm, gpa, &entries[used++]};
    return true;
}

bool arch_device_give(struct vm *vm, gpa_t gpa, hpa_t hpa)
{
    struct arch_page page;
    bool mapped = arch_page_map(&page, vm, gpa, hpa);

    if (mapped) {
        *page.entry = ~UINT64_C(0);
    }
    return mapped;
}

hpa_t host_given(const struct vm *vm, gpa_t gpa)
{
    hpa_t found = 0;

    for (unsigned i = 0; i < used; i++) {
        found = owners[i] == vm && addresses[i] == gpa ? given[i] : found;
    }
    return found;
}

static uint64_t this_cpu(void)
{
    return UINT64_C(1) << host_cpu->id;
}

void arch_page_allow_writes(const struct arch_page *page)
{
    *page->entry |= WRITABLE | this_cpu();
}

void arch_page_forbid_writes(const struct arch_page *page)
{
    struct vm *vm = page->vm;

    if ((*page->entry & WRITABLE) == 0) {
        return;
    }
    *page->entry &= ~(WRITABLE | this_cpu());
    spin_lock(&sched_lock);
    for (unsigned i = 0; i < vm->total; i++) {
        struct vcpu *v = &vm->vcpus[i];

        v->last_cpu = VCPU_NO_CPU;
        if (v->state == VCPU_RUNNING && v->cpu != host_cpu) {
            cpu_kick(v->cpu, IPI_SYNC);
        }
    }
    spin_unlock(&sched_lock);
}

void host_fence(const struct vm *vm)
{
    for (unsigned i = 0; i < used; i++) {
        if (owners[i] == vm) {
            entries[i] =
                (entries[i] & WRITABLE) != 0 ? entries[i] | this_cpu() : entries[i] & ~this_cpu();
        }
    }
}

bool host_may_store(const struct vm *vm, gpa_t gpa)
{
    for (unsigned i = 0; i < used; i++) {
        if (owners[i] == vm && addresses[i] == gpa) {
            return (entries[i] & this_cpu()) != 0;
        }
    }
    return false;
}

/* There is no translation to forget. */
void arch_pages_sync(void)
{
}
