/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS at its end of the mailbox: a task that answers each line with its number and the line in capitals. Linux is at
 * the other end (guests/examples/mailbox/linux) or, where there is none, a bare client (guests/examples/mailbox/bare). Linux cannot ring, so
 * the task looks; the longer nothing comes, the less often.
 *
 * Boot argument: mailbox=<address>, hexadecimal, where the shared memory is.
 */
#include <stdbool.h>

#include "FreeRTOS.h"
#include "place.h"
#include "print.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

#define SERVER_STACK 1024U /* words */
#define SERVER_PRIORITY 2U
#define SERVER_CHUNK 256U
#define SERVER_SHOWN 100U      /* characters of a line that the console shows */
#define SERVER_EAGER 100U      /* looks in vain, a tick apart, before it takes its time */
#define SERVER_LAZY 10U        /* ticks between two looks from then on */
#define SERVER_NUMBER_TEXT 16U /* bytes for "4294967295: " */

int main(unsigned long hart, const void *fdt);

/* Owner: main() until the scheduler starts, then the task. */
static struct server {
    struct mailbox *box;
    uint32_t lines;    /* answered in this session, the one that has begun included */
    bool inside;       /* a line */
    unsigned int vain; /* looks in a row that found nothing */
    size_t shown;      /* characters in `line` */
    char line[SERVER_SHOWN + 1U];
} server;

static bool server_is_left(void)
{
    return server.box->session != server.box->accepted;
}

/* Another client: what its predecessor left is thrown away before it may write. */
static void server_accept(void)
{
    struct mailbox *box = server.box;
    uint32_t session = box->session;

    server.lines = 0;
    server.inside = false;
    server.shown = 0;
    mailbox_drop(&box->requests);
    mailbox_fence();
    box->accepted = session;
    print("mailbox: session %u\n", (unsigned int)session);
}

/* Waits for room, unless the client has gone and another one has come. */
static void server_say(const char *text, size_t count)
{
    while (count > 0 && !server_is_left()) {
        size_t size = mailbox_put(&server.box->answers, text, count);

        text += size;
        count -= size;
        if (size == 0) {
            vTaskDelay(1);
        }
    }
}

static char server_capital(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Keeps the line for the console, which is not to be drawn on by it. */
static void server_show(char c)
{
    if (c == '\n') {
        server.line[server.shown] = '\0';
        print("mailbox: heard: %s\n", server.line);
        server.shown = 0;
    } else if (server.shown < SERVER_SHOWN) {
        server.line[server.shown] = c;
        if (c < ' ' || c > '~') {
            server.line[server.shown] = '.';
        }
        server.shown++;
    }
}

static void server_answer(char c)
{
    char number[SERVER_NUMBER_TEXT];
    char capital = server_capital(c);

    if (!server.inside) {
        server.lines++;
        server_say(number, print_buffer(number, sizeof(number), "%u: ", (unsigned int)server.lines));
    }
    server.inside = c != '\n';
    server_show(c);
    server_say(&capital, 1);
}

static void server_rest(void)
{
    server.vain++;
    vTaskDelay(server.vain > SERVER_EAGER ? SERVER_LAZY : 1);
}

static void server_task(void *argument)
{
    static char chunk[SERVER_CHUNK]; /* large, and only this task comes here */

    (void)argument;
    for (;;) {
        size_t size;

        if (server_is_left()) {
            server_accept();
        }
        size = mailbox_take(&server.box->requests, chunk, sizeof(chunk));
        if (size == 0) {
            server_rest();
            continue;
        }
        server.vain = 0;
        for (size_t i = 0; i < size; i++) {
            server_answer(chunk[i]);
        }
    }
}

/* What waits now is of a session that this server knows nothing of; the new generation tells the client so. */
static void server_open(struct mailbox *box)
{
    server.box = box;
    box->magic = 0;
    mailbox_fence();
    box->version = MAILBOX_VERSION;
    box->generation++;
    mailbox_drop(&box->requests);
    mailbox_fence();
    box->magic = MAILBOX_MAGIC;
}

int main(unsigned long hart, const void *fdt)
{
    struct mailbox *box = place_of_mailbox(fdt);

    (void)hart;
    uart_init();
    (void)timer_init();
    if (box == NULL) {
        port_fatal("no boot argument mailbox=<address, hexadecimal>", "", 0);
    }
    server_open(box);
    if (xTaskCreate(server_task, "mailbox", SERVER_STACK, NULL, SERVER_PRIORITY, NULL) != pdPASS) {
        port_fatal("cannot create task", "mailbox", 0);
    }
    print("mailbox: ready, FreeRTOS %s, start %u\n", tskKERNEL_VERSION_NUMBER, (unsigned int)server.box->generation);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "", xPortGetFreeHeapSize());
}
