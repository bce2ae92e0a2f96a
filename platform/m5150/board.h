/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_EIC 1         /* interrupts come by the part's controller */
#define BOARD_GUEST_TIMER 0 /* a guest's timer interrupts nobody: ours does */

#endif
