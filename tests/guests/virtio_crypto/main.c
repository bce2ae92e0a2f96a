/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load of a virtio-crypto for measurements, polled. The guest encrypts and decrypts a buffer,
 * prints the instructions that it took for
 * each block of 16 bytes, those of the hypervisor included, and then decrypts without end. Boot
 * arguments:
 *   key=n      bits of the key: 128, 192 or 256 (default)
 *   requests=n decryptions, and then the guest ends
 *   aligned=1  all buffers are aligned, so that a unit of the fabric can use them; else the
 *              encrypted data are at an odd address
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "virtio.h"
#include "virtio_crypto.h"

#define ENTRIES 8U
#define BYTES 16384U
#define WAIT_MS 10000U

int main(unsigned long hart, const void *fdt);

static struct virtio_device device;
static struct virtqueue data, control;
static uint8_t plain[BYTES] __attribute__((aligned(8))),
    encrypted[BYTES + 1U] __attribute__((aligned(8))), decrypted[BYTES] __attribute__((aligned(8)));

/* Gives the buffer to the device and waits for it. */
static bool finish(struct virtqueue *queue, const struct virtqueue_part *parts, unsigned int count)
{
    uint32_t bytes;

    if (virtqueue_add(queue, parts, count) < 0) {
        return false;
    }
    virtqueue_notify(queue);
    return virtio_wait(&device, queue, WAIT_MS) == VIRTIO_OK && virtqueue_take(queue, &bytes) >= 0;
}

/* The number of a session with a key of this many bytes; 0: the device refuses it. */
static uint64_t create(uint32_t direction, uint32_t key_bytes)
{
    static struct virtio_crypto_creation request;
    static struct virtio_crypto_session answer;
    struct virtqueue_part parts[] = {
        {&request, (uint32_t)(sizeof(request) - sizeof(request.key)) + key_bytes, false},
        {&answer, sizeof(answer), true}};

    request = (struct virtio_crypto_creation){.opcode = VIRTIO_CRYPTO_CREATE,
                                              .algorithm = VIRTIO_CRYPTO_AES_CBC,
                                              .key_bytes = key_bytes,
                                              .direction = 1U + direction,
                                              .type = VIRTIO_CRYPTO_CIPHER};
    memset(request.key, 0x5a, key_bytes);
    answer.status = ~0U;
    return finish(&control, parts, 2) && answer.status == 0 ? answer.number : 0;
}

static bool crypt(uint32_t opcode, uint64_t session, uint8_t *from, uint8_t *to)
{
    static struct virtio_crypto_operation request;
    static volatile uint8_t status;
    struct virtqueue_part parts[] = {{&request, sizeof(request), false},
                                     {from, BYTES, false},
                                     {to, BYTES, true},
                                     {(void *)(uintptr_t)&status, sizeof(status), true}};

    request = (struct virtio_crypto_operation){.opcode = opcode,
                                               .session = session,
                                               .vector_bytes = VIRTIO_CRYPTO_BLOCK,
                                               .source_bytes = BYTES,
                                               .result_bytes = BYTES,
                                               .type = VIRTIO_CRYPTO_CIPHER};
    status = 0xff;
    return finish(&data, parts, 4) && status == 0;
}

/* The same with a count of instructions. */
static bool measure(const char *what, uint32_t opcode, uint64_t session, uint8_t *from, uint8_t *to)
{
    bool done = crypt(opcode, session, from, to); /* the key is expanded */
    uint64_t before = machine_instructions();

    done = done && crypt(opcode, session, from, to);
    print("virtio_crypto: %lu instructions to %s a block\n",
          (unsigned long)((machine_instructions() - before) / (BYTES / VIRTIO_CRYPTO_BLOCK)), what);
    return done;
}

static bool decrypt_all(uint64_t session, uint8_t *from, uint64_t requests)
{
    bool works = true;

    for (uint64_t left = requests; works && left > 0; left--) {
        works = crypt(VIRTIO_CRYPTO_DECRYPT, session, from, decrypted);
    }
    return works;
}

static bool open_device(const void *fdt)
{
    struct pci_bus bus;

    if (!pci_open(&bus, fdt) || virtio_open(&device, &bus, VIRTIO_CRYPTO, 0, 0) != VIRTIO_OK ||
        virtio_add_queue(&device, VIRTIO_CRYPTO_DATA, &data, ENTRIES) != VIRTIO_OK ||
        virtio_add_queue(&device, VIRTIO_CRYPTO_CONTROL, &control, ENTRIES) != VIRTIO_OK) {
        return false;
    }
    virtio_start(&device);
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    uint32_t key_bytes = (uint32_t)fdt_bootarg_number(fdt, "key", 256) / 8U;
    uint8_t *between = encrypted + (fdt_bootarg_number(fdt, "aligned", 0) != 0 ? 0 : 1);
    uint64_t there, back;
    bool works;

    (void)hart;
    uart_init();
    (void)timer_init();
    if (key_bytes > 32U || !open_device(fdt)) {
        print("virtio_crypto: expected a crypto device, and key=128, 192 or 256\n");
        return 0;
    }
    for (unsigned int i = 0; i < BYTES; i++) {
        plain[i] = (uint8_t)(i * i >> 3);
    }
    there = create(VIRTIO_CRYPTO_ENCRYPT, key_bytes);
    back = create(VIRTIO_CRYPTO_DECRYPT, key_bytes);
    works = measure("encrypt", VIRTIO_CRYPTO_ENCRYPT, there, plain, between) &&
            measure("decrypt", VIRTIO_CRYPTO_DECRYPT, back, between, decrypted) &&
            memcmp(plain, decrypted, BYTES) == 0;
    print("virtio_crypto: %s\n", works ? "flood begins" : "FAILED");
    works = works && decrypt_all(back, between, fdt_bootarg_number(fdt, "requests", UINT64_MAX));
    print("virtio_crypto: %s\n", works ? "done" : "FAILED");
    return 0;
}
