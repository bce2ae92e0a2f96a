/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the component `virtio` share. Each VM that the system file gives functions has
 * a PCI bus of its own (pci.c) with virtio 1.2 devices (transport.c, queue.c and a file for each
 * type of device), ivshmem functions, and functions of the machine's bus (host.c).
 *
 * All work is done in the store that notifies a queue, in short steps: between two steps the
 * hypervisor polls interrupts, and if one is pending, the store is executed again after the
 * interrupt's handler (arch_virtio.h).
 *
 * Lock order (outer first): the lock of a queue of answers of a disk server, the lock of a queue of
 * requests (of frames to send, ...), the lock of a queue of buffers (of frames to receive, ...; of
 * virtio-crypto, the data queue). vm.lock is not taken under any of them. The memory of VMs with
 * functions is mapped for good (boot.c).
 */
#ifndef VIRTIO_H
#define VIRTIO_H

#include "arch.h"
#include "arch_virtio.h"
#include "atomic.h"
#include "memmap.h"
#include "pci_backends.h"
#include "spinlock.h"
#include "system.h"
#include "virtio_image.h"
#include "vm.h"

#define VIRTIO_QUEUES 10U /* most of a device: a console with 4 ports */
/* most descriptors of a queue, unless boot() sets dev->queue_size */
#define VIRTIO_QUEUE_SIZE 256U
/* most buffers of a header: drivers use 1 or 2, and each costs some 60 instructions */
#define VIRTIO_PARTS 5U
/* bytes that are copied at most between two polls of interrupts: 520 instructions at odd
 * addresses */
#define VIRTIO_PIECE 512U

/* Bits of the device status (section 2.1). */
#define VIRTIO_STATUS_DRIVER_OK 4U
#define VIRTIO_STATUS_FEATURES_OK 8U
#define VIRTIO_STATUS_NEEDS_RESET 64U

/* Feature bits (section 6) of all devices. */
#define VIRTIO_F_INDIRECT_DESC (UINT64_C(1) << 28)
#define VIRTIO_F_EVENT_IDX (UINT64_C(1) << 29)
#define VIRTIO_F_VERSION_1 (UINT64_C(1) << 32)

/* Bits of the ISR status (section 4.1.4.5). */
#define VIRTIO_ISR_QUEUE 1U
#define VIRTIO_ISR_CONFIG 2U

/* Offsets in the driver's and the device's area of a queue, in units of 16 bits
 * (sections 2.7.6, 2.7.8): flags, index, ring. */
#define VIRTQ_FLAGS 0U
#define VIRTQ_INDEX 1U
#define VIRTQ_RING 2U

struct virtio_device;

/* A descriptor (section 2.7.5). */
struct virtq_desc {
    uint64_t address; /* guest-physical */
    uint64_t rest;    /* length in bits 31:0, flags in 47:32, next in 63:48 */
};

/* A chain that is returned (section 2.7.8). */
struct virtq_used {
    uint32_t head, length; /* which chain, bytes written */
};

/* How far the work on the queues of devices that wait is: a store that is executed again continues
 * there. */
struct virtio_progress {
    uint8_t device; /* its number */
    uint8_t queue;  /* of it, if steps are done */
    uint16_t steps; /* that are done for it */
};

/* A split virtqueue. The guest's registers are 0 after a reset. Numbers of chains count modulo 2^16
 * in the rings, and modulo 2^32 here, where the compiler needs fewer instructions for them. */
struct virtq {
    /* guards all that follows; the registers are those of the guest's VCPUs until `enabled` */
    struct spinlock lock;
    bool ready;          /* enabled, and the driver is: the device may use the ring */
    uint32_t generation; /* how often the queue was disabled */
    uint32_t mask;       /* size - 1 */
    uint32_t next;       /* number of the next chain to take */
    uint32_t used;       /* number of chains returned */
    uint32_t checked;    /* `used` when the driver's wish for an interrupt was last read */
    /* The rings, in the VM's RAM; valid while `ready`. */
    const volatile struct virtq_desc *desc;
    const volatile uint16_t *avail; /* flags, index, ring[size] */
    const volatile uint16_t *used_event;
    volatile uint16_t *ring; /* flags, index, then id and length of each chain, 32 bits each */
    volatile uint16_t *avail_event;
    /* Registers. */
    bool enabled;
    uint16_t size;       /* of the rings, in descriptors */
    uint64_t address[3]; /* guest-physical: descriptors, driver's area, device's area */
    /* Of virtio_resume(). A driver notifies a queue on one VCPU at a time, but several queues at
     * once; not guarded, as the registers. */
    struct virtio_progress progress;
};

/* The rest of a chain of buffers. Descriptors are read in the chain's order, and checked at each
 * read. A copy of this struct reads those behind it again. */
struct virtio_chain {
    const struct virtio_device *dev;
    const volatile struct virtq_desc *table; /* the queue's, or the indirect one */
    uint32_t entries;                        /* of the table */
    uint32_t head;                           /* identifies the chain */
    uint32_t left;                           /* descriptors that may still follow */
    /* index of the next descriptor, CHAIN_END if there is none */
    uint32_t next;
    uint32_t room; /* bytes left of the current buffer */
    char *at;      /* the next of them */
    bool writable; /* by the device */
    bool in_table; /* the rest is in an indirect table */
};
#define CHAIN_END (~0U)

/* What becomes of a step of a queue's work. */
struct virtio_step {
    bool wait; /* no further step before the device is notified again */
    /* for virtio_break(), after virtio_wrong(); NULL with `wait` */
    struct virtio_device *broken;
};

/* A type of device. Functions may be NULL. */
struct virtio_class {
    /* enum virtio_image_kind; the PCI device id of virtio devices is 0x1040 + type */
    uint16_t type;
    uint16_t id; /* the PCI device id of functions that are no virtio devices; 0 for the others */
    /* 0 .. VIRTIO_QUEUES, unless boot() sets dev->nqueues; none for functions with an id or of the
     * machine */
    uint8_t queues;
    uint32_t pci_class; /* class code, subclass, interface */
    uint64_t features;  /* in addition to those of all devices */
    /* Checks the configuration and fills dev->data. At boot. Returns NULL or what is wrong. */
    const char *(*boot)(struct virtio_device *dev);
    /* 32 bits at a multiple of 4 of the device configuration. */
    uint32_t (*config)(const struct virtio_device *dev, unsigned offset);
    uint32_t requests; /* bit n: the device works on queue n */
    /* Works on the first chain of such a queue, which has one and is locked, until the chain is
     * returned, for some 1,000 instructions. */
    struct virtio_step (*step)(struct virtio_device *dev, struct virtq *q);
    /* enum virtio_image_kind of the devices whose requests wait for buffers of this one's; 0: none,
     * as `waiting` NULL */
    uint16_t senders;
    /* The queue of `dev`, one of the senders, whose requests wait for buffers in queue `number` of
     * `to`, or NULL. Called without locks. */
    struct virtq *(*waiting)(struct virtio_device *dev, struct virtio_device *to, ulong number);
    /* Forgets the requests in progress. All queues are disabled; called without locks. */
    void (*reset)(struct virtio_device *dev);
    /* Gives the driver what the device has for it without a request of another device, for some
     * 1,000 instructions: when it offers buffers, and after virtio_serve_later(). True: it has
     * given something, or looked for it, and is to be called again. Without locks. */
    bool (*serve)(struct virtio_device *dev);
    /* Of a function of the fabric, which has an interrupt of its own instead of dev->isr and source
     * VIRTIO_IRQ + slot: whether it is pending (also called without locks), and what the command
     * register's "interrupt disable" does (with vm->lock held); the hardware ends it when the
     * manager resets the VM's devices. Its boot() sets dev->first_bar, its pages. */
    bool (*pending)(const struct virtio_device *dev);
    void (*mask)(const struct virtio_device *dev, bool masked);
    /* Of functions of the machine, instead of the registers below: the 32-bit word at `offset` of
     * the configuration space; the guest writes COMMAND_BITS of the command register (with
     * vm->lock) */
    uint32_t (*config_space)(const struct virtio_device *dev, unsigned offset);
    void (*command)(struct virtio_device *dev, uint32_t value);
    /* After the VM has stopped or the driver has reset the device: one step of ending what accesses
     * the VM's memory without the hypervisor. True if it was the last. Only for a class without
     * waiting(). Without locks. */
    bool (*stop)(struct virtio_device *dev);
};

/* In the file of the class: VIRTIO_CLASS(net) = {.type = VIRTIO_IMAGE_NET, ...}; */
#define VIRTIO_CLASS(id) static const struct virtio_class id##_class REGISTER_IN("virtio_classes")

/* A function of a VM's PCI bus, with its registers. */
struct virtio_device {
    /* Constant after boot, down to `required`. */
    const struct virtio_image_function *config;
    const struct virtio_class *class;
    struct vm *vm;
    void *data;       /* the class's own */
    uint64_t offered; /* features */
    /* of them, those without which the driver must not use the device */
    uint64_t required;
    uint8_t nqueues; /* constant */
    /* constant: most descriptors of a queue, a power of two */
    uint16_t queue_size;
    uint32_t requests;                        /* constant: the class's */
    const struct sysimage_region *second_bar; /* what BAR 2 is, or NULL; constant */
    /* guest-physical address of BAR 0, below 4 GiB; constant, as its size */
    uint64_t first_bar;
    uint32_t first_bar_size;
    struct virtq queues[VIRTIO_QUEUES];

    /* Guarded by vm->lock: */
    uint32_t isr;     /* ISR status; ivshmem: interrupt status */
    uint32_t command; /* PCI command register */
    bool was_reset;   /* by a CPU of `stops`: the last one sets the status to 0 */

    /* bit n: CPU n is in virtio_reset(), or between virtio_wrong() and virtio_break(). Atomic;
     * cleared with vm->lock. */
    uint32_t stops;

    /* Registers. A driver accesses them on one VCPU at a time; a hostile one on several. */
    uint32_t probing; /* bit n: BAR n was written with all ones, and reads as its size */
    /* the driver's note of its interrupt's number (PCI 3.0, section 6.2.4) */
    uint8_t interrupt_line;
    uint32_t status; /* atomic */
    uint32_t device_feature_select, driver_feature_select, queue_select;
    uint64_t features; /* accepted by the driver */
    uint32_t mask;     /* ivshmem: interrupt mask, which has no function */
    bool resumes;      /* set by a reset, until virtio_resume_all() is done or a new life begins */
    /* Of virtio_resume_all(): its queue, and how far it is there. */
    uint8_t resuming;
    struct virtio_progress progress;
};

/* --- pci.c --- */

struct virtio_bus {
    unsigned count;                /* constant after boot, as `devices` */
    struct virtio_device *devices; /* `count` of them, in the order of their slots */
    /* those of them that the stop of the VM has reset; by the CPU that runs VCPU 0's slice */
    unsigned stopped;
};

/* The functions of a VM; NULL if it has none. Inline: each access of a guest calls it. */
static inline struct virtio_bus *virtio_bus_of(const struct vm *vm)
{
    return vm->vcpus[0].data[COMPONENT_VIRTIO];
}

/* Adds the bus's ranges to the VM's emulated devices. At boot. */
bool virtio_pci_init(struct vm *vm);

/* Sets the function's configuration space as after power-on, and enables its interrupt where
 * hardware masks it. With vm->lock held. */
void virtio_pci_reset(struct virtio_device *dev);

/* --- intx.c --- */

/* Sets bits of the ISR status, and the function's interrupt line. Without locks. */
void virtio_interrupt(struct virtio_device *dev, uint32_t bits);

/* Interrupts that virtio_raise_pending() raises once the CPU has released the locks of queues:
 * under them, the waits for vm->lock would add up to a multiple of the longest section. By CPU,
 * which alone accesses it; bit n: device n. */
extern uint32_t virtio_pending[SYSIMAGE_MAX_HARTS];

/* Interrupts the drivers of the live ones among these devices. Without locks. */
void virtio_raise(uint32_t pending);

/* Without locks, in the section that has called virtq_interrupt(). */
static inline void virtio_raise_pending(void)
{
    uint32_t *own = &virtio_pending[cpu_self()->id], pending = *own;

    if (pending != 0) {
        *own = 0;
        virtio_raise(pending);
    }
}

/* Clears the ISR status. With vm->lock held. */
void virtio_clear_isr(struct virtio_device *dev);

/* Reads the ISR status and clears it. */
uint32_t virtio_take_isr(struct virtio_device *dev);

/* Sets the interrupt line to what the ISR status and the command register say. Without locks. */
void virtio_set_line(struct virtio_device *dev);

/* virtio_set_line() with vm->lock held. */
void virtio_set_line_locked(struct virtio_device *dev);

/* At boot. */
void virtio_lines_init(void);

/* virtio_set_line() in a section of its own. Without locks. */
void virtio_set_line_later(const struct virtio_device *dev);

/* The class's serve() in sections of their own, until nothing is left. Without locks, or with those
 * of queues. */
void virtio_serve_later(const struct virtio_device *dev);

/* --- stop.c --- */

/* Whether the driver is ready, and the device needs no reset. */
static inline bool virtio_is_live(const struct virtio_device *dev)
{
    uint32_t status = atomic_load_relaxed(&dev->status);

    return (status & (VIRTIO_STATUS_DRIVER_OK | VIRTIO_STATUS_NEEDS_RESET)) ==
           VIRTIO_STATUS_DRIVER_OK;
}

/* Resets the device: no queue is accessed from then on. Without locks. */
void virtio_reset(struct virtio_device *dev);

/* The driver has violated the specification: the device needs a reset. With the lock of the queue
 * where that was found, or a reset that the driver has done since would be undone. Returns `dev`,
 * for which virtio_break() must follow. */
struct virtio_device *virtio_wrong(struct virtio_device *dev);

/* After virtio_wrong(): no queue is accessed until the driver resets the device. Without locks. */
void virtio_break(struct virtio_device *dev);

/* Begins to stop a device that works but is no bus master any more. True: virtio_break() must
 * follow. Without locks. */
bool virtio_stop_without_master(struct virtio_device *dev);

/* --- transport.c --- */

uint32_t virtio_common_read(const struct virtio_device *dev, unsigned offset);
void virtio_common_write(struct virtio_device *dev, unsigned offset, unsigned width_log2,
                         uint32_t value);

/* Resets the device, then resumes what waits for it. False: to be called again, which does not
 * reset it once more. The reset and the first step are sections of their own. Without locks. */
bool virtio_reset_step(struct virtio_device *dev);

/* The guest has written the command register. As a bus master the function starts the queues that
 * are enabled. If it is none any more while its driver is ready, the device needs a reset, as its
 * requests in progress are lost. Without locks. */
void virtio_command_written(struct virtio_device *dev);

/* --- queue.c --- */

/* The RAM at [gpa, gpa + size), not empty, or NULL. Valid for good: a VM's memory does not move. */
void *virtio_ram(const struct vm *vm, gpa_t gpa, uint64_t size);

/* Computes the addresses of the rings. False if they are not aligned or not in the VM's RAM. With
 * the queue's lock. */
bool virtq_map(const struct vm *vm, struct virtq *q);

/* What virtq_first() and virtio_chain_*() found. */
enum virtio_found {
    VIRTIO_NONE, /* the chain is at its end */
    VIRTIO_SOME, /* bytes, as described at the function */
    /* the driver has violated the specification: virtio_wrong(), and virtio_break() once the locks
     * are released */
    VIRTIO_WRONG,
};

/* The number of chains that the driver says are available; more than the queue's size is wrong.
 * With the queue's lock. */
static inline uint32_t virtq_waiting(const struct virtq *q)
{
    return (atomic_load_acquire(&q->avail[VIRTQ_INDEX]) - q->next) & 0xffffU;
}

/* The first chain of the queue, which is not empty, of at most `most` descriptors. It stays there
 * until q->next is increased. With the queue's lock. */
enum virtio_found virtq_first(const struct virtio_device *dev, const struct virtq *q, unsigned most,
                              struct virtio_chain *chain);

/* Returns chains to the driver together. With the queue's lock. */
void virtq_return_all(struct virtq *q, const struct virtq_used *chains, uint32_t count);

/* Returns a chain to the driver, with `length` bytes written. With the queue's lock. */
static inline void virtq_return(struct virtq *q, uint32_t head, uint32_t length)
{
    virtq_return_all(q, &(struct virtq_used){head, length}, 1);
}

/* Makes an interrupt pending (virtio_pending) if the driver wants one for the chains that were
 * returned since the last call. With the queue's lock. */
void virtq_interrupt(const struct virtio_device *dev, struct virtq *q);

/* Asks the driver to notify the device of the next chain. False if there is one already. With the
 * queue's lock. */
bool virtq_enable_notify(const struct virtio_device *dev, struct virtq *q);

/* Asks the driver to notify the device of the next chain behind those that wait. With the queue's
 * lock. */
void virtq_request_notify(const struct virtio_device *dev, struct virtq *q);

/* Goes to the chain's next buffer; there is one, if the driver is right. */
enum virtio_found virtio_chain_next(struct virtio_chain *chain);

/* Goes to the chain's next buffer once the current one is used up: VIRTIO_SOME if chain->room > 0
 * then. */
static inline enum virtio_found virtio_chain_span(struct virtio_chain *chain)
{
    if (chain->room != 0) {
        return VIRTIO_SOME;
    }
    return chain->next == CHAIN_END ? VIRTIO_NONE : virtio_chain_next(chain);
}

/* Copies `size` bytes from or to the chain, whose buffers must be readable or writable.
 * VIRTIO_NONE: it is shorter. VIRTIO_WRONG, too, if they are in more than VIRTIO_PARTS buffers. */
enum virtio_found virtio_chain_read(struct virtio_chain *chain, void *dst, uint32_t size);
enum virtio_found virtio_chain_write(struct virtio_chain *chain, const void *src, uint32_t size);

static inline uint32_t virtio_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline void virtio_chain_advance(struct virtio_chain *chain, uint32_t bytes)
{
    chain->at += bytes;
    chain->room -= bytes;
}

/* --- notify.c --- */

/* Queue `number` of the device has new buffers, or none any more: works on the requests of other
 * devices that wait for them until an interrupt is pending for this CPU (false: to be called
 * again). For each of them some steps only, or a VM that sends without end from another CPU could
 * keep this one. Without locks. */
bool virtio_resume(struct virtio_device *to, ulong number);

/* virtio_resume() for the queues of a device that was reset, one of them in each call; or a step of
 * the class's stop(). */
bool virtio_resume_all(struct virtio_device *to);

/* The guest has notified queue `number`. */
void virtio_notify(struct virtio_device *dev, ulong number);

/* Returns the first chain of a queue of requests to the driver, and raises an interrupt if the
 * driver wants one. With the queue's lock. */
void virtio_done(struct virtio_device *dev, struct virtq *q, uint32_t head, uint32_t length);

/* --- copy.c --- */

/* Copies `size` bytes between any addresses, which do not overlap: 0.3 instructions for a byte if
 * both have the same distance from a multiple of 8, else 0.8. */
void virtio_copy(void *dst, const void *src, size_t size);

/* --- devices --- */

/* net.c: what has become of a NIC's frames since the boot. */
struct virtio_net_counts {
    uint64_t sent;     /* passed by the switch, for any number of receivers */
    uint64_t received; /* from other NICs */
    uint64_t spoofed;  /* dropped: another source address, or a tag although the NIC has a `vlan` */
    uint64_t limited;  /* dropped: over a limit of the system file */
    /* for this NIC, dropped: its driver had offered no buffer, or a shorter one */
    uint64_t no_buffer;
    uint64_t malformed; /* too short, too long, or in wrong buffers */
};
struct virtio_net_counts virtio_net_count(struct virtio_device *dev);

/* console.c: what has become of the bytes that the driver has sent on all ports since the boot. */
struct virtio_console_counts {
    uint64_t sent;    /* copied to buffers of the other end's driver */
    uint64_t dropped; /* without a driver at the other end, or, of port 0, without buffers there */
};
struct virtio_console_counts virtio_console_count(struct virtio_device *dev);

/* ivshmem.c: registers of BAR 0. */
uint32_t ivshmem_read(struct virtio_device *dev, unsigned offset);
void ivshmem_write(struct virtio_device *dev, unsigned offset, unsigned width_log2, uint32_t value);

/* --- devices.c --- */

/* All functions of the system, VM by VM. boot.c sets them up; constant after boot, but for what
 * they guard. */
extern struct virtio_device virtio_devices[VIRTIO_MAX_FUNCTIONS]; /* owner: devices.c */
extern unsigned virtio_device_count;

/* The number of functions of the same class before this one, of all VMs. At boot. */
unsigned virtio_count_before(const struct virtio_device *dev);

/* The class of a kind of function (enum virtio_image_kind), or NULL. */
const struct virtio_class *virtio_class_of(uint32_t kind);

/* --- backends.c --- */

extern struct pci_backends pci_backends; /* of all components; owner: pci_backends_boot() */

/* Finds what the components have registered. */
void pci_backends_boot(void);

/* The function's number among those of all VMs. */
static inline unsigned virtio_number(const struct virtio_device *dev)
{
    return (unsigned)(dev - virtio_devices);
}

/* --- boot.c and counters.c, for component.c, which lists them --- */

extern const struct console_part counters_part;

const char *virtio_boot(void);
void virtio_vm_reset(struct vm *vm);
bool virtio_vm_stop(struct vm *vm);

#endif
