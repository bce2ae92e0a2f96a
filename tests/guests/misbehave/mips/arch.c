/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest that misbehaves, on MIPS32. Addresses are virtual; kseg0 and kseg1 are unmapped
 * segments.
 */
#include "cp0.h"
#include "hcall.h"
#include "ipc_abi.h"
#include "misbehave.h"
#include "trap.h"

#define MISBEHAVE_KSEG0 0x80000000U

/* return address of a call to an invalid address (access.S) */
extern volatile uint32_t misbehave_return;

/* Bus errors do not change BadVAddr. */
static bool misbehave_has_address(uint32_t code)
{
    return code >= EXCEPTION_MODIFIED && code <= EXCEPTION_ADDRESS_STORE;
}

static bool misbehave_handler(struct trap_frame *frame, uint32_t code)
{
    if (code == EXCEPTION_RESERVED) {
        return false; /* possibly a hypercall without a hypervisor, which the SDK answers */
    }
    misbehave_caught(code, misbehave_has_address(code) ? frame->badvaddr : 0, frame->epc);
    if (code == EXCEPTION_BUS_FETCH ||
        (misbehave_has_address(code) && frame->badvaddr == frame->epc)) {
        frame->epc = misbehave_return;
    } else {
        frame->epc += 4; /* no access of access.S is in a delay slot */
    }
    return true;
}

void arch_init(unsigned long hart)
{
    (void)hart;
    trap_set_exception(misbehave_handler);
}

/* HYPCALL 1 ends the VM; `how` is the kind of end. */
static long misbehave_end(unsigned long how)
{
    register unsigned long v0 __asm__("$2");
    register unsigned long a0 __asm__("$4") = how;
    register unsigned long a1 __asm__("$5") = 0;

    __asm__ volatile(".set push\n\t.set virt\n\thypcall 1\n\t.set pop"
                     : "=r"(v0)
                     : "r"(a0), "r"(a1)
                     : "$3", "memory");
    return (long)v0;
}

/* HYPCALL with an unknown code. */
static long misbehave_no_code(void)
{
    register unsigned long v0 __asm__("$2");

    __asm__ volatile(".set push\n\t.set virt\n\thypcall 63\n\t.set pop"
                     : "=r"(v0)
                     :
                     : "$3", "memory");
    return (long)v0;
}

void arch_warm_reboot(void)
{
    (void)misbehave_end(2);
}

void arch_bad_calls(unsigned long address, long errors[ARCH_BAD_CALLS])
{
    errors[0] = hcall_call(0x12345678UL, 0, 0, 0).error;
    errors[1] = hcall_call(~0UL, address, address, address).error;
    errors[2] = hcall_call(1000, address, address, address).error;
    /* not guest-physical */
    errors[3] = hcall_call(HCALL_IPC_RECV_MSG, address | MISBEHAVE_KSEG0, 128, 0).error;
    errors[4] = misbehave_no_code();
    errors[5] = misbehave_end(1000);
}

void arch_listen(uint32_t line, bool on)
{
    (void)line;
    (void)on;
}

const struct misbehave_command arch_commands[] = {{NULL, NULL, NULL}};
