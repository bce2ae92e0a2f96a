/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the firmware's device tree with the board: UART, interrupt controller, RAM, time base,
 * harts. At boot only, on the boot CPU, so nothing is locked. The architecture's part
 * (arch/<isa>/fwtree) reports what is found. */
#include "fdt.h"
#include "fwtree.h"

#define DEPTH 6U /* deeper nodes are ignored */
#define NO_NUMBER (~UINT32_C(0))

/* An open node. */
struct node {
    unsigned address_cells, size_cells; /* of its children's reg */
    bool disabled, cpu, memory, uart, irqchip;
    struct fdt_item reg;
    uint32_t irq, shift, width, sources; /* NO_NUMBER: not given */
};

/* What is known when a part of the tree has been read. */
struct reader {
    struct fwtree_board board; /* the names, and which devices are the board's */
    struct node nodes[DEPTH];
    unsigned depth; /* number of open nodes */
    /* What was found: */
    struct node uart, irqchip; /* the board's, else the first */
    uint64_t uart_base, irqchip_base;
    /* the board's RAM is there up to this address; the memory's last known end */
    uint64_t ram_at, ram_end;
    uint64_t timebase_hz; /* 0: not given */
    uint32_t harts;
};

/* --- properties --- */

static uint32_t first_cell(const struct fdt_item *p)
{
    return p->length >= 4U ? (uint32_t)fdt_number(p->value, 1) : NO_NUMBER;
}

static bool is_compatible(const struct fdt_item *p, const char *const *names)
{
    return fdt_list_contains(p, names[0]) || fdt_list_contains(p, names[1]);
}

static void take_compatible(struct reader *r, struct node *node, const struct fdt_item *p)
{
    node->uart = is_compatible(p, r->board.uart.compatible);
    node->irqchip = is_compatible(p, r->board.irqchip.compatible);
}

static void take_device_type(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->cpu = fdt_list_contains(p, "cpu");
    node->memory = fdt_list_contains(p, "memory");
}

static void take_status(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->disabled = !fdt_list_contains(p, "okay") && !fdt_list_contains(p, "ok");
}

static void take_reg(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->reg = *p;
}

static void take_address_cells(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->address_cells = first_cell(p);
}

static void take_size_cells(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->size_cells = first_cell(p);
}

static void take_interrupts(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->irq = first_cell(p);
}

/* The controller precedes the source. */
static void take_extended(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->irq = p->length >= 8U ? (uint32_t)fdt_number(p->value + 4, 1) : NO_NUMBER;
}

static void take_shift(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->shift = first_cell(p);
}

static void take_width(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)r;
    node->width = first_cell(p);
}

static void take_timebase(struct reader *r, struct node *node, const struct fdt_item *p)
{
    (void)node;
    if (r->timebase_hz == 0 && (p->length == 4U || p->length == 8U)) {
        r->timebase_hz = fdt_number(p->value, p->length / 4U);
    }
}

static void take_property(struct reader *r, struct node *node, const struct fdt_item *p)
{
    static const struct {
        const char *name;
        void (*take)(struct reader *r, struct node *node, const struct fdt_item *p);
    } known[] = {
        {"compatible", take_compatible},
        {"device_type", take_device_type},
        {"status", take_status},
        {"reg", take_reg},
        {"#address-cells", take_address_cells},
        {"#size-cells", take_size_cells},
        {"interrupts", take_interrupts},
        {"interrupts-extended", take_extended},
        {"reg-shift", take_shift},
        {"reg-io-width", take_width},
        {"timebase-frequency", take_timebase},
    };

    for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
        if (fdt_equal(p->name, known[i].name)) {
            known[i].take(r, node, p);
        }
    }
    if (fdt_equal(p->name, r->board.irqchip.count)) {
        node->sources = first_cell(p);
    }
}

/* --- nodes --- */

/* Range number `i` of the node's reg. False if there is none. */
static bool range_of(const struct node *node, const struct node *parent, uint32_t i, uint64_t *base,
                     uint64_t *size)
{
    unsigned cells = parent->address_cells, all = cells + parent->size_cells;

    if (cells < 1U || cells > 2U || parent->size_cells > 2U || node->reg.length / (4U * all) <= i) {
        return false;
    }
    *base = fdt_number(node->reg.value + 4U * all * i, cells);
    *size = fdt_number(node->reg.value + 4U * (all * i + cells), parent->size_cells);
    return true;
}

/* Keeps a device if it is the first of its kind, or the board's. */
static void end_device(struct node *kept, uint64_t *kept_base, const struct node *node,
                       uint64_t base, uint64_t wanted)
{
    if (kept->reg.value == NULL || (base == wanted && *kept_base != wanted)) {
        *kept = *node;
        *kept_base = base;
    }
}

/* Adjacent ranges in ascending order count as one. */
static void end_memory(struct reader *r, uint64_t base, uint64_t size)
{
    if (base <= r->ram_at && size > r->ram_at - base) {
        r->ram_at = base + size < base ? ~UINT64_C(0) : base + size;
    }
    r->ram_end = base + size;
}

static void end_node(struct reader *r, const struct node *node, const struct node *parent)
{
    uint64_t base, size;

    r->harts += node->cpu && !node->disabled ? 1U : 0;
    for (uint32_t i = 0; node->memory && !node->disabled && range_of(node, parent, i, &base, &size);
         i++) {
        end_memory(r, base, size);
    }
    if (node->uart && range_of(node, parent, 0, &base, &size)) {
        end_device(&r->uart, &r->uart_base, node, base, r->board.uart.base);
    }
    if (node->irqchip && range_of(node, parent, 0, &base, &size)) {
        end_device(&r->irqchip, &r->irqchip_base, node, base, r->board.irqchip.base);
    }
}

static void read_item(struct reader *r, const struct fdt_item *item)
{
    bool shallow = r->depth > 0 && r->depth <= DEPTH;

    if (item->kind == FDT_NODE) {
        r->depth++;
        if (r->depth <= DEPTH) {
            r->nodes[r->depth - 1U] = (struct node){.address_cells = 2,
                                                    .size_cells = 1,
                                                    .irq = NO_NUMBER,
                                                    .width = NO_NUMBER,
                                                    .sources = NO_NUMBER};
        }
    } else if (item->kind == FDT_PROPERTY && shallow) {
        take_property(r, &r->nodes[r->depth - 1U], item);
    } else if (item->kind == FDT_NODE_END) {
        if (shallow && r->depth >= 2U) {
            end_node(r, &r->nodes[r->depth - 1U], &r->nodes[r->depth - 2U]);
        }
        r->depth -= r->depth > 0 ? 1U : 0;
    }
}

/* --- comparison --- */

/* Differences so far; the list is the caller's. */
struct findings {
    struct fwtree_finding *list;
    unsigned count;
};

static void expect(struct findings *f, bool same, struct fwtree_finding finding)
{
    if (!same) {
        f->list[f->count++] = finding;
    }
}

static void compare_uart(const struct reader *r, const struct fwtree_board *b, struct findings *f)
{
    const struct node *uart = &r->uart;
    uint64_t stride = uart->shift < 32U ? UINT64_C(1) << uart->shift : 0;

    expect(f, r->uart_base == b->uart.base,
           (struct fwtree_finding){"the UART's address", r->uart_base, b->uart.base, true, true,
                                   true});
    expect(f, uart->irq == NO_NUMBER || uart->irq == b->uart.irq,
           (struct fwtree_finding){"the UART's interrupt", uart->irq, b->uart.irq, false, true,
                                   false});
    expect(f, stride == b->uart.stride,
           (struct fwtree_finding){"bytes between the UART's registers", stride, b->uart.stride,
                                   false, true, true});
    expect(f, uart->width == NO_NUMBER || uart->width == b->uart.width,
           (struct fwtree_finding){"bytes of an access to the UART", uart->width, b->uart.width,
                                   false, true, true});
}

static void compare_irqchip(const struct reader *r, const struct fwtree_board *b,
                            struct findings *f)
{
    uint32_t sources = r->irqchip.sources;

    expect(f, r->irqchip_base == b->irqchip.base,
           (struct fwtree_finding){"the interrupt controller's address", r->irqchip_base,
                                   b->irqchip.base, true, true, false});
    expect(f, sources == NO_NUMBER || sources >= b->irqchip.sources,
           (struct fwtree_finding){"the interrupt controller's sources", sources,
                                   b->irqchip.sources, false, true, false});
}

static struct reader found; /* owner: this file; at boot only, and too large for a stack */

void fwtree_read(const uint8_t *tree, uint32_t size, const struct fwtree_board *board)
{
    struct fdt t;
    struct fdt_item item;

    found = (struct reader){.board = *board, .ram_at = board->ram};
    fdt_open(&t, tree, size);
    while (fdt_next(&t, &item)) {
        read_item(&found, &item);
    }
}

unsigned fwtree_compare(const struct fwtree_board *board, struct fwtree_finding *findings)
{
    const struct reader *r = &found;
    struct findings f = {findings, 0};

    if (r->uart.reg.value != NULL) {
        compare_uart(r, board, &f);
    }
    if (r->irqchip.reg.value != NULL) {
        compare_irqchip(r, board, &f);
    }
    expect(&f, r->ram_end == 0 || r->ram_at >= board->ram_end,
           (struct fwtree_finding){"the end of the RAM",
                                   r->ram_at > board->ram ? r->ram_at : r->ram_end, board->ram_end,
                                   true, true, false});
    expect(
        &f, r->harts == 0 || r->harts >= board->harts,
        (struct fwtree_finding){"the number of harts", r->harts, board->harts, false, true, false});
    expect(&f, r->timebase_hz == 0 || r->timebase_hz == board->timebase_hz,
           (struct fwtree_finding){"the timebase in Hz", r->timebase_hz, board->timebase_hz, false,
                                   false, false});
    return f.count;
}
