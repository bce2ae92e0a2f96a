/* SPDX-License-Identifier: Apache-2.0 */
/* The emulated UART's registers, a byte at a time as drivers use them, against the PC16550D's data
 * sheet. */
#include "unit.h"

#include <string.h>

#include "console.h"
#include "host.h"
#include "testbed.h"
#include "vdev.h"
#include "vuart.h"

enum {
    DATA,
    IER,
    IIR,
    LCR,
    MCR,
    LSR,
    MSR,
    SCR,
    BEYOND
};

#define UART UINT64_C(0x10000000)
#define LINE (UINT32_C(1) << 10)
#define DLAB 0x80U
#define LOOP 0x10U
#define RECEIVED 0x01U    /* in IER and LSR */
#define EMPTY 0x02U       /* in IER */
#define LINE_STATUS 0x04U /* in IER */
#define OVERRUN 0x02U     /* in LSR */
#define CHIP_FIFO 16U
#define READY 0x60U /* in LSR */

static struct vm *vm;

static void boot(void)
{
    static const unsigned nvcpus[] = {1};

    assert_true(testbed_boot(1, 1, nvcpus, 1000));
    assert_true(testbed_vm_start(0, 0));
    assert_true(testbed_run_until_idle());
    vm = &hyp.vms[0];
    console_end(vm); /* the console keeps its state across a boot */
    (void)host_output();
}

static ulong get(unsigned reg)
{
    const struct vdev *dev = vdev_find(&vm->devs, UART + reg);

    assert_non_null(dev);
    return dev->read(&vm->vcpus[0], reg, 0);
}

static void put(unsigned reg, ulong value)
{
    const struct vdev *dev = vdev_find(&vm->devs, UART + reg);

    assert_non_null(dev);
    dev->write(&vm->vcpus[0], reg, 0, value);
}

static bool line(void)
{
    return (vm->arch.lines & LINE) != 0;
}

static void test_registers_at_power_on(void **state)
{
    static const ulong values[] = {0, 0, 0x01, 0, 0, READY, 0xb0, 0};

    (void)state;
    boot();
    for (unsigned reg = DATA; reg <= SCR; reg++) {
        assert_int_equal(get(reg), values[reg]);
    }
    assert_null(vdev_find(&vm->devs, UART + VUART_SIZE));
    assert_false(line());
}

static void test_writable_register_bits(void **state)
{
    (void)state;
    boot();
    put(SCR, 0x1a5);
    put(LCR, 0x1b);
    put(MCR, 0xef);
    put(IER, 0xf8);
    put(LSR, 0xff);
    put(MSR, 0xff);
    assert_int_equal(get(SCR), 0xa5);
    assert_int_equal(get(LCR), 0x1b);
    assert_int_equal(get(MCR), 0x0f);
    assert_int_equal(get(IER), 0x08);
    assert_int_equal(get(LSR), READY);
    assert_int_equal(get(MSR), 0xb0);
}

static void test_dlab_hides_two_registers(void **state)
{
    (void)state;
    boot();
    put(IER, 0x08);
    put(LCR, DLAB | 0x03);
    put(DATA, 'A');
    put(IER, 0x12);
    assert_int_equal(get(DATA), 'A');
    assert_int_equal(get(IER), 0x12);
    put(LCR, 0x03);
    assert_int_equal(get(DATA), 0);
    assert_int_equal(get(IER), 0x08);
    assert_null(strchr(host_output(), 'A')); /* nothing was sent */
}

static void test_input_interrupts_until_it_is_read(void **state)
{
    (void)state;
    boot();
    assert_true(vuart_receive(vm, 'a'));
    assert_false(line()); /* not enabled */
    assert_int_equal(get(LSR), READY | RECEIVED);
    assert_int_equal(get(IIR), 0x01);
    put(IER, RECEIVED);
    assert_true(line());
    assert_true(vuart_receive(vm, 'b'));
    assert_int_equal(get(IIR), 0x04);
    assert_int_equal(get(DATA), 'a');
    assert_true(line());
    assert_int_equal(get(DATA), 'b');
    assert_false(line());
    assert_int_equal(get(DATA), 0); /* no input left */
    assert_int_equal(get(LSR), READY);
    assert_int_equal(vuart_getc(vm), -1);
}

static void test_fifo_control(void **state)
{
    (void)state;
    boot();
    put(IER, RECEIVED);
    put(IIR, 0x01);
    assert_int_equal(get(IIR), 0xc1);
    assert_true(vuart_receive(vm, 'a'));
    assert_int_equal(get(IIR), 0xc4);
    put(IIR, 0x03); /* clears the receive FIFO */
    assert_false(line());
    assert_int_equal(get(IIR), 0xc1);
    assert_int_equal(get(DATA), 0);
    put(IIR, 0x00);
    assert_int_equal(get(IIR), 0x01);
}

/* Section 8.5 of the data sheet: a change of FCR bit 0 empties the FIFOs. */
static void test_change_of_fifo_mode_empties_the_fifo(void **state)
{
    static const ulong modes[] = {1, 0};

    (void)state;
    boot();
    put(IER, RECEIVED);
    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_true(vuart_receive(vm, 'a'));
        assert_int_equal(get(LSR), READY | RECEIVED);
        assert_true(line());
        put(IIR, modes[i]);
        assert_int_equal(get(LSR), READY);
        assert_false(line());
        assert_true(vuart_receive(vm, 'b'));
        put(IIR, modes[i]); /* no change */
        assert_int_equal(get(DATA), 'b');
    }
}

static void test_full_fifo_discards_input(void **state)
{
    (void)state;
    boot();
    for (unsigned i = 0; i < VUART_FIFO; i++) {
        assert_true(vuart_receive(vm, (char)('a' + i % 26)));
    }
    assert_false(vuart_receive(vm, '!'));
    for (unsigned i = 0; i < VUART_FIFO; i++) {
        assert_int_equal(get(DATA), 'a' + i % 26);
    }
    assert_int_equal(get(DATA), 0);
}

/* LSR tells of it once, and interrupts before all else. */
static void test_overrun_of_the_input(void **state)
{
    (void)state;
    boot();
    put(IER, LINE_STATUS);
    for (unsigned i = 0; i < VUART_FIFO; i++) {
        assert_true(vuart_receive(vm, 'a'));
    }
    assert_false(line());
    assert_false(vuart_receive(vm, '!'));
    assert_true(line());
    put(IER, LINE_STATUS | RECEIVED);
    assert_int_equal(get(IIR), 0x06);
    assert_int_equal(get(LSR), READY | RECEIVED | OVERRUN);
    assert_int_equal(get(IIR), 0x04);
    assert_int_equal(get(LSR), READY | RECEIVED);
    put(IER, LINE_STATUS);
    assert_false(line());
}

static void test_the_transmitter_interrupts_once(void **state)
{
    (void)state;
    boot();
    put(IER, EMPTY); /* the transmitter is empty, so enabling raises the interrupt */
    assert_true(line());
    assert_int_equal(get(IIR), 0x02);
    assert_int_equal(get(IIR), 0x01); /* the previous read acknowledged the interrupt */
    assert_false(line());
    put(IER, EMPTY); /* no effect, since it was enabled */
    assert_false(line());
    put(DATA, 'x');
    assert_true(line());
    assert_true(vuart_receive(vm, 'a'));
    put(IER, EMPTY | RECEIVED);
    assert_int_equal(get(IIR), 0x04); /* received data has the higher priority */
    assert_int_equal(get(DATA), 'a');
    assert_int_equal(get(IIR), 0x02);
    put(IIR, 0x04); /* clears the transmit FIFO, which is empty again */
    assert_int_equal(get(IIR), 0x02);
    put(DATA, 'y');
    put(DATA, '\n');
    assert_non_null(strstr(host_output(), "xy"));
}

static void test_loopback(void **state)
{
    static const struct {
        ulong mcr, msr;
    } lines[] = {{0x01, 0x20}, {0x02, 0x10}, {0x04, 0x40}, {0x08, 0x80}, {0x0f, 0xf0}, {0, 0}};

    (void)state;
    boot();
    for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        put(MCR, LOOP | lines[i].mcr);
        assert_int_equal(get(MSR), lines[i].msr);
    }
    put(IIR, 0x01);
    for (unsigned i = 0; i < CHIP_FIFO; i++) {
        put(DATA, 'Q');
    }
    put(DATA, 'R'); /* the FIFO is full */
    assert_int_equal(get(LSR), READY | RECEIVED | OVERRUN);
    for (unsigned i = 0; i < CHIP_FIFO; i++) {
        assert_int_equal(get(DATA), 'Q');
    }
    assert_int_equal(get(LSR), READY);
    put(IIR, 0x00);
    put(DATA, 'Q');
    put(DATA, 'R'); /* replaces the character */
    assert_int_equal(get(LSR), READY | RECEIVED | OVERRUN);
    assert_int_equal(get(DATA), 'R');
    assert_int_equal(get(LSR), READY);
    put(MCR, 0);
    put(DATA, '\n');
    assert_null(strpbrk(host_output(), "QR"));
}

/* A guest that checks the status loses no output and gets an interrupt when the transmitter is
 * ready again. */
static void test_full_console_blocks_the_transmitter(void **state)
{
    unsigned written = 0;

    (void)state;
    boot();
    put(IER, EMPTY);
    for (; (get(LSR) & READY) != 0 && written < 100000; written++) {
        put(DATA, 'z');
    }
    assert_in_range(written, 1, 99999);
    (void)get(IIR);
    assert_false(line());
    put(IER, 0);
    put(IER, EMPTY); /* the transmitter is not empty now */
    assert_int_equal(get(IIR), 0x01);
    (void)host_output();
    assert_int_equal(get(LSR), READY);
    assert_true(line());
    assert_int_equal(get(IIR), 0x02);
    vuart_tx_ready(vm); /* no effect, since the guest does not wait */
    assert_false(line());
}

static void test_without_an_interrupt_number(void **state)
{
    static const unsigned nvcpus[] = {1};
    struct testbed_image *image = testbed_image_make(1, 1, nvcpus, 1000);

    (void)state;
    image->vms[0].uart_irq = 0;
    testbed_image_seal(image);
    assert_true(testbed_boot_image(image));
    vm = &hyp.vms[0];
    put(IER, EMPTY | RECEIVED);
    assert_true(vuart_receive(vm, 'a'));
    assert_int_equal(get(IIR), 0x04);
    assert_int_equal(vm->arch.lines, 0);
}

static void test_start_resets_all_registers(void **state)
{
    (void)state;
    boot();
    put(SCR, 1);
    put(IER, RECEIVED);
    assert_true(vuart_receive(vm, 'a'));
    assert_true(testbed_vm_stop(0, 0, true));
    assert_true(testbed_run_until_idle());
    assert_int_equal(get(SCR), 0);
    assert_int_equal(get(IER), 0);
    assert_int_equal(get(LSR), READY);
    assert_false(line());
}

static void test_limit_of_devices_per_vm(void **state)
{
    (void)state;
    boot();
    while (vm->devs.count < VM_MAX_VDEVS) {
        assert_true(vuart_init(vm, UART + vm->devs.count * VUART_SIZE));
    }
    assert_false(vuart_init(vm, UART));
    assert_int_equal(vm->devs.count, VM_MAX_VDEVS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registers_at_power_on),
        cmocka_unit_test(test_writable_register_bits),
        cmocka_unit_test(test_dlab_hides_two_registers),
        cmocka_unit_test(test_input_interrupts_until_it_is_read),
        cmocka_unit_test(test_fifo_control),
        cmocka_unit_test(test_change_of_fifo_mode_empties_the_fifo),
        cmocka_unit_test(test_full_fifo_discards_input),
        cmocka_unit_test(test_overrun_of_the_input),
        cmocka_unit_test(test_the_transmitter_interrupts_once),
        cmocka_unit_test(test_loopback),
        cmocka_unit_test(test_full_console_blocks_the_transmitter),
        cmocka_unit_test(test_without_an_interrupt_number),
        cmocka_unit_test(test_start_resets_all_registers),
        cmocka_unit_test(test_limit_of_devices_per_vm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
