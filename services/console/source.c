/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that VMs write: characters become a line, a full FIFO holds back its VM, and finished
 * lines wait in a queue until out.c has shown them. */
#include "atomic.h"
#include "console_parts.h"
#include "system.h"

struct sources sources; /* owner: this file; guarded by console_lock */

struct source *source_focused(void)
{
    return sources.focus != NULL ? &sources.vms[sources.focus->id] : NULL;
}

struct vm *source_vm(const struct source *s)
{
    return &hyp.vms[s - sources.vms];
}

/* Appends the source to the queue of lines to be shown. */
static void source_wait(struct source *s)
{
    struct source **end = sources.first_due != NULL ? &sources.last_due->next : &sources.first_due;

    if (s->due == 0) {
        s->due = log_order();
        s->next = NULL;
        *end = s;
        sources.last_due = s;
    }
}

void source_finish(struct source *s, bool cut)
{
    source_wait(s);
    s->full = true;
    s->cut = cut;
    atomic_store_relaxed(&source_vm(s)->console_busy, true);
}

/* Ends an escape sequence or a carriage return. */
static void source_end_sequence(struct source *s)
{
    s->filter = (struct filter){0};
    s->returned = false;
}

/* A carriage return without a newline restarts the line. */
static void start_over(struct source *s)
{
    s->restart |= s->len > 0;
    s->len = 0;
    s->column = 0;
}

/* Adds the held characters and `c` to the line. */
static void source_show(struct source *s, char c)
{
    bool sequence = s->filter.held > 0 && s->line[s->len] == FILTER_ESC;
    unsigned cell = s->start + s->column;

    s->line[s->len + s->filter.held] = c;
    s->len += s->filter.held + 1U;
    s->coloured |= sequence;
    if (!sequence) {
        cell = (c == '\t' ? cell | 7U : cell) + 1U - s->start; /* a tab stop every 8 */
        s->column = (uint8_t)(cell < CONSOLE_CELLS ? cell : CONSOLE_CELLS);
    }
}

/* Moves the cursor within the line. The terminal gets an absolute column: its width and the width
 * of characters are unknown, and the cursor must not leave the VM's part of the line. */
static void source_move(struct source *s, bool left)
{
    unsigned cells = s->filter.count > 0 ? s->filter.count : 1U;
    unsigned room = left ? s->column : CONSOLE_CELLS - s->column;

    cells = cells < room ? cells : room;
    s->column = (uint8_t)(left ? s->column - cells : s->column + cells);
    s->line[s->len++] = CONSOLE_MOVE;
    s->line[s->len++] = (char)s->column;
}

static void source_append(struct source *s, char c)
{
    enum filter_verdict verdict = filter_next(&s->filter, &c);

    if (verdict == FILTER_HOLD) {
        s->line[s->len + s->filter.held++] = c;
        return;
    }
    if (verdict == FILTER_PASS) {
        source_show(s, c);
    } else if (verdict == FILTER_LEFT || verdict == FILTER_RIGHT) {
        source_move(s, verdict == FILTER_LEFT);
    }
    s->filter.held = 0;
    if (s->len >= CONSOLE_LINE) {
        source_finish(s, true);
    }
}

/* Adds a character in CONSOLE_LINES. False if the line must be shown before the character can be
 * added. */
static bool source_line(struct source *s, char c)
{
    bool returned = s->returned;

    s->touched = true;
    if (c == '\n' || c == '\r') {
        source_end_sequence(s);
        s->returned = c == '\r';
        if (c == '\n') {
            source_finish(s, false);
        }
        return true;
    }
    s->returned = false;
    if (returned) {
        start_over(s);
    }
    if (filter_begins(c) && s->filter.held == 0 && s->len > CONSOLE_LINE - FILTER_LONGEST) {
        source_finish(s, true);
        return false;
    }
    source_append(s, c);
    return true;
}

/* Adds a byte in the other modes, unfiltered. */
static void source_byte(struct source *s, char c)
{
    if (s->mode == CONSOLE_ALONE && source_vm(s) != sources.focus) {
        sources.dropped++;
        return;
    }
    s->line[s->len++] = c;
    source_wait(s);
    s->cut = false;
    if (s->len == CONSOLE_LINE) {
        source_finish(s, false);
    }
}

/* Adds a character to the source. False if there is no room. */
static bool source_take(struct source *s, char c)
{
    if (s->full) {
        return false;
    }
    if (s->len == 0) {
        s->mode = (uint8_t)sources.mode;
    }
    if (s->mode == CONSOLE_LINES) {
        return source_line(s, c);
    }
    source_byte(s, c);
    return true;
}

bool source_putc(struct source *s, char c)
{
    return s->queued == 0 && source_take(s, c);
}

/* Lets the VM write again once its FIFO is empty and its line is not full. */
static void source_open(const struct source *s)
{
    if (s->queued == 0 && !s->full) {
        atomic_store_seq(&source_vm(s)->console_busy, false);
        sources.notify |= s->wants_room;
    }
}

bool source_refill(struct source *s)
{
    if (s->queued == 0 || !source_take(s, s->fifo[s->first])) {
        return false;
    }
    s->first = (s->first + 1U) % CONSOLE_FIFO;
    s->queued--;
    if (s->queued == 0) {
        source_open(s);
    }
    return true;
}

void source_clear(struct source *s)
{
    for (unsigned i = 0; i < s->filter.held; i++) { /* the next line continues a cut sequence */
        s->line[i] = s->line[s->len + i];
    }
    s->len = 0;
    s->column = 0;
    s->due = 0;
    sources.first_due = s->next;
    s->full = false;
    s->coloured = false;
    s->restart = false;
    source_open(s);
}

bool source_is_unfinished(const struct source *s)
{
    if (s->queued > 0) {
        return s->fifo[(s->first + s->queued - 1U) % CONSOLE_FIFO] != '\n';
    }
    return s->filter.state != 0 || s->cut || (s->len > 0 && s->due == 0);
}

void source_change(struct source *s, enum console_mode mode)
{
    bool lost = mode == CONSOLE_ALONE;

    source_end_sequence(s);
    if ((s->len > 0 && !s->full) || (s->cut && lost)) {
        source_finish(s, s->mode == CONSOLE_LINES && !lost);
    }
    if (s->mode == CONSOLE_ALONE) {
        s->len = 0;
    }
}

/* Width of a name as out.c prints it: at least 8 cells, and two more. */
static unsigned name_cells(const char *name)
{
    unsigned n = 0;

    while (name[n] != '\0') {
        n++;
    }
    return (n > 8 ? n : 8U) + 2U;
}

void sources_init(void)
{
    sources.focus = system_keyboard();
    for (unsigned i = 0; i < hyp.nvms; i++) {
        const struct sysimage_vm *config = hyp.vms[i].config;

        sources.vms[i].name = config->name;
        sources.vms[i].colour = config->colour;
        sources.vms[i].start = (uint8_t)name_cells(config->name);
    }
}
