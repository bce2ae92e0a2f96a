/* SPDX-License-Identifier: Apache-2.0 */
/* What each phase of an overlay's transaction does, for overlay.c. Called with accels.lock held, in
 * steps that are continued after interrupts have been polled. */
#include "overlay.h"

#define PRIORITY 15U /* of the manager's requests: the highest, so no request preempts them */

static const struct accel_image_fragment *fragment_of(const struct overlay_run *run, unsigned index)
{
    const struct accel_image_fragment *fragments = accel_table(accels.image->fragments_offset);

    return &fragments[run->config->first_fragment + index];
}

static struct accel *provided_by(const struct overlay_run *run, unsigned index)
{
    const struct accel_image_provided *provided = accel_table(accels.image->provided_offset);
    const struct accel_image_provided *p = &provided[run->config->first_provided + index];

    return accels.clients[p->client].accels[p->device];
}

/* The manager's own client, as registers name it. */
static uint64_t own_name(unsigned device)
{
    return ACCEL_PUT(FABRIC_REGS_CANCEL_VM, accels.image->nclients) |
           ACCEL_PUT(FABRIC_REGS_CANCEL_DEV, device);
}

static bool is_own(uint64_t status)
{
    return ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_CLIENT) != 0 &&
           ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_VM) == accels.image->nclients;
}

static void set_device(unsigned device, unsigned regions)
{
    const struct accel_image_device *d = accel_table(accels.image->devices_offset);

    accel_write(FABRIC_REGS_DEVICE + device * FABRIC_REGS_DEVICE_STRIDE,
                ACCEL_PUT(FABRIC_REGS_DEVICE_TASK_ID, d[device].task) |
                    ACCEL_PUT(FABRIC_REGS_DEVICE_SIZE, d[device].size_class) |
                    ACCEL_PUT(FABRIC_REGS_DEVICE_EXCLUDED, ~regions & 0xffU));
}

void accel_set_devices(void)
{
    const struct accel_image_device *d = accel_table(accels.image->devices_offset);

    for (unsigned i = 0; i < accels.image->ndevices; i++) {
        set_device(i, d[i].regions & accels.usable[i] & (accels.own[i] | ~accels.reserved_regions) &
                          ~accels.draining_regions);
    }
}

/* Makes the fabric search its list: it does so when a region changes, and not when DEVICE does. A
 * request enters the list, and leaves it. In between it may get an idle region, whose client
 * accel_take_solution() then updates. */
static void retry_waiting(void)
{
    set_device(0, 0);
    (void)accel_query(own_name(0));
    accel_set_devices();
    accel_write(FABRIC_REGS_CANCEL, own_name(0));
}

/* A region is kept for one overlay at a time. */
enum overlay_outcome overlay_ldto(struct overlay_run *run)
{
    for (unsigned i = 0; i < run->config->nfragments; i++) {
        run->region = fragment_of(run, i)->region;
        if ((accels.reserved_regions >> run->region & 1U) != 0) {
            return OVERLAY_FAILED;
        }
    }
    return OVERLAY_DONE;
}

enum overlay_outcome overlay_lfw(struct overlay_run *run)
{
    for (unsigned i = 0; i < run->config->nfragments; i++) {
        const struct accel_image_fragment *f = fragment_of(run, i);

        run->region = f->region;
        if (accels.streams[f->device][f->region] == NULL) {
            return OVERLAY_FAILED;
        }
    }
    return OVERLAY_DONE;
}

/* No client gets the regions from here on. Work for their clients stays in the search list. */
static void close_regions(const struct overlay_run *run)
{
    for (unsigned i = 0; i < run->config->nfragments; i++) {
        accels.draining_regions |= 1U << fragment_of(run, i)->region;
    }
    accel_set_devices();
    accel_watch_all();
}

/* Requests the region, which is idle, for the manager: only the manager can get it, apart from a
 * client of the same device that the fabric finds in its search list in between. */
static bool take(const struct accel_image_fragment *f)
{
    bool taken;

    set_device(f->device, 1U << f->region);
    (void)accel_query(own_name(f->device) | ACCEL_PUT(FABRIC_REGS_REQUEST_PRIO, PRIORITY));
    taken = is_own(accel_region_status(f->region));
    if (!taken) {
        /* before DEVICE offers it other regions */
        accel_write(FABRIC_REGS_CANCEL, own_name(f->device));
    }
    accel_set_devices();
    return taken;
}

enum overlay_outcome overlay_dcpl(struct overlay_run *run)
{
    const struct accel_image_fragment *f = fragment_of(run, run->at);
    enum accel_drain drain;

    if (accels.draining_regions == 0) {
        close_regions(run);
    }
    run->region = f->region;
    drain = accel_drain_region(f->region);
    if (drain != ACCEL_DRAINED) {
        return drain == ACCEL_DRAIN_AGAIN ? OVERLAY_AGAIN : OVERLAY_WAITS;
    }
    if (!take(f)) {
        return OVERLAY_WAITS;
    }
    run->at++;
    return run->at < run->config->nfragments ? OVERLAY_AGAIN : OVERLAY_DONE;
}

/* The region holds the task already, or is configured. */
static enum overlay_outcome configure(const struct accel_image_fragment *f)
{
    if (!accel_in_reconfig(f->region, NULL)) {
        return OVERLAY_DONE;
    }
    accel_icap_start(accels.streams[f->device][f->region], f->region);
    return OVERLAY_SLEEPS;
}

/* With the ICAP held and idle, what it has done last is the configuration of the fragment, if the
 * region is not in Reconfig any more. */
enum overlay_outcome overlay_lcfg(struct overlay_run *run)
{
    const struct accel_image_fragment *f = fragment_of(run, run->at);

    accel_icap_hold();
    run->region = f->region;
    if ((accels.icap.busy & ACCEL_ICAP_CONFIGURING) != 0) {
        return accels.icap.device == NULL ? OVERLAY_SLEEPS : OVERLAY_WAITS;
    }
    if (configure(f) == OVERLAY_SLEEPS) {
        return OVERLAY_SLEEPS;
    }
    if (ACCEL_FIELD(accel_region_status(f->region), FABRIC_REGS_PRR_STATUS_TASK_ID) == 0) {
        return OVERLAY_FAILED; /* refused: the region is empty */
    }
    run->at++;
    if (run->at < run->config->nfragments) {
        return OVERLAY_AGAIN;
    }
    accel_icap_release();
    return OVERLAY_DONE;
}

/* The fabric has coupled the regions with the end of their configurations. */
enum overlay_outcome overlay_cpl(struct overlay_run *run)
{
    const struct accel_image_device *devices = accel_table(accels.image->devices_offset);

    for (unsigned i = 0; i < run->config->nfragments; i++) {
        const struct accel_image_fragment *f = fragment_of(run, i);
        uint64_t status = accel_region_status(f->region);

        run->region = f->region;
        if (ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_COUPLED) == 0 ||
            ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_TASK_ID) != devices[f->device].task) {
            return OVERLAY_FAILED;
        }
    }
    return OVERLAY_DONE;
}

/* The manager gives up what it has of the overlay's regions, and the fabric can give them to
 * clients that wait. */
static void open_regions(const struct overlay_run *run)
{
    accels.draining_regions = 0;
    accel_set_devices();
    for (unsigned i = 0; i < run->config->nfragments; i++) {
        accel_write(FABRIC_REGS_CANCEL, own_name(fragment_of(run, i)->device));
    }
    retry_waiting();
}

static void keep_regions(const struct overlay_run *run, bool keep)
{
    for (unsigned i = 0; i < run->config->nfragments; i++) {
        const struct accel_image_fragment *f = fragment_of(run, i);
        unsigned bit = 1U << f->region;

        accels.reserved_regions =
            keep ? accels.reserved_regions | bit : accels.reserved_regions & ~bit;
        accels.own[f->device] =
            (uint8_t)(keep ? accels.own[f->device] | bit : accels.own[f->device] & ~bit);
    }
}

/* Resets one absent device in each step; all are there with the last one. */
enum overlay_outcome overlay_updt(struct overlay_run *run)
{
    if (run->at < run->config->nprovided) {
        accel_reset_device(provided_by(run, run->at++));
        return OVERLAY_AGAIN;
    }
    for (unsigned i = 0; i < run->config->nprovided; i++) {
        accel_set_present(provided_by(run, i), true);
    }
    keep_regions(run, true);
    open_regions(run);
    return OVERLAY_DONE;
}

static void tell(const struct overlay_run *run)
{
    for (unsigned i = 0; i < run->config->nprovided; i++) {
        accel_post_vm_event(provided_by(run, i)->client, ACCEL_EVENT_OVERLAY);
    }
}

enum overlay_outcome overlay_ldrv(struct overlay_run *run)
{
    tell(run);
    return OVERLAY_DONE;
}

enum overlay_outcome overlay_udto(struct overlay_run *run)
{
    for (unsigned i = 0; i < run->config->nprovided; i++) {
        accel_set_present(provided_by(run, i), false);
    }
    return OVERLAY_DONE;
}

/* The device has no region any more.
 * Its page becomes read-only at once on this CPU, and VCPUs that wait for it execute their stores
 * again, which fault. A VCPU of another CPU can store to it a little longer: UPDT resets the device
 * again. */
static bool remove_device(struct accel *a)
{
    accel_bar_device(a);
    return accel_withdraw_device(a);
}

/* One device after the other. */
enum overlay_outcome overlay_udrv(struct overlay_run *run)
{
    struct accel *a;

    if (run->at == run->config->nprovided) {
        tell(run);
        return OVERLAY_DONE;
    }
    a = provided_by(run, run->at);
    if (!remove_device(a)) {
        accel_watch_all();
        return OVERLAY_POLLS;
    }
    accel_reset_device(a);
    run->at++;
    return OVERLAY_AGAIN;
}

enum overlay_outcome overlay_open(struct overlay_run *run)
{
    keep_regions(run, false);
    open_regions(run);
    return OVERLAY_DONE;
}

enum overlay_outcome overlay_rollback(struct overlay_run *run)
{
    if (accels.draining_regions != 0) {
        open_regions(run);
    }
    accel_icap_release();
    return OVERLAY_DONE;
}
