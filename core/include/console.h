/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console multiplexer: one UART for all VMs. Every line shows its VM's name in its colour. The VM that has the
 * keyboard is echoed character by character, the others line by line (or after CONSOLE_FLUSH_MS when a line stays
 * unfinished). When another VM's line interrupts a line being typed, that line is drawn again below it. Escape sequences
 * pass a filter (core/console_filter.h). One VM can have the terminal alone, and a program can have all VMs' bytes.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include "atomic.h"
#include "types.h"
#include "vm.h"

#define CONSOLE_ESCAPE 0x14 /* Ctrl-T */
#define CONSOLE_FLUSH_MS 50U
#define CONSOLE_LINE 192U /* longest line shown as one; longer ones are continued on the next */
#define CONSOLE_FIFO 16U  /* characters that a VM may write after console_ready() */
#define CONSOLE_WRITE 16U /* characters that console_write() takes at most */
#define CONSOLE_RAW 1024U /* characters that console_send() takes at most; power of two */
#define CONSOLE_DRAIN_TRIES 10000000U
#define CONSOLE_SEIZE_TRIES 1000000U

/* Called before anything is printed: begins a line of our own. The firmware may have left one unfinished (some do
 * when an instruction that is tried out turns out to be missing). */
void console_open(void);

/* Called once the system is built: puts the keyboard where the system file says. */
void console_init(void);

/* A character that VM `vm` wrote. Dropped when the VM does not heed console_ready(). */
void console_putc(struct vm *vm, char c);

/* Takes the first of `size` characters that VM `vm` wrote, as many as there is room for; returns how many. */
unsigned console_write(struct vm *vm, const char *text, unsigned size);

/* The VM has stopped: what it began to write is a line. */
void console_end(struct vm *vm);

/* For console_ready(). */
bool console_refuse(struct vm *vm);

/* Whether the VM's next CONSOLE_FIFO characters find room. When not, the VM's UART is told once they do
 * (vuart_tx_ready). */
static inline bool console_ready(struct vm *vm)
{
    return LIKELY(!atomic_load_relaxed(&vm->console_busy)) || console_refuse(vm);
}

/* A line of the hypervisor's own, put into words later: what the format's %s name must last. */
struct log_line {
    const char *format; /* as of text_begin() */
    ulong args[12];
};

/* Notes down a line. Lost, and counted, when too many wait. Not with sched_lock held. */
void console_post(const struct log_line *line);

/* The same for a line that a guest can cause without end: dropped while half of what may wait does, so that room is left
 * for others. */
void console_post_minor(const struct log_line *line);

/* Lets the compiler check a format. Never called. */
void console_check(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same as a printf with up to twelve arguments, numbers and pointers: %s %c %u %x %lu %lx, width, zero padding. */
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

/* Shows the unfinished line of a VM without the keyboard that rests; the next one at the next interrupt of the timer. */
void console_flush(void);

/* The hypervisor has failed, perhaps in the middle of this file: waits a moment for the lock, then takes it from whoever
 * has it. What is printed next comes out, after that the machine must be stopped. */
void console_seize(void);

/* Ends the line that stands on the terminal and sends what waits, as far as the UART takes it: before the machine goes
 * off. */
void console_drain(void);

/* The UART has interrupted: takes what was typed or sends what waits. */
void console_interrupt(void);

/* The operator's end. All mandatory, called without locks. */
struct console_operator {
    void (*command)(char key);      /* a key was typed after the escape key, no room's own */
    bool (*step)(unsigned waiting); /* goes on with what takes long, if that many lines waiting leave it room: true */
    const bool *at_work;            /* whether step() is to be called, between two looks at interrupts */
};

#define CONSOLE_OPERATOR(command, step, at_work) \
    static const struct console_operator operator_##command REGISTER_IN("console_operators") = {command, step, at_work}

/* A room's own key behind the escape key: what is typed next goes to `take`, until that returns false, or it has got the
 * escape key, which counts as such. Called without locks. */
struct console_key {
    char key;
    bool (*take)(char c);
};

#define CONSOLE_KEY(key, take) \
    static const struct console_key console_key_##take REGISTER_IN("console_keys") = {key, take}

/* Sends, soon, `size` characters (at most CONSOLE_RAW) as they are, and nothing between them. False, with nothing sent, if
 * there is no room now. */
bool console_send(const char *text, unsigned size);

void console_divert(bool (*take)(char c));

/* How VMs share the UART. */
enum console_mode {
    CONSOLE_LINES,    /* line by line, with names, filtered; so it begins */
    CONSOLE_ALONE,    /* bytes of the VM with the keyboard, as they are; those of others are lost, and the hypervisor's
                       * lines wait */
    CONSOLE_CHANNELS, /* for a program at the other end: all VMs' bytes, as they are, between the hypervisor's lines.
                       * CONSOLE_MARK and 'A' + VM number ('a' + VM number if that VM has the keyboard) say whose bytes
                       * follow, CONSOLE_MARK '.' says that lines do. CONSOLE_MARK twice is one such byte of a VM. */
};
#define CONSOLE_MARK '\037'
/* What a VM writes from now on is treated so. */
void console_set_mode(enum console_mode mode);

/* Ends CONSOLE_ALONE, with `size` characters for the terminal (at most CONSOLE_RAW): how many characters of other VMs were
 * lost. CONSOLE_NOT_ALONE, with nothing done, in other modes. */
#define CONSOLE_NOT_ALONE (~0UL)
ulong console_end_alone(const char *text, unsigned size);

/* What is typed goes to `vm`, NULL: to the VM with the keyboard; until the mode changes. */
void console_type_to(struct vm *vm);

/* Who has the keyboard. */
struct vm *console_focus(void);
void console_set_focus(struct vm *vm);

#endif
