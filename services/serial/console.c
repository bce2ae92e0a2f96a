/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console of a hypervisor without the component `console`: the UART gets what VMs write in the
 * order of writing, and typed characters go to one VM. Characters are queued and sent a few at a
 * time, because the UART is slow and must not lengthen interrupt latency. A line of the hypervisor
 * starts on a new line of the terminal.
 */
#include "console.h"

#include "atomic.h"
#include "console_log.h"
#include "platform.h"
#include "system.h"
#include "vuart.h"

#define QUEUE 1024U /* characters; power of two */
/* Places kept free for VMs that have checked console_ready() and not written yet. */
#define RESERVED (CONSOLE_FIFO * SYSIMAGE_MAX_VMS)
#define SEND_MAX 3U /* characters sent per write of a VM and per interrupt of the UART */

_Static_assert(QUEUE >= 2U * RESERVED, "half of the queue is for use");

/* What is sent. */
enum step {
    QUEUED, /* characters of VMs */
    BREAK,  /* the end of a VM's unfinished line */
    LINE,   /* a line of the hypervisor */
    LINE_END,
};

static struct {
    enum step step;                 /* what is sent */
    struct text text;               /* of the step */
    char sent;                      /* the last character sent */
    int held;                       /* a character that the UART has not taken, or TEXT_END */
    unsigned head, tail;            /* of the queue; free-running */
    bool full;                      /* the VMs' console_busy */
    uint8_t late[SYSIMAGE_MAX_VMS]; /* characters that each VM has written since then */
    bool room;                      /* VMs may wait for room, and there is some again */
    unsigned unready;               /* VMs that have not been notified of it */
    struct vm *keyboard;            /* the VM that gets typed characters */
    char queue[QUEUE];              /* characters of VMs that are not sent yet */
    /* owner: this file; guarded by console_lock */
} out = {.text = {.fmt = ""}, .sent = '\n', .held = TEXT_END};

static void set_full(bool full)
{
    out.full = full;
    for (unsigned i = 0; i < hyp.nvms; i++) {
        out.late[i] = 0;
        atomic_store_seq(&hyp.vms[i].console_busy, full);
    }
}

static bool queue_put(char c, unsigned limit)
{
    bool room = out.head - out.tail < limit;

    if (room) {
        out.queue[out.head++ % QUEUE] = c;
    }
    if (!out.full && out.head - out.tail >= QUEUE - RESERVED) {
        set_full(true);
    }
    return room;
}

static int queue_get(void)
{
    if (out.head == out.tail) {
        return TEXT_END;
    }
    if (out.full && out.head - out.tail <= RESERVED) {
        set_full(false);
        out.room = true;
    }
    return (unsigned char)out.queue[out.tail++ % QUEUE];
}

static void begin(enum step step, const char *text)
{
    out.step = step;
    text_begin(&out.text, text, NULL);
}

/* Selects the next part of the hypervisor's line. */
static void next_step(void)
{
    switch (out.step) {
    case QUEUED:
        begin(BREAK, out.sent == '\n' ? "" : "\r\n");
        break;
    case BREAK:
        out.step = LINE;
        log_begin(&out.text);
        break;
    case LINE:
        log_done();
        begin(LINE_END, "\r\n");
        break;
    default:
        out.step = QUEUED;
        break;
    }
}

/* The next character for the terminal, or TEXT_END. The hypervisor's lines come first. */
static int out_next(void)
{
    bool queued;
    int c;

    do {
        queued = out.step == QUEUED && log_due() == 0;
        c = queued ? queue_get() : text_next(&out.text);
        if (c == TEXT_END && !queued) {
            next_step();
        }
    } while (c == TEXT_END && !queued);
    return c;
}

/* Sends a character. False if there is none, or no room for it. */
static bool send_one(void)
{
    if (out.held == TEXT_END) {
        out.held = out_next();
    }
    if (out.held == TEXT_END || !platform_uart_put((char)out.held)) {
        return false;
    }
    out.sent = (char)out.held;
    out.held = TEXT_END;
    return true;
}

/* Sends some characters; the UART's interrupt sends the rest. */
static void send_some(void)
{
    unsigned left = SEND_MAX;

    while (left > 0 && send_one()) {
        left--;
    }
    platform_uart_notify_tx(left == 0 || out.held != TEXT_END || out.room || out.unready > 0);
}

void console_init(void)
{
    out.keyboard = system_keyboard();
}

/* A VM that does not check for room has its part of RESERVED and no more: others wait until the
 * queue is sent. */
static bool may_put(const struct vm *vm)
{
    bool may = !out.full || out.late[vm->id] < CONSOLE_FIFO;

    if (out.full && may) {
        out.late[vm->id]++;
    }
    return may;
}

void console_putc(struct vm *vm, char c)
{
    spin_lock(&console_lock);
    if (may_put(vm)) {
        queue_put(c, QUEUE);
    }
    send_some();
    spin_unlock(&console_lock);
}

unsigned console_write(struct vm *vm, const char *text, unsigned size)
{
    unsigned done = 0;

    (void)vm;
    spin_lock(&console_lock);
    while (done < size && done < CONSOLE_WRITE && queue_put(text[done], QUEUE - RESERVED)) {
        done++;
    }
    send_some();
    spin_unlock(&console_lock);
    return done;
}

void console_end(struct vm *vm)
{
    (void)vm; /* there is no unfinished line to show: all characters are queued */
}

bool console_ready_slow(struct vm *vm)
{
    return !atomic_load_seq(&vm->console_busy);
}

void console_drain(void)
{
    spin_lock(&console_lock);
    for (unsigned left = CONSOLE_DRAIN_TRIES; left > 0 && (send_one() || out.held != TEXT_END);
         left--) {
    }
    spin_unlock(&console_lock);
}

/* The next VM whose UART is to be notified of the room, or NULL. */
static struct vm *next_unready(void)
{
    return out.unready > 0 ? &hyp.vms[--out.unready] : NULL;
}

/* Does one short piece of work per interrupt: the UART interrupts again while there is more. */
void console_interrupt(void)
{
    int typed = platform_uart_get();
    struct vm *vm;

    if (typed >= 0 && out.keyboard != NULL) {
        vuart_receive(out.keyboard, (char)typed);
    }
    spin_lock(&console_lock);
    if (out.room && out.unready == 0) {
        out.room = false;
        out.unready = hyp.nvms;
    }
    vm = next_unready();
    send_some();
    platform_uart_again(false);
    spin_unlock(&console_lock);
    if (vm != NULL) {
        vuart_tx_ready(vm);
    }
}
