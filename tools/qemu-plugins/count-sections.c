/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plugin that measures the hypervisor's non-preemptible sections in
 * instructions: from each trap into the hypervisor to its return to a guest, or to a polling point.
 * Interrupts are never enabled inside the hypervisor, so these are the times with interrupts off.
 * Calls of the firmware in a section count, too.
 *
 * The plugin also measures how long each lock is held, from the read that finds the lock free to
 * the release. Neither figure includes waits for locks, because these depend on how the emulator
 * interleaves the harts: with -icount a waiting hart spins to the end of its time slice. To get the
 * time with interrupts off on several harts, add the longest holding time of the other harts for
 * each lock that a section takes.
 *
 * Arguments: places=FILE, out=FILE. Each line of PLACES has a letter, an address in hexadecimal,
 * and a name or "-".
 *   T, E     start and end of the hypervisor's text; its first instruction is its entry
 *   S        start of a section (trap entry)
 *   R        a section ends after this instruction (sret, wfi)
 *   C        call of the firmware
 *   P        polling point: a section ends, the next one starts
 *   F name   start of a function
 *   L name   start of a function that classifies sections
 *   H n      locks from this address on, up to that of the next such line, have at least height n;
 *            ascending
 *
 * At QEMU's end OUT holds one JSON object:
 *   {"beyond": name, "sections": [{"kind": [names in the order of the file], "most": n, "count": n,
 *   "firmware": n,
 *                   "by_locks": [[[locks taken, by height], n]], "functions": {name: n}}],
 *    "locks": [{"address": n, "most": n, "firmware": n, "calls": n, "count": n, "height": n,
 *    "inner": [by height],
 *               "functions": {name: n}}]}
 * Of each kind of section: the instructions of the longest one and their distribution over
 * functions; by_locks: the longest one for each combination of numbers of locks taken. The height
 * of a lock is 1 more than that of
 * any lock that is taken under it; a section counts the height known when it takes the lock. Of
 * each lock: the longest critical section without the firmware's
 * instructions, the most instructions of the firmware in one, the number of calls of the
 * firmware, the most locks of each height taken in one, and the distribution of the longest one
 * over
 * functions, including waits for inner locks. "beyond" names a limit below that was too low, in
 * which case all figures are invalid, or is empty. A hart's boot, up to its first return to a guest
 * or its first sleep, does not count.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu-plugin.h"

#define MAX_CPUS 16U
#define MAX_PLACES 2048U
#define MAX_KINDS 1024U
#define MAX_LABELS 128U
#define LABEL_WORDS (MAX_LABELS / 64U)
#define MAX_PATHS 128U /* of a kind, by their numbers of locks */
#define MAX_NESTED 5U
#define MAX_HEIGHTS 6U /* HEIGHTS of tools/tessera/bench/sections.py */
#define MAX_RANGES 8U
#define MAX_LOCKS 512U /* a queue has one, and functions up to ten queues */
#define ROUND 8U       /* most instructions between two reads of a lock that is taken */
#define NAME 64U

/* spin_lock() (core/include/spinlock.h) takes its ticket by amoadd.w, which has no other use; the
 * number being served follows the tickets in memory. */
#define OWNER_OFFSET 4U
#define IS_TICKET(word) (((word) & 0xf800707fU) == 0x0000202fU)
#define IS_WORD_LOAD(word) (((word) & 0x707fU) == 0x2003U || ((word) & 0xffffe003U) == 0x4000U)
#define IS_WORD_STORE(word) (((word) & 0x707fU) == 0x2023U || ((word) & 0xffffe003U) == 0xc000U)

int qemu_plugin_version = PLUGIN_VERSION;

struct place {
    uint64_t address;
    unsigned function; /* into functions[] */
    unsigned label;    /* MAX_LABELS: none */
    char letter;
};

struct section {
    bool open;
    uint64_t length, firmware, labels[LABEL_WORDS];
    uint64_t waited;             /* for locks; counted in length, too */
    unsigned taken[MAX_HEIGHTS]; /* locks, by their height */
    uint32_t functions[MAX_PLACES];
};

/* The longest of all sections that take so many locks of each height. */
struct path {
    unsigned taken[MAX_HEIGHTS];
    uint64_t most;
};

struct kind {
    uint64_t labels[LABEL_WORDS], most, firmware, count;
    struct path paths[MAX_PATHS];
    unsigned path_count;
    uint32_t *functions;
};

/* A lock that a hart waits for or holds, and the hart's counters when it took the ticket or last
 * found the lock taken. */
struct held {
    uint64_t address, polled, waited, firmware, calls;
    unsigned inner[MAX_HEIGHTS];    /* locks taken under it, by their height */
    uint32_t functions[MAX_PLACES]; /* of the hart, at that moment */
};

/* The counters of a hart in the hypervisor and in the firmware, and its locks, the outermost
 * first. */
struct hart {
    uint64_t executed, firmware, waited;
    uint64_t calls; /* of the firmware */
    unsigned depth;
    bool booted;
    uint32_t functions[MAX_PLACES]; /* instructions in each function */
    struct held held[MAX_NESTED];
};

/* Its height is at least that of its range of addresses, and 1 more than that of any lock that is
 * taken under it. */
struct lock {
    uint64_t address, most, firmware, calls, count;
    unsigned height, inner[MAX_HEIGHTS];
    uint32_t functions[MAX_PLACES];
};

/* The least height of locks from `address` to the next range. */
struct range {
    uint64_t address;
    unsigned height;
};

static struct place places[MAX_PLACES]; /* sorted by address */
static struct range ranges[MAX_RANGES]; /* sorted by address */
static unsigned range_count;
static char functions[MAX_PLACES][NAME];
static unsigned place_count, function_count, label_count, kind_count;
static unsigned label_function[MAX_LABELS];
static bool too_many_labels; /* sections would be told apart by some of them only */
static struct section sections[MAX_CPUS];
static struct kind kinds[MAX_KINDS];
static struct hart harts[MAX_CPUS];
static struct lock locks[MAX_LOCKS];
static unsigned lock_count;
static uint64_t text_start, text_end;
static uintptr_t text_host; /* host address of the hypervisor's text in QEMU; 0: not known yet */
static const char *out_name;
static const char *beyond; /* a limit that was too low, or NULL */

/* Returns `count`, or `last` if `count` is out of bounds. */
static unsigned within(unsigned count, unsigned last, const char *what)
{
    if (count > last) {
        beyond = what;
        return last;
    }
    return count;
}

static struct kind *kind_of(const uint64_t labels[LABEL_WORDS])
{
    for (unsigned i = 0; i < kind_count; i++) {
        if (memcmp(kinds[i].labels, labels, sizeof(kinds[i].labels)) == 0) {
            return &kinds[i];
        }
    }
    kind_count = within(kind_count, MAX_KINDS - 1, "MAX_KINDS");
    memcpy(kinds[kind_count].labels, labels, sizeof(kinds[kind_count].labels));
    kinds[kind_count].functions = calloc(MAX_PLACES, sizeof(uint32_t));
    return &kinds[kind_count++];
}

static struct path *path_of(struct kind *kind, const unsigned taken[MAX_HEIGHTS])
{
    for (unsigned i = 0; i < kind->path_count; i++) {
        if (memcmp(kind->paths[i].taken, taken, sizeof(kind->paths[i].taken)) == 0) {
            return &kind->paths[i];
        }
    }
    kind->path_count = within(kind->path_count, MAX_PATHS - 1, "MAX_PATHS");
    memcpy(kind->paths[kind->path_count].taken, taken, sizeof(kind->paths[kind->path_count].taken));
    return &kind->paths[kind->path_count++];
}

static void section_end(struct section *s)
{
    struct kind *kind = kind_of(s->labels);
    struct path *path;

    s->open = false;
    if (!harts[s - sections].booted) {
        return;
    }
    path = path_of(kind, s->taken);
    s->length -= s->waited;
    kind->count++;
    path->most = s->length > path->most ? s->length : path->most;
    if (s->length > kind->most) {
        kind->most = s->length;
        kind->firmware = s->firmware;
        memcpy(kind->functions, s->functions, sizeof(s->functions));
    }
}

static void section_begin(struct section *s)
{
    memset(s, 0, sizeof(*s));
    s->open = true;
}

/* Handles the instruction at `place` before it is executed. */
static void arrive(struct section *s, const struct place *place)
{
    if (place->letter == 'P' && s->open) {
        section_end(s);
    }
    /* a polling point without an open section follows a wake-up */
    if (place->letter == 'P' || place->letter == 'S') {
        section_begin(s);
    }
    if (place->label != MAX_LABELS) {
        s->labels[place->label / 64U] |= UINT64_C(1) << place->label % 64U;
    }
}

/* Counts an instruction of the hypervisor. `data`: the last place at or before the instruction; bit
 * 0: exactly at it. */
static void execute(unsigned int cpu, void *data)
{
    struct section *s = &sections[cpu % MAX_CPUS];
    const struct place *place = (const struct place *)((uintptr_t)data & ~(uintptr_t)1);
    bool there = ((uintptr_t)data & 1) != 0;

    harts[cpu % MAX_CPUS].executed++;
    harts[cpu % MAX_CPUS].functions[place->function]++;
    harts[cpu % MAX_CPUS].calls += there && place->letter == 'C';
    if (there) {
        arrive(s, place);
    }
    if (!s->open) {
        return;
    }
    s->length++;
    s->functions[place->function]++;
    if (there && place->letter == 'R') {
        section_end(s);
        harts[cpu % MAX_CPUS].booted = true;
    }
}

static void execute_firmware(unsigned int cpu, void *data)
{
    struct section *s = &sections[cpu % MAX_CPUS];

    (void)data;
    harts[cpu % MAX_CPUS].executed++;
    harts[cpu % MAX_CPUS].firmware++;
    s->length += s->open;
    s->firmware += s->open;
}

static unsigned least_height(uint64_t address)
{
    unsigned height = 0;

    for (unsigned i = 0; i < range_count && ranges[i].address <= address; i++) {
        height = ranges[i].height;
    }
    return height;
}

static struct lock *lock_of(uint64_t address)
{
    for (unsigned i = 0; i < lock_count; i++) {
        if (locks[i].address == address) {
            return &locks[i];
        }
    }
    lock_count = within(lock_count, MAX_LOCKS - 1, "MAX_LOCKS");
    locks[lock_count].address = address;
    locks[lock_count].height = least_height(address);
    return &locks[lock_count++];
}

/* Returns whether the current instruction is already counted: QEMU may call twice for one that
 * loads and stores. */
static bool asked(const struct hart *hart)
{
    return hart->depth > 0 && hart->held[hart->depth - 1].polled == hart->executed;
}

static void ask(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct hart *hart = &harts[cpu % MAX_CPUS];
    unsigned height = lock_of(address)->height;

    (void)info;
    (void)data;
    if (asked(hart)) {
        return;
    }
    for (unsigned i = 0; i < hart->depth; i++) {
        struct lock *outer = lock_of(hart->held[i].address);

        hart->held[i].inner[height]++;
        outer->height = outer->height > height ? outer->height
                                               : within(height + 1, MAX_HEIGHTS - 1, "MAX_HEIGHTS");
    }
    if (within(hart->depth + 1, MAX_NESTED, "MAX_NESTED") > hart->depth) {
        struct held *held = &hart->held[hart->depth++];

        memset(held->inner, 0, sizeof(held->inner));
        held->address = address;
        held->polled = hart->executed;
        held->waited = hart->waited;
        held->firmware = hart->firmware;
        held->calls = hart->calls;
        memcpy(held->functions, hart->functions, sizeof(held->functions));
    }
    sections[cpu % MAX_CPUS].taken[height]++;
}

/* Counts a read of the number being served as a wait. The holder also reads it when it releases the
 * lock, so a critical section no longer than ROUND is not measured. A round does not include the
 * firmware's own interrupts. */
static void poll_lock(struct hart *hart, struct section *s, struct held *held)
{
    uint64_t since = hart->executed - held->polled - (hart->firmware - held->firmware);

    if (since <= ROUND) {
        hart->waited += since;
        s->waited += s->open ? since : 0;
        held->polled = hart->executed;
        held->waited = hart->waited;
        held->firmware = hart->firmware;
    }
}

static void release(const struct hart *hart, const struct held *held)
{
    static struct lock boot;
    struct lock *lock = hart->booted ? lock_of(held->address) : &boot;
    uint64_t firmware = hart->firmware - held->firmware;
    uint64_t length = hart->executed - held->polled - (hart->waited - held->waited) - firmware;

    lock->count++;
    lock->calls += hart->calls - held->calls;
    lock->firmware = firmware > lock->firmware ? firmware : lock->firmware;
    for (unsigned i = 0; i < MAX_HEIGHTS; i++) {
        lock->inner[i] = held->inner[i] > lock->inner[i] ? held->inner[i] : lock->inner[i];
    }
    if (length > lock->most) {
        lock->most = length;
        for (unsigned i = 0; i < function_count; i++) {
            lock->functions[i] = hart->functions[i] - held->functions[i];
        }
    }
}

/* Handles an access to the number being served: a read while waiting, or the store that releases
 * the lock. */
static void serve(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct hart *hart = &harts[cpu % MAX_CPUS];
    struct held *held = hart->depth > 0 ? &hart->held[hart->depth - 1] : NULL;

    (void)data;
    if (held == NULL || address != held->address + OWNER_OFFSET) {
        return;
    }
    if (qemu_plugin_mem_is_store(info)) {
        hart->depth--;
        release(hart, held);
    } else {
        poll_lock(hart, &sections[cpu % MAX_CPUS], held);
    }
}

/* Returns the last place at or before `address`. */
static const struct place *place_at(uint64_t address)
{
    unsigned low = 0, high = place_count;

    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;

        if (places[middle].address <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &places[low];
}

/* Registers callbacks for an instruction of the hypervisor that may take or release a lock. */
static void lock_translated(struct qemu_plugin_insn *instruction)
{
    uint32_t word = plugin_word(instruction);

    if (IS_TICKET(word)) {
        qemu_plugin_register_vcpu_mem_cb(instruction, ask, 0, PLUGIN_MEM_WRITES, NULL);
    } else if (IS_WORD_LOAD(word) || IS_WORD_STORE(word)) {
        qemu_plugin_register_vcpu_mem_cb(instruction, serve, 0, PLUGIN_MEM_ALL, NULL);
    }
}

/* Recognises the hypervisor's text by its host address in QEMU, because guests use the same virtual
 * addresses. */
static void instruction_translated(struct qemu_plugin_insn *instruction)
{
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    uintptr_t host = (uintptr_t)qemu_plugin_insn_haddr(instruction);
    const struct place *place;

    if (text_host == 0 && address == text_start) {
        text_host = host;
    }
    if (text_host == 0 || host - text_host != (uintptr_t)(address - text_start)) {
        return;
    }
    if (address >= text_start && address < text_end) {
        place = place_at(address);
        qemu_plugin_register_vcpu_insn_exec_cb(
            instruction, execute, 0, (void *)((uintptr_t)place | (place->address == address)));
        lock_translated(instruction);
    } else if (address < text_start) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, execute_firmware, 0, NULL);
    }
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        instruction_translated(qemu_plugin_tb_get_insn(block, i));
    }
}

static void write_functions(FILE *out, const uint32_t *counts)
{
    const char *comma = "";

    for (unsigned i = 0; i < function_count; i++) {
        if (counts[i] != 0) {
            fprintf(out, "%s\"%s\": %" PRIu32, comma, functions[i], counts[i]);
            comma = ", ";
        }
    }
}

static void write_heights(FILE *out, const unsigned counts[MAX_HEIGHTS])
{
    for (unsigned i = 0; i < MAX_HEIGHTS; i++) {
        fprintf(out, "%s%u", i == 0 ? "[" : ", ", counts[i]);
    }
    fprintf(out, "]");
}

static void write_by_locks(FILE *out, const struct kind *kind)
{
    for (unsigned i = 0; i < kind->path_count; i++) {
        fprintf(out, "%s[", i == 0 ? "" : ", ");
        write_heights(out, kind->paths[i].taken);
        fprintf(out, ", %" PRIu64 "]", kind->paths[i].most);
    }
}

static void write_lock(FILE *out, const struct lock *lock)
{
    fprintf(out,
            "{\"address\": %" PRIu64 ", \"most\": %" PRIu64 ", \"firmware\": %" PRIu64
            ", \"calls\": %" PRIu64 ", \"count\": %" PRIu64 ", \"height\": %u, \"inner\": ",
            lock->address, lock->most, lock->firmware, lock->calls, lock->count, lock->height);
    write_heights(out, lock->inner);
    fprintf(out, ", \"functions\": {");
    write_functions(out, lock->functions);
    fprintf(out, "}}");
}

static void write_kind(FILE *out, const struct kind *kind)
{
    const char *comma = "";

    fprintf(out, "{\"kind\": [");
    for (unsigned i = 0; i < label_count; i++) {
        if ((kind->labels[i / 64U] & UINT64_C(1) << i % 64U) != 0) {
            fprintf(out, "%s\"%s\"", comma, functions[label_function[i]]);
            comma = ", ";
        }
    }
    fprintf(out,
            "], \"most\": %" PRIu64 ", \"count\": %" PRIu64 ", \"firmware\": %" PRIu64
            ", \"by_locks\": [",
            kind->most, kind->count, kind->firmware);
    write_by_locks(out, kind);
    fprintf(out, "], \"functions\": {");
    write_functions(out, kind->functions);
    fprintf(out, "}}");
}

static void count_end(qemu_plugin_id_t id, void *data)
{
    FILE *out = fopen(out_name, "w");

    (void)id;
    (void)data;
    if (out == NULL) {
        fprintf(stderr, "count-sections: %s cannot be written\n", out_name);
        return;
    }
    fprintf(out, "{\"beyond\": \"%s\", \"sections\": [", beyond != NULL ? beyond : "");
    for (unsigned i = 0; i < kind_count; i++) {
        fprintf(out, "%s\n", i == 0 ? "" : ",");
        write_kind(out, &kinds[i]);
    }
    fprintf(out, "\n], \"locks\": [");
    for (unsigned i = 0; i < lock_count; i++) {
        fprintf(out, "%s\n", i == 0 ? "" : ",");
        write_lock(out, &locks[i]);
    }
    fprintf(out, "\n]}\n");
    fclose(out);
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct place *)a)->address, y = ((const struct place *)b)->address;

    return (x > y) - (x < y);
}

static void add_place(char letter, uint64_t address, const char *name)
{
    struct place *place = &places[place_count++];

    *place = (struct place){address, MAX_PLACES, MAX_LABELS, letter};
    if (letter != 'F' && letter != 'L') {
        return;
    }
    place->function = function_count;
    too_many_labels = too_many_labels || (letter == 'L' && label_count == MAX_LABELS);
    if (letter == 'L' && label_count < MAX_LABELS) {
        place->label = label_count;
        label_function[label_count++] = function_count;
    }
    snprintf(functions[function_count++], NAME, "%s", name);
}

/* Sorts the places; a place that is no function belongs to the preceding function. Two places with
 * one address are merged. */
static void sort_places(void)
{
    qsort(places, place_count, sizeof(places[0]), by_address);
    for (unsigned i = 1; i < place_count; i++) {
        struct place *place = &places[i];

        if (place->function == MAX_PLACES) {
            place->function = places[i - 1].function;
        }
        if (place->address == places[i - 1].address) {
            place->letter =
                place->letter == 'F' || place->letter == 'L' ? places[i - 1].letter : place->letter;
            place->label = place->label == MAX_LABELS ? places[i - 1].label : place->label;
        }
    }
}

static bool read_places(const char *name)
{
    FILE *file = fopen(name, "r");
    char letter, text[NAME];
    uint64_t address;

    if (file == NULL) {
        return false;
    }
    while (place_count < MAX_PLACES &&
           fscanf(file, " %c %" SCNx64 " %63s", &letter, &address, text) == 3) {
        if (letter == 'T') {
            text_start = address;
        } else if (letter == 'E') {
            text_end = address;
        } else if (letter == 'H') {
            range_count = within(range_count, MAX_RANGES - 1, "MAX_RANGES");
            ranges[range_count++] = (struct range){address, (unsigned)strtoul(text, NULL, 10)};
        } else {
            add_place(letter, address, text);
        }
    }
    fclose(file);
    sort_places();
    return place_count > 0 && place_count < MAX_PLACES && !too_many_labels;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    const char *places_name = "";

    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "places=", 7) == 0) {
            places_name = argv[i] + 7;
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            out_name = strdup(argv[i] + 4);
        }
    }
    if (out_name == NULL || !read_places(places_name)) {
        fprintf(stderr,
                "count-sections: expected places=FILE with valid lines, at most %u of them L, and "
                "out=FILE\n",
                MAX_LABELS);
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, count_end, NULL);
    return 0;
}
