/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random requests to two virtio-crypto functions, the first of which has a unit of the fabric, and
 * the second has none: any keys, sizes
 * and scatter lists, some too short. Both must answer the same. Boot arguments:
 *   requests=n   number of them (default 200), then prints the result and ends; 0: without end
 *   seed=n       of the requests
 *   touch=1      accesses the pages that devices of the fabric would have: each access must fault,
 *                and no call find the device
 */
#include <string.h>

#include "accel.h"
#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "random.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"
#include "virtio.h"
#include "virtio_crypto.h"

#define ENTRIES 64U
#define BYTES 12288U
#define PIECES 12U /* of a scatter list */
#define WAIT_MS 10000U
#define FLAG_NEXT 1U
#define FLAG_WRITE 2U
#define DEVICES 16U /* of the fabric, at most */
#define REPORT_EVERY 10U

/* One function, and what it computes in. */
struct engine {
    struct virtio_device device;
    struct virtqueue data, control;
    uint8_t source[BYTES + 64U] __attribute__((aligned(8))),
        result[BYTES + 64U] __attribute__((aligned(8)));
    volatile uint8_t status;
};

/* A request, the same for both. */
struct request {
    uint32_t direction, key_bytes, bytes;
    uint32_t from, into; /* offsets in the buffers */
    uint32_t missing;    /* bytes that the source's buffers lack */
    bool in_place;
    uint64_t cuts; /* seed of the scatter lists */
    uint8_t key[VIRTIO_CRYPTO_KEY_MAX], vector[VIRTIO_CRYPTO_BLOCK];
};

int main(unsigned long hart, const void *fdt);

static struct engine engines[2];
static volatile bool faulted;

/* --- queues: chains of any length, which the SDK's virtqueue_add() does not make --- */

static uint16_t put(struct virtqueue *q, uint16_t at, void *data, uint32_t bytes, uint16_t flags)
{
    q->descriptors[at] =
        (struct virtqueue_descriptor){(uintptr_t)data, bytes, flags, (uint16_t)(at + 1U)};
    return (uint16_t)(at + 1U);
}

/* Gives the chain, whose first descriptor is number 0, to the device. Notification and work are
 * one. */
static bool run(struct virtqueue *q)
{
    uint16_t index = q->available.index;

    q->available.ring[index % q->size] = 0;
    __asm__ volatile("fence" ::: "memory");
    q->available.index = (uint16_t)(index + 1U);
    __asm__ volatile("fence" ::: "memory");
    if (q->door.narrow != NULL) {
        *q->door.narrow = q->door.number;
    } else {
        *q->door.wide = q->door.number;
    }
    __asm__ volatile("fence" ::: "memory");
    return q->used.index == q->available.index;
}

/* The number of a session, 0: it is refused. */
static uint64_t create(struct engine *e, const struct request *r)
{
    static struct virtio_crypto_creation request;
    static struct virtio_crypto_session answer;
    uint16_t at;

    request = (struct virtio_crypto_creation){.opcode = VIRTIO_CRYPTO_CREATE,
                                              .algorithm = VIRTIO_CRYPTO_AES_CBC,
                                              .key_bytes = r->key_bytes,
                                              .direction = 1U + r->direction,
                                              .type = VIRTIO_CRYPTO_CIPHER};
    memcpy(request.key, r->key, r->key_bytes);
    answer.status = ~0U;
    at = put(&e->control, 0, &request,
             (uint32_t)(sizeof(request) - VIRTIO_CRYPTO_KEY_MAX) + r->key_bytes, FLAG_NEXT);
    (void)put(&e->control, at, &answer, sizeof(answer), FLAG_WRITE);
    return run(&e->control) && answer.status == 0 ? answer.number : 0;
}

static bool destroy(struct engine *e, uint64_t session)
{
    static struct virtio_crypto_destruction request;
    static volatile uint8_t status;
    uint16_t at;

    request =
        (struct virtio_crypto_destruction){.opcode = VIRTIO_CRYPTO_DESTROY, .session = session};
    status = 0xff;
    at = put(&e->control, 0, &request, sizeof(request), FLAG_NEXT);
    (void)put(&e->control, at, (void *)(uintptr_t)&status, 1, FLAG_WRITE);
    return run(&e->control) && status == 0;
}

/* Buffers of `bytes` together, at most PIECES of them; most are longer than a few blocks, and many
 * begin at a block. */
static uint16_t scatter(struct virtqueue *q, uint16_t at, struct random *random, uint8_t *data,
                        uint32_t bytes, uint16_t flags)
{
    for (unsigned int left = PIECES; bytes > 0; left--) {
        uint32_t n = (uint32_t)random_below(random, 2U * bytes) + 1U;

        n = random_below(random, 2) != 0 && n > VIRTIO_CRYPTO_BLOCK
                ? n & ~(VIRTIO_CRYPTO_BLOCK - 1U)
                : n;
        n = left == 1U || n > bytes ? bytes : n;
        at = put(q, at, data, n, flags);
        data += n;
        bytes -= n;
    }
    return at;
}

static bool crypt(struct engine *e, const struct request *r, uint64_t session)
{
    static struct virtio_crypto_operation head;
    struct random random = random_from(r->cuts);
    uint8_t *into = r->in_place ? e->source + r->from : e->result + r->into;
    uint16_t at;

    head = (struct virtio_crypto_operation){.opcode = r->direction,
                                            .session = session,
                                            .vector_bytes = VIRTIO_CRYPTO_BLOCK,
                                            .source_bytes = r->bytes,
                                            .result_bytes = r->bytes,
                                            .type = VIRTIO_CRYPTO_CIPHER};
    memcpy(head.vector, r->vector, VIRTIO_CRYPTO_BLOCK);
    e->status = 0xff;
    at = put(&e->data, 0, &head, sizeof(head), FLAG_NEXT);
    at = scatter(&e->data, at, &random, e->source + r->from, r->bytes - r->missing, FLAG_NEXT);
    at = scatter(&e->data, at, &random, into, r->bytes, FLAG_NEXT | FLAG_WRITE);
    (void)put(&e->data, at, (void *)(uintptr_t)&e->status, 1, FLAG_WRITE);
    return run(&e->data);
}

/* --- requests --- */

static void fill(struct random *random, uint8_t *bytes, unsigned int size)
{
    for (unsigned int i = 0; i < size; i++) {
        bytes[i] = (uint8_t)random_next(random);
    }
}

static struct request any_request(struct random *random)
{
    static const uint8_t keys[] = {16, 16, 16, 16, 24, 32}; /* bytes */
    struct request r = {
        .direction = (uint32_t)random_below(random, 2),
        .key_bytes = keys[random_below(random, sizeof(keys))],
        .bytes = VIRTIO_CRYPTO_BLOCK *
                 (uint32_t)(1U + random_below(random, BYTES / VIRTIO_CRYPTO_BLOCK)),
        .from = (uint32_t)(random_below(random, 4) != 0 ? 8U * random_below(random, 4)
                                                        : random_below(random, 32)),
        .into = (uint32_t)(random_below(random, 4) != 0 ? 8U * random_below(random, 4)
                                                        : random_below(random, 32)),
        .in_place = random_below(random, 4) == 0,
        .cuts = random_next(random)};

    r.bytes = random_below(random, 2) != 0
                  ? r.bytes
                  : VIRTIO_CRYPTO_BLOCK + r.bytes % (64U * VIRTIO_CRYPTO_BLOCK);
    r.missing =
        random_below(random, 16) == 0 ? (uint32_t)random_below(random, VIRTIO_CRYPTO_BLOCK) : 0;
    fill(random, r.key, sizeof(r.key));
    fill(random, r.vector, sizeof(r.vector));
    return r;
}

static bool perform(struct engine *e, const struct request *r, uint64_t content)
{
    struct random random = random_from(content);
    uint64_t session = create(e, r);

    fill(&random, e->source, sizeof(e->source));
    memset(e->result, 0, sizeof(e->result));
    return session != 0 && crypt(e, r, session) && destroy(e, session);
}

static bool compare(struct random *random)
{
    struct request r = any_request(random);
    uint64_t content = random_next(random);
    bool performed = perform(&engines[0], &r, content) && perform(&engines[1], &r, content);

    return performed && engines[0].status == engines[1].status &&
           engines[0].status == (r.missing != 0 ? 1 : 0) &&
           memcmp(engines[0].source, engines[1].source, sizeof(engines[0].source)) == 0 &&
           memcmp(engines[0].result, engines[1].result, sizeof(engines[0].result)) == 0;
}

/* --- the device is not there for the guest --- */

static bool on_exception(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)cause;
    (void)stval;
    faulted = true;
    frame->sepc += trap_instruction_length(frame->sepc);
    return true;
}

static bool refused(unsigned int device, bool stores)
{
    volatile uint32_t *page = (volatile uint32_t *)(ACCEL_PAGES + device * ACCEL_PAGE);

    faulted = false;
    if (stores) {
        page[1] = 1;
    } else {
        (void)page[16];
    }
    return faulted;
}

static void touch(void)
{
    struct accel accel;
    bool loads = true, stores = true;

    trap_set_exception(on_exception);
    for (unsigned int i = 0; i < DEVICES; i++) {
        loads = refused(i, false) && loads;
        stores = refused(i, true) && stores;
    }
    print("crypto: load %s, store %s, device %s\n", loads ? "faults" : "WORKS",
          stores ? "faults" : "WORKS", accel_open(&accel, "aes128") != 0 ? "not found" : "FOUND");
}

static bool open_engine(struct engine *e, struct pci_bus *bus, unsigned int number)
{
    if (virtio_open(&e->device, bus, VIRTIO_CRYPTO, number, 0) != VIRTIO_OK ||
        virtio_add_queue(&e->device, VIRTIO_CRYPTO_DATA, &e->data, ENTRIES) != VIRTIO_OK ||
        virtio_add_queue(&e->device, VIRTIO_CRYPTO_CONTROL, &e->control, ENTRIES) != VIRTIO_OK) {
        return false;
    }
    virtio_start(&e->device);
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    uint64_t requests = fdt_bootarg_number(fdt, "requests", 200);
    struct random random = random_from(fdt_bootarg_number(fdt, "seed", 1));
    unsigned int done = 0, wrong = 0;
    struct pci_bus bus;

    (void)hart;
    uart_init();
    (void)timer_init();
    if (!pci_open(&bus, fdt) || !open_engine(&engines[0], &bus, 0) ||
        !open_engine(&engines[1], &bus, 1)) {
        print("crypto: expected two crypto devices\n");
        return 0;
    }
    if (fdt_bootarg_number(fdt, "touch", 0) != 0) {
        touch();
    }
    while (done < requests || requests == 0) {
        wrong += compare(&random) ? 0U : 1U;
        done++;
        if (done % REPORT_EVERY == 0) {
            print("crypto: %u requests, %u wrong\n", done, wrong);
        }
    }
    print("crypto: done, %u wrong of %u\n", wrong, done);
    return 0;
}
