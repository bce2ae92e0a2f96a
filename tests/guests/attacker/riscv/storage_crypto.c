/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of a virtio-crypto (virtio 1.2, section 5.9): sessions that are none, sizes and
 * buffers that do not fit, resets. */
#include "attacker_storage.h"
#include "virtio_crypto.h"

#define CRYPTO_OK 0U
#define CRYPTO_ERROR 1U
#define CRYPTO_UNSUPPORTED 3U
#define CRYPTO_NO_SESSION 4U
#define CRYPTO_NO_SPACE 5U

#define SESSIONS 32U
#define KEY 16U
#define BYTES 64U        /* of a request */
#define KEY_REQUESTS 16U /* with each key */
#define TORN 1024U       /* of one whose descriptors change */
#define LONG 0x4000U     /* of a request that takes several slices */
#define GUARD 64U        /* behind the result, which stays as it is */
#define RESETS_MIN 4U
#define DATA_RING (&rings[SLOT_CRYPTO][VIRTIO_CRYPTO_DATA])
#define CONTROL_RING (&rings[SLOT_CRYPTO][VIRTIO_CRYPTO_CONTROL])

static volatile union {
    struct virtio_crypto_creation creation;
    struct virtio_crypto_destruction destruction;
} control;
#define CONTROL_FIXED ((uint32_t)offsetof(struct virtio_crypto_creation, key))

static volatile struct virtio_crypto_session control_answer;
static volatile struct virtio_crypto_operation head;
static volatile uint8_t source[LONG] __attribute__((aligned(8))),
    result[LONG + GUARD] __attribute__((aligned(8)));
static volatile uint8_t state;
static volatile uint64_t torn_session; /* of requests whose descriptors change */
#define SOURCE ((uint64_t)(uintptr_t)source)
#define RESULT ((uint64_t)(uintptr_t)result)
#define STATE ((uint64_t)(uintptr_t)&state)

/* NIST SP 800-38A, F.2.1: the first block of CBC-AES128. */
static const uint8_t known_key[KEY] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                       0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t known_plain[VIRTIO_CRYPTO_BLOCK] = {
    0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a};
static const uint8_t known_result[VIRTIO_CRYPTO_BLOCK] = {
    0x76, 0x49, 0xab, 0xac, 0x81, 0x19, 0xb2, 0x46, 0xce, 0xe9, 0x8e, 0x9b, 0x12, 0xe9, 0x19, 0x7d};

static void copy_in(volatile uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = from[i];
    }
}

/* --- sessions --- */

/* Sends what `control` says, with so many bytes of key. Returns the status, UINT32_MAX: the device
 * has refused it. */
static uint32_t send_control(uint32_t key_bytes)
{
    bool creates = control.creation.opcode != VIRTIO_CRYPTO_DESTROY;
    uint64_t to = (uintptr_t)&control_answer;

    control_answer.status = UINT32_MAX;
    describe(CONTROL_RING, 0,
             (struct desc){(uintptr_t)&control, CONTROL_FIXED + key_bytes, DESC_NEXT, 1});
    describe(CONTROL_RING, 1,
             (struct desc){creates ? to : to + 8U, creates ? 16 : 1, DESC_WRITE, 0});
    offer(CONTROL_RING, 0);
    device_notify(SLOT_CRYPTO, VIRTIO_CRYPTO_CONTROL);
    return creates || device_failed(SLOT_CRYPTO) ? control_answer.status
                                                 : control_answer.status & 0xffU;
}

static void describe_creation(uint32_t direction)
{
    control.creation.opcode = VIRTIO_CRYPTO_CREATE;
    control.creation.algorithm = VIRTIO_CRYPTO_AES_CBC;
    control.creation.key_bytes = KEY;
    control.creation.direction = 1U + direction;
    control.creation.type = VIRTIO_CRYPTO_CIPHER;
    copy_in(control.creation.key, known_key, KEY);
}

/* The number of a new session, 0: there is none. */
static uint64_t create_with_key(uint32_t direction, uint32_t key_bytes)
{
    describe_creation(direction);
    control.creation.key_bytes = key_bytes;
    return send_control(key_bytes) == CRYPTO_OK ? control_answer.number : 0;
}

static uint64_t create_session(uint32_t direction)
{
    return create_with_key(direction, KEY);
}

static uint32_t destroy_session(uint64_t session)
{
    control.creation.opcode = VIRTIO_CRYPTO_DESTROY;
    control.destruction.session = session;
    return send_control(0);
}

/* --- requests --- */

/* A right request of `bytes` bytes. */
static void describe_request(uint64_t session, uint32_t bytes)
{
    head.opcode = VIRTIO_CRYPTO_ENCRYPT;
    head.session = session;
    head.vector_bytes = VIRTIO_CRYPTO_BLOCK;
    head.source_bytes = bytes;
    head.result_bytes = bytes;
    head.type = VIRTIO_CRYPTO_CIPHER;
    for (uint8_t i = 0; i < VIRTIO_CRYPTO_BLOCK; i++) {
        head.vector[i] = i;
    }
    describe(DATA_RING, 0, (struct desc){(uintptr_t)&head, sizeof(head), DESC_NEXT, 1});
    describe(DATA_RING, 1, (struct desc){SOURCE, bytes, DESC_NEXT, 2});
    describe(DATA_RING, 2, (struct desc){RESULT, bytes, DESC_NEXT | DESC_WRITE, 3});
    describe(DATA_RING, 3, (struct desc){STATE, 1, DESC_WRITE, 0});
    state = UNTOUCHED;
}

/* Stores zeros beside the address of notifications, by one misaligned store, which comes in four
 * pieces. A device that takes them for notifications asks for each one to execute the store again:
 * the instructions before it are for a return to an address that is too low. */
static void notify_beside(void)
{
    __asm__ volatile("fence\n"
                     ".rept 16\n"
                     "nop\n"
                     ".endr\n"
                     "sd zero, 1(%0)\n" ::"r"(reg16(SLOT_CRYPTO, NOTIFY))
                     : "memory");
}

static void send_request(void)
{
    offer(DATA_RING, 0);
    notify_beside();
    device_notify(SLOT_CRYPTO, VIRTIO_CRYPTO_DATA);
}

static bool is_known_result(const volatile uint8_t *bytes)
{
    unsigned same = 0;

    while (same < VIRTIO_CRYPTO_BLOCK && bytes[same] == known_result[same]) {
        same++;
    }
    return same == VIRTIO_CRYPTO_BLOCK;
}

void judge_crypto(struct verdict *v)
{
    device_start(SLOT_CRYPTO, 0);
    copy_in(source, known_plain, VIRTIO_CRYPTO_BLOCK);
    fill_untouched(result, sizeof(result));
    describe_request(create_session(VIRTIO_CRYPTO_ENCRYPT), VIRTIO_CRYPTO_BLOCK);
    send_request();
    judge(v, state == CRYPTO_OK && is_known_result(result), "AES: status %u, 0x%x", state,
          result[0]);
    judge(v, is_untouched(result + VIRTIO_CRYPTO_BLOCK, sizeof(result) - VIRTIO_CRYPTO_BLOCK),
          "AES writes behind its result");
}

struct crypto_case {
    const char *what;
    uint64_t session; /* + the session's */
    uint32_t opcode, operation, vector_bytes, source_bytes, result_bytes;
    uint32_t head, source, result; /* bytes of the buffers */
    uint8_t status;
};

#define FITS VIRTIO_CRYPTO_ENCRYPT, VIRTIO_CRYPTO_CIPHER, VIRTIO_CRYPTO_BLOCK
static const struct crypto_case crypto_cases[] = {
    {"a right request", 0, FITS, BYTES, BYTES, 88, BYTES, BYTES, CRYPTO_OK},
    {"nothing", 0, FITS, 0, 0, 88, BYTES, BYTES, CRYPTO_OK},
    {"a longer result", 0, FITS, VIRTIO_CRYPTO_BLOCK, BYTES, 88, VIRTIO_CRYPTO_BLOCK, BYTES,
     CRYPTO_OK},
    {"the next session", 1, FITS, BYTES, BYTES, 88, BYTES, BYTES, CRYPTO_NO_SESSION},
    {"a session of the same place", SESSIONS, FITS, BYTES, BYTES, 88, BYTES, BYTES,
     CRYPTO_NO_SESSION},
    {"a session of before", 0 - (uint64_t)SESSIONS, FITS, BYTES, BYTES, 88, BYTES, BYTES,
     CRYPTO_NO_SESSION},
    {"a session of 64 bits", 1UL << 32, FITS, BYTES, BYTES, 88, BYTES, BYTES, CRYPTO_NO_SESSION},
    {"the other direction", 0, VIRTIO_CRYPTO_DECRYPT, VIRTIO_CRYPTO_CIPHER, VIRTIO_CRYPTO_BLOCK,
     BYTES, BYTES, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"an unknown opcode", 0, 2, VIRTIO_CRYPTO_CIPHER, VIRTIO_CRYPTO_BLOCK, BYTES, BYTES, 88, BYTES,
     BYTES, CRYPTO_UNSUPPORTED},
    {"the last opcode", 0, UINT32_MAX, VIRTIO_CRYPTO_CIPHER, VIRTIO_CRYPTO_BLOCK, BYTES, BYTES, 88,
     BYTES, BYTES, CRYPTO_UNSUPPORTED},
    {"a hash", 0, VIRTIO_CRYPTO_ENCRYPT, 2, VIRTIO_CRYPTO_BLOCK, BYTES, BYTES, 88, BYTES, BYTES,
     CRYPTO_UNSUPPORTED},
    {"no vector", 0, VIRTIO_CRYPTO_ENCRYPT, VIRTIO_CRYPTO_CIPHER, 0, BYTES, BYTES, 88, BYTES, BYTES,
     CRYPTO_ERROR},
    {"a short vector", 0, VIRTIO_CRYPTO_ENCRYPT, VIRTIO_CRYPTO_CIPHER, 15, BYTES, BYTES, 88, BYTES,
     BYTES, CRYPTO_ERROR},
    {"a vector of 4 GiB", 0, VIRTIO_CRYPTO_ENCRYPT, VIRTIO_CRYPTO_CIPHER, UINT32_MAX, BYTES, BYTES,
     88, BYTES, BYTES, CRYPTO_ERROR},
    {"a byte", 0, FITS, 1, BYTES, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"a byte less", 0, FITS, BYTES - 1, BYTES, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"a byte more", 0, FITS, BYTES + 1, BYTES + 1, 88, BYTES + 1, BYTES + 1, CRYPTO_ERROR},
    {"a short result", 0, FITS, BYTES, BYTES - 1, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"no result", 0, FITS, BYTES, 0, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"a short buffer of the source", 0, FITS, BYTES, BYTES, 88, BYTES - 1, BYTES, CRYPTO_ERROR},
    {"a short buffer of the result", 0, FITS, BYTES, BYTES, 88, BYTES, BYTES - 1, CRYPTO_ERROR},
    {"4 GiB", 0, FITS, 0xfffffff0, 0xfffffff0, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"4 GiB into little", 0, FITS, 0xfffffff0, BYTES, 88, BYTES, BYTES, CRYPTO_ERROR},
    {"a short head", 0, FITS, BYTES, BYTES, 20, BYTES, BYTES, CRYPTO_ERROR},
};

static void try_case(struct verdict *v, uint64_t session, const struct crypto_case *c)
{
    uint16_t before = used(DATA_RING);

    describe_request(session + c->session, BYTES);
    head.opcode = c->opcode;
    head.type = c->operation;
    head.vector_bytes = c->vector_bytes;
    head.source_bytes = c->source_bytes;
    head.result_bytes = c->result_bytes;
    DATA_RING->desc[0].length = c->head;
    DATA_RING->desc[1].length = c->source;
    DATA_RING->desc[2].length = c->result;
    send_request();
    judge(v, used(DATA_RING) == (uint16_t)(before + 1U), "%s is not returned", c->what);
    judge(v, state == c->status, "%s: status %u", c->what, state);
    judge(v, is_untouched(result + c->result, GUARD), "%s: written behind the result", c->what);
}

/* Buffers that overlap: of any content, but the device works. */
static void try_overlap(struct verdict *v, uint64_t session, uint64_t to, uint64_t status)
{
    describe_request(session, BYTES);
    DATA_RING->desc[2].address = to;
    DATA_RING->desc[3].address = status;
    send_request();
    judge(v, !device_failed(SLOT_CRYPTO), "buffers that overlap are refused");
    judge(v, is_untouched(result + BYTES, GUARD),
          "buffers that overlap: written behind the result");
}

static void try_overlaps(struct verdict *v, uint64_t session)
{
    copy_in(source, known_plain, VIRTIO_CRYPTO_BLOCK);
    try_overlap(v, session, SOURCE, STATE);
    judge(v, state == CRYPTO_OK && is_known_result(source), "in place: status %u", state);
    for (unsigned i = 1; i < BYTES; i += 7) {
        try_overlap(v, session, SOURCE + i, STATE);
        try_overlap(v, session, (uintptr_t)&head + i, STATE);
        try_overlap(v, session, RESULT, RESULT + i);
        try_overlap(v, session, RESULT, SOURCE + i);
    }
}

/* Requests at odd addresses, with all keys in both directions: the most work for a block. */
static void try_keys(struct verdict *v)
{
    for (unsigned i = 0; i < 6U * KEY_REQUESTS; i++) {
        uint32_t direction = i / KEY_REQUESTS % 2U, key_bytes = KEY + i / KEY_REQUESTS / 2U * 8U;

        if (i % KEY_REQUESTS == 0) {
            device_start(SLOT_CRYPTO, 0);
            torn_session = create_with_key(direction, key_bytes);
        }
        describe_request(torn_session, TORN);
        head.opcode = direction;
        DATA_RING->desc[1].address = SOURCE + 1U;
        DATA_RING->desc[2].address = RESULT + 3U;
        send_request();
        judge(v, state == CRYPTO_OK, "a key of %u bytes, direction %u: status %u", key_bytes,
              direction, state);
    }
}

void crypto_requests(struct verdict *v, uint64_t arg)
{
    uint64_t session;

    (void)arg;
    device_start(SLOT_CRYPTO, 0);
    fill_untouched(result, sizeof(result));
    session = create_session(VIRTIO_CRYPTO_ENCRYPT);
    judge(v, session != 0, "no session");
    for (size_t i = 0; i < LENGTH_OF(crypto_cases); i++) {
        fill_untouched(result, BYTES + GUARD + 1U);
        try_case(v, session, &crypto_cases[i]);
    }
    fill_untouched(result, sizeof(result));
    try_overlaps(v, session);
    try_keys(v);
    judge_storage(v);
}

/* --- chains --- */

struct crypto_chain {
    unsigned index;   /* of the descriptor */
    struct desc desc; /* an address of 0: that of the result */
};

static const struct crypto_chain wrong_chains[] = {
    {0, {REAL_WITNESS, 88, DESC_NEXT, 1}},
    {0, {RAM_END - 80, 88, DESC_NEXT, 1}},
    {0, {0, 0, DESC_NEXT, 1}},
    {1, {REAL_HYPERVISOR, BYTES, DESC_NEXT, 2}},
    {1, {0, BYTES, DESC_NEXT, 1}},
    {1, {0, BYTES, DESC_NEXT, ENTRIES}},
    {1, {0, BYTES, 0, 0}},
    {2, {REAL_WITNESS, BYTES, DESC_NEXT | DESC_WRITE, 3}},
    {2, {RAM_END - 8, BYTES, DESC_NEXT | DESC_WRITE, 3}},
    {2, {0, 0, DESC_NEXT | DESC_WRITE, 3}},
    {2, {0, BYTES / 2, DESC_NEXT | DESC_WRITE, 1}},
    {2, {0, 16, DESC_INDIRECT, 0}},
    {3, {0, 1, 0, 0}},
    {3, {REAL_WITNESS, 1, DESC_WRITE, 0}},
    {3, {0, 0, DESC_WRITE, 0}},
};

static void try_control(struct verdict *v, struct desc request, struct desc answer,
                        const char *what)
{
    device_start(SLOT_CRYPTO, 0);
    describe_creation(VIRTIO_CRYPTO_ENCRYPT);
    describe(CONTROL_RING, 0, request);
    describe(CONTROL_RING, 1, answer);
    offer(CONTROL_RING, 0);
    device_notify(SLOT_CRYPTO, VIRTIO_CRYPTO_CONTROL);
    judge(v, device_failed(SLOT_CRYPTO), "%s is accepted", what);
}

void crypto_chains(struct verdict *v, uint64_t arg)
{
    const struct desc request = {(uintptr_t)&control, CONTROL_FIXED + KEY, DESC_NEXT, 1};
    const struct desc answer = {(uintptr_t)&control_answer, 16, DESC_WRITE, 0};

    (void)arg;
    for (uint32_t i = 0; i < 6U * LENGTH_OF(wrong_chains); i++) {
        const struct crypto_chain *c = &wrong_chains[i / 6U];
        struct desc d = c->desc;

        d.address += d.address == 0 ? RESULT : 0;
        device_start(SLOT_CRYPTO, 0);
        describe_request(create_with_key(i % 2U, KEY + i / 2U % 3U * 8U), BYTES);
        head.opcode = i % 2U;
        describe(DATA_RING, c->index, d);
        send_request();
        judge(v, device_failed(SLOT_CRYPTO), "chain %u is accepted", i / 6U);
    }
    try_control(v, (struct desc){request.address, CONTROL_FIXED - 1U, DESC_NEXT, 1}, answer,
                "a short request");
    try_control(v, (struct desc){request.address, 88, 0, 0}, answer, "a request without an answer");
    try_control(v, (struct desc){request.address, 88, DESC_NEXT, 0}, answer, "a loop");
    try_control(v, request, (struct desc){answer.address, 15, DESC_WRITE, 0}, "a short answer");
    try_control(v, request, (struct desc){REAL_WITNESS, 16, DESC_WRITE, 0}, "an answer elsewhere");
    judge_storage(v);
}

/* --- sessions --- */

static void judge_creation(struct verdict *v, uint32_t key_bytes, uint32_t sent, uint32_t direction,
                           uint32_t status)
{
    uint32_t got;

    describe_creation(VIRTIO_CRYPTO_ENCRYPT);
    control.creation.key_bytes = key_bytes;
    control.creation.direction = direction;
    got = send_control(sent);
    judge(v, got == status, "a key of %u bytes, %u sent, direction %u: status %u", key_bytes, sent,
          direction, got);
}

static void judge_session(struct verdict *v, uint64_t session, uint8_t status)
{
    describe_request(session, VIRTIO_CRYPTO_BLOCK);
    send_request();
    judge(v, state == status, "session %lu: status %u", session, state);
}

static void try_creations(struct verdict *v)
{
    static const uint32_t sizes[] = {0, 1, 8, 15, 17, 31, 33, 64, 0x80000010, UINT32_MAX};

    for (size_t i = 0; i < LENGTH_OF(sizes); i++) {
        judge_creation(v, sizes[i], 32, 1, CRYPTO_ERROR);
    }
    judge_creation(v, 32, 31, 1, CRYPTO_ERROR);
    judge_creation(v, KEY, 0, 1, CRYPTO_ERROR);
    judge_creation(v, KEY, KEY, 0, CRYPTO_ERROR);
    judge_creation(v, KEY, KEY, 3, CRYPTO_ERROR);
    describe_creation(VIRTIO_CRYPTO_ENCRYPT);
    control.creation.algorithm = 1;
    judge(v, send_control(KEY) == CRYPTO_UNSUPPORTED, "another algorithm is accepted");
    describe_creation(VIRTIO_CRYPTO_ENCRYPT);
    control.creation.opcode = 0x102;
    judge(v, send_control(KEY) == CRYPTO_UNSUPPORTED, "another service is accepted");
}

/* As many as there are, and what becomes of them. */
static void use_up_sessions(struct verdict *v)
{
    uint64_t sessions[SESSIONS], another;

    for (unsigned i = 0; i < SESSIONS; i++) {
        sessions[i] = create_session(VIRTIO_CRYPTO_ENCRYPT);
        judge(v, sessions[i] != 0, "session %u is refused", i);
    }
    for (unsigned i = 0; i < 64; i++) {
        judge_creation(v, KEY, KEY, 1, CRYPTO_NO_SPACE);
    }
    judge(v, destroy_session(0) == CRYPTO_NO_SESSION, "session 0 is destroyed");
    judge(v, destroy_session(sessions[5] + SESSIONS) == CRYPTO_NO_SESSION,
          "a session of later is destroyed");
    judge(v, destroy_session(ALL) == CRYPTO_NO_SESSION, "the last session is destroyed");
    judge(v, destroy_session(sessions[5]) == CRYPTO_OK, "a session is not destroyed");
    judge(v, destroy_session(sessions[5]) == CRYPTO_NO_SESSION, "a session is destroyed twice");
    judge_session(v, sessions[5], CRYPTO_NO_SESSION);
    another = create_session(VIRTIO_CRYPTO_ENCRYPT);
    judge(v, another != 0 && another != sessions[5], "session %lu after %lu", another, sessions[5]);
    judge_session(v, sessions[5], CRYPTO_NO_SESSION);
    judge_session(v, another, CRYPTO_OK);
    judge_session(v, sessions[6], CRYPTO_OK);
    device_start(SLOT_CRYPTO, 0);
    judge_session(v, sessions[6], CRYPTO_NO_SESSION);
}

void crypto_sessions(struct verdict *v, uint64_t arg)
{
    (void)arg;
    device_start(SLOT_CRYPTO, 0);
    try_creations(v);
    for (unsigned i = 0; i < 3; i++) {
        use_up_sessions(v);
    }
    judge_storage(v);
}

/* --- what changes, or ends, while it is read --- */

/* Wrong and right in turns. */
static void tear_crypto(unsigned long hart, void *argument)
{
    uint64_t numbers = 0x1234567890abcdefU;

    (void)hart;
    (void)argument;
    while (!changes_over) {
        uint64_t n = random_next(&numbers);

        tear(&DATA_RING->desc[n >> 60 & 3U], n, RESULT);
        head.session = (n >> 9 & 7U) == 0 ? n >> 40 : torn_session;
        head.source_bytes = (n >> 12 & 7U) == 0 ? (uint32_t)n : TORN;
        head.result_bytes = (n >> 16 & 7U) == 0 ? (uint32_t)(n >> 32) : TORN;
        control.creation.key_bytes = (n >> 20 & 7U) == 0 ? (uint32_t)n & 63U : KEY;
        describe_request(torn_session, TORN);
        changes++;
    }
}

void crypto_torn(struct verdict *v, uint64_t arg)
{
    unsigned done = 0, failures = 0;
    uint64_t numbers = 0x0123456789abcdefU;

    (void)arg;
    device_start(SLOT_CRYPTO, F_INDIRECT);
    begin_changes(v, tear_crypto);
    for (uint64_t from = csr_read_time();
         attack_goes_on(from, 40UL * MS, changed_beside(done + failures));) {
        uint16_t before = used(DATA_RING);
        uint64_t n = random_next(&numbers);

        torn_session = create_session(VIRTIO_CRYPTO_ENCRYPT);
        describe_request(torn_session, TORN);
        if ((n & 1U) != 0) {
            tear(&DATA_RING->desc[n >> 1 & 3U], n >> 3, RESULT);
        }
        send_request();
        done += (uint16_t)(used(DATA_RING) - before);
        if (device_failed(SLOT_CRYPTO)) {
            device_start(SLOT_CRYPTO, F_INDIRECT);
            failures++;
        }
        v->tried++;
    }
    end_changes();
    judge(v, changed_beside(done + failures), "%u changes, %u done, %u failures", changes, done,
          failures);
    judge_storage(v);
}

static volatile unsigned written; /* after a reset */
/* the other hart sends no request, which would hide what was written */
static volatile bool is_reset;

/* Resets the device in the middle of requests. */
static void reset_crypto(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    while (!changes_over) {
        /* longer than a slice: the other hart has a request */
        spin(MS + changes % 16U * (MS / 50U));
        is_reset = true;
        *reg8(SLOT_CRYPTO, STATUS) = 0;
        fill_untouched(result, LONG);
        state = UNTOUCHED;
        spin(3UL * MS / 2U);
        written += is_untouched(result, LONG) && state == UNTOUCHED ? 0U : 1U;
        device_start(SLOT_CRYPTO, 0);
        is_reset = false;
        changes++;
    }
}

/* Nothing is written after a reset, and its sessions are gone. */
void crypto_resets(struct verdict *v, uint64_t arg)
{
    unsigned ended = 0;
    uint64_t session, last = 0;

    (void)arg;
    device_start(SLOT_CRYPTO, 0);
    begin_changes(v, reset_crypto);
    for (uint64_t from = csr_read_time();
         attack_goes_on(from, 20UL * MS, changes >= RESETS_MIN && last != 0); ended++) {
        unsigned life = changes;

        session = create_session(VIRTIO_CRYPTO_ENCRYPT);
        last = session != 0 ? session : last;
        while (life == changes && session != 0 && !changes_over) {
            if (!is_reset) {
                describe_request(session, LONG);
                send_request();
            }
        }
    }
    end_changes();
    judge(v, written == 0, "written %u times after %u resets", written, changes);
    judge(v, changes >= RESETS_MIN && last != 0, "%u resets, %u lives", changes, ended);
    device_start(SLOT_CRYPTO, 0);
    judge_session(v, last, CRYPTO_NO_SESSION);
    judge_storage(v);
}
