/* SPDX-License-Identifier: Apache-2.0 */
/* The shared devices: reads of the flash, a frame to itself, a copy, lines of the UART, and a pin
 * on the exact cycle. */
#include "soc.h"

#define PAGE 4096U
#define ENTRIES 16U
#define GUEST UINT64_C(0x40000000)
#define READ_WRITE 3U
enum {
    UART_DEVICE,
    FLASH,
    SEND,
    RECEIVE,
    COPY,
    SCREEN,
    GPIO
};
#define DEVICES 8U
#define RING_AT 0U       /* in the VM's memory: completions, */
#define SOURCE_AT 0x200U /* what a device reads, */
#define TARGET_AT 0x800U /* and writes */
#define OP_READ 0U       /* and send, copy */
#define OP_RECEIVE 1U
#define BURST 256U
#define COPY_BYTES 512U
#define FRAME_BYTES 128U
#define MAC UINT64_C(0x020000000001)
#define LEAD 500U /* cycles from now to the pin's edge */
#define PIN_RISES (BOARD + 16U)
#define PIN_COUNT (BOARD + 24U)
/* Commands (gpio_processor.sv), for pin 0. */
#define GPIO_NOW (UINT64_C(1) << 63)
#define GPIO_UNTIL (UINT64_C(2) << 59)
#define GPIO_SET (UINT64_C(3) << 59)
#define GPIO_DRIVE (UINT64_C(5) << 59)
#define GPIO_PIN_0_HIGH (UINT64_C(1) << 40 | UINT64_C(1) << 24)
#define GPIO_SOON 4U

/* Owner of all: this file; the DMA reads and writes them. */
static uint8_t memory[VMS][PAGE] __attribute__((aligned(PAGE)));
static unsigned int completions[VMS][DEVICES];

static volatile uint8_t *seen(unsigned int vm, size_t offset)
{
    return (volatile uint8_t *)uncached(memory[vm]) + offset;
}

static void allow(unsigned int vm, unsigned int device, unsigned int priority)
{
    *shared(FABRIC_SHARED_ALLOW) = vm | device << FABRIC_SHARED_ALLOW_DEVICE_LSB |
                                   1U << FABRIC_SHARED_ALLOW_ALLOWED_LSB |
                                   priority << FABRIC_SHARED_ALLOW_PRIO_LSB;
}

static void open_vm(unsigned int vm)
{
    uintptr_t window = FABRIC_SHARED_WINDOWS + vm * FABRIC_VM_WINDOWS_STRIDE;

    *fabric(window + FABRIC_WINDOW_SIZE) = PAGE;
    *fabric(window + FABRIC_WINDOW_HOST) = (uintptr_t)memory[vm];
    *fabric(window + FABRIC_WINDOW_GUEST) = GUEST | READ_WRITE;
    for (unsigned int device = 0; device < DEVICES - 1; device++) {
        allow(vm, device, vm);
    }
    *shared(FABRIC_SHARED_FLASH_WINDOW) =
        vm | (uint64_t)(2 * vm) << FABRIC_SHARED_FLASH_WINDOW_FIRST_LSB |
        UINT64_C(2) << FABRIC_SHARED_FLASH_WINDOW_SECTORS_LSB;
    *shared(FABRIC_SHARED_PINS) = vm | (UINT64_C(1) << vm) << FABRIC_SHARED_PINS_MASK_LSB;
    for (unsigned int device = FLASH; device <= COPY; device++) {
        *shared_page(vm, device, FABRIC_CHANNEL_RING) = GUEST + RING_AT + 0x80U * (device - 1U);
    }
}

/* Two writes. */
static void submit(unsigned int vm, unsigned int device, uint64_t what, size_t offset)
{
    *shared_page(vm, device, FABRIC_CHANNEL_ADDR) = GUEST + offset;
    *shared_page(vm, device, FABRIC_CHANNEL_SUBMIT) = what;
}

static uint64_t request(unsigned int op, uint64_t length, uint64_t target)
{
    return op | length << FABRIC_CHANNEL_SUBMIT_LENGTH_LSB |
           target << FABRIC_CHANNEL_SUBMIT_TARGET_LSB;
}

/* One read, when the completion is there. */
static uint64_t completion(unsigned int vm, unsigned int device)
{
    unsigned int number = completions[vm][device]++;
    volatile uint64_t *ring =
        (volatile uint64_t *)(volatile void *)seen(vm, RING_AT + 0x80U * (device - 1U));
    uint64_t word;

    do {
        word = ring[number % ENTRIES];
    } while ((word & 1U) == (number / ENTRIES & 1U));
    return word;
}

static uint8_t pattern(uint32_t at)
{
    return (uint8_t)(at * 167U + (at >> 8) * 13U + (at >> 16));
}

static void test_flash(unsigned int vm)
{
    unsigned int wrong = 0;
    uint32_t first = vm * 2U * 65536U;
    uint64_t begin = cycles(), word;

    submit(vm, FLASH, request(OP_READ, 1, 5), TARGET_AT);
    word = completion(vm, FLASH);
    report("shared_flash_1", cycles() - begin);
    check("shared_flash_byte", word >> 32 & 0xff, pattern(first + 5));
    begin = cycles();
    submit(vm, FLASH, request(OP_READ, BURST, 0), TARGET_AT);
    word = completion(vm, FLASH);
    report("shared_flash_256", cycles() - begin);
    check("shared_flash_status", word >> 4 & 15, 0);
    for (uint32_t i = 0; i < BURST; i++) {
        wrong += *seen(vm, TARGET_AT + i) != pattern(first + i);
    }
    check("shared_flash_wrong", wrong, 0);
    submit(vm, FLASH, request(OP_READ, 1, 2U * 65536U), TARGET_AT);
    check("shared_flash_outside", completion(vm, FLASH) >> 4 & 15, 2);
    submit(vm, FLASH, request(OP_READ, BURST, 0), PAGE);
    check("shared_flash_no_window", completion(vm, FLASH) >> 4 & 15, 3);
    interrupt_wait(SOURCE_SHARED_MANAGER);
    check("shared_fault_address", *shared(FABRIC_SHARED_FAULT_ADDR), GUEST + PAGE);
}

static void fill_source(unsigned int vm, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        *seen(vm, SOURCE_AT + i) = (uint8_t)(i * 31U + vm);
    }
    fence();
}

static unsigned int wrong_copies(unsigned int vm, size_t bytes)
{
    unsigned int wrong = 0;

    for (size_t i = 0; i < bytes; i++) {
        wrong += *seen(vm, TARGET_AT + i) != *seen(vm, SOURCE_AT + i);
    }
    return wrong;
}

static void test_copy(unsigned int vm)
{
    uint64_t begin;

    fill_source(vm, COPY_BYTES);
    *shared_page(vm, COPY, FABRIC_CHANNEL_INT) = 1U << FABRIC_CHANNEL_INT_ENABLE_LSB;
    begin = cycles();
    submit(vm, COPY, request(0, COPY_BYTES, GUEST + TARGET_AT), SOURCE_AT);
    interrupt_wait(SOURCE_SHARED_VM + vm);
    report("shared_copy_512_to_handler", interrupt_trapped() - begin);
    check("shared_copy_status", completion(vm, COPY) >> 4 & 15, 0);
    check("shared_copy_wrong", wrong_copies(vm, COPY_BYTES), 0);
}

/* To its own address: the board's wire leads back. */
static void test_ethernet(unsigned int vm)
{
    uint64_t begin, word;

    *shared(FABRIC_SHARED_ETHERNET_MAC) = MAC;
    *shared(FABRIC_SHARED_ETHERNET_SET) = vm | 1U << FABRIC_SHARED_ETHERNET_SET_ENABLED_LSB;
    fill_source(vm, FRAME_BYTES);
    for (unsigned int i = 0; i < 6; i++) {
        uint8_t octet = (uint8_t)(MAC >> (40U - 8U * i));

        *seen(vm, SOURCE_AT + i) = octet;
        *seen(vm, SOURCE_AT + 6U + i) = octet;
    }
    fence();
    submit(vm, RECEIVE, request(OP_RECEIVE, 1518, 0), TARGET_AT);
    begin = cycles();
    submit(vm, SEND, request(0, FRAME_BYTES, 0), SOURCE_AT);
    word = completion(vm, RECEIVE);
    report("shared_frame_128_loop", cycles() - begin);
    check("shared_send_status", completion(vm, SEND) >> 4 & 15, 0);
    check("shared_receive_status", word >> 4 & 15, 0);
    check("shared_receive_bytes", word >> 16 & 0xffff, FRAME_BYTES);
    check("shared_receive_wrong", wrong_copies(vm, FRAME_BYTES), 0);
}

/* The pin rises in the named cycle of the time that the core reads, whatever the core does
 * meanwhile. */
static void test_pin(void)
{
    volatile uint64_t *command = shared_page(0, GPIO, FABRIC_GPIO_COMMAND);
    uint64_t due;

    check("shared_pins", *shared_page(0, GPIO, FABRIC_GPIO_OWN), 1);
    due = *at64(CLINT + 0xbff8U) + LEAD;
    *command = GPIO_NOW | GPIO_DRIVE | GPIO_PIN_0_HIGH | GPIO_SOON;
    *command = GPIO_UNTIL | due;
    *command = GPIO_SET | GPIO_PIN_0_HIGH;
    *shared_page(0, GPIO, FABRIC_GPIO_CONTROL) = 1;
    while (*at64(PIN_COUNT) == 0) {
    }
    check("shared_pin_cycle", *at64(PIN_RISES) - due, 0);
}

void test_shared(void)
{
    *shared(FABRIC_SHARED_IRQ_ENABLE) = 3;
    for (unsigned int vm = 0; vm < VMS; vm++) {
        open_vm(vm);
        test_flash(vm);
        test_copy(vm);
    }
    test_ethernet(0);
    test_pin();
    check("shared_id", *shared(FABRIC_SHARED_ID) & UINT32_MAX, 0x5453494f);
}
