/* SPDX-License-Identifier: Apache-2.0 */
/* LiteX's boot program includes this. It polls its devices: the SoC's PLIC belongs to firmware and
 * hypervisor. */
#ifndef IRQ_H
#define IRQ_H

#endif
