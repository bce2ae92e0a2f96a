/* SPDX-License-Identifier: Apache-2.0 */
/* SBI for guests (RISC-V SBI 2.0): dispatch, the Base extension, and the extension of the
 * hypercalls. */
#include "internal.h"
#include "system.h"
#include "trace.h"
#include "version.h"

#define INSN_ECALL_SIZE 4U
#define SBI_VERSION_2_0 0x02000000UL
#define SBI_IMPLEMENTATION 0x545353UL

extern const struct sbi_extension __start_sbi_extensions[], __stop_sbi_extensions[];

/* For trap.S: arguments are the guest's registers. */
struct hcall_ret sbi_ecall(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5, ulong fid,
                           ulong eid);

struct hcall_ret sbi_ecall(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5, ulong fid,
                           ulong eid)
{
    for (const struct sbi_extension *e = __start_sbi_extensions; e < __stop_sbi_extensions; e++) {
        if (e->id == eid) {
            return e->fn(a0, a1, a2, a3, a4, a5, fid);
        }
    }
    return SBI_RET(HCALL_ERR_NOT_SUPPORTED);
}

bool sbi_known(ulong id)
{
    for (const struct sbi_extension *e = __start_sbi_extensions; e < __stop_sbi_extensions; e++) {
        if (e->id == id) {
            return true;
        }
    }
    return false;
}

bool sbi_mask(const struct vm *vm, ulong mask, ulong base, ulong *vcpus)
{
    ulong all = (1UL << vm->nvcpus) - 1U;

    *vcpus = all;
    if (base == ~0UL) { /* all VCPUs; the mask is ignored */
        return true;
    }
    *vcpus = base < vm->nvcpus ? mask << base : 0;
    return (base < vm->nvcpus ? mask & ~(all >> base) : mask) == 0;
}

static struct hcall_ret sbi_base(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                 ulong fid)
{
    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    switch (fid) {
    case SBI_BASE_GET_SPEC_VERSION:
        return SBI_VALUE(SBI_VERSION_2_0);
    case SBI_BASE_GET_IMPL_ID:
        return SBI_VALUE(SBI_IMPLEMENTATION);
    case SBI_BASE_GET_IMPL_VERSION:
        return SBI_VALUE(TESSERA_VERSION_NUMBER);
    case SBI_BASE_PROBE_EXTENSION:
        return SBI_VALUE(sbi_known(a0) ? 1U : 0U);
    case SBI_BASE_GET_MVENDORID: /* of the machine, for errata */
    case SBI_BASE_GET_MARCHID:
    case SBI_BASE_GET_MIMPID:
        return sbi_call(SBI_EXT_BASE, fid, 0, 0, 0);
    default:
        return SBI_RET(HCALL_ERR_NOT_SUPPORTED);
    }
}
SBI_EXTENSION(SBI_EXT_BASE, sbi_base, 10);

struct hcall_ret sbi_again(ulong a0, ulong a1)
{
    csr_write(CSR_SEPC, csr_read(CSR_SEPC) - INSN_ECALL_SIZE);
    return (struct hcall_ret){(long)a0, a1};
}

/* Hypercalls with tracing. Without a trace, assembly calls the table directly; the extension must
 * be registered for SBI's probe function anyway. */
static struct hcall_ret sbi_hcall(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                  ulong number)
{
    struct hcall_ret ret = hypercall_dispatch(a0, a1, a2, a3, a4, a5, number);

    hypercall_trace(number, a0, ret);
    return ret.error == HCALL_AGAIN ? sbi_again(a0, a1) : ret;
}
SBI_EXTENSION(HCALL_EXTENSION, sbi_hcall, 40);
