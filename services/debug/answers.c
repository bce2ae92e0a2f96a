/* SPDX-License-Identifier: Apache-2.0 */
/* Debug frames sent to the console: answers, and events without a request. Owns the session's
 * nonce, under a lock of its own, because any CPU may send an event. */
#include "console_keys.h"
#include "lib.h"
#include "session.h"
#include "spinlock.h"

static struct {
    struct spinlock lock; /* guards the nonce: any CPU may send events */
    char nonce[2U * DEBUG_NONCE_SIZE];
} session; /* owner: this file */

static char *put_hex(char *to, const uint8_t *bytes, unsigned size)
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < size; i++) {
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15U];
    }
    return to;
}

unsigned answer_frame(char *text, const struct debug_answer *answer, unsigned size)
{
    char *to = text + DEBUG_MARK_SIZE + 2U * DEBUG_NONCE_SIZE;
    const uint8_t *bytes = (const uint8_t *)answer;
    uint32_t sum = 0;
    uint8_t check[DEBUG_CHECK_SIZE];

    memcpy(text, DEBUG_MARK, DEBUG_MARK_SIZE);
    spin_lock(&session.lock);
    memcpy(text + DEBUG_MARK_SIZE, session.nonce, sizeof(session.nonce));
    spin_unlock(&session.lock);
    for (unsigned i = 0; i < size; i++) {
        sum = debug_check(sum, bytes[i]);
    }
    for (unsigned i = 0; i < DEBUG_CHECK_SIZE; i++) {
        check[i] = (uint8_t)(sum >> (8U * i));
    }
    to = put_hex(put_hex(to, bytes, size), check, DEBUG_CHECK_SIZE);
    *to++ = '\033';
    *to++ = '\\';
    return (unsigned)(to - text);
}

void answer_event(enum debug_error error)
{
    const struct debug_answer event = {.sequence = DEBUG_EVENT, .error = (uint8_t)error};
    char text[ANSWER_FRAME_MAX];

    console_send(text, answer_frame(text, &event, DEBUG_ANSWER_HEAD));
}

void answers_begin(uint64_t nonce)
{
    uint8_t bytes[DEBUG_NONCE_SIZE];

    for (unsigned i = 0; i < DEBUG_NONCE_SIZE; i++) {
        bytes[i] = (uint8_t)(nonce >> (8U * i));
    }
    spin_lock(&session.lock);
    put_hex(session.nonce, bytes, DEBUG_NONCE_SIZE);
    spin_unlock(&session.lock);
}
