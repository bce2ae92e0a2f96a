/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that the manager itself operates for a VM: AES-CBC for its virtio-crypto (cipher_unit.h).
 * Each is a client of the fabric of its own, with one device and the VM's DMA windows. Its page is
 * in no guest's second stage, and no hypercall of a guest finds it.
 *
 * A VCPU that waits for a job is suspended, and resumed by a timer when the job should be over: the
 * time of a job is known, unless its region is taken for another client. Then the timer checks
 * again.
 */
#include "accel.h"
#include "arch.h"
#include "cpu.h"
#include "fabric_windows.h"
#include "sched.h"
#include "system.h"

#define COMMAND_ENCRYPT 2U /* CBC (docs/hwtasks.md) */
#define COMMAND_DECRYPT 3U
#define BLOCK_CYCLES 17U /* of the fabric: 16.1 measured */
#define START_CYCLES 64U
/* at a job that is late, in the time that it should take; then ever fewer, down to one in
 * LOOK_US */
#define LOOKS 8U
#define LOOK_US 1000U

enum unit_state {
    UNIT_STOPPED = 0, /* its windows are closed */
    UNIT_OPEN,
    UNIT_STOPS, /* cipher_unit_stop() is not done */
};

struct unit {
    enum unit_state state; /* guarded by accels.lock, as is all that follows */
    ticks_t due;           /* the job should be over */
    ticks_t interval;      /* until the next check, once `due` has passed */
    uint64_t entry;        /* of its page, which no translation table has */
};

static struct unit units[ACCEL_MAX_CLIENTS]; /* by number of the client; owner: this file */
static const struct unit *awaited[SYSIMAGE_MAX_VCPUS]; /* by number of the VCPU that waits; guarded
                                                          by sched_lock; owner: this file */
static struct timer look;                              /* owner: this file */

static struct unit *unit_of(const struct accel_vm *c)
{
    return &units[c->number];
}

static struct accel *device_of(const struct accel_vm *c)
{
    struct accel *found = NULL;

    for (unsigned i = 0; i < ACCEL_MAX_DEVICES && found == NULL; i++) {
        found = c->accels[i];
    }
    return found;
}

/* The client that is unit `number` of the VM, or NULL. */
static struct accel_vm *client_of(const struct vm *vm, uint32_t number)
{
    struct accel_vm *c =
        accels.image != NULL && number < accels.image->nclients ? &accels.clients[number] : NULL;

    return c != NULL && c->config->operated != 0 && c->vm == vm && device_of(c) != NULL ? c : NULL;
}

bool accel_hide_page(struct accel *a)
{
    struct unit *u = unit_of(a->client);

    a->page = (struct arch_page){a->client->vm, (gpa_t)a->config->gpa, &u->entry};
    a->client->stopping = true; /* until its first job */
    return true;
}

/* --- jobs; with accels.lock held --- */

static bool within(const struct sysimage_region *r, uint64_t gpa, uint32_t size)
{
    return gpa >= r->gpa && gpa - r->gpa < r->size && size <= r->size - (gpa - r->gpa);
}

/* Whether one of the VM's windows contains the range: fabric_windows_open() has opened the same
 * ones. */
static bool has_window(const struct memmap *map, uint64_t gpa, uint32_t size)
{
    unsigned used = 0;

    for (unsigned i = 0; i < map->count && used < FABRIC_WINDOWS_OF_VM; i++) {
        if (memmap_for_dma(map, &map->regions[i])) {
            if (within(&map->regions[i], gpa, size)) {
                return true;
            }
            used++;
        }
    }
    return false;
}

/* Whether the device has a region from here on; requests one if it has not. */
static bool connected(struct accel_vm *c, struct accel *a)
{
    struct unit *u = unit_of(c);

    if (u->state == UNIT_STOPPED) {
        fabric_windows_open(accel_windows_of(c), &c->vm->memmap);
        c->stopping = false;
        u->state = UNIT_OPEN;
    }
    if (u->state == UNIT_OPEN && a->state == ACCEL_IDLE) {
        accel_request_region(a);
    }
    return u->state == UNIT_OPEN && a->state == ACCEL_CONNECTED;
}

static void write_address(const struct accel *a, ulong offset, uint64_t gpa)
{
    accel_if_write(a, offset, (uint32_t)gpa);
    accel_if_write(a, offset + 4U, (uint32_t)(gpa >> 32));
}

static void write_words(const struct accel *a, unsigned first, const uint32_t words[4])
{
    for (unsigned i = 0; i < 4U; i++) {
        accel_if_write(a, FABRIC_IF_CUSTOM + (first + i) * FABRIC_IF_CUSTOM_STRIDE, words[i]);
    }
}

/* If the region expires before START is written, the job is pending, and the manager finds it as a
 * guest's (accel_lost()). */
static void start(const struct accel *a, const struct cipher_job *job)
{
    struct unit *u = unit_of(a->client);
    uint64_t cycles = START_CYCLES + (uint64_t)(job->size / CIPHER_UNIT_BLOCK) * BLOCK_CYCLES;
    ticks_t time = (ticks_t)(cycles * 1000U * hyp.us / accels.image->clock_khz);

    write_words(a, 0, job->key);
    write_words(a, 4, job->vector);
    accel_if_write(a, FABRIC_IF_CMD, job->decrypts ? COMMAND_DECRYPT : COMMAND_ENCRYPT);
    write_address(a, FABRIC_IF_DATA_ADDR, job->source);
    write_address(a, FABRIC_IF_RESULT, job->result);
    accel_if_write(a, FABRIC_IF_DATA_SIZE, job->size);
    accel_if_write(a, FABRIC_IF_START, 1);
    u->due = arch_time() + time;
    u->interval = time / LOOKS + 1U;
}

bool cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job)
{
    struct accel_vm *c = client_of(vm, unit);
    bool begun;

    if (c == NULL || !has_window(&vm->memmap, job->source, job->size) ||
        !has_window(&vm->memmap, job->result, job->size)) {
        return false;
    }
    spin_lock(&accels.lock);
    begun = connected(c, device_of(c));
    if (begun) {
        start(device_of(c), job);
    }
    accel_unlock();
    return begun;
}

static bool is_over(const struct accel *a)
{
    return ACCEL_FIELD(accel_if_read(a, FABRIC_IF_STAT), FABRIC_IF_STAT_OVER) != 0;
}

/* --- waiting --- */

/* With sched_lock held: the timer checks at `due`, or earlier. */
static void look_at(ticks_t due)
{
    if (!timer_armed(&look) || due < look.node.key) {
        timer_arm(&look, due);
    }
}

static void suspend_until_over(const struct unit *u)
{
    struct vcpu *v = cpu_self()->current;
    ticks_t now = arch_time();

    spin_lock(&sched_lock);
    awaited[v - hyp.vcpus] = u;
    look_at(now < u->due ? u->due : now + u->interval);
    vcpu_suspend(v);
    spin_unlock(&sched_lock);
}

/* With sched_lock held: the first VCPU that waits for the unit, or NULL. */
static struct vcpu *waiter_of(const struct vm *vm, const struct unit *u)
{
    for (unsigned i = 0; i < vm->total; i++) {
        if (awaited[&vm->vcpus[i] - hyp.vcpus] == u) {
            return &vm->vcpus[i];
        }
    }
    return NULL;
}

/* Resumes a VCPU that waits for the unit if its job is over, or lost; else the timer checks again
 * later. A VCPU that was turned off since stays off. */
static void look_at_unit(const struct accel_vm *c)
{
    struct unit *u = unit_of(c);
    bool over = u->state != UNIT_OPEN || is_over(device_of(c));
    struct vcpu *v;

    spin_lock(&sched_lock);
    v = waiter_of(c->vm, u);
    if (v != NULL && over) {
        awaited[v - hyp.vcpus] = NULL;
        vcpu_resume(v);
        over = waiter_of(c->vm, u) == NULL;
    }
    if (v != NULL && !over) {
        look_at(arch_time() + u->interval);
        u->interval = u->interval < LOOK_US * hyp.us ? 2U * u->interval : u->interval;
    }
    spin_unlock(&sched_lock);
}

/* Without locks: a timer's. */
static void look_at_units(struct timer *t)
{
    (void)t;
    spin_lock(&accels.lock);
    for (unsigned i = 0; i < accels.image->nclients; i++) {
        if (accels.clients[i].config->operated != 0) {
            look_at_unit(&accels.clients[i]);
        }
    }
    accel_unlock();
}

enum cipher_outcome cipher_unit_result(uint32_t unit)
{
    const struct accel_vm *c = &accels.clients[unit];
    const struct accel *a = device_of(c);
    enum cipher_outcome outcome = CIPHER_RUNS;
    static const uint32_t no_key[4];

    spin_lock(&accels.lock);
    if (is_over(a)) {
        bool failed = ACCEL_FIELD(accel_if_read(a, FABRIC_IF_STAT), FABRIC_IF_STAT_FAULT) != 0 ||
                      accel_if_read(a, FABRIC_IF_DONE_CODE) != 0;

        outcome = failed ? CIPHER_FAILED : CIPHER_DONE;
        accel_if_write(a, FABRIC_IF_OVER, 1);
        write_words(a, 0, no_key);
    } else {
        suspend_until_over(unit_of(c));
    }
    accel_unlock();
    return outcome;
}

bool cipher_unit_stop(const struct vm *vm, uint32_t unit)
{
    struct accel_vm *c = client_of(vm, unit);
    bool stopped = true;

    if (c == NULL) {
        return true;
    }
    spin_lock(&accels.lock);
    if (unit_of(c)->state != UNIT_STOPPED) {
        unit_of(c)->state = UNIT_STOPS;
        c->stopping = true;
        stopped = accel_withdraw_device(device_of(c));
    }
    if (stopped && unit_of(c)->state == UNIT_STOPS) {
        fabric_windows_close(accel_windows_of(c));
        accel_reset_device(device_of(c)); /* clears the key, too */
        unit_of(c)->state = UNIT_STOPPED;
    }
    accel_unlock();
    return stopped;
}

void units_boot(void)
{
    timer_init(&look, look_at_units);
    look.unlocked = true;
}
