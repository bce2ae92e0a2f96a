/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux program: shared memory with doorbells (ivshmem) through uio_pci_generic. UIO is the number of its device /dev/uioN.
 *
 *      doorbell wait UIO         sleeps until the doorbell rings, unless it has rung since the last time
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

#define PREAD 67L
#define PWRITE 68L

#define PATH 64U
#define PAGE 4096U
#define COMMAND 4L /* of the configuration space */
#define COMMAND_NO_INTX 0x400U
#define LINE 256U /* of the shared memory that a line takes */
#define DIGITS 10U

/* Registers of BAR 0, in words. */
enum {
    MASK = 0,
    STATUS = 1,
    POSITION = 2,
    DOORBELL = 3,
};

_Noreturn void main(int count, char **words);

static _Noreturn void fail(const char *why)
{
    linux_fail("doorbell", why);
}

/* Opens the file `before` UIO `after`. */
static long open_file(const char *before, const char *uio, const char *after)
{
    char path[PATH];
    size_t a = strlen(before), b = strlen(uio), c = strlen(after);
    long file;

    if (linux_number(uio) < 0 || a + b + c + 1U > sizeof(path)) {
        fail("expected the number of a device /dev/uioN");
    }
    memcpy(path, before, a);
    memcpy(path + a, uio, b);
    memcpy(path + a + b, after, c + 1U);
    file = linux_open(path, LINUX_O_RDWR);
    if (file < 0) {
        fail("no such device: is it bound to uio_pci_generic?");
    }
    return file;
}

/* Maps the first page of a BAR. */
static volatile void *map_bar(const char *uio, const char *bar)
{
    long mapped = linux_map(open_file("/sys/class/uio/uio", uio, bar), 0, PAGE);

    if (mapped < 0) {
        fail("the kernel does not map it");
    }
    return (volatile void *)(uintptr_t)mapped;
}

static volatile uint32_t *map_registers(const char *uio)
{
    return map_bar(uio, "/device/resource0");
}

/* uio_pci_generic disables INTx with each interrupt; the program enables it again. */
static void enable_intx(const char *uio)
{
    long config = open_file("/sys/class/uio/uio", uio, "/device/config");
    uint16_t value = 0;
    const long arguments[6] = {config, (long)(uintptr_t)&value, sizeof(value), COMMAND};

    if (linux_call6(PREAD, arguments) != sizeof(value)) {
        fail("cannot read the configuration space");
    }
    value &= (uint16_t)~COMMAND_NO_INTX;
    if (linux_call6(PWRITE, arguments) != sizeof(value)) {
        fail("cannot write the configuration space");
    }
}

/* The device counts interrupts from its opening on, so none is lost between the two. */
static void wait_for_doorbell(const char *uio)
{
    long events = open_file("/dev/uio", uio, "");
    volatile uint32_t *registers = map_registers(uio);
    uint32_t number;

    registers[MASK] = 1;
    while (registers[STATUS] == 0) { /* reading clears it */
        enable_intx(uio);
        if (linux_read(events, &number, sizeof(number)) != sizeof(number)) {
            fail("cannot wait for an interrupt");
        }
    }
    linux_put(1, "doorbell: rung\n", 15);
}

static void ring(const char *uio, const char *vm)
{
    long number = linux_number(vm);

    if (number < 0 || number > UINT16_MAX) {
        fail("expected the number of a VM");
    }
    map_registers(uio)[DOORBELL] = (uint32_t)number << 16;
}

static void print_own(const char *uio)
{
    char text[DIGITS + 1U];
    size_t at = sizeof(text);
    uint32_t number = map_registers(uio)[POSITION];

    text[--at] = '\n';
    do {
        text[--at] = (char)('0' + number % 10U);
        number /= 10U;
    } while (number != 0);
    linux_put(1, text + at, sizeof(text) - at);
}

static volatile char *map_memory(const char *uio)
{
    return map_bar(uio, "/device/resource2");
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
