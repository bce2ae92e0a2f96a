/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual machine and its life: stopped -> loading -> running -> stopping -> stopped, waiting or
 * loading. */
#ifndef VM_H
#define VM_H

#include "arch_types.h"
#include "lib.h"
#include "memmap.h"
#include "spinlock.h"
#include "sysimage.h"
#include "types.h"
#include "vcpu.h"
#include "vdev.h"
#include "vuart.h"

enum vm_state {
    VM_STOPPED = 0, /* memory as the guest left it; nothing runs */
    VM_LOADING,     /* memory is cleared and filled in slices of its VCPU 0 */
    VM_RUNNING,
    /* until no VCPU of it is on a CPU; then its stop is reported, in slices of its VCPU 0 */
    VM_STOPPING,
    VM_WAITING, /* as stopped, but starts again after a backoff: it has failed too often */
};

enum vm_reason {
    VM_REASON_NONE = 0,
    VM_REASON_CONSOLE,  /* by a key of the operator */
    VM_REASON_SHUTDOWN, /* by the guest */
    VM_REASON_RESET,    /* by the guest */
    VM_REASON_OFF,      /* its last VCPU turned itself off */
    VM_REASON_FATAL,    /* a trap that the guest cannot handle; see vm.fault */
    VM_REASON_WATCHDOG, /* its guest did not pet the watchdog in time */
    VM_REASON_FAILURE,  /* the guest has reported a failure */
    VM_REASON_PAYLOAD,  /* a payload in the system image does not have its checksum */
};

/* Why a VM was stopped by the hypervisor; registers are in the VCPU. */
struct vm_fault {
    struct vcpu *vcpu; /* that had the fault */
    const char *what;  /* a constant string */
    ulong cause;       /* architecture's number */
    gpa_t address;     /* guest-physical where known, else guest-virtual */
};

/* The clock of a VM (vmclock.c): its watchdog while it runs, the backoff before its next start
 * while it waits. */
struct vm_clock {
    ticks_t period; /* constant: of the watchdog; 0: the VM has none */
    /* atomic: when the watchdog expires; written by its VCPUs, read when the timer expires */
    ticks_t limit;

    /* Guarded by sched_lock. */
    struct timer timer; /* armed while the VM runs with a watchdog, and while it waits */
    bool suspended;     /* the watchdog is */
    ticks_t begun;      /* when the guest last started, with its memory filled */
    ticks_t pause;      /* backoff before the next restart, if that comes too early */
    ticks_t wait;       /* backoff before the pending restart; written by report_stop() */
};

struct vm {
    struct arch_vm arch; /* its fields have their own guards */

    /* Constant after boot. */
    unsigned id; /* 0 .. system.nvms-1, order of the system file */
    const struct sysimage_vm *config;
    unsigned nvcpus;    /* its guest's harts */
    unsigned total;     /* with the VCPUs of components, which follow the guest's */
    struct vcpu *vcpus; /* total of them */
    struct memmap memmap;

    /* Guarded by sched_lock. */
    enum vm_state state;
    enum vm_reason reason; /* of the last stop */
    bool restart;          /* whether it starts again after stopping */
    unsigned on;           /* VCPUs not off; while it stops, those on a CPU */
    unsigned starts;       /* since the boot */
    /* those of them that followed a stop without a start by the operator */
    unsigned restarts;
    enum vm_reason restarted; /* the reason of the last restart */
    struct vm_fault fault;

    /* ran last on each CPU; NULL: none, or the next one does a fence */
    struct vcpu *last_vcpu[SYSIMAGE_MAX_HARTS];

    /* Progress of stopping or loading; accessed only by the CPU that runs VCPU 0's slice. */
    unsigned stage;        /* number of the current step */
    uint64_t stage_done;   /* bytes of the step's memory that are done */
    bool restart_reported; /* the report of its stop says that it starts again */
    struct word_sums sums; /* checksums of the part of the payload that is copied */

    /* its line waits for the terminal and is full; atomic, written with console_lock held */
    bool console_busy;

    struct spinlock lock; /* guards its devices: their registers and interrupt lines */
    struct vdevs devs;    /* constant after boot */
    struct vuart uart;    /* guarded by `lock` */
    struct vm_clock clock;
};

/* Sets up VM `id` with its VCPUs from the checked system image, in VM_STOPPED. Boot CPU only.
 * Returns NULL, or what failed. */
const char *vm_init(struct vm *vm, unsigned id, const struct sysimage_vm *config,
                    struct vcpu *vcpus);

/* Starts a stopped or waiting VM, whose memory is loaded again; one that is stopping, once it has
 * stopped. False if it was loading or running, or starts again anyway. */
bool vm_start(struct vm *vm);

/* Stops a VM that is loading, running or waiting, for `reason`; then restarts it if `restart`.
 * Returns false if it is stopped or stopping already; the operator can still change whether a
 * stopping VM restarts. VCPUs on other CPUs leave with their next exit. */
bool vm_stop(struct vm *vm, enum vm_reason reason, bool restart);

/* As vm_stop(), with sched_lock held. */
bool vm_stop_locked(struct vm *vm, enum vm_reason reason, bool restart);

/* Under sched_lock: loads and starts a VM of which no VCPU runs. */
void vm_begin(struct vm *vm);

/* The current VCPU's guest caused a fatal trap: stops or restarts its VM, as configured, with a
 * report. */
void vm_fatal(struct vcpu *v, const char *what, ulong cause, gpa_t address);

/* Under sched_lock: `v` is off, and was on. When it was the last one on, its VM stops. */
void vm_vcpu_turned_off(struct vcpu *v);

/* Clears the memory that the VM shares with others. Once, at boot: its content survives restarts of
 * the VM. */
void vm_clear_shared(const struct vm *vm);

/* Clears and fills the VM's memory until done (true) or an interrupt waits (false). Called without
 * locks. */
bool vm_load_step(struct vm *vm);

/* Resets the devices passed through to the VM, so that they stop DMA. */
void vm_quiesce_devices(const struct vm *vm);

/* Raises the guest interrupts `bits` of the VCPUs in the mask (bit n: VCPU n), as vcpu_raise();
 * bits = 0 only wakes them. All their CPUs are interrupted by one call of the firmware. */
void vm_raise(struct vm *vm, ulong vcpus, ulong bits);

/* Releases vm->lock, and wakes the VCPUs whose interrupt lines were raised while it was held. */
void vm_unlock(struct vm *vm);

const char *vm_state_name(const struct vm *vm);

/* "by its own reset" and so on; empty for VM_REASON_NONE. */
const char *vm_reason_name(enum vm_reason reason);

/* --- vmclock.c --- */

/* The first restart that the operator has not requested is immediate. If the guest then fails again
 * within VM_LONG_LIFE_MS of its start, the restart is delayed by VM_FIRST_PAUSE_MS, and by twice
 * the last backoff at each further such failure, up to restart-pause-max-ms. Milliseconds. */
#define VM_LONG_LIFE_MS 10000U
#define VM_FIRST_PAUSE_MS 100U

/* At boot, once config is set. */
void vm_clock_init(struct vm *vm);

/* The VM's memory is filled: starts its clock and the watchdog's first period. Takes sched_lock. */
void vm_clock_begin(struct vm *vm);

/* The VM stops: its watchdog does not expire any more. A step of its own, because vm_stop() holds
 * the lock for long. Takes sched_lock. */
void vm_clock_stop(struct vm *vm);

/* The VM has stopped for vm->reason and is to restart: returns the backoff in ticks, 0: none.
 * Called once per stop, by report_stop(). */
ticks_t vm_clock_backoff(struct vm *vm);

/* Under sched_lock: the VM, of which no VCPU runs, starts again in clock.wait ticks. */
void vm_clock_restart_later(struct vm *vm);

/* Suspends the VM's watchdog (true), in any state of the VM, or resumes it (false) with a whole
 * period. For a debugger, which keeps the guest from running. No effect on a VM without a watchdog.
 * Under sched_lock. */
void vm_suspend_watchdog(struct vm *vm, bool suspend);

#endif
