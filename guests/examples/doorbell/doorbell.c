/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux program: shared memory with doorbells (ivshmem) through uio_pci_generic. UIO is the
 * number of its device /dev/uioN.
 *
 *      doorbell wait UIO         sleeps until the doorbell rings, unless it has rung since the last
 *                                time
 *      doorbell ring UIO VM      rings the doorbell of a VM, by its number in the system
 *      doorbell own UIO          prints the number of the own VM
 *      doorbell put UIO TEXT     writes a line into the shared memory
 *      doorbell get UIO          prints this line
 *
 * Exit status 0; 1 for an error, with a message.
 */
#include <stdbool.h>
#include <string.h>

#include "linux.h"
#include "uio.h"

#define PAGE 4096U
#define LINE 256U /* of the shared memory that a line takes */
#define DIGITS 10U

_Noreturn void main(int count, char **words);

static _Noreturn void fail(const char *why)
{
    linux_fail("doorbell", why);
}

static void must(const char *wrong)
{
    if (wrong != NULL) {
        fail(wrong);
    }
}

static long parse_number(const char *text)
{
    long number = linux_number(text);

    if (number < 0) {
        fail("expected the number of a device /dev/uioN");
    }
    return number;
}

static struct uio open_device(const char *text)
{
    struct uio uio;

    must(uio_open(&uio, parse_number(text)));
    return uio;
}

static void wait_for_doorbell(const char *text)
{
    struct uio uio = open_device(text);
    bool rung;

    must(uio_wait(&uio, -1, &rung));
    linux_put(1, "doorbell: rung\n", 15);
}

static void ring(const char *text, const char *vm)
{
    long number = linux_number(vm);
    struct uio uio;

    if (number < 0 || number > UINT16_MAX) {
        fail("expected the number of a VM");
    }
    uio = open_device(text);
    uio_ring(&uio, (uint16_t)number);
}

static void print_own(const char *device)
{
    struct uio uio = open_device(device);
    char text[DIGITS + 1U];
    size_t at = sizeof(text);
    uint32_t number = uio_own(&uio);

    text[--at] = '\n';
    do {
        text[--at] = (char)('0' + number % 10U);
        number /= 10U;
    } while (number != 0);
    linux_put(1, text + at, sizeof(text) - at);
}

static volatile char *map_memory(const char *text)
{
    volatile char *memory = uio_map_memory(parse_number(text), PAGE);

    if (memory == NULL) {
        fail("no such device, or the kernel does not map it");
    }
    return memory;
}

static void put_line(const char *uio, const char *text)
{
    volatile char *line = map_memory(uio);
    size_t length = strlen(text);

    if (length >= LINE) {
        fail("the line is longer than 255 characters");
    }
    for (size_t i = 0; i <= length; i++) {
        line[i] = text[i];
    }
}

static void get_line(const char *uio)
{
    const volatile char *line = map_memory(uio);
    char text[LINE];
    size_t length = 0;

    while (length < LINE - 1U && line[length] != '\0') {
        text[length] = line[length];
        length++;
    }
    text[length] = '\n';
    linux_put(1, text, length + 1U);
}

static const struct {
    const char *name;
    int words; /* of the command line */
    void (*one)(const char *uio);
    void (*two)(const char *uio, const char *argument);
} commands[] = {
    {"wait", 3, wait_for_doorbell, NULL}, {"ring", 4, NULL, ring},    {"own", 3, print_own, NULL},
    {"put", 4, NULL, put_line},           {"get", 3, get_line, NULL},
};

_Noreturn void main(int count, char **words)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (count != commands[i].words || strcmp(words[1], commands[i].name) != 0) {
            continue;
        }
        if (commands[i].one != NULL) {
            commands[i].one(words[2]);
        } else {
            commands[i].two(words[2], words[3]);
        }
        linux_exit(0);
    }
    fail("expected: doorbell wait UIO, ring UIO VM, own UIO, put UIO TEXT, or get UIO");
}
