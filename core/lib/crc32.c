/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 (IEEE 802.3, as zlib's) of the system image's header and tables, for sysimage.c at boot.
 * Pure: the result depends on the bytes alone. */
#include "lib.h"

/* Four bits per step: a table of 64 bytes is enough for a few KiB checked once. */
static const uint32_t crc_table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
};

uint32_t crc32(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t crc = ~0U;

    while (n-- > 0) {
        crc ^= *p++;
        crc = (crc >> 4) ^ crc_table[crc & 15U];
        crc = (crc >> 4) ^ crc_table[crc & 15U];
    }
    return ~crc;
}
