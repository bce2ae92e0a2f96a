/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated ns16550a: a VM's UART, in place of the board's. vm->lock guards it; what the guest
 * sends goes to the console, what the operator types comes from there. */
#ifndef VUART_H
#define VUART_H

#include "types.h"

struct vm;
struct vcpu;

/* receive FIFO, bytes; power of two. The chip's 16 are too few for a pasted line. */
#define VUART_FIFO 1024U
#define VUART_SIZE 8U /* one byte per register, which is all that guests expect */

/* Guarded by vm->lock. */
struct vuart {
    /* registers, as the guest has written them */
    uint8_t ier, lcr, mcr, scr, fcr, dll, dlm;
    /* of LSR the receiver's bits: data ready, and overrun since the last read of LSR */
    uint8_t lsr;
    bool thre_pending;         /* transmitter-empty interrupt not yet acknowledged */
    bool tx_blocked;           /* the console had no room; cleared by vuart_tx_ready() */
    bool line;                 /* state of the interrupt line */
    uint8_t rx[VUART_FIFO];    /* received bytes that the guest has not read */
    unsigned rx_head, rx_tail; /* free-running: place of the next byte to store, to read */
};

/* Adds the device to a VM at boot. False if the VM has too many devices. */
bool vuart_init(struct vm *vm, gpa_t base);

/* Resets the device, at every start of the VM. */
void vuart_reset(struct vm *vm);

/* A character for the guest. False if the FIFO is full: the character is lost, and an overrun error
 * is set. Takes vm->lock. */
bool vuart_receive(struct vm *vm, char c);

/* Takes a received character, for a guest that reads its console by calls; -1 if there is none.
 * Takes vm->lock. */
int vuart_getc(struct vm *vm);

/* The console has room again. Takes vm->lock. */
void vuart_tx_ready(struct vm *vm);

#endif
