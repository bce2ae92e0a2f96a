/* SPDX-License-Identifier: Apache-2.0 */
/* The VM's accelerators (tests/e2e/systems/attacker-accel.dts): their pages, their DMA, their
 * calls. */
#include "accel_abi.h"
#include "attacker.h"
#include "fabric_map.h"
#include "hcall.h"

#define DEVICES 2UL           /* of the attacker: QAM16, and a task that misbehaves on command */
#define PROBE 1UL             /* the latter's number */
#define COMMAND_HANG 1U       /* fpga/verify/sim/hwtask_probe.sv */
#define FLOOD_TIME (2UL * MS) /* of each flood */
#define WORD_SW 0x00b52023U   /* sw a1, 0(a0) */
#define WORD_SH 0x00b51023U   /* sh a1, 0(a0) */
#define WORD_SB 0x00b50023U
#define FABRIC (ACCEL_PAGES - 0x100000UL)
#define REGISTERS 0x80UL /* bytes of registers in a page */
#define JOB 64U          /* bytes */
#define STARTS 64UL      /* in turn, of one device */

#define ECAM 0x30000000UL /* the functions of both devices, in their order */
#define COMMAND 4U
#define BAR0 0x10U
#define COMMAND_NO_INTX 0x400U
#define STATUS_PENDING (1U << 19)

static volatile uint32_t *reg(uint64_t device, uint64_t offset)
{
    return (volatile uint32_t *)(ACCEL_PAGES + device * ACCEL_PAGE + offset);
}

static volatile uint64_t *wide_reg(uint64_t device, uint64_t offset)
{
    return (volatile uint64_t *)(ACCEL_PAGES + device * ACCEL_PAGE + offset);
}

static uint32_t fault_of(uint64_t device)
{
    return *reg(device, FABRIC_IF_STAT) >> FABRIC_IF_STAT_FAULT_LSB &
           ((1U << FABRIC_IF_STAT_FAULT_WIDTH) - 1U);
}

static void start(uint64_t device, uint64_t input, uint64_t output, uint32_t size)
{
    *wide_reg(device, FABRIC_IF_DATA_ADDR) = input;
    *wide_reg(device, FABRIC_IF_RESULT) = output;
    *reg(device, FABRIC_IF_DATA_SIZE) = size;
    *reg(device, FABRIC_IF_START) = 1;
}

/* Waits some milliseconds for the end of a job; whether it came. */
static bool over(uint64_t device)
{
    uint64_t end = machine_time() + 20UL * MS;

    while (*reg(device, FABRIC_IF_OVER) == 0 && machine_time() < end) {
        spin(MS / 100UL); /* an access takes no virtual time (docs/fabric.md) */
    }
    return *reg(device, FABRIC_IF_OVER) != 0;
}

/* A job runs, or has begun, or waits for a region. */
static bool works(uint64_t device)
{
    const uint32_t states = 1U << FABRIC_IF_STAT_BUSY_LSB | 1U << FABRIC_IF_STAT_PENDING_LSB |
                            1U << FABRIC_IF_STAT_SAVED_LSB;

    return (*reg(device, FABRIC_IF_STAT) & states) != 0;
}

/* The device still works: a job of its own memory ends without a fault. */
static void judge_device(struct verdict *v, uint64_t device)
{
    *reg(device, FABRIC_IF_CMD) = 0;
    judge(v, !works(device) || over(device), "the job of device %lu does not end", device);
    *reg(device, FABRIC_IF_OVER) = 1;
    start(device, RAM_FREE, RAM_FREE + 0x1000, JOB);
    judge(v, over(device) && fault_of(device) == 0, "device %lu does not work: fault %u", device,
          fault_of(device));
    *reg(device, FABRIC_IF_OVER) = 1;
}

static void try_registers(struct verdict *v, uint64_t device)
{
    static const uint64_t values[] = {0, 1, 3, 0x55555555, RAM_BASE + 4, REAL_WITNESS, ALL};
    static const uint32_t stores[] = {WORD_SW, WORD_SH, WORD_SB};

    for (uint64_t n = 0; n < REGISTERS / 4 * LENGTH_OF(values); n++) {
        const uint64_t offset = n * 4 % REGISTERS;
        const uint32_t store = stores[n % LENGTH_OF(stores)];
        struct caught c = try_word(SUPERVISOR, store, ACCEL_PAGES + device * ACCEL_PAGE + offset,
                                   values[n % LENGTH_OF(values)]);

        judge(v, c.cause == CAUSE_NONE || c.cause == CAUSE_STORE_ACCESS,
              "store %x at %lu: cause %ld", store, offset, (long)c.cause);
    }
}

/* Every register with values that are no addresses, sizes or commands: the first write requests a
 * region, START among them begins jobs with these values, and the writes after it come while a job
 * runs, waits or has failed. */
void accel_registers(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint64_t device = 0; device < DEVICES; device++) {
        try_registers(v, device);
        judge_device(v, device);
    }
}

/* The pages of devices that the VM does not have, of other VMs, of the manager, its windows, its
 * contexts. */
void accel_elsewhere(struct verdict *v, uint64_t arg)
{
    static const uint64_t pages[] = {FABRIC,
                                     FABRIC + FABRIC_WINDOWS,
                                     FABRIC + 0x40000,
                                     ACCEL_PAGES - 4,
                                     ACCEL_PAGES + DEVICES * ACCEL_PAGE,
                                     ACCEL_PAGES + 15 * ACCEL_PAGE,
                                     ACCEL_PAGES + 16 * ACCEL_PAGE,
                                     ACCEL_PAGES + 48 * ACCEL_PAGE,
                                     FABRIC + FABRIC_SPAN};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(pages); i++) {
        struct caught load = try_word(SUPERVISOR, WORD_LW, pages[i], 0);
        struct caught store = try_word(SUPERVISOR, WORD_SW, pages[i], 0);

        judge(v, load.cause == CAUSE_LOAD_ACCESS, "load at 0x%lx: cause %ld", pages[i],
              (long)load.cause);
        judge(v, store.cause == CAUSE_STORE_ACCESS, "store at 0x%lx: cause %ld", pages[i],
              (long)store.cause);
    }
}

static bool own(uint64_t address)
{
    return (address >= RAM_BASE && address <= RAM_END - JOB) ||
           (address >= SHARED_BASE && address <= SHARED_END - JOB);
}

/* Jobs whose input or output is not the VM's memory fail, and the device works afterwards. */
void accel_dma(struct verdict *v, uint64_t arg)
{
    const unsigned long addresses[] = BAD_ADDRESSES(JOB);

    (void)arg;
    *reg(PROBE, FABRIC_IF_CMD) = 0;
    for (size_t i = 0; i < LENGTH_OF(addresses); i++) {
        const uint64_t address = addresses[i] & ~7UL, input = i % 2 != 0 ? address : RAM_FREE;

        if (own(address)) {
            continue; /* aligned, it is the VM's own */
        }
        start(PROBE, input, input == address ? RAM_FREE : address, JOB);
        judge(v, over(PROBE) && fault_of(PROBE) != 0, "DMA at 0x%lx: fault %u", address,
              fault_of(PROBE));
        *reg(PROBE, FABRIC_IF_OVER) = 1;
    }
    judge_device(v, PROBE);
}

/* Sizes that no buffer has: the job ends at the end of the VM's memory, or at once. The probe takes
 * the last sizes for 0, because they and its rounding wrap. */
void accel_sizes(struct verdict *v, uint64_t arg)
{
    static const uint32_t sizes[] = {
        0, 1, 7, 9, 4095, 1U << 24, 1U << 31, UINT32_MAX, UINT32_MAX - 7};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(sizes); i++) {
        const uint64_t place = sizes[i] > 4096 ? RAM_END - 256 : RAM_FREE;

        *reg(PROBE, FABRIC_IF_CMD) = 0;
        start(PROBE, place, RAM_FREE, sizes[i]);
        judge(v, over(PROBE), "size 0x%x does not end", sizes[i]);
        judge(v, (fault_of(PROBE) != 0) == (sizes[i] > 4096 && sizes[i] < UINT32_MAX - 6),
              "size 0x%x: fault %u", sizes[i], fault_of(PROBE));
        *reg(PROBE, FABRIC_IF_OVER) = 1;
    }
    judge_device(v, PROBE);
}

/* START as fast as possible on all devices, without waiting for the end of a job. */
void accel_starts(struct verdict *v, uint64_t arg)
{
    uint64_t end = machine_time() + FLOOD_TIME;

    (void)arg;
    while (machine_time() < end) {
        for (unsigned int n = 0; n < STARTS * DEVICES; n++) {
            start(n / STARTS, RAM_FREE, RAM_FREE + 0x1000, JOB);
            v->tried++;
        }
        spin(MS / 1000UL);
    }
    for (uint64_t device = 0; device < DEVICES; device++) {
        judge_device(v, device);
    }
}

#define ACCEL(function, a0, a1, a2, error) {HCALL_ACCEL_##function, a0, a1, a2, error}

/* Devices that the VM does not have, wrong sizes, memory that is not its own, rights that it
 * lacks. */
void accel_calls(struct verdict *v, uint64_t arg)
{
    static const unsigned long devices[] = {DEVICES,       15,      16, 17, 32, BIT(32),
                                            BIT(32) | 1UL, TOP_BIT, ALL};
    static const unsigned long by_device[] = {HCALL_ACCEL_REQUEST,      HCALL_ACCEL_RELEASE,
                                              HCALL_ACCEL_STATUS,       HCALL_ACCEL_SET_MODEL,
                                              HCALL_ACCEL_SET_PRIORITY, HCALL_ACCEL_GET_STATS};
    static const struct call calls[] = {
        ACCEL(ENUMERATE, 0, RAM_FREE, sizeof(struct accel_info) - 1, HCALL_ERR_INVALID_PARAM),
        ACCEL(ENUMERATE, 0, RAM_FREE, ALL, HCALL_ERR_INVALID_PARAM),
        ACCEL(GET_STATS, 0, RAM_FREE, sizeof(struct accel_stats) + 1, HCALL_ERR_INVALID_PARAM),
        ACCEL(SET_MODEL, 0, 2, 0, HCALL_ERR_INVALID_PARAM),
        ACCEL(SET_MODEL, 0, BIT(32), 0, HCALL_ERR_INVALID_PARAM),
        ACCEL(SET_PRIORITY, 0, 16, 0, HCALL_ERR_INVALID_PARAM),
        ACCEL(SET_PRIORITY, 0, BIT(32) | 15UL, 0, HCALL_ERR_INVALID_PARAM),
        ACCEL(SET_PRIORITY, 0, 15, 0, HCALL_ERR_DENIED),
    };
    const unsigned long addresses[] = BAD_ADDRESSES(sizeof(struct accel_stats));

    (void)arg;
    try_calls(v, calls, LENGTH_OF(calls));
    for (size_t d = 0; d < LENGTH_OF(devices); d++) {
        for (size_t i = 0; i < LENGTH_OF(by_device); i++) {
            try_call(v, &(struct call){by_device[i], devices[d], 0, sizeof(struct accel_stats),
                                       HCALL_ERR_INVALID_PARAM});
        }
    }
    for (size_t i = 0; i < LENGTH_OF(addresses); i++) {
        try_call(v, &(struct call)ACCEL(GET_STATS, 0, addresses[i], sizeof(struct accel_stats),
                                        HCALL_ERR_INVALID_ADDRESS));
    }
}

/* Requests, releases and changes of the model as fast as possible, and events, which nobody
 * fetches. */
void accel_flood(struct verdict *v, uint64_t arg)
{
    static const unsigned long numbers[] = {HCALL_ACCEL_SET_MODEL, HCALL_ACCEL_REQUEST,
                                            HCALL_ACCEL_STATUS,    HCALL_ACCEL_RELEASE,
                                            HCALL_ACCEL_REQUEST,   HCALL_ACCEL_RELEASE};
    uint64_t end = machine_time() + FLOOD_TIME;

    (void)arg;
    for (unsigned long n = 0; machine_time() < end; n++) {
        long error = hcall_call(numbers[n % LENGTH_OF(numbers)], n % DEVICES, n / 8 % 2, 0).error;

        judge(v, error == HCALL_OK || error == HCALL_ERR_INVALID_STATE, "call %lu: %ld", n, error);
    }
    for (uint64_t device = 0; device < DEVICES; device++) {
        judge_device(v, device);
    }
}

#define OVERLAYS 2UL /* that the attacker may control; a third one it may not */

static uint32_t overlay_state(unsigned long overlay)
{
    struct accel_overlay *status = (struct accel_overlay *)RAM_FREE;

    (void)hcall_call(HCALL_ACCEL_OVERLAY_STATUS, overlay, RAM_FREE, sizeof(*status));
    return ((volatile struct accel_overlay *)status)->state;
}

/* Waits some milliseconds until no transaction of the overlay runs, and removes it if it is
 * applied. */
static void judge_removed(struct verdict *v, unsigned long overlay)
{
    uint64_t end = machine_time() + 20UL * MS;

    while (overlay_state(overlay) != ACCEL_OVERLAY_REMOVED && machine_time() < end) {
        (void)hcall_call(HCALL_ACCEL_REMOVE_OVERLAY, overlay, 0, 0);
        spin(MS / 100UL);
    }
    judge(v, overlay_state(overlay) == ACCEL_OVERLAY_REMOVED, "overlay %lu is in state %u", overlay,
          overlay_state(overlay));
}

/* Overlays that do not exist or that another VM controls; wrong sizes, memory that is not its
 * own. */
static void try_overlays(struct verdict *v)
{
    static const unsigned long overlays[] = {OVERLAYS + 1,  15,      16, 64, BIT(32),
                                             BIT(32) | 1UL, TOP_BIT, ALL};
    static const unsigned long numbers[] = {HCALL_ACCEL_APPLY_OVERLAY, HCALL_ACCEL_REMOVE_OVERLAY,
                                            HCALL_ACCEL_OVERLAY_STATUS};
    const unsigned long size = sizeof(struct accel_overlay),
                        addresses[] = BAD_ADDRESSES(sizeof(struct accel_overlay));

    for (size_t i = 0; i < LENGTH_OF(numbers); i++) {
        for (size_t o = 0; o < LENGTH_OF(overlays); o++) {
            try_call(v, &(struct call){numbers[i], overlays[o], RAM_FREE, size,
                                       HCALL_ERR_INVALID_PARAM});
        }
        try_call(v, &(struct call){numbers[i], OVERLAYS, RAM_FREE, size, HCALL_ERR_DENIED});
    }
    try_call(v,
             &(struct call)ACCEL(OVERLAY_STATUS, 0, RAM_FREE, size + 1, HCALL_ERR_INVALID_PARAM));
    for (size_t i = 0; i < LENGTH_OF(addresses); i++) {
        try_call(v, &(struct call)ACCEL(OVERLAY_STATUS, 0, addresses[i], size,
                                        HCALL_ERR_INVALID_ADDRESS));
    }
}

/* Applies and removes overlays as fast as possible, while jobs are started in their regions. */
void accel_overlays(struct verdict *v, uint64_t arg)
{
    uint64_t end = machine_time() + FLOOD_TIME;

    (void)arg;
    try_overlays(v);
    for (unsigned long n = 0; machine_time() < end; n++) {
        long error =
            hcall_call(n / 2 % 2 == 0 ? HCALL_ACCEL_APPLY_OVERLAY : HCALL_ACCEL_REMOVE_OVERLAY,
                       n % OVERLAYS, 0, 0)
                .error;

        judge(v, error == HCALL_OK || error == HCALL_ERR_INVALID_STATE, "call %lu: %ld", n, error);
        (void)hcall_call(HCALL_ACCEL_REQUEST, n / 4 % DEVICES, 0, 0);
        (void)hcall_call(HCALL_ACCEL_RELEASE, n / 4 % DEVICES, 0, 0);
    }
    for (unsigned long overlay = 0; overlay < OVERLAYS; overlay++) {
        judge_removed(v, overlay);
    }
    for (uint64_t device = 0; device < DEVICES; device++) {
        judge_device(v, device);
    }
}

/* The configuration space of a device's PCI function. */
static uint64_t function_of(uint64_t device)
{
    return ECAM + device * 0x8000U;
}

/* A store of random bits, one to four bytes. */
static void store_somewhere(uint64_t number)
{
    const uint64_t at =
        function_of(number & 1U) + (number >> 1 & 7U ? number >> 4 & 0x3cU : COMMAND);
    const uint32_t value = (uint32_t)(number >> 32);

    if ((number >> 10 & 3U) == 0) {
        *(volatile uint8_t *)(at + (number >> 12 & 3U)) = (uint8_t)value;
    } else if ((number >> 10 & 3U) == 1) {
        *(volatile uint16_t *)(at + (number >> 12 & 2U)) = (uint16_t)value;
    } else {
        *(volatile uint32_t *)at = value;
    }
}

/* The function shows an interrupt of its device, disabled or not, and no more when the job is
 * acknowledged. */
static void judge_status(struct verdict *v, uint64_t device)
{
    volatile uint32_t *command = (volatile uint32_t *)(function_of(device) + COMMAND);

    *reg(device, FABRIC_IF_OVER) = 1;
    *reg(device, FABRIC_IF_INT_CTRL) = 3;
    start(device, RAM_FREE, RAM_FREE + 0x1000, JOB);
    judge(v, over(device), "the job of device %lu does not end", device);
    for (uint32_t disable = 0; disable <= COMMAND_NO_INTX; disable += COMMAND_NO_INTX) {
        *command = disable;
        judge(v, *command == (disable | STATUS_PENDING), "device %lu: command and status are 0x%x",
              device, *command);
    }
    *reg(device, FABRIC_IF_OVER) = 1;
    judge(v, *command == COMMAND_NO_INTX, "device %lu: command and status are 0x%x", device,
          *command);
    *command = 0;
    *reg(device, FABRIC_IF_INT_CTRL) = 0;
}

/* Random bits in the configuration space of the devices' PCI functions, while jobs run whose end
 * raises an interrupt. */
void accel_functions(struct verdict *v, uint64_t arg)
{
    uint64_t state = 0x0123456789abcdefU, end = machine_time() + FLOOD_TIME;

    (void)arg;
    for (uint64_t n = 0; machine_time() < end; n++) {
        if (n % 64U == 0) {
            *reg(n / 64U % DEVICES, FABRIC_IF_INT_CTRL) = 3;
            start(n / 64U % DEVICES, RAM_FREE, RAM_FREE + 0x1000, JOB);
        }
        store_somewhere(random_next(&state));
    }
    for (uint64_t device = 0; device < DEVICES; device++) {
        volatile uint32_t *bar = (volatile uint32_t *)(function_of(device) + BAR0);

        *bar = 0;
        judge(v, *bar == ACCEL_PAGES + device * ACCEL_PAGE, "BAR of device %lu: 0x%x", device,
              *bar);
        judge_device(v, device);
        judge_status(v, device);
    }
}

/* A task that neither ends nor stops. */
void accel_hangs(struct verdict *v, uint64_t arg)
{
    *reg(PROBE, FABRIC_IF_CMD) = COMMAND_HANG;
    start(PROBE, RAM_FREE, RAM_FREE + 0x1000, JOB);
    loop_forever(v, arg);
}
