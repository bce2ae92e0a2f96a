/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console multiplexer: one UART for all VMs. Every line shows its VM's name in its colour.
 * Output of the VM with the keyboard is shown character by character, that of other VMs line by
 * line (or after CONSOLE_FLUSH_MS if a line stays unfinished). If another VM's line interrupts a
 * line being typed, that line is drawn again below. Escape sequences are filtered
 * (core/console_filter.h). One VM can have the terminal alone, and a program can get all VMs'
 * bytes.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include "atomic.h"
#include "types.h"
#include "vm.h"

#define CONSOLE_ESCAPE 0x14 /* Ctrl-T */
#define CONSOLE_FLUSH_MS 50U
#define CONSOLE_LINE 192U /* longest line; longer ones are continued on the next */
#define CONSOLE_FIFO 16U  /* characters that a VM may write after console_ready() */
#define CONSOLE_WRITE 16U /* most characters per console_write() */
#define CONSOLE_RAW 1024U /* most characters per console_send(); power of two */
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

/* Slow path of console_ready(). */
bool console_refuse(struct vm *vm);

/* Whether there is room for the VM's next CONSOLE_FIFO characters. If not, vuart_tx_ready()
 * notifies the VM's UART once there is. */
static inline bool console_ready(struct vm *vm)
{
    return LIKELY(!atomic_load_relaxed(&vm->console_busy)) || console_refuse(vm);
}

/* A line of the hypervisor, formatted later: strings for %s must stay valid. */
struct log_line {
    const char *format; /* as of text_begin() */
    ulong args[12];
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

#define LOG_WITH(post, ...)                                                                                            \
    do {                                                                                                               \
        _Static_assert(LOG_BEYOND(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ) == 0, "an argument too many"); \
        if (0) {                                                                                                       \
            console_check(__VA_ARGS__);                                                                                \
        }                                                                                                              \
        post(&(const struct log_line){LOG_LINE(__VA_ARGS__)});                                                         \
    } while (0)
#define LOG_BEYOND(f, a, b, c, d, e, g, h, i, j, k, l, m, beyond, ...) (beyond)
#define LOG_LINE(...) LOG_FILL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, )
#define LOG_FILL(f, a, b, c, d, e, g, h, i, j, k, l, m, ...)                                                        \
    f,                                                                                                              \
    {                                                                                                               \
        (ulong)(a), (ulong)(b), (ulong)(c), (ulong)(d), (ulong)(e), (ulong)(g), (ulong)(h), (ulong)(i), (ulong)(j), \
            (ulong)(k), (ulong)(l), (ulong)(m)                                                                      \
    }

/* Shows an unfinished line that has not grown for CONSOLE_FLUSH_MS, of a VM without the keyboard;
 * one per timer interrupt. */
void console_flush(void);

/* The hypervisor has failed, perhaps while holding the console's lock: waits for the lock with a
 * limit, then takes it. Later lines are printed; after them the machine must be stopped. */
void console_seize(void);

/* Ends the unfinished line on the terminal and sends all output that the UART takes, before the
 * machine is switched off. */
void console_drain(void);

/* The UART's interrupt: reads a typed character or sends output. */
void console_interrupt(void);

/* The operator interface. All mandatory, called without locks. */
struct console_operator {
    void (*command)(char key); /* a key after the escape key that no component has registered */
    /* One step of longer work, if `waiting` lines leave room for its own. True if it did one. */
    bool (*step)(unsigned waiting);
    const bool *at_work; /* whether step() is to be called, between polling points */
};

#define CONSOLE_OPERATOR(command, step, at_work) \
    static const struct console_operator operator_##command REGISTER_IN("console_operators") = {command, step, at_work}

/* Registers a component's key after the escape key. Typed characters then go to `take` until it
 * returns false or has got the escape key, which is then handled as such. Called without locks. */
struct console_key {
    char key;
    bool (*take)(char c);
};

#define CONSOLE_KEY(key, take) \
    static const struct console_key console_key_##take REGISTER_IN("console_keys") = {key, take}

/* Sends `size` characters (at most CONSOLE_RAW) soon, unchanged and contiguous. False, with nothing
 * sent, if there is no room now. */
bool console_send(const char *text, unsigned size);

void console_divert(bool (*take)(char c));

/* How VMs share the UART. */
enum console_mode {
    /* Line by line, with names, filtered; the initial mode. */
    CONSOLE_LINES,
    /* Unfiltered bytes of the VM with the keyboard; other VMs' bytes are lost, and the hypervisor's
     * lines are held back. */
    CONSOLE_ALONE,
    /* For a program at the other end: unfiltered bytes of all VMs between the hypervisor's lines.
     * CONSOLE_MARK and 'A' + VM number ('a' + VM number if that VM has the keyboard) announce a
     * VM's bytes, CONSOLE_MARK '.' announces lines. CONSOLE_MARK twice is one such byte of a VM. */
    CONSOLE_CHANNELS,
};
#define CONSOLE_MARK '\037'
/* Changes the mode for what VMs write from now on. */
void console_set_mode(enum console_mode mode);

/* Ends CONSOLE_ALONE and sends `size` characters (at most CONSOLE_RAW). Returns how many characters
 * of other VMs were lost; CONSOLE_NOT_ALONE, with nothing done, in other modes. */
#define CONSOLE_NOT_ALONE (~0UL)
ulong console_end_alone(const char *text, unsigned size);

/* Sends typed characters to `vm` until the mode changes; NULL: to the VM with the keyboard. */
void console_type_to(struct vm *vm);

/* The VM with the keyboard. */
struct vm *console_focus(void);
void console_set_focus(struct vm *vm);

#endif
