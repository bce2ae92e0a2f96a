/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Apps that receive or send messages: each is a 64-bit number, one above that of the previous
 * message.
 */
#include "ipc.h"
#include "print.h"
#include "rtm.h"

/*
 * Receives at most a full queue: a sender on another hart could otherwise keep this job busy
 * forever.
 */
void rtm_receive(struct rtm_app *app)
{
    struct rtm_mail *mail = &app->mail;
    struct ipc_peer from;
    uint64_t number;

    for (unsigned int i = 0; i < IPC_QUEUE; i++) {
        if (ipc_receive(&number, sizeof(number), &from) != (long)sizeof(number)) {
            return;
        }
        mail->odd += mail->count != 0 && number != mail->last + 1;
        mail->last = number;
        mail->count++;
    }
}

void rtm_send(struct rtm_app *app)
{
    struct rtm_mail *mail = &app->mail;
    const struct ipc_peer peer = {.vm = app->spec.peer};
    uint64_t number = mail->count;

    if (ipc_send(peer, &number, sizeof(number)) == 0) {
        mail->last = number;
        mail->count++;
    } else {
        mail->odd++;
    }
}

void rtm_list_mail(const struct rtm_app *app)
{
    const struct rtm_mail *mail = &app->mail;

    if (app->spec.duty == rtm_receive) {
        print("rtm: app %lu has received %llu messages, the last %llu, %llu out of order\n",
              app->id, (unsigned long long)mail->count, (unsigned long long)mail->last,
              (unsigned long long)mail->odd);
    } else if (app->spec.duty == rtm_send) {
        print("rtm: app %lu has sent %llu messages, %llu refused\n", app->id,
              (unsigned long long)mail->count, (unsigned long long)mail->odd);
    }
}
