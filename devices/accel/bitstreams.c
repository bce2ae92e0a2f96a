/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the bitstreams of the image at boot, before a word of them can reach the ICAP
 * (docs/accelerators.md). A bitstream is used as often as the system wants after one check:
 * the image is in memory of the hypervisor, which no guest and no device of a guest can write.
 *
 * A bitstream is followed by its tag: BLAKE2b-256 of all its bytes with the board's key. The tag is
 * verified first. The other checks do not trust its author either: an authentic bitstream could be
 * one for another region or task, or a malformed one.
 */
#include "accel.h"

#include "blake2b.h"
#include "console.h"
#include "lib.h"
#include "platform.h"
#include "system.h"

#define TAG_SIZE 32U      /* bytes */
#define MAGIC 0x53494d42U /* "SIMB" */
#define HEADER_WORDS 4U   /* MAGIC, place, words of the body, CRC-32 */
#define OVERHEAD_WORDS 5U /* with the CRC-32 of the body. The ICAP verifies both. */
#define PACKET_MARK 0xc5U /* in the first byte of a packet's first word */
#define PACKET_WORDS 2U   /* of a packet before the words that its second word counts */
#define LEAST_BODY 4U     /* words: a packet with a word of data */
#define FRAME_WORDS 101U  /* of a frame of configuration memory */
#define TABLE_WRONG "the image has a bitstream for a device or a region that does not exist"

static struct accel_finding found(const char *what, ulong word)
{
    return (struct accel_finding){what, word};
}

static struct accel_finding check_place(const struct accel_image_bitstream *b)
{
    const uint64_t total = hyp.image->total_size;

    if (b->offset % 8U != 0 || b->size % 8U != 0 ||
        b->size < (OVERHEAD_WORDS + LEAST_BODY) * sizeof(uint32_t)) {
        return found("its offset or size is wrong", 0);
    }
    if (b->offset > total || (uint64_t)b->size + TAG_SIZE > total - b->offset) {
        return found("it is outside of the image", 0);
    }
    return found(NULL, 0);
}

/* All bytes are compared, so that the time does not tell how many of them are right. */
static struct accel_finding check_tag(const uint32_t *words, uint32_t size)
{
    const uint8_t *given = (const uint8_t *)words + size;
    uint8_t tag[TAG_SIZE], different = 0;

    blake2b(tag, sizeof(tag), platform_bitstream_key, BITSTREAM_KEY_SIZE, words, size);
    for (unsigned i = 0; i < TAG_SIZE; i++) {
        different |= tag[i] ^ given[i];
    }
    return found(different == 0 ? NULL : "its tag is not that of its bytes with the board's key",
                 size / sizeof(uint32_t));
}

static struct accel_finding check_header(const uint32_t *words, uint32_t size, uint32_t region,
                                         uint32_t task)
{
    if (words[0] != MAGIC) {
        return found("its header does not begin with SIMB", 0);
    }
    if (words[1] >> 24 != region) {
        return found("its header names another region", 1);
    }
    if ((words[1] >> 16 & 0xffU) != task || (words[1] & 0xffffU) != 0) {
        return found("its header names another task, or has bits that have to be 0", 1);
    }
    return found(words[2] == size / sizeof(uint32_t) - OVERHEAD_WORDS
                     ? NULL
                     : "its header gives another length",
                 2);
}

/* A packet of the simulation's ICAP: its mark, region, task, and 8 zero bits, of which one would
 * let the ICAP take a word in two cycles; the number of the words that follow; the address of its
 * first frame; the data of this and the next frames. `left`: words to the end of the body. */
static struct accel_finding check_packet(const uint32_t *words, ulong at, ulong left,
                                         uint32_t first, uint32_t region)
{
    if (words[at] != first) {
        return found("a packet has another mark, region or task, or bits that have to be 0", at);
    }
    if (left < LEAST_BODY || words[at + 1U] < LEAST_BODY - PACKET_WORDS ||
        words[at + 1U] > left - PACKET_WORDS) {
        return found("a packet has a wrong length", at + 1U);
    }
    if (!accel_frames_belong(region, words[at + 2U],
                             (words[at + 1U] - 1U + FRAME_WORDS - 1U) / FRAME_WORDS)) {
        return found("a packet writes frames outside of the region", at + 2U);
    }
    return found(NULL, 0);
}

static struct accel_finding check_body(const uint32_t *words, uint32_t region, uint32_t task)
{
    const ulong end = HEADER_WORDS + (ulong)words[2];
    struct accel_finding wrong = found(NULL, 0);

    if (accels.image->idcode != 0) {
        return accel_check_series7(words, HEADER_WORDS, end, region);
    }
    for (ulong at = HEADER_WORDS; at < end && wrong.what == NULL;
         at += PACKET_WORDS + (ulong)words[at + 1U]) {
        wrong =
            check_packet(words, at, end - at, PACKET_MARK << 24 | region << 16 | task << 8, region);
    }
    return wrong;
}

static struct accel_finding check_stream(const struct accel_image_bitstream *b, uint32_t task)
{
    const uint32_t *words = sysimage_at(hyp.image, b->offset);
    struct accel_finding wrong = check_place(b);

    if (wrong.what == NULL) {
        wrong = check_tag(words, b->size);
    }
    if (wrong.what == NULL) {
        wrong = check_header(words, b->size, b->region, task);
    }
    return wrong.what == NULL ? check_body(words, b->region, task) : wrong;
}

const char *accel_check_streams(void)
{
    const struct accel_image_bitstream *b = accel_table(accels.image->bitstreams_offset);
    const struct accel_image_device *devices = accel_table(accels.image->devices_offset);

    for (unsigned i = 0; i < accels.image->nbitstreams; i++, b++) {
        struct accel_finding wrong;

        if (b->device >= accels.image->ndevices || b->region >= accels.nregions) {
            return TABLE_WRONG;
        }
        wrong = check_stream(b, devices[b->device].task);
        if (wrong.what == NULL) {
            accels.streams[b->device][b->region] = b;
            accels.usable[b->device] |= (uint8_t)(1U << b->region);
        } else {
            console_log("error: the bitstream of %s for region %u is refused at boot: %s, at byte "
                        "%lu of %lu",
                        devices[b->device].name, b->region, wrong.what,
                        wrong.word * sizeof(uint32_t), (ulong)b->size);
        }
    }
    return NULL;
}
