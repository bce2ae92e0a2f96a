/* SPDX-License-Identifier: Apache-2.0 */
/* A server of another VM's disk: wrong answers, buffers that are none or change, resets while the
 * disk has requests. */
#include "attacker_storage.h"
#include "disk_abi.h"

#define BUFFERS 4U /* divides ENTRIES */
#define RESETS 16U
#define SERVED_MIN 4U
#define BUFFER_BYTES (uint32_t)sizeof(buffers[0])
#define ANSWERS (&rings[SLOT_SERVER][DISK_SERVER_ANSWERS])
#define REQUESTS (&rings[SLOT_SERVER][DISK_SERVER_REQUESTS])

static volatile struct {
    struct disk_request request;
    uint8_t data[DISK_PIECE];
} buffers[BUFFERS] __attribute__((aligned(64)));

static volatile struct disk_answer answer_head;
static volatile uint8_t answer_data[DISK_PIECE + 4096U];
static uint16_t taken; /* of REQUESTS */

/* --- a server that is right --- */

/* The buffer that descriptor n has is n % BUFFERS, as each is offered as soon as it was taken. */
static void post_buffer(void)
{
    uint64_t address = (uintptr_t)&buffers[REQUESTS->avail.index % BUFFERS];

    post(SLOT_SERVER, (struct desc){address, BUFFER_BYTES, DESC_WRITE, 0});
}

static void start_server(void)
{
    device_start(SLOT_SERVER, F_INDIRECT);
    taken = 0;
    for (unsigned i = 0; i < BUFFERS; i++) {
        post_buffer();
    }
}

/* Waits for a request. False: there is none. */
static bool take_request(struct disk_request *request)
{
    const volatile struct disk_request *from;

    if (used(REQUESTS) == taken &&
        !await_used(SLOT_SERVER, DISK_SERVER_REQUESTS, (uint16_t)(taken + 1U))) {
        return false;
    }
    from = &buffers[REQUESTS->used.ring[taken % ENTRIES].id % BUFFERS].request;
    request->disk = from->disk;
    request->number = from->number;
    request->type = from->type;
    request->bytes = from->bytes;
    taken++;
    post_buffer();
    return true;
}

static void write_answer(const struct disk_answer *answer, uint32_t bytes)
{
    answer_head.disk = answer->disk;
    answer_head.number = answer->number;
    answer_head.status = answer->status;
    describe(
        ANSWERS, 0,
        (struct desc){(uintptr_t)&answer_head, sizeof(answer_head), bytes != 0 ? DESC_NEXT : 0, 1});
    describe(ANSWERS, 1, (struct desc){(uintptr_t)answer_data, bytes, 0, 0});
}

static void send_answer(void)
{
    offer(ANSWERS, 0);
    device_notify(SLOT_SERVER, DISK_SERVER_ANSWERS);
}

static void answer(const struct disk_request *r)
{
    write_answer(&(struct disk_answer){r->disk, r->number, DISK_OK, 0},
                 r->type == DISK_READ ? r->bytes : 0);
    send_answer();
}

/* Serves `count` requests. Returns those that came. */
static unsigned serve(unsigned count)
{
    struct disk_request r;
    unsigned served = 0;

    for (; served < count && take_request(&r); served++) {
        answer(&r);
    }
    return served;
}

void judge_server(struct verdict *v)
{
    unsigned served;

    start_server();
    served = serve(SERVED_MIN);
    judge(v, served == SERVED_MIN && !device_failed(SLOT_SERVER), "%u requests of the victim",
          served);
}

/* --- answers --- */

enum outcome {
    REFUSED, /* the device needs a reset */
    IGNORED, /* the request still has no answer */
    TAKEN,   /* the request has ended, with an error or not */
};

struct answer_case {
    const char *what;
    enum outcome outcome;
    uint32_t disk;   /* 0: the request's */
    uint32_t number; /* + the request's */
    uint32_t status;
    uint32_t bytes; /* more than those of the request */
    uint32_t head;  /* bytes; 0: all of the answer */
    uint16_t flags; /* of the data */
};

static const struct answer_case answer_cases[] = {
    {"the next number", IGNORED, 0, 1, DISK_OK, 0, 0, 0},
    {"the number before", IGNORED, 0, UINT32_MAX, DISK_OK, 0, 0, 0},
    {"a far number", IGNORED, 0, 1U << 31, DISK_ERROR, 0, 0, 0},
    {"another server's disk", REFUSED, NUMBER_ASK, 0, DISK_OK, 0, 0, 0},
    {"its own disk", REFUSED, NUMBER_SERVED, 0, DISK_OK, 0, 0, 0},
    {"a function that is no disk", REFUSED, NUMBER_CRYPTO, 0, DISK_OK, 0, 0, 0},
    {"a disk in RAM", REFUSED, NUMBER_RAM, 0, DISK_OK, 0, 0, 0},
    {"no function", REFUSED, NUMBER_MOST, 0, DISK_OK, 0, 0, 0},
    {"a function out of range", REFUSED, NUMBER_MOST + 1U, 0, DISK_OK, 0, 0, 0},
    {"the last function", REFUSED, UINT32_MAX, 0, DISK_OK, 0, 0, 0},
    {"an error", TAKEN, 0, 0, DISK_ERROR, 0, 0, 0},
    {"an unknown status", TAKEN, 0, 0, 0xffff00, 0, 0, 0},
    {"less data", TAKEN, 0, 0, DISK_OK, UINT32_MAX, 0, 0},
    {"more data", TAKEN, 0, 0, DISK_OK, 4096, 0, 0},
    {"data to write", TAKEN, 0, 0, DISK_OK, 0, 0, DESC_WRITE},
    {"a loop as data", TAKEN, 0, 0, DISK_OK, 0, 0, DESC_NEXT},
    {"half an answer", REFUSED, 0, 0, DISK_OK, 0, 15, 0},
};

/* Serves requests up to a read, which has the most to go wrong. */
static bool await_read(struct disk_request *r)
{
    for (unsigned i = 0; i < 64 && take_request(r); i++) {
        if (r->type == DISK_READ) {
            return true;
        }
        answer(r);
    }
    return false;
}

static void try_answer(struct verdict *v, const struct answer_case *c)
{
    struct disk_request r = {0}, next;
    uint16_t answered;
    bool refused;

    start_server();
    judge(v, await_read(&r) && r.disk == NUMBER_VICTIM, "no request before %s, disk %u", c->what,
          r.disk);
    write_answer(
        &(struct disk_answer){c->disk != 0 ? c->disk : r.disk, r.number + c->number, c->status, 0},
        r.bytes + c->bytes);
    if (c->head != 0) {
        describe(ANSWERS, 0, (struct desc){(uintptr_t)&answer_head, c->head, 0, 0});
    }
    ANSWERS->desc[1].flags = c->flags;
    ANSWERS->desc[1].next = c->flags == DESC_NEXT ? 1 : 0;
    answered = used(ANSWERS);
    send_answer();
    refused = device_failed(SLOT_SERVER);
    judge(v, refused == (c->outcome == REFUSED), "%s is %s", c->what,
          refused ? "refused" : "accepted");
    judge(v, refused || used(ANSWERS) == (uint16_t)(answered + 1U), "%s is not returned", c->what);
    if (c->outcome == IGNORED) {
        judge(v, used(REQUESTS) == taken, "%s ends the request", c->what);
        answer(&r);
    }
    judge(v, refused || take_request(&next), "no request after %s", c->what);
}

/* The same answer again and again. */
static void try_answers_again(struct verdict *v)
{
    struct disk_request r, next = {0};

    start_server();
    judge(v, await_read(&r), "no request");
    for (unsigned i = 0; i < 8; i++) {
        answer(&r);
    }
    judge(v, take_request(&next) && next.number == r.number + 1U, "request %u after %u",
          next.number, r.number);
    answer(&r);
    judge(v, used(REQUESTS) == taken && !device_failed(SLOT_SERVER),
          "an old answer ends the request");
    answer(&next);
    judge(v, take_request(&next), "no request after answers that were given twice");
}

void storage_server_answers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(answer_cases); i++) {
        try_answer(v, &answer_cases[i]);
    }
    try_answers_again(v);
    judge_storage(v);
}

/* --- buffers --- */

/* An address of 0: that of a buffer. */
static const struct desc wrong_buffers[] = {
    {0, BUFFER_BYTES, 0, 0},
    {0, sizeof(struct disk_request) - 1U, DESC_WRITE, 0},
    {0, 0, DESC_WRITE, 0},
    {0, 1, DESC_WRITE | DESC_NEXT, 0},
    {0, 1, DESC_WRITE | DESC_NEXT, ENTRIES},
    {0, 16, DESC_INDIRECT, 0},
    {0, UINT32_MAX, DESC_WRITE, 0},
    {RAM_END - 16, BUFFER_BYTES, DESC_WRITE, 0},
    {REAL_WITNESS, BUFFER_BYTES, DESC_WRITE, 0},
    {REAL_HYPERVISOR, BUFFER_BYTES, DESC_WRITE, 0},
    {PLATFORM_UART_BASE, BUFFER_BYTES, DESC_WRITE, 0},
    {ALL - 15, BUFFER_BYTES, DESC_WRITE, 0},
};

/* A buffer that has no space for data is right until there is a write. */
static void try_small_buffers(struct verdict *v)
{
    device_start(SLOT_SERVER, 0);
    for (taken = 0; taken < 64 && !device_failed(SLOT_SERVER); taken++) {
        struct disk_request r;

        post(SLOT_SERVER,
             (struct desc){(uintptr_t)buffers, sizeof(struct disk_request) + 8U, DESC_WRITE, 0});
        if (!await_used(SLOT_SERVER, DISK_SERVER_REQUESTS, (uint16_t)(taken + 1U))) {
            break;
        }
        r = *(const struct disk_request *)(uintptr_t)&buffers[0].request;
        answer(&r);
    }
    judge(v, device_failed(SLOT_SERVER), "a buffer of 8 bytes for a write is used");
}

void storage_server_buffers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(wrong_buffers); i++) {
        struct desc d = wrong_buffers[i];

        d.address += d.address == 0 ? (uintptr_t)buffers : 0;
        device_start(SLOT_SERVER, 0);
        fill_untouched((volatile uint8_t *)buffers, sizeof(buffers[0]));
        post(SLOT_SERVER, d);
        judge(v, await_failure(SLOT_SERVER), "buffer %lu is used", (unsigned long)i);
        judge(v, used(REQUESTS) == 0, "buffer %lu is returned", (unsigned long)i);
    }
    try_small_buffers(v);
    judge_storage(v);
}

/* --- resets --- */

/* Serves up to two requests, takes another one or does not, and resets: nothing is written to the
 * buffers afterwards. */
static void try_reset(struct verdict *v, uint64_t n)
{
    struct disk_request r;

    start_server();
    (void)serve((unsigned)(n % 3U));
    if ((n >> 8 & 1U) != 0) {
        (void)take_request(&r);
    }
    spin((n >> 16) % (2UL * MS)); /* the victim fills a buffer, maybe */
    *reg8(SLOT_SERVER, STATUS) = 0;
    fill_untouched((volatile uint8_t *)buffers, sizeof(buffers));
    write_answer(&(struct disk_answer){NUMBER_VICTIM, taken, DISK_OK, 0}, 512);
    send_answer();
    spin(2UL * MS);
    judge(v, is_untouched((volatile uint8_t *)buffers, sizeof(buffers)), "written after reset %lu",
          n);
    judge(v, used(ANSWERS) != ANSWERS->avail.index, "answered after a reset");
}

/* The victim's requests are lost each time, and done again at last. */
void storage_server_resets(struct verdict *v, uint64_t arg)
{
    uint64_t state = 0x0123456789abcdefU;

    (void)arg;
    for (unsigned i = 0; i < RESETS; i++) {
        try_reset(v, random_next(&state));
    }
    judge_storage(v);
}

/* Takes all requests, and never answers; a server without buffers; one that notifies nothing but
 * noise. */
void storage_server_silent(struct verdict *v, uint64_t arg)
{
    struct disk_request r;

    (void)arg;
    start_server();
    judge(v, take_request(&r), "no request");
    spin(30UL * MS);
    judge(v, used(REQUESTS) == taken, "a disk has two requests at a time");
    device_start(SLOT_SERVER, 0);
    for (unsigned i = 0; i < 4000; i++) {
        device_notify(SLOT_SERVER, i % 4U);
    }
    judge(v, !device_failed(SLOT_SERVER) && used(REQUESTS) == 0 && used(ANSWERS) == 0,
          "a request without a buffer");
    judge_storage(v);
}

/* --- what changes while it is read --- */

/* Changes what the answer says, its descriptors and those of the buffers. */
static void tear_server(unsigned long hart, void *argument)
{
    uint64_t state = 0x1234567890abcdefU;

    (void)hart;
    (void)argument;
    while (!changes_over) {
        uint64_t n = random_next(&state);

        answer_head.disk =
            (n >> 8 & 15U) == 0 ? (uint32_t)(n >> 16) % (NUMBER_MOST + 2U) : NUMBER_VICTIM;
        answer_head.status = (n >> 24 & 7U) == 0 ? DISK_ERROR : DISK_OK;
        tear(&ANSWERS->desc[n >> 60 & 1U], n, (uintptr_t)answer_data);
        tear(&REQUESTS->desc[n >> 54 & 7U], n >> 3, (uintptr_t)buffers);
        changes++;
    }
}

/* The device refuses what it finds, or uses what it has checked. */
void storage_server_torn(struct verdict *v, uint64_t arg)
{
    unsigned failures = 0, served = 0;
    uint64_t state = 0x0123456789abcdefU;

    (void)arg;
    start_server();
    begin_changes(v, tear_server);
    for (uint64_t from = csr_read_time();
         attack_goes_on(from, 20UL * MS, changes >= CHANGES_MIN && failures > 0);) {
        for (unsigned i = 0; i < BUFFERS; i++) {
            post_buffer();
        }
        for (uint32_t i = 0; i < 8; i++) {
            uint64_t n = random_next(&state);

            write_answer(&(struct disk_answer){NUMBER_VICTIM, buffers[i % BUFFERS].request.number,
                                               DISK_OK, 0},
                         DISK_PIECE);
            if ((n & 1U) != 0) {
                tear(&ANSWERS->desc[n >> 1 & 1U], n >> 3, (uintptr_t)answer_data);
            }
            send_answer();
        }
        served += used(ANSWERS);
        if (device_failed(SLOT_SERVER)) {
            start_server();
            failures++;
        }
        v->tried++;
    }
    end_changes();
    judge(v, changes >= CHANGES_MIN && failures > 0, "%u changes, %u failures, %u served", changes,
          failures, served);
    judge_storage(v);
}
