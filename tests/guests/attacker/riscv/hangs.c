/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks that do not return: fatal traps, sleep, endless loops, resets. */
#include "attacker.h"
#include "platform.h"
#include "print.h"
#include "sbi.h"
#include "uart.h"

#define RESETS 60U
#define LINE 191U /* characters that the console keeps of a line that goes on */
#define RESET_MARK 0x7e5e7a11U

/* State across restarts, in shared memory, which a restart does not clear. */
static volatile uint32_t *const resets = (volatile uint32_t *)SHARED_BASE;

static void interrupts_off(void)
{
    csr_clear_sstatus(SSTATUS_SIE);
    csr_write_sie(0);
}

/* A trap with the trap vector at an invalid address. arg: the address. */
void vector_nowhere(struct verdict *v, uint64_t arg)
{
    (void)v;
    csr_write_stvec(arg);
    (void)*(volatile uint32_t *)PLATFORM_HOLE;
}

void jump_nowhere(struct verdict *v, uint64_t arg)
{
    (void)v;
    csr_write_stvec(arg);
    __asm__ volatile("jr %0" ::"r"(arg));
}

/* The console ends the line of a VM that stops: here the longest that it keeps. */
void stop_in_line(struct verdict *v, uint64_t arg)
{
    uart_put('\n');
    for (unsigned int n = 0; n < LINE; n++) {
        uart_put((char)('a' + n % 26));
    }
    jump_nowhere(v, arg);
}

/*
 * The handler faults at its first store to the stack, without end; the guest itself takes these
 * faults.
 */
void stack_nowhere(struct verdict *v, uint64_t arg)
{
    (void)v;
    __asm__ volatile("mv sp, %0\n\tld zero, 0(sp)" ::"r"(arg) : "memory");
    for (;;) {
    }
}

/* A handler whose first instruction traps. arg: the instruction. */
void vector_traps(struct verdict *v, uint64_t arg)
{
    static volatile uint32_t handler[2] __attribute__((aligned(8)));

    (void)v;
    handler[0] = (uint32_t)arg;
    handler[1] = (uint32_t)arg;
    __asm__ volatile("fence.i" ::: "memory");
    csr_write_stvec((uintptr_t)handler);
    (void)*(volatile uint32_t *)PLATFORM_HOLE;
    for (;;) {
    }
}

void loop_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    interrupts_off();
    for (;;) {
    }
}

void sleep_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    interrupts_off();
    for (;;) {
        csr_wait_for_interrupt();
    }
}

static void other_loops(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    interrupts_off();
    for (;;) {
    }
}

void loop_on_every_hart(struct verdict *v, uint64_t arg)
{
    (void)arg;
    judge(v, second_hart(other_loops), "the second hart does not start");
    other_loops(0, NULL);
}

/* WFI with a pending interrupt that is never taken: WFI returns immediately, in an endless loop. */
void wfi_storm(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    csr_clear_sstatus(SSTATUS_SIE);
    csr_set_sip(SIE_SOFT);
    csr_write_sie(SIE_SOFT);
    for (;;) {
        csr_wait_for_interrupt();
    }
}

/* A store-conditional that never succeeds, because the call in between clears the reservation. */
void reservation_loop(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    interrupts_off();
    for (;;) {
        __asm__ volatile("lr.d t0, (%0)\n\tecall\n\tsc.d t1, t0, (%0)" ::"r"(RAM_FREE)
                         : "t0", "t1", "a0", "a1", "memory");
    }
}

void faults_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    for (;;) {
        (void)try_word(SUPERVISOR, (uint32_t)arg, REAL_HYPERVISOR, 0);
    }
}

/* A page fault at the trap vector: the hart loops on it without entering the hypervisor. */
void vector_unmapped(struct verdict *v, uint64_t arg)
{
    static uint64_t root[512] __attribute__((aligned(4096)));

    (void)v;
    root[2] = 0x80000000UL >> 2 | 0xcfUL; /* 1 GiB: the guest's memory */
    __asm__ volatile("csrw satp, %0\n\tsfence.vma" ::"r"(8UL << 60 | (uintptr_t)root >> 12)
                     : "memory");
    csr_write_stvec(arg);
    (void)*(volatile uint32_t *)arg;
    for (;;) {
    }
}

/* Resets again until the counter reaches 0. */
void reset_again(void)
{
    if (resets[0] != RESET_MARK || resets[1] == 0) {
        return;
    }
    resets[1]--;
    if (resets[1] == 0) {
        print("attacker: %u resets done\n", RESETS);
    }
    (void)sbi_system_reset(resets[1] % 2 == 0 ? SBI_RESET_COLD : SBI_RESET_WARM,
                           SBI_RESET_NO_REASON);
}

void reset_forever(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    resets[1] = RESETS;
    resets[0] = RESET_MARK;
    reset_again();
}

void shut_down(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    (void)sbi_system_reset(SBI_RESET_SHUTDOWN, SBI_RESET_SYSTEM_FAILURE);
}

void stop_every_hart(struct verdict *v, uint64_t arg)
{
    (void)v;
    (void)arg;
    (void)sbi_hart_stop();
}
