/* SPDX-License-Identifier: Apache-2.0 */
/* A stream to another VM with this guest: one returns what it receives until its peer sends no
 * more, the other compares it. */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "virtio_test.h"
#include "virtio_vsock.h"

#define PORT 1234U
#define ROLE 8U /* characters */
#define TOTAL (1U << 20)
#define CHUNK 3000U
#define PATIENCE (10U * PLATFORM_TIMEBASE_HZ) /* without progress */
#define RETRY (PLATFORM_TIMEBASE_HZ / 10U)

static struct virtio_vsock vsock;
static struct random sending, receiving; /* the data, as they are sent and as they come back */

static bool patient(uint64_t since)
{
    return machine_time() - since < PATIENCE;
}

/* Sends all of the data; false: the stream has ended, or nothing is taken. */
static bool send_all(const uint8_t *data, size_t bytes)
{
    uint64_t since = machine_time();

    for (size_t sent = 0; sent < bytes;) {
        size_t ignored, more = virtio_vsock_send(&vsock, data + sent, bytes - sent);

        sent += more;
        since = more != 0 ? machine_time() : since;
        if (more == 0 && (!patient(since) || vsock.stream.state != VIRTIO_VSOCK_OPEN)) {
            return false;
        }
        if (more == 0 && vsock.held < 0) {
            /* the peer waits for an answer */
            must(virtio_vsock_receive(&vsock, &ignored) == NULL, "credit only");
        }
    }
    return true;
}

static void act_as_echo(void)
{
    static uint8_t copy[VIRTIO_VSOCK_DATA];
    size_t total = 0, bytes;
    uint64_t since = machine_time();

    virtio_vsock_listen(&vsock, PORT);
    print("virtio: vsock: listens at context id %lu\n", vsock.cid);
    while (patient(since) &&
           (vsock.stream.state == VIRTIO_VSOCK_LISTENING || vsock.stream.peer_sends)) {
        const uint8_t *data = virtio_vsock_receive(&vsock, &bytes);

        if (data != NULL) {
            memcpy(copy, data, bytes);
            must(send_all(copy, bytes), "return data");
            total += bytes;
        }
        since =
            data != NULL || vsock.stream.state == VIRTIO_VSOCK_LISTENING ? machine_time() : since;
    }
    virtio_vsock_finish(&vsock);
    print("virtio: vsock: %lu bytes returned\n", total);
}

static void compare(const uint8_t *data, size_t bytes)
{
    unsigned int wrong = 0;

    for (size_t i = 0; i < bytes; i++) {
        wrong += data[i] == (uint8_t)(random_next(&receiving) >> 40) ? 0U : 1U;
    }
    must(wrong == 0, "the data that came back");
}

/* The peer may not listen yet. */
static bool connect(uint64_t cid)
{
    uint64_t since = machine_time();
    size_t bytes;

    while (patient(since) && vsock.stream.state != VIRTIO_VSOCK_OPEN) {
        uint64_t begin = machine_time();

        virtio_vsock_connect(&vsock, cid, PORT);
        while (vsock.stream.state == VIRTIO_VSOCK_CONNECTING && patient(since)) {
            (void)virtio_vsock_receive(&vsock, &bytes);
        }
        while (vsock.stream.state != VIRTIO_VSOCK_OPEN && machine_time() - begin < RETRY) {
        }
    }
    return vsock.stream.state == VIRTIO_VSOCK_OPEN;
}

/* Sends a chunk, and takes all that comes back for it. */
static bool exchange(size_t bytes)
{
    static uint8_t chunk[CHUNK];
    uint64_t since = machine_time();
    size_t back = 0, came;

    for (size_t i = 0; i < bytes; i++) {
        chunk[i] = (uint8_t)(random_next(&sending) >> 40);
    }
    if (!send_all(chunk, bytes)) {
        return false;
    }
    while (back < bytes && patient(since) && vsock.stream.peer_sends) {
        const uint8_t *data = virtio_vsock_receive(&vsock, &came);

        if (data != NULL) {
            compare(data, came);
            back += came;
        }
    }
    return back == bytes;
}

static void act_as_client(uint64_t cid)
{
    uint64_t since;
    size_t done = 0, bytes;
    bool works = connect(cid);

    must(works, "a stream to the peer");
    sending = random_from(cid);
    receiving = sending;
    for (size_t length = 1; works && done < TOTAL; length = length * 7U % CHUNK + 1U) {
        works = exchange(length);
        done += length;
    }
    must(works, "all data came back");
    virtio_vsock_finish(&vsock);
    since = machine_time();
    while (vsock.stream.peer_sends && patient(since)) {
        must(virtio_vsock_receive(&vsock, &bytes) == NULL, "no more data");
    }
    must(!vsock.stream.peer_sends, "the peer's end of the stream");
    print("virtio: vsock: %lu bytes came back\n", done);
}

unsigned int check_vsock(struct test *test)
{
    unsigned int number = 0;
    int result = virtio_vsock_open(&vsock, &test->bus, number);

    while (result == VIRTIO_OK) {
        char role[ROLE] = "";

        (void)fdt_bootarg(test->fdt, "vsock", role, sizeof(role));
        if (strcmp(role, "echo") == 0) {
            act_as_echo();
        } else if (strcmp(role, "send") == 0) {
            act_as_client(fdt_bootarg_number(test->fdt, "cid", 3));
        }
        virtio_reset(&vsock.device);
        print("virtio: vsock %u tested\n", number);
        number++;
        result = virtio_vsock_open(&vsock, &test->bus, number);
    }
    must(result == VIRTIO_NO_DEVICE, "open");
    return number;
}
