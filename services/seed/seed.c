/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's seed: takes it from the firmware's device tree at boot, and derives the seeds of
 * VMs and the keys of generators from it by ChaCha20. Owns the seed; constant after boot. */
#include "chacha.h"
#include "component.h"
#include "guestmem.h"
#include "lib.h"
#include "seed_parts.h"
#include "sysimage.h"
#include "vm.h"

_Static_assert(CHACHA_DOUBLE_ROUNDS == COMPONENT_LOAD_STEPS, "a double round a step");

#define KEY_WORDS (SYSIMAGE_SEED_SIZE / 4U)

static struct {
    uint32_t key[KEY_WORDS]; /* little-endian, as all CPUs that have a seed */
    bool there;
} machine_seed; /* owner: seed_take(); constant after boot */

static uint32_t states[SYSIMAGE_MAX_VMS][CHACHA_STATE_WORDS]; /* of the CPU that loads the VM */

/* --- the device tree --- */

#define HEADER_SIZE 40U
#define HEADER_STRUCT 8U
#define HEADER_STRINGS 12U

enum {
    TOKEN_BEGIN_NODE = 1,
    TOKEN_END_NODE = 2,
    TOKEN_PROP = 3,
    TOKEN_NOP = 4
};

/* A position in the firmware's tree. */
struct tree {
    uint8_t *bytes;
    uint32_t size;    /* bytes */
    uint32_t at;      /* offset of the next token; at most `size` */
    uint32_t strings; /* offset of the property names */
    uint32_t depth;   /* number of open nodes */
    bool chosen;      /* one of them is /chosen */
};

/* The big-endian word at `at`; its four bytes exist. */
static uint32_t word_at(const struct tree *t, uint32_t at)
{
    const uint8_t *p = t->bytes + at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool next_word(struct tree *t, uint32_t *word)
{
    if (t->size - t->at < 4U) {
        return false;
    }
    *word = word_at(t, t->at);
    t->at += 4U;
    return true;
}

/* Skips `count` bytes and padding. */
static bool skip(struct tree *t, uint32_t count)
{
    if (count > t->size - t->at || -count % 4U > t->size - t->at - count) {
        return false;
    }
    t->at += count + -count % 4U;
    return true;
}

/* Whether the string at `at`, which may be any offset, is `text`. */
static bool is_text(const struct tree *t, uint32_t at, const char *text)
{
    for (; at < t->size && t->bytes[at] == (uint8_t)*text; at++, text++) {
        if (*text == '\0') {
            return true;
        }
    }
    return false;
}

static bool enter_node(struct tree *t)
{
    uint32_t length = 0;

    t->depth++;
    t->chosen |= t->depth == 2U && is_text(t, t->at, "chosen");
    while (length < t->size - t->at && t->bytes[t->at + length] != 0) {
        length++;
    }
    return length < t->size - t->at && skip(t, length + 1U);
}

/* Enters a property. True, with its value's length, if it is rng-seed of /chosen. Otherwise skips
 * it; *whole: it is complete. */
static bool enter_property(struct tree *t, uint32_t *length, bool *whole)
{
    uint32_t name;

    *whole = next_word(t, length) && next_word(t, &name) && *length <= t->size - t->at;
    if (*whole && t->chosen && t->depth == 2U && name < t->size - t->strings &&
        is_text(t, t->strings + name, "rng-seed")) {
        return true;
    }
    *whole = *whole && skip(t, *length);
    return false;
}

/* Handles one token. True: the property is found, and `at` is its value. *more: another token
 * follows. */
static bool next_token(struct tree *t, uint32_t *length, bool *more)
{
    uint32_t token;

    *more = next_word(t, &token);
    if (*more && token == TOKEN_PROP) {
        return enter_property(t, length, more);
    }
    if (*more && token == TOKEN_BEGIN_NODE) {
        *more = enter_node(t);
    } else if (*more && token == TOKEN_END_NODE && t->depth > 1U) {
        t->depth--;
        t->chosen &= t->depth >= 2U;
    } else {
        *more = *more && token == TOKEN_NOP;
    }
    return false;
}

uint8_t *seed_find(uint8_t *tree, uint32_t size, uint32_t *length)
{
    struct tree t = {.bytes = tree, .size = size};
    bool more = size >= HEADER_SIZE;

    if (more) {
        t.at = word_at(&t, HEADER_STRUCT);
        t.strings = word_at(&t, HEADER_STRINGS);
        more = t.at <= size && t.strings <= size;
    }
    while (more) {
        if (next_token(&t, length, &more)) {
            return tree + t.at;
        }
    }
    return NULL;
}

bool seed_take(uint8_t *tree, uint32_t size)
{
    uint32_t length;
    uint8_t *seed = seed_find(tree, size, &length);

    if (seed == NULL || length < SYSIMAGE_SEED_SIZE) {
        return false;
    }
    memcpy(machine_seed.key, seed, SYSIMAGE_SEED_SIZE);
    memset(seed, 0, length);
    machine_seed.there = true;
    return true;
}

/* --- seeds of VMs --- */

void seed_step(const struct vm *vm, unsigned step)
{
    uint32_t *state = states[vm->id];

    if (!machine_seed.there || vm->config->seed == 0) {
        return;
    }
    if (step == 0) {
        chacha_begin(state, machine_seed.key, (const uint32_t[4]){vm->id, vm->starts});
    }
    chacha_double_round(state);
    if (step == CHACHA_DOUBLE_ROUNDS - 1U) {
        chacha_hash_end(state);
        /* checked by sysimage_check() */
        (void)guestmem_write(vm, (gpa_t)vm->config->seed, state, SYSIMAGE_SEED_SIZE);
        /* it would reveal the machine's seed */
        memset(state, 0, sizeof(states[0]));
    }
}

/* --- keys of components --- */

bool seed_key(uint32_t *key, uint32_t number)
{
    uint32_t state[CHACHA_STATE_WORDS];

    if (!machine_seed.there) {
        return false;
    }
    /* 1: no input of a VM's seed */
    chacha_begin(state, machine_seed.key, (const uint32_t[4]){number, 0, 0, 1U});
    for (unsigned i = 0; i < CHACHA_DOUBLE_ROUNDS; i++) {
        chacha_double_round(state);
    }
    chacha_hash_end(state);
    memcpy(key, state, SYSIMAGE_SEED_SIZE);
    memset(state, 0, sizeof(state));
    return true;
}
