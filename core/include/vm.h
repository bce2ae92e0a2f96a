/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual machine and its life: stopped -> loading -> running -> stopping -> stopped, waiting or loading. */
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
    VM_LOADING,     /* memory is being cleared and filled by the CPU that scheduled its VCPU 0 */
    VM_RUNNING,
    VM_STOPPING, /* waits until none of its VCPUs is on a CPU; then its end is told, in turns of its VCPU 0 */
    VM_WAITING,  /* as stopped, but starts again after a pause: it has failed too often */
};

enum vm_reason {
    VM_REASON_NONE = 0,
    VM_REASON_CONSOLE,  /* the user asked */
    VM_REASON_SHUTDOWN, /* the guest asked */
    VM_REASON_RESET,    /* the guest asked */
    VM_REASON_OFF,      /* its last VCPU turned itself off */
    VM_REASON_FATAL,    /* a trap that the guest cannot handle; see vm.fault */
    VM_REASON_WATCHDOG, /* its guest did not pet the watchdog in time */
    VM_REASON_FAILURE,  /* the guest says that it has failed */
    VM_REASON_PAYLOAD,  /* a payload in the system image does not have its checksum */
};

/* Why a VM was stopped by the hypervisor; registers are in the VCPU. */
struct vm_fault {
    struct vcpu *vcpu;
    const char *what; /* a constant string */
    ulong cause;      /* architecture's number */
    gpa_t address;    /* guest-physical where known, else guest-virtual */
};

/* What time does to a VM (vmclock.c): the watchdog's period while it runs, the pause before its next start while it waits. */
struct vm_clock {
    ticks_t period; /* constant: of the watchdog; 0: the VM has none */
    ticks_t limit;  /* atomic: when the watchdog expires; its VCPUs set it, and the timer looks at it when it fires */

    /* Guarded by sched_lock. */
    struct timer timer; /* armed while the VM runs with a watchdog, and while it waits */
    bool suspended;     /* the watchdog is */
    ticks_t begun;      /* when the guest's life began: its memory was filled */
    ticks_t pause;      /* before the next restart, if that comes too early */
    ticks_t wait;       /* before the one that is under way; of whoever tells of the end */
};

struct vm {
    struct arch_vm arch;
    unsigned id; /* 0 .. system.nvms-1, order of the system file */
    const struct sysimage_vm *config;
    unsigned nvcpus;    /* its guest's harts */
    unsigned total;     /* and with the VCPUs of its RT apps, which follow them */
    struct vcpu *vcpus; /* total of them */
    struct memmap memmap;

    /* Guarded by sched_lock. */
    enum vm_state state;
    enum vm_reason reason; /* for leaving the running state */
    bool restart;          /* what stopping ends in */
    unsigned on;           /* VCPUs not off; while it stops, those on a CPU */
    unsigned starts;
    unsigned restarts;        /* of which followed a stop without anybody's asking for the start */
    enum vm_reason restarted; /* the reason of the last of those */
    uint32_t doorbells;       /* bit n: shared region n was rung (ipc/shared.c); 0 whenever it starts */
    struct vm_fault fault;

    struct vcpu *last_vcpu[SYSIMAGE_MAX_HARTS]; /* which VCPU ran last on each CPU; written by that CPU */

    /* Progress of ending or loading; touched only by the CPU that spends VCPU 0's turn on it. */
    unsigned stage;
    uint64_t stage_done;
    struct word_sums sums; /* of what was copied of the payload */

    bool console_busy; /* its line waits to be shown, and takes nothing more; written with console_lock held, atomic */

    struct spinlock lock; /* its devices */
    struct vdevs devs;
    struct vuart uart;
    struct vm_clock clock;
};

/* Sets up VM `id` with its VCPUs from the checked system image, in VM_STOPPED. Boot CPU only. Returns NULL, or what
 * failed. */
const char *vm_init(struct vm *vm, unsigned id, const struct sysimage_vm *config, struct vcpu *vcpus);

/* Starts a stopped or waiting VM: its memory is loaded anew. False if it was neither. */
bool vm_start(struct vm *vm);

/* Stops a VM that is loading, running or waiting, for `reason`; then restarts it if `restart`. Returns false when it is
 * stopped or stopping already; but of one that is stopping, the console still decides whether it starts again. The VCPUs on
 * other CPUs leave within their next exit. */
bool vm_stop(struct vm *vm, enum vm_reason reason, bool restart);

/* The same with sched_lock held. */
bool vm_stop_locked(struct vm *vm, enum vm_reason reason, bool restart);

/* Under sched_lock: a VM of which nothing runs begins its next life. */
void vm_begin(struct vm *vm);

/* The current VCPU's guest did what it cannot survive: stops or restarts its VM, as configured, with a report. */
void vm_fatal(struct vcpu *v, const char *what, ulong cause, gpa_t address);

/* Under sched_lock: `v` of a stopping VM has left its CPU. */
void vm_vcpu_left(struct vm *vm);

/* Clears the memory that the VM shares with others. Once, at boot: it is theirs too, and outlives what the VM does. */
void vm_clear_shared(const struct vm *vm);

/* Clears and fills the VM's memory until done (true) or an interrupt waits (false). Called without locks. */
bool vm_load_step(struct vm *vm);

/* Resets the devices passed through to the VM, so that none writes to memory any more. */
void vm_quiet_devices(const struct vm *vm);

/* Of a VM that has stopped: removes its VCPUs, resets its devices, tells on the console why, until that is done (true) or
 * an interrupt waits (false). Called without locks. */
bool vm_end_step(struct vm *vm);

/* Under sched_lock, its end told: stops for good, waits for its next life or begins it, with no moment in between in which
 * it would count as stopped. Its VCPU 0 is off. True if that was the last guest, and it has shut down: the machine is to
 * be switched off then, as the guest would have done without us. */
bool vm_go_on(struct vm *vm);

/* Tells that all VMs are stopped, and switches the machine off. Called without locks. */
void vm_power_off(void) __attribute__((noreturn));

/* Raises the guest interrupts `bits` of the VCPUs in the mask (bit n: VCPU n), as vcpu_raise(); bits = 0 only wakes them. One
 * call interrupts all their CPUs. */
void vm_raise(struct vm *vm, ulong vcpus, ulong bits);

/* Gives vm->lock back, and wakes the VCPUs for which an interrupt line has come up under it. */
void vm_unlock(struct vm *vm);

const char *vm_state_name(const struct vm *vm);

/* "by its own reset" and so on; empty for VM_REASON_NONE. */
const char *vm_reason_name(enum vm_reason reason);

/* --- vmclock.c --- */

/* A restart that no user asked for is at once, unless the life before was shorter than this: then it comes after the
 * first pause if there was none before, else after twice the last one, up to what the system file says. Milliseconds. */
#define VM_LONG_LIFE_MS 10000U
#define VM_FIRST_PAUSE_MS 100U

/* At boot, once config is set. */
void vm_clock_init(struct vm *vm);

/* The VM's memory is filled: its life begins, and its watchdog's first period. Takes sched_lock. */
void vm_clock_begin(struct vm *vm);

/* The VM has stopped for vm->reason and shall start again: ticks to wait before, 0: none. Once for each stop, by who
 * tells of it. */
ticks_t vm_clock_pause(struct vm *vm);

/* Under sched_lock: the VM, of which nothing runs, begins its next life in clock.wait ticks. */
void vm_clock_wait(struct vm *vm);

/* Suspends the VM's watchdog (true), whatever the VM does, or lets it go on (false) with a whole period to come. For who
 * keeps the guest from running, as a debugger does. A VM without a watchdog has nothing to suspend. Under sched_lock. */
void vm_suspend_watchdog(struct vm *vm, bool suspend);

#endif
