/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console: one UART for the hypervisor and all VMs. A hypervisor is linked with one of two: the
 * component `console` (services/console/), a multiplexer with names, a keyboard that changes its
 * owner, and the operator's keys; or, without it, services/serial, which sends what VMs write as it
 * comes. The hypervisor's own lines are queued in core/console_log.c, which has console_open(),
 * console_post() and console_seize().
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include "atomic.h"
#include "types.h"
#include "vm.h"

#define CONSOLE_FIFO 16U  /* characters that a VM may write after console_ready() */
#define CONSOLE_WRITE 16U /* most characters per console_write() */
#define CONSOLE_DRAIN_TRIES 10000000U
#define CONSOLE_SEIZE_TRIES 1000000U

/* Starts a new line, before anything is printed. Firmware may have left one unfinished (some does
 * when a probed instruction is missing). */
void console_open(void);

/* After the system is built: gives the keyboard to the VM that the system file names. */
void console_init(void);

/* A character written by VM `vm`. Dropped if the VM ignores console_ready(). */
void console_putc(struct vm *vm, char c);

/* Takes the first of `size` characters that VM `vm` wrote, as many as there is room for; returns
 * how many. */
unsigned console_write(struct vm *vm, const char *text, unsigned size);

/* The VM has stopped: finishes its unfinished line. */
void console_end(struct vm *vm);

/* Slow path of console_ready(): true if there is room; otherwise the VM is notified later. */
bool console_ready_slow(struct vm *vm);

/* Whether there is room for the VM's next CONSOLE_FIFO characters. If not, vuart_tx_ready()
 * notifies the VM's UART once there is. */
static inline bool console_ready(struct vm *vm)
{
    return !atomic_load_relaxed(&vm->console_busy) || console_ready_slow(vm);
}

/* A line of the hypervisor, formatted later: strings for %s must stay valid. */
struct log_line {
    const char *format; /* as of text_begin() */
    ulong args[12];     /* of the format */
};

/* Posts a line of the hypervisor. Dropped and counted if too many are waiting. Not with sched_lock
 * held. */
void console_post(const struct log_line *line);

/* As console_post(), for a line that a guest can cause without limit: dropped if half of the places
 * are taken, to leave room for others. */
void console_post_minor(const struct log_line *line);

/* Lets the compiler check a format. Never called. */
void console_check(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* printf with up to twelve arguments, numbers and pointers: %s %c %u %x %lu %lx, width, zero
 * padding. */
#define console_log(...) LOG_WITH(console_post, __VA_ARGS__)
#define console_log_minor(...) LOG_WITH(console_post_minor, __VA_ARGS__)

#define LOG_WITH(post, ...)                                                                   \
    do {                                                                                      \
        _Static_assert(LOG_BEYOND(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ) == 0, \
                       "an argument too many");                                               \
        if (0) {                                                                              \
            console_check(__VA_ARGS__);                                                       \
        }                                                                                     \
        post(&(const struct log_line){LOG_LINE(__VA_ARGS__)});                                \
    } while (0)
#define LOG_BEYOND(f, a, b, c, d, e, g, h, i, j, k, l, m, beyond, ...) (beyond)
#define LOG_LINE(...) LOG_FILL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, )
#define LOG_FILL(f, a, b, c, d, e, g, h, i, j, k, l, m, ...)                                \
    f,                                                                                      \
    {                                                                                       \
        (ulong)(a), (ulong)(b), (ulong)(c), (ulong)(d), (ulong)(e), (ulong)(g), (ulong)(h), \
            (ulong)(i), (ulong)(j), (ulong)(k), (ulong)(l), (ulong)(m)                      \
    }

/* The hypervisor has failed, perhaps while holding the console's lock: waits for the lock with a
 * limit, then takes it. Later lines are printed; after them the machine must be stopped. */
void console_seize(void);

/* Sends all output that the UART takes, before the machine is switched off. */
void console_drain(void);

/* The UART's interrupt: reads a typed character or sends output. */
void console_interrupt(void);

#endif
