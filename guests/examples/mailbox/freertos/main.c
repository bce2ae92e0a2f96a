/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of the mailbox: a FreeRTOS task that answers each line with its number and the line in
 * capitals. The client is Linux (guests/examples/mailbox/linux) or a bare-metal guest
 * (guests/examples/mailbox/bare). The task sleeps until the client rings the doorbell of the shared
 * memory (ipc.h), which interrupts this VM as a message does.
 *
 * Boot argument: mailbox=<address>, hexadecimal address of the shared memory.
 */
#include <stdbool.h>
#include <string.h>

#include "FreeRTOS.h"
#include "hcall.h"
#include "ipc.h"
#include "place.h"
#include "print.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

#define SERVER_STACK 1024U /* words */
#define SERVER_PRIORITY 2U
#define SERVER_CHUNK 256U
#define SERVER_SHOWN 100U      /* characters of a line shown on the console */
#define SERVER_ANSWER 512U     /* bytes of answers that are sent at once */
#define SERVER_NUMBER_TEXT 16U /* bytes for "4294967295: " */

int main(unsigned long hart, const void *fdt);

/* Owner: main() until the scheduler starts, then the task. */
static struct server {
    struct mailbox *box;
    unsigned int region; /* number of the shared memory */
    struct mailbox_side side;
    TaskHandle_t task;
    uint32_t lines; /* answered in this session, including a partial line */
    bool inside;    /* in a line */
    size_t shown;   /* characters in `line` */
    char line[SERVER_SHOWN + 1U];
    size_t answered; /* bytes in `answer` */
    char answer[SERVER_ANSWER];
} server;

static bool server_is_left(void)
{
    return server.box->session != server.box->accepted;
}

static void server_ring(void)
{
    if (mailbox_must_ring(&server.side)) {
        /* fails if the client's VM does not run */
        (void)ipc_ring(server.region, server.box->client.vm);
    }
}

/* There is nothing to do: sleeps until the client rings, unless the server has to look once
 * more. */
static void server_rest(void)
{
    server_ring();
    if (mailbox_may_wait(&server.side)) {
        (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    }
}

/* The interrupt of a doorbell, or of a yield. */
static void server_doorbell(void)
{
    BaseType_t woken = pdFALSE;

    if (ipc_doorbells() != 0) {
        vTaskNotifyGiveFromISR(server.task, &woken);
    }
    portYIELD_FROM_ISR(woken);
}

/* Accepts a new session: discards stale bytes before the client may write. */
static void server_accept(void)
{
    struct mailbox *box = server.box;
    uint32_t session = box->session;

    server.lines = 0;
    server.inside = false;
    server.shown = 0;
    server.answered = 0;
    mailbox_drop(&box->requests);
    mailbox_fence();
    box->accepted = session;
    server.side.announced = false;
    server_ring();
    print("mailbox: session %u\n", (unsigned int)session);
}

/* Sends the answers, waiting for space; gives up if a new session is requested. */
static void server_send(void)
{
    size_t sent = 0;

    while (sent < server.answered && !server_is_left()) {
        size_t size =
            mailbox_put(&server.box->answers, server.answer + sent, server.answered - sent);

        sent += size;
        if (size == 0) {
            server_rest();
        } else {
            server.side.announced = false;
            server_ring();
        }
    }
    server.answered = 0;
}

static void server_say(const char *text, size_t count)
{
    if (count > SERVER_ANSWER - server.answered) {
        server_send();
    }
    memcpy(server.answer + server.answered, text, count);
    server.answered += count;
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
        server_say(number,
                   print_buffer(number, sizeof(number), "%u: ", (unsigned int)server.lines));
    }
    server.inside = c != '\n';
    server_show(c);
    server_say(&capital, 1);
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
        server.side.announced = false;
        for (size_t i = 0; i < size; i++) {
            server_answer(chunk[i]);
        }
        server_send();
    }
}

/* Pending bytes belong to a session with an earlier server; the new generation tells the client. */
static void server_open(struct mailbox *box)
{
    server.box = box;
    server.side = (struct mailbox_side){.own = &box->server, .peer = &box->client};
    box->magic = 0;
    mailbox_fence();
    box->version = MAILBOX_VERSION;
    box->generation++;
    box->server.vm = (uint32_t)hcall_call(HCALL_INFO_GET_ID, 0, 0, 0).value;
    mailbox_drop(&box->requests);
    mailbox_fence();
    box->magic = MAILBOX_MAGIC;
    server_ring(); /* the client of an earlier server may wait for it */
}

int main(unsigned long hart, const void *fdt)
{
    struct mailbox *box = place_of_mailbox(fdt);

    (void)hart;
    uart_init();
    (void)timer_init();
    if (box == NULL || !place_region(fdt, &server.region)) {
        port_fatal("no boot argument mailbox=<address, hexadecimal>, or no shared memory", "", 0);
    }
    server_open(box);
    port_set_message_handler(server_doorbell);
    if (xTaskCreate(server_task, "mailbox", SERVER_STACK, NULL, SERVER_PRIORITY, &server.task) !=
        pdPASS) {
        port_fatal("cannot create task", "mailbox", 0);
    }
    print("mailbox: ready, FreeRTOS %s, start %u\n", tskKERNEL_VERSION_NUMBER,
          (unsigned int)server.box->generation);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "", xPortGetFreeHeapSize());
}
