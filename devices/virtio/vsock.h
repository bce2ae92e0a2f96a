/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams between the sockets of VMs (vsock_streams.c). A VM that only reads sends nothing that
 * could be refused, so it would not notice that its peer has gone: the hypervisor sends it a reset
 * for each of their streams. It owns the list of streams for that: bounded, without a heap, and
 * each pair of VMs has a part of its own, so no VM uses up another one's.
 *
 * Sockets are numbered from 0 in the order of their functions. Lock order: the locks of this file
 * are the innermost.
 */
#ifndef VIRTIO_VSOCK_H
#define VIRTIO_VSOCK_H

#include "types.h"

#define STREAMS_SOCKETS 16U /* at most: one for each VM */

/* A stream as one of its ends sees it. */
struct stream {
    unsigned socket, peer; /* numbers of sockets */
    uint32_t port, peer_port;
};

/* Socket number `socket` exists. At boot, for each in their order. */
void streams_boot(unsigned socket);

/* The peer is about to get the request for the stream. False: the pair has as many as it may
 * have. */
bool streams_open(const struct stream *s);

/* One end has reset the stream. */
void streams_close(const struct stream *s);

/* All streams of the socket are over, and it will send and receive nothing more for them. They are
 * ended by streams_end() for each peer: all at once would take too long where a device stops. */
void streams_gone(unsigned socket);

/* The peers for which streams_end() is still to be called after streams_gone(): bit n is socket
 * n. */
uint32_t streams_to_end(unsigned socket);

/* Ends the streams with the peer that are over since streams_gone(); to be called before streams of
 * this socket and the peer are opened, closed or reset. Returns whether a reset is owed to the
 * peer. */
bool streams_end(unsigned socket, unsigned peer);

/* Takes a stream for which s->socket has to get a reset because s->peer has gone. False: there is
 * none. */
bool streams_take_reset(struct stream *s);

#endif
