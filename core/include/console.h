/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console multiplexer: one UART for all VMs. Every line shows its VM's name in its colour. The VM that has the
 * keyboard is echoed character by character, the others line by line (or after CONSOLE_FLUSH_MS when a line stays
 * unfinished). When another VM's line interrupts a line being typed, that line is drawn again below it.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include "types.h"

struct vm;

#define CONSOLE_ESCAPE 0x14 /* Ctrl-T */
#define CONSOLE_FLUSH_MS 50U
#define CONSOLE_LINE 192U /* longest line shown as one; longer ones are continued on the next */
#define CONSOLE_TX 8192U  /* bytes that wait for the UART; power of two */
#define CONSOLE_DRAIN_TRIES 10000000U
#define CONSOLE_SEIZE_TRIES 1000000U
#define CONSOLE_ROOM 1024U /* a VM may write while at least so much is free: a line redrawn, and then some */

/* Called before anything is printed: begins a line of our own. The firmware may have left one unfinished (some do
 * when an instruction that is tried out turns out to be missing). */
void console_open(void);

/* Called once the system is built: puts the keyboard where the system file says. */
void console_init(void);

/* A character that VM `vm` wrote. Dropped when the VM does not heed console_ready(). */
void console_putc(struct vm *vm, char c);

/* For console_ready(). */
extern bool console_full;
bool console_refuse(struct vm *vm);

/* Whether the VM's next character finds room. When not, the VM's UART is told once there is (vuart_tx_ready). */
static inline bool console_ready(struct vm *vm)
{
    return LIKELY(!__atomic_load_n(&console_full, __ATOMIC_RELAXED)) || console_refuse(vm);
}

/* The hypervisor's own line; format as of printf: %s %c %d %u %x %lu %lx, with width and zero padding. */
void console_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows unfinished lines of VMs without the keyboard. */
void console_flush(void);

/* The hypervisor has failed, perhaps in the middle of this file: waits a moment for the lock, then takes it from whoever
 * has it. What is printed next comes out, after that the machine must be stopped. */
void console_seize(void);

/* Ends the line that stands on the terminal and sends what waits, as far as the UART takes it: before the machine goes
 * off. */
void console_drain(void);

/* The UART has interrupted: takes what was typed, sends what waits. */
void console_interrupt(void);

/* console_keys.c: a character typed after the escape key. */
void console_command(char key);

/* A room's own key behind the escape key: what is typed next goes to `take`, until that returns false, or it has got the
 * escape key, which counts as such. Called without locks. */
struct console_key {
    char key;
    bool (*take)(char c);
};

#define CONSOLE_KEY(key, take) \
    static const struct console_key console_key_##take REGISTER_IN("console_keys") = {key, take}

/* Sends, soon, `size` characters (at most CONSOLE_ROOM) as they are, and nothing between them. False, with nothing sent, if there
 * is no room now. */
bool console_send(const char *text, unsigned size);

/* For console_keys.c. */
void console_divert(bool (*take)(char c));
struct vm *console_focus(void);
void console_set_focus(struct vm *vm);

#endif
