/* SPDX-License-Identifier: Apache-2.0 */
/* The guest that misbehaves, on RISC-V: S-mode on an SBI. */
#include "csr.h"
#include "hcall.h"
#include "ipc.h"
#include "misbehave.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"

#define MISBEHAVE_STACK 4096U
#define MISBEHAVE_NO_HART ~0UL

static volatile uint64_t misbehave_return; /* return address of a jump to an invalid address */
static unsigned long misbehave_hart;
static volatile unsigned long misbehave_other; /* hart that has started, or MISBEHAVE_NO_HART */
static uint8_t misbehave_stack[MISBEHAVE_STACK] __attribute__((aligned(16)));

static bool misbehave_handler(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    misbehave_caught(cause, stval, frame->sepc);
    if (cause == CAUSE_INSTRUCTION_ACCESS) {
        frame->sepc = misbehave_return; /* the instruction cannot be read */
    } else {
        frame->sepc += trap_instruction_length(frame->sepc);
    }
    return true;
}

void arch_init(unsigned long hart)
{
    misbehave_hart = hart;
    trap_set_exception(misbehave_handler);
}

uint32_t arch_load(unsigned long address)
{
    return *(volatile uint32_t *)address;
}

void arch_store(unsigned long address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* After a fetch fault the handler resumes at the label. */
void arch_call(unsigned long address)
{
    __asm__ volatile("la   t0, 1f\n\t"
                     "sd   t0, %[back]\n\t"
                     "jalr %[target]\n"
                     "1:"
                     : [back] "=m"(misbehave_return)
                     : [target] "r"(address)
                     : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4",
                       "a5", "a6", "a7", "memory");
}

void arch_warm_reboot(void)
{
    (void)sbi_system_reset(SBI_RESET_WARM, SBI_RESET_NO_REASON);
}

void arch_bad_calls(unsigned long address, long errors[ARCH_BAD_CALLS])
{
    struct sbi_harts no_harts = {.mask = ~0UL, .base = 1000};

    errors[0] = sbi_call(0x12345678UL, 0, 0, 0, 0).error;
    errors[1] = sbi_call(SBI_EXT_BASE, 1000, 0, 0, 0).error;
    errors[2] = sbi_call(HCALL_EXTENSION, 1000, address, address, address).error;
    errors[3] = sbi_send_ipi(no_harts).error;
    errors[4] = sbi_hart_start(1000, address, 0).error;
    errors[5] = sbi_system_reset((enum sbi_reset_type)1000, SBI_RESET_NO_REASON).error;
}

void arch_listen(uint32_t line, bool on)
{
    plic_set_priority(line, 1);
    plic_enable(plic_context(misbehave_hart), line, on);
}

/* --- commands --- */

/*
 * Faults, IPIs to itself, expired timers, fences, output and received messages, without end and
 * without a pause.
 */
static void misbehave_storm(unsigned long address)
{
    static uint8_t message[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    struct sbi_harts own = {.mask = 1UL << misbehave_hart, .base = 0};
    struct ipc_peer from;

    print("misbehave: storming\n");
    misbehave_be_quiet();
    for (unsigned long n = 1;; n++) {
        (void)arch_load(address);
        (void)sbi_send_ipi(own);
        csr_clear_sip(SIE_SOFT);
        timer_set(0);
        (void)sbi_call(SBI_EXT_RFENCE, 1, own.mask, own.base, 0);
        (void)sbi_call(HCALL_EXTENSION, n % 64, address, ~0UL, n);
        (void)ipc_receive(message, sizeof(message), &from);
        if (n % 1000 == 0) {
            print("misbehave: stormed %lu\n", n);
        }
    }
}

/*
 * Debug console calls with buffers outside the memory, or partly outside. A separate command,
 * because OpenSBI 1.6 uses the address unchecked and does not return: natively this ends the guest.
 */
static void misbehave_console(unsigned long address)
{
    long errors[] = {
        sbi_call(SBI_EXT_DBCN, 0, 4096, address, 0).error,
        sbi_call(SBI_EXT_DBCN, 1, 4096, address, 0).error,
        sbi_call(SBI_EXT_DBCN, 0, ~0UL, address, 0).error,
        sbi_call(SBI_EXT_DBCN, 1, ~0UL, address, 0).error,
        sbi_call(SBI_EXT_DBCN, 0, 1, address, ~0UL).error,
        sbi_call(SBI_EXT_DBCN, 0, ~0UL, ~0UL, ~0UL).error,
    };

    misbehave_print_errors("bad console calls", errors, sizeof(errors) / sizeof(errors[0]));
}

static void misbehave_other_hart(unsigned long hart, void *argument)
{
    (void)argument;
    misbehave_other = hart;
}

/* The other hart reports in memory that it runs: output of two harts would be mixed. */
static void misbehave_smp(unsigned long address)
{
    static struct hart_boot boot = {.stack_top = misbehave_stack + MISBEHAVE_STACK,
                                    .function = misbehave_other_hart};
    unsigned long other = misbehave_hart == 0 ? 1 : 0;
    uint64_t end = csr_read_time() + PLATFORM_TIMEBASE_HZ;
    long error;

    (void)address;
    misbehave_other = MISBEHAVE_NO_HART;
    error = sbi_hart_start(other, (uintptr_t)hart_entry, (uintptr_t)&boot).error;
    while (error == HCALL_OK && misbehave_other == MISBEHAVE_NO_HART && csr_read_time() < end) {
    }
    if (misbehave_other == other) {
        print("misbehave: hart %lu alive\n", other);
    } else {
        print("misbehave: hart %lu did not start: error %ld\n", other, error);
    }
}

/* The lines of `flood`, one character per console call of SBI v0.1, which waits for space. */
static void misbehave_legacy(unsigned long lines)
{
    static char line[MISBEHAVE_FLOOD_LINE];

    for (unsigned long i = 0; i <= lines; i++) {
        misbehave_flood_line(line, i, lines);
        for (const char *c = line; *c != '\0'; c++) {
            (void)sbi_call(SBI_LEGACY_PUTCHAR, 0, (unsigned char)*c, 0, 0);
        }
    }
}

/*
 * Worst case for the console: lines of a single character, of maximum length, or of any length
 * between.
 */
static void misbehave_print(unsigned long length)
{
    static char text[128];

    for (unsigned int i = 0; i < sizeof(text); i++) {
        text[i] = length != 0 && i % length == length - 1 ? '\n' : (char)('a' + i % 26);
    }
    print("misbehave: printing\n");
    for (;;) {
        (void)sbi_call(SBI_EXT_DBCN, 0, sizeof(text), (uintptr_t)text, 0);
    }
}

const struct misbehave_command arch_commands[] = {
    {"print", "[length] debug console writes without end, in lines of that many characters",
     misbehave_print},
    {"legacy", "[lines] flood by the console call of SBI v0.1", misbehave_legacy},
    {"storm", "[address] faults, IPIs, timers, fences and calls without end", misbehave_storm},
    {"console", "[address] debug console calls with bad buffers (natively fatal)",
     misbehave_console},
    {"smp", "start another hart and check that it runs", misbehave_smp},
    {NULL, NULL, NULL},
};
