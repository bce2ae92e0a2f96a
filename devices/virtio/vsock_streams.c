/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all streams between sockets (vsock.h), in parts of a fixed size for each pair of VMs.
 * Each pair has its lock, the innermost one. It serves vsock.c. */
#include "atomic.h"
#include "lib.h"
#include "spinlock.h"
#include "sysimage.h"
#include "vsock.h"

#define PAIRS (STREAMS_SOCKETS * (STREAMS_SOCKETS - 1U) / 2U)
#define STREAMS 1024U    /* of all pairs; more than PAIRS */
#define MOST_OF_PAIR 64U /* bits of struct pair */

_Static_assert(SYSIMAGE_MAX_VMS <= STREAMS_SOCKETS, "a socket for each VM");

/* The streams between two sockets. */
struct pair {
    struct spinlock lock; /* guards what follows, and the ports of the pair's streams */
    uint64_t open;        /* bit n: stream n of the pair exists */
    /* of them those whose other end has gone: the end of this side has to get a reset */
    uint64_t owed[2];
};

/* Owner: this file. The socket with the lower number is side 0 of a pair. */
static struct pair pairs[PAIRS];
static uint32_t ports[STREAMS][2]; /* of each stream, by side; guarded by the pair's lock */
/* bit n: the socket's streams with socket n are still to be ended; atomic, cleared with the pair's
 * lock */
static uint32_t gone[STREAMS_SOCKETS];
static unsigned sockets;
static unsigned most; /* streams of a pair */

void streams_boot(unsigned socket)
{
    unsigned npairs = socket * (socket + 1U) / 2U;

    if (socket == 0) {
        memset(pairs, 0, sizeof(pairs));
        memset(gone, 0, sizeof(gone));
    }
    sockets = socket + 1U;
    most = npairs * MOST_OF_PAIR <= STREAMS ? MOST_OF_PAIR : STREAMS / npairs;
}

static unsigned side_of(unsigned socket, unsigned peer)
{
    return socket < peer ? 0 : 1U;
}

static unsigned number_of_pair(unsigned socket, unsigned peer)
{
    return socket > peer ? socket * (socket - 1U) / 2U + peer : peer * (peer - 1U) / 2U + socket;
}

static uint32_t *ports_of(const struct pair *p, unsigned stream)
{
    return ports[(size_t)(p - pairs) * most + stream];
}

/* The number of the pair's stream between both ports, or `most`. */
static unsigned find(const struct pair *p, const struct stream *s)
{
    unsigned side = side_of(s->socket, s->peer), n = 0;

    for (uint64_t open = p->open; open != 0; open >>= 1, n++) {
        const uint32_t *both = ports_of(p, n);

        if ((open & 1U) != 0 && both[side] == s->port && both[1U - side] == s->peer_port) {
            return n;
        }
    }
    return most;
}

static unsigned find_free(const struct pair *p)
{
    unsigned n = 0;

    while (n < most && (p->open >> n & 1U) != 0) {
        n++;
    }
    return n;
}

/* A driver that uses the ports of an earlier stream again has closed that, so no reset is owed for
 * it. */
bool streams_open(const struct stream *s)
{
    struct pair *p = &pairs[number_of_pair(s->socket, s->peer)];
    unsigned side = side_of(s->socket, s->peer), n;

    spin_lock(&p->lock);
    n = find(p, s);
    n = n < most ? n : find_free(p);
    if (n < most) {
        ports_of(p, n)[side] = s->port;
        ports_of(p, n)[1U - side] = s->peer_port;
        p->open |= UINT64_C(1) << n;
        p->owed[0] &= ~(UINT64_C(1) << n);
        p->owed[1] &= ~(UINT64_C(1) << n);
    }
    spin_unlock(&p->lock);
    return n < most;
}

static void forget(struct pair *p, uint64_t streams)
{
    p->open &= ~streams;
    p->owed[0] &= ~streams;
    p->owed[1] &= ~streams;
}

void streams_close(const struct stream *s)
{
    struct pair *p = &pairs[number_of_pair(s->socket, s->peer)];
    unsigned n;

    spin_lock(&p->lock);
    n = find(p, s);
    if (n < most) {
        forget(p, UINT64_C(1) << n);
    }
    spin_unlock(&p->lock);
}

void streams_gone(unsigned socket)
{
    (void)atomic_or_relaxed(&gone[socket], ((1U << sockets) - 1U) & ~(1U << socket));
}

uint32_t streams_to_end(unsigned socket)
{
    return atomic_load_relaxed(&gone[socket]);
}

bool streams_end(unsigned socket, unsigned peer)
{
    struct pair *p;
    unsigned side = side_of(socket, peer);
    bool owed = false;

    if ((streams_to_end(socket) >> peer & 1U) == 0) {
        return false;
    }
    p = &pairs[number_of_pair(socket, peer)];
    spin_lock(&p->lock);
    if ((streams_to_end(socket) >> peer & 1U) !=
        0) { /* not ended by another CPU, which may have opened a stream since */
        forget(p, p->owed[side]);
        p->owed[1U - side] = p->open;
        owed = p->open != 0;
        (void)atomic_and_relaxed(&gone[socket], ~(1U << peer));
    }
    spin_unlock(&p->lock);
    return owed;
}

bool streams_take_reset(struct stream *s)
{
    struct pair *p = &pairs[number_of_pair(s->socket, s->peer)];
    unsigned side = side_of(s->socket, s->peer), n = 0;
    uint64_t owed;

    spin_lock(&p->lock);
    owed = p->owed[side];
    if (owed != 0) {
        while ((owed >> n & 1U) == 0) {
            n++;
        }
        s->port = ports_of(p, n)[side];
        s->peer_port = ports_of(p, n)[1U - side];
        forget(p, UINT64_C(1) << n);
    }
    spin_unlock(&p->lock);
    return owed != 0;
}
