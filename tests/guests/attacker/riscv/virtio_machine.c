/* SPDX-License-Identifier: Apache-2.0 */
/* A function of the machine's PCI bus, passed through: the guest writes to every register of its
 * configuration space. */
#include "attacker_virtio.h"

#define CONFIG (ECAM + SLOT_MACHINE * 0x8000UL)
#define CONFIG_BYTES 0x1000U
#define BAR_OF_REGISTERS 4U
#define ID 0x10441af4U /* virtio-rng */
#define COMMAND_MASK 0x406U
#define CAPABILITY_VENDOR 9U
#define RNG_QUEUES 1U
#define REGISTERS_QUEUES 18U /* num_queues */

struct header {
    uint32_t id, class, bars[6], subsystem, capabilities, interrupt;
};

static volatile uint32_t *config(uint64_t offset)
{
    return (volatile uint32_t *)(CONFIG + offset);
}

static struct header read_header(void)
{
    struct header h = {.id = *config(0), .class = *config(8), .subsystem = *config(0x2c)};

    for (unsigned i = 0; i < 6; i++) {
        h.bars[i] = *config(0x10 + 4U * i);
    }
    h.capabilities = *config(0x34);
    h.interrupt = *config(0x3c);
    return h;
}

static bool same(const struct header *a, const struct header *b)
{
    const uint32_t *one = (const uint32_t *)a, *other = (const uint32_t *)b;
    bool equal = true;

    for (size_t i = 0; i < sizeof(*a) / sizeof(*one); i++) {
        equal = equal && one[i] == other[i];
    }
    return equal;
}

/* Only vendors' capabilities are shown: neither MSI nor a reset, which would lose the BARs. */
static void judge_capabilities(struct verdict *v)
{
    unsigned at = *config(0x34) & 0xffU, count = 0;

    for (; at != 0 && count < 64; count++) {
        uint32_t head = *config(at);

        judge(v, (head & 0xffU) == CAPABILITY_VENDOR, "capability 0x%x at 0x%x", head & 0xffU, at);
        at = head >> 8 & 0xfcU;
    }
    judge(v, count > 0 && count < 64, "%u capabilities", count);
}

/* The device's registers are where they were. */
static void judge_registers(struct verdict *v, uint32_t written, uint64_t offset)
{
    uint64_t registers = *config(0x10 + 4U * BAR_OF_REGISTERS) & ~15U;
    struct caught queues =
        try_word(SUPERVISOR, 0x00055503U /* lhu a0, (a0) */, registers + REGISTERS_QUEUES, 0);
    uint32_t count = 0;

    if (queues.cause == CAUSE_NONE) {
        count = *(volatile uint16_t *)(registers + REGISTERS_QUEUES);
    }
    judge(v, count == RNG_QUEUES, "after 0x%x at 0x%lx: cause %ld, %u queues", written, offset,
          (long)queues.cause, count);
}

/* A BAR shows its size after a write of all ones, until its address is written. */
static void try_write(struct verdict *v, const struct header *before, uint64_t offset,
                      uint32_t value)
{
    struct header after;

    *config(offset) = value;
    *(volatile uint16_t *)(CONFIG + offset) = (uint16_t)value;
    *(volatile uint8_t *)(CONFIG + offset + 1U) = (uint8_t)value;
    if (offset >= 0x10 && offset < 0x28) {
        *config(offset) = before->bars[(offset - 0x10) / 4U];
    }
    after = read_header();
    judge(v, same(before, &after), "0x%x at 0x%lx changes the header", value, offset);
    judge_registers(v, value, offset);
}

void virtio_machine(struct verdict *v, uint64_t arg)
{
    static const uint32_t values[] = {0,          ALL & UINT32_MAX, 0x42000000,
                                      0x80000000, 0x8000,           0x12345678};
    const struct header before = read_header();

    (void)arg;
    judge(v, before.id == ID, "the function is 0x%x", before.id);
    judge(v, *config(0x100) == 0, "extended capabilities: 0x%x", *config(0x100));
    judge_capabilities(v);
    for (uint64_t offset = 0; offset < CONFIG_BYTES; offset += offset < 0x100 ? 4 : 0x3c) {
        for (size_t i = 0; i < LENGTH_OF(values); i++) {
            try_write(v, &before, offset, values[i]);
        }
    }
    *(volatile uint16_t *)config(4) = 0xffff;
    judge(v, (*config(4) & 0xffffU) == COMMAND_MASK, "command 0x%x", *config(4) & 0xffffU);
    *(volatile uint16_t *)config(4) = 0;
    judge_capabilities(v);
    judge_devices(v);
}
