/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of the tags of bitstreams. The hypervisor verifies tags with it, the image builder reads
 * it from this file and makes them. A DEVELOPMENT KEY, published with the source: replace it by 32
 * secret random bytes before you rely on tags (docs/accelerators.md).
 */
#include "platform.h"

/* clang-format off */
const uint8_t platform_bitstream_key[BITSTREAM_KEY_SIZE] = {
    0x8d, 0x97, 0x49, 0x1f, 0xc9, 0x45, 0x98, 0x4a,
    0x27, 0xe0, 0x10, 0x3e, 0xa4, 0xa7, 0xfb, 0x6c,
    0x8f, 0x47, 0xb2, 0xe4, 0x3d, 0xef, 0x1c, 0x73,
    0xed, 0xe9, 0xfd, 0xe5, 0xc3, 0xa4, 0xbe, 0xd2,
};
/* clang-format on */
