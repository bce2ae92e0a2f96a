/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest debugged by tests/e2e/test_debug.py: two harts, Sv39 with RAM mapped at a second
 * address, nested calls, breakpoint instructions in its code, and console output that imitates
 * answers to a debugger.
 *
 * Prints `debuggee: turn <n>` twice a second.
 */
#include <stdbool.h>
#include <stdint.h>

#include "csr.h"
#include "debuggee.h"
#include "hcall.h"
#include "platform.h"
#include "print.h"
#include "sbi.h"
#include "trap.h"
#include "uart.h"

#define GIB_BITS 30U
#define PTE_LEAF 0xcfUL /* valid, read, write, execute, accessed, dirty */
#define SATP_SV39 (8UL << 60)
#define TABLE_ENTRIES 512U

volatile unsigned long debuggee_turns, debuggee_breaks, debuggee_other, debuggee_far;

static uint8_t other_stack[4096] __attribute__((aligned(16)));
static uint64_t root[TABLE_ENTRIES] __attribute__((aligned(4096)));

int main(unsigned long hart, const void *fdt);

static bool handler(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)stval; /* the address, or 0, depending on the hart */
    if (cause != CAUSE_BREAKPOINT) {
        return false;
    }
    debuggee_breaks++;
    frame->sepc += trap_instruction_length(frame->sepc);
    return true;
}

/* Maps devices and RAM at their physical addresses, and RAM also at DEBUGGEE_FAR. */
static void translate(void)
{
    uint64_t satp = SATP_SV39 | (uint64_t)(uintptr_t)root >> 12;

    for (uint64_t i = 0; i < 4; i++) {
        root[i] = i << (GIB_BITS - 2U) | PTE_LEAF;
    }
    root[DEBUGGEE_FAR >> GIB_BITS & (TABLE_ENTRIES - 1U)] = 2UL << (GIB_BITS - 2U) | PTE_LEAF;
    __asm__ volatile("csrw satp, %0\n\tsfence.vma" : : "r"(satp) : "memory");
}

static void count(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    for (;;) {
        debuggee_other++;
    }
}

unsigned long __attribute__((noinline)) debuggee_inner(unsigned long n)
{
    debuggee_turns = n;
    return n * 3U;
}

unsigned long __attribute__((noinline)) debuggee_middle(unsigned long n)
{
    return debuggee_inner(n + 1U) + 1U;
}

unsigned long __attribute__((noinline)) debuggee_outer(unsigned long n)
{
    return debuggee_middle(n) + debuggee_steps(n) + 1U;
}

void __attribute__((noinline)) debuggee_reached(unsigned long n)
{
    debuggee_far += n;
}

/* Calls the same function at both addresses. */
static void reach(void)
{
    uintptr_t near = (uintptr_t)debuggee_reached;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): intended */
    void (*far)(unsigned long) = (void (*)(unsigned long))(near - (2UL << GIB_BITS) + DEBUGGEE_FAR);

    debuggee_reached(1);
    far(1000);
}

/* Forged answers of the debug protocol, and an unterminated one. */
static void forge(void)
{
    print("debuggee: "
          "\033_t0000000000000000010000000101000000\033\\\033_t00000000000000000000\033\\\n");
    print("debuggee: \033_t0123456789abcdef\033_t\n");
}

int main(unsigned long hart, const void *fdt)
{
    static struct hart_boot boot = {other_stack + sizeof(other_stack), count, 0};
    unsigned long turn = 0;

    (void)fdt;
    uart_init();
    trap_set_exception(handler);
    translate();
    (void)sbi_hart_start(1U - hart, (uintptr_t)hart_entry, (uintptr_t)&boot);
    for (;;) {
        uint64_t start = csr_read_time();

        (void)debuggee_outer(turn++);
        reach();
        __asm__ volatile(".globl debuggee_own\ndebuggee_own: ebreak");
        forge();
        print("debuggee: turn %lu, breaks %lu, far %lu\n", turn, debuggee_breaks, debuggee_far);
        while (csr_read_time() - start < PLATFORM_TIMEBASE_HZ / 2U) {
        }
    }
}
