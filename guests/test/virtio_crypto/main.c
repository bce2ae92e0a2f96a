/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load of a virtio-crypto for measurements, polled. The guest encrypts and decrypts a buffer, prints the instructions that it took for
 * each block of 16 bytes, those of the hypervisor included, and then decrypts without end. Boot arguments:
 *   key=n      bits of the key: 128, 192 or 256 (default)
 *   requests=n decryptions, and then the guest ends
 *   aligned=1  all buffers are aligned, so that a unit of the fabric can use them; else the encrypted data are at an odd address
 */
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "virtio.h"

#define DATA 0U
#define CONTROL 1U
#define ENTRIES 8U
#define CREATE 2U
#define ENCRYPT 0U
#define DECRYPT 1U
#define AES_CBC 3U
#define CIPHER 1U
#define BLOCK 16U
#define BYTES 16384U
#define WAIT_MS 10000U

/* struct virtio_crypto_op_ctrl_req, and the key. */
struct creation {
    uint32_t opcode, service, flag, queue, algorithm, key_bytes, direction, padding;
    uint8_t reserved[32];
    uint32_t type, padding2;
    uint8_t key[32];
};

struct answer {
    uint64_t session;
    uint32_t status, padding;
};

/* struct virtio_crypto_op_data_req, and the initialization vector. */
struct operation {
    uint32_t opcode, algorithm;
    uint64_t session;
    uint32_t flag, padding, vector_bytes, source_bytes, result_bytes, padding2;
    uint8_t reserved[24];
    uint32_t type, padding3;
    uint8_t vector[BLOCK];
};

int main(unsigned long hart, const void *fdt);

static struct virtio_device device;
static struct virtqueue data, control;
static uint8_t plain[BYTES] __attribute__((aligned(8))), encrypted[BYTES + 1U] __attribute__((aligned(8))),
    decrypted[BYTES] __attribute__((aligned(8)));

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
    static struct creation request;
    static struct answer answer;
    struct virtqueue_part parts[] = {{&request, (uint32_t)(sizeof(request) - sizeof(request.key)) + key_bytes, false},
                                     {&answer, sizeof(answer), true}};

    request = (struct creation){
        .opcode = CREATE, .algorithm = AES_CBC, .key_bytes = key_bytes, .direction = 1U + direction, .type = CIPHER};
    memset(request.key, 0x5a, key_bytes);
    answer.status = ~0U;
    return finish(&control, parts, 2) && answer.status == 0 ? answer.session : 0;
}

static bool crypt(uint32_t opcode, uint64_t session, uint8_t *from, uint8_t *to)
{
    static struct operation request;
    static volatile uint8_t status;
    struct virtqueue_part parts[] = {{&request, sizeof(request), false},
                                     {from, BYTES, false},
                                     {to, BYTES, true},
                                     {(void *)(uintptr_t)&status, sizeof(status), true}};

    request = (struct operation){.opcode = opcode,
                                 .session = session,
                                 .vector_bytes = BLOCK,
                                 .source_bytes = BYTES,
                                 .result_bytes = BYTES,
                                 .type = CIPHER};
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
          (unsigned long)((machine_instructions() - before) / (BYTES / BLOCK)), what);
    return done;
}

static bool decrypt_all(uint64_t session, uint8_t *from, uint64_t requests)
{
    bool works = true;

    for (uint64_t left = requests; works && left > 0; left--) {
        works = crypt(DECRYPT, session, from, decrypted);
    }
    return works;
}

static bool open_device(const void *fdt)
{
    struct pci_bus bus;

    if (!pci_open(&bus, fdt) || virtio_open(&device, &bus, VIRTIO_CRYPTO, 0, 0) != VIRTIO_OK ||
        virtio_add_queue(&device, DATA, &data, ENTRIES) != VIRTIO_OK ||
        virtio_add_queue(&device, CONTROL, &control, ENTRIES) != VIRTIO_OK) {
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
    there = create(ENCRYPT, key_bytes);
    back = create(DECRYPT, key_bytes);
    works = measure("encrypt", ENCRYPT, there, plain, between) &&
            measure("decrypt", DECRYPT, back, between, decrypted) && memcmp(plain, decrypted, BYTES) == 0;
    print("virtio_crypto: %s\n", works ? "flood begins" : "FAILED");
    works = works && decrypt_all(back, between, fdt_bootarg_number(fdt, "requests", UINT64_MAX));
    print("virtio_crypto: %s\n", works ? "done" : "FAILED");
    return 0;
}
