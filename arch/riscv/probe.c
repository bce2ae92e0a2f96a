/* SPDX-License-Identifier: Apache-2.0 */
/* Feature detection at boot: each optional CSR and instruction is tried once, by the code of
 * probe.S, before it is used. Features that the system image hides are not tried. Owns the results,
 * which arch_has() returns and riscv_facts has; constant after boot. */
#include "arch.h"
#include "arch_device.h"
#include "component.h"
#include "internal.h"
#include "system.h"

/* What the assembly of probe.S returns. */
struct probe_result {
    ulong value; /* that was read */
    ulong ok;    /* 0: the access has trapped */
};

typedef ulong probe_fn(ulong);

struct probe_result probe_run(probe_fn *try, ulong arg);
probe_fn probe_hstatus, probe_htimedelta, probe_henvcfg, probe_senvcfg, probe_stimecmp,
    probe_vstimecmp;
probe_fn probe_instret, probe_time, probe_sh1add, probe_clz, probe_bseti, probe_cbo_clean,
    probe_cbo_zero, probe_sinval;
probe_fn probe_load, probe_hstateen0, probe_wrs_sto;

struct riscv_facts riscv_facts;

static struct {
    uint32_t features; /* bit n: enum riscv_feature n */
    uint32_t hidden;   /* features that the system image hides */
    bool instret;      /* the CSR can be read */
    bool vstimecmp;    /* vstimecmp works, even if Sstc is hidden */
    bool hstateen;     /* the CSRs exist */
} machine;             /* owner: this file; constant after boot */

bool arch_device_probe(hpa_t address, uint64_t *value)
{
    struct probe_result result = probe_run(probe_load, address);

    *value = result.value;
    return result.ok != 0;
}

#define LONGEST_BLOCK 256U /* of a cache-block operation, in bytes */

/* What probes may change: a cache-block operation clears the block at the start. Owner: this file,
 * at boot. */
static uint64_t scratch[LONGEST_BLOCK / sizeof(uint64_t)] __attribute__((aligned(LONGEST_BLOCK)));

static bool works(probe_fn *try)
{
    return probe_run(try, (ulong)scratch).ok != 0;
}

/* Bytes that cbo.zero clears; 0 if it clears all of `scratch`, because the block may be larger.
 * Memory without a data cache, as an alias for DMA is, may refuse the instruction. */
static uint16_t zero_block_size(void)
{
    const unsigned words = sizeof(scratch) / sizeof(scratch[0]);
    unsigned cleared = 0;

    if (BOARD_DMA_ALIAS != 0 || !arch_has(RISCV_FEATURE_ZICBOZ)) {
        return 0;
    }
    for (unsigned i = 0; i < words; i++) {
        scratch[i] = ~UINT64_C(0);
    }
    if (works(probe_cbo_zero)) {
        while (cleared < words && *(volatile uint64_t *)&scratch[cleared] == 0) {
            cleared++;
        }
    }
    return (uint16_t)(cleared < words ? cleared * sizeof(scratch[0]) : 0U);
}

/* Sets bits in henvcfg (WARL) and checks that they stick; leaves them set if so. */
static bool henvcfg_takes(ulong bits)
{
    csr_set(CSR_HENVCFG, bits);
    return (csr_read(CSR_HENVCFG) & bits) == bits;
}

/* How to detect a feature: henvcfg bits that must stick, and an access or instruction that must
 * work; NULL: not needed. */
struct trial {
    enum riscv_feature feature;
    probe_fn *csr; /* must work before henvcfg is written */
    ulong henvcfg;
    probe_fn *use; /* must work with the bits set */
};

/* Hidden features are not tried. */
static void seek(const struct trial *t)
{
    bool there =
        (machine.hidden & (1U << t->feature)) == 0 && (t->csr == NULL || works(t->csr)) &&
        (t->henvcfg == 0 || (arch_has(RISCV_FEATURE_ENVCFG) && henvcfg_takes(t->henvcfg))) &&
        (t->use == NULL || works(t->use));

    machine.features |= there ? 1U << t->feature : 0;
}

bool arch_has(unsigned feature)
{
    return feature < RISCV_FEATURE_COUNT && (machine.features & (1U << feature)) != 0;
}

uint64_t arch_instret(void)
{
    return machine.instret ? csr_read(CSR_INSTRET) : 0;
}

/* In QEMU 10.0 a write of htimedelta makes the VS timer raise its interrupt, even without
 * henvcfg.STCE. */
void probe_rest_timer(void)
{
    if (machine.vstimecmp) {
        csr_write(CSR_VSTIMECMP, ~0UL);
    }
}

void probe_allow_senvcfg(void)
{
    if (machine.hstateen) {
        csr_write(CSR_HSTATEEN0, riscv_facts.envcfg ? HSTATEEN0_ENVCFG : 0);
    }
}

bool probe_hypervisor(void)
{
    machine.instret = works(probe_instret);
    hyp.entered = arch_instret();
    return works(probe_hstatus);
}

void probe_paging(void)
{
    static const struct trial pbmt = {RISCV_FEATURE_SVPBMT, NULL, HENVCFG_PBMTE, NULL};

    if (probe_run(probe_load, hostmap_pbmt_page(cpu_self())).ok != 0) {
        seek(&pbmt);
    }
}

bool probe_readable(ulong start, ulong size)
{
    return probe_run(probe_load, start).ok != 0 &&
           probe_run(probe_load, (start + size - 8U) & ~7UL).ok != 0;
}

void probe_seed(ulong tree, ulong size)
{
    if ((machine.hidden & (1U << RISCV_FEATURE_SEED)) == 0 && probe_readable(tree, size) &&
        components_boot_seed((uint8_t *)tree, (uint32_t)size)) {
        machine.features |= 1U << RISCV_FEATURE_SEED;
    }
}

const char *probe_machine(const struct sysimage_header *image)
{
    static const struct trial envcfg = {RISCV_FEATURE_ENVCFG, probe_henvcfg, 0, probe_senvcfg};
    static const struct trial trials[] = {
        {RISCV_FEATURE_SSTC, probe_stimecmp, HENVCFG_STCE, probe_vstimecmp},
        {RISCV_FEATURE_SVADU, NULL, HENVCFG_ADUE, NULL},
        {RISCV_FEATURE_ZICBOM, NULL, HENVCFG_CBCFE | HENVCFG_CBIE, probe_cbo_clean},
        {RISCV_FEATURE_ZICBOZ, NULL, HENVCFG_CBZE, probe_cbo_zero},
        {RISCV_FEATURE_HTIMEDELTA, probe_htimedelta, 0, NULL},
        {RISCV_FEATURE_HTINST, NULL, 0, NULL}, /* the CSR always exists; exit.c copes with 0 */
        {RISCV_FEATURE_ZBA, NULL, 0, probe_sh1add},
        {RISCV_FEATURE_ZBB, NULL, 0, probe_clz},
        {RISCV_FEATURE_ZBS, NULL, 0, probe_bseti},
        {RISCV_FEATURE_SVINVAL, NULL, 0, probe_sinval},
        {RISCV_FEATURE_ZAWRS, NULL, 0, probe_wrs_sto},
    };

    if (!works(probe_time)) {
        return "the time CSR (mcounteren.TM)";
    }
    if (image->trace_kib != 0 && !machine.instret) {
        return "the instret CSR (mcounteren.IR), which the trace needs";
    }
    machine.hidden = image->machine_mask;
    machine.vstimecmp = works(probe_vstimecmp);
    machine.hstateen = works(probe_hstateen0);
    seek(&envcfg);
    if (arch_has(RISCV_FEATURE_ENVCFG)) {
        csr_write(CSR_HENVCFG, 0);
    }
    for (unsigned i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        seek(&trials[i]);
    }
    riscv_facts.sstc = arch_has(RISCV_FEATURE_SSTC);
    riscv_facts.envcfg = arch_has(RISCV_FEATURE_ENVCFG);
    if (ARCH_TIME_SLOW && probe_run(probe_load, BOARD_MTIME).ok != 0) {
        riscv_facts.mtime = (const volatile uint64_t *)BOARD_MTIME;
    }
    riscv_facts.uniprocessor = image->nharts == 1;
    riscv_facts.zero_block = zero_block_size();
    return NULL;
}
