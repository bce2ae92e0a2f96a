/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated ns16550a: what a VM has instead of the board's UART. */
#ifndef VUART_H
#define VUART_H

#include "types.h"

struct vm;
struct vcpu;

#define VUART_FIFO 1024U /* receive FIFO, bytes; power of two. The real chip has 16, which a pasted line overruns. */
#define VUART_SIZE 8U    /* one byte for each register; the machine that guests expect has nothing behind them either */

struct vuart {
    uint8_t ier, lcr, mcr, scr, fcr, dll, dlm;
    bool thre_pending; /* transmitter-empty interrupt not yet acknowledged */
    bool tx_blocked;   /* the console had no room; vuart_tx_ready() ends it */
    bool line;         /* state of the interrupt line */
    uint8_t rx[VUART_FIFO];
    unsigned rx_head, rx_tail; /* free-running */
};

/* Adds the device to a VM at boot. False when the VM can take no more devices. */
bool vuart_init(struct vm *vm, gpa_t base);

/* Power-on state, at every start of the VM. */
void vuart_reset(struct vm *vm);

/* A character for the guest. Returns false when the FIFO was full: the character is lost. Takes vm->lock. */
bool vuart_receive(struct vm *vm, char c);

/* Takes a received character if there is one, for the SBI console. Returns -1 if not. Takes vm->lock. */
int vuart_take(struct vm *vm);

/* The console has room again. Takes vm->lock. */
void vuart_tx_ready(struct vm *vm);

#endif
