/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-rng (virtio 1.2, section 5.4). Each device has a generator of its own, keyed from the
 * machine's seed at boot and kept over restarts of the VM: ChaCha20 whose first 32 bytes of each
 * block are the next key ("fast key erasure"), so earlier output cannot be computed from its state.
 */
#include "chacha.h"
#include "component.h"
#include "console.h"
#include "lib.h"
#include "virtio.h"

#define QUEUE_REQUESTS 0U
#define CLASS_OTHER 0xff0000U
#define KEY_WORDS (CHACHA_KEY_SIZE / 4U)
#define OUTPUT (4U * (CHACHA_STATE_WORDS - KEY_WORDS)) /* bytes of a block for the guest */

struct generator {
    /* Guarded by the lock of the queue: */
    uint32_t key[KEY_WORDS]; /* of the next block; each block replaces it */
    bool filling;            /* a request, which is still in the queue */
    uint32_t length;         /* bytes written to it */
    struct virtio_chain rest;
    unsigned rounds; /* double rounds of the next block that are done */
    uint32_t state[CHACHA_STATE_WORDS];
};

static const uint32_t no_input[4];

/* by number of the function; owner: this file */
static struct generator generators[VIRTIO_MAX_FUNCTIONS];

/* Without a seed there is no device: a guest must not take for random what is not. */
static const char *rng_boot(struct virtio_device *dev)
{
    struct generator *g = &generators[virtio_number(dev)];

    dev->data = g;
    return components_make_key(g->key, virtio_number(dev))
               ? NULL
               : "a virtio-rng without a seed of the machine (rng-seed in its device tree)";
}

/* Does a double round of the next block. */
static void generate(struct generator *g)
{
    if (g->rounds == 0) {
        chacha_begin(g->state, g->key, no_input);
    }
    chacha_double_round(g->state);
    g->rounds++;
}

static void forget_block(struct generator *g)
{
    g->rounds = 0;
    memset(g->state, 0, sizeof(g->state));
}

/* Takes the next key and OUTPUT bytes from the block. */
static void take_block(struct generator *g, uint32_t *output)
{
    uint32_t first[CHACHA_STATE_WORDS];

    chacha_begin(first, g->key, no_input);
    for (unsigned i = 0; i < CHACHA_STATE_WORDS; i++) {
        g->state[i] += first[i];
    }
    memcpy(g->key, g->state, sizeof(g->key));
    memcpy(output, g->state + KEY_WORDS, OUTPUT);
    memset(first, 0, sizeof(first));
    forget_block(g);
}

/* Does a part of a block, or fills at most OUTPUT bytes of the request with one. */
static enum virtio_found fill(struct generator *g)
{
    uint32_t output[OUTPUT / sizeof(uint32_t)], n;
    enum virtio_found found = virtio_chain_span(&g->rest);

    if (found != VIRTIO_SOME) {
        return found;
    }
    if (!g->rest.writable) {
        return VIRTIO_WRONG;
    }
    if (g->rounds < CHACHA_DOUBLE_ROUNDS) {
        generate(g);
        return VIRTIO_SOME;
    }
    n = virtio_min(g->rest.room, OUTPUT);
    take_block(g, output);
    found = virtio_chain_write(&g->rest, output, n);
    memset(output, 0, sizeof(output));
    g->length += n;
    return found;
}

static struct virtio_step rng_step(struct virtio_device *dev, struct virtq *q)
{
    struct generator *g = dev->data;
    enum virtio_found found;

    if (!g->filling) {
        found = virtq_first(dev, q, VIRTIO_QUEUE_SIZE, &g->rest);
        g->filling = true;
        g->length = 0;
    } else {
        found = fill(g);
    }
    if (found == VIRTIO_NONE) {
        g->filling = false;
        virtio_done(dev, q, g->rest.head, g->length);
    }
    return (struct virtio_step){.broken = found == VIRTIO_WRONG ? virtio_wrong(dev) : NULL};
}

static void rng_reset(struct virtio_device *dev)
{
    struct generator *g = dev->data;

    spin_lock(&dev->queues[QUEUE_REQUESTS].lock);
    g->filling = false;
    forget_block(g);
    spin_unlock(&dev->queues[QUEUE_REQUESTS].lock);
}

VIRTIO_CLASS(rng) = {
    .type = VIRTIO_IMAGE_ENTROPY,
    .queues = 1,
    .pci_class = CLASS_OTHER,
    .boot = rng_boot,
    .requests = 1U << QUEUE_REQUESTS,
    .step = rng_step,
    .reset = rng_reset,
};
