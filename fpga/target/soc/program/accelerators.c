/* SPDX-License-Identifier: Apache-2.0 */
/* Two clients get regions, have them configured, and map symbols; one of them reaches outside of
 * its windows. */
#include "print.h"
#include "soc.h"

#define BITSTREAM_WORDS 400U /* of filler */
#define INPUT_BYTES 512U
#define SHORT_BYTES 16U
#define SYMBOLS_PER_BYTE 2U
#define BYTES_PER_SYMBOL 4U
#define OUTPUT_BYTES (INPUT_BYTES * SYMBOLS_PER_BYTE * BYTES_PER_SYMBOL)
#define PAGE 4096U
#define GUEST_INPUT UINT64_C(0x40000000)
#define GUEST_OUTPUT UINT64_C(0x48000000)
#define READABLE 1U
#define WRITABLE 2U
#define TASK_QAM16 1U
#define PRIORITY 5U
#define EVENT(name) (UINT64_C(1) << FABRIC_REGS_IRQ_STATUS_##name##_LSB)

/* Owner of all: this file; the DMA reads and writes them. */
static uint8_t input[PAGE] __attribute__((aligned(PAGE)));
static int16_t output[VMS][OUTPUT_BYTES / sizeof(int16_t)] __attribute__((aligned(PAGE)));
static uint32_t bitstream[BITSTREAM_WORDS + 7] __attribute__((aligned(64)));

static uint32_t crc32(const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint32_t sum = ~UINT32_C(0);

    for (size_t n = 0; n < bytes; n++) {
        sum ^= at[n];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (UINT32_C(0xedb88320) & (0U - (sum & 1U)));
        }
    }
    return ~sum;
}

static void write_bitstream(uint32_t region)
{
    bitstream[0] = UINT32_C(0x53494d42);
    bitstream[1] = region << 24 | TASK_QAM16 << 16;
    bitstream[2] = BITSTREAM_WORDS + 2U;
    bitstream[3] = crc32(bitstream, 12);
    bitstream[4] = UINT32_C(0xc5000000) | region << 16 | TASK_QAM16 << 8;
    bitstream[5] = BITSTREAM_WORDS;
    for (uint32_t n = 0; n < BITSTREAM_WORDS; n++) {
        bitstream[6 + n] = n * UINT32_C(0x9e3779b9);
    }
    bitstream[BITSTREAM_WORDS + 6] = crc32(bitstream + 4, 4 * (BITSTREAM_WORDS + 2U));
    fence();
}

static void open_window(unsigned int vm, unsigned int number, uint64_t guest, const void *host,
                        uint64_t bytes)
{
    uintptr_t at = FABRIC_WINDOWS + vm * FABRIC_VM_WINDOWS_STRIDE + number * FABRIC_WINDOW_STRIDE;

    *fabric(at + FABRIC_WINDOW_SIZE) = bytes;
    *fabric(at + FABRIC_WINDOW_HOST) = (uintptr_t)host;
    *fabric(at + FABRIC_WINDOW_GUEST) = guest;
}

uint64_t region_request(unsigned int vm)
{
    uint64_t solution;

    *fabric(FABRIC_REGS_REQUEST) = vm | PRIORITY << FABRIC_REGS_REQUEST_PRIO_LSB;
    do {
        solution = *fabric(FABRIC_REGS_SOLUTION);
    } while ((solution >> FABRIC_REGS_SOLUTION_VALID_LSB & 1) == 0);
    return solution;
}

static uint32_t region_of(uint64_t solution)
{
    return (uint32_t)(solution >> FABRIC_REGS_SOLUTION_PRR_LSB & 7);
}

/* The same request again has the same answer. */
static void test_request(unsigned int vm)
{
    uint64_t taken;

    MEASURE(taken, (void)region_request(vm));
    check("solution_again", region_of(region_request(vm)), vm);
    report("request_to_solution", taken);
}

static void await_manager(uint64_t event)
{
    for (uint64_t seen = 0; (seen & event) == 0; seen |= manager_events()) {
        interrupt_wait(SOURCE_MANAGER);
    }
}

static void configure(uint32_t region)
{
    uint64_t begin;

    write_bitstream(region);
    manager_events();
    interrupts_taken(SOURCE_MANAGER);
    *fabric(FABRIC_REGS_ICAP_ADDR) = (uintptr_t)bitstream;
    *fabric(FABRIC_REGS_ICAP_LENGTH) = sizeof bitstream;
    begin = cycles();
    *fabric(FABRIC_REGS_ICAP_START) = region;
    await_manager(EVENT(RECONFIG_OVER));
    report("configuration_to_handler", interrupt_trapped() - begin);
    check("configuration_error",
          *fabric(FABRIC_REGS_ICAP_STATUS) >> FABRIC_REGS_ICAP_STATUS_ERROR_LSB & 15, 0);
    check("configuration_words", *fabric(FABRIC_REGS_ICAP_COUNTS) >> 32, BITSTREAM_WORDS + 2U);
}

/* From a request to a connected client, which gets the region with its own number. */
static void connect(unsigned int vm)
{
    uint64_t solution = region_request(vm), begin;
    uint32_t region = region_of(solution);

    check("solution_vm", solution >> FABRIC_REGS_SOLUTION_VM_LSB & 15, vm);
    check("solution_region", region, vm);
    if ((solution >> FABRIC_REGS_SOLUTION_RECONFIG_LSB & 1) != 0) {
        configure(region);
    }
    begin = cycles();
    *fabric(FABRIC_REGS_PRR_CONNECT + FABRIC_REGS_PRR_CONNECT_STRIDE * region) =
        1U | vm << FABRIC_REGS_PRR_CONNECT_VM_LSB;
    while ((*interface32(vm, FABRIC_IF_STAT) >> FABRIC_IF_STAT_CONNECTED_LSB & 1) == 0) {
    }
    report("connect_to_seen", cycles() - begin);
}

void job_prepare(unsigned int vm, uint32_t bytes)
{
    *interface32(vm, FABRIC_IF_OVER) = 1;
    *interface32(vm, FABRIC_IF_CMD) = 0;
    *interface64(vm, FABRIC_IF_DATA_ADDR) = GUEST_INPUT;
    *interface64(vm, FABRIC_IF_RESULT) = GUEST_OUTPUT;
    *interface32(vm, FABRIC_IF_DATA_SIZE) = bytes;
    *interface32(vm, FABRIC_IF_INT_CTRL) = 3;
    fence();
    interrupts_taken(SOURCE_VM + vm);
}

/* 16-QAM, Gray-coded: levels of one and three parts of 15543 / 3. */
static int level(unsigned int sign, unsigned int inner)
{
    int value = inner != 0 ? 5181 : 15543;

    return sign != 0 ? value : -value;
}

static bool near(int16_t value, int expected)
{
    return value - expected >= -1 && value - expected <= 1;
}

static unsigned int wrong_symbols(const int16_t *symbols, uint32_t bytes)
{
    unsigned int wrong = 0;

    for (uint32_t n = 0; n < bytes * SYMBOLS_PER_BYTE; n++) {
        unsigned int bits = input[n / 2] >> (n % 2 * 4) & 15U;
        bool right = near(symbols[2 * n], level(bits & 1U, bits >> 1 & 1U)) &&
                     near(symbols[2 * n + 1], level(bits >> 2 & 1U, bits >> 3 & 1U));

        wrong += right ? 0 : 1;
    }
    return wrong;
}

static void run(unsigned int vm, uint32_t bytes, const char *name)
{
    uint64_t begin;

    job_prepare(vm, bytes);
    begin = cycles();
    *interface32(vm, FABRIC_IF_START) = 1;
    interrupt_wait(SOURCE_VM + vm);
    report(name, interrupt_trapped() - begin);
    check("done_size", *interface32(vm, FABRIC_IF_DONE_SIZE),
          bytes * SYMBOLS_PER_BYTE * BYTES_PER_SYMBOL);
    check("wrong_symbols", wrong_symbols(uncached(output[vm]), bytes), 0);
}

/* Input from a page that the VM has no window of: the job fails, the manager is told where, the VM
 * loses its region. */
static void violate(unsigned int vm)
{
    job_prepare(vm, SHORT_BYTES);
    *interface64(vm, FABRIC_IF_DATA_ADDR) = GUEST_INPUT + PAGE;
    fence();
    manager_events();
    interrupts_taken(SOURCE_MANAGER);
    *interface32(vm, FABRIC_IF_START) = 1;
    await_manager(EVENT(DMA_VIOLATION));
    interrupt_wait(SOURCE_VM + vm); /* later: the job is over when its DMA is quiet */
    check("violation_vm", *fabric(FABRIC_REGS_FAULT_INFO) & 15, vm);
    check("violation_address", *fabric(FABRIC_REGS_FAULT_ADDR), GUEST_INPUT + PAGE);
    check("violation_fault", *interface32(vm, FABRIC_IF_STAT) >> FABRIC_IF_STAT_FAULT_LSB & 7, 1);
    check("violation_connected", *interface32(vm, FABRIC_IF_STAT) & 1, 0);
}

/*
 * The output was read before the job, so its old bytes are in the data cache, where DMA does not
 * reach them. Reading through the uncached alias, as above, or a flush helps.
 */
void test_cache(void)
{
    uint64_t sum = 0, *words = (uint64_t *)(void *)output[0];
    unsigned int stale;

    for (size_t i = 0; i < OUTPUT_BYTES / sizeof(uint64_t); i++) {
        words[i] = ~UINT64_C(0);
    }
    fence();
    for (size_t i = 0; i < OUTPUT_BYTES / sizeof(uint64_t); i++) {
        sum += *(volatile uint64_t *)&words[i];
    }
    check("cached_before", sum, 0U - OUTPUT_BYTES / sizeof(uint64_t));
    run(0, INPUT_BYTES, "qam_512_again");
    stale = wrong_symbols(output[0], INPUT_BYTES);
    print("stale %u\n", stale); /* the fence before the job has emptied a write-back cache */
    flush_data_cache();
    check("wrong_after_flush", wrong_symbols(output[0], INPUT_BYTES), 0);
}

void test_accelerators(void)
{
    uint32_t state = 1;

    for (size_t n = 0; n < sizeof input; n++) {
        state = state * 1664525U + 1013904223U;
        input[n] = (uint8_t)(state >> 24);
    }
    fence();
    *fabric(FABRIC_REGS_IRQ_ENABLE) = EVENT(RECONFIG_OVER) | EVENT(PRR_STOPPED) |
                                      EVENT(DMA_VIOLATION) | EVENT(TASK_FAULT) |
                                      EVENT(NEW_SOLUTION);
    *fabric(FABRIC_REGS_DEVICE) = TASK_QAM16;
    for (unsigned int vm = 0; vm < VMS; vm++) {
        open_window(vm, 0, GUEST_INPUT | READABLE, input, sizeof input);
        open_window(vm, 1, GUEST_OUTPUT | WRITABLE, output[vm], sizeof output[vm]);
        connect(vm);
    }
    test_request(0);
    run(0, INPUT_BYTES, "qam_512");
    run(0, SHORT_BYTES, "qam_16");
    run(1, INPUT_BYTES, "qam_512_other_vm");
    violate(1);
    connect(1); /* without a configuration: the task is still there */
    run(1, SHORT_BYTES, "qam_16_after_violation");
}
