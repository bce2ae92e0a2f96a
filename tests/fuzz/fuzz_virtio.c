/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile drivers of PCI functions: any bytes in rings, descriptors and buffers of two VMs, any
 * access to the registers, restarts at any time. VM 1 serves a disk of VM 0. The hypervisor must
 * only write to the memory of these VMs and to the disk, each store must end, and a disk that is
 * reset must work.
 */
#include <string.h>

#include "disk_abi.h"
#include "fuzz.h"
#include "host.h"
#include "testbed_virtio.h"

#define VMS 3U /* the last one has no functions */
#define SLOTS 7U
#define QUEUES 6U
#define NET 0U /* slots */
#define SOCKET 1U
#define BLOCK 2U
#define CRYPTO 4U
#define CONSOLE 5U /* with two ports */
#define STORAGE 6U /* the disk of VM 0 that VM 1 serves, and its server */
#define ENTRIES 8U
#define STEPS_MAX 300U
/* of a queue: descriptors, driver's area at 0x400, device's at 0x800, buffers at 0xc00 */
#define AREA 0x1000U
/* 8 requests to encrypt 64 KiB, 5 steps for 16 bytes, an interrupt at every second one: 81,920 */
#define STORES_MAX 90000U
#define DISK 8192U
#define SERVED 0x20000U /* bytes of the served disk: several pieces */
#define SUMMED 65536U
#define BUFFERS (TESTBED_GPA + 0x100000U) /* for data of disks, and of the server */
#define BUFFER 0x9000U

static uint64_t area(unsigned slot, unsigned queue)
{
    return TESTBED_GPA + 0x10000U + (slot * QUEUES + queue) * AREA;
}

static uint64_t bar(unsigned slot)
{
    return VIRTIO_BARS + slot * VIRTIO_BAR_SIZE;
}

/* A store ends: the number of interrupts that delay it is bounded by its work. */
static void store(unsigned vm, uint64_t gpa, unsigned width_log2, uint64_t value)
{
    unsigned again = testbed_virtio_store(vm, gpa, width_log2, value, 2);

    fuzz_check(again != ~0U && again > STORES_MAX ? "a store does not end" : NULL);
}

/* An address in an area, the shared memory, at the end of the memory, or anywhere. */
static uint64_t address(struct input *in)
{
    static const uint64_t near[] = {TESTBED_GPA,
                                    TESTBED_GPA + TESTBED_VM_RAM - 16,
                                    TESTBED_VIRTIO_SHARED,
                                    TESTBED_VIRTIO_SHARED + TESTBED_VM_RAM - 4,
                                    BUFFERS,
                                    0,
                                    UINT64_MAX - 7};
    uint8_t which = byte(in);

    if (which < 0xc0) {
        return area(which % SLOTS, which / SLOTS % QUEUES) + 0xc00U + 16U * (which / 16U);
    }
    return which < 0xf0 ? near[which % 7U] + which % 3U : bytes(in, 8);
}

/* --- steps --- */

static void load_register(struct input *in)
{
    unsigned vm = byte(in) % VMS;
    uint64_t offset = bytes(in, 2) % (SLOTS * VIRTIO_BAR_SIZE);

    (void)testbed_virtio_load(vm, VIRTIO_BARS + (offset & ~UINT64_C(3)), byte(in) % 3U);
}

static void store_register(struct input *in)
{
    unsigned vm = byte(in) % VMS, width = byte(in) % 3U;
    uint64_t offset = bytes(in, 2) % (SLOTS * VIRTIO_BAR_SIZE);
    bool low = (byte(in) & 1U) != 0; /* common configuration */

    offset = low ? offset & (3U * VIRTIO_BAR_SIZE | 0x3fU) : offset;
    store(vm, VIRTIO_BARS + (offset & ~(UINT64_C(1) << width) + 1U), width, bytes(in, 1U + width));
}

static void configuration(struct input *in)
{
    unsigned vm = byte(in) % VMS;
    uint64_t gpa = VIRTIO_ECAM + (uint64_t)(byte(in) % (SLOTS + 1U)) * 0x8000U + (byte(in) & 0x7cU);

    store(vm, gpa, 2, bytes(in, 4));
    (void)testbed_virtio_load(vm, gpa, 2);
}

#define INDIRECT_AND_EVENT_IDX 0x30U
#define OFFLOADS 1U
#define MERGEABLE 2U

/* Feature bits 0 to 31 that a driver accepts. */
static uint32_t accepted(unsigned vm, unsigned slot, uint32_t features)
{
    uint32_t bits = (features & INDIRECT_AND_EVENT_IDX) << 24;

    if (slot == CONSOLE) {
        bits |= 1U << 1; /* several ports */
    }
    if (slot == NET) {
        bits |= 1U << 1 | 1U << 7 | 1U << 8;
        bits |= (features & MERGEABLE) != 0 ? 1U << 15 : 0;
        bits |= (features & OFFLOADS) != 0 ? 1U << 0 : 0;
        /* the other one has a limit */
        bits |= (features & OFFLOADS) != 0 && vm == 0 ? 1U << 11 | 1U << 12 : 0;
    }
    return bits;
}

/* A driver that does as it should up to DRIVER_OK. */
static void start(unsigned vm, unsigned slot, uint32_t features)
{
    store(vm, VIRTIO_ECAM + slot * 0x8000U + 4U, 1, 6);
    store(vm, bar(slot) + 20U, 0, 0);
    store(vm, bar(slot) + 8U, 2, 0);
    store(vm, bar(slot) + 12U, 2, accepted(vm, slot, features));
    store(vm, bar(slot) + 8U, 2, 1);
    store(vm, bar(slot) + 12U, 2, 1);
    store(vm, bar(slot) + 20U, 0, 11);
    for (unsigned q = 0; q < QUEUES; q++) {
        memset(testbed_memory(vm, area(slot, q)), 0, 0xc00);
        store(vm, bar(slot) + 22U, 1, q);
        store(vm, bar(slot) + 24U, 1, ENTRIES);
        store(vm, bar(slot) + 32U, 2, area(slot, q));
        store(vm, bar(slot) + 40U, 2, area(slot, q) + 0x400U);
        store(vm, bar(slot) + 48U, 2, area(slot, q) + 0x800U);
        store(vm, bar(slot) + 28U, 1, 1);
    }
    store(vm, bar(slot) + 20U, 0, 15);
}

static void start_device(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U), slot = byte(in) % SLOTS;

    start(vm, slot, byte(in));
}

struct desc {
    uint64_t address;
    uint32_t length;
    uint16_t flags, next;
};

static void put_descriptor(unsigned vm, uint64_t queue_area, unsigned index, struct desc desc)
{
    memcpy(testbed_memory(vm, queue_area + sizeof(desc) * index), &desc, sizeof(desc));
}

static uint32_t length(struct input *in)
{
    return (byte(in) & 1U) != 0 ? byte(in) : (uint32_t)bytes(in, 2);
}

static void descriptor(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U), which = byte(in), index = byte(in) % ENTRIES;
    struct desc desc = {.address = address(in)};

    desc.length = length(in);
    desc.flags = byte(in) & 7U;
    desc.next = byte(in) % (ENTRIES + 1U);
    put_descriptor(vm, area(which % SLOTS, which / SLOTS % QUEUES), index, desc);
}

static void push(unsigned vm, uint64_t queue_area, uint16_t head)
{
    uint16_t *avail = testbed_memory(vm, queue_area + 0x400U);

    avail[2U + avail[1] % ENTRIES] = head;
    avail[1]++;
}

/* Bytes anywhere in the areas: rings, headers of frames, requests and packets. */
static void write_memory(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U);
    uint64_t at = area(0, 0) + bytes(in, 2) % (SLOTS * QUEUES * AREA - 8U), value = bytes(in, 8);

    memcpy(testbed_memory(vm, at), &value, sizeof(value));
}

/* The head of a frame, of a request or of a packet that a device accepts; returns its size. */
static uint32_t write_head(struct input *in, unsigned vm, unsigned slot, char *at)
{
    uint8_t frame[26] = {[12] = 2, [17] = 2, [18] = 2, [23] = 1, [24] = 8};
    uint32_t packet[11] = {3U + vm, 0, 4U - vm, 0, 1, 2, 0, 5U << 16 | 1U};
    uint32_t request[4] = {byte(in) % 10U, 0, byte(in) % 20U, 0};

    if (byte(in) % 2U != 0) { /* checksum and segments */
        frame[0] = byte(in) % 8U != 0 ? 1 : 2;
        frame[1] = (uint8_t[]){0, 1, 1, 4, 0x81}[byte(in) % 5U];
        frame[2] = byte(in);
        frame[4] = byte(in);
        frame[6] = byte(in);
        frame[7] = byte(in) / 0xf0U;
        frame[8] = byte(in);
    }
    frame[17] = (uint8_t)(2U - vm);
    frame[23] = (uint8_t)(1U + vm);
    frame[12] = byte(in) % 8U != 0 ? 2 : 0xff;
    packet[6] = (uint32_t)bytes(in, 2);
    switch (slot) {
    case NET:
        memcpy(at, frame, sizeof(frame));
        return sizeof(frame);
    case SOCKET:
        memcpy(at, packet, sizeof(packet));
        return sizeof(packet);
    default:
        memcpy(at, request, sizeof(request));
        return sizeof(request);
    }
}

/* A chain that a device accepts, but for its second buffer, which may be anything; sometimes in an
 * indirect table. */
static void request_of(struct input *in, unsigned vm, unsigned slot)
{
    bool disk = slot == BLOCK || slot == STORAGE;
    unsigned queue = disk ? 0 : 1;
    uint64_t at = area(slot, queue), table = byte(in) % 4U != 0 ? at : at + 0xe00U;
    uint32_t head = write_head(in, vm, slot, testbed_memory(vm, at + 0xc00U));
    struct desc data = {.address = address(in), .length = length(in), .next = 2};

    if (disk && byte(in) % 4U != 0) {
        data.address = BUFFERS + byte(in);
        data.length = 512U * (byte(in) % 96U);
    }
    data.flags = (uint16_t)(disk ? 1U | (byte(in) & 2U) : 0);
    put_descriptor(vm, table, 0, (struct desc){at + 0xc00U, head, 1, 1});
    put_descriptor(vm, table, 1, data);
    put_descriptor(vm, table, 2, (struct desc){at + 0xff0U, 1, 2, 0});
    if (table != at) {
        put_descriptor(vm, at, 0, (struct desc){table, 3U * (uint32_t)sizeof(struct desc), 4, 0});
    }
    push(vm, at, 0);
    store(vm, bar(slot) + 0x3000U, 1, queue);
}

static void request(struct input *in)
{
    static const uint8_t slots[] = {NET, SOCKET, BLOCK, STORAGE};
    unsigned vm = byte(in) % (VMS - 1U);

    request_of(in, vm, slots[byte(in) % sizeof(slots)]);
}

/* Requests a session with a key of zeros, or without this one. */
static void control(unsigned vm, uint32_t opcode, uint64_t about, uint32_t direction,
                    struct desc answer)
{
    uint64_t at = area(CRYPTO, 1);
    uint32_t words[26] = {opcode,    3,       0, 0, (uint32_t)about, (uint32_t)(about >> 32),
                          direction, [16] = 1};

    memcpy(testbed_memory(vm, at + 0xc00U), words, sizeof(words));
    put_descriptor(vm, at, 0, (struct desc){at + 0xc00U, sizeof(words), 1, 1});
    put_descriptor(vm, at, 1, answer);
    push(vm, at, 0);
    store(vm, bar(CRYPTO) + 0x3000U, 1, 1);
}

#define CREATE 2U
#define DESTROY 3U
#define AES_CBC(key_size) (3U | (uint64_t)(key_size) << 32)

/* Mostly one of the first two. */
static uint64_t session_number(struct input *in)
{
    uint8_t which = byte(in);

    return which % 4U != 0 ? 32U + which % 2U * 33U : 32U * byte(in) + which / 4U % 4U;
}

static void session(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U);
    bool destroy = byte(in) % 4U == 0;
    uint64_t about = destroy ? session_number(in) : AES_CBC(8U * (byte(in) % 5U));
    struct desc answer = {
        .address = address(in), .length = 16U + byte(in) % 2U * length(in), .flags = 2};

    control(vm, destroy ? DESTROY : CREATE, about, 1U + byte(in) % 2U, answer);
}

/* Encrypts or decrypts; source and result may be anything. */
static void encryption(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U);
    uint64_t at = area(CRYPTO, 0);
    uint32_t size = 16U * (1U + byte(in) % 8U), number = (uint32_t)session_number(in);
    uint32_t words[22] = {byte(in) % 2U, 0, number, 0, 0, 0, 16, size, size, [16] = 1};
    struct desc source = {.address = address(in),
                          .length = byte(in) % 4U != 0 ? size : length(in),
                          .flags = 1,
                          .next = 2};
    struct desc result = {.address = address(in),
                          .length = byte(in) % 4U != 0 ? size : length(in),
                          .flags = 3,
                          .next = 3};

    memcpy(testbed_memory(vm, at + 0xc00U), words, sizeof(words));
    put_descriptor(vm, at, 0, (struct desc){at + 0xc00U, sizeof(words), 1, 1});
    put_descriptor(vm, at, 1, source);
    put_descriptor(vm, at, 2, result);
    put_descriptor(vm, at, 3, (struct desc){at + 0xff0U, 1, 2, 0});
    push(vm, at, 0);
    store(vm, bar(CRYPTO) + 0x3000U, 1, 0);
}

/* A buffer for frames or packets. */
static void provide(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U), slot = byte(in) % 2U, index = byte(in) % ENTRIES;

    put_descriptor(vm, area(slot, 0), index, (struct desc){address(in), length(in), 2, 0});
    push(vm, area(slot, 0), (uint16_t)index);
    store(vm, bar(slot) + 0x3000U, 1, 0);
}

/* A buffer for a request of the served disk, as the server should offer it, or of another
 * length. */
static void provide_server(struct input *in)
{
    unsigned index = byte(in) % ENTRIES;
    uint32_t size = (uint32_t)sizeof(struct disk_request) + DISK_PIECE;

    size = byte(in) % 4U != 0 ? size : length(in);
    put_descriptor(1, area(STORAGE, DISK_SERVER_REQUESTS), index,
                   (struct desc){BUFFERS + index * BUFFER, size, 2, 0});
    push(1, area(STORAGE, DISK_SERVER_REQUESTS), (uint16_t)index);
    store(1, bar(STORAGE) + 0x3000U, 1, DISK_SERVER_REQUESTS);
}

/* The request that the server got last, if its buffer is one of provide_server(). */
static struct disk_request last_request(void)
{
    const uint8_t *used = testbed_memory(1, area(STORAGE, DISK_SERVER_REQUESTS) + 0x800U);
    struct disk_request request;
    uint16_t count;
    uint32_t id;

    memcpy(&count, used + 2, sizeof(count));
    memcpy(&id, used + 4U + 8U * ((count - 1U) % ENTRIES), sizeof(id));
    memcpy(&request, testbed_memory(1, BUFFERS + id % ENTRIES * BUFFER), sizeof(request));
    return request;
}

/* The server's answer, often to the request that it got last; with data that may be anywhere. */
static void answer(struct input *in)
{
    struct disk_request request = last_request();
    struct disk_answer fields = {
        .disk = request.disk, .number = request.number, .status = byte(in) % 8U == 0};
    uint64_t at = area(STORAGE, DISK_SERVER_ANSWERS);
    struct desc data = {.address = byte(in) % 2U != 0 ? BUFFERS : address(in),
                        .length = request.bytes};

    if (byte(in) % 8U == 0) {
        fields.disk = byte(in) % 16U;
        fields.number += byte(in) % 4U;
        data.length = length(in);
        data.flags = byte(in) & 2U;
    }
    memcpy(testbed_memory(1, at + 0xc00U), &fields, sizeof(fields));
    put_descriptor(1, at, 0, (struct desc){at + 0xc00U, sizeof(fields), 1, 1});
    put_descriptor(1, at, 1, data);
    push(1, at, 0);
    store(1, bar(STORAGE) + 0x3000U, 1, DISK_SERVER_ANSWERS);
}

/* A request of the served disk, and what its server does then. */
static void serve(struct input *in)
{
    unsigned answers = byte(in) % 4U;

    provide_server(in);
    request_of(in, 0, STORAGE);
    for (unsigned i = 0; i < answers; i++) {
        answer(in);
    }
}

/* Offers up to four chains and notifies the queue. */
static void offer(struct input *in)
{
    unsigned vm = byte(in) % (VMS - 1U), slot = byte(in) % SLOTS, queue = byte(in) % QUEUES,
             count = byte(in) % 5U;

    for (unsigned i = 0; i < count; i++) {
        push(vm, area(slot, queue), byte(in) % (ENTRIES + 1U));
    }
    store(vm, bar(slot) + 0x3000U, 1, queue);
}

static void restart(struct input *in)
{
    (void)testbed_vm_stop(0, byte(in) % (VMS - 1U), true);
    for (unsigned i = 0; i < 5U; i++) {
        testbed_advance(10000);
        (void)testbed_run_until_idle();
    }
}

static void step(struct input *in)
{
    static void (*const steps[])(struct input *in) = {
        load_register, store_register, configuration, start_device,  descriptor,
        write_memory,  offer,          request,       request,       request,
        provide,       provide,        session,       encryption,    encryption,
        serve,         serve,          answer,        provide_server};
    uint8_t which = byte(in);

    if (which == 0xff) {
        restart(in);
    } else {
        steps[which % (sizeof(steps) / sizeof(steps[0]))](in);
    }
}

/* --- the system --- */

static void make_system(void)
{
    struct testbed_virtio_section *s = testbed_virtio_make(VMS);
    struct virtio_image_function *f = s->functions;

    for (uint32_t vm = 0; vm < 2; vm++) {
        uint16_t far = (uint16_t)((1U - vm) * SLOTS + CONSOLE);

        *f++ = (struct virtio_image_function){.vm = vm,
                                              .slot = NET,
                                              .kind = VIRTIO_IMAGE_NET,
                                              .flags = VIRTIO_IMAGE_OFFLOADS,
                                              .mac = 0x020000000001 + vm,
                                              .frames_per_ms = vm};
        *f++ = (struct virtio_image_function){
            .vm = vm, .slot = SOCKET, .kind = VIRTIO_IMAGE_SOCKET, .cid = 3U + vm, .peers = 3};
        *f++ = vm == 0 ? (struct virtio_image_function){.slot = BLOCK,
                                                        .kind = VIRTIO_IMAGE_BLOCK,
                                                        .disk = testbed_virtio_disk(),
                                                        .disk_size = DISK}
                       : (struct virtio_image_function){
                             .vm = vm, .slot = BLOCK, .kind = VIRTIO_IMAGE_ENTROPY};
        *f++ = (struct virtio_image_function){
            .vm = vm, .slot = 3, .kind = VIRTIO_IMAGE_IVSHMEM, .shared = TESTBED_VIRTIO_SHARED_ID};
        *f++ =
            (struct virtio_image_function){.vm = vm, .slot = CRYPTO, .kind = VIRTIO_IMAGE_CRYPTO};
        *f++ = (struct virtio_image_function){.vm = vm,
                                              .slot = CONSOLE,
                                              .kind = VIRTIO_IMAGE_CONSOLE,
                                              .ports = 2,
                                              .other_functions = {far, far},
                                              .other_ports = {1, 0},
                                              .names = "line"};
        *f++ = vm == 0 ? (struct virtio_image_function){.slot = STORAGE,
                                                        .kind = VIRTIO_IMAGE_BLOCK,
                                                        .flags = VIRTIO_IMAGE_SERVED,
                                                        .disk = 4096,
                                                        .disk_size = SERVED,
                                                        .server = 2U * SLOTS - 1U}
                       : (struct virtio_image_function){
                             .vm = vm, .slot = STORAGE, .kind = VIRTIO_IMAGE_DISK_SERVER};
    }
    s->header.nfunctions = (uint32_t)(f - s->functions);
    host_keeps_ram = true;
    fuzz_check(testbed_virtio_boot(true));
    /* guests write zeros mostly */
    memset((char *)testbed_virtio_content(testbed_virtio_disk()) + DISK, 0x5a, SUMMED);
}

/* Memory that no driver may reach: that of the VM without functions, and what follows the disk. */
static uint64_t sum_of(const void *memory, size_t size)
{
    const uint64_t *words = memory;
    uint64_t sum = 0;

    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        sum = sum * 31U + words[i];
    }
    return sum;
}

static uint64_t forbidden(void)
{
    const char *vm = testbed_memory(VMS - 1U, TESTBED_GPA),
               *disk = testbed_virtio_content(testbed_virtio_disk());

    return sum_of(vm, SUMMED) ^ sum_of(vm + TESTBED_VM_RAM - SUMMED, SUMMED) ^
           sum_of(disk + DISK, SUMMED);
}

/* Reads a sector: a disk works once its driver has reset it, whatever came before. */
static const char *read_sector(void)
{
    uint64_t at = area(BLOCK, 0);
    const uint8_t *status = testbed_memory(0, at + 0xff0U);

    start(0, BLOCK, 0);
    memset(testbed_memory(0, at + 0xc00U), 0, 16);
    memset(testbed_memory(0, at + 0xff0U), 0xff, 1);
    put_descriptor(0, at, 0, (struct desc){at + 0xc00U, 16, 1, 1});
    put_descriptor(0, at, 1, (struct desc){BUFFERS, 512, 3, 2});
    put_descriptor(0, at, 2, (struct desc){at + 0xff0U, 1, 2, 0});
    push(0, at, 0);
    store(0, bar(BLOCK) + 0x3000U, 1, 0);
    return *status != 0 ? "a disk does not work after a reset" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    uint64_t before;

    make_system();
    before = forbidden();
    for (unsigned i = 0; i < (VMS - 1U) * SLOTS; i++) {
        start(i / SLOTS, i % SLOTS, byte(&in));
    }
    for (unsigned vm = 0; vm < VMS - 1U; vm++) { /* two sessions, to encrypt and to decrypt */
        control(vm, CREATE, AES_CBC(16U), 1, (struct desc){area(CRYPTO, 1) + 0xf00U, 16, 2, 0});
        control(vm, CREATE, AES_CBC(32U), 2, (struct desc){area(CRYPTO, 1) + 0xf00U, 16, 2, 0});
    }
    for (unsigned i = 0; i < STEPS_MAX && in.left != 0; i++) {
        step(&in);
    }
    fuzz_check(forbidden() != before ? "memory was written that no driver may reach" : NULL);
    fuzz_check(read_sector());
    return 0;
}
