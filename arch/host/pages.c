/* SPDX-License-Identifier: Apache-2.0 */
/* The developer's machine has no devices for guests: a system image that needs one is refused at boot. */
#include "arch_pages.h"

bool arch_device_map(hpa_t base, uint64_t size)
{
    (void)base, (void)size;
    return false;
}

bool arch_device_probe(hpa_t address, uint64_t *value)
{
    (void)address;
    *value = 0;
    return false;
}

bool arch_device_interrupt(unsigned irq, void (*handler)(void))
{
    (void)irq, (void)handler;
    return false;
}

bool arch_page_map(struct arch_page *page, struct vm *vm, gpa_t gpa, hpa_t hpa)
{
    (void)hpa;
    *page = (struct arch_page){.vm = vm, .gpa = gpa};
    return false;
}

void arch_page_allow_writes(const struct arch_page *page)
{
    (void)page;
}

void arch_page_forbid_writes(const struct arch_page *page)
{
    (void)page;
}
