/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of the mailbox, whatever it runs on: sessions in which it says lines and hears the answers
 * (docs/messages.md). What can fail returns what is wrong, for people to read, or NULL.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "mailbox.h"

struct client {
    struct mailbox *box;
    void (*answer)(const char *text, size_t count); /* is given what the server says, as it comes */
    uint32_t generation;                            /* of the server that took our session */
    size_t sent;                                    /* lines */
    size_t answered;                                /* lines */
    int64_t deadline;                               /* for the next progress, in ms */
};

/** Begins a session; `box` and `answer` are set. Until the server has taken it, the rings may hold what others left. */
const char *client_begin(struct client *client);

/** Sends, and hears meanwhile: with both rings full and nobody hearing, nothing would ever move again. */
const char *client_say(struct client *client, const char *text, size_t count);

/** Until every line that was sent is answered. */
const char *client_hear_the_rest(struct client *client);

/* --- what it runs on provides --- */

/** Milliseconds of a clock that only goes forward. */
int64_t client_now_ms(void);

void client_sleep_ms(int64_t ms);

#endif
