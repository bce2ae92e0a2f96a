/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between CPUs: kicks, remote fences, stop and restart of a VM, messages. Two harts,
 * VM A with VCPUs 0 and 1, VM B with VCPU 2. Each inline has the name of the C function that it
 * models; a comment names the file. tests/model/test_smp_model.py selects the actions of each
 * VCPU's guest (the N_* below) and runs spin.
 *
 * A step is an action that no other hart can observe half-done: an atomic instruction, or a section
 * under sched_lock. (The fields that are accessed without that lock, ipi, pending, fence and
 * request, are accessed by single atomic instructions, which commute with the rest of such a
 * section.) Memory is sequentially consistent. Waiting (for a lock, an interrupt, a fence) blocks
 * the process, so that an endless wait shows as a state without further steps.
 *
 * Properties:
 *   - no kick or wake-up is lost: at the end, no VCPU is blocked or running with an interrupt or a
 *     message that its guest has not seen;
 *   - after a remote fence has returned, no VCPU of the VM runs with older translations;
 *   - the memory of a stopped VM is loaded while none of its VCPUs is on a hart, and the VM
 *     restarts without an interrupt, a doorbell or a message from before the restart;
 *   - messages arrive in order, none twice, none lost between two restarts.
 * FAULT_* injects a fault that spin must detect.
 */

/* Number of times that each guest may perform an action. */
#ifndef N_SEND
#define N_SEND 0 /* VCPU 2 sends a message to VCPU 0 */
#endif
#ifndef N_SEND_OWN
#define N_SEND_OWN 0 /* VCPU 1 sends a message to VCPU 0 */
#endif
#ifndef N_RING
#define N_RING 0 /* VCPU 2 rings VM A's doorbell */
#endif
#ifndef N_FENCE0
#define N_FENCE0 0 /* VCPU 0 fences all VCPUs of VM A */
#endif
#ifndef N_FENCE1
#define N_FENCE1 0 /* VCPU 1 fences all VCPUs of VM A */
#endif
#ifndef N_RESTART
#define N_RESTART 0 /* VCPU 2 (the operator, at its hart) restarts VM A */
#endif
#ifndef N_RESET
#define N_RESET 0 /* VCPU 1 resets its VM */
#endif
#ifndef N_OFF
#define N_OFF 0 /* VCPU 1 turns itself off */
#endif
#ifndef N_ON
#define N_ON 0 /* VCPU 0 starts VCPU 1 */
#endif
#ifndef N_TURNS
#define N_TURNS 0 /* slices that expire before the guest waits */
#endif
#ifndef BY_LINE
#define BY_LINE 0 /* messages raise an interrupt line of the VM */
#endif

#ifndef ALONE
#define ALONE 0 /* VCPU 1 is off */
#endif

#define HARTS 2
#define VCPUS 3
#define NONE 7
#define GONE 6 /* the VCPU that left, or was picked, was requested to turn off */
#define OTHER (1 - h)
#define ROOM 2 /* IPC_QUEUE */
#define PLACES 4

#define RESCHED 1 /* IPI_RESCHED */
#define SYNC 2    /* IPI_SYNC */

#define WAIT 1  /* VCPU_REQ_WAIT */
#define OFF 2   /* VCPU_REQ_OFF */
#define STEPS 4 /* VCPU_REQ_WORK */

#define MESSAGE 1  /* ARCH_VIRQ_MESSAGE */
#define EXTERNAL 2 /* IRQ_VSEI */

mtype = {off, ready, running, blocked, held};     /* enum vcpu_state */
mtype = {vm_stopped, vm_loading, vm_running, vm_stopping}; /* enum vm_state */

/* struct cpu */
byte current[HARTS] = NONE;
bool flags[HARTS]; /* CPU_RESCHED */
byte ipi[HARTS];
bool ssip[HARTS]; /* the hart's software interrupt is pending */
bool idle[HARTS];
byte loaded[HARTS] = NONE;
byte last_vcpu[HARTS] = NONE; /* of VM A */

/* struct vcpu */
mtype state[VCPUS] = ready;
byte cpu[VCPUS];
byte request[VCPUS];
byte pending[VCPUS];
byte hvip[VCPUS]; /* interrupts visible to the guest */
bool fence[VCPUS];
byte last_cpu[VCPUS] = NONE;
chan queue = [VCPUS] of {byte}; /* ready queue of best effort */

/* struct vm of VM A, and VCPU 0's inbox */
mtype vm_state = vm_running;
byte on = 2 - ALONE;
bool restart;
bool bells;
bool line;
byte first, next, room = ROOM;
byte message[PLACES]; /* its number since the last restart */
byte message_life[PLACES];

byte vm_lock = NONE;

/* Remaining actions of the guests. */
byte sends = N_SEND, own_sends = N_SEND_OWN, rings = N_RING, fences0 = N_FENCE0, fences1 = N_FENCE1;
byte restarts = N_RESTART, resets = N_RESET, offs = N_OFF, ons = N_ON, turns = N_TURNS;
bool drains; /* VCPU 0 receives its messages */

/* For the assertions. */
byte life = 1, sent, got;
bool stale[4];    /* [2 * r + h]: hart h may hold translations from before VCPU r's fence */
bool returned[2]; /* VCPU r's fence has returned */

#define OF_A(v) ((v) < 2)

/* --- locks and kicks --- */

inline lock_vm()
{
    atomic { vm_lock == NONE -> vm_lock = h }
}

/* core/cpu.c; always kicks the other hart. (The hart is interrupted once sched_lock is free.
 * This needs no step of its own, because a hart may take an interrupt arbitrarily late.) */
inline cpu_kick(why)
{
    if
    :: ipi[OTHER] == 0 -> ssip[OTHER] = true
    :: else
    fi;
    ipi[OTHER] = ipi[OTHER] | why
}

/* core/vcpu.c */
inline vcpu_take_pending(x)
{
    atomic { hvip[x] = hvip[x] | pending[x]; pending[x] = 0 }
}

/* arch/riscv/fence.c */
inline fence_local()
{
    d_step { stale[h] = false; stale[2 + h] = false }
}

/* arch/riscv/vcpu.c */
inline arch_vcpu_sync(x)
{
    atomic {
        if
        :: fence[x] -> fence_local(); fence[x] = false
        :: else
        fi
    }
}

/* core/cpu.c */
inline cpu_ipi_received()
{
    atomic {
        reason = ipi[h];
        ipi[h] = 0;
        if
        :: (reason & RESCHED) != 0 -> flags[h] = true
        :: else
        fi
    };
    if
    :: current[h] != NONE && (reason & SYNC) != 0 ->
        atomic { vcpu_take_pending(current[h]); arch_vcpu_sync(current[h]) }
    :: else
    fi;
    reason = 0
}

/* arch/riscv/hart.c */
inline irq_take_soft()
{
#ifdef FAULT_CLEAR_LATE
    cpu_ipi_received();
    ssip[h] = false
#else
    ssip[h] = false;
    cpu_ipi_received()
#endif
}

inline arch_irq_poll()
{
    if
    :: ssip[h] -> irq_take_soft()
    :: else
    fi
}

/* --- the scheduler, under sched_lock --- */

/* core/sched_be.c: be_wake(), be_wake_idle() */
inline be_wake(x)
{
    queue!x;
    if
    :: idle[h] -> idle[h] = false
    :: !idle[h] && idle[OTHER] -> idle[OTHER] = false; cpu_kick(RESCHED)
    :: else
    fi
}

/* core/sched.c */
inline sched_wake(x)
{
    state[x] = ready;
    be_wake(x)
}

inline sched_remove(x)
{
    if
    :: state[x] == ready -> queue??eval(x)
    :: else
    fi;
    d_step {
        state[x] = off;
        if
        :: x == 0 -> room = 0
        :: else
        fi
    }
}

/* core/vcpu.c */
inline vcpu_raise_locked(x, bits)
{
    if
    :: x == current[h] -> hvip[x] = hvip[x] | bits
    :: else ->
        pending[x] = pending[x] | bits;
        if
        :: state[x] == blocked -> sched_wake(x)
        :: state[x] == running && cpu[x] != h -> cpu_kick(SYNC)
        :: else
        fi
    fi
}

/* core/vm.c: vm_begin_work() */
inline vm_begin_work()
{
    sched_remove(0);
    request[0] = STEPS;
    sched_wake(0)
}

inline vm_begin()
{
    d_step { vm_state = vm_loading; on = 1; bells = false; life++ };
    vm_begin_work();
#ifdef FAULT_INBOX_EARLY
    ipc_open()
#endif
}

/* core/vm.c: vm_vcpu_turned_off() */
inline vm_vcpu_turned_off(x)
{
    if
    :: !OF_A(x) -> skip
    :: OF_A(x) ->
        on--;
        if
        :: on == 0 && vm_state != vm_stopping -> vm_state = vm_stopping; restart = false
        :: else
        fi;
        if
        :: on == 0 -> vm_begin_work()
        :: else
        fi
    fi
}

/* core/vm.c: vm_stop_locked(), vm_halt() */
inline vm_halt_vcpu(x)
{
    request[x] = request[x] | OFF;
    if
    :: state[x] == running ->
#ifndef FAULT_STOP_EARLY
        on++;
#endif
        if
        :: cpu[x] != h -> cpu_kick(RESCHED)
        :: else -> flags[h] = true
        fi
    :: else
    fi
}

inline vm_stop()
{
    atomic {
        if
        :: vm_state == vm_running || vm_state == vm_loading ->
            vm_state = vm_stopping;
            restart = true;
            on = 0;
            vm_halt_vcpu(0);
            vm_halt_vcpu(1);
            if
            :: on == 0 -> vm_begin_work()
            :: else
            fi
        :: else
        fi
    }
}

/* core/include/vcpu.h */
inline ipc_open()
{
    d_step { next = first; room = ROOM; sent = 0; got = 0 }
}

/* core/sched.c: sched_request() */
inline sched_request(x)
{
    if
    :: (request[x] & OFF) != 0 ->
        request[x] = 0;
        sched_remove(x);
        vm_vcpu_turned_off(x)
    :: else ->
        request[x] = request[x] & STEPS;
        state[x] = ready;
        queue!x
    fi
}

/* core/sched.c: sched_left(), sched_enqueue() */
inline sched_leave(x)
{
    if
    :: request[x] == 0 -> state[x] = ready; queue!x
#ifdef FAULT_WAIT_BLIND
    :: request[x] == WAIT -> request[x] = 0; state[x] = blocked
#else
    :: request[x] == WAIT && pending[x] == 0 -> request[x] = 0; state[x] = blocked
#endif
    :: else -> sched_request(x)
    fi;
    current[h] = NONE
}

inline sched_pick()
{
    if
    :: queue?v
    :: empty(queue) -> v = NONE
    fi
}

/* core/sched.c: sched_take(), sched_find_runnable(); picks a VCPU to run, a step for its VM, or nothing */
inline sched_take()
{
    sched_pick();
    if
    :: v == NONE ->
        idle[h] = true
    :: v != NONE && (request[v] & OFF) != 0 ->
        state[v] = held;
        v = GONE
    :: else ->
        state[v] = running;
        cpu[v] = h;
        if
        :: request[v] == 0 -> current[h] = v
        :: else
        fi
    fi
}

/* core/sched.c: sched_idle() */
inline sched_idle()
{
    loaded[h] = NONE;
end_idle:
    ssip[h]; /* WFI */
    irq_take_soft();
    atomic {
        flags[h] = false;
        idle[h] = false;
        sched_take()
    }
}

/* core/vmload.c: load_reset() */
inline load_reset()
{
    d_step {
        assert(current[0] > 1 && current[1] > 1);
        hvip[0] = 0;
        fence[0] = false;
        drains = false
    };
    lock_vm();
    line = false;
    vm_lock = NONE;
    d_step {
        last_cpu[0] = NONE;
        last_cpu[1] = NONE;
#ifndef FAULT_PENDING_STAYS
        pending[0] = 0;
        pending[1] = 0
#endif
    }
}

/* core/vm.c: end_vcpu() */
inline end_stage()
{
#ifndef FAULT_END_LEAVES
    atomic { sched_remove(1) }
#else
    skip
#endif
}

/* core/vm.c: vm_stopped(), vm_finish_stop() */
inline vm_stop_done(x)
{
    d_step { request[x] = 0; state[x] = off };
    if
    :: restart -> restart = false; vm_begin()
    :: else -> vm_state = vm_stopped
    fi
}

/* core/sched.c: sched_work(); one step of a stop, or the load of all memory */
inline sched_work()
{
    ends = vm_state == vm_stopping;
    if
    :: !ends -> load_reset()
    :: else -> end_stage()
    fi;
    arch_irq_poll();
    atomic {
        flags[h] = false;
        if
        :: (request[v] & OFF) != 0 -> sched_request(v); v = GONE
        :: (request[v] & OFF) == 0 && ends -> vm_stop_done(v)
        :: else ->
            /* The VM starts. */
            assert(state[1] == off);
            assert(!line && !bells && pending[0] == 0 && pending[1] == 0);
            vm_state = vm_running;
            request[v] = 0;
#ifndef FAULT_INBOX_EARLY
            ipc_open();
#endif
            state[v] = ready;
            queue!v
        fi;
        ends = false;
        if
        :: v != GONE -> sched_take()
        :: else
        fi
    }
}

/* core/sched.c: sched_run(), sched_find_runnable(); GONE: the polling point of sched_request(), or of the latter */
inline sched_run()
{
    atomic {
        flags[h] = false;
        v = current[h];
        if
        :: v != NONE && (request[v] & OFF) != 0 -> sched_leave(v); v = GONE
        :: v != NONE && (request[v] & OFF) == 0 -> sched_leave(v); sched_take()
        :: else -> sched_take()
        fi
    };
    do
    :: current[h] != NONE -> break
    :: current[h] == NONE && v == NONE -> sched_idle()
    :: current[h] == NONE && v == GONE -> arch_irq_poll(); atomic { flags[h] = false; sched_take() }
    :: current[h] == NONE && v != NONE && v != GONE -> sched_work()
    od
}

/* arch/riscv/vcpu.c, by switch.S */
inline vcpu_arrive()
{
    fence_local();
    if
    :: OF_A(v) ->
        if
        :: last_vcpu[h] != NONE && last_vcpu[h] != v && last_cpu[last_vcpu[h]] == h -> last_cpu[last_vcpu[h]] = NONE
        :: else
        fi;
        last_vcpu[h] = v
    :: else
    fi;
    last_cpu[v] = h
}

/* arch/riscv/switch.S */
inline load()
{
    atomic {
        if
        :: last_cpu[v] != h -> vcpu_arrive()
        :: else
        fi;
        loaded[h] = v;
        vcpu_take_pending(v)
    }
}

/* --- calls of guests --- */

/* arch/riscv/fence.c: fence_done() */
inline fence_done(x)
{
    if
    :: state[x] != running ->
#ifndef FAULT_FENCE_KEEPS
        last_cpu[x] = NONE;
#endif
        fence[x] = false;
        done = true
    :: state[x] == running && !fence[x] -> done = true
    :: else ->
        cpu_kick(SYNC);
        done = false
    fi
}

/* arch/riscv/fence.c: fence_request(), fence_local(), fence_wait(); x: the other VCPU of the VM. The
 * wait loop checks again only when a state that it reads has changed. */
inline fence_remote(x)
{
    atomic {
        stale[2 * v] = true;
        stale[2 * v + 1] = true;
        returned[v] = false;
        fence[x] = true;
        fence_done(x)
    };
    fence_local();
    do
    :: ssip[h] -> irq_take_soft()
    :: state[x] != running || !fence[x] || ipi[OTHER] == 0 ->
        atomic { fence_done(x) };
        if
        :: done -> break
        :: else
        fi
    od;
    atomic { done = false; returned[v] = true }
}

/* ipc/shared.c, with arch_vm_irq() and vm_unlock() */
inline ipc_update_line()
{
    lock_vm();
#ifdef FAULT_LINE_LATE
    done = bells || next != first;
#else
    done = bells || (room != 0 && next != first);
#endif
    atomic {
        line = done;
        done = false;
        if
        :: line && current[h] == 0 -> hvip[0] = hvip[0] | EXTERNAL
        :: line && current[h] != 0 -> pending[0] = pending[0] | EXTERNAL; done = true
        :: !line && current[h] == 0 -> hvip[0] = 0; pending[0] = 0 /* vplic_lower() */
        :: else
        fi
    };
    vm_lock = NONE;
    if
#ifndef FAULT_UNLOCK_SILENT
    :: done -> atomic { vcpu_raise_locked(0, 0); done = false }
#endif
    :: else -> done = false
    fi
}

/* ipc/include/ipc.h, under sched_lock where messages raise no line, or after it */
inline ipc_notify_locked()
{
    if
    :: !BY_LINE && (pending[0] & MESSAGE) == 0 -> vcpu_raise_locked(0, MESSAGE)
    :: else
    fi
}

inline ipc_notify()
{
#if BY_LINE
    ipc_update_line()
#else
    skip
#endif
}

/* ipc/messages.c: post() */
inline post()
{
    atomic {
        done = (next + PLACES - first) % PLACES < room;
        if
        :: done ->
            sent++;
            message[next] = sent;
            message_life[next] = life;
            next = (next + 1) % PLACES;
            ipc_notify_locked()
        :: else
        fi
    };
    if
    :: done -> done = false; ipc_notify()
    :: else
    fi
}

/* ipc/shared.c */
inline ipc_ring()
{
    atomic {
        done = vm_state == vm_running;
        if
        :: done -> bells = true; ipc_notify_locked()
        :: else
        fi
    };
    if
    :: done -> done = false; ipc_notify()
    :: else
    fi
}

inline ipc_doorbells()
{
    bells = false;
#if BY_LINE
    ipc_update_line()
#endif
}

/* ipc/messages.c; afterwards the guest completes its interrupt, which is raised again if the
 * line is still high. */
inline ipc_recv_msg()
{
    if
    :: next != first ->
        d_step {
            got++;
            assert(message[first] == got && message_life[first] == life);
            first = (first + 1) % PLACES
        };
#if BY_LINE
        ipc_update_line()
#endif
    :: else ->
#if BY_LINE
        ipc_update_line();
#endif
        drains = false
    fi
}

/* core/vcpu.c: vcpu_start() */
inline vcpu_start()
{
    lock_vm();
    atomic {
        if
        :: state[1] == off && vm_state == vm_running ->
            on++;
            request[1] = 0;
            pending[1] = 0;
            last_cpu[1] = NONE;
            fence[1] = false;
            hvip[1] = 0;
            sched_wake(1)
        :: else
        fi
    };
    vm_lock = NONE
}

/* core/vcpu.c: vcpu_wait() */
inline vcpu_wait()
{
    atomic { request[v] = request[v] | WAIT; flags[h] = true }
}

#define IDLES (hvip[v] == 0 && pending[v] == 0 && !(v == 0 && drains))

/* The next action of VCPU v's guest, including the hypervisor's work for the action. */
inline guest()
{
    if
    :: v == 2 && sends > 0 -> sends--; post()
    :: v == 2 && rings > 0 -> rings--; ipc_ring()
    :: v == 2 && restarts > 0 -> restarts--; vm_stop()
    :: v == 1 && own_sends > 0 -> own_sends--; post()
    :: v == 1 && resets > 0 -> resets--; vm_stop()
    :: v == 1 && offs > 0 -> offs--; request[v] = request[v] | OFF; flags[h] = true
    :: v == 0 && ons > 0 -> ons--; vcpu_start()
    :: v == 0 && fences0 > 0 -> fences0--; fence_remote(1)
    :: v == 1 && fences1 > 0 -> fences1--; fence_remote(0)
    :: atomic { turns > 0 -> turns--; flags[h] = true } /* timer_expire() */
    :: v == 0 && hvip[0] != 0 && !drains -> atomic { hvip[0] = 0; drains = true }; ipc_doorbells()
    :: v == 0 && drains -> ipc_recv_msg()
    :: v != 0 && hvip[v] != 0 -> hvip[v] = 0
    :: IDLES -> vcpu_wait()
    :: ssip[h] -> irq_take_soft()
    fi
}

proctype hart(byte h)
{
    byte v = NONE, reason;
    bool done, ends;

    do
    :: current[h] == NONE || flags[h] -> sched_run(); load()
    :: current[h] != NONE && !flags[h] ->
        atomic {
            v = current[h];
            /* A running VCPU has no translations from before a fence that has returned. */
            assert(!OF_A(v) || (!(returned[0] && stale[h]) && !(returned[1] && stale[2 + h])))
        };
        guest()
    od
}

/* Checks the final state, in which no process can continue: all VCPUs may be blocked. */
active proctype end()
{
    d_step {
        queue!0;
        queue!2;
        if
        :: ALONE -> state[1] = off
        :: else -> queue!1
        fi
    };
    atomic { run hart(0); run hart(1) };
    timeout;
    assert(idle[0] && idle[1] && empty(queue));
    assert(vm_lock == NONE);
    assert(hvip[0] == 0 && hvip[1] == 0 && hvip[2] == 0);
    assert(state[0] == off || (pending[0] == 0 && next == first && !bells));
    assert(state[1] == off || pending[1] == 0);
    assert(vm_state == vm_running || vm_state == vm_stopped);
    assert(vm_state == vm_stopped || (got == sent && state[0] == blocked));
    assert(state[2] == blocked && pending[2] == 0)
}
