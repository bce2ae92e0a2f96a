/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration port: regions are configured in the order in which they need it, so that each
 * waits for at most one configuration of every other region. */
#include "vdm.h"

#include "system.h"

_Static_assert((VDM_MAX_REGIONS & (VDM_MAX_REGIONS - 1U)) == 0,
               "the queue's places are numbered modulo its size");

/* A region that has a place keeps it. */
static void enqueue(struct vdm_port *port, unsigned region)
{
    bool configured = (port->busy & VDM_PORT_CONFIGURING) != 0 && port->region == region;

    if (!configured && (port->queued >> region & 1U) == 0) {
        port->queued |= 1U << region;
        port->queue[(port->first + port->waiting++) % VDM_MAX_REGIONS] = (uint8_t)region;
    }
}

/* Of a queue that is not empty. */
static unsigned dequeue(struct vdm_port *port)
{
    unsigned region = port->queue[port->first];

    port->first = (port->first + 1U) % VDM_MAX_REGIONS;
    port->waiting--;
    port->queued &= ~(1U << region);
    return region;
}

static void send(const struct vdm_image_bitstream *b, unsigned region)
{
    vdm_write(FABRIC_REGS_ICAP_ADDR, (ulong)sysimage_at(hyp.image, b->offset));
    vdm_write(FABRIC_REGS_ICAP_LENGTH, b->size);
    vdm_write(FABRIC_REGS_ICAP_START, VDM_PUT(FABRIC_REGS_ICAP_START_PRR, region) |
                                          VDM_PUT(FABRIC_REGS_ICAP_START_VERIFY, b->verify));
    vdm.port.region = region;
}

/* Starts the configuration of a region in Reconfig for `a`, with the port free. The fabric offers
 * no region for which no bitstream has passed the check at boot, because DEVICE excludes it. */
static void start(struct accel *a, unsigned region)
{
    const struct vdm_image_bitstream *b = vdm.streams[a->config->device][region];

    if (b == NULL) {
        vdm_write(FABRIC_REGS_CANCEL, a->name);
        accel_failed(a);
        return;
    }
    send(b, region);
    vdm.port.busy = VDM_PORT_CONFIGURING;
    vdm.port.client = a;
}

void vdm_configure(unsigned region)
{
    struct vdm_port *port = &vdm.port;

    if (port->busy == 0 && port->waiting == 0) {
        start(vdm.regions[region].owner, region);
    } else {
        enqueue(port, region);
    }
}

/* Its client may have left the region, and it may have another one, which then takes this place. */
static void start_if_needed(unsigned region)
{
    struct accel *a = vdm.regions[region].owner;

    if (a != NULL && a->state == ACCEL_WAITING && !a->client->stopping &&
        vdm_in_reconfig(region, a)) {
        start(a, region);
    }
}

/* The first region in the queue that is still in Reconfig for its owner; drops those before it. */
static void configure_next(void)
{
    while (vdm.port.busy == 0 && vdm.port.waiting != 0) {
        start_if_needed(dequeue(&vdm.port));
    }
}

/* By now the client may have left the region, which is then free, or has another client. */
static void note_refusal(struct accel *a, unsigned region, ulong error)
{
    vdm_report("error: %s: the bitstream of %s for region %lu is refused: error %lu", a, region,
               error);
    if (vdm.regions[region].owner == a && a->state != ACCEL_ABSENT) {
        vdm.regions[region].owner = NULL;
        accel_failed(a);
    }
}

void vdm_configured(void)
{
    uint64_t status = vdm_read(FABRIC_REGS_ICAP_STATUS);
    struct vdm_port *port = &vdm.port;
    struct accel *a = port->client;
    ulong error = VDM_FIELD(status, FABRIC_REGS_ICAP_STATUS_ERROR);

    if ((port->busy & VDM_PORT_CONFIGURING) == 0 ||
        VDM_FIELD(status, FABRIC_REGS_ICAP_STATUS_BUSY) != 0) {
        return;
    }
    port->busy &= ~VDM_PORT_CONFIGURING;
    if (error != 0 && a != NULL) {
        note_refusal(a, port->region, error);
    }
    vdm_update_region(port->region);
    if (port->busy != 0) {
        vdm_overlay_wake();
    } else if (port->waiting != 0) {
        configure_next();
    }
}

void vdm_port_hold(void)
{
    vdm.port.busy |= VDM_PORT_HELD;
}

void vdm_port_release(void)
{
    vdm.port.busy &= ~VDM_PORT_HELD;
    configure_next();
}

void vdm_port_start(const struct vdm_image_bitstream *b, unsigned region)
{
    send(b, region);
    vdm.port.busy |= VDM_PORT_CONFIGURING;
    vdm.port.client = NULL;
}
