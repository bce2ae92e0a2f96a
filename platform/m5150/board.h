/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#define BOARD_EIC true          /* interrupts come by the part's controller */
#define BOARD_GUEST_TIMER false /* a guest's timer interrupts nobody: ours does */

#endif
