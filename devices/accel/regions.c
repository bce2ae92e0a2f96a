/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the fabric, its answers, and what they ask of the manager: connect an IF, or have its
 * region configured first. */
#include "accel.h"

/* reads; the answer is valid three cycles after the request, and a read takes two */
#define ANSWER_TRIES 8U

enum {
    METHOD_UNAVAILABLE,
    METHOD_ASSIGN,
    METHOD_PREEMPT
}; /* SOLUTION.method */

static void connect(struct accel *a, unsigned region)
{
    accel_write(FABRIC_REGS_PRR_CONNECT + region * FABRIC_REGS_PRR_CONNECT_STRIDE, a->connect);
    accels.regions[region].owner = a;
    accel_connected(a, region);
}

/* The job of `a` is being stopped: makes its page read-only already, so that less is left to do for
 * the client that waits. A write before the job has stopped makes it writable again. */
static void prepare_loss(const struct accel *a)
{
    if (a != NULL) {
        arch_page_forbid_writes(&a->page);
    }
}

/* Counts the path of a solution for `a`. Returns whether the job of another client has to stop for
 * it. */
static bool note_path(struct accel *a, uint64_t solution)
{
    bool preempts = ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_METHOD) == METHOD_PREEMPT;

    a->stats.paths[2U * preempts + ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_RECONFIG)]++;
    a->state = ACCEL_WAITING;
    return preempts;
}

/* The region is its promised client's, or has expired before the manager looked, and may have
 * another client. */
static void end_promise(struct region *region, const struct accel *owner)
{
    struct accel *promised = region->promised;

    region->promised = NULL;
    if (promised != NULL && promised != owner && promised->state == ACCEL_WAITING) {
        accel_lost(promised, false);
    }
}

static void promise(struct accel *a, unsigned number)
{
    struct region *region = &accels.regions[number];

    end_promise(region, a);
    region->promised = a;
    region->preempted = region->owner;
    prepare_loss(region->owner);
}

/* Does what the answer to a request of `a` allows at once: connects it, or has its region
 * configured. Before that, the region's job may have to stop: accel_update_region() continues
 * then. */
static void apply(struct accel *a, uint64_t solution)
{
    unsigned region = (unsigned)ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_PRR);
    struct region *r = &accels.regions[region];
    struct accel *before = r->owner;

    if (note_path(a, solution)) {
        promise(a, region);
        return;
    }
    if (ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_RECONFIG) != 0) {
        r->owner = a;
        accel_configure(region);
    } else {
        connect(a, region);
    }
    if (before != NULL && before != a) {
        accel_lost(before, false); /* its job had ended, or had not begun */
    }
}

uint64_t accel_query(uint64_t request)
{
    uint64_t solution = 0;

    accel_write(FABRIC_REGS_REQUEST, request);

    for (unsigned i = 0; i < ANSWER_TRIES && ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_VALID) == 0;
         i++) {
        solution = accel_read(FABRIC_REGS_SOLUTION);
    }
    return solution;
}

void accel_request_region(struct accel *a)
{
    uint64_t solution = accel_query(a->request);

    a->stats.requests++;
    if (ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_METHOD) == METHOD_UNAVAILABLE) {
        a->state =
            ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_LISTED) != 0 ? ACCEL_WAITING : ACCEL_IDLE;
        a->stats.waits++;
    } else {
        apply(a, solution);
    }
}

/* The region has a client that waits for it: `status` is the region's. */
static void configure_or_connect(struct accel *a, unsigned region, uint64_t status)
{
    ulong state = ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_STATE);

    if (state == ACCEL_REGION_HOLD && (ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_CONNECTED) == 0 ||
                                       a->state != ACCEL_CONNECTED)) {
        connect(a, region);
    } else if (state == ACCEL_REGION_RECONFIG) {
        a->state = ACCEL_WAITING;
        accel_configure(region);
    }
}

/* Whether a region in this state may have been promised to another client than its own. */
static bool is_preempting(ulong state)
{
    return state == ACCEL_REGION_PREEMPT || state == ACCEL_REGION_SWITCH;
}

bool accel_job_leaves(void)
{
    bool found = false;

    for (unsigned i = 0; i < accels.nregions; i++) {
        found = found || ACCEL_FIELD(accel_region_status(i), FABRIC_REGS_PRR_STATUS_STATE) ==
                             ACCEL_REGION_SWITCH;
    }
    return found;
}

/* Its VM does not stop, and the device is not being removed. */
static bool may_have_regions(const struct accel *a)
{
    return !a->client->stopping && a->state != ACCEL_ABSENT;
}

bool accel_update_region(unsigned number)
{
    struct region *region = &accels.regions[number];
    uint64_t status = accel_region_status(number);
    struct accel *before = region->owner, *owner = accel_owner_of(status);
    bool preempted = region->promised != NULL, loses;

    if (!is_preempting(ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_STATE)) ||
        owner != region->preempted) {
        end_promise(region, owner);
    }
    region->owner = owner;
    loses = before != NULL && before != owner &&
            (before->state != ACCEL_CONNECTED || before->region == number);
    if (loses) {
        accel_lost(before, preempted);
    }
    if (owner != NULL && may_have_regions(owner)) {
        configure_or_connect(owner, number, status);
    } else if (owner != NULL) {
        accel_write(FABRIC_REGS_CANCEL, owner->name);
    }
    return loses;
}

void accel_update_first(void)
{
    unsigned region = accel_lowest_bit(accels.update);

    accels.update &= ~(1U << region);
    (void)accel_update_region(region);
}

/* Does what a solution from the search list allows. Since it was found, the region's job may have
 * stopped, or the region may have expired, and its client may have it again; and `a` may have
 * requested and got another one. Only another request shows whether a promise still holds; the
 * request changes nothing if it does. */
static void apply_later(struct accel *a, uint64_t solution)
{
    unsigned region = (unsigned)ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_PRR);
    bool waits = a->state != ACCEL_CONNECTED;

    if (waits && ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_METHOD) == METHOD_PREEMPT) {
        accel_request_region(a);
        return;
    }
    if (waits) {
        (void)note_path(a, solution);
    }
    accel_update_region(region);
    if (waits && accels.regions[region].owner != a) {
        accel_lost(a, false);
    }
}

/* The fabric withdraws a region that it has promised only when the region's job has stopped:
 * accel_update_region() continues then. */
static void decline(struct accel *a, uint64_t solution)
{
    accel_write(FABRIC_REGS_CANCEL, a->name);
    if (ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_METHOD) == METHOD_PREEMPT) {
        promise(a, (unsigned)ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_PRR));
    }
}

void accel_take_solution(void)
{
    uint64_t solution = accel_read(FABRIC_REGS_NEW_SOLUTION);
    struct accel *a = accel_named(ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_VM),
                                  ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_DEV));

    if (ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_VALID) == 0) {
        return; /* a solution that appears from here on must not be removed before it is read */
    }
    accel_write(FABRIC_REGS_NEW_SOLUTION_POP, 1);
    if (a == NULL) {
        /* The request was the manager's own, cancelled since; the region's client may have lost the
         * region to it. */
        (void)accel_update_region((unsigned)ACCEL_FIELD(solution, FABRIC_REGS_SOLUTION_PRR));
        return;
    }
    if (a->client->stopping || a->state >= ACCEL_FAILED) {
        decline(a, solution);
    } else {
        apply_later(a, solution);
    }
}

/* The client of a region in Hold, Idle or Reconfig. The register names it also if the manager does
 * not know it. */
static void cancel_client(uint64_t status)
{
    accel_write(
        FABRIC_REGS_CANCEL,
        ACCEL_PUT(FABRIC_REGS_CANCEL_VM, ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_VM)) |
            ACCEL_PUT(FABRIC_REGS_CANCEL_DEV, ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_DEV)));
}

static bool is_configured_now(unsigned number)
{
    return (accels.icap.busy & ACCEL_ICAP_CONFIGURING) != 0 && accels.icap.region == number;
}

enum accel_drain accel_drain_region(unsigned number)
{
    uint64_t status;
    ulong state;

    (void)accel_update_region(number);
    status = accel_region_status(number);
    state = ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_STATE);
    if (state == ACCEL_REGION_IDLE && ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_CLIENT) == 0) {
        return ACCEL_DRAINED;
    }
    if (state == ACCEL_REGION_BUSY) {
        accel_write(FABRIC_REGS_PRR_STOP + number * FABRIC_REGS_PRR_STOP_STRIDE, 1);
    }
    if (state == ACCEL_REGION_BUSY || is_preempting(state) || is_configured_now(number)) {
        return ACCEL_DRAIN_WAITS;
    }
    cancel_client(status);
    return ACCEL_DRAIN_AGAIN;
}

bool accel_withdraw_device(struct accel *a)
{
    bool left = (accels.icap.busy & ACCEL_ICAP_CONFIGURING) == 0 || accels.icap.device != a;

    accel_write(FABRIC_REGS_CANCEL, a->name);
    for (unsigned i = 0; i < accels.nregions && left; i++) {
        if (accels.regions[i].owner == a || accels.regions[i].promised == a) {
            (void)accel_update_region(i);
            left = accels.regions[i].owner != a && accels.regions[i].promised != a;
            if (accels.regions[i].owner == a) {
                accel_write(FABRIC_REGS_PRR_STOP + i * FABRIC_REGS_PRR_STOP_STRIDE, 1);
            }
        }
    }
    return left;
}

void accel_configured(void)
{
    if (accel_icap_ended()) {
        (void)accel_update_region(accels.icap.region);
        accel_icap_continue();
    }
}
