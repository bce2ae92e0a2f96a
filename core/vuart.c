/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulated ns16550a (National Semiconductor PC16550D data sheet, with its register names). The
 * console takes a transmitted character at once, so THRE and TEMT are set unless the console has no
 * room.
 */
#include "vuart.h"

#include "arch.h"
#include "atomic.h"
#include "console.h"
#include "vdev.h"
#include "vm.h"

enum {
    RBR_THR_DLL = 0,
    IER_DLM = 1,
    IIR_FCR = 2,
    LCR = 3,
    MCR = 4,
    LSR = 5,
    MSR = 6,
    SCR = 7
};

#define IER_RDI 0x01U
#define IER_THRI 0x02U
#define IER_RLSI 0x04U
#define IIR_NONE 0x01U
#define IIR_THRI 0x02U
#define IIR_RDI 0x04U
#define IIR_RLSI 0x06U
#define IIR_FIFO 0xc0U
#define FCR_ENABLE 0x01U
#define FCR_CLEAR_RX 0x02U
#define FCR_CLEAR_TX 0x04U
#define LCR_DLAB 0x80U
#define MCR_LOOP 0x10U
#define LSR_DR 0x01U
#define LSR_OE 0x02U
#define LSR_TX_EMPTY 0x60U /* THRE and TEMT */
#define MSR_LINES 0xb0U    /* DCD, DSR, CTS: peer connected */
#define CHIP_FIFO 16U      /* of the PC16550D; drivers measure it by loopback */

static bool rx_empty(const struct vuart *u)
{
    return u->rx_head == u->rx_tail;
}

static bool has_fifos(const struct vuart *u)
{
    return (u->fcr & FCR_ENABLE) != 0;
}

/* The pending interrupt of the highest priority, as in IIR. */
static uint8_t irq_cause(const struct vuart *u)
{
    if ((u->ier & IER_RLSI) != 0 && (u->lsr & LSR_OE) != 0) {
        return IIR_RLSI;
    }
    if ((u->ier & IER_RDI) != 0 && !rx_empty(u)) {
        return IIR_RDI;
    }
    return (u->ier & IER_THRI) != 0 && u->thre_pending ? IIR_THRI : IIR_NONE;
}

/* After each change. */
static void irq_update(struct vm *vm)
{
    struct vuart *u = &vm->uart;
    bool line = irq_cause(u) != IIR_NONE;

    u->lsr = (uint8_t)((u->lsr & LSR_OE) | (rx_empty(u) ? 0 : LSR_DR));
    if (line != u->line) {
        u->line = line;
        if (vm->config->uart_irq != 0) {
            arch_vm_irq(vm, vm->config->uart_irq, line);
        }
    }
}

/* Reads without side effects take no lock: each reads a single byte, or both ends of a queue that
 * the other side only advances. */

static uint8_t read_rbr(struct vm *vm)
{
    struct vuart *u = &vm->uart;
    uint8_t c = 0;

    if (!rx_empty(u)) {
        c = u->rx[u->rx_tail++ % VUART_FIFO];
        irq_update(vm);
    }
    return c;
}

static uint8_t read_iir(struct vm *vm)
{
    struct vuart *u = &vm->uart;
    uint8_t cause = irq_cause(u);

    if (cause == IIR_THRI) { /* reading IIR acknowledges it */
        u->thre_pending = false;
        irq_update(vm);
    }
    return cause | (has_fifos(u) ? IIR_FIFO : 0);
}

/* Reading LSR clears the overrun error. */
static ulong take_lsr(struct vm *vm)
{
    struct vuart *u = &vm->uart;
    ulong lsr;

    spin_lock(&vm->lock);
    lsr = u->lsr;
    u->lsr &= LSR_DR;
    irq_update(vm);
    vm_unlock(vm);
    return lsr;
}

static ulong read_lsr_full(struct vm *vm, ulong lsr)
{
    if ((lsr & LSR_OE) != 0) {
        lsr = take_lsr(vm);
    }
    if (!vm->console_busy) {
        return lsr | LSR_TX_EMPTY;
    }
    atomic_store_seq(&vm->uart.tx_blocked, true); /* first, or a notification could be lost */
    return console_ready(vm) ? lsr | LSR_TX_EMPTY : lsr;
}

static inline ulong read_lsr(struct vm *vm)
{
    ulong lsr = vm->uart.lsr;

    return !vm->console_busy && (lsr & LSR_OE) == 0 ? lsr | LSR_TX_EMPTY : read_lsr_full(vm, lsr);
}

static uint8_t read_msr(const struct vuart *u)
{
    uint8_t m = u->mcr;

    if ((m & MCR_LOOP) == 0) {
        return MSR_LINES;
    }
    /* loopback: RTS shows as CTS, DTR as DSR, OUT1 as RI, OUT2 as DCD */
    return (uint8_t)((m & 0x02U) << 3 | (m & 0x01U) << 5 | (m & 0x04U) << 4 | (m & 0x08U) << 4);
}

/* With DLAB set, the first two registers are the divisor. */
static inline bool vuart_dlab(const struct vuart *u)
{
    return (u->lcr & LCR_DLAB) != 0;
}

/* Reads the receive buffer or IIR, which have side effects. */
static ulong vuart_take_register(struct vm *vm, unsigned reg)
{
    ulong value;

    spin_lock(&vm->lock);
    value = reg == IIR_FCR ? read_iir(vm) : read_rbr(vm);
    vm_unlock(vm);
    return value;
}

static ulong vuart_load(struct vm *vm, unsigned reg)
{
    const struct vuart *u = &vm->uart;

    switch (reg) {
    case RBR_THR_DLL:
        return vuart_dlab(u) ? u->dll : vuart_take_register(vm, reg);
    case IER_DLM:
        return vuart_dlab(u) ? u->dlm : u->ier;
    case IIR_FCR:
        return vuart_take_register(vm, reg);
    case LCR:
        return u->lcr;
    case MCR:
        return u->mcr;
    case MSR:
        return read_msr(u);
    case SCR:
        return u->scr;
    default: /* one byte per register, none after the last */
        return 0;
    }
}

/* After a character was sent: the transmitter is empty, unless the console has no room. */
static void update_thre(struct vm *vm)
{
    struct vuart *u = &vm->uart;

    u->thre_pending = console_ready(vm);
    u->tx_blocked = !u->thre_pending;
    irq_update(vm);
}

/* Loopback: transmitted characters are received, as many as by the chip. A character that is lost
 * overwrites the last one if there are no FIFOs. */
static void loop_thr(struct vm *vm, uint8_t c)
{
    struct vuart *u = &vm->uart;
    bool fits = u->rx_head - u->rx_tail < (has_fifos(u) ? CHIP_FIFO : 1U);

    if (fits) {
        u->rx_head++;
    } else {
        u->lsr |= LSR_OE;
    }
    if (fits || !has_fifos(u)) {
        u->rx[(u->rx_head - 1U) % VUART_FIFO] = c;
    }
    update_thre(vm);
}

/* Calls console_putc(), which takes the console's lock, without vm->lock to keep that section
 * short. */
static void transmit(struct vm *vm, uint8_t c)
{
    console_putc(vm, (char)c);
    spin_lock(&vm->lock);
    update_thre(vm);
    vm_unlock(vm);
}

static void write_ier(struct vm *vm, uint8_t value)
{
    struct vuart *u = &vm->uart;
    bool enabled = (value & ~u->ier & IER_THRI) != 0;

    u->ier = value & 0x0fU;
    if (enabled) { /* the transmitter is empty when THRI gets enabled */
        update_thre(vm);
    } else {
        irq_update(vm);
    }
}

/* A change of FCR bit 0 empties the FIFOs, too (data sheet, section 8.5). That the transmitter's is
 * empty interrupts. */
static void write_fcr(struct vm *vm, uint8_t value)
{
    struct vuart *u = &vm->uart;

    if (((value ^ u->fcr) & FCR_ENABLE) != 0) {
        value |= FCR_CLEAR_RX | FCR_CLEAR_TX;
    }
    u->fcr = value;
    if ((value & FCR_CLEAR_RX) != 0) {
        u->rx_tail = u->rx_head;
    }
    if ((value & FCR_CLEAR_TX) != 0) {
        update_thre(vm);
    } else {
        irq_update(vm);
    }
}

static void vuart_store(struct vm *vm, unsigned reg, uint8_t value)
{
    struct vuart *u = &vm->uart;

    switch (reg) {
    case RBR_THR_DLL:
        if (!vuart_dlab(u)) {
            loop_thr(vm, value);
        } else {
            u->dll = value;
        }
        break;
    case IER_DLM:
        if (!vuart_dlab(u)) {
            write_ier(vm, value);
        } else {
            u->dlm = value;
        }
        break;
    case IIR_FCR:
        write_fcr(vm, value);
        break;
    case LCR:
        u->lcr = value;
        break;
    case MCR:
        u->mcr = value & 0x1fU;
        break;
    case SCR:
        u->scr = value;
        break;
    default: /* LSR and MSR are read-only */
        break;
    }
}

static ulong vuart_read(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    (void)width_log2;    /* every access width reads or writes one byte */
    if (offset == LSR) { /* what drivers poll */
        return read_lsr(v->vm);
    }
    return vuart_load(v->vm, (unsigned)offset);
}

static void vuart_write(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    struct vm *vm = v->vm;

    (void)width_log2;
    if (offset == RBR_THR_DLL && !vuart_dlab(&vm->uart) && (vm->uart.mcr & MCR_LOOP) == 0) {
        transmit(vm, (uint8_t)value);
    } else if (offset <= SCR) {
        spin_lock(&vm->lock);
        vuart_store(vm, (unsigned)offset, (uint8_t)value);
        vm_unlock(vm);
    }
}

bool vuart_init(struct vm *vm, gpa_t base)
{
    const struct vdev dev = {.base = base,
                             .size = VUART_SIZE,
                             .widths = 1 | 2 | 4 | 8,
                             .read = vuart_read,
                             .write = vuart_write};

    return vdev_add(&vm->devs, &dev);
}

void vuart_reset(struct vm *vm)
{
    vm->uart = (struct vuart){0};
}

bool vuart_receive(struct vm *vm, char c)
{
    struct vuart *u = &vm->uart;
    bool room;

    spin_lock(&vm->lock);
    room = u->rx_head - u->rx_tail < VUART_FIFO;
    if (room) {
        u->rx[u->rx_head++ % VUART_FIFO] = (uint8_t)c;
    } else {
        u->lsr |= LSR_OE;
    }
    irq_update(vm);
    vm_unlock(vm);
    return room;
}

int vuart_getc(struct vm *vm)
{
    int c;

    spin_lock(&vm->lock);
    c = rx_empty(&vm->uart) ? -1 : read_rbr(vm);
    vm_unlock(vm);
    return c;
}

void vuart_tx_ready(struct vm *vm)
{
    spin_lock(&vm->lock);
    if (vm->uart.tx_blocked) {
        vm->uart.tx_blocked = false;
        vm->uart.thre_pending = true;
        irq_update(vm);
    }
    vm_unlock(vm);
}
