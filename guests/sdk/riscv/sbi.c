/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the calls of the SBI's extensions (sbi.h). Owns no state. */
#include "sbi.h"

#include "csr.h"

#define SBI_TIME_SET_TIMER 0UL
#define SBI_IPI_SEND 0UL
#define SBI_RFENCE_FENCE_I 0UL
#define SBI_RFENCE_SFENCE_VMA 1UL
#define SBI_RFENCE_SFENCE_VMA_ASID 2UL
#define SBI_HSM_START 0UL
#define SBI_HSM_STOP 1UL
#define SBI_HSM_STATUS 2UL
#define SBI_SRST_RESET 0UL
#define SBI_DBCN_WRITE 0UL

/* RFENCE calls have up to five arguments; a separate function keeps sbi_call() at three. */
static struct sbi_ret sbi_rfence(unsigned long function, struct sbi_harts harts,
                                 unsigned long start, unsigned long size, unsigned long asid)
{
    register unsigned long a0 __asm__("a0") = harts.mask;
    register unsigned long a1 __asm__("a1") = harts.base;
    register unsigned long a2 __asm__("a2") = start;
    register unsigned long a3 __asm__("a3") = size;
    register unsigned long a4 __asm__("a4") = asid;
    register unsigned long a6 __asm__("a6") = function;
    register unsigned long a7 __asm__("a7") = SBI_EXT_RFENCE;

    __asm__ volatile("ecall"
                     : "+r"(a0), "+r"(a1)
                     : "r"(a2), "r"(a3), "r"(a4), "r"(a6), "r"(a7)
                     : "memory");
    return (struct sbi_ret){.error = (long)a0, .value = (long)a1};
}

unsigned long sbi_spec_version(void)
{
    return (unsigned long)sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0).value;
}

bool sbi_probe(unsigned long extension)
{
    struct sbi_ret ret = sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE, extension, 0, 0);

    return ret.error == HCALL_OK && ret.value != 0;
}

struct sbi_ret sbi_set_timer(uint64_t deadline)
{
    return sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, deadline, 0, 0);
}

struct sbi_ret sbi_send_ipi(struct sbi_harts harts)
{
    return sbi_call(SBI_EXT_IPI, SBI_IPI_SEND, harts.mask, harts.base, 0);
}

struct sbi_ret sbi_remote_fence_i(struct sbi_harts harts)
{
    return sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_FENCE_I, harts.mask, harts.base, 0);
}

struct sbi_ret sbi_remote_sfence_vma(struct sbi_harts harts, unsigned long start,
                                     unsigned long size)
{
    return sbi_rfence(SBI_RFENCE_SFENCE_VMA, harts, start, size, 0);
}

struct sbi_ret sbi_remote_sfence_vma_asid(struct sbi_harts harts, unsigned long start,
                                          unsigned long size, unsigned long asid)
{
    return sbi_rfence(SBI_RFENCE_SFENCE_VMA_ASID, harts, start, size, asid);
}

struct sbi_ret sbi_hart_start(unsigned long hart, unsigned long entry, unsigned long opaque)
{
    return sbi_call(SBI_EXT_HSM, SBI_HSM_START, hart, entry, opaque);
}

struct sbi_ret sbi_hart_stop(void)
{
    return sbi_call(SBI_EXT_HSM, SBI_HSM_STOP, 0, 0, 0);
}

struct sbi_ret sbi_hart_status(unsigned long hart)
{
    return sbi_call(SBI_EXT_HSM, SBI_HSM_STATUS, hart, 0, 0);
}

struct sbi_ret sbi_system_reset(enum sbi_reset_type type, enum sbi_reset_reason reason)
{
    return sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, (unsigned long)type, (unsigned long)reason, 0);
}

struct sbi_ret sbi_console_write(const char *bytes, size_t count)
{
    return sbi_call(SBI_EXT_DBCN, SBI_DBCN_WRITE, count, (uintptr_t)bytes, 0);
}

_Noreturn void sbi_shutdown(enum sbi_reset_reason reason)
{
    (void)sbi_system_reset(SBI_RESET_SHUTDOWN, reason);
    csr_clear_sstatus(SSTATUS_SIE);
    csr_write_sie(0);
    for (;;) {
        csr_wait_for_interrupt();
    }
}
