/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-crypto (virtio 1.2, section 5.9): AES in CBC mode, computed by the hypervisor (aes.c).
 * Each key that the driver gives by the control queue makes a session; a request on the data queue
 * names a session. Keys are cleared when the driver destroys the session or resets the device, and
 * when the VM stops.
 *
 * A device with a unit of the fabric (cipher_unit.h) has it compute what suits it: with keys of 128
 * bits, the blocks that lie in one buffer of the source and in one of the destination. All else is
 * computed here. While a job runs, the VCPU that has notified the queue is suspended in its store,
 * which it executes again afterwards; jobs and requests are thus done in their order.
 *
 * Lock order: the lock of the control queue, then that of the data queue.
 */
#include "aes.h"
#include "lib.h"
#include "virtio.h"

#define QUEUE_DATA 0U
#define QUEUE_CONTROL 1U
#define CLASS_CRYPTO 0x108000U

#define SESSIONS 32U /* of a device */
#define ROUNDS 3U    /* of AES in a step, at most: 1,100 instructions to decrypt */

/* Bytes of a job of the unit: fewer are computed here, and the guest waits 44 us for the most, at
 * 100 MHz. */
#define JOB_MIN 64U
#define JOB_MAX 4096U
#define JOB_KEY 16U /* bytes */
#define JOB_ALIGN 8U

#define READY 1U /* bit of the configuration's status */
#define SERVICE_CIPHER 0U
#define ALGORITHM_AES_CBC 3U
#define MAX_SIZE UINT32_MAX /* of a request: lengths have 32 bits */

#define CIPHER_ENCRYPT 0U
#define CIPHER_DECRYPT 1U
#define CIPHER_CREATE_SESSION 2U
#define CIPHER_DESTROY_SESSION 3U
#define OPERATION_CIPHER 1U /* without a hash */

/* Statuses of requests (section 5.9.7). */
#define STATUS_OK 0U
#define STATUS_ERROR 1U
#define STATUS_UNSUPPORTED 3U
#define STATUS_NO_SESSION 4U
#define STATUS_NO_SPACE 5U

/* A request on the control queue (section 5.9.7), little-endian; sizes are in bytes. What is behind
 * the fixed part, of 72 bytes, is the key. */
struct control_request {
    uint32_t opcode, service_algorithm, flags, queue;
    union {
        struct {
            /* direction: 1 + CIPHER_ENCRYPT or CIPHER_DECRYPT */
            uint32_t algorithm, key_size, direction, padding;
        } create;
        uint64_t session; /* to destroy */
    } about;
    uint64_t reserved[4];
    uint32_t operation, padding;
    uint8_t key[AES_KEY_MAX];
};
#define CONTROL_FIXED 72U

struct control_answer {
    uint64_t session;
    uint32_t status, padding;
};

/* A request on the data queue, in front of its data. */
struct data_request {
    uint32_t opcode, algorithm;
    uint64_t session;
    uint32_t flags, padding;
    uint32_t vector_size, source_size, destination_size, padding2;
    uint64_t reserved[3];
    uint32_t operation, padding3;
    /* initialization vector; then the block before the current one, encrypted */
    uint64_t vector[2];
};
_Static_assert(sizeof(struct control_request) == CONTROL_FIXED + AES_KEY_MAX &&
                   sizeof(struct data_request) == 88,
               "");

struct session {
    uint64_t id; /* its place + a multiple of SESSIONS, never used twice; 0: free */
    uint32_t direction, key_size;
    uint8_t key[AES_KEY_MAX];
};

/* What the next step of a data request does. */
enum phase {
    BEGIN,
    HEAD,  /* reads struct data_request */
    SEEK,  /* finds the first buffer to write to */
    OFFER, /* instead of TAKE, with a unit: begins a job */
    AWAIT, /* the job runs */
    TAKE,  /* reads a block */
    CRYPT,
    PUT,    /* writes it */
    FINISH, /* skips what is left to write to, and writes the status */
};

struct engine {
    /* Guarded by the lock of the control queue: */
    bool controlled;       /* there is a request, which is still in the queue */
    uint32_t control_read; /* bytes of it that have been read */
    struct control_request control;
    struct virtio_chain control_rest; /* of its chain */
    /* Guarded by the lock of the data queue: */
    struct session sessions[SESSIONS];
    uint64_t made; /* sessions up to now */
    struct aes_key key;
    uint64_t key_session; /* id of the session whose key `key` is, 0: none */
    enum phase phase;
    enum phase first; /* of a block: OFFER with a unit, else TAKE; constant */
    uint32_t unit;    /* constant */
    uint32_t job;     /* bytes of the unit's job */
    bool waits;       /* the VCPU is suspended until the job is over */
    uint8_t status;
    struct data_request request;
    /* both walk over the source's descriptors, and each checks what it has read */
    struct virtio_chain from, into;
    uint32_t left; /* bytes of the source from the current block on */
    /* bytes of the head or of the current block that are read or written */
    uint32_t at;
    uint32_t written; /* bytes, to the guest's memory */
    uint64_t block[2];
    struct aes_state state;
};

/* by number of the function; owner: this file */
static struct engine engines[VIRTIO_MAX_FUNCTIONS];

static const char *crypto_boot(struct virtio_device *dev)
{
    uint32_t unit = dev->config->unit;

    engines[virtio_number(dev)] = (struct engine){
        .phase = BEGIN, .first = unit != 0 ? OFFER : TAKE, .unit = unit != 0 ? unit - 1U : 0};
    dev->data = &engines[virtio_number(dev)];
    return NULL;
}

static uint32_t crypto_config(const struct virtio_device *dev, unsigned offset)
{
    /* struct virtio_crypto_config */
    static const uint32_t words[] = {[0] = READY,
                                     [1] = 1, /* data queues */
                                     [2] = 1U << SERVICE_CIPHER,
                                     [3] = 1U << ALGORITHM_AES_CBC,
                                     [9] = AES_KEY_MAX,
                                     [12] = MAX_SIZE,
                                     [13] = 0};

    (void)dev;
    return offset / 4U < ARRAY_SIZE(words) ? words[offset / 4U] : 0;
}

/* --- sessions: with the lock of the data queue --- */

/* NULL: there is none. */
static struct session *session_of(struct engine *e, uint64_t id)
{
    struct session *s = &e->sessions[id % SESSIONS];

    return id != 0 && s->id == id ? s : NULL;
}

static struct session *free_session(struct engine *e)
{
    for (unsigned i = 0; i < SESSIONS; i++) {
        if (e->sessions[i].id == 0) {
            return &e->sessions[i];
        }
    }
    return NULL;
}

static uint32_t judge_creation(const struct engine *e)
{
    const struct control_request *r = &e->control;
    uint32_t size = r->about.create.key_size;
    bool right_size = size == 16U || size == 24U || size == 32U;
    uint32_t direction = r->about.create.direction - 1U;

    if (r->opcode != CIPHER_CREATE_SESSION || r->operation != OPERATION_CIPHER ||
        r->about.create.algorithm != ALGORITHM_AES_CBC) {
        return STATUS_UNSUPPORTED;
    }
    return right_size && e->control_read - CONTROL_FIXED >= size && direction <= CIPHER_DECRYPT
               ? STATUS_OK
               : STATUS_ERROR;
}

static struct control_answer create_session(struct engine *e)
{
    struct control_answer answer = {.status = judge_creation(e)};
    struct session *s = free_session(e);

    if (answer.status == STATUS_OK && s == NULL) {
        answer.status = STATUS_NO_SPACE;
    }
    if (answer.status == STATUS_OK) {
        e->made++;
        answer.session = e->made * SESSIONS + (uint64_t)(s - e->sessions);
        s->id = answer.session;
        s->direction = e->control.about.create.direction - 1U;
        s->key_size = e->control.about.create.key_size;
        memcpy(s->key, e->control.key, s->key_size);
    }
    return answer;
}

static void forget_key(struct engine *e)
{
    memset(&e->key, 0, sizeof(e->key));
    e->key_session = 0;
}

static uint8_t destroy_session(struct engine *e)
{
    struct session *s = session_of(e, e->control.about.session);

    if (s == NULL) {
        return STATUS_NO_SESSION;
    }
    if (e->key_session == s->id) {
        forget_key(e);
    }
    memset(s, 0, sizeof(*s));
    return STATUS_OK;
}

/* --- requests on the control queue --- */

/* Does what the request says, and writes the answer to the chain. */
static enum virtio_found answer_control(struct virtio_device *dev, struct engine *e)
{
    struct virtq *data = &dev->queues[QUEUE_DATA];
    struct control_answer answer;
    uint8_t status;

    if (e->control_read < CONTROL_FIXED) {
        return VIRTIO_WRONG;
    }
    if (e->control.opcode == CIPHER_DESTROY_SESSION) {
        spin_lock(&data->lock);
        status = destroy_session(e);
        spin_unlock(&data->lock);
        return virtio_chain_write(&e->control_rest, &status, sizeof(status));
    }
    spin_lock(&data->lock);
    answer = create_session(e);
    spin_unlock(&data->lock);
    return virtio_chain_write(&e->control_rest, &answer, sizeof(answer));
}

static enum virtio_found end_control(struct virtio_device *dev, struct engine *e, struct virtq *q)
{
    bool destroys = e->control.opcode == CIPHER_DESTROY_SESSION;
    enum virtio_found found = answer_control(dev, e);

    memset(&e->control, 0, sizeof(e->control));
    e->controlled = false;
    if (found == VIRTIO_SOME) {
        virtio_done(dev, q, e->control_rest.head,
                    destroys ? sizeof(uint8_t) : sizeof(struct control_answer));
    }
    return found;
}

/* Reads the buffers up to the first one to write to, one in each step. */
static enum virtio_found control_step(struct virtio_device *dev, struct engine *e, struct virtq *q)
{
    struct virtio_chain *rest = &e->control_rest;
    enum virtio_found found;
    uint32_t n;

    if (!e->controlled) {
        e->controlled = true;
        e->control_read = 0;
        return virtq_first(dev, q, VIRTIO_QUEUE_SIZE, rest);
    }
    found = virtio_chain_span(rest);
    if (found != VIRTIO_SOME) {
        return found;
    }
    if (rest->writable) {
        return end_control(dev, e, q);
    }
    n = virtio_min(rest->room, (uint32_t)sizeof(e->control) - e->control_read);
    virtio_copy((char *)&e->control + e->control_read, rest->at, n);
    e->control_read += n;
    virtio_chain_advance(rest, rest->room); /* what follows the key is ignored */
    return VIRTIO_SOME;
}

/* --- requests on the data queue --- */

static void fail(struct engine *e, uint8_t status)
{
    e->status = status;
    e->phase = FINISH;
}

/* Whether the device can do the request; `s` is its session or NULL. The length of its buffers is
 * not known yet. */
static uint8_t judge(const struct data_request *r, const struct session *s)
{
    if (r->opcode > CIPHER_DECRYPT || r->operation != OPERATION_CIPHER) {
        return STATUS_UNSUPPORTED;
    }
    if (s == NULL) {
        return STATUS_NO_SESSION;
    }
    if (s->direction != r->opcode || r->vector_size != AES_BLOCK ||
        r->source_size % AES_BLOCK != 0 || r->destination_size < r->source_size) {
        return STATUS_ERROR;
    }
    return STATUS_OK;
}

static enum virtio_found begin_request(struct virtio_device *dev, struct engine *e, struct virtq *q)
{
    e->phase = HEAD;
    e->at = 0;
    e->written = 0;
    return virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &e->from);
}

/* Reads at most `size` bytes of the current buffer of the source, which must be the driver's. */
static uint32_t read_buffer(struct engine *e, void *bytes, uint32_t size)
{
    uint32_t n = virtio_min(e->from.room, size);

    virtio_copy(bytes, e->from.at, n);
    virtio_chain_advance(&e->from, n);
    return n;
}

static enum virtio_found read_head(struct engine *e)
{
    enum virtio_found found = virtio_chain_span(&e->from);

    if (found != VIRTIO_SOME) {
        return found;
    }
    if (e->from.writable) {
        e->into = e->from;
        fail(e, STATUS_ERROR); /* the head is not whole */
        return found;
    }
    e->at += read_buffer(e, (char *)&e->request + e->at, (uint32_t)sizeof(e->request) - e->at);
    if (e->at == sizeof(e->request)) {
        e->into = e->from;
        e->phase = SEEK;
    }
    return found;
}

static void begin_block(struct engine *e)
{
    e->at = 0;
    e->phase = e->left != 0 ? e->first : FINISH;
}

static void begin_data(struct engine *e)
{
    const struct session *s = session_of(e, e->request.session);
    uint8_t status = judge(&e->request, s);

    if (status != STATUS_OK) {
        fail(e, status);
        return;
    }
    if (e->key_session != s->id) {
        aes_set_key(&e->key, s->key, s->key_size);
        e->key_session = s->id;
    }
    e->status = STATUS_OK;
    e->left = e->request.source_size;
    begin_block(e);
}

/* The readable buffers may be longer than the source. */
static enum virtio_found seek(struct engine *e)
{
    enum virtio_found found = virtio_chain_span(&e->into);

    if (found != VIRTIO_SOME) {
        return found;
    }
    if (e->into.writable) {
        begin_data(e);
    } else {
        virtio_chain_advance(&e->into, e->into.room);
    }
    return found;
}

static enum virtio_found take(struct engine *e)
{
    enum virtio_found found = virtio_chain_span(&e->from);

    if (found != VIRTIO_SOME) {
        return found;
    }
    if (e->from.writable) {
        fail(e, STATUS_ERROR); /* shorter than the request says */
        return found;
    }
    e->at += read_buffer(e, (char *)e->block + e->at, AES_BLOCK - e->at);
    if (e->at == AES_BLOCK) {
        bool encrypts = e->request.opcode == CIPHER_ENCRYPT;
        uint64_t first[2] = {e->block[0] ^ e->request.vector[0],
                             e->block[1] ^ e->request.vector[1]};

        aes_begin(&e->state, encrypts ? first : e->block);
        e->phase = CRYPT;
    }
    return found;
}

/* The block is done: it, or what it was decrypted from, goes into the next one (NIST SP 800-38A,
 * section 6.2). */
static void end_block(struct engine *e)
{
    uint64_t *vector = e->request.vector, result[2];

    aes_end(&e->state, result);
    if (e->request.opcode == CIPHER_ENCRYPT) {
        vector[0] = result[0];
        vector[1] = result[1];
    } else {
        result[0] ^= vector[0];
        result[1] ^= vector[1];
        vector[0] = e->block[0];
        vector[1] = e->block[1];
    }
    e->block[0] = result[0];
    e->block[1] = result[1];
    e->at = 0;
    e->phase = PUT;
}

/* Fewer where the block may end. */
static unsigned rounds_of_step(const struct engine *e)
{
    return e->key.rounds - e->state.round <= ROUNDS ? ROUNDS - 1U : ROUNDS;
}

static void crypt(struct engine *e)
{
    bool encrypts = e->request.opcode == CIPHER_ENCRYPT;
    unsigned rounds = rounds_of_step(e);

    if (encrypts ? aes_encrypt(&e->state, &e->key, rounds)
                 : aes_decrypt(&e->state, &e->key, rounds)) {
        end_block(e);
    }
}

/* The next buffer to write to, and in *n the bytes that it has space for, without that of the
 * status: the last one of the chain. */
static enum virtio_found space(struct engine *e, uint32_t *n)
{
    enum virtio_found found = virtio_chain_span(&e->into);

    if (found != VIRTIO_SOME || !e->into.writable) {
        return VIRTIO_WRONG;
    }
    *n = e->into.room - (e->into.next == CHAIN_END ? 1U : 0);
    return VIRTIO_SOME;
}

/* --- jobs of the unit --- */

/* The guest-physical address of memory that a descriptor has named. Its buffer lies in one
 * region. */
static uint64_t gpa_of(const struct virtio_device *dev, const char *at)
{
    const struct memmap *map = &dev->vm->memmap;
    uint64_t gpa = 0;

    for (unsigned i = 0; i < map->count; i++) {
        const struct sysimage_region *r = &map->regions[i];
        const char *base = arch_memory(memmap_cpu_base(r));

        if (r->kind != SYSIMAGE_REGION_MMIO && (uintptr_t)at - (uintptr_t)base < r->size) {
            gpa = r->gpa + ((uintptr_t)at - (uintptr_t)base);
        }
    }
    return gpa;
}

/* The unit reads ahead, so source and result are the same memory, or do not overlap. */
static bool suits(const char *source, const char *result, uint32_t size)
{
    uintptr_t from = (uintptr_t)source, to = (uintptr_t)result;

    return size >= JOB_MIN && (from | to) % JOB_ALIGN == 0 &&
           (from == to || (from < to ? to - from : from - to) >= size);
}

static bool begin_job(const struct virtio_device *dev, const struct engine *e, uint32_t size)
{
    const struct session *s = &e->sessions[e->key_session % SESSIONS];
    struct cipher_job job = {.source = gpa_of(dev, e->from.at),
                             .result = gpa_of(dev, e->into.at),
                             .size = size,
                             .decrypts = e->request.opcode == CIPHER_DECRYPT};
    const struct cipher_units *units = pci_backends.cipher_units;
    bool begun;

    memcpy(job.key, s->key, sizeof(job.key));
    memcpy(job.vector, e->request.vector, sizeof(job.vector));
    begun = units != NULL && units->begin(dev->vm, e->unit, &job);
    memset(job.key, 0, sizeof(job.key));
    return begun;
}

/* Begins a job with the blocks that suit the unit; without them, or without the unit, a block is
 * computed here. */
static enum virtio_found offer(const struct virtio_device *dev, struct engine *e)
{
    enum virtio_found found = virtio_chain_span(&e->from);
    uint32_t n;

    e->phase = TAKE;
    if (found != VIRTIO_SOME || e->from.writable || e->key.words != JOB_KEY / 4U) {
        return found; /* take() finds what is wrong */
    }
    found = space(e, &n);
    if (found != VIRTIO_SOME) {
        return found;
    }
    n = virtio_min(virtio_min(n, e->from.room), virtio_min(e->left, JOB_MAX)) & ~(AES_BLOCK - 1U);
    if (!suits(e->from.at, e->into.at, n)) {
        return found;
    }
    virtio_copy(e->block, e->from.at + n - AES_BLOCK, AES_BLOCK); /* a job in place overwrites it */
    if (begin_job(dev, e, n)) {
        e->job = n;
        e->phase = AWAIT;
    }
    return found;
}

static void end_job(struct engine *e)
{
    bool encrypts = e->request.opcode == CIPHER_ENCRYPT;

    virtio_copy(e->request.vector,
                encrypts ? e->into.at + e->job - AES_BLOCK : (const char *)e->block, AES_BLOCK);
    virtio_chain_advance(&e->from, e->job);
    virtio_chain_advance(&e->into, e->job);
    e->written += e->job;
    e->left -= e->job;
    begin_block(e);
}

/* A destroyed session ends the request only after its job. */
static enum virtio_found await_job(struct engine *e)
{
    enum cipher_outcome outcome = pci_backends.cipher_units->result(e->unit);

    if (outcome == CIPHER_DONE) {
        end_job(e);
    } else if (outcome == CIPHER_FAILED) {
        fail(e, STATUS_ERROR);
    } else {
        e->waits = true;
        arch_store_again();
    }
    return VIRTIO_SOME;
}

static enum virtio_found put(struct engine *e)
{
    uint32_t n;
    enum virtio_found found = space(e, &n);

    if (found != VIRTIO_SOME) {
        return found;
    }
    if (n == 0) {
        fail(e, STATUS_ERROR); /* shorter than the request says */
        return found;
    }
    n = virtio_min(n, AES_BLOCK - e->at);
    virtio_copy(e->into.at, (const char *)e->block + e->at, n);
    virtio_chain_advance(&e->into, n);
    e->at += n;
    e->written += n;
    if (e->at == AES_BLOCK) {
        e->left -= AES_BLOCK;
        begin_block(e);
    }
    return found;
}

static enum virtio_found finish(struct virtio_device *dev, struct engine *e, struct virtq *q)
{
    uint32_t n;
    enum virtio_found found = space(e, &n);

    if (found == VIRTIO_SOME && n > 0) {
        virtio_chain_advance(&e->into, n);
    } else if (found == VIRTIO_SOME) {
        *e->into.at = (char)e->status;
        e->phase = BEGIN;
        virtio_done(dev, q, e->from.head, e->written + 1U);
    }
    return found;
}

/* At most a buffer of the destination and one of the source; or ROUNDS rounds; or a step of the
 * key's expansion; or a job's begin. Rounds have a step of their own: with two buffers at odd
 * addresses, or with virtio_break(), it would be longer than 1,500 instructions. */
static enum virtio_found block_step(const struct virtio_device *dev, struct engine *e)
{
    enum virtio_found found = VIRTIO_SOME;

    if (e->key_session != e->request.session) {
        fail(e, STATUS_NO_SESSION); /* destroyed since its first step */
        return VIRTIO_SOME;
    }
    if (!aes_expanded(&e->key)) {
        aes_expand(&e->key);
        return VIRTIO_SOME;
    }
    if (e->phase == OFFER) {
        return offer(dev, e);
    }
    if (e->phase == CRYPT) {
        crypt(e);
        return VIRTIO_SOME;
    }
    if (e->phase == PUT) {
        found = put(e);
    }
    if (e->phase == TAKE) {
        found = take(e);
    }
    return found;
}

static enum virtio_found data_step(struct virtio_device *dev, struct engine *e, struct virtq *q)
{
    switch (e->phase) {
    case BEGIN:
        return begin_request(dev, e, q);
    case HEAD:
        return read_head(e);
    case SEEK:
        return seek(e);
    case FINISH:
        return finish(dev, e, q);
    case AWAIT:
        return await_job(e);
    default:
        return block_step(dev, e);
    }
}

static struct virtio_step crypto_step(struct virtio_device *dev, struct virtq *q)
{
    struct engine *e = dev->data;
    bool control = q == &dev->queues[QUEUE_CONTROL];
    enum virtio_found found = control ? control_step(dev, e, q) : data_step(dev, e, q);

    if (!control && e->waits) {
        e->waits = false;
        return (struct virtio_step){.wait = true};
    }
    return (struct virtio_step){.broken = found == VIRTIO_SOME ? NULL : virtio_wrong(dev)};
}

static void crypto_reset(struct virtio_device *dev)
{
    struct engine *e = dev->data;

    spin_lock(&dev->queues[QUEUE_CONTROL].lock);
    e->controlled = false;
    memset(&e->control, 0, sizeof(e->control));
    spin_unlock(&dev->queues[QUEUE_CONTROL].lock);
    spin_lock(&dev->queues[QUEUE_DATA].lock);
    memset(e->sessions, 0, sizeof(e->sessions));
    forget_key(e);
    e->phase = BEGIN;
    memset(e->block, 0, sizeof(e->block));
    memset(&e->state, 0, sizeof(e->state));
    spin_unlock(&dev->queues[QUEUE_DATA].lock);
}

static bool crypto_stop(struct virtio_device *dev)
{
    const struct cipher_units *units = pci_backends.cipher_units;
    const struct engine *e = dev->data;

    return e->first == TAKE || units == NULL || units->stop(dev->vm, e->unit);
}

VIRTIO_CLASS(crypto) = {
    .type = VIRTIO_IMAGE_CRYPTO,
    .queues = 2,
    .pci_class = CLASS_CRYPTO,
    .boot = crypto_boot,
    .config = crypto_config,
    .requests = 1U << QUEUE_DATA | 1U << QUEUE_CONTROL,
    .step = crypto_step,
    .reset = crypto_reset,
    .stop = crypto_stop,
};
