/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses shared memory with doorbells through /dev/uioN and sysfs (uio.h). The caller owns struct
 * uio. */
#include "uio.h"

#include <string.h>

#include "linux.h"

#define PATH 64U
#define PAGE 4096U
#define COMMAND 4L /* of the configuration space */
#define COMMAND_NO_INTX 0x400U
/* bytes of a line of `resource`: start, end and flags of a BAR, 18 characters each */
#define RESOURCE_LINE 57L
#define BAR_MEMORY 2L
#define POLL_IN 1

struct poll {
    int32_t file;
    int16_t wanted, found;
};

/* Opens the file `before` N `after`; negative: there is none. */
static long open_file(const char *before, long number, const char *after, long flags)
{
    char path[PATH];
    size_t used = strlen(before), length = strlen(after) + 1U;

    if (number < 0 || number > 99 || used + 2U + length > sizeof(path)) {
        return -1;
    }
    memcpy(path, before, used);
    if (number > 9) {
        path[used++] = (char)('0' + number / 10);
    }
    path[used++] = (char)('0' + number % 10);
    memcpy(path + used, after, length);
    return linux_open(path, flags);
}

static long open_part(long number, const char *part)
{
    return open_file("/sys/class/uio/uio", number, part, LINUX_O_RDWR);
}

static volatile void *map_bar(long number, const char *bar, size_t bytes)
{
    long file = open_part(number, bar);
    long mapped = file < 0 ? file : linux_map(file, 0, bytes);

    if (file >= 0) {
        (void)linux_call(LINUX_CLOSE, file, 0, 0);
    }
    return mapped < 0 ? NULL : (volatile void *)(uintptr_t)mapped;
}

const char *uio_open(struct uio *uio, long number)
{
    uio->events = open_file("/dev/uio", number, "", LINUX_O_RDWR);
    if (uio->events < 0) {
        return "no such device: is it bound to uio_pci_generic?";
    }
    uio->config = open_part(number, "/device/config");
    if (uio->config < 0) {
        return "cannot open the configuration space";
    }
    uio->registers = map_bar(number, "/device/resource0", PAGE);
    if (uio->registers == NULL) {
        return "the kernel does not map the registers";
    }
    uio->registers[UIO_MASK] = 1;
    return NULL;
}

volatile void *uio_map_memory(long number, size_t bytes)
{
    return map_bar(number, "/device/resource2", bytes);
}

uint64_t uio_address(long number)
{
    char text[19] = ""; /* 0x and 16 digits */
    long file = open_file("/sys/class/uio/uio", number, "/device/resource", LINUX_O_RDONLY);
    const long arguments[6] = {file, (long)(uintptr_t)text, sizeof(text) - 1U,
                               BAR_MEMORY * RESOURCE_LINE};
    long size = linux_call6(LINUX_PREAD, arguments);

    if (file >= 0) {
        (void)linux_call(LINUX_CLOSE, file, 0, 0);
    }
    return size == (long)sizeof(text) - 1 ? linux_hex(text + 2) : 0;
}

void uio_ring(const struct uio *uio, uint16_t vm)
{
    __asm__ volatile("fence iorw, iorw" : : : "memory");
    uio->registers[UIO_DOORBELL] = (uint32_t)vm << 16;
}

uint32_t uio_own(const struct uio *uio)
{
    return uio->registers[UIO_POSITION];
}

/* uio_pci_generic disables INTx with each interrupt. */
static bool enable_intx(const struct uio *uio)
{
    uint16_t value = 0;
    const long arguments[6] = {uio->config, (long)(uintptr_t)&value, sizeof(value), COMMAND};

    if (linux_call6(LINUX_PREAD, arguments) != sizeof(value)) {
        return false;
    }
    value &= (uint16_t)~COMMAND_NO_INTX;
    return linux_call6(LINUX_PWRITE, arguments) == sizeof(value);
}

/* Blocks in read() until the next interrupt, or until the time is over. */
static const char *wait_for_interrupt(const struct uio *uio, int64_t ms)
{
    struct linux_time time = {ms / 1000, ms % 1000 * 1000000};
    struct poll poll = {(int32_t)uio->events, POLL_IN, 0};
    const long arguments[6] = {(long)(uintptr_t)&poll, 1, ms < 0 ? 0 : (long)(uintptr_t)&time};
    uint32_t number;

    if (ms >= 0 && linux_call6(LINUX_PPOLL, arguments) != 1) {
        return NULL; /* the time is over, or a signal */
    }
    return linux_read(uio->events, &number, sizeof(number)) == sizeof(number)
               ? NULL
               : "cannot wait for an interrupt";
}

/* The device counts interrupts from its opening on, so none between the look at the status and the
 * wait is lost. */
const char *uio_wait(const struct uio *uio, int64_t ms, bool *rung)
{
    int64_t end = linux_now_ms() + ms;
    const char *wrong = NULL;
    int64_t left = ms;

    *rung = uio->registers[UIO_STATUS] != 0;
    while (!*rung && wrong == NULL && (ms < 0 || left > 0)) {
        wrong = enable_intx(uio) ? wait_for_interrupt(uio, left)
                                 : "cannot write the configuration space";
        *rung = uio->registers[UIO_STATUS] != 0;
        left = ms < 0 ? ms : end - linux_now_ms();
    }
    return wrong;
}
