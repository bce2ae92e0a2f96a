/* SPDX-License-Identifier: Apache-2.0 */
/* RT apps and the EDF scheduling class: what the files of rt share. apps.c owns the apps,
 * sched_edf.c the state of each CPU; sched_lock guards both. */
#ifndef RT_APP_H
#define RT_APP_H

#include "rt_abi.h"
#include "rt_admit.h"
#include "rt_queue.h"
#include "sched.h"
#include "vcpu.h"

enum rt_state {
    RT_FREE = 0,
    RT_INACTIVE, /* created, not launched */
    RT_ACTIVE,
};

/*
 * One RT app is one RT-VCPU. Guarded by sched_lock.
 *
 * Its budget is a hard reservation, a constant-bandwidth server whose budget is replenished at the
 * begin of a period and not before (the hard CBS rule: Abeni, Buttazzo, "Integrating multimedia
 * applications in hard real-time systems", RTSS 1998; hard reservations: Rajkumar, Juvva, Molano,
 * Oikawa, "Resource kernels", MMCN 1998). In every period the app demands at most `budget` by
 * `deadline`, whether its job has ended or not, as admission assumes.
 */
struct rt_app {
    struct heap_node release; /* in the CPU's releases while active: key is its next release */
    /* in the CPU's ready queue while it is ready: key is its absolute deadline */
    struct heap_node ready;
    struct vcpu *vcpu; /* NULL: the slot is of no VM */
    enum rt_state state;
    bool done;                        /* its job has ended: waits for the next release */
    bool overrun;                     /* its budget is used up: waits for the next release */
    bool missed;                      /* its job has missed its deadline, which is counted */
    uint8_t demand;                   /* while active: its index in the demands of its CPU */
    unsigned cpu;                     /* it is pinned to this CPU */
    ticks_t period, budget, deadline; /* deadline: relative to the release */
    uint64_t share;   /* budget / period, in units of 1 / RT_WHOLE_CPU, rounded down */
    ticks_t released; /* when the current job was */
    ticks_t ended;    /* when the last job had; written by the CPU that the app runs on */
    /* longest of its jobs on the devices that it has declared, or 0; constant once it is
     * launched */
    ticks_t wait;
    ticks_t limit;         /* of vcpu->runtime: where the budget ends */
    struct rt_stats stats; /* stats.runtime: minus the runtime of the slot's VCPU before */
    struct rt_admit test;  /* of its launch; count 0: not begun */
    unsigned tested;       /* rt_demands.changes when the test was begun */
    uint32_t devices;      /* bit n: it has declared device n; constant once it is launched */
};

#define RT_WHOLE_CPU (UINT64_C(1) << 32)

/* The demands of a CPU's active apps, unordered, followed by that of the app whose launch is being
 * tested. */
struct rt_demands {
    unsigned changes; /* number of changes of the set of active apps */
    unsigned count;   /* number of active apps */
    unsigned users;   /* number of active apps that use devices */
    ticks_t slack;    /* longest time from a deadline to the next release of those that did */
    struct rt_demand demand[RT_QUEUE_MAX];
    uint16_t vcpus[RT_QUEUE_MAX]; /* their VCPUs: indices into hyp.vcpus */
};

/* The real-time side of one CPU. Guarded by sched_lock. */
struct rt_cpu {
    struct rt_queue releases; /* of all active apps */
    struct rt_queue ready;
    struct rt_app *unqueued; /* preempted, ready and in no queue until the next pick; or NULL */
    /* an app has left, and since then some app was always ready or running */
    bool carry_in;
    /* a launch has interrupted the CPU, and since then some app was always ready or running */
    bool kicked;
    /* until then the time that a deleted app used may still delay best effort */
    ticks_t carry_in_end;
    uint64_t shares[SYSIMAGE_MAX_VMS]; /* the sums of the VMs' active apps */
    unsigned order;                    /* sequence number of the last release; wraps around */
    const struct rt_app *last;         /* released last and not yet in the trace; or NULL */
    struct rt_demands demands;
};

/* Owner: edf_init(); constant after boot. */
extern struct rt_costs rt_costs;

/* Assigns slots, all free, to every VM. At boot. */
void rt_apps_init(void);

/* The slot of app `id` of `vm`, or NULL. */
struct rt_app *rt_app_of(const struct vm *vm, ulong id);

/* The EDF class. */
extern const struct sched_class rt_class;

struct rt_cpu *rt_cpu_of(unsigned cpu);

/* The app's demand on its CPU, with the hypervisor's overhead. */
struct rt_demand rt_demand_of(const struct rt_app *app);

/*
 * Under sched_lock: whether carry-in of a deleted app still delays jobs or best effort on the CPU.
 * A new app admitted now would be given time that the deleted app has used already. The carry-in of
 * the jobs ends at the first instant at which no app is ready, which comes, because the remaining
 * apps do not fill the CPU. Best effort may still wait for its reserve then, until the bound of the
 * reserve has passed: otherwise apps that are deleted and replaced in turn could starve it.
 */
bool rt_carry_in(unsigned cpu);

/*
 * Under sched_lock: whether the launch of an admitted app with this first release waits, because it
 * would interrupt the app that runs on another CPU. One such interrupt is allowed between two
 * instants at which no app is ready, so that no app pays for more than one. A launch whose release
 * is due now does not wait: the release preempts anyway, and its cost is refunded to the preempted
 * app.
 */
bool rt_must_wait(const struct rt_app *app, ticks_t first);

/* Under sched_lock: whether the app's deletion waits, because another app runs on its CPU with the
 * timer programmed for this app's release: the deletion would make that interrupt useless. It waits
 * until that release at most. */
bool rt_must_stay(const struct rt_app *app);

/* Under sched_lock: makes an app, whose VCPU was reset, active from `first` on. Interrupts its CPU
 * only if that release comes before the CPU's next one. */
void rt_activate(struct rt_app *app, ticks_t first);

/* Under sched_lock: CPU time used by the app since its launch, with its current slice. */
ticks_t rt_used(const struct rt_app *app, ticks_t now);

/* The running app's job has ended; the scheduler counts it when it next runs on this CPU. */
void rt_end_job(struct rt_app *app);

#endif
