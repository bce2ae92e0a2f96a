/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a virtio-crypto device (virtio 1.2, section 5.9) that encrypts and decrypts by AES in
 * CBC mode. */
#ifndef GUEST_VIRTIO_CRYPTO_H
#define GUEST_VIRTIO_CRYPTO_H

#include <stdint.h>

#define VIRTIO_CRYPTO_DATA 0U /* queues of a device with one data queue */
#define VIRTIO_CRYPTO_CONTROL 1U

#define VIRTIO_CRYPTO_ENCRYPT 0U /* opcodes of data requests */
#define VIRTIO_CRYPTO_DECRYPT 1U
#define VIRTIO_CRYPTO_CREATE 2U /* opcodes of control requests */
#define VIRTIO_CRYPTO_DESTROY 3U

#define VIRTIO_CRYPTO_AES_CBC 3U
#define VIRTIO_CRYPTO_CIPHER 1U
#define VIRTIO_CRYPTO_BLOCK 16U   /* bytes */
#define VIRTIO_CRYPTO_KEY_MAX 32U /* bytes */

/** Creates a session. The request ends with `key_bytes` bytes of the key. The answer is a struct
 * virtio_crypto_session. */
struct virtio_crypto_creation {
    uint32_t opcode, service, flag, queue, algorithm, key_bytes;
    uint32_t direction; /* 1: the session encrypts, 2: it decrypts */
    uint32_t padding;
    uint8_t reserved[32];
    uint32_t type, padding2;
    uint8_t key[VIRTIO_CRYPTO_KEY_MAX];
};

struct virtio_crypto_session {
    uint64_t number;
    uint32_t status, padding; /* status 0: the session is created */
};

/** Destroys a session. The answer is a byte, 0: done. */
struct virtio_crypto_destruction {
    uint32_t opcode, service, flag, queue;
    uint64_t session;
    uint8_t reserved[48];
};

/**
 * Encrypts or decrypts whole blocks. The source follows, then the buffers of the result, and a byte
 * for the status, 0: done. Source and result have the same size.
 */
struct virtio_crypto_operation {
    uint32_t opcode, algorithm;
    uint64_t session;
    uint32_t flag, padding, vector_bytes, source_bytes, result_bytes, padding2;
    uint8_t reserved[24];
    uint32_t type, padding3;
    uint8_t vector[VIRTIO_CRYPTO_BLOCK]; /* the initialization vector */
};

#endif
