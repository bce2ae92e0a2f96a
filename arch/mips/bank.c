/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPR shadow sets. The hypervisor uses the highest. Each VCPU has one of the others while enough
 * are free; after that, the VCPU that has not run for longest loses its set and its registers go to
 * memory.
 */
#include "internal.h"

struct vcpu *bank_owner[BANKS_MAX + 1]; /* [BANK_NONE] is NULL */
static ulong banks;                     /* number of banks for VCPUs; owner: bank_init() */

void bank_init(ulong highest)
{
    banks = highest;
}

void bank_release(struct vcpu *v)
{
    if (bank_owner[v->arch.bank] == v) {
        bank_owner[v->arch.bank] = NULL;
    }
    v->arch.bank = BANK_NONE;
}

/* Makes RDPGPR and WRPGPR access the bank. */
static void bank_reach(ulong bank)
{
    ulong srsctl = cp0_read(CP0_SRSCTL);

    cp0_write(CP0_SRSCTL,
              (srsctl & ~(ulong)(SRSCTL_SET << SRSCTL_PSS_SHIFT)) | bank << SRSCTL_PSS_SHIFT);
    ehb();
}

/* Time since the bank's VCPU ran. It is wrong after a wrap of Count, which costs one more exchange,
 * and while the VCPU's Count is stopped, which costs more of them. */
static inline ulong bank_age(ulong bank, ulong now)
{
    const struct vcpu *v = bank_owner[bank];

    return v == NULL ? ~0UL : now - (v->arch.count - v->arch.gtoffset);
}

static ulong bank_oldest(void)
{
    ulong now = cp0_read(CP0_COUNT), oldest = 0, longest = banks > 1 ? bank_age(0, now) : 0;

    for (ulong bank = 1; bank < banks; bank++) {
        ulong age = bank_age(bank, now);

        if (age > longest) {
            longest = age;
            oldest = bank;
        }
    }
    return oldest;
}

void bank_take(struct vcpu *v)
{
    ulong bank = bank_oldest();
    struct vcpu *before = bank_owner[bank];

    bank_reach(bank);
    if (before != NULL) {
        bank_save(before);
        before->arch.bank = BANK_NONE;
    }
    bank_load(v);
    bank_owner[bank] = v;
    v->arch.bank = bank;
    v->arch.srsctl = cp0_read(CP0_SRSCTL); /* with the bank in PSS */
}

void bank_sync(struct vcpu *v)
{
    ulong srsctl = cp0_read(CP0_SRSCTL);

    if (bank_owner[v->arch.bank] == v) {
        bank_reach(v->arch.bank);
        bank_save(v);
        cp0_write(CP0_SRSCTL, srsctl);
        ehb();
    }
}
