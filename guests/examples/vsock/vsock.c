/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux program: a stream between VMs through virtio-vsock.
 *
 *      vsock listen PORT         waits for one connection; prints `vsock: listens` on the standard
 *                                error output
 *      vsock connect CID PORT    connects to the VM with this context id
 *
 * Afterwards both copy the standard input to the connection, and the connection to the standard
 * output, until both have ended.
 * Exit status 0; 1 for an error, with a message.
 */
#include <string.h>

#include "linux.h"

#define SOCKET 198L
#define BIND 200L
#define LISTEN 201L
#define ACCEPT 202L
#define CONNECT 203L
#define SHUTDOWN 210L
#define CLONE 220L
#define WAIT4 260L

#define AF_VSOCK 40
#define SOCK_STREAM 1L
#define SHUT_WRITE 1L
#define CID_ANY UINT32_MAX
#define SIGCHLD 17L
#define CHUNK 65536U

/* As <linux/vm_sockets.h> defines it. */
struct sockaddr_vm {
    uint16_t family, reserved;
    uint32_t port, cid;
    uint8_t zero[4];
};

_Noreturn void main(int count, char **words);

static _Noreturn void fail(const char *why)
{
    linux_fail("vsock", why);
}

static long must(long result, const char *why)
{
    if (result < 0) {
        fail(why);
    }
    return result;
}

static long make_socket(void)
{
    return must(linux_call(SOCKET, AF_VSOCK, SOCK_STREAM, 0),
                "this kernel has no vsock: is the module loaded?");
}

static long listen_on(uint32_t port)
{
    struct sockaddr_vm address = {.family = AF_VSOCK, .port = port, .cid = CID_ANY};
    long listener = make_socket();

    (void)must(linux_call(BIND, listener, (long)(uintptr_t)&address, sizeof(address)),
               "the port is in use");
    (void)must(linux_call(LISTEN, listener, 1, 0), "cannot listen");
    linux_put(2, "vsock: listens\n", 15);
    return must(linux_call(ACCEPT, listener, 0, 0), "cannot accept a connection");
}

static long connect_to(uint32_t cid, uint32_t port)
{
    struct sockaddr_vm address = {.family = AF_VSOCK, .port = port, .cid = cid};
    long file = make_socket();

    (void)must(linux_call(CONNECT, file, (long)(uintptr_t)&address, sizeof(address)),
               "nobody listens there");
    return file;
}

static void copy(long from, long to)
{
    static char chunk[CHUNK];
    long size = -LINUX_EINTR;

    while (size != 0) {
        size = linux_read(from, chunk, sizeof(chunk));
        if (size > 0) {
            linux_put(to, chunk, (size_t)size);
        } else if (size != -LINUX_EINTR) {
            (void)must(size, "the connection is lost");
        }
    }
}

/* A process for each direction: with one, both ends could wait for each other to read. */
static void exchange(long connection)
{
    long child = must(linux_call(CLONE, SIGCHLD, 0, 0), "cannot create a process");
    const long arguments[6] = {child};

    if (child == 0) {
        copy(0, connection);
        (void)linux_call(SHUTDOWN, connection, SHUT_WRITE, 0);
        linux_exit(0);
    }
    copy(connection, 1);
    (void)linux_call6(WAIT4, arguments);
}

static uint32_t parse(const char *text)
{
    return (uint32_t)must(linux_number(text), "expected a decimal number");
}

_Noreturn void main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "listen") == 0) {
        exchange(listen_on(parse(words[2])));
    } else if (count == 4 && strcmp(words[1], "connect") == 0) {
        exchange(connect_to(parse(words[2]), parse(words[3])));
    } else {
        fail("expected: vsock listen PORT, or vsock connect CID PORT");
    }
    linux_exit(0);
}
