/* SPDX-License-Identifier: Apache-2.0 */
/* Debug frames typed into the console: requests, which are answered one after the other, in steps.
 * Owns the request and its answer; used by the console's CPU only. */
#include "console_keys.h"
#include "session.h"

#define REQUEST_MAX (sizeof(struct debug_request) + DEBUG_CHECK_SIZE)

/* The request that is being received or processed. */
static struct {
    bool at_work; /* a request is processed: characters typed before its end are lost */
    enum {
        FRAME_CHECK,
        FRAME_DO,
        FRAME_MAKE,
        FRAME_SEND
    } step;          /* next step of processing, while at_work */
    unsigned size;   /* of the checked request without its checksum, bytes */
    unsigned digits; /* hexadecimal digits received */
    bool bad;        /* a character is no digit, there are too many, or the checksum is wrong */
    union {
        uint8_t bytes[REQUEST_MAX]; /* the checksum is behind the request */
        struct debug_request request;
    };
} typed; /* owner: this file; only one CPU takes the console's interrupts */

static struct {
    uint8_t sequence;            /* of the request answered below, 0: none */
    unsigned size, length;       /* of `answer`, bytes; of `text`, characters */
    struct debug_answer answer;  /* the last one, kept for a repeated request */
    char text[ANSWER_FRAME_MAX]; /* its frame */
} sent;                          /* owner: this file; used by the console's CPU only */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void typed_discard(void)
{
    typed.digits = 0;
    typed.bad = false;
}

/* The size of the request without its checksum; 0 if it is malformed. */
static unsigned typed_size(void)
{
    unsigned size = typed.digits / 2U;
    uint32_t sum = 0;

    if (typed.bad || typed.digits % 2U != 0 || size < DEBUG_HEAD + DEBUG_CHECK_SIZE) {
        return 0;
    }
    size -= DEBUG_CHECK_SIZE;
    for (unsigned i = 0; i < size; i++) {
        sum = debug_check(sum, typed.bytes[i]);
    }
    for (unsigned i = 0; i < DEBUG_CHECK_SIZE; i++) {
        typed.bad |= typed.bytes[size + i] != (uint8_t)(sum >> (8U * i));
    }
    return typed.bad ? 0 : size;
}

static void typed_check(void)
{
    typed.size = typed_size();
    typed.step = FRAME_DO;
    typed.at_work = typed.size != 0;
    typed_discard();
    if (typed.size == 0) {
        answer_event(DEBUG_ERR_FRAME);
    }
}

/* A repeated request is answered again but not executed again: the VM may have hit a breakpoint
 * since. DEBUG_ATTACH is always executed, because a new tool restarts the sequence numbers. */
static void typed_do(void)
{
    if (typed.request.sequence != sent.sequence || typed.request.operation == DEBUG_ATTACH) {
        sent.size =
            (unsigned)DEBUG_ANSWER_HEAD +
            session_request(&typed.request, typed.size - (unsigned)DEBUG_HEAD, &sent.answer);
        if (sent.answer.error == DEBUG_MORE) {
            return;
        }
        sent.sequence = typed.request.sequence;
        sent.answer.sequence = sent.sequence;
    }
    typed.step = FRAME_MAKE;
}

/* Does one step between polling points. An answer for which the console has no room is lost; the
 * tool repeats the request. */
static bool frames_step(unsigned waiting)
{
    (void)waiting;
    switch (typed.step) {
    case FRAME_CHECK:
        typed_check();
        break;
    case FRAME_DO:
        typed_do();
        break;
    case FRAME_MAKE:
        sent.length = answer_frame(sent.text, &sent.answer, sent.size);
        typed.step = FRAME_SEND;
        break;
    case FRAME_SEND:
    default:
        console_send(sent.text, sent.length);
        typed.at_work = false;
        break;
    }
    return true;
}

static void typed_digit(char c)
{
    int value = digit_value(c);

    if (value < 0 || typed.digits == 2U * REQUEST_MAX) {
        typed.bad = true;
    } else {
        uint8_t *byte = &typed.bytes[typed.digits / 2U];

        *byte = (uint8_t)(*byte << 4 | value);
        typed.digits++;
    }
}

/* Characters typed while a request is processed are lost. The escape key discards an unfinished
 * request. */
static bool frames_typed(char c)
{
    bool ends = c == DEBUG_END || c == CONSOLE_ESCAPE;

    if (typed.at_work) {
        return !ends;
    }
    if (!ends) {
        typed_digit(c);
    } else if (c == DEBUG_END) {
        typed.step = FRAME_CHECK;
        typed.at_work = true;
        console_send(NULL, 0); /* makes the console call frames_step() */
    } else {
        typed_discard();
    }
    return !ends;
}

const struct console_part frames_part = {
    .key = {DEBUG_KEY, frames_typed},
    .commands = {NULL, frames_step, &typed.at_work},
};
