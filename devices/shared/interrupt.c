/* SPDX-License-Identifier: Apache-2.0 */
/* The shared devices' interrupt to the hypervisor: lines for the console. The status of its
 * completions informs the VM itself. */
#include "arch.h"
#include "atomic.h"
#include "console.h"
#include "sched.h"
#include "shared.h"

/* A guest can cause these interrupts without limit: after a report, they are disabled for this
 * time. */
#define REPORT_MS 100U

#define EVENT(name) (1UL << FABRIC_SHARED_IRQ_STATUS_##name##_LSB)
#define EVENTS (EVENT(FAULT) | EVENT(LOST))

/* A timer's. */
static void shared_report_again(struct timer *t)
{
    (void)t;
    shared_write(FABRIC_SHARED_IRQ_ENABLE, EVENTS);
}

static void start_holdoff(void)
{
    shared_write(FABRIC_SHARED_IRQ_ENABLE, 0);
    spin_lock(&sched_lock);
    timer_arm(&shared.report_holdoff, arch_time() + (ticks_t)REPORT_MS * 1000U * hyp.us);
    spin_unlock(&sched_lock);
}

static bool is_reported(const struct shared_client *c)
{
    return c->vm != NULL && !atomic_load_relaxed(&c->stopping);
}

/* The first fault; others in between are not reported. A VM that stops has no windows any more, so
 * its last requests may fail. */
static void report_fault(void)
{
    uint64_t fault = shared_read(FABRIC_SHARED_FAULT);
    const struct shared_client *c = &shared.clients[SHARED_FIELD(fault, FABRIC_SHARED_FAULT_VM)];
    const char *access = SHARED_FIELD(fault, FABRIC_SHARED_FAULT_WRITE) != 0 ? "write" : "read";
    const char *what = SHARED_FIELD(fault, FABRIC_SHARED_FAULT_BUS) != 0 ? "got a bus error"
                                                                         : "is outside of the VM";

    if (is_reported(c)) {
        console_log_minor("error: %s: a %s by a shared device %s, address 0x%lx",
                          c->vm->config->name, access, what,
                          (ulong)shared_read(FABRIC_SHARED_FAULT_ADDR));
    }
}

/* The first loss; others in between are not reported. */
static void report_loss(void)
{
    static const char *const names[SHARED_CHANNELS] = {"the flash", "Ethernet (send)",
                                                       "Ethernet (receive)", "the copier"};
    uint64_t lost = shared_read(FABRIC_SHARED_LOST);
    const struct shared_client *c = &shared.clients[SHARED_FIELD(lost, FABRIC_SHARED_LOST_VM)];
    ulong index = SHARED_FIELD(lost, FABRIC_SHARED_LOST_DEVICE) - SHARED_FLASH;

    if (index < SHARED_CHANNELS && is_reported(c)) {
        console_log_minor("error: %s: a completion of %s could not be written", c->vm->config->name,
                          names[index]);
    }
}

/* The interrupt may have been pending already when the events were disabled: then the timer is
 * armed. */
void shared_interrupt(void)
{
    uint64_t status = shared_read(FABRIC_SHARED_IRQ_STATUS) & shared_read(FABRIC_SHARED_IRQ_ENABLE);

    if ((status & EVENT(FAULT)) != 0) {
        report_fault();
    }
    if ((status & EVENT(LOST)) != 0) {
        report_loss();
    }
    if (status != 0) {
        shared_write(FABRIC_SHARED_IRQ_STATUS, status);
        start_holdoff();
    }
}

void shared_manager_init(void)
{
    timer_init(&shared.report_holdoff, shared_report_again);
    shared.report_holdoff.unlocked = true;
    shared_write(FABRIC_SHARED_IRQ_STATUS, EVENTS);
    shared_write(FABRIC_SHARED_IRQ_ENABLE, EVENTS);
}
