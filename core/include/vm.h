/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual machine and its life: stopped -> loading -> running -> stopping -> stopped or loading. */
#ifndef VM_H
#define VM_H

#include "arch_types.h"
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
    VM_STOPPING, /* waits until none of its VCPUs is on a CPU */
};

enum vm_reason {
    VM_REASON_NONE = 0,
    VM_REASON_CONSOLE,  /* the user asked */
    VM_REASON_SHUTDOWN, /* the guest asked */
    VM_REASON_RESET,    /* the guest asked */
    VM_REASON_OFF,      /* its last VCPU turned itself off */
    VM_REASON_FATAL,    /* a trap that the guest cannot handle; see vm.fault */
};

enum vm_report {
    VM_REPORT_NONE = 0,
    VM_REPORT_DUE,
    VM_REPORT_BEING_TOLD
};

/* Why a VM was stopped by the hypervisor; registers are in the VCPU. */
struct vm_fault {
    struct vcpu *vcpu;
    const char *what; /* a constant string */
    ulong cause;      /* architecture's number */
    gpa_t address;    /* guest-physical where known, else guest-virtual */
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
    unsigned on;           /* VCPUs not off */
    unsigned starts;
    uint32_t doorbells; /* bit n: shared region n was rung (ipc/shared.c); 0 whenever it starts */
    struct vm_fault fault;
    enum vm_report report; /* whether vm_conclude() is due; a VM is not started before that is through */

    struct vcpu *last_vcpu[SYSIMAGE_MAX_HARTS]; /* which VCPU ran last on each CPU; written by that CPU */

    /* Progress of loading; touched only by the CPU that runs VCPU 0's load step. */
    unsigned load_stage;
    uint64_t load_done;

    bool console_busy; /* its line waits to be shown, and takes nothing more; written with console_lock held, atomic */

    struct spinlock lock; /* its devices */
    struct vdevs devs;
    struct vuart uart;
};

/* Sets up VM `id` with its VCPUs from the checked system image, in VM_STOPPED. Boot CPU only. Returns NULL, or what
 * failed. */
const char *vm_init(struct vm *vm, unsigned id, const struct sysimage_vm *config, struct vcpu *vcpus);

/* Starts a stopped VM: its memory is loaded anew. False if it was not stopped. */
bool vm_start(struct vm *vm);

/* Stops a VM that is loading or running, for `reason`; then restarts it if `restart`. Returns false when it is
 * stopped or stopping already. The VCPUs on other CPUs leave within their next exit. */
bool vm_stop(struct vm *vm, enum vm_reason reason, bool restart);

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

/* Tells on the console why the VM stopped, then starts it again if it shall restart. Called without locks by whoever
 * saw that it is due; only the first of several does it. */
void vm_conclude(struct vm *vm);

const char *vm_state_name(const struct vm *vm);

#endif
