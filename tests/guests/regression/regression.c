/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regression tests of the virtual platform, one per role (boot argument role=): each prints its
 * result, which tests/e2e/test_regression.py checks.
 */
#include <stdbool.h>
#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "regression.h"
#include "sbi.h"
#include "trap.h"
#include "uart.h"

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define CAUSE_ILLEGAL 2U
#define CAUSE_ECALL_U 8U
#define SECOND_CONTEXT 3U /* S-mode of hart 1 */
#define STOPPED 1UL

int main(unsigned long hart, const void *fdt);

void start_other_hart(unsigned long boot_hart, void (*function)(unsigned long hart, void *argument))
{
    static uint8_t stack[4096] __attribute__((aligned(16)));
    static struct hart_boot boot;

    boot = (struct hart_boot){.stack_top = stack + sizeof(stack), .function = function};
    (void)sbi_hart_start(1UL - boot_hart, (unsigned long)hart_entry, (unsigned long)&boot);
}

static void spin(uint64_t ticks)
{
    uint64_t start = csr_read_time();

    while (csr_read_time() - start < ticks) {
    }
}

/* --- lines: an external interrupt pending while its hart is started by HSM --- */

static volatile bool external_seen;
static volatile unsigned long lives;

static void external(void)
{
    external_seen = true;
    csr_clear_sie(SIE_EXTERNAL); /* not claimed: the interrupt stays pending */
}

static void second_hart(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    csr_write_sie(SIE_EXTERNAL);
    csr_set_sstatus(SSTATUS_SIE);
    spin(20 * MS);
    csr_clear_sstatus(SSTATUS_SIE);
    lives++;
}

static void live_once(struct hart_boot *boot)
{
    unsigned long before = lives;

    external_seen = false;
    sbi_hart_start(1, (unsigned long)hart_entry, (unsigned long)boot);
    while (lives == before) {
    }
    while (sbi_hart_status(1).value != STOPPED) {
    }
    print("regression: life %lu: %s\n", lives, external_seen ? "interrupted" : "no interrupt");
}

static void lines(void)
{
    static uint8_t stack[4096] __attribute__((aligned(16)));
    static struct hart_boot boot = {.function = second_hart};

    boot.stack_top = stack + sizeof(stack);
    trap_set_interrupt(IRQ_EXTERNAL, external);
    plic_open(SECOND_CONTEXT, PLATFORM_UART_IRQ);
    live_once(&boot);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
    live_once(&boot);
    live_once(&boot);
}

/* --- timer: a timer set before a reset must not fire after the reset --- */

static volatile bool stale;

static void stale_timer(void)
{
    stale = true;
    csr_clear_sie(SIE_TIMER);
}

static void timer(void)
{
    trap_set_interrupt(IRQ_TIMER, stale_timer);
    csr_write_sie(SIE_TIMER);
    csr_set_sstatus(SSTATUS_SIE);
    spin(200 * MS);
    print("regression: timer of a former life: %s\n", stale ? "fired" : "none");
    sbi_set_timer(csr_read_time() + 100 * MS);
    sbi_system_reset(SBI_RESET_COLD, 0);
}

/* --- wfi: in user mode it is an illegal instruction --- */

static volatile bool illegal;

static bool user_trap(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)stval;
    illegal = illegal || cause == CAUSE_ILLEGAL;
    frame->sepc += 4;
    frame->sstatus |= cause == CAUSE_ECALL_U ? SSTATUS_SPP : 0;
    return cause == CAUSE_ILLEGAL || cause == CAUSE_ECALL_U;
}

static void wfi(void)
{
    trap_set_exception(user_trap);
    __asm__ volatile("la   t0, 1f\n\t"
                     "csrw sepc, t0\n\t"
                     "li   t0, 0x100\n\t" /* SPP: to user mode */
                     "csrc sstatus, t0\n\t"
                     "sret\n\t"
                     ".balign 4\n"
                     "1: .4byte 0x10500073\n\t" /* wfi */
                     ".4byte 0x00000073\n\t"    /* ecall, returns to the test */
                     ::
                         : "t0", "memory");
    print("regression: wfi in user mode: %s\n", illegal ? "illegal" : "waited");
}

/* --- gap and reset: longest time without the hart while another VM loads --- */

static void gap(void)
{
    uint64_t start = csr_read_time();
    uint64_t last = start;
    uint64_t longest = 0;

    while (last - start < 300 * MS) {
        uint64_t now = csr_read_time();

        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    print("regression: longest gap %lu us\n", longest * 1000U / MS);
}

static void reset(void)
{
    sbi_system_reset(SBI_RESET_COLD, 0);
}

/* --- crash: immediately, by an invalid trap vector --- */

static void crash(void)
{
    csr_write_stvec(PLATFORM_HOLE);
    __asm__ volatile("jr %0" ::"r"(PLATFORM_HOLE));
}

static void shutdown(void)
{
    spin(20 * MS);
    sbi_shutdown(0);
}

/* --- hsm: status of the other hart while it is suspended, waits, and has stopped --- */

#define HSM_SUSPEND 3UL

static volatile unsigned int stage;

static void suspend_and_wait(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    csr_write_sie(SIE_SOFT);
    stage = 1;
    sbi_call(SBI_EXT_HSM, HSM_SUSPEND, 0, 0, 0); /* retentive: returns on an interrupt */
    csr_clear_sip(SIE_SOFT);
    stage = 2;
    csr_wait_for_interrupt();
    stage = 3;
}

/* Status of hart 1 some time after it has reached step `next`. */
static unsigned long status_at(unsigned int next)
{
    while (stage != next) {
    }
    spin(50 * MS);
    return (unsigned long)sbi_hart_status(1).value;
}

static void hsm(void)
{
    static uint8_t stack[4096] __attribute__((aligned(16)));
    static struct hart_boot boot = {.function = suspend_and_wait};
    unsigned long suspended, waiting;

    boot.stack_top = stack + sizeof(stack);
    sbi_hart_start(1, (unsigned long)hart_entry, (unsigned long)&boot);
    suspended = status_at(1);
    sbi_send_ipi((struct sbi_harts){.mask = 1UL << 1});
    waiting = status_at(2);
    sbi_send_ipi((struct sbi_harts){.mask = 1UL << 1});
    print("regression: suspended %lu, waiting %lu, gone %lu\n", suspended, waiting, status_at(3));
}

static void idle(void)
{
    print("regression: idle\n");
    for (;;) {
        csr_wait_for_interrupt();
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} own_roles[] = {{"hsm", hsm},     {"lines", lines},       {"timer", timer},
                 {"wfi", wfi},     {"gap", gap},           {"reset", reset},
                 {"crash", crash}, {"shutdown", shutdown}, {"idle", idle}};

static const struct {
    const char *name;
    void (*run)(unsigned long hart, const void *fdt);
} virt_roles[] = {{"wrs", wrs},
                  {"widths", widths},
                  {"rtc", rtc},
                  {"rtc-no-source", rtc_no_source},
                  {"plic", plic},
                  {"seed", seed},
                  {"svadu", svadu},
                  {"harts", harts},
                  {"legacy", legacy},
                  {"typed", typed},
                  {"storm", storm},
                  {"owe", owe},
                  {"migrate", migrate},
                  {"finish-off", finish_off},
                  {"finish-reset", finish_reset},
                  {"finish-failed", finish_failed},
                  {"panic", panic_reported}};

int main(unsigned long hart, const void *fdt)
{
    char role[16] = "";

    uart_init();
    fdt_bootarg(fdt, "role", role, sizeof(role));
    for (unsigned int i = 0; i < sizeof(own_roles) / sizeof(own_roles[0]); i++) {
        if (strcmp(role, own_roles[i].name) == 0) {
            own_roles[i].run();
        }
    }
    for (unsigned int i = 0; i < sizeof(virt_roles) / sizeof(virt_roles[0]); i++) {
        if (strcmp(role, virt_roles[i].name) == 0) {
            virt_roles[i].run(hart, fdt);
        }
    }
    for (;;) {
        csr_wait_for_interrupt();
    }
}
