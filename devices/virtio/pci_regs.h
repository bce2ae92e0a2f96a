/* SPDX-License-Identifier: Apache-2.0 */
/* Registers in the configuration space of a PCI function (PCI Local Bus Specification 3.0, chapter
 * 6). */
#ifndef PCI_REGS_H
#define PCI_REGS_H

#define ALL_ONES (~0U)
#define VENDOR 0x1af4U /* virtio's */

#define COMMAND_MEMORY 2U
#define COMMAND_MASTER 4U
#define COMMAND_INTX_DISABLE 0x400U
/* that a guest may write */
#define COMMAND_BITS (COMMAND_MEMORY | COMMAND_MASTER | COMMAND_INTX_DISABLE)
/* in the word of command and status */
#define STATUS_INTERRUPT (1U << 19)
#define STATUS_CAPABILITIES (1U << 20)

/* Offsets in the configuration space, of 32-bit words. */
enum {
    PCI_ID = 0x00,
    PCI_COMMAND = 0x04,
    PCI_CLASS = 0x08,
    PCI_HEADER = 0x0c,
    PCI_BAR0 = 0x10,
    PCI_BAR2 = 0x18,
    PCI_BAR3 = 0x1c,
    PCI_SUBSYSTEM = 0x2c,
    PCI_CAPABILITIES = 0x34,
    PCI_INTERRUPT = 0x3c,
    PCI_CAPABILITY = 0x40, /* the lowest offset of a capability */
};
#define PCI_BARS 6U
#define CAPABILITY_VENDOR 0x09U
#define BAR_64BIT 4U

#endif
