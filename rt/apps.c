/* SPDX-License-Identifier: Apache-2.0 */
/* The lifecycle of RT apps: created inactive by the real-time manager, admitted and launched,
 * deleted. */
#include "arch.h"
#include "atomic.h"
#include "calls.h"
#include "component.h"
#include "console.h"
#include "guestmem.h"
#include "rt_app.h"
#include "system.h"

#define PERIOD_MAX_US 0x7fffffffU
#define CODE_ALIGN 2U
#define STACK_ALIGN 16U

static struct rt_app apps[SYSIMAGE_MAX_RT_APPS]; /* owner: this file; each guarded by sched_lock */

void rt_apps_init(void)
{
    unsigned used = 0;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        struct vm *vm = &hyp.vms[i];

        for (unsigned n = vm->nvcpus; n < vm->total; n++, used++) {
            apps[used] = (struct rt_app){.vcpu = &vm->vcpus[n]};
            vm->vcpus[n].sched = &rt_class;
            vm->vcpus[n].data[COMPONENT_RT] = &apps[used];
        }
    }
}

struct rt_app *rt_app_of(const struct vm *vm, ulong id)
{
    return id < vm->total - vm->nvcpus ? vm->vcpus[vm->nvcpus + id].data[COMPONENT_RT] : NULL;
}

static ulong id_of(const struct rt_app *app)
{
    return app->vcpu->id - app->vcpu->vm->nvcpus;
}

static struct hcall_ret answer(long error, ulong value)
{
    return (struct hcall_ret){error, value};
}

/* --- create --- */

/* The first field, addresses aside, whose value is out of range; RT_FIELD_NONE if all are valid. */
static ulong wrong_number(const struct rt_params *abi)
{
    if (abi->period_us == 0 || abi->period_us > PERIOD_MAX_US) {
        return RT_FIELD_PERIOD;
    }
    if (abi->deadline_us == 0 || abi->deadline_us > abi->period_us) {
        return RT_FIELD_DEADLINE;
    }
    if (abi->budget_us == 0 || abi->budget_us > abi->deadline_us) {
        return RT_FIELD_BUDGET;
    }
    return abi->cpu < hyp.ncpus ? RT_FIELD_NONE : RT_FIELD_CPU;
}

static ulong wrong_address(const struct vm *vm, const struct rt_params *abi)
{
    hpa_t hpa;

    if (!memmap_ram(&vm->memmap, memmap_address(abi->entry), 4, &hpa) ||
        abi->entry % CODE_ALIGN != 0) {
        return RT_FIELD_ENTRY;
    }
    if (!memmap_ram(&vm->memmap, memmap_address(abi->stack - STACK_ALIGN), STACK_ALIGN, &hpa) ||
        abi->stack % STACK_ALIGN != 0) {
        return RT_FIELD_STACK;
    }
    return RT_FIELD_NONE;
}

/* The first field whose value, valid in itself, the VM's system file does not allow. */
static ulong denied_field(const struct sysimage_vm *config, const struct rt_params *abi)
{
    if ((config->rt_harts >> abi->cpu & 1U) == 0) {
        return RT_FIELD_CPU;
    }
    if (abi->period_us > config->rt_period_max_us) {
        return RT_FIELD_PERIOD;
    }
    return abi->budget_us > config->rt_budget_max_us ? RT_FIELD_BUDGET : RT_FIELD_NONE;
}

static void report_denied(const struct rt_app *app, const struct rt_params *abi, ulong field)
{
    const struct sysimage_vm *config = app->vcpu->vm->config;

    if (field == RT_FIELD_CPU) {
        console_log_minor("%s: app %lu refused: CPU %u, rt-harts does not name it", config->name,
                          id_of(app), abi->cpu);
    } else if (field == RT_FIELD_PERIOD) {
        console_log_minor("%s: app %lu refused: period %u us, rt-period-max-us allows %u",
                          config->name, id_of(app), abi->period_us, config->rt_period_max_us);
    } else {
        console_log_minor("%s: app %lu refused: budget %u us, rt-budget-max-us allows %u",
                          config->name, id_of(app), abi->budget_us, config->rt_budget_max_us);
    }
}

/* Makes an inactive app in a slot that is still free: another VCPU of the VM may have taken it. */
static bool make_app(struct rt_app *app, const struct rt_params *abi)
{
    bool free;

    spin_lock(&sched_lock);
    /* The VCPU of a free slot is off: the slot is freed after the VCPU has left its CPU. A stopping
     * VM removes its apps. */
    free = app->state == RT_FREE && app->vcpu->vm->state == VM_RUNNING;
    if (free) {
        app->state = RT_INACTIVE;
        app->test.count = 0;
        app->cpu = abi->cpu;
        app->period = abi->period_us * hyp.us;
        app->budget = abi->budget_us * hyp.us;
        app->deadline = abi->deadline_us * hyp.us;
        app->share = abi->budget_us * RT_WHOLE_CPU / abi->period_us;
        app->wait = 0;
        app->devices = 0;
        app->stats =
            (struct rt_stats){.response_min = TICKS_NEVER, .runtime = 0 - app->vcpu->runtime};
        /* The VCPU begins as a hart does, with a stack. Here, since the launch holds the lock for
         * longer. */
        arch_vcpu_reset(app->vcpu, (ulong)abi->entry, (ulong)abi->arg);
        arch_vcpu_argument(app->vcpu, id_of(app), (ulong)abi->stack);
    }
    spin_unlock(&sched_lock);
    return free;
}

/* The first free slot of the VM, or NULL. Searched without the lock, as there may be many. */
static struct rt_app *free_slot(const struct vm *vm)
{
    for (unsigned n = vm->nvcpus; n < vm->total; n++) {
        struct rt_app *app = vm->vcpus[n].data[COMPONENT_RT];

        if (atomic_load_relaxed(&app->state) == RT_FREE) {
            return app;
        }
    }
    return NULL;
}

/* Makes an app of valid parameters in a free slot, if the system file allows it. If the slot was
 * taken in the meantime, the guest repeats the call, with a polling point in between: in a stopping
 * VM every slot would fail. */
static struct hcall_ret make_if_allowed(const struct vm *vm, const struct rt_params *abi)
{
    ulong denied = denied_field(vm->config, abi);
    struct rt_app *app = free_slot(vm);

    if (app == NULL) {
        return answer(HCALL_ERR_FAILED, 0);
    }
    if (denied != RT_FIELD_NONE) {
        report_denied(app, abi, denied);
        return answer(HCALL_ERR_DENIED, denied);
    }
    return make_app(app, abi) ? answer(HCALL_OK, id_of(app)) : answer(HCALL_AGAIN, 0);
}

struct hcall_ret rt_create_app(ulong gpa, ulong size, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vm *vm = cpu_self()->current->vm;
    struct rt_params abi;
    ulong wrong;

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (vm->total == vm->nvcpus) {
        return answer(HCALL_ERR_DENIED, RT_FIELD_NONE);
    }
    if (size != sizeof(abi)) {
        return answer(HCALL_ERR_INVALID_PARAM, RT_FIELD_NONE);
    }
    if (!guestmem_read(vm, gpa, &abi, sizeof(abi))) {
        return answer(HCALL_ERR_INVALID_ADDRESS, RT_FIELD_NONE);
    }
    wrong = wrong_address(vm, &abi);
    if (wrong != RT_FIELD_NONE) {
        return answer(HCALL_ERR_INVALID_ADDRESS, wrong);
    }
    wrong = wrong_number(&abi);
    return wrong != RT_FIELD_NONE ? answer(HCALL_ERR_INVALID_PARAM, wrong)
                                  : make_if_allowed(vm, &abi);
}

/* --- launch --- */

/*
 * One step of the admission of `app` to its CPU. The test belongs to the app: two callers that
 * launch the same app advance the same test, which stays valid as long as the set of active apps is
 * unchanged, and two that launch different apps do not disturb each other until one app is
 * launched.
 */
static enum rt_verdict admission_step(struct rt_app *app)
{
    struct rt_demands *all = &rt_cpu_of(app->cpu)->demands;
    enum rt_verdict before = RT_UNDECIDED;

    all->demand[all->count] = rt_demand_of(app);
    if (app->test.count == 0 || app->tested != all->changes) {
        app->tested = all->changes;
        rt_admit_begin(&app->test, all->demand, all->count + 1, all->users + (app->wait != 0),
                       &rt_costs);
    } else {
        before = app->test.verdict;
        (void)rt_admit_step(&app->test);
    }
    return before; /* acting on a verdict takes as long as a step, and is done in the next one */
}

/* Starts the VCPU, which make_app() has reset. Returns its first release. */
static ticks_t launch(struct rt_app *app, ticks_t first)
{
    struct vcpu *v = app->vcpu;
    ticks_t now = arch_time();

    v->request = 0;
    v->pending = 0;
    components_vcpu_start(v);
    v->last_cpu = VCPU_NO_CPU;
    v->vm->on++;
    first = first > now ? first : now;
    rt_activate(app, first);
    return first;
}

static bool may_launch(const struct vm *caller, const struct vm *vm)
{
    return caller == vm || (vm->config->rt_launchers & (1U << caller->id)) != 0;
}

/* The result of a step of a launch, and the figures that are reported after sched_lock is
 * released. */
struct launch {
    enum rt_verdict verdict;
    ticks_t at, demand; /* of the test */
    unsigned late;      /* RT_DELAYED: id of the app whose job on a device would be late */
    const char *of;     /* and the name of its VM */
    uint64_t share;     /* of the VM's apps in the CPU, if it would exceed rt-share-max; else 0 */
};

static ulong us_of(ticks_t ticks)
{
    return (ulong)((ticks + hyp.us - 1) / hyp.us);
}

static void report_delay(const struct rt_app *app, const struct launch *l)
{
    console_log_minor(
        "%s: app %lu refused: a job of %s's app %u on a device would take up to %lu us",
        app->vcpu->vm->config->name, id_of(app), l->of, l->late, us_of(l->at));
}

static void report_refusal(const struct rt_app *app, const struct launch *l)
{
    const char *name = app->vcpu->vm->config->name;

    if (l->verdict == RT_GAVE_UP) {
        console_log_minor("%s: app %lu refused: the test of CPU %u is undecided after %u passes",
                          name, id_of(app), app->cpu, RT_ADMIT_PASSES);
    } else if (l->verdict == RT_STARVES) {
        console_log_minor("%s: app %lu refused: best effort would get %u us of CPU %u in no less "
                          "than %lu us, be-reserve-us "
                          "allows %u",
                          name, id_of(app), hyp.image->be_reserve_us, app->cpu, us_of(l->at),
                          hyp.image->be_late_us);
    } else if (l->at == 0) {
        console_log_minor("%s: app %lu refused: the utilization of CPU %u would exceed 1", name,
                          id_of(app), app->cpu);
    } else {
        console_log_minor("%s: app %lu refused: in %lu us the apps of CPU %u would demand %lu us",
                          name, id_of(app), us_of(l->at), app->cpu, us_of(l->demand));
    }
}

static struct hcall_ret refuse(const struct rt_app *app, const struct launch *l)
{
    if (l->verdict == RT_DELAYED) {
        report_delay(app, l);
        return answer(HCALL_ERR_BAD_RANGE, us_of(l->at));
    }
    report_refusal(app, l);
    if (l->verdict == RT_REFUSED) {
        return answer(HCALL_ERR_FAILED, us_of(l->at));
    }
    return answer(HCALL_ERR_FAILED,
                  l->verdict == RT_STARVES ? RT_REFUSED_RESERVE : RT_REFUSED_UNDECIDED);
}

static struct hcall_ret deny_share(const struct rt_app *app, uint64_t share)
{
    const struct sysimage_vm *config = app->vcpu->vm->config;

    console_log_minor("%s: app %lu refused: %lu %% of CPU %u, rt-share-max allows %u", config->name,
                      id_of(app), (ulong)((share * 100U + RT_WHOLE_CPU - 1) / RT_WHOLE_CPU),
                      app->cpu, config->rt_share_max);
    return answer(HCALL_ERR_DENIED, RT_DENIED_SHARE);
}

/* Extends a register to a time; a register of 32 bits holds the low half of the time nearest to
 * now. 0 means now. */
static inline ticks_t extend_time(ulong low)
{
    ticks_t now;

    if (sizeof(low) == sizeof(now) || low == 0) {
        return low;
    }
    now = arch_time();
    return now + (ticks_t)(long)(low - (ulong)now);
}

/* Under sched_lock: the share of the VM's apps in the CPU, with `app`, if it exceeds rt-share-max;
 * else 0. */
static uint64_t share_beyond(const struct rt_app *app)
{
    const struct vm *vm = app->vcpu->vm;
    uint64_t share = rt_cpu_of(app->cpu)->shares[vm->id] + app->share;

    return share * 100U > vm->config->rt_share_max * RT_WHOLE_CPU ? share : 0;
}

/* Under sched_lock: notes which app's job on a device would be late if `app` was launched. */
static void note_late(const struct rt_app *app, struct launch *l)
{
    const struct rt_demands *all = &rt_cpu_of(app->cpu)->demands;
    const struct vcpu *v =
        app->test.user < all->count ? &hyp.vcpus[all->vcpus[app->test.user]] : app->vcpu;

    l->late = v->id - v->vm->nvcpus;
    l->of = v->vm->config->name;
}

/* Under sched_lock: one step of a launch. */
static struct hcall_ret launch_step(struct rt_app *app, ticks_t first, struct launch *l)
{
    enum rt_state state = app->vcpu->vm->state == VM_RUNNING ? app->state : RT_FREE;

    if (state != RT_INACTIVE) {
        return answer(state == RT_ACTIVE ? HCALL_ERR_ALREADY_AVAILABLE : HCALL_ERR_INVALID_PARAM,
                      0);
    }
    l->verdict = rt_carry_in(app->cpu) ? RT_UNDECIDED : admission_step(app);
    l->at = app->test.at;
    l->demand = app->test.demand;
    if (l->verdict == RT_DELAYED) {
        note_late(app, l);
    }
    l->share = l->verdict == RT_ADMITTED ? share_beyond(app) : 0;
    if (l->verdict == RT_ADMITTED && l->share == 0 && !rt_must_wait(app, first)) {
        return answer(HCALL_OK, (ulong)launch(app, first));
    }
    return answer(HCALL_AGAIN, 0); /* or a refusal, which the caller finds in `l` */
}

/* The VM that a caller means, or NULL. */
static struct vm *vm_named(struct vm *caller, ulong id)
{
    if (id == RT_OWN_VM) {
        return caller;
    }
    return id < hyp.nvms ? &hyp.vms[id] : NULL;
}

struct hcall_ret rt_launch_app(ulong vm_id, ulong id, ulong first, ulong a3, ulong a4, ulong a5)
{
    struct vm *caller = cpu_self()->current->vm;
    struct vm *vm = vm_named(caller, vm_id);
    struct rt_app *app = vm != NULL ? rt_app_of(vm, id) : NULL;
    struct launch l = {0};
    struct hcall_ret ret;

    (void)a3, (void)a4, (void)a5;
    if (vm != NULL && !may_launch(caller, vm)) {
        return answer(HCALL_ERR_DENIED, RT_DENIED_CALLER);
    }
    if (app == NULL) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&sched_lock);
    ret = launch_step(app, extend_time(first), &l);
    spin_unlock(&sched_lock);
    if (l.share != 0) {
        return deny_share(app, l.share);
    }
    return l.verdict == RT_UNDECIDED || l.verdict == RT_ADMITTED ? ret : refuse(app, &l);
}

/* --- end --- */

/* Under sched_lock: removes an active app at once, or, if it runs, with its CPU's next scheduling.
 * An app whose VM stops is removed by the VM's stop. */
static void delete_active(struct rt_app *app)
{
    struct vcpu *v = app->vcpu;

    if ((v->request & VCPU_REQ_OFF) != 0) {
        return;
    }
    if (v->state != VCPU_RUNNING) {
        sched_remove(v);
        vm_vcpu_turned_off(v);
    } else {
        atomic_or_relaxed(&v->request, VCPU_REQ_OFF);
        cpu_kick(v->cpu, IPI_RESCHED);
    }
}

struct hcall_ret rt_delete_app(ulong id, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vcpu *caller = cpu_self()->current;
    struct rt_app *app = id == RT_SELF ? caller->data[COMPONENT_RT] : rt_app_of(caller->vm, id);
    enum rt_state state = RT_FREE;
    bool again = false;

    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (app == NULL) {
        return answer(caller->vm->total == caller->vm->nvcpus ? HCALL_ERR_DENIED
                                                              : HCALL_ERR_INVALID_PARAM,
                      0);
    }
    spin_lock(&sched_lock);
    state = app->state;
    if (state == RT_INACTIVE) {
        app->state = RT_FREE;
    } else if (state == RT_ACTIVE && rt_must_stay(app)) {
        again = true;
    } else if (state == RT_ACTIVE) {
        delete_active(app);
    }
    spin_unlock(&sched_lock);
    if (again) {
        return answer(HCALL_AGAIN, 0);
    }
    return answer(state == RT_FREE ? HCALL_ERR_INVALID_PARAM : HCALL_OK, 0);
}

struct hcall_ret rt_end(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vcpu *v = cpu_self()->current;

    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (v->sched != &rt_class) {
        return answer(HCALL_ERR_DENIED, 0);
    }
    rt_end_job(v->data[COMPONENT_RT]);
    return answer(HCALL_OK, 0);
}

struct hcall_ret rt_get_stats(ulong id, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    struct vm *vm = cpu_self()->current->vm;
    const struct rt_app *app = rt_app_of(vm, id);
    struct rt_stats stats;
    enum rt_state state;

    (void)a3, (void)a4, (void)a5;
    if (app == NULL || size != sizeof(stats)) {
        return answer(vm->total == vm->nvcpus ? HCALL_ERR_DENIED : HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&sched_lock);
    state = app->state;
    stats = app->stats;
    stats.runtime += rt_used(app, arch_time()); /* less what the slot had used before */
    spin_unlock(&sched_lock);
    if (state == RT_FREE) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    return answer(
        guestmem_write(vm, gpa, &stats, sizeof(stats)) ? HCALL_OK : HCALL_ERR_INVALID_ADDRESS, 0);
}
