/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of the memory shared by a client, which sends requests, and the server (FreeRTOS), which
 * answers: two rings of bytes, and the state of both sides. Every word has exactly one writer, so
 * that neither side can overwrite a concurrent update of the peer, and either may restart at any
 * time. docs/messages.md describes the protocol.
 *
 * The memory is 0 after boot, which is a valid state: empty rings, no server yet.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mailbox_fence.h" /* per architecture */

#define MAILBOX_MAGIC UINT64_C(0x786f626c69616d54) /* "Tmailbox" */
#define MAILBOX_VERSION 2U
#define MAILBOX_RING 4096U /* bytes; a power of two, so that counters may overflow */
#define MAILBOX_LINE 64U   /* bytes: distance between words of different writers */

struct mailbox_ring {
    _Alignas(MAILBOX_LINE) volatile uint32_t head; /* total bytes put in; written by the sender */
    /* total bytes taken out; written by the receiver */
    _Alignas(MAILBOX_LINE) volatile uint32_t tail;
    _Alignas(MAILBOX_LINE) volatile uint8_t bytes[MAILBOX_RING];
};

/* How to wake one side. */
struct mailbox_sleeper {
    volatile uint32_t vm;    /* number of its VM in the system, for the doorbell */
    volatile uint32_t waits; /* number of its latest wait; 0: it has not waited yet */
};

struct mailbox {
    /* by the server: MAILBOX_MAGIC while it is ready */
    volatile uint64_t magic;
    volatile uint32_t version;                        /* by the server */
    volatile uint32_t generation;                     /* by the server: number of its starts */
    volatile uint32_t accepted;                       /* by the server: the session it serves */
    struct mailbox_sleeper server;                    /* by the server */
    _Alignas(MAILBOX_LINE) volatile uint32_t session; /* by the client: the session it requests */
    struct mailbox_sleeper client;                    /* by the client */
    struct mailbox_ring requests;                     /* from the client to the server */
    struct mailbox_ring answers;                      /* from the server to the client */
};

/** Appends up to `count` bytes to the ring; returns the number appended. */
static inline size_t mailbox_put(struct mailbox_ring *ring, const char *from, size_t count)
{
    uint32_t head = ring->head;
    uint32_t used = head - ring->tail;
    /* above the size: the peer's counter is invalid */
    size_t room = used > MAILBOX_RING ? 0 : MAILBOX_RING - used;
    size_t size = count < room ? count : room;

    mailbox_fence(); /* read `tail` before writing the bytes */
    for (size_t i = 0; i < size; i++) {
        ring->bytes[(head + i) % MAILBOX_RING] = (uint8_t)from[i];
    }
    mailbox_fence(); /* write the bytes before `head` */
    ring->head = head + (uint32_t)size;
    return size;
}

/** Discards the contents of the ring. For the receiver. */
static inline void mailbox_drop(struct mailbox_ring *ring)
{
    ring->tail = ring->head;
}

/** Removes up to `room` bytes from the ring; returns the number removed. */
static inline size_t mailbox_take(struct mailbox_ring *ring, char *to, size_t room)
{
    uint32_t tail = ring->tail;
    uint32_t used = ring->head - tail;
    size_t size = used < room ? used : room;

    if (used > MAILBOX_RING) { /* the peer's counter is invalid */
        mailbox_drop(ring);
        return 0;
    }
    mailbox_fence(); /* read the bytes after `head` */
    for (size_t i = 0; i < size; i++) {
        to[i] = (char)ring->bytes[(tail + i) % MAILBOX_RING];
    }
    mailbox_fence(); /* and before `tail` is written */
    ring->tail = tail + (uint32_t)size;
    return size;
}

/* --- sleeping until the other side changes something --- */

/* One side, in its own memory. Zero, but for the pointers, when the side starts. */
struct mailbox_side {
    struct mailbox_sleeper *own;
    const struct mailbox_sleeper *peer;
    uint32_t rung;  /* the peer's wait for which this side has rung last */
    bool announced; /* `own->waits` is a wait that has not begun */
};

/** Whether this side has to ring the VM `peer->vm`, to be called after each change of the shared
 * memory and before each wait. */
static inline bool mailbox_must_ring(struct mailbox_side *side)
{
    uint32_t waits;

    mailbox_fence(); /* the change is visible before `waits` is read */
    waits = side->peer->waits;
    if (waits == side->rung) {
        return false;
    }
    side->rung = waits;
    return true;
}

/**
 * To be called when this side has found nothing to do. False: the wait is announced, look once
 * more. True: still nothing; wait for the doorbell, which may have rung already.
 */
static inline bool mailbox_may_wait(struct mailbox_side *side)
{
    side->announced = !side->announced;
    if (side->announced) {
        side->own->waits = side->own->waits == UINT32_MAX ? 1U : side->own->waits + 1U;
        mailbox_fence(); /* `waits` is visible before the rings are read again */
    }
    return !side->announced;
}

#endif
