/* SPDX-License-Identifier: Apache-2.0 */
/* RT apps and the EDF class of the scheduler, as the files of rt know them. */
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
 * Its budget is a hard reservation, a constant-bandwidth server whose budget is given anew at the period's begin and
 * not before (the hard CBS rule: Abeni, Buttazzo, "Integrating multimedia applications in hard real-time systems", RTSS
 * 1998; hard reservations: Rajkumar, Juvva, Molano, Oikawa, "Resource kernels", MMCN 1998). Every period, done or not, it
 * asks for at most `budget` by `deadline`, which is what admission has counted.
 */
struct rt_app {
    struct heap_node release; /* in the CPU's releases while active: key is its next release */
    struct heap_node ready;   /* in the CPU's ready queue while it is ready: key is its absolute deadline */
    struct vcpu *vcpu;        /* NULL: the slot belongs to no VM */
    enum rt_state state;
    bool done;      /* its job has ended: it waits for the next release */
    bool overrun;   /* its budget is used up: it waits for the next release */
    bool missed;    /* its job has missed its deadline, and was counted */
    uint8_t demand; /* while active: its place among the demands of its CPU */
    unsigned cpu;   /* that it is pinned to */
    ticks_t period, budget, deadline;
    uint64_t share;   /* budget / period, in units of 1 / RT_WHOLE_CPU, rounded down */
    ticks_t released; /* when the current job was */
    ticks_t ended;    /* when the last job had; written by the CPU that the app runs on */
    ticks_t limit;    /* of vcpu->runtime: where the budget ends */
    gpa_t entry, stack;
    ulong arg;
    struct rt_abi_stats stats; /* its runtime: minus what the slot's VCPU had used before */
    struct rt_admit test;      /* of its launch; count 0: not begun */
    unsigned tested;           /* rt_demands.changes when it was begun */
};

#define RT_WHOLE_CPU (UINT64_C(1) << 32)

/* What the active apps of a CPU demand, in no order, and behind them the one whose launch takes a step. */
struct rt_demands {
    unsigned changes; /* of the set of active apps */
    unsigned count;   /* of the active */
    struct rt_demand demand[RT_QUEUE_MAX];
    uint16_t vcpus[RT_QUEUE_MAX]; /* whose they are: places in hyp.vcpus */
};

/* The real-time side of one CPU. Guarded by sched_lock. */
struct rt_cpu {
    struct rt_queue releases; /* of all active apps */
    struct rt_queue ready;
    struct rt_app *left; /* has left the CPU ready, and is in no queue, until the next is picked; or NULL */
    bool carries;        /* an app has left, and since then some app was always ready or running */
    bool kicked;         /* a launch has interrupted it, and since then some app was always ready or running */
    ticks_t settled;     /* before this moment best effort may still wait for time that an app that left has had */
    uint64_t shares[SYSIMAGE_MAX_VMS]; /* the sums of the VMs' active apps */
    unsigned order;                    /* of releases: the last one's; goes round */
    const struct rt_app *last;         /* released last, or NULL: then it is in the trace */
    struct rt_demands demands;
};

/* Of the system. Owner: edf_init() */
extern struct rt_costs rt_costs;

/* Gives every VM its slots, all free. At boot. */
void rt_apps_init(void);

/* The slot of app `id` of `vm`, NULL if the VM has no such. */
struct rt_app *rt_app_of(const struct vm *vm, ulong id);

/* The EDF class. */
extern const struct sched_class rt_class;

struct rt_cpu *rt_cpu_of(unsigned cpu);

/* What the app asks of its CPU, the hypervisor's work for it included. */
struct rt_demand rt_demand_of(const struct rt_app *app);

/*
 * Under sched_lock: an app has left the CPU, and there are still jobs that it has delayed, or best effort: what it has used
 * of its last period would be given twice if another took its place now. From the first moment on in which no app is ready
 * the past does not matter to the apps, for a job that is late then is so by what was released since. That moment comes:
 * without the app that has left, the others do not fill the CPU. Best effort has waited meanwhile, and may not have got its
 * reserve before the bound of that has passed: apps that leave and take each other's places, one after the other, could
 * keep it waiting for ever.
 */
bool rt_carries(unsigned cpu);

/*
 * Under sched_lock: the launch of an admitted app with this first release has to wait, because it would interrupt the app
 * that runs on another CPU. The first interrupt of a launch between two moments in which no app is ready is let through, so
 * no app pays for more than one. A launch whose release is due now does not wait: the release interrupts anyway, and is
 * given back to the app that it interrupts.
 */
bool rt_must_wait(const struct rt_app *app, ticks_t first);

/* Under sched_lock: whether the app's deletion has to wait, because an app runs on its CPU, another one, whose clock is set
 * to this one's release: it would be interrupted for nothing. No longer than until then. */
bool rt_must_stay(const struct rt_app *app);

/* Under sched_lock: makes an app, whose VCPU was reset, active from `first` on. Its CPU is interrupted only if the release
 * comes before the next one there. */
void rt_activate(struct rt_app *app, ticks_t first);

/* Under sched_lock: CPU time that the app has had since its launch, its current slice included. */
ticks_t rt_used(const struct rt_app *app, ticks_t now);

/* The running app's job has ended; counted once the scheduler has run on this CPU. */
void rt_end_job(struct rt_app *app);

#endif
