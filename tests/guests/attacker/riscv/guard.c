/* SPDX-License-Identifier: Apache-2.0 */
/* Executes code that may trap and returns the trap. */
#include "attacker.h"
#include "platform.h"
#include "sbi.h"

uint64_t guard_enter(uint64_t entry, uint64_t a0, uint64_t a1, uint64_t user);
void guard_resume(void);

static struct caught caught; /* owner: this file, hart 0 */

static bool guard_handler(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    caught = (struct caught){
        .cause = cause, .stval = stval, .sepc = frame->sepc, .sstatus = frame->sstatus};
    frame->sepc = (uintptr_t)guard_resume;
    frame->sstatus |= SSTATUS_SPP;
    return true;
}

void guard_init(void)
{
    trap_set_exception(guard_handler);
    reset_again();
}

struct caught guarded(enum mode mode, uint64_t entry, uint64_t a0, uint64_t a1)
{
    uint64_t value;

    caught = (struct caught){.cause = CAUSE_NONE};
    value = guard_enter(entry, a0, a1, mode == USER);
    caught.value = value;
    return caught;
}

struct caught try_word(enum mode mode, uint32_t word, uint64_t a0, uint64_t a1)
{
    static volatile uint32_t code[2] __attribute__((aligned(8)));
    struct caught c;

    code[0] = word;
    code[1] = mode == USER ? WORD_ECALL : WORD_RET;
    __asm__ volatile("fence.i" ::: "memory");
    c = guarded(mode, (uintptr_t)code, a0, a1);
    if (c.cause == CAUSE_ECALL_U && c.sepc == (uintptr_t)&code[1]) {
        c.cause = CAUSE_NONE;
    }
    return c;
}

bool second_hart(void (*function)(unsigned long hart, void *argument))
{
    static uint8_t stack[4096] __attribute__((aligned(16)));
    static struct hart_boot boot;

    boot = (struct hart_boot){stack + sizeof(stack), function, NULL};
    return sbi_hart_start(1, (uintptr_t)hart_entry, (uintptr_t)&boot).error == HCALL_OK;
}

void second_hart_ended(void)
{
    while (sbi_hart_status(1).value != 1) {
    }
}
