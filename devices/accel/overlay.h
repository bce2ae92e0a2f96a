/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlays: changes of the fabric that are applied, or removed, as a whole (docs/accelerators.md).
 * overlay.c has the sequence of the phases, overlay_phases.c what each does, overlay_calls.c the
 * hypercalls. All is called with accels.lock held, and guarded by it.
 *
 * While a transaction takes a region from its clients, no client gets it (accels.draining_regions).
 * The manager itself is a client of the fabric then, with a VM's number that no VM has: it requests
 * the region, which is thus decoupled until it is configured.
 */
#ifndef ACCEL_OVERLAY_H
#define ACCEL_OVERLAY_H

#include "accel.h"

enum overlay_outcome {
    OVERLAY_DONE,  /* the phase is complete */
    OVERLAY_AGAIN, /* continues in another section */
    /* continues after an event of the fabric, or is tried again; fails after a limit */
    OVERLAY_WAITS,
    OVERLAY_POLLS,  /* as OVERLAY_WAITS, without a limit */
    OVERLAY_SLEEPS, /* continues when the ICAP has finished */
    OVERLAY_FAILED, /* for run.region */
};

/* The transaction, or the last one. Guarded by accels.lock. */
struct overlay_run {
    const struct accel_image_overlay *config; /* NULL: none runs */
    unsigned number;                          /* of the overlay */
    /* the fragment, or the device, with which the phase continues; 0 when it begins */
    unsigned at;
    unsigned region; /* that of the fragment */
};

/* One step of a phase. */
typedef enum overlay_outcome overlay_phase(struct overlay_run *run);

overlay_phase overlay_ldto, overlay_lfw, overlay_dcpl, overlay_lcfg, overlay_cpl, overlay_updt,
    overlay_ldrv;
overlay_phase overlay_udto, overlay_udrv, overlay_open;

/* After a failure: gives the regions back, as they were. */
overlay_phase overlay_rollback;

/* Starts a transaction of an overlay for `vm`. False if another one runs, or if the overlay is
 * applied already, or not applied. */
bool overlay_start(unsigned number, bool apply, const struct vm *vm);

void overlay_get_status(unsigned number, struct accel_overlay *status);

#endif
