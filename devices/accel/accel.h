/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manager of accelerators: gives the regions of the fabric (docs/fabric.md) to VMs. What the
 * files of this folder share.
 *
 * A VM's page of a device (its IF) is read-only until the device is connected to a region: the
 * first write is the request. The fabric decides which device of which VM gets which region, and
 * keeps the list of those that wait; the manager configures regions, connects IFs, and makes pages
 * writable or read-only. A client is a VM with devices (struct accel_vm); the RTL calls each of its
 * devices one.
 *
 * Locks: vm.lock, then accels.lock, then sched_lock.
 */
#ifndef ACCEL_H
#define ACCEL_H

#include "accel_abi.h"
#include "accel_image.h"
#include "arch_device.h"
#include "arch_pages.h"
#include "component.h"
#include "fabric_map.h"
#include "hypercall.h"
#include "list.h"
#include "pci_backends.h"
#include "spinlock.h"
#include "vm.h"

/* of a configuration in addition to its words, verified or not (docs/fabric.md) */
#define ACCEL_CONFIGURE_CYCLES 17U
/* VCPUs that waited for a device, in a section that does nothing else */
#define ACCEL_RESUMED_AT_ONCE 4U

enum accel_state {
    ACCEL_IDLE = 0, /* no region; not requested, as far as the manager knows */
    /* requested: waits for a region, or for its region to be stopped or configured */
    ACCEL_WAITING,
    ACCEL_CONNECTED, /* has a region, and its page is writable */
    ACCEL_FAILED,    /* its task cannot be configured; until the VM restarts */
    ACCEL_ABSENT,    /* the overlay that provides it is not applied */
};

/* A device of a VM. */
struct accel {
    /* Constant after boot, down to `connect`. */
    struct accel_vm *client;
    const struct accel_image_accel *config; /* in the system image */
    struct arch_page page;                  /* of its IF, in the VM's second stage */
    uint64_t name;       /* its VM and device, as registers hold them (CANCEL, REQUEST, IF_RESET) */
    uint64_t connect;    /* for PRR_CONNECT */
    struct list waiters; /* struct accel_waiter; guarded by sched_lock */

    /* Guarded by accels.lock. */
    enum accel_state state;
    unsigned region;  /* while connected */
    bool awaited;     /* a VCPU waits for it, or its guest has been informed that it is not ready */
    bool present;     /* no overlay provides it, or one that is applied */
    uint64_t request; /* for REQUEST: its name and priority */
    /* of its next request: 0 .. 15, 15 is the highest; of its next write: ACCEL_MODEL_* */
    uint32_t priority, model;
    struct accel_stats stats; /* since the VM's start */
};

/* A VM with devices of the fabric. */
struct accel_vm {
    /* Constant after boot. */
    struct vm *vm;
    const struct accel_image_client *config;
    unsigned number;                         /* of the VM in the fabric */
    struct accel *accels[ACCEL_MAX_DEVICES]; /* by device, or NULL */

    /* Guarded by accels.lock. */
    unsigned to_reset; /* while it stops: devices below this number are not reset yet */
    bool stopping;     /* requests nothing until its next start */
    ulong events;      /* ACCEL_EVENT_* << device */
};

/* What the manager keeps of a region; its state is in PRR_STATUS. Guarded by accels.lock. */
struct region {
    struct accel *owner;     /* the device that has it, as PRR_STATUS said last */
    struct accel *promised;  /* gets it when the job of `preempted` has stopped, or NULL */
    struct accel *preempted; /* the owner when it was promised */
};

/* A VCPU that waits for a device. */
struct accel_waiter {
    struct list node; /* guarded by sched_lock */
    struct vcpu *vcpu;
};

/* accel_icap.busy */
#define ACCEL_ICAP_CONFIGURING 1U /* it works for `region` */
#define ACCEL_ICAP_HELD 2U        /* by an overlay: clients' regions wait in the queue */

/* The ICAP, the FPGA's internal configuration access port: configures one region at a time.
 * Guarded by accels.lock. */
struct accel_icap {
    unsigned busy;                    /* ACCEL_ICAP_*; 0: a client's region is configured at once */
    unsigned region;                  /* the one that was configured last, or is */
    struct accel *device;             /* the one for which it works, or NULL: an overlay */
    unsigned first, waiting;          /* the queue's first place, and the number of regions in it */
    unsigned queued;                  /* bit n: region n is in the queue */
    uint8_t queue[ACCEL_MAX_REGIONS]; /* regions that wait for the ICAP, each at most once */
};

/* Of a line for the console: a VM and a device, or an overlay and a phase; a region; the rest. */
struct accel_report_args {
    const char *who[2]; /* names */
    ulong region, detail;
};

struct accel_manager {
    /* NULL: the system uses no fabric. Constant after boot, as is all down to `lock` */
    const struct accel_image *image;
    volatile char *registers; /* of the fabric */
    unsigned nregions;        /* of the fabric */

    /* guards all down to `reserved_regions`, and `own`; the timers are under sched_lock */
    struct spinlock lock;
    struct region regions[ACCEL_MAX_REGIONS];
    struct accel_icap icap;
    /* recheck, update, notify or report is set: accel_unlock() has work */
    bool work_pending;
    unsigned update;  /* bit n: region n may have another owner or state */
    uint64_t for_all; /* events of the fabric that may concern any region */
    /* bit n: a page of client n has become read-only: it may have a START */
    unsigned recheck;
    /* by CPU, bit n: its VCPUs may write START to a page of client n until it has handled
     * IPI_SYNC */
    unsigned recheck_on[SYSIMAGE_MAX_HARTS];
    unsigned notify;    /* bit n: raise the event interrupt of client n once the lock is released */
    const char *report; /* a line for the console once the lock is released, or NULL */
    struct accel_report_args args;
    struct timer report_holdoff; /* reports are suppressed until it expires */
    struct timer deferred_timer; /* due at once: continues the work that a section has left */
    bool overlay_runs;           /* a transaction of an overlay */
    bool overlay_due;            /* it can continue */
    /* bit n: region n is being taken for an overlay: no client gets it */
    unsigned draining_regions;
    /* bit n: region n is kept for a device, by an overlay that is applied */
    unsigned reserved_regions;

    /* The bitstreams that have passed the check at boot, NULL elsewhere: no other one reaches
     * the ICAP. */
    const struct accel_image_bitstream *streams[ACCEL_MAX_DEVICES][ACCEL_MAX_REGIONS];
    uint8_t usable[ACCEL_MAX_DEVICES]; /* bit n of a device: streams[device][n] */
    uint8_t own[ACCEL_MAX_DEVICES];    /* bit n of a device: region n is kept for it */
    /* last: an offset beyond 2 KiB takes further instructions */
    struct accel_vm clients[ACCEL_MAX_CLIENTS];
};

extern struct accel_manager accels; /* owner: state.c */

/* An array of the image's section. */
static inline const void *accel_table(uint32_t offset)
{
    return (const char *)accels.image + offset;
}

/* What is wrong with a bitstream, and at which of its 32-bit words. */
struct accel_finding {
    const char *what; /* NULL: nothing */
    ulong word;
};

/* Whether a bitstream for the region may write `count` frames from the address `first` on. */
bool accel_frames_belong(uint32_t region, uint32_t first, ulong count);

/* Checks the words [at, end) of a bitstream, its body for a 7-series device, before the device can
 * see them. */
struct accel_finding accel_check_series7(const uint32_t *words, ulong at, ulong end,
                                         uint32_t region);

/* The VM's client, or NULL. */
static inline struct accel_vm *accel_vm_of(const struct vm *vm)
{
    return vm->vcpus[0].data[COMPONENT_ACCEL];
}

/* --- registers of the fabric --- */

static inline uint64_t accel_read(ulong offset)
{
    return arch_device_read64(accels.registers + offset);
}

static inline void accel_write(ulong offset, uint64_t value)
{
    arch_device_write64(accels.registers + offset, value);
}

/* A register of a device's page. */
static inline volatile void *accel_if_at(const struct accel *a, ulong offset)
{
    return accels.registers + FABRIC_IFS +
           (16UL * a->client->number + a->config->device) * FABRIC_IF_STRIDE + offset;
}

static inline uint32_t accel_if_read(const struct accel *a, ulong offset)
{
    return arch_device_read32(accel_if_at(a, offset));
}

static inline void accel_if_write(const struct accel *a, ulong offset, uint32_t value)
{
    arch_device_write32(accel_if_at(a, offset), value);
}

/* The DMA windows of the client, for fabric_windows_open(). */
static inline volatile char *accel_windows_of(const struct accel_vm *c)
{
    return accels.registers + FABRIC_WINDOWS + c->number * FABRIC_VM_WINDOWS_STRIDE;
}

/* A field of a register's value. */
#define ACCEL_FIELD(value, name) (((value) >> name##_LSB) & ((1UL << name##_WIDTH) - 1U))
#define ACCEL_PUT(name, value) ((uint64_t)(value) << name##_LSB)

/* Of a mask that is not 0. */
static inline unsigned accel_lowest_bit(unsigned mask)
{
    unsigned bit = 0;

    while ((mask >> bit & 1U) == 0) {
        bit++;
    }
    return bit;
}

/* --- for component.c, which lists them --- */

hcall_function accel_enumerate, accel_request, accel_release, accel_status, accel_get_stats,
    accel_events, accel_set_priority, accel_set_model, accel_get_region, accel_get_client,
    accel_apply_overlay, accel_remove_overlay, accel_overlay_status;

void accel_waiters_boot(void);
void units_boot(void);
const char *accel_boot(void);
void accel_vm_reset(struct vm *vm);
bool accel_vm_stop(struct vm *vm);
void overlay_vcpu_start(struct vcpu *v);
void accel_vcpu_stop(struct vcpu *v);
void accel_sync(void);
enum write_fault accel_write_fault(struct vcpu *v, gpa_t gpa, unsigned width, ulong value);
resource_bound_fn accel_bound;

/* As struct pci_accelerators and struct cipher_units say. */
bool accelerator_exists(const struct vm *vm, unsigned device);
bool accelerator_pending(const struct vm *vm, unsigned device);
void accelerator_mask(const struct vm *vm, unsigned device, bool masked);
bool cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job);
enum cipher_outcome cipher_unit_result(uint32_t unit);
bool cipher_unit_stop(const struct vm *vm, uint32_t unit);

/* --- registers.c; without locks --- */

/* The register PRR_STATUS of the region; its state is ACCEL_REGION_*. */
uint64_t accel_region_status(unsigned region);

/* The device that has a region with this PRR_STATUS, or NULL. */
struct accel *accel_owner_of(uint64_t status);

/* The device that a register names by VM and device, or NULL if the manager does not know it. */
struct accel *accel_named(ulong vm, ulong device);

/* Whether the region is in Reconfig for `a`. */
bool accel_in_reconfig(unsigned region, const struct accel *a);

/* Whether the device has a job, by its IF's STAT: START was written just before its page became
 * read-only, or the job is saved. */
static inline bool accel_has_job(uint32_t stat)
{
    return ACCEL_FIELD(stat, FABRIC_IF_STAT_PENDING) != 0 ||
           ACCEL_FIELD(stat, FABRIC_IF_STAT_SAVED) != 0;
}

/* --- regions.c; called with accels.lock held --- */

/* Requests a region, and does what the answer allows at once. */
void accel_request_region(struct accel *a);

/* Takes the first solution from the search list. */
void accel_take_solution(void);

/* Brings region `number` up to date: configures or connects it for its owner; a device that lost
 * it is disconnected. Returns whether there was one. */
bool accel_update_region(unsigned number);

/* accel_update_region() for the first region of accels.update. */
void accel_update_first(void);

/* Whether a job is leaving its region: saved, or, if it has failed, when its bus traffic has
 * ended. */
bool accel_job_leaves(void);

/* The ICAP may have finished: connects the owner of its region, and configures the next region. */
void accel_configured(void);

enum accel_drain {
    ACCEL_DRAINED,     /* the region is idle and has no owner */
    ACCEL_DRAIN_AGAIN, /* its owner is cancelled: call again */
    /* its job stops, or it is being configured: call again after an interrupt of the fabric */
    ACCEL_DRAIN_WAITS,
};

/* One step of taking a region, which DEVICE excludes for all devices, from its owner. */
enum accel_drain accel_drain_region(unsigned region);

/* One step of taking the region or the request of an absent device. True if it has none any
 * more. */
bool accel_withdraw_device(struct accel *a);

/* The answer of the fabric to a request, SOLUTION. */
uint64_t accel_query(uint64_t request);

/* --- cipher_unit.c --- */

/* The page of a device that the manager operates is in no second stage. At boot. True, as
 * arch_page_map(). */
bool accel_hide_page(struct accel *a);

/* --- icap.c; called with accels.lock held --- */

/* Has the region, in Reconfig for its owner, configured: at once if the ICAP is free, otherwise
 * after the regions that wait already. */
void accel_configure(unsigned region);

/* Whether the ICAP has finished since the last call, with accels.icap.region. A refused bitstream
 * is reported, and its client has failed. */
bool accel_icap_ended(void);

/* After accel_icap_ended(), once the region is up to date: the ICAP is used for what comes next. */
void accel_icap_continue(void);

/* An overlay takes the ICAP: it may use it once ACCEL_ICAP_CONFIGURING is clear, before the regions
 * that wait. */
void accel_icap_hold(void);

/* The overlay gives the ICAP back, also if it does not hold it. */
void accel_icap_release(void);

/* Starts a configuration for an overlay that holds the ICAP. */
void accel_icap_start(const struct accel_image_bitstream *b, unsigned region);

/* --- bitstreams.c --- */

/* Checks all bitstreams of the image, at boot: fills accels.streams and accels.usable, and reports
 * each refused one on the console. Returns an error of the image's table, or NULL. */
const char *accel_check_streams(void);

/* --- delay.c --- */

/* Computes the bounds of all devices, at boot, once clients, devices and bitstreams are known. */
void accel_delay_init(void);

/* --- life.c --- */

/* Sets registers, flags and statistics of a device that has no region as after power-on: the next
 * life of its VM must not see those of the last. At boot, or with accels.lock held. */
void accel_reset_device(struct accel *a);

/* Makes a device of an overlay present, after accel_reset_device(), or absent: its guest can
 * enumerate it from here on, or no more. An absent device keeps its region until
 * accel_withdraw_device(), and its page may be writable until accel_bar_device(). With accels.lock
 * held. */
void accel_set_present(struct accel *a, bool present);

/* --- calls.c --- */

/* Whether a region is promised to the device: another client's job is being stopped for it. With
 * accels.lock held. */
bool accel_is_promised(const struct accel *a);

/* What HCALL_ACCEL_STATUS returns. With accels.lock held. */
ulong accel_status_of(const struct accel *a);

/* --- interrupt.c --- */

void accel_manager_init(void);
void accel_interrupt(void);

/* From here on the manager checks all regions when any job has stopped. With accels.lock held. */
void accel_watch_all(void);

/* --- overlay.c and overlay_phases.c --- */

const char *accel_overlays_init(void);

/* Writes the registers DEVICE: the regions that may hold each device. At boot, or with accels.lock
 * held. */
void accel_set_devices(void);

/* With accels.lock held: a step of the transaction, if there is one. */
void accel_overlay_step(void);

/* --- device.c --- */

/* Has the transaction of an overlay go on, if there is one: something has happened for which it may
 * wait. With accels.lock held. */
void accel_overlay_wake(void);

/* Releases accels.lock and delivers what was noted under it: events, reports, and work for other
 * sections. */
void accel_unlock_pending(void);

/* With accels.lock held: `format`, with a VM, a device, a region and a detail, is posted on the
 * console once the lock is released. */
void accel_report(const char *format, const struct accel *a, ulong region, ulong detail);

static inline void accel_unlock(void)
{
    if (accels.work_pending) {
        accel_unlock_pending();
    } else {
        spin_unlock(&accels.lock);
    }
}

/* With accels.lock held: the device is connected to `region`, has failed, has given up its region
 * or request, or has lost its region: if it was preempted, the fabric has put a job that was saved
 * into the search list. */
void accel_connected(struct accel *a, unsigned region);
void accel_failed(struct accel *a);
void accel_withdrawn(struct accel *a);
void accel_lost(struct accel *a, bool preempted);

/* Makes the page of an absent device read-only: stores fault from here on, also those of VCPUs that
 * wait for the device. With accels.lock held. */
void accel_bar_device(struct accel *a);

/* Sets the priority of the device's next request. At boot, or with accels.lock held. */
static inline void accel_prioritize(struct accel *a, uint32_t priority)
{
    a->priority = priority;
    a->request = a->name | ACCEL_PUT(FABRIC_REGS_REQUEST_PRIO, priority);
}

/* With accels.lock held: suspends the VCPU until the device has a region, or can have none. */
void accel_wait(struct accel *a, struct vcpu *v);

/* Whether VCPUs that need not wait any more are to be resumed. With accels.lock held. */
bool accel_must_resume(void);

/* Resumes some of them, a few in a section. With accels.lock held. */
void accel_resume_some(void);

/* With accels.lock held: notes an event of a device with the guest model. */
void accel_post_event(const struct accel *a, ulong event);

/* With accels.lock held: notes an event of no device. */
static inline void accel_post_vm_event(struct accel_vm *c, ulong event)
{
    c->events |= event;
    accels.notify |= 1U << c->number;
    accels.work_pending = true;
}

/* The device of the VM, which may be absent, or NULL. */
static inline struct accel *accel_of(const struct vm *vm, ulong device)
{
    const struct accel_vm *c = accel_vm_of(vm);

    return c != NULL && device < ACCEL_MAX_DEVICES ? c->accels[device] : NULL;
}

/* --- accel.c --- */

/* Of accels.deferred_timer: does a part of the work that was left: so much that the section is
 * short. */
void accel_continue(struct timer *t);

#endif
