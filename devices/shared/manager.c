/* SPDX-License-Identifier: Apache-2.0 */
/* The shared devices' interrupt to the hypervisor: lines for the console. The VM itself is told by
 * the status of its completions. */
#include "arch.h"
#include "atomic.h"
#include "console.h"
#include "io.h"
#include "sched.h"

/* A guest can cause these interrupts without limit: after a report, they are disabled for this
 * time. */
#define REPORT_MS 100U

#define EVENT(name) (1UL << FABRIC_SHARED_IRQ_STATUS_##name##_LSB)
#define EVENTS (EVENT(FAULT) | EVENT(LOST))

/* A timer's. */
static void io_report_again(struct timer *t)
{
    (void)t;
    io_write(FABRIC_SHARED_IRQ_ENABLE, EVENTS);
}

static void be_quiet(void)
{
    io_write(FABRIC_SHARED_IRQ_ENABLE, 0);
    spin_lock(&sched_lock);
    timer_arm(&io.report_holdoff, arch_time() + (ticks_t)REPORT_MS * 1000U * hyp.us);
    spin_unlock(&sched_lock);
}

static bool is_reported(const struct io_client *c)
{
    return c->vm != NULL && !atomic_load_relaxed(&c->stopping);
}

/* The first fault; others in between are not reported. A VM that stops has no windows any more, so
 * its last requests may fail. */
static void report_fault(void)
{
    uint64_t fault = io_read(FABRIC_SHARED_FAULT);
    const struct io_client *c = &io.clients[IO_FIELD(fault, FABRIC_SHARED_FAULT_VM)];
    const char *access = IO_FIELD(fault, FABRIC_SHARED_FAULT_WRITE) != 0 ? "write" : "read";
    const char *what =
        IO_FIELD(fault, FABRIC_SHARED_FAULT_BUS) != 0 ? "got a bus error" : "is outside of the VM";

    if (is_reported(c)) {
        console_log_minor("error: %s: a %s by a shared device %s, address 0x%lx",
                          c->vm->config->name, access, what,
                          (ulong)io_read(FABRIC_SHARED_FAULT_ADDR));
    }
}

/* The first loss; others in between are not reported. */
static void report_loss(void)
{
    static const char *const names[IO_CHANNELS] = {"the flash", "Ethernet (send)",
                                                   "Ethernet (receive)", "the copier"};
    uint64_t lost = io_read(FABRIC_SHARED_LOST);
    const struct io_client *c = &io.clients[IO_FIELD(lost, FABRIC_SHARED_LOST_VM)];
    ulong index = IO_FIELD(lost, FABRIC_SHARED_LOST_DEVICE) - IO_FLASH;

    if (index < IO_CHANNELS && is_reported(c)) {
        console_log_minor("error: %s: a completion of %s could not be written", c->vm->config->name,
                          names[index]);
    }
}

/* The interrupt may have been pending already when the events were disabled: then the timer is
 * armed. */
void io_interrupt(void)
{
    uint64_t status = io_read(FABRIC_SHARED_IRQ_STATUS) & io_read(FABRIC_SHARED_IRQ_ENABLE);

    if ((status & EVENT(FAULT)) != 0) {
        report_fault();
    }
    if ((status & EVENT(LOST)) != 0) {
        report_loss();
    }
    if (status != 0) {
        io_write(FABRIC_SHARED_IRQ_STATUS, status);
        be_quiet();
    }
}

void io_manager_init(void)
{
    timer_init(&io.report_holdoff, io_report_again);
    io.report_holdoff.unlocked = true;
    io_write(FABRIC_SHARED_IRQ_STATUS, EVENTS);
    io_write(FABRIC_SHARED_IRQ_ENABLE, EVENTS);
}
