/* SPDX-License-Identifier: Apache-2.0 */
/* The attacker's virtual PCI functions (tests/e2e/systems/attacker-virtio.dts), used as no driver
 * uses them. What takes a number of a function is also for those of attacker-storage.dts
 * (attacker_storage.h). */
#ifndef ATTACKER_VIRTIO_H
#define ATTACKER_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attacker.h"

#define ECAM 0x30000000UL
#define ECAM_SIZE 0x100000UL
#define BARS 0x40000000UL
#define BAR_SIZE 0x4000UL

/* The functions, by their device numbers. Both ports are in one network, the second one without
 * limits. */
enum slot {
    SLOT_NET,
    SLOT_DISK,
    SLOT_RNG,
    SLOT_SOCKET,
    SLOT_LINE,
    SLOT_MAILBOX,
    SLOT_SECOND,
    SLOTS
};
#define SLOT_MACHINE 7U /* a virtio-rng of the machine's PCI bus */
#define FUNCTIONS 8U
#define FRAMES_PER_MS 40U /* of SLOT_NET */
#define GROUPS_PER_MS 5U
#define DISK_SECTORS 4096U
#define CID_OWN 9U
#define CID_PEER 4U
#define CID_STRANGER 3U /* is no peer of the attacker */
#define VM_PEER 4U
#define VMS 5U

#define ENTRIES 256U /* most of a queue */

enum {
    DESC_NEXT = 1,
    DESC_WRITE = 2,
    DESC_INDIRECT = 4,
};

enum common {
    DEVICE_SELECT = 0,
    DRIVER_SELECT = 8,
    DRIVER_FEATURES = 12,
    QUEUES = 18, /* that the device has */
    STATUS = 20,
    QUEUE = 22,
    QUEUE_SIZE = 24,
    QUEUE_ENABLE = 28,
    QUEUE_ADDRESS = 32,
    ISR = 0x1000,
    CONFIG = 0x2000,
    NOTIFY = 0x3000,
};

#define STATUS_DRIVER 3U /* with ACKNOWLEDGE */
#define STATUS_DRIVER_OK 4U
#define STATUS_FEATURES_OK 8U
#define STATUS_NEEDS_RESET 64U

#define F_INDIRECT (1UL << 28)
#define F_EVENT_IDX (1UL << 29)
#define F_VERSION_1 (1UL << 32)

struct desc {
    uint64_t address;
    uint32_t length;
    uint16_t flags, next;
};

struct ring {
    _Alignas(4096) volatile struct desc desc[ENTRIES];
    struct {
        uint16_t flags, index, ring[ENTRIES + 1U];
    } avail;
    struct {
        uint16_t flags, index;
        struct {
            uint32_t id, length;
        } ring[ENTRIES + 1U];
    } used;
};

extern volatile struct ring rings[FUNCTIONS][3]; /* of each queue */

#define FRAME_HEADER 12U /* before each frame */
#define FRAME 1514U

struct packet {
    uint64_t source, destination;
    uint32_t source_port, destination_port, length;
    uint16_t type, op;
    uint32_t flags, space, forwarded;
    uint8_t data[1024];
} __attribute__((packed));
#define PACKET_HEADER 44U
enum {
    OP_REQUEST = 1,
    OP_RESET = 3,
    OP_DATA = 5,
};

static inline volatile void *reg(unsigned slot, uint64_t offset)
{
    return (volatile void *)(BARS + (uint64_t)slot * BAR_SIZE + offset);
}

static inline volatile uint8_t *reg8(unsigned slot, uint64_t offset)
{
    return reg(slot, offset);
}

static inline volatile uint16_t *reg16(unsigned slot, uint64_t offset)
{
    return reg(slot, offset);
}

static inline volatile uint32_t *reg32(unsigned slot, uint64_t offset)
{
    return reg(slot, offset);
}

/* Number of the queue on which the device works. */
static inline unsigned requests_of(enum slot slot)
{
    return slot == SLOT_DISK || slot == SLOT_RNG ? 0U : 1U;
}

static inline volatile struct ring *requests(enum slot slot)
{
    return &rings[slot][requests_of(slot)];
}

/* Whether the function is a virtio device. */
static inline bool is_virtio(enum slot slot)
{
    return slot != SLOT_MAILBOX;
}

/* Lets the function answer in its BARs. */
void function_enable(unsigned slot);

/* Resets the device and negotiates features, VERSION_1 among them. */
void device_begin(unsigned slot, uint64_t features);

/* Enables a queue of ENTRIES entries with empty rings. */
void device_queue(unsigned slot, unsigned number);

/* device_begin(), all queues, DRIVER_OK. */
void device_start(unsigned slot, uint64_t features);

bool device_failed(unsigned slot);

static inline void device_notify(unsigned slot, unsigned number)
{
    __asm__ volatile("fence" ::: "memory");
    *reg16(slot, NOTIFY) = (uint16_t)number;
    __asm__ volatile("fence" ::: "memory");
}

void describe(volatile struct ring *ring, unsigned index, struct desc desc);

/* Makes a chain available. */
void offer(volatile struct ring *ring, uint16_t head);

/* A second hart runs `change` until end_changes(): the function returns when `changes_over`. */
extern volatile bool changes_over;
extern volatile unsigned changes; /* counted by `change` */
#define CHANGES_MIN 11U           /* changes, at least, in an attack that changes memory */
void begin_changes(struct verdict *v, void (*change)(unsigned long hart, void *argument));
void end_changes(void);

/* Whether an attack of two harts that began at `from` goes on: for `time`, and longer until it has
 * done enough. */
bool attack_goes_on(uint64_t from, uint64_t time, bool enough);

/* Offers the device a request as a driver does, in `pieces` descriptors for the first buffer, and
 * notifies it. */
void request(enum slot slot, unsigned pieces);

/* Offers the device a wrong chain, beginning with descriptor 0, which it must answer by
 * DEVICE_NEEDS_RESET. */
void judge_refused(struct verdict *v, enum slot slot, const char *what);

/* After a reset the device works. */
void judge_device(struct verdict *v, enum slot slot);
void judge_devices(struct verdict *v);

/* Sends a packet with so much data, at most 1024 bytes, from the socket to itself. */
void send_to_itself(uint32_t length);

/* Memory of the witness, of the hypervisor, or no memory: accesses would be noticed. */
static inline uint64_t place_of_others(uint64_t n)
{
    static const uint64_t places[] = {REAL_WITNESS + 0x200000U, REAL_HYPERVISOR, 1UL << 41,
                                      ALL - 0xffffU};

    return places[n % LENGTH_OF(places)];
}

/* A buffer for anything, 4 KiB, and its address. */
extern volatile uint8_t scratch[4096];
#define SCRATCH ((uint64_t)(uintptr_t)scratch)

/* A frame from the attacker's first port: in `scratch`, its header included. */
struct frame {
    uint64_t destination, source;
    uint16_t type;
    uint32_t length; /* without header */
};
#define MAC_OWN 0x020000000009U
#define MAC_SECOND 0x02000000000aU
#define MAC_NOBODY 0x0200000000ffU
#define MAC_ALL 0xffffffffffffU

/* Sends it; the ring must be the started one. */
void send_frame(enum slot slot, const struct frame *frame);

/* Posts a buffer to a receive queue. */
void post(unsigned slot, struct desc desc);

static inline uint16_t used(const volatile struct ring *ring)
{
    return ring->used.index;
}

/* Waits until the queue has returned so many chains since the device's start. False: it has failed,
 * or does not return them. */
bool await_used(unsigned slot, unsigned number, uint16_t count);

/* Waits until the device needs a reset. False: it does not. */
bool await_failure(unsigned slot);

/* Random values in all registers and rings, the notification included, of the functions with
 * numbers below `slots`. */
void write_randomly(struct verdict *v, unsigned slots);

/* Requests of a disk of DISK_SECTORS, started before, of all kinds; and chains that are no
 * requests. */
void judge_disk(struct verdict *v, unsigned slot);
void judge_disk_chains(struct verdict *v, unsigned slot);

#endif
