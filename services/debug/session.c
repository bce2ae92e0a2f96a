/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One VM under a debugger. The VM is halted without touching the ready queues: sched_watch leaves
 * out each of its VCPUs when the scheduler picks it. Everything else in debugging is done by the
 * tool on the host.
 */
#include "session.h"

#include "arch.h"
#include "guestmem.h"
#include "lib.h"
#include "sched.h"
#include "system.h"

#define WORD 8U             /* bytes per register */
#define RESUMED_AT_ONCE 12U /* VCPUs resumed between polling points */

static struct {
    struct vm *vm;     /* NULL: no session */
    struct vcpu *only; /* the only VCPU that may run, NULL: all; if not halted */
    bool halted;
    enum debug_reason reason; /* why it is halted, or DEBUG_REASON_RUNS */
    unsigned vcpu;            /* VCPU that caused `reason` */
    unsigned next;            /* next VCPU to resume, 0: not resuming */
    unsigned starts;          /* last seen vm->starts; a different number means a restart */
} session;                    /* owner: this file; guarded by sched_lock */

static uint64_t word_of(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < WORD; i++) {
        value |= (uint64_t)bytes[i] << (8U * i);
    }
    return value;
}

static void word_to(uint8_t *bytes, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(value >> (8U * i));
    }
}

/* Caller holds sched_lock, here and below. */
static bool runs_on(const struct cpu *cpu)
{
    return cpu->current != NULL && cpu->current->vm == session.vm;
}

static void halt(enum debug_reason reason, unsigned vcpu)
{
    if (!session.halted) {
        session.halted = true;
        session.reason = reason;
        session.vcpu = vcpu;
    }
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (runs_on(cpu_get(i)) && cpu_get(i) != cpu_self()) {
            cpu_kick(cpu_get(i), IPI_RESCHED);
        }
    }
    cpu_self()->flags |= CPU_RESCHED;
}

/* A restarted VM is halted first: its breakpoints are gone with its memory. */
static bool must_halt(const struct vcpu *v)
{
    if (session.starts != session.vm->starts) {
        session.starts = session.vm->starts;
        session.halted = false;
        halt(DEBUG_REASON_RESTART, v->id);
    }
    return session.halted || (session.only != NULL && session.only != v);
}

static bool session_picked(struct vcpu *v)
{
    bool debugged = v->vm == session.vm;

    /* other work in its slice does not run the guest */
    if (debugged && v->request == 0 && must_halt(v)) {
        sched_hold(v);
        v->request = VCPU_REQ_HELD;
        return false;
    }
    arch_cpu_breakpoints(debugged);
    return true;
}

static bool session_breakpoint(struct vcpu *v)
{
    bool debugged;

    spin_lock(&sched_lock);
    debugged = v->vm == session.vm;
    if (debugged) {
        halt(DEBUG_REASON_BREAKPOINT, v->id);
    }
    spin_unlock(&sched_lock);
    if (debugged) {
        answer_event(DEBUG_OK);
    }
    return debugged;
}

static const struct sched_watch session_watch = {.picked = session_picked,
                                                 .breakpoint = session_breakpoint};

static void resume_vcpu(struct vcpu *v)
{
    if (v->state != VCPU_RUNNING) {
        v->last_cpu = VCPU_NO_CPU; /* registers and instructions may have changed */
    }
    if (v->state != VCPU_HELD || (session.only != NULL && session.only != v)) {
        return;
    }
    if (v->sched != NULL) {
        v->sched->hold(v);
        v->state = VCPU_BLOCKED; /* until its next release */
    } else {
        sched_wake(v);
    }
}

/* Resumes the next VCPUs; true when all are done. A new halt in between takes effect at once. */
static bool resume_vcpus(struct vcpu *only)
{
    if (session.next == 0) {
        session.halted = false;
        session.only = only;
        session.reason = DEBUG_REASON_RUNS;
    }
    do {
        resume_vcpu(&session.vm->vcpus[session.next++]);
    } while (session.next < session.vm->total && session.next % RESUMED_AT_ONCE != 0);
    session.next = session.next < session.vm->total ? session.next : 0;
    return session.next == 0;
}

/* Ends the session in steps; true when done. */
static bool end_session(void)
{
    if (session.vm != NULL) {
        if (!resume_vcpus(NULL)) {
            return false;
        }
        vm_suspend_watchdog(session.vm, false);
        session.vm = NULL;
        sched_set_watch(NULL);
    }
    return true;
}

static bool is_halted(void)
{
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (runs_on(cpu_get(i))) {
            return false;
        }
    }
    return session.halted && session.vm->state == VM_RUNNING &&
           session.starts == session.vm->starts;
}

/* Whether the VM runs, or will run without an operator's command. */
static bool is_on(const struct vm *vm)
{
    return vm->state == VM_STOPPING ? vm->restart : vm->state != VM_STOPPED;
}

/* --- operations; they return the size of the answer's data --- */

/* A request that is being executed. */
struct call {
    const struct debug_request *request;
    struct debug_answer *answer;
    uint64_t address;  /* guest-physical, or the number of a register */
    unsigned size;     /* bytes */
    struct vcpu *vcpu; /* VCPU of the request, NULL: none */
};

static unsigned fail(const struct call *c, enum debug_error error)
{
    c->answer->error = (uint8_t)error;
    return 0;
}

static bool is_name(const char *name, const uint8_t *data, unsigned size)
{
    unsigned i = 0;

    for (; i < size && name[i] != '\0' && name[i] == (char)data[i]; i++) {
    }
    return i == size && name[i] == '\0';
}

static struct vm *find_vm(const uint8_t *name, unsigned size)
{
    for (unsigned i = 0; i < hyp.nvms; i++) {
        if (is_name(hyp.vms[i].config->name, name, size)) {
            return &hyp.vms[i];
        }
    }
    return NULL;
}

static unsigned attach(const struct call *c)
{
    struct vm *vm = find_vm(c->request->data, c->size);

    answers_begin(c->address);
    if (vm == NULL) {
        return fail(c, DEBUG_ERR_NO_VM);
    }
    if (!is_on(vm)) {
        return fail(c, DEBUG_ERR_OFF);
    }
    if (!end_session()) {
        return fail(c, DEBUG_MORE);
    }
    session.vm = vm;
    session.starts = vm->starts;
    vm_suspend_watchdog(vm, true);
    sched_set_watch(&session_watch);
    halt(DEBUG_REASON_ASKED, 0);
    c->answer->data[0] = DEBUG_VERSION;
    c->answer->data[1] = (uint8_t)vm->total;
    c->answer->data[2] = (uint8_t)(vm->total - vm->nvcpus);
    return 3;
}

static unsigned detach(const struct call *c)
{
    return end_session() ? 0 : fail(c, DEBUG_MORE);
}

static unsigned status(const struct call *c)
{
    struct debug_status *s = (struct debug_status *)c->answer->data;
    const struct vm *vm = session.vm;

    s->vm_state = (uint8_t)vm->state;
    s->still = is_halted();
    s->reason = (uint8_t)session.reason;
    s->vcpu = (uint8_t)session.vcpu;
    word_to(s->starts, vm->starts, sizeof(s->starts));
    for (unsigned i = 0; i < sizeof(s->vcpus); i++) {
        s->vcpus[i] = c->request->vcpu + i < vm->total
                          ? (uint8_t)vm->vcpus[c->request->vcpu + i].state
                          : VCPU_OFF;
    }
    return sizeof(*s);
}

static unsigned stop(const struct call *c)
{
    if (!is_on(session.vm)) {
        return fail(c, DEBUG_ERR_OFF);
    }
    halt(DEBUG_REASON_ASKED, 0);
    return 0;
}

static unsigned resume(const struct call *c)
{
    if (c->vcpu == NULL && c->request->vcpu != DEBUG_ALL) {
        return fail(c, DEBUG_ERR_VCPU);
    }
    return resume_vcpus(c->vcpu) ? 0 : fail(c, DEBUG_MORE);
}

static unsigned get(const struct call *c)
{
    unsigned count = c->request->count;

    if (count > DEBUG_REGISTERS) {
        return fail(c, DEBUG_ERR_SIZE);
    }
    for (unsigned i = 0; i < count; i++) {
        uint64_t value;

        if (!arch_vcpu_get(c->vcpu, (unsigned)c->address + i, &value)) {
            return fail(c, DEBUG_ERR_REGISTER);
        }
        word_to(&c->answer->data[WORD * i], value, WORD);
    }
    return WORD * count;
}

static unsigned set(const struct call *c)
{
    if (c->size != WORD) {
        return fail(c, DEBUG_ERR_SIZE);
    }
    if (!arch_vcpu_set(c->vcpu, (unsigned)c->address, word_of(c->request->data))) {
        return fail(c, DEBUG_ERR_REGISTER);
    }
    if (c->vcpu->state == VCPU_BLOCKED && c->vcpu->sched == NULL) {
        sched_wake(c->vcpu); /* the new state may not have to wait; any wait may end early */
    }
    return 0;
}

static unsigned read_memory(const struct call *c)
{
    if (c->request->count > DEBUG_DATA) {
        return fail(c, DEBUG_ERR_SIZE);
    }
    return guestmem_read(session.vm, c->address, c->answer->data, c->request->count)
               ? c->request->count
               : fail(c, DEBUG_ERR_ADDRESS);
}

static unsigned write_memory(const struct call *c)
{
    return guestmem_write(session.vm, c->address, c->request->data, c->size)
               ? 0
               : fail(c, DEBUG_ERR_ADDRESS);
}

static unsigned exception(const struct call *c)
{
    arch_vcpu_breakpoint(c->vcpu);
    return 0;
}

enum {
    NEEDS_SESSION = 1,
    NEEDS_STILL = 2,
    NEEDS_VCPU = 4,
};

/* Called with sched_lock held; NULL: end_vm(), which takes it. */
static const struct {
    unsigned (*fn)(const struct call *c);
    unsigned needs; /* NEEDS_* */
} operations[] = {
    [DEBUG_ATTACH] = {attach, 0},
    [DEBUG_DETACH] = {detach, 0},
    [DEBUG_STATUS] = {status, NEEDS_SESSION},
    [DEBUG_STOP] = {stop, NEEDS_SESSION},
    [DEBUG_CONTINUE] = {resume, NEEDS_SESSION | NEEDS_STILL},
    [DEBUG_GET] = {get, NEEDS_SESSION | NEEDS_STILL | NEEDS_VCPU},
    [DEBUG_SET] = {set, NEEDS_SESSION | NEEDS_STILL | NEEDS_VCPU},
    [DEBUG_READ] = {read_memory, NEEDS_SESSION | NEEDS_STILL},
    [DEBUG_WRITE] = {write_memory, NEEDS_SESSION | NEEDS_STILL},
    [DEBUG_RESTART] = {NULL, NEEDS_SESSION},
    [DEBUG_OFF] = {NULL, NEEDS_SESSION},
    [DEBUG_EXCEPTION] = {exception, NEEDS_SESSION | NEEDS_STILL | NEEDS_VCPU},
};

static enum debug_error refused(const struct call *c, unsigned needs)
{
    if ((needs & NEEDS_SESSION) != 0 && session.vm == NULL) {
        return DEBUG_ERR_DETACHED;
    }
    if ((needs & NEEDS_STILL) != 0 && session.next == 0 && !is_halted()) {
        return is_on(session.vm) ? DEBUG_ERR_RUNNING : DEBUG_ERR_OFF;
    }
    return (needs & NEEDS_VCPU) != 0 && c->vcpu == NULL ? DEBUG_ERR_VCPU : DEBUG_OK;
}

static struct vcpu *named(unsigned vcpu)
{
    struct vcpu *v =
        session.vm != NULL && vcpu < session.vm->total ? &session.vm->vcpus[vcpu] : NULL;

    return v != NULL && v->state != VCPU_OFF ? v : NULL;
}

/* Stops or restarts the VM. Called without sched_lock. */
static void end_vm(struct vm *vm, bool restart)
{
    if (!vm_stop(vm, VM_REASON_CONSOLE, restart) && restart) {
        vm_start(vm);
    }
}

unsigned session_request(const struct debug_request *request, unsigned size,
                         struct debug_answer *answer)
{
    struct call c = {
        .request = request, .answer = answer, .address = word_of(request->address), .size = size};
    unsigned operation = request->operation, result;
    struct vm *vm;

    answer->error = DEBUG_OK;
    if (operation >= ARRAY_SIZE(operations)) {
        return fail(&c, DEBUG_ERR_OPERATION);
    }
    spin_lock(&sched_lock);
    vm = session.vm;
    c.vcpu = named(request->vcpu);
    result = fail(&c, refused(&c, operations[operation].needs));
    if (answer->error == DEBUG_OK && operations[operation].fn != NULL) {
        result = operations[operation].fn(&c);
    }
    spin_unlock(&sched_lock);
    if (answer->error == DEBUG_OK && operations[operation].fn == NULL) {
        end_vm(vm, operation == DEBUG_RESTART);
    }
    return result;
}
