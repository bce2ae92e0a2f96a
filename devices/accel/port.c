/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration port: regions are configured in the order in which they need it, so that each
 * waits for at most one configuration of every other region. */
#include "accel.h"

#include "system.h"

_Static_assert((ACCEL_MAX_REGIONS & (ACCEL_MAX_REGIONS - 1U)) == 0,
               "the queue's places are numbered modulo its size");

/* A region that has a place keeps it. */
static void enqueue(struct accel_port *port, unsigned region)
{
    bool configured = (port->busy & ACCEL_PORT_CONFIGURING) != 0 && port->region == region;

    if (!configured && (port->queued >> region & 1U) == 0) {
        port->queued |= 1U << region;
        port->queue[(port->first + port->waiting++) % ACCEL_MAX_REGIONS] = (uint8_t)region;
    }
}

/* Of a queue that is not empty. */
static unsigned dequeue(struct accel_port *port)
{
    unsigned region = port->queue[port->first];

    port->first = (port->first + 1U) % ACCEL_MAX_REGIONS;
    port->waiting--;
    port->queued &= ~(1U << region);
    return region;
}

static void send(const struct accel_image_bitstream *b, unsigned region)
{
    accel_write(FABRIC_REGS_ICAP_ADDR, (ulong)sysimage_at(hyp.image, b->offset));
    accel_write(FABRIC_REGS_ICAP_LENGTH, b->size);
    accel_write(FABRIC_REGS_ICAP_START, ACCEL_PUT(FABRIC_REGS_ICAP_START_PRR, region) |
                                            ACCEL_PUT(FABRIC_REGS_ICAP_START_VERIFY, b->verify));
    accels.port.region = region;
}

/* Starts the configuration of a region in Reconfig for `a`, with the port free. The fabric offers
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
    accels.port.busy = ACCEL_PORT_CONFIGURING;
    accels.port.client = a;
}

void accel_configure(unsigned region)
{
    struct accel_port *port = &accels.port;

    if (port->busy == 0 && port->waiting == 0) {
        start(accels.regions[region].owner, region);
    } else {
        enqueue(port, region);
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
    while (accels.port.busy == 0 && accels.port.waiting != 0) {
        start_if_needed(dequeue(&accels.port));
    }
}

/* By now the client may have left the region, which is then free, or has another client. */
static void note_refusal(struct accel *a, unsigned region, ulong error)
{
    accel_report("error: %s: the bitstream of %s for region %lu is refused: error %lu", a, region,
                 error);
    if (accels.regions[region].owner == a && a->state != ACCEL_ABSENT) {
        accels.regions[region].owner = NULL;
        accel_failed(a);
    }
}

bool accel_port_ended(void)
{
    uint64_t status = accel_read(FABRIC_REGS_ICAP_STATUS);
    struct accel_port *port = &accels.port;
    struct accel *a = port->client;
    ulong error = ACCEL_FIELD(status, FABRIC_REGS_ICAP_STATUS_ERROR);

    if ((port->busy & ACCEL_PORT_CONFIGURING) == 0 ||
        ACCEL_FIELD(status, FABRIC_REGS_ICAP_STATUS_BUSY) != 0) {
        return false;
    }
    port->busy &= ~ACCEL_PORT_CONFIGURING;
    if (error != 0 && a != NULL) {
        note_refusal(a, port->region, error);
    }
    return true;
}

void accel_port_continue(void)
{
    if (accels.port.busy != 0) {
        accel_overlay_wake();
    } else if (accels.port.waiting != 0) {
        configure_next();
    }
}

void accel_port_hold(void)
{
    accels.port.busy |= ACCEL_PORT_HELD;
}

void accel_port_release(void)
{
    accels.port.busy &= ~ACCEL_PORT_HELD;
    configure_next();
}

void accel_port_start(const struct accel_image_bitstream *b, unsigned region)
{
    send(b, region);
    accels.port.busy |= ACCEL_PORT_CONFIGURING;
    accels.port.client = NULL;
}
