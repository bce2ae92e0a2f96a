/* SPDX-License-Identifier: Apache-2.0 */
/* The sequence of an overlay's transaction. Each step is a section of its own, so that other work
 * comes in between. */
#include "overlay.h"

#include "arch.h"
#include "lib.h"
#include "sched.h"
#include "system.h"

/* between checks for what the fabric does not report: that a restored job runs */
#define POLL_US 50U
#define LIMIT_US 10000000U /* of a phase that waits for others */

struct sequence {
    uint8_t number; /* ACCEL_PHASE_* */
    overlay_phase *phase;
};

static const struct sequence applying[] = {
    {ACCEL_PHASE_LDTO, overlay_ldto}, {ACCEL_PHASE_LFW, overlay_lfw},
    {ACCEL_PHASE_DCPL, overlay_dcpl}, {ACCEL_PHASE_LCFG, overlay_lcfg},
    {ACCEL_PHASE_CPL, overlay_cpl},   {ACCEL_PHASE_UPDT, overlay_updt},
    {ACCEL_PHASE_LDRV, overlay_ldrv}, {0, NULL},
};
static const struct sequence removing[] = {{ACCEL_PHASE_UDTO, overlay_udto},
                                           {ACCEL_PHASE_UDRV, overlay_udrv},
                                           {ACCEL_PHASE_DCPL, overlay_open},
                                           {0, NULL}};
static const struct sequence reverting[] = {{0, overlay_rollback}, {0, NULL}};

/* As struct accel_overlay (accel_abi.h) reports it. */
struct overlay {
    uint32_t state, failed, region;
    ticks_t ticks[ACCEL_PHASES]; /* of the last transaction, by ACCEL_PHASE_* */
};

/* owner: this file, all of them; guarded by accels.lock */
static struct overlay overlays[ACCEL_MAX_OVERLAYS];
static struct overlay_run run;
static const struct sequence *step;
static const struct vm *starter; /* of the transaction */
static ticks_t begun;            /* the phase */
static uint32_t transactions;
static struct timer poll;

static void wake_later(void)
{
    spin_lock(&sched_lock);
    timer_arm(&poll, arch_time() + (ticks_t)POLL_US * hyp.us);
    spin_unlock(&sched_lock);
}

static void poll_expired(struct timer *t)
{
    (void)t;
    spin_lock(&accels.lock);
    accel_overlay_wake();
    accel_unlock();
}

static void begin(const struct sequence *s)
{
    step = s;
    run.at = 0;
    begun = arch_time();
    accel_overlay_wake();
}

static void finish(struct overlay *o)
{
    struct accel_vm *c = accel_vm_of(starter);

    o->state = o->state == ACCEL_OVERLAY_APPLYING && o->failed == ACCEL_OVERLAY_NONE
                   ? ACCEL_OVERLAY_APPLIED
                   : ACCEL_OVERLAY_REMOVED;
    transactions++;
    accels.overlay_runs = false;
    if (c != NULL) {
        accel_post_vm_event(c, ACCEL_EVENT_OVERLAY);
    }
}

static void note_time(struct overlay *o)
{
    if (step != reverting) {
        o->ticks[step->number] = arch_time() - begun;
    }
}

static void fail(struct overlay *o)
{
    static const char *const phases[] = {"LDTO", "LFW", "DCPL", "LCFG", "CPL"};

    o->failed = step->number;
    o->region = run.region;
    accels.report = "error: overlay %s: %s failed for region %lu";
    accels.args =
        (struct accel_report_args){{run.config->name, phases[step->number]}, run.region, 0};
    begin(reverting);
}

static void next(struct overlay *o)
{
    if (step[1].phase == NULL) {
        finish(o);
    } else {
        begin(step + 1);
    }
}

static bool is_late(void)
{
    return arch_time() - begun > (ticks_t)LIMIT_US * hyp.us;
}

static void advance(struct overlay *o, enum overlay_outcome outcome)
{
    switch (outcome) {
    case OVERLAY_DONE:
        note_time(o);
        next(o);
        break;
    case OVERLAY_AGAIN:
        accel_overlay_wake();
        break;
    case OVERLAY_FAILED:
        note_time(o);
        fail(o);
        break;
    case OVERLAY_SLEEPS:
        break;
    default:
        wake_later();
    }
}

void accel_overlay_step(void)
{
    accels.overlay_due = false;
    if (accels.overlay_runs) {
        enum overlay_outcome outcome = step->phase(&run);

        outcome = outcome == OVERLAY_WAITS && is_late() ? OVERLAY_FAILED : outcome;
        advance(&overlays[run.number], outcome);
    }
}

bool overlay_start(unsigned number, bool apply, const struct vm *vm)
{
    const struct accel_image_overlay *configs = accel_table(accels.image->overlays_offset);
    struct overlay *o = &overlays[number];

    if (accels.overlay_runs ||
        o->state != (apply ? ACCEL_OVERLAY_REMOVED : ACCEL_OVERLAY_APPLIED)) {
        return false;
    }
    *o = (struct overlay){.state = apply ? ACCEL_OVERLAY_APPLYING : ACCEL_OVERLAY_REMOVING,
                          .failed = ACCEL_OVERLAY_NONE,
                          .region = ACCEL_OVERLAY_NONE};
    run = (struct overlay_run){
        .config = &configs[number], .number = number, .region = ACCEL_OVERLAY_NONE};
    starter = vm;
    accels.overlay_runs = true;
    begin(apply ? applying : removing);
    return true;
}

void overlay_get_status(unsigned number, struct accel_overlay *status)
{
    const struct accel_image_overlay *configs = accel_table(accels.image->overlays_offset);
    const struct overlay *o = &overlays[number];

    memcpy(status->name, configs[number].name, sizeof(status->name));
    status->state = o->state;
    status->failed = o->failed;
    status->region = o->region;
    status->transactions = transactions;
    for (unsigned i = 0; i < ACCEL_PHASES; i++) {
        status->ticks[i] = o->ticks[i];
    }
}

/* --- at boot --- */

static bool rows_fit(uint32_t first, uint32_t count, uint32_t most)
{
    return first <= most && count <= most - first;
}

static bool overlay_fits(const struct accel_image *image, const struct accel_image_overlay *o)
{
    const struct accel_image_fragment *f = accel_table(image->fragments_offset);
    bool fits = rows_fit(o->first_fragment, o->nfragments, image->nfragments) &&
                o->nfragments != 0 && o->nfragments <= ACCEL_MAX_REGIONS &&
                rows_fit(o->first_provided, o->nprovided, image->nprovided) &&
                o->nprovided <= ACCEL_MAX_PROVIDED;

    for (unsigned i = 0; i < o->nfragments && fits; i++) {
        const struct accel_image_fragment *one = &f[o->first_fragment + i];

        fits = one->region < accels.nregions && one->device < image->ndevices;
    }
    return fits;
}

static bool provide(const struct accel_image_provided *p)
{
    struct accel *a = p->client < accels.image->nclients && p->device < ACCEL_MAX_DEVICES
                          ? accels.clients[p->client].accels[p->device]
                          : NULL;

    if (a != NULL) {
        a->present = false;
        a->state = ACCEL_ABSENT;
    }
    return a != NULL;
}

const char *accel_overlays_init(void)
{
    const struct accel_image_overlay *o = accel_table(accels.image->overlays_offset);
    const struct accel_image_provided *p = accel_table(accels.image->provided_offset);
    bool sound = true;

    for (unsigned i = 0; i < accels.image->noverlays; i++) {
        overlays[i] = (struct overlay){.failed = ACCEL_OVERLAY_NONE, .region = ACCEL_OVERLAY_NONE};
        sound = sound && overlay_fits(accels.image, &o[i]);
    }
    for (unsigned i = 0; i < accels.image->nprovided; i++) {
        sound = sound && provide(&p[i]);
    }
    accels.overlay_runs = false;
    transactions = 0;
    timer_init(&poll, poll_expired);
    poll.unlocked = true;
    return sound ? NULL : "an overlay of the image names a region or a device that does not exist";
}
