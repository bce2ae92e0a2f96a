/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client side of the mailbox, independent of the platform: sessions in which the client sends
 * lines and receives the answers (docs/messages.md). Functions that can fail return an error
 * message, or NULL.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "mailbox.h"

struct client {
    struct mailbox *box;
    uint32_t vm; /* number of the own VM, for the server's doorbell */
    struct mailbox_side side;
    void (*answer)(const char *text, size_t count); /* called with received bytes */
    uint32_t generation;                            /* of the server that accepted the session */
    size_t sent;                                    /* lines sent */
    size_t answered;                                /* lines answered */
    int64_t deadline;                               /* for the next progress, in ms */
};

/**
 * Opens a session; `box`, `vm` and `answer` are set. Until the server accepts it, the rings may
 * hold stale bytes.
 */
const char *client_begin(struct client *client);

/** Sends bytes while receiving answers: with both rings full, sending alone would deadlock. */
const char *client_send(struct client *client, const char *text, size_t count);

/** Receives until every line sent is answered. */
const char *client_receive_rest(struct client *client);

/* --- provided by the platform --- */

/** Milliseconds of a monotonic clock. */
int64_t client_now_ms(void);

/** Rings the doorbell of VM `vm`. */
void client_ring(uint32_t vm);

/**
 * Sleeps until the own doorbell has rung since the last call that returned for it, or until the
 * time `until` of client_now_ms(). May return early.
 */
void client_wait(int64_t until);

#endif
