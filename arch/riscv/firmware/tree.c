/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds /reserved-memory with the firmware's RAM to the device tree (Devicetree Specification
 * 0.4, 3.5 and chapter 5). The hypervisor does not use that RAM, but a kernel that runs in its
 * place does. The tree grows by TREE_GROWTH bytes where it is.
 */
#include "firmware.h"

#define FDT_MAGIC 0xd00dfeedU
#define FDT_VERSION 17U
#define FDT_BEGIN_NODE 1U
#define FDT_END_NODE 2U
#define FDT_PROP 3U
#define FDT_TAIL 8U /* of the structure block: the end of the root, and of the block */

/* Devicetree Specification 0.4, section 5.2: big-endian, offsets and sizes in bytes. */
struct header {
    uint32_t magic, size, structure, strings, reservations, version, compatible, boot_hart,
        strings_size, structure_size;
};

static const char names[] = "#address-cells\0#size-cells\0ranges\0reg\0no-map";
enum {
    NAME_ADDRESS_CELLS = 0,
    NAME_SIZE_CELLS = 15,
    NAME_RANGES = 27,
    NAME_REG = 34,
    NAME_NO_MAP = 38
};
_Static_assert(sizeof(names) == 45, "the offsets above");

#define NODE_WORDS 34U
#define NODE_BYTES (4U * NODE_WORDS)
#define TREE_GROWTH (NODE_BYTES + sizeof(names))

static uint32_t swap(uint32_t word)
{
    return word << 24 | (word & 0xff00U) << 8 | (word >> 8 & 0xff00U) | word >> 24;
}

static uint32_t *put_node(uint32_t *to, const char *name)
{
    unsigned bytes = 0;

    *to++ = swap(FDT_BEGIN_NODE);
    do {
        if (bytes % 4U == 0) {
            to[bytes / 4U] = 0;
        }
        ((char *)to)[bytes] = name[bytes];
    } while (name[bytes++] != '\0');
    return to + (bytes + 3U) / 4U;
}

/* `name`: its offset in the block of strings. */
static uint32_t *put_property(uint32_t *to, uint32_t name, const uint32_t *cells, unsigned count)
{
    *to++ = swap(FDT_PROP);
    *to++ = swap(4U * count);
    *to++ = swap(name);
    for (unsigned n = 0; n < count; n++) {
        *to++ = swap(cells[n]);
    }
    return to;
}

/* `first`: the offset of `names` in the block of strings. Writes NODE_WORDS words. */
static void put_reservation(uint32_t *to, uint32_t first)
{
    static const uint32_t two[] = {2}, region[] = {0, FIRMWARE_BASE, 0, FIRMWARE_SIZE};

    to = put_node(to, "reserved-memory");
    to = put_property(to, first + NAME_ADDRESS_CELLS, two, 1);
    to = put_property(to, first + NAME_SIZE_CELLS, two, 1);
    to = put_property(to, first + NAME_RANGES, NULL, 0);
    to = put_node(to, "firmware@80000000");
    to = put_property(to, first + NAME_REG, region, 4);
    to = put_property(to, first + NAME_NO_MAP, NULL, 0);
    *to++ = swap(FDT_END_NODE);
    *to = swap(FDT_END_NODE);
}

/* Moves bytes to higher addresses. */
static void move_up(char *from, ulong size, ulong distance)
{
    while (size > 0) {
        size--;
        from[size + distance] = from[size];
    }
}

/* Whether it is a tree in RAM, with its blocks in the usual order. */
static bool is_tree(ulong tree)
{
    const struct header *header = (const struct header *)tree;

    return tree >= FIRMWARE_BASE + FIRMWARE_SIZE && tree % 8U == 0 &&
           swap(header->magic) == FDT_MAGIC && swap(header->version) >= FDT_VERSION &&
           swap(header->reservations) < swap(header->structure) &&
           swap(header->strings) >= swap(header->structure) + swap(header->structure_size);
}

/* Whether the structure block has the word. */
static bool has_word(const struct header *header, const char *word)
{
    const char *block = (const char *)header + swap(header->structure);
    unsigned matched = 0;

    for (uint32_t n = 0; n < swap(header->structure_size) && word[matched] != '\0'; n++) {
        matched = block[n] == word[matched] ? matched + 1U : block[n] == word[0];
    }
    return word[matched] == '\0';
}

/* A tree that already has the node is left as it is: this does not merge nodes. */
void tree_reserve(ulong tree)
{
    struct header *header = (struct header *)tree;
    uint32_t at, end;

    if (!is_tree(tree) || has_word(header, "reserved-memory")) {
        return;
    }
    at = swap(header->structure) + swap(header->structure_size) - FDT_TAIL;
    end = swap(header->strings) + swap(header->strings_size);
    move_up((char *)tree + at, end - at, NODE_BYTES);
    put_reservation((uint32_t *)(tree + at), swap(header->strings_size));
    for (unsigned n = 0; n < sizeof(names); n++) {
        ((char *)tree)[end + NODE_BYTES + n] = names[n];
    }
    header->size = swap(swap(header->size) + TREE_GROWTH);
    header->strings = swap(swap(header->strings) + NODE_BYTES);
    header->structure_size = swap(swap(header->structure_size) + NODE_BYTES);
    header->strings_size = swap(swap(header->strings_size) + (uint32_t)sizeof(names));
}
