/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of the tags of bitstreams. The hypervisor verifies tags with it, the image builder reads
 * it from this file and makes them. A DEVELOPMENT KEY, published with the source: replace it by 32
 * secret random bytes before you rely on tags (docs/accelerators.md).
 */
#include "platform.h"

/* clang-format off */
const uint8_t platform_bitstream_key[BITSTREAM_KEY_SIZE] = {
    0x5b, 0x9d, 0x15, 0x04, 0x4e, 0x96, 0x9b, 0xd9,
    0x0f, 0x08, 0x7b, 0x5e, 0xf7, 0xe3, 0x2e, 0xae,
    0x04, 0x56, 0xce, 0xa2, 0x13, 0x57, 0xa0, 0xe1,
    0x52, 0x4c, 0x5e, 0x7c, 0x2b, 0xcb, 0xa3, 0xbc,
};
/* clang-format on */
