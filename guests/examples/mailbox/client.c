/* SPDX-License-Identifier: Apache-2.0 */
/* The client side of the mailbox (client.h), for the bare-metal and the Linux client, which own
 * struct client. */
#include "client.h"

#include <stdbool.h>

#define CLIENT_PATIENCE_MS 10000 /* without progress, after which the server counts as absent */
#define CLIENT_HEARD 1024U

static void client_progress(struct client *client)
{
    client->side.announced = false;
    client->deadline = client_now_ms() + CLIENT_PATIENCE_MS;
}

static void client_ring_server(struct client *client)
{
    if (mailbox_must_ring(&client->side)) {
        client_ring(client->box->server.vm);
    }
}

/* There is nothing to do: waits for the server, unless the client has to look once more. */
static const char *client_rest(struct client *client)
{
    if (client_now_ms() > client->deadline) {
        return "FreeRTOS does not answer";
    }
    client_ring_server(client);
    if (mailbox_may_wait(&client->side)) {
        client_wait(client->deadline + 1);
    }
    return NULL;
}

const char *client_begin(struct client *client)
{
    struct mailbox *box = client->box;
    uint32_t session = box->session + 1U;
    const char *wrong = NULL;

    client->sent = 0;
    client->answered = 0;
    client->side = (struct mailbox_side){.own = &box->client, .peer = &box->server};
    client_progress(client);
    box->client.vm = client->vm;
    mailbox_fence(); /* the server rings this VM when it has accepted the session */
    box->session = session;
    while (wrong == NULL && (box->magic != MAILBOX_MAGIC || box->accepted != session)) {
        wrong = client_rest(client);
    }
    mailbox_fence();
    if (wrong == NULL && box->version != MAILBOX_VERSION) {
        wrong = "FreeRTOS uses another version of the mailbox";
    }
    client->generation = box->generation;
    mailbox_drop(&box->answers);
    return wrong;
}

/* Receives available bytes; waits a little if nothing was received or sent. */
static const char *client_turn(struct client *client, bool sent)
{
    char text[CLIENT_HEARD];
    size_t size = mailbox_take(&client->box->answers, text, sizeof(text));

    /* a new server increments `generation` before it writes: bytes taken until now are of the old
     * one */
    mailbox_fence();
    if (client->box->generation != client->generation) {
        return "FreeRTOS has restarted, unanswered lines are lost";
    }
    for (size_t i = 0; i < size; i++) {
        client->answered += text[i] == '\n';
    }
    if (size == 0 && !sent) {
        return client_rest(client);
    }
    client_ring_server(client); /* which may wait for space */
    client->answer(text, size);
    client_progress(client);
    return NULL;
}

const char *client_send(struct client *client, const char *text, size_t count)
{
    const char *wrong = NULL;

    for (size_t i = 0; i < count; i++) {
        client->sent += text[i] == '\n';
    }
    client_progress(client);
    while (count > 0 && wrong == NULL) {
        size_t size = mailbox_put(&client->box->requests, text, count);

        text += size;
        count -= size;
        client_ring_server(client);
        wrong = client_turn(client, size > 0);
    }
    return wrong;
}

const char *client_receive_rest(struct client *client)
{
    const char *wrong = NULL;

    client_progress(client);
    while (client->answered < client->sent && wrong == NULL) {
        wrong = client_turn(client, false);
    }
    return wrong;
}
