/* SPDX-License-Identifier: Apache-2.0 */
/* The SBI for the hypervisor: Base, TIME, IPI, and HSM's hart_start (RISC-V SBI 2.0). */
#include "firmware.h"
#include "sbi_numbers.h"

#define SBI_VERSION_2_0 0x02000000L
#define SBI_IMPLEMENTATION 0x545346L
#define SBI_FIRMWARE_VERSION 1L

#define SBI_OK 0L
#define SBI_ERR_NOT_SUPPORTED (-2L)
#define SBI_ERR_INVALID_PARAM (-3L)
#define SBI_ERR_ALREADY_AVAILABLE (-6L)

#define ARRIVAL_TRIES 1000000U

struct sbi_ret {
    long error, value;
};

static bool is_known(ulong extension)
{
    return extension == SBI_EXT_BASE || extension == SBI_EXT_TIME || extension == SBI_EXT_IPI ||
           extension == SBI_EXT_HSM;
}

static struct sbi_ret sbi_base(ulong fid, ulong extension)
{
    switch (fid) {
    case 0:
        return (struct sbi_ret){SBI_OK, SBI_VERSION_2_0};
    case 1:
        return (struct sbi_ret){SBI_OK, SBI_IMPLEMENTATION};
    case 2:
        return (struct sbi_ret){SBI_OK, SBI_FIRMWARE_VERSION};
    case 3:
        return (struct sbi_ret){SBI_OK, is_known(extension)};
    case 4:
        return (struct sbi_ret){SBI_OK, (long)csr_read(CSR_MVENDORID)};
    case 5:
        return (struct sbi_ret){SBI_OK, (long)csr_read(CSR_MARCHID)};
    case 6:
        return (struct sbi_ret){SBI_OK, (long)csr_read(CSR_MIMPID)};
    default:
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
}

/* trap.S has handled the call unless the hart has Sstc. */
static struct sbi_ret sbi_time(ulong fid, ulong deadline)
{
    if (fid != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    csr_write(CSR_STIMECMP, deadline);
    return (struct sbi_ret){SBI_OK, 0};
}

static bool is_started(ulong id)
{
    return id < FIRMWARE_HARTS && __atomic_load_n(&hart_get(id)->state, __ATOMIC_ACQUIRE) == HART_STARTED;
}

static ulong started_harts(void)
{
    ulong harts = 0;

    for (unsigned id = 0; id < FIRMWARE_HARTS; id++) {
        harts |= is_started(id) ? 1UL << id : 0;
    }
    return harts;
}

/* Base -1 means all started harts; otherwise each hart of the mask must be one. */
static struct sbi_ret sbi_ipi(ulong fid, ulong mask, ulong base)
{
    ulong started = started_harts();
    ulong harts = base == ~0UL ? started : mask << (base % 64U);

    if (fid != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    if (base != ~0UL && (base >= FIRMWARE_HARTS || harts >> base != mask || (harts & ~started) != 0)) {
        return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
    }
    __asm__ volatile("fence w, o" ::: "memory"); /* what the other harts are to see */
    for (unsigned id = 0; id < FIRMWARE_HARTS; id++) {
        if ((harts >> id & 1U) != 0) {
            *hart_get(id)->msip = 1;
        }
    }
    return (struct sbi_ret){SBI_OK, 0};
}

/* All harts leave reset together, but an emulator may run one of them late: waits a while for one that has not arrived. A read of
 * the CLINT takes longer than one of memory, so that the wait is some time on a fast hart, too. */
static ulong state_of(ulong id)
{
    ulong state = HART_ABSENT;

    for (unsigned tries = 0; id < FIRMWARE_HARTS && state == HART_ABSENT && tries < ARRIVAL_TRIES; tries++) {
        (void)*hart_get(FIRMWARE_BOOT_HART)->mtime;
        state = __atomic_load_n(&hart_get(id)->state, __ATOMIC_ACQUIRE);
    }
    return state;
}

static struct sbi_ret sbi_hsm(ulong fid, ulong id, ulong entry, ulong arg)
{
    struct hart *hart;
    ulong state;

    if (fid != 0) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    state = state_of(id);
    if (state != HART_STOPPED) {
        return (struct sbi_ret){state == HART_ABSENT ? SBI_ERR_INVALID_PARAM : SBI_ERR_ALREADY_AVAILABLE, 0};
    }
    hart = hart_get(id);
    hart->entry = entry;
    hart->arg = arg;
    __atomic_store_n(&hart->state, HART_STARTING, __ATOMIC_RELEASE);
    __asm__ volatile("fence w, o" ::: "memory");
    *hart->msip = 1;
    return (struct sbi_ret){SBI_OK, 0};
}

void sbi_handle(struct frame *frame, const struct hart *hart)
{
    struct sbi_ret ret = {SBI_ERR_NOT_SUPPORTED, 0};
    ulong fid = frame->a[6];

    switch (frame->a[7]) {
    case SBI_EXT_BASE:
        ret = sbi_base(fid, frame->a[0]);
        break;
    case SBI_EXT_TIME:
        ret = sbi_time(hart->mtimecmp == NULL ? fid : 1U, frame->a[0]);
        break;
    case SBI_EXT_IPI:
        ret = sbi_ipi(fid, frame->a[0], frame->a[1]);
        break;
    case SBI_EXT_HSM:
        ret = sbi_hsm(fid, frame->a[0], frame->a[1], frame->a[2]);
        break;
    default:
        break;
    }
    frame->a[0] = (ulong)ret.error;
    frame->a[1] = (ulong)ret.value;
}
