/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of virtual PCI functions, disks, sockets, lines, doorbells. */
#include "attacker_virtio.h"

#define DATA_AT 1024U /* in `scratch` */
#define UNTOUCHED 0xa5U
#define RANDOM_TIME (10UL * MS)

/* --- registers --- */

/* Loads and stores of every width, as in devices.c. */
static const uint32_t loads[] = {0x00050503U, 0x00051503U, 0x00052503U, 0x00053503U};
static const uint32_t stores[] = {0x00b50023U, 0x00b51023U, 0x00b52023U, 0x00b53023U};

/* Accesses of up to 4 bytes are answered; a misaligned one is split into aligned ones. */
static void try_offset(struct verdict *v, uint64_t base, uint64_t size, uint64_t offset)
{
    for (unsigned i = 0; i < LENGTH_OF(loads); i++) {
        uint64_t bytes = 1UL << i, address = base + offset;
        bool wide = bytes == 8 && address % 8 == 0; /* an access that is not split */
        bool page = address % bytes != 0 && address / 4096 != (address + bytes - 1) / 4096;
        bool answers = !wide && !page && offset < size && size - offset >= bytes;
        struct caught load = try_word(SUPERVISOR, loads[i], address, 0);
        struct caught store = try_word(SUPERVISOR, stores[i], address, ALL);

        judge(v, load.cause == (answers ? CAUSE_NONE : CAUSE_LOAD_ACCESS),
              "load of %lu at 0x%lx: cause %ld", bytes, address, (long)load.cause);
        judge(v, store.cause == (answers ? CAUSE_NONE : CAUSE_STORE_ACCESS),
              "store of %lu at 0x%lx: cause %ld", bytes, address, (long)store.cause);
    }
}

static void judge_nothing(struct verdict *v, unsigned long device, unsigned long function)
{
    uint32_t id = *(volatile uint32_t *)(ECAM + device * 0x8000U + function * 0x1000U);

    judge(v, id == UINT32_MAX, "device %lu function %lu: 0x%x", device, function, id);
}

void virtio_registers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint64_t offset = 0; offset < ECAM_SIZE + 64;
         offset += offset % 0x8000U < 0x60 ? 1 : 0xf9d) {
        try_offset(v, ECAM, ECAM_SIZE, offset);
    }
    for (uint64_t offset = 0; offset < FUNCTIONS * BAR_SIZE + 16;
         offset += offset % 0x1000U < 0x40 ? 3 : 0x1f3) {
        try_offset(v, BARS, FUNCTIONS * BAR_SIZE, offset);
    }
    for (unsigned long device = 0; device < 32; device++) {
        for (unsigned long function = device < FUNCTIONS ? 1 : 0; function < 8; function++) {
            judge_nothing(v, device, function);
        }
    }
    judge_devices(v);
}

void write_randomly(struct verdict *v, unsigned slots)
{
    uint64_t state = 0xfedcba9876543210U;
    uint64_t end = csr_read_time() + RANDOM_TIME;

    while (csr_read_time() < end) {
        uint64_t n = random_next(&state), at = random_next(&state);
        unsigned slot = (unsigned)(n % slots);

        if (n % 17 == 0 && is_virtio(slot)) {
            device_start(slot, n & F_INDIRECT);
        } else if (n % 11 == 0) {
            *reg32(slot, (at & 0x3cU) | (n >> 40 & 3U) << 12) =
                (uint32_t)(n >> 16 & random_next(&state));
        } else {
            volatile struct ring *ring = &rings[slot][n >> 20 & 1U];
            uint64_t where = at >> 50 & 1U ? SCRATCH : place_of_others(at >> 51);

            describe(ring, at & 7U,
                     (struct desc){where + (at >> 8 & 0xfffU), (uint32_t)(n >> 50), at >> 24 & 7U,
                                   at >> 32 & 7U});
            offer(ring, at >> 40 & 1U ? at & 7U : at >> 41 & 7U);
            device_notify(slot, n >> 20 & 1U);
        }
        v->tried++;
    }
}

void virtio_random(struct verdict *v, uint64_t arg)
{
    (void)arg;
    write_randomly(v, SLOTS);
    judge_devices(v);
}

/* --- disk --- */

struct disk_case {
    const char *what;
    uint32_t type;
    uint64_t sector;
    uint32_t length; /* of the data */
    uint16_t flags;
    uint8_t status;
};

#define DISK_READ 0U
#define DISK_WRITE 1U
#define DISK_OK 0U
#define DISK_ERROR 1U
#define DISK_UNSUPPORTED 2U

static const struct disk_case disk_cases[] = {
    {"the first sector", DISK_READ, 0, 512, DESC_WRITE, DISK_OK},
    {"the last sector", DISK_READ, DISK_SECTORS - 1U, 512, DESC_WRITE, DISK_OK},
    {"a sector behind the end", DISK_READ, DISK_SECTORS, 512, DESC_WRITE, DISK_ERROR},
    {"a write behind the end", DISK_WRITE, DISK_SECTORS, 512, 0, DISK_ERROR},
    {"sectors across the end", DISK_READ, DISK_SECTORS - 1U, 1024, DESC_WRITE, DISK_ERROR},
    {"a write across the end", DISK_WRITE, DISK_SECTORS - 1U, 1024, 0, DISK_ERROR},
    {"a sector that wraps", DISK_READ, 1UL << 55, 512, DESC_WRITE, DISK_ERROR},
    {"a write that wraps", DISK_WRITE, 1UL << 55, 512, 0, DISK_ERROR},
    {"the last number", DISK_READ, ALL, 512, DESC_WRITE, DISK_ERROR},
    {"a negative sector", DISK_WRITE, ALL - 4096U, 512, 0, DISK_ERROR},
    {"half a sector", DISK_READ, 0, 256, DESC_WRITE, DISK_ERROR},
    {"an unknown type", 2, 0, 512, DESC_WRITE, DISK_UNSUPPORTED},
    {"the last type", UINT32_MAX, 0, 512, DESC_WRITE, DISK_UNSUPPORTED},
};

/* A request of a head, data and status, without a notification. */
static void offer_case(unsigned slot, const struct disk_case *c)
{
    volatile struct ring *ring = &rings[slot][0];

    *(volatile uint32_t *)(uintptr_t)SCRATCH = c->type;
    *(volatile uint64_t *)(uintptr_t)(SCRATCH + 8U) = c->sector;
    scratch[16] = UNTOUCHED;
    describe(ring, 0, (struct desc){SCRATCH, 16, DESC_NEXT, 1});
    describe(ring, 1, (struct desc){SCRATCH + DATA_AT, c->length, DESC_NEXT | c->flags, 2});
    describe(ring, 2, (struct desc){SCRATCH + 16, 1, DESC_WRITE, 0});
    offer(ring, 0);
}

void judge_disk(struct verdict *v, unsigned slot)
{
    for (size_t i = 0; i < LENGTH_OF(disk_cases); i++) {
        offer_case(slot, &disk_cases[i]);
        device_notify(slot, 0);
        judge(v, await_used(slot, 0, (uint16_t)(i + 1U)), "%s is not returned", disk_cases[i].what);
        judge(v, scratch[16] == disk_cases[i].status, "%s: status %u", disk_cases[i].what,
              scratch[16]);
    }
}

static void judge_wrong_request(struct verdict *v, unsigned slot, const char *what)
{
    device_notify(slot, 0);
    judge(v, await_failure(slot), "function %u accepts %s", slot, what);
}

void judge_disk_chains(struct verdict *v, unsigned slot)
{
    device_start(slot, 0);
    offer_case(slot, &disk_cases[0]);
    describe(&rings[slot][0], 0, (struct desc){SCRATCH, 16, 0, 0});
    judge_wrong_request(v, slot, "a request without a status");
    device_start(slot, 0);
    offer_case(slot, &disk_cases[0]);
    describe(&rings[slot][0], 2, (struct desc){SCRATCH + 16, 1, 0, 0});
    judge_wrong_request(v, slot, "a status to read");
}

/* As long as a queue allows, each buffer all of the RAM below the image. */
static void huge_request(struct verdict *v)
{
    volatile struct ring *ring = requests(SLOT_DISK);

    offer_case(SLOT_DISK, &disk_cases[0]);
    device_notify(SLOT_DISK, 0);
    for (uint16_t i = 1; i < ENTRIES - 1U; i++) {
        describe(ring, i, (struct desc){RAM_FREE, 0x8000, DESC_NEXT | DESC_WRITE, i + 1U});
    }
    describe(ring, ENTRIES - 1U, (struct desc){SCRATCH + 16, 1, DESC_WRITE, 0});
    scratch[16] = UNTOUCHED;
    offer(ring, 0);
    device_notify(SLOT_DISK, 0);
    judge(v, scratch[16] == DISK_ERROR, "8 MiB of a disk of 2: status %u", scratch[16]);
}

void virtio_disk(struct verdict *v, uint64_t arg)
{
    (void)arg;
    device_start(SLOT_DISK, 0);
    judge_disk(v, SLOT_DISK);
    huge_request(v);
    judge_disk_chains(v, SLOT_DISK);
    judge_devices(v);
}

/* --- sockets --- */

static volatile struct packet sent, answers[4] __attribute__((aligned(64)));

static void send_packet(const struct packet *packet, uint32_t length)
{
    for (unsigned i = 0; i < PACKET_HEADER; i++) {
        ((volatile uint8_t *)&sent)[i] = ((const uint8_t *)packet)[i];
    }
    describe(requests(SLOT_SOCKET), 0, (struct desc){(uintptr_t)&sent, length, 0, 0});
    offer(requests(SLOT_SOCKET), 0);
    device_notify(SLOT_SOCKET, 1);
}

static void start_socket(void)
{
    device_start(SLOT_SOCKET, 0);
    for (unsigned i = 0; i < LENGTH_OF(answers); i++) {
        post(SLOT_SOCKET, (struct desc){(uintptr_t)&answers[i], sizeof(answers[i]), DESC_WRITE, 0});
    }
}

/* A packet that has no receiver is answered at once, in the store that has notified the queue. */
static void try_stranger(struct verdict *v, uint64_t cid, uint16_t type)
{
    const struct packet packet = {
        .source = CID_OWN, .destination = cid, .type = type, .op = OP_REQUEST};

    start_socket();
    send_packet(&packet, PACKET_HEADER);
    judge(v,
          used(&rings[SLOT_SOCKET][0]) == 1 && answers[0].op == OP_RESET &&
              answers[0].source == cid,
          "a packet to %lu: %u answers", cid, used(&rings[SLOT_SOCKET][0]));
}

static void try_packet(struct verdict *v, const struct packet *packet, uint32_t length,
                       const char *what)
{
    uint64_t end = csr_read_time() + 60UL * MS;

    start_socket();
    send_packet(packet, length);
    /* while the peer has no buffer */
    while (!device_failed(SLOT_SOCKET) && csr_read_time() < end) {
        spin(MS);
    }
    judge(v, device_failed(SLOT_SOCKET), "%s is sent", what);
}

void virtio_sockets(struct verdict *v, uint64_t arg)
{
    static const uint64_t strangers[] = {
        0, 1, 2, CID_STRANGER, 5, 0xffffffff, 1UL << 32 | CID_PEER, ALL};
    struct packet packet = {
        .source = CID_OWN, .destination = CID_PEER, .type = 1, .op = OP_DATA, .length = 100};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(strangers); i++) {
        try_stranger(v, strangers[i], 1);
    }
    try_stranger(v, CID_PEER, 2);
    try_packet(v, &packet, PACKET_HEADER - 1U, "half a header");
    try_packet(v, &packet, PACKET_HEADER, "a packet without its data");
    try_packet(v, &packet, PACKET_HEADER + 99U, "a packet with less data");
    packet.length = UINT32_MAX;
    try_packet(v, &packet, sizeof(packet), "a packet of 4 GiB");
    packet.length = 0;
    packet.source = CID_STRANGER;
    try_packet(v, &packet, PACKET_HEADER, "another VM's packet");
    packet.source = CID_OWN | 1UL << 32;
    try_packet(v, &packet, PACKET_HEADER, "a packet of a wide cid");
    judge_devices(v);
}

/* Receive buffers that are wrong, for packets to itself. */
void virtio_socket_buffers(struct verdict *v, uint64_t arg)
{
    static const struct desc wrong[] = {
        {0, 4096, 0, 0},
        {0, PACKET_HEADER, DESC_WRITE, 0},
        {0, 20, DESC_WRITE, 0},
        {RAM_END - 100, 4096, DESC_WRITE, 0},
        {REAL_WITNESS, 4096, DESC_WRITE, 0},
        {0, 1, DESC_WRITE | DESC_NEXT, 0xffff},
    };
    const struct packet packet = {
        .source = CID_OWN, .destination = CID_OWN, .type = 1, .op = OP_DATA, .length = 100};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(wrong); i++) {
        struct desc d = wrong[i];

        d.address += d.address == 0 ? (uintptr_t)answers : 0;
        device_start(SLOT_SOCKET, 0);
        post(SLOT_SOCKET, d);
        send_packet(&packet, PACKET_HEADER + 100U);
        judge(v, device_failed(SLOT_SOCKET), "receive buffer %lu is used", (unsigned long)i);
    }
    judge_devices(v);
}

/* Data for a stream that does not exist, without any credit, as fast as possible; the peer's
 * answers are taken. */
void virtio_socket_flood(struct verdict *v, uint64_t arg)
{
    const struct packet packet = {.source = CID_OWN,
                                  .destination = CID_PEER,
                                  .source_port = 77,
                                  .destination_port = 88,
                                  .type = 1,
                                  .op = OP_DATA,
                                  .length = 1000};
    uint64_t end;

    (void)arg;
    start_socket();
    for (end = csr_read_time() + 10UL * MS; csr_read_time() < end; v->tried++) {
        send_packet(&packet, PACKET_HEADER + 1000U);
        while (used(&rings[SLOT_SOCKET][0]) + LENGTH_OF(answers) >
               rings[SLOT_SOCKET][0].avail.index) {
            post(SLOT_SOCKET, (struct desc){(uintptr_t)answers, sizeof(answers[0]), DESC_WRITE, 0});
        }
        if ((uint16_t)(requests(SLOT_SOCKET)->avail.index - used(requests(SLOT_SOCKET))) >=
            ENTRIES) {
            spin(MS / 10U);
            requests(SLOT_SOCKET)->avail.index--; /* the queue is full */
        }
    }
    judge(v, !device_failed(SLOT_SOCKET) && v->tried > 10, "%lu sent", v->tried);
    judge_devices(v);
}

/* Resets while packets of the peer wait for the device, or the peer's next ones go elsewhere: in
 * stores, the last by a reset of the VM. */
void virtio_socket_resets(struct verdict *v, uint64_t arg)
{
    const struct packet packet = {
        .source = CID_OWN, .destination = CID_PEER, .type = 1, .op = OP_REQUEST};

    (void)arg;
    for (v->tried = 0; v->tried < 100; v->tried++) {
        device_start(SLOT_SOCKET, 0); /* without receive buffers */
        send_packet(&packet, PACKET_HEADER);
        spin(v->tried * (MS / 40U));
        judge(v, !device_failed(SLOT_SOCKET), "round %lu: the device has failed", v->tried);
    }
}

/* --- lines and doorbells --- */

/* Bytes for the other end, and buffers for its answers, which are no buffers. */
void virtio_lines(struct verdict *v, uint64_t arg)
{
    static const struct desc wrong[] = {
        {0, 64, 0, 0},
        {RAM_END - 8, 64, DESC_WRITE, 0},
        {REAL_WITNESS, 64, DESC_WRITE, 0},
        {0, 0, DESC_WRITE, 0},
    };

    (void)arg;
    for (size_t i = 0; i < 2 * LENGTH_OF(wrong); i++) {
        struct desc d = wrong[i / 2];
        uint64_t end = csr_read_time() + 60UL * MS;

        d.address += d.address == 0 ? SCRATCH + DATA_AT : 0;
        scratch[DATA_AT] = UNTOUCHED;
        device_start(SLOT_LINE, 0);
        post(SLOT_LINE, d);
        /* until the peer has answered */
        while (!device_failed(SLOT_LINE) && csr_read_time() < end) {
            request(SLOT_LINE, 1);
            spin(MS);
        }
        judge(v, device_failed(SLOT_LINE), "receive buffer %lu is used", (unsigned long)i);
        judge(v, scratch[DATA_AT] == UNTOUCHED, "receive buffer %lu is written", (unsigned long)i);
    }
    judge_devices(v);
}

/* All numbers of VMs, by all widths. */
void virtio_doorbells(struct verdict *v, uint64_t arg)
{
    (void)arg;
    function_enable(SLOT_MAILBOX);
    (void)*reg32(SLOT_MAILBOX, 4);
    for (uint32_t vm = 1; vm < 0x10000U; vm += vm < 64 ? 1 : 97) {
        *reg32(SLOT_MAILBOX, 12) = vm << 16;
        *reg16(SLOT_MAILBOX, 12) = (uint16_t)vm;
        *reg32(SLOT_MAILBOX, 4) = vm;
        *reg32(SLOT_MAILBOX, 8) = vm << 16;
        judge(v, *reg32(SLOT_MAILBOX, 8) == VM_ATTACKER, "the own number is %u",
              *reg32(SLOT_MAILBOX, 8));
    }
    (void)*reg32(SLOT_MAILBOX, 4); /* a half rings VM 0 */
    *reg32(SLOT_MAILBOX, 12) = 0x10000U * VM_ATTACKER;
    judge(v, *reg32(SLOT_MAILBOX, 4) == 1 && *reg32(SLOT_MAILBOX, 4) == 0, "the own doorbell");
    for (uint32_t vm = VMS; vm < 0x10000U; vm += 61) {
        *reg32(SLOT_MAILBOX, 12) = vm << 16;
        judge(v, *reg32(SLOT_MAILBOX, 4) == 0, "number %u rings", vm);
    }
    judge_devices(v);
}
