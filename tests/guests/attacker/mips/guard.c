/* SPDX-License-Identifier: Apache-2.0 */
/* Executes code that may trap and returns the exception. */
#include "attacker.h"

#define USER_PAGE 0x00400000U
#define USER_INDEX 15U
#define ENTRYLO_FLAGS 0x1fU /* cached, dirty, valid, global */
#define CODE_SYSCALL_SLOT 1U

uint32_t guard_enter(uint32_t entry, uint32_t a0, uint32_t a1, uint32_t user);
void guard_resume(void);

volatile uint32_t guard_code[GUARD_WORDS] __attribute__((aligned(8192)));
/* Owner: this file. */
static struct caught caught;
static volatile bool guard_on;

static bool guard_handler(struct trap_frame *frame, uint32_t code)
{
    if (!guard_on) {
        return false;
    }
    caught = (struct caught){
        .code = code, .epc = frame->epc, .badvaddr = frame->badvaddr, .cause = frame->cause};
    frame->epc = (uint32_t)(uintptr_t)guard_resume;
    /* otherwise ERET would return to ErrorEPC */
    frame->status &= ~(uint32_t)(STATUS_UM | STATUS_ERL);
    frame->gpr[2] = frame->gpr[4];
    return true;
}

void guard_init(void)
{
    trap_set_exception(guard_handler);
}

static struct caught guard_run(uint32_t entry, uint32_t a0, uint32_t a1, bool user)
{
    uint32_t value;

    caught = (struct caught){.code = NO_EXCEPTION};
    guard_on = true;
    value = guard_enter(entry, a0, a1, user);
    guard_on = false;
    caught.value = value;
    return caught;
}

struct caught guarded(uint32_t entry, uint32_t a0, uint32_t a1)
{
    return guard_run(entry, a0, a1, false);
}

/* Makes written code visible to instruction fetch, with any cache configuration. */
static void guard_sync(void)
{
    for (unsigned int i = 0; i < GUARD_WORDS; i += 4) {
        __asm__ volatile("synci 0(%0)" : : "r"(&guard_code[i]) : "memory");
    }
    __asm__ volatile("sync\n\tehb" : : : "memory");
}

struct caught try_word(uint32_t word, uint32_t a0, uint32_t a1)
{
    guard_code[0] = word;
    guard_code[1] = WORD_RETURN;
    guard_code[2] = WORD_NOP;
    guard_sync();
    return guarded((uint32_t)(uintptr_t)guard_code, a0, a1);
}

/* Maps the page of guard_code at USER_PAGE as a global page. */
static void guard_map(void)
{
    uint32_t frame = ((uint32_t)(uintptr_t)guard_code & 0x1fffffffU) >> 6;

    cp0_write_pagemask(0);
    cp0_write_entryhi(USER_PAGE);
    cp0_write_entrylo0(frame | ENTRYLO_FLAGS);
    cp0_write_entrylo1((frame + (0x1000U >> 6)) | ENTRYLO_FLAGS);
    cp0_write_index(USER_INDEX);
    __asm__ volatile("tlbwi\n\tehb" : : : "memory");
}

/* A SYSCALL after the instruction returns to the kernel; it is not reported. */
struct caught try_user_word(uint32_t word, uint32_t a0, uint32_t a1)
{
    struct caught c;

    guard_map();
    guard_code[0] = word;
    guard_code[CODE_SYSCALL_SLOT] = WORD_SYSCALL;
    guard_sync();
    c = guard_run(USER_PAGE, a0, a1, true);
    if (c.code == EXCEPTION_SYSCALL && c.epc == USER_PAGE + 4U * CODE_SYSCALL_SLOT) {
        c.code = NO_EXCEPTION;
    }
    return c;
}
