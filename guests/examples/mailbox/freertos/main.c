/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of the mailbox: a FreeRTOS task that answers each line with its number and the line in
 * capitals. The client is Linux (guests/examples/mailbox/linux) or a bare-metal guest
 * (guests/examples/mailbox/bare). Linux cannot ring a doorbell, so the task polls, less often while
 * the mailbox is idle.
 *
 * Boot argument: mailbox=<address>, hexadecimal address of the shared memory.
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
#define SERVER_SHOWN 100U      /* characters of a line shown on the console */
#define SERVER_EAGER 100U      /* unsuccessful polls, one tick apart, before the interval grows */
#define SERVER_LAZY 10U        /* ticks between polls from then on */
#define SERVER_NUMBER_TEXT 16U /* bytes for "4294967295: " */

int main(unsigned long hart, const void *fdt);

/* Owner: main() until the scheduler starts, then the task. */
static struct server {
    struct mailbox *box;
    uint32_t lines;    /* answered in this session, including a partial line */
    bool inside;       /* in a line */
    unsigned int vain; /* consecutive polls without data */
    size_t shown;      /* characters in `line` */
    char line[SERVER_SHOWN + 1U];
} server;

static bool server_is_left(void)
{
    return server.box->session != server.box->accepted;
}

/* Accepts a new session: discards stale bytes before the client may write. */
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

/* Sends an answer, waiting for space; gives up if a new session is requested. */
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

/* Collects the line for the console; replaces control characters. */
static void server_show(char c)
{
    if (c == '\n') {
        server.line[server.shown] = '\0';
        print("mailbox: received: %s\n", server.line);
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
    static char chunk[SERVER_CHUNK]; /* static because it is large; used by this task only */

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

/* Pending bytes belong to a session with an earlier server; the new generation tells the client. */
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
