/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of the ICAP (internal configuration access port) of the FPGA: regions are configured in
 * the order in which they need it, so that each waits for at most one configuration of every other
 * region. It serves clients' regions (regions.c) and overlays, which hold the ICAP while they
 * configure regions. */
#include "accel.h"

#include "system.h"

_Static_assert((ACCEL_MAX_REGIONS & (ACCEL_MAX_REGIONS - 1U)) == 0,
               "the queue's places are numbered modulo its size");

/* A region that has a place keeps it. */
static void enqueue(struct accel_icap *icap, unsigned region)
{
    if ((icap->queued >> region & 1U) == 0) {
        icap->queued |= 1U << region;
        icap->queue[(icap->first + icap->waiting++) % ACCEL_MAX_REGIONS] = (uint8_t)region;
    }
}

/* Of a queue that is not empty. */
static unsigned dequeue(struct accel_icap *icap)
{
    unsigned region = icap->queue[icap->first];

    icap->first = (icap->first + 1U) % ACCEL_MAX_REGIONS;
    icap->waiting--;
    icap->queued &= ~(1U << region);
    return region;
}

static void send(const struct accel_image_bitstream *b, unsigned region)
{
    accel_write(FABRIC_REGS_ICAP_ADDR, (ulong)sysimage_at(hyp.image, b->offset));
    accel_write(FABRIC_REGS_ICAP_LENGTH, b->size);
    accel_write(FABRIC_REGS_ICAP_START, ACCEL_PUT(FABRIC_REGS_ICAP_START_PRR, region) |
                                            ACCEL_PUT(FABRIC_REGS_ICAP_START_VERIFY, b->verify));
    accels.icap.region = region;
}

/* Starts the configuration of a region in Reconfig for `a`, with the ICAP free. The fabric offers
 * no region for which no bitstream has passed the check at boot, because DEVICE excludes it. */
static void start(struct accel *a, unsigned region)
{
    const struct accel_image_bitstream *b = accels.streams[a->config->device][region];

    if (b == NULL) {
        accel_write(FABRIC_REGS_CANCEL, a->name);
        accel_failed(a);
        return;
    }
    send(b, region);
    accels.icap.busy = ACCEL_ICAP_CONFIGURING;
    accels.icap.device = a;
}

void accel_configure(unsigned region)
{
    struct accel_icap *icap = &accels.icap;

    if (icap->busy == 0 && icap->waiting == 0) {
        start(accels.regions[region].owner, region);
    } else {
        enqueue(icap, region);
    }
}

/* Its client may have left the region, and it may have another one, which then takes this place. */
static void start_if_needed(unsigned region)
{
    struct accel *a = accels.regions[region].owner;

    if (a != NULL && a->state == ACCEL_WAITING && !a->client->stopping &&
        accel_in_reconfig(region, a)) {
        start(a, region);
    }
}

/* The first region in the queue that is still in Reconfig for its owner; drops those before it. */
static void configure_next(void)
{
    while (accels.icap.busy == 0 && accels.icap.waiting != 0) {
        start_if_needed(dequeue(&accels.icap));
    }
}

/* By now the client may have left the region, which is then free, or has another client. */
static void note_refusal(struct accel *a, unsigned region, ulong error)
{
    accel_report("error: %s: the bitstream of %s for region %lu is refused: error %lu", a, region,
                 error);
    if (accels.regions[region].owner == a && a->state != ACCEL_ABSENT) {
        accel_failed(a);
    }
}

bool accel_icap_ended(void)
{
    uint64_t status = accel_read(FABRIC_REGS_ICAP_STATUS);
    struct accel_icap *icap = &accels.icap;
    struct accel *a = icap->device;
    ulong error = ACCEL_FIELD(status, FABRIC_REGS_ICAP_STATUS_ERROR);

    if ((icap->busy & ACCEL_ICAP_CONFIGURING) == 0 ||
        ACCEL_FIELD(status, FABRIC_REGS_ICAP_STATUS_BUSY) != 0) {
        return false;
    }
    icap->busy &= ~ACCEL_ICAP_CONFIGURING;
    if (error != 0 && a != NULL) {
        note_refusal(a, icap->region, error);
    }
    return true;
}

void accel_icap_continue(void)
{
    if (accels.icap.busy != 0) {
        accel_overlay_wake();
    } else if (accels.icap.waiting != 0) {
        configure_next();
    }
}

void accel_icap_hold(void)
{
    accels.icap.busy |= ACCEL_ICAP_HELD;
}

void accel_icap_release(void)
{
    accels.icap.busy &= ~ACCEL_ICAP_HELD;
    configure_next();
}

void accel_icap_start(const struct accel_image_bitstream *b, unsigned region)
{
    send(b, region);
    accels.icap.busy |= ACCEL_ICAP_CONFIGURING;
    accels.icap.device = NULL;
}
