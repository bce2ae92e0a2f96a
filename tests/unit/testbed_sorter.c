/* SPDX-License-Identifier: Apache-2.0 */
/* A model of the fabric's sorters (testbed_sorter.h). Owns their entries, which a boot does not
 * clear. */
#include "testbed_sorter.h"

#include <string.h>

#include "fabric_map.h"
#include "host.h"
#include "platform.h"

#define SORTERS 32U
#define DEPTH 256U
#define MAGIC 0x54534642U
#define BASE UINT64_C(0x18000000)

const struct platform_device platform_fabric = {BASE, FABRIC_SPAN};

struct entry {
    uint64_t key;
    uint32_t order;
    unsigned value;
};

struct model {
    struct entry entries[DEPTH]; /* sorted */
    unsigned count, status;
    uint32_t order;
};

enum status {
    DONE,
    FULL,
    DUPLICATE,
    ABSENT
};

static struct model sorters[SORTERS]; /* owner: this file */
struct testbed_fabric testbed_fabric;

void testbed_fabric_reset(void)
{
    testbed_fabric = (struct testbed_fabric){
        .magic = MAGIC, .sorters = SORTERS_A_CPU * SYSIMAGE_MAX_HARTS, .depth = SORTER_NODES};
}

static bool remove_value(struct model *s, unsigned value)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->entries[i].value == value) {
            s->count--;
            memmove(&s->entries[i], &s->entries[i + 1], (s->count - i) * sizeof(s->entries[0]));
            return true;
        }
    }
    return false;
}

static bool follows(const struct entry *a, const struct entry *b)
{
    return a->key > b->key || (a->key == b->key && (int32_t)(a->order - b->order) > 0);
}

static void put_entry(struct model *s, struct entry e)
{
    unsigned at;

    remove_value(s, e.value);
    if (s->count == testbed_fabric.depth) {
        s->status = FULL;
        return;
    }
    s->status = DONE;
    for (at = s->count++; at > 0 && follows(&s->entries[at - 1], &e); at--) {
        s->entries[at] = s->entries[at - 1];
    }
    s->entries[at] = e;
}

void testbed_sorter_put(unsigned sorter, uint64_t key, unsigned value)
{
    put_entry(&sorters[sorter], (struct entry){key, sorters[sorter].order, value});
}

void testbed_sorters_clear(void)
{
    memset(sorters, 0, sizeof(sorters));
}

unsigned testbed_sorter_count(unsigned sorter)
{
    return sorters[sorter].count;
}

static uint64_t read_sorter(const struct model *s, uint64_t offset)
{
    const struct entry none = {.key = UINT64_MAX, .value = 0xffffU},
                       *head = s->count != 0 ? s->entries : &none;

    switch (offset) {
    case FABRIC_SORTER_HEAD:
        return head->value | testbed_fabric.noise |
               (uint64_t)(s->count != 0) << FABRIC_SORTER_HEAD_VALID_LSB;
    case FABRIC_SORTER_HEAD_KEY:
        return head->key;
    case FABRIC_SORTER_STATUS:
        return s->status | (uint64_t)s->count << FABRIC_SORTER_STATUS_COUNT_LSB;
    case FABRIC_SORTER_ORDER:
        return s->order;
    default:
        return 0;
    }
}

static uint64_t fabric_read(uint64_t address, unsigned size)
{
    uint64_t offset = address - BASE;

    (void)size;
    testbed_fabric.reads++;
    if (offset == FABRIC_REGS_ID) {
        return testbed_fabric.magic;
    }
    if (offset == FABRIC_REGS_PARAMS) {
        return (uint64_t)testbed_fabric.depth << FABRIC_REGS_PARAMS_SORTER_DEPTH_LSB;
    }
    if (offset == FABRIC_REGS_SORTERS) {
        return testbed_fabric.sorters;
    }
    offset -= FABRIC_SORTERS;
    return read_sorter(&sorters[offset / FABRIC_SORTER_STRIDE % SORTERS],
                       offset % FABRIC_SORTER_STRIDE);
}

static void write_sorter(struct model *s, uint64_t offset, uint64_t value)
{
    if (offset == FABRIC_SORTER_ORDER) {
        s->order = (uint32_t)value;
    } else if (offset == FABRIC_SORTER_REMOVE && !testbed_fabric.sticky) {
        s->status = remove_value(s, value & 0xffffU) ? DONE : ABSENT;
    }
}

static void write_put(uint64_t offset, uint64_t key)
{
    struct model *s = &sorters[offset / FABRIC_SORT_PUT_STRIDE % SORTERS];
    uint64_t value = offset % FABRIC_SORT_PUT_STRIDE / FABRIC_SORT_PUT_VALUE_STRIDE;
    uint32_t delta = offset % FABRIC_SORT_PUT_VALUE_STRIDE / FABRIC_SORT_PUT_ORDER_STRIDE;

    put_entry(s, (struct entry){key, s->order + delta - (delta >= 16U ? 32U : 0), (unsigned)value});
}

static void fabric_write(uint64_t address, unsigned size, uint64_t value)
{
    uint64_t offset = address - BASE;

    (void)size;
    testbed_fabric.writes++;
    if (offset >= FABRIC_SORT_PUT) {
        write_put(offset - FABRIC_SORT_PUT, value);
    } else {
        offset -= FABRIC_SORTERS;
        write_sorter(&sorters[offset / FABRIC_SORTER_STRIDE % SORTERS],
                     offset % FABRIC_SORTER_STRIDE, value);
    }
}

/* The sorters keep what they hold from one boot to the next: the hypervisor has to empty them. */
static void __attribute__((constructor)) plug_in(void)
{
    testbed_fabric_reset();
    host_registers = (struct host_registers){fabric_read, fabric_write};
}

/* --- what a queue and its sorter have in common --- */

static const struct model *model_of(const struct sorter *q)
{
    return &sorters[((uint64_t)q->registers - BASE - FABRIC_SORTERS) / FABRIC_SORTER_STRIDE];
}

/* The sorter has the queue's nodes with their keys and orders. */
static const char *entry_violation(const struct sorter *q, const struct entry *e)
{
    const struct heap_node *node = e->value < SORTER_NODES ? q->nodes[e->value] : NULL;

    if (node == NULL || node->at != e->value + 1U) {
        return "a sorter has a value of no node";
    }
    return node->key != e->key || node->order != e->order
               ? "a sorter has another key or order than the node"
               : NULL;
}

const char *testbed_sorter_violation(const struct sorter *q)
{
    const struct model *s = model_of(q);
    const char *wrong =
        s->count != q->count ? "a sorter has another number of entries than its queue" : NULL;

    if (wrong == NULL && q->count != 0 && q->first != q->nodes[s->entries[0].value]) {
        wrong = "the first node is not that of the sorter";
    }
    for (unsigned i = 0; i < s->count && wrong == NULL; i++) {
        wrong = entry_violation(q, &s->entries[i]);
    }
    return wrong;
}
