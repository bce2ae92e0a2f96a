/* SPDX-License-Identifier: Apache-2.0 */
/* The states of harts, requests of one hart to others, and HSM (RISC-V SBI 2.0, chapter 9). Owns
 * the stacks with the harts' structures. There is no lock: other harts access `state` and
 * `requests` atomically, and write `entry` and `arg` only of a hart that they have claimed. */
#include "firmware.h"

#define ARRIVAL_TRIES 1000000U

#define HSM_STARTED 0L
#define HSM_STOPPED 1L
#define HSM_START_PENDING 2L

char fw_stacks[FIRMWARE_HARTS][FIRMWARE_STACK_SIZE] __attribute__((aligned(16)));

struct hart *hart_get(ulong id)
{
    return (struct hart *)(void *)(fw_stacks[id] + FIRMWARE_STACK_SIZE - HART_SIZE);
}

static ulong state_of(ulong id)
{
    return __atomic_load_n(&hart_get(id)->state, __ATOMIC_ACQUIRE);
}

bool harts_from_mask(ulong mask, ulong base, ulong *harts)
{
    ulong present = 0, started = 0;

    for (unsigned id = 0; id < FIRMWARE_HARTS; id++) {
        ulong state = state_of(id);

        present |= state != HART_ABSENT ? 1UL << id : 0;
        started |= state == HART_STARTED ? 1UL << id : 0;
    }
    *harts = base == ~0UL ? started : mask << (base % 64U) & started;
    return base == ~0UL || (base < FIRMWARE_HARTS && mask << base >> base == mask &&
                            (mask << base & ~present) == 0);
}

void harts_request(ulong harts, ulong request)
{
    for (unsigned id = 0; id < FIRMWARE_HARTS; id++) {
        if ((harts >> id & 1U) != 0) {
            __atomic_fetch_or(&hart_get(id)->requests, request, __ATOMIC_RELEASE);
            __asm__ volatile("fence w, o" ::: "memory");
            *hart_get(id)->msip = 1;
        }
    }
}

void hart_enter(ulong id, struct hart *hart, ulong entry, ulong arg)
{
    csr_write(CSR_MIE, 1UL << IRQ_MSI);
    csr_clear(CSR_MIP, 1UL << IRQ_SSI | 1UL << IRQ_STI | 1UL << IRQ_SEI);
    __atomic_store_n(&hart->state, HART_STARTED, __ATOMIC_RELEASE);
    fw_enter(id, arg, entry, hart);
}

/* The software interrupt ends WFI without a trap: interrupts are off in M-mode. A hart that found
 * this one started may still wait for its fence. */
void hart_wait(ulong id, struct hart *hart)
{
    csr_write(CSR_MIE, 1UL << IRQ_MSI);
    __atomic_store_n(&hart->requests, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&hart->state, HART_STOPPED, __ATOMIC_RELEASE);
    do {
        __asm__ volatile("wfi" ::: "memory");
        *hart->msip = 0;
        /* a request that comes after the loads below ends the next WFI */
        __asm__ volatile("fence o, rw" ::: "memory");
        rfence_serve(id);
    } while (state_of(id) != HART_STARTING);
    hart_enter(id, hart, hart->entry, hart->arg);
}

/* --- calls --- */

/* All harts leave reset together, but an emulator may run one of them late: waits a while for one
 * that has not arrived. A read of the CLINT takes longer than one of memory, so that the wait is
 * some time on a fast hart, too. */
static ulong await_arrival(ulong id)
{
    ulong state = HART_ABSENT;

    for (unsigned tries = 0; id < FIRMWARE_HARTS && state == HART_ABSENT && tries < ARRIVAL_TRIES;
         tries++) {
        (void)*hart_get(FIRMWARE_BOOT_HART)->mtime;
        state = state_of(id);
    }
    return state;
}

static struct sbi_ret start(ulong id, ulong entry, ulong arg)
{
    ulong state = await_arrival(id);
    struct hart *hart;

    if (state == HART_ABSENT) {
        return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
    }
    hart = hart_get(id);
    state = HART_STOPPED;
    if (!__atomic_compare_exchange_n(&hart->state, &state, HART_CLAIMED, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
        return (struct sbi_ret){SBI_ERR_ALREADY_AVAILABLE, 0};
    }
    hart->entry = entry;
    hart->arg = arg;
    __atomic_store_n(&hart->state, HART_STARTING, __ATOMIC_RELEASE);
    __asm__ volatile("fence w, o" ::: "memory");
    *hart->msip = 1;
    return (struct sbi_ret){SBI_OK, 0};
}

/* Does not return: the hart starts at another address. */
__attribute__((noreturn)) static void stop(struct hart *hart)
{
    if (hart->mtimecmp != NULL) {
        *hart->mtimecmp = ~UINT64_C(0);
    } else {
        csr_write(CSR_STIMECMP, ~0UL);
    }
    hart_wait(csr_read(CSR_MHARTID), hart);
}

static struct sbi_ret status(ulong id)
{
    ulong state = await_arrival(id);

    if (state == HART_ABSENT) {
        return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
    }
    if (state == HART_STARTED) {
        return (struct sbi_ret){SBI_OK, HSM_STARTED};
    }
    return (struct sbi_ret){SBI_OK, state == HART_STOPPED ? HSM_STOPPED : HSM_START_PENDING};
}

/* Retentive only. WFI in M-mode also ends with what HS-mode has enabled and would take. */
static struct sbi_ret suspend(ulong type)
{
    if (type != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    __asm__ volatile("wfi" ::: "memory");
    return (struct sbi_ret){SBI_OK, 0};
}

struct sbi_ret sbi_hsm(ulong fid, const ulong *args, struct hart *hart)
{
    switch (fid) {
    case 0:
        return start(args[0], args[1], args[2]);
    case 1:
        stop(hart);
    case 2:
        return status(args[0]);
    case 3:
        return suspend(args[0]);
    default:
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
}
