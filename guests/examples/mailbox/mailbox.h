/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in the memory that a client, which asks, and FreeRTOS, the server, which answers, share: two rings of bytes,
 * and who is there. Every word has one writer, who alone ever sets it: neither side can undo what the other does at the
 * same time, and either may start anew at any moment. docs/messages.md says how the two sides use it.
 *
 * The memory is 0 when the machine boots, which is a valid state: empty rings, no server yet.
 */
#ifndef MAILBOX_H
#define MAILBOX_H

#include <stddef.h>
#include <stdint.h>

#include "mailbox_fence.h" /* the architecture's */

#define MAILBOX_MAGIC UINT64_C(0x786f626c69616d54) /* "Tmailbox" */
#define MAILBOX_VERSION 1U
#define MAILBOX_RING 4096U /* bytes; a power of two, so that counters may overflow */
#define MAILBOX_LINE 64U   /* bytes: what two writers write lies that far apart */

struct mailbox_ring {
    _Alignas(MAILBOX_LINE) volatile uint32_t head; /* bytes ever put in; the sender's */
    _Alignas(MAILBOX_LINE) volatile uint32_t tail; /* bytes ever taken out; the receiver's */
    _Alignas(MAILBOX_LINE) volatile uint8_t bytes[MAILBOX_RING];
};

struct mailbox {
    volatile uint64_t magic;                          /* the server's: MAILBOX_MAGIC while it listens */
    volatile uint32_t version;                        /* the server's */
    volatile uint32_t generation;                     /* the server's: how often it has started */
    volatile uint32_t accepted;                       /* the server's: the session it serves */
    _Alignas(MAILBOX_LINE) volatile uint32_t session; /* the client's: the session it wants */
    struct mailbox_ring requests;                     /* from the client to the server */
    struct mailbox_ring answers;                      /* from the server to the client */
};

/** Puts up to `count` bytes into the ring; returns how many there was room for. */
static inline size_t mailbox_put(struct mailbox_ring *ring, const char *from, size_t count)
{
    uint32_t head = ring->head;
    uint32_t used = head - ring->tail;
    size_t room = used > MAILBOX_RING ? 0 : MAILBOX_RING - used; /* more than all: the other side's counter is wrong */
    size_t size = count < room ? count : room;

    mailbox_fence(); /* the place is free before it is written */
    for (size_t i = 0; i < size; i++) {
        ring->bytes[(head + i) % MAILBOX_RING] = (uint8_t)from[i];
    }
    mailbox_fence(); /* the bytes are there before they are announced */
    ring->head = head + (uint32_t)size;
    return size;
}

/** Throws away what is in the ring. For the receiver. */
static inline void mailbox_drop(struct mailbox_ring *ring)
{
    ring->tail = ring->head;
}

/** Takes up to `room` bytes out of the ring; returns how many there were. */
static inline size_t mailbox_take(struct mailbox_ring *ring, char *to, size_t room)
{
    uint32_t tail = ring->tail;
    uint32_t used = ring->head - tail;
    size_t size = used < room ? used : room;

    if (used > MAILBOX_RING) { /* the other side's counter is wrong */
        mailbox_drop(ring);
        return 0;
    }
    mailbox_fence(); /* the bytes are read after what announces them */
    for (size_t i = 0; i < size; i++) {
        to[i] = (char)ring->bytes[(tail + i) % MAILBOX_RING];
    }
    mailbox_fence(); /* and before their place is free */
    ring->tail = tail + (uint32_t)size;
    return size;
}

#endif
