/* SPDX-License-Identifier: Apache-2.0 */
/* A line to a peer: one end returns what it receives up to a byte 0, the other end compares what
 * comes back. */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "virtio_console.h"
#include "virtio_test.h"

#define ROLE 8U /* characters */
#define TOTAL (1U << 16)
#define CHUNK 1000U
#define PATIENCE (10U * PLATFORM_TIMEBASE_HZ) /* without progress */
#define WAIT_MS 100U
#define END 0U

static struct virtio_console console;

static bool patient(uint64_t since)
{
    return machine_time() - since < PATIENCE;
}

static bool write_all(const uint8_t *data, size_t bytes)
{
    uint64_t since = machine_time();

    for (size_t written = 0; written < bytes;) {
        size_t more = virtio_console_write(&console, data + written, bytes - written);

        written += more;
        since = more != 0 ? machine_time() : since;
        if (!patient(since)) {
            return false;
        }
    }
    return true;
}

/* Reads what has arrived; waits for the first byte. 0: nothing has arrived for a while. */
static size_t read_some(uint8_t *data, size_t most)
{
    uint64_t since = machine_time();
    size_t got = virtio_console_read(&console, data, most);

    while (got == 0 && patient(since)) {
        (void)virtio_wait(&console.device, &console.receive, WAIT_MS);
        got = virtio_console_read(&console, data, most);
    }
    return got;
}

static void act_as_echo(void)
{
    static uint8_t data[CHUNK];
    size_t total = 0, got = 1;
    bool ended = false;

    print("virtio: console: echo\n");
    while (!ended && got != 0) {
        got = read_some(data, sizeof(data));
        ended = got != 0 && data[got - 1U] == END;
        must(write_all(data, got), "return bytes");
        total += got;
    }
    must(ended, "the end of the bytes");
    print("virtio: console: %lu bytes returned\n", total);
}

/* Sends a chunk, and takes all that comes back for it. */
static bool exchange(const uint8_t *data, size_t bytes)
{
    static uint8_t back[CHUNK];
    size_t got = 0, more = 1;

    if (!write_all(data, bytes)) {
        return false;
    }
    while (got < bytes && more != 0) {
        more = read_some(back + got, bytes - got);
        got += more;
    }
    return got == bytes && memcmp(data, back, bytes) == 0;
}

/* The bytes 1 to 255, in any order. */
static void fill(struct random *numbers, uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(1U + random_below(numbers, 255));
    }
}

static void act_as_sender(void)
{
    static uint8_t data[CHUNK];
    struct random numbers = random_from(TOTAL);
    size_t done = 0, bytes = 1;
    bool works = true;

    /* Bytes are lost until the other end has a driver. */
    for (unsigned int i = 0; i < TOTAL && virtio_console_read(&console, data, 1) == 0; i++) {
        works = write_all((const uint8_t *)"?", 1);
        (void)virtio_wait(&console.device, &console.receive, WAIT_MS);
    }
    while (virtio_wait(&console.device, &console.receive, WAIT_MS) == VIRTIO_OK) {
        (void)virtio_console_read(&console, data, sizeof(data));
    }
    for (; works && done < TOTAL; bytes = bytes * 7U % CHUNK + 1U) {
        fill(&numbers, data, bytes);
        works = exchange(data, bytes);
        done += bytes;
    }
    data[0] = END;
    works = works && exchange(data, 1);
    must(works, "all bytes came back");
    print("virtio: console: %lu bytes came back\n", done);
}

unsigned int check_console(struct test *test)
{
    unsigned int number = 0;
    int result = virtio_console_open(&console, &test->bus, number);

    while (result == VIRTIO_OK) {
        char role[ROLE] = "";

        if (fdt_bootarg_number(test->fdt, "sleep", 0) != 0) {
            virtio_sleep_on(&console.device, test->hart);
        }
        (void)fdt_bootarg(test->fdt, "console", role, sizeof(role));
        if (strcmp(role, "echo") == 0) {
            act_as_echo();
        } else if (strcmp(role, "send") == 0) {
            act_as_sender();
        }
        virtio_reset(&console.device);
        print("virtio: console %u tested\n", number);
        number++;
        result = virtio_console_open(&console, &test->bus, number);
    }
    must(result == VIRTIO_NO_DEVICE, "open");
    return number;
}
