/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine really has: each optional CSR and instruction is tried once, before anything else touches it. */
#include "arch.h"
#include "internal.h"
#include "system.h"

struct probe_result {
    ulong value;
    ulong ok;
};

typedef ulong probe_fn(ulong);

struct probe_result probe_run(probe_fn *try, ulong arg);
probe_fn probe_hstatus, probe_htimedelta, probe_henvcfg, probe_senvcfg, probe_stimecmp, probe_vstimecmp;
probe_fn probe_instret, probe_time, probe_sh1add, probe_clz, probe_bseti, probe_cbo_clean, probe_cbo_zero, probe_sinval;
probe_fn probe_load;

bool riscv_sstc, riscv_envcfg;

static struct {
    uint32_t features; /* bit n: enum sysimage_feature n */
    bool instret;
} machine; /* owner: this file; constant after boot */

static bool works(probe_fn *try)
{
    static uint64_t scratch[16]; /* what a cache-block operation may clear */
    return probe_run(try, ((ulong)scratch + 63U) & ~63UL).ok != 0;
}

/* Sets bits in henvcfg and sees whether they stick (they are WARL); leaves them as they stuck. */
static bool henvcfg_takes(ulong bits)
{
    csr_set(CSR_HENVCFG, bits);
    return (csr_read(CSR_HENVCFG) & bits) == bits;
}

static void found(enum sysimage_feature feature, uint32_t mask, bool there)
{
    if (there && (mask & (1U << feature)) == 0) {
        machine.features |= 1U << feature;
    }
}

bool arch_has(enum sysimage_feature feature)
{
    return feature < SYSIMAGE_FEATURE_COUNT && (machine.features & (1U << feature)) != 0;
}

uint64_t arch_instret(void)
{
    return machine.instret ? csr_read(CSR_INSTRET) : 0;
}

bool probe_hypervisor(void)
{
    machine.instret = works(probe_instret);
    hyp.entered = arch_instret();
    return works(probe_hstatus);
}

static void probe_environment(uint32_t mask)
{
    found(SYSIMAGE_FEATURE_ENVCFG, mask, works(probe_henvcfg) && works(probe_senvcfg));
    if (!arch_has(SYSIMAGE_FEATURE_ENVCFG)) {
        return;
    }
    csr_write(CSR_HENVCFG, 0);
    found(SYSIMAGE_FEATURE_SSTC, mask, works(probe_stimecmp) && works(probe_vstimecmp) && henvcfg_takes(HENVCFG_STCE));
    found(SYSIMAGE_FEATURE_SVADU, mask, henvcfg_takes(HENVCFG_ADUE));
    found(SYSIMAGE_FEATURE_ZICBOM, mask, henvcfg_takes(HENVCFG_CBCFE | HENVCFG_CBIE) && works(probe_cbo_clean));
    found(SYSIMAGE_FEATURE_ZICBOZ, mask, henvcfg_takes(HENVCFG_CBZE) && works(probe_cbo_zero));
}

void probe_paging(uint32_t mask)
{
    ulong va = hostmap_pbmt_page(cpu_self());

    found(SYSIMAGE_FEATURE_SVPBMT, mask,
          arch_has(SYSIMAGE_FEATURE_ENVCFG) && probe_run(probe_load, va).ok != 0 && henvcfg_takes(HENVCFG_PBMTE));
}

const char *probe_machine(uint32_t mask)
{
    if (!works(probe_time)) {
        return "the time CSR (mcounteren.TM)";
    }
    probe_environment(mask);
    found(SYSIMAGE_FEATURE_HTIMEDELTA, mask, works(probe_htimedelta));
    found(SYSIMAGE_FEATURE_HTINST, mask, true); /* the CSR is always there; exit.c copes where it reads 0 */
    found(SYSIMAGE_FEATURE_ZBA, mask, works(probe_sh1add));
    found(SYSIMAGE_FEATURE_ZBB, mask, works(probe_clz));
    found(SYSIMAGE_FEATURE_ZBS, mask, works(probe_bseti));
    found(SYSIMAGE_FEATURE_SVINVAL, mask, works(probe_sinval));
    riscv_sstc = arch_has(SYSIMAGE_FEATURE_SSTC);
    riscv_envcfg = arch_has(SYSIMAGE_FEATURE_ENVCFG);
    return NULL;
}
