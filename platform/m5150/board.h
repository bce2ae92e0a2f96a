/* SPDX-License-Identifier: Apache-2.0 */
/* A PIC32MZ-EF, an M5150 core with an external interrupt controller: constants of arch/mips.
 * platform.c drives the UART. */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_EIC 1         /* the part has an external interrupt controller */
#define BOARD_GUEST_TIMER 0 /* the guest's timer has no interrupt: the hypervisor emulates it */

#endif
