/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the body of a partial bitstream for a 7-series device (UG470, chapter 5): follows its
 * packets as the device does, and lets it write frames of its region only, and no register that a
 * partial bitstream does not need. The device itself compares the checksums in the body.
 */
#include "accel.h"

#define FRAME_WORDS 101U
#define SYNC 0xaa995566U
#define NOP 0x20000000U
#define DUMMY 0xffffffffU
#define RESERVED 0x07fc1800U /* bits of a packet of type 1 that are 0 */
/* of IDCODE: the bits that differ between revisions of the silicon */
#define REVISION 0xf0000000U
#define WRITE 2U /* operation of a packet */
#define NO_REGISTER 32U

enum {
    REG_CRC = 0,
    REG_FAR = 1,
    REG_FDRI = 2,
    REG_CMD = 4,
    REG_IDCODE = 12
};
enum {
    CMD_WCFG = 1,
    CMD_DESYNC = 13
};

/* NULL, WCFG, LFRM, START, RCRC, GRESTORE and DESYNC. Others stop the device or make it load
 * another configuration. */
#define COMMANDS (1U << 0 | 1U << 1 | 1U << 3 | 1U << 5 | 1U << 7 | 1U << 10 | 1U << 13)

/* CTL0, MASK, COR0, COR1 and CTL1: settings that Vivado writes. */
#define SETTINGS (1U << 5 | 1U << 6 | 1U << 9 | 1U << 14 | 1U << 24)

/* The state of the device, as far as it matters; of one check, at boot. */
struct device {
    uint32_t region; /* the only one whose frames the bitstream may write */
    /* register of a write without words, which a packet of type 2 may continue, or NO_REGISTER */
    uint32_t before;
    uint32_t command, address; /* last values of CMD and FAR */
    /* IDCODE was written; FAR was, and no frames since; frames were; the last command was DESYNC */
    bool identified, addressed, configured, desynced;
};

/* The addresses of a device's frames have gaps that are not known here: a write begins where one of
 * Vivado's does. */
static bool block_has(const struct accel_image_frames *block, uint32_t first, ulong count)
{
    const uint32_t offset = first - block->first;

    if (accels.image->idcode != 0) {
        return offset == 0 && count <= block->count;
    }
    return offset < block->count && count <= block->count - offset;
}

bool accel_frames_belong(uint32_t region, uint32_t first, ulong count)
{
    const struct accel_image_frames *blocks = accel_table(accels.image->frames_offset);

    for (unsigned i = 0; i < accels.image->nframes; i++) {
        if (blocks[i].region == region && block_has(&blocks[i], first, count)) {
            return true;
        }
    }
    return false;
}

static const char *take_frames(struct device *d, ulong count)
{
    if (!d->identified || d->command != CMD_WCFG || !d->addressed) {
        return "it writes frames without IDCODE, WCFG and a frame address before them";
    }
    if (count % FRAME_WORDS != 0 ||
        !accel_frames_belong(d->region, d->address, count / FRAME_WORDS)) {
        return "it writes frames that are not the region's";
    }
    d->addressed = false; /* the address of further frames is not known here */
    d->configured = true;
    return NULL;
}

static const char *take_command(struct device *d, uint32_t command)
{
    d->command = command;
    d->desynced = command == CMD_DESYNC;
    if (command >= 32U || (COMMANDS >> command & 1U) == 0) {
        return "it has a command that a partial bitstream does not need";
    }
    return NULL;
}

/* A write of one word to another register than FDRI. */
static const char *take_word(struct device *d, uint32_t reg, uint32_t value)
{
    switch (reg) {
    case REG_CRC:
        return NULL;
    case REG_FAR:
        d->address = value;
        d->addressed = true;
        return NULL;
    case REG_CMD:
        return take_command(d, value);
    case REG_IDCODE:
        d->identified = true;
        return ((value ^ accels.image->idcode) & ~REVISION) != 0 ? "it is for another device"
                                                                 : NULL;
    default:
        return (SETTINGS >> reg & 1U) == 0
                   ? "it writes a register that a partial bitstream does not need"
                   : NULL;
    }
}

static const char *take_write(struct device *d, uint32_t reg, const uint32_t *data, ulong count)
{
    if (reg == REG_FDRI) {
        return take_frames(d, count);
    }
    return count == 1U ? take_word(d, reg, data[0])
                       : "it writes several words to a register that takes one";
}

/* The position of the first packet, or `end`. Words before the sync word do not matter to the
 * device. */
static ulong first_packet(const uint32_t *words, ulong at, ulong end)
{
    while (at < end &&
           (words[at] == DUMMY || words[at] == 0x000000bbU || words[at] == 0x11220044U)) {
        at++;
    }
    return at < end && words[at] == SYNC ? at + 1U : end;
}

/* Register and number of words of a write; false if the word begins none. Type 2 continues a write
 * of type 1 without words, `before`. */
static bool read_head(uint32_t head, uint32_t before, uint32_t *reg, ulong *count)
{
    if ((head >> 27 & 3U) != WRITE) {
        return false;
    }
    if (head >> 29 == 1U && (head & RESERVED) == 0) {
        *reg = head >> 13 & 0x1fU;
        *count = head & 0x7ffU;
        return true;
    }
    *reg = before;
    *count = head & 0x7ffffffU;
    return head >> 29 == 2U && before != NO_REGISTER;
}

/* A write, of which at most `left` words are there; sets its number of words after the first. */
static const char *take_packet(struct device *d, const uint32_t *words, ulong left, ulong *count)
{
    uint32_t reg;

    if (!read_head(words[0], d->before, &reg, count)) {
        return "it has a word that is no packet that writes";
    }
    if (*count >= left) {
        return "a packet is longer than the rest";
    }
    d->before = *count == 0 ? reg : NO_REGISTER;
    return *count != 0 ? take_write(d, reg, words + 1, *count) : NULL;
}

/* The packet at words[0], as take_packet(). */
static const char *take(struct device *d, const uint32_t *words, ulong left, ulong *count)
{
    *count = 0;
    if (words[0] == NOP) {
        d->before = NO_REGISTER;
        return NULL;
    }
    if (d->desynced) { /* the device looks for the next sync word, not for packets */
        return words[0] == DUMMY ? NULL : "it has words after DESYNC, which ends a bitstream";
    }
    return take_packet(d, words, left, count);
}

struct accel_finding accel_check_series7(const uint32_t *words, ulong at, ulong end,
                                         uint32_t region)
{
    struct device device = {.region = region, .before = NO_REGISTER};
    ulong count;

    for (at = first_packet(words, at, end); at < end; at += 1U + count) {
        const char *wrong = take(&device, &words[at], end - at, &count);

        if (wrong != NULL) {
            return (struct accel_finding){wrong, at};
        }
    }
    return (struct accel_finding){
        device.configured && device.desynced ? NULL : "it writes no frames, or has no end", end};
}
