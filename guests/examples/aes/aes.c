/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Linux program: AES-CBC by a cipher of the kernel, through its socket family AF_ALG.
 *
 *      aes encrypt|decrypt CIPHER KEY VECTOR     copies the standard input, encrypted or decrypted,
 * to the standard output
 *
 * CIPHER is a name or a driver in /proc/crypto: virtio_crypto_aes_cbc is that of virtio-crypto,
 * cbc(aes-generic) that of the kernel. KEY, of 16, 24 or 32 bytes, and VECTOR, the initialization
 * vector, of 16 bytes, are hexadecimal. The input has a whole number of blocks of 16 bytes. Exit
 * status 0; 1 for an error, with a message.
 */
#include <stdbool.h>
#include <string.h>

#include "linux.h"

#define SOCKET 198L
#define BIND 200L
#define ACCEPT 202L
#define SETSOCKOPT 208L
#define SENDMSG 211L

#define AF_ALG 38
#define SOCK_SEQPACKET 5L
#define SOL_ALG 279
#define ALG_SET_KEY 1
#define ALG_SET_IV 2
#define ALG_SET_OP 3
#define BLOCK 16U
#define KEY_MAX 32U
#define CHUNK 16384U

/* As <linux/if_alg.h> defines it. */
struct sockaddr_alg {
    uint16_t family;
    char type[14];
    uint32_t feature, mask;
    char name[64];
};

/* As <linux/socket.h> defines them. */
struct iovec {
    void *base;
    size_t size;
};

struct msghdr {
    void *name;
    uint64_t name_size;
    struct iovec *parts;
    size_t count;
    void *control;
    size_t control_size;
    uint64_t flags;
};

struct cmsghdr {
    size_t size;
    int32_t level, type;
};

/* What is set for each piece of data: the operation, and the initialization vector. */
struct settings {
    struct cmsghdr operation_head;
    uint32_t operation, padding;
    struct cmsghdr vector_head;
    uint32_t vector_size;
    uint8_t vector[BLOCK];
    uint32_t padding2;
};

_Noreturn void main(int count, char **words);

static long must(long result, const char *why)
{
    if (result < 0) {
        linux_fail("aes", why);
    }
    return result;
}

static long digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number of bytes, at most `most`, that the hexadecimal text stands for. */
static size_t parse(const char *text, uint8_t *bytes, size_t most)
{
    size_t size = strlen(text) / 2U;

    if (size > most || strlen(text) % 2U != 0) {
        linux_fail("aes", "expected a key of 16, 24 or 32 bytes and a vector of 16 bytes");
    }
    for (size_t i = 0; i < size; i++) {
        long high = must(digit(text[2U * i]), "expected hexadecimal digits");

        bytes[i] =
            (uint8_t)(high << 4 | must(digit(text[2U * i + 1U]), "expected hexadecimal digits"));
    }
    return size;
}

static long open_cipher(const char *name, const uint8_t *key, size_t key_size)
{
    struct sockaddr_alg address = {.family = AF_ALG, .type = "skcipher"};
    long file = must(linux_call(SOCKET, AF_ALG, SOCK_SEQPACKET, 0),
                     "this kernel has no AF_ALG: is the module loaded?");
    const long arguments[6] = {file, SOL_ALG, ALG_SET_KEY, (long)(uintptr_t)key, (long)key_size};

    if (strlen(name) >= sizeof(address.name)) {
        linux_fail("aes", "the cipher's name is too long");
    }
    memcpy(address.name, name, strlen(name));
    (void)must(linux_call(BIND, file, (long)(uintptr_t)&address, sizeof(address)),
               "the kernel has no such cipher");
    (void)must(linux_call6(SETSOCKOPT, arguments), "the cipher refuses the key");
    return must(linux_call(ACCEPT, file, 0, 0), "cannot use the cipher");
}

static void crypt(long cipher, const struct settings *settings, char *data, size_t size)
{
    struct settings control = *settings;
    struct iovec part = {data, size};
    struct msghdr message = {
        .parts = &part, .count = 1, .control = &control, .control_size = sizeof(control)};

    if (must(linux_call(SENDMSG, cipher, (long)(uintptr_t)&message, 0),
             "the cipher refuses the data") != (long)size ||
        must(linux_read(cipher, data, size), "the cipher fails") != (long)size) {
        linux_fail("aes", "the cipher does a part of the data");
    }
}

/* Reads up to CHUNK bytes, fewer at the end of the input. */
static size_t read_chunk(char *chunk)
{
    size_t size = 0;
    long more = 1;

    while (size < CHUNK && more > 0) {
        more = must(linux_read(0, chunk + size, CHUNK - size), "cannot read");
        size += (size_t)more;
    }
    return size;
}

/* The last encrypted block of a piece is the vector of the next one. */
static void copy(long cipher, struct settings *settings)
{
    static char chunk[CHUNK];
    size_t size = read_chunk(chunk);

    while (size > 0) {
        uint8_t last[BLOCK];
        bool encrypts = settings->operation != 0;

        if (size % BLOCK != 0) {
            linux_fail("aes", "expected a whole number of blocks of 16 bytes");
        }
        memcpy(last, chunk + size - BLOCK, BLOCK);
        crypt(cipher, settings, chunk, size);
        memcpy(settings->vector, encrypts ? chunk + size - BLOCK : (char *)last, BLOCK);
        linux_put(1, chunk, size);
        size = read_chunk(chunk);
    }
}

_Noreturn void main(int count, char **words)
{
    struct settings settings = {
        .operation_head = {sizeof(struct cmsghdr) + sizeof(uint32_t), SOL_ALG, ALG_SET_OP},
        .vector_head = {sizeof(struct cmsghdr) + sizeof(uint32_t) + BLOCK, SOL_ALG, ALG_SET_IV},
        .vector_size = BLOCK,
    };
    uint8_t key[KEY_MAX];
    size_t key_size;

    if (count != 5 || (strcmp(words[1], "encrypt") != 0 && strcmp(words[1], "decrypt") != 0)) {
        linux_fail("aes", "expected: aes encrypt|decrypt CIPHER KEY VECTOR");
    }
    settings.operation = strcmp(words[1], "encrypt") == 0 ? 1U : 0;
    key_size = parse(words[3], key, sizeof(key));
    if (parse(words[4], settings.vector, BLOCK) != BLOCK) {
        linux_fail("aes", "expected a vector of 16 bytes");
    }
    copy(open_cipher(words[2], key, key_size), &settings);
    linux_exit(0);
}
