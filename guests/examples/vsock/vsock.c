/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux program: a stream between VMs through virtio-vsock.
 *
 *      vsock listen PORT         waits for one connection
 *      vsock connect CID PORT    connects to the VM with this context id
 *
 * Afterwards both copy the standard input to the connection, and the connection to the standard output, until both have ended.
 * Exit status 0; 1 for an error, with a message.
 */
#include <stdbool.h>
#include <string.h>

#include "linux.h"

#define PPOLL 73L
#define SOCKET 198L
#define BIND 200L
#define LISTEN 201L
#define ACCEPT 202L
#define CONNECT 203L
#define SHUTDOWN 210L

#define AF_VSOCK 40
#define SOCK_STREAM 1L
#define SHUT_WRITE 1L
#define CID_ANY UINT32_MAX
#define POLLIN 1
#define CHUNK 65536U

/* As <linux/vm_sockets.h> and <poll.h> define them. */
struct sockaddr_vm {
    uint16_t family, reserved;
    uint32_t port, cid;
    uint8_t zero[4];
};

struct pollfd {
    int32_t file;
    int16_t events, found;
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
    return must(linux_call(SOCKET, AF_VSOCK, SOCK_STREAM, 0), "this kernel has no vsock: is the module loaded?");
}

static long listen_on(uint32_t port)
{
    struct sockaddr_vm address = {.family = AF_VSOCK, .port = port, .cid = CID_ANY};
    long listener = make_socket();

    (void)must(linux_call(BIND, listener, (long)(uintptr_t)&address, sizeof(address)), "the port is in use");
    (void)must(linux_call(LISTEN, listener, 1, 0), "cannot listen");
    return must(linux_call(ACCEPT, listener, 0, 0), "cannot accept a connection");
}

static long connect_to(uint32_t cid, uint32_t port)
{
    struct sockaddr_vm address = {.family = AF_VSOCK, .port = port, .cid = cid};
    long file = make_socket();

    (void)must(linux_call(CONNECT, file, (long)(uintptr_t)&address, sizeof(address)), "nobody listens there");
    return file;
}

/* Copies what is there. False: the input has ended. */
static bool copy(long from, long to)
{
    static char chunk[CHUNK];
    long size = linux_read(from, chunk, sizeof(chunk));

    if (size == -LINUX_EINTR) {
        return true;
    }
    if (must(size, "the connection is lost") == 0) {
        return false;
    }
    linux_put(to, chunk, (size_t)size);
    return true;
}

static void exchange(long connection)
{
    struct pollfd files[2] = {{0, POLLIN, 0}, {(int32_t)connection, POLLIN, 0}};

    while (files[0].file >= 0 || files[1].file >= 0) {
        const long arguments[6] = {(long)(uintptr_t)files, 2, 0, 0, 0};
        long ready = linux_call6(PPOLL, arguments);

        if (ready < 0 && ready != -LINUX_EINTR) {
            fail("cannot wait");
        }
        if (files[0].found != 0 && !copy(0, connection)) {
            files[0].file = -1; /* poll leaves it out */
            (void)linux_call(SHUTDOWN, connection, SHUT_WRITE, 0);
        }
        if (files[1].found != 0 && !copy(connection, 1)) {
            files[1].file = -1;
        }
    }
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
