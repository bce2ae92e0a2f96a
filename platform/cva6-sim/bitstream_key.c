/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of the tags of bitstreams. The hypervisor verifies tags with it, the image builder reads
 * it from this file and makes them. A DEVELOPMENT KEY, published with the source: replace it by 32
 * secret random bytes before you rely on tags (docs/accelerators.md).
 */
#include "platform.h"

/* clang-format off */
const uint8_t platform_bitstream_key[BITSTREAM_KEY_SIZE] = {
    0xd7, 0x6b, 0xeb, 0x56, 0x6b, 0x90, 0x21, 0x31,
    0x9f, 0x48, 0x63, 0xa2, 0xe6, 0xcc, 0x99, 0xc5,
    0xc4, 0x87, 0xde, 0xb3, 0x63, 0xe8, 0xdb, 0xc9,
    0xeb, 0x7b, 0xdb, 0x40, 0x88, 0x62, 0x44, 0x9d,
};
/* clang-format on */
