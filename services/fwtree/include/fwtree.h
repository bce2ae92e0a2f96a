/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the firmware's device tree with what the board's file says, by the component `fwtree`:
 * an image for another board then stops with a message that names the difference.
 */
#ifndef FWTREE_H
#define FWTREE_H

#include "types.h"

struct sysimage_header;

/* Prints each contradiction between the firmware's tree at `tree` and the board or the system, and
 * switches the machine off if the system cannot run on a machine with this tree. As struct
 * component's boot_tree(): with `image` NULL the tree is read, and only what makes the console's
 * UART unusable is reported, by the firmware. */
void fwtree_check(ulong tree, const struct sysimage_header *image);

#define FWTREE_COMPATIBLES 2U

/* What the board and the system need. */
struct fwtree_board {
    struct {
        const char *compatible[FWTREE_COMPATIBLES]; /* device tree names of such a UART */
        uint64_t base;
        uint32_t irq, stride, width; /* of its registers and of an access, in bytes */
    } uart;
    struct {
        const char *compatible[FWTREE_COMPATIBLES]; /* of such an interrupt controller */
        const char *count;                          /* its property with the number of sources */
        uint64_t base;
        uint32_t sources; /* their number */
    } irqchip;
    uint64_t ram, ram_end; /* host-physical: what hypervisor and VMs use, and the end behind it */
    uint64_t timebase_hz;
    uint32_t harts; /* that the system uses */
};

struct fwtree_finding {
    const char *what;         /* what differs, for the console */
    uint64_t found, expected; /* in the tree, of the board */
    bool address;             /* both are addresses, otherwise numbers */
    bool fatal;               /* the system cannot run */
    bool uart;                /* the UART cannot print it */
};

#define FWTREE_FINDINGS 9U /* at most */

/* Reads what the tree says; it need not be well-formed: only its `size` bytes are read. Of `board`,
 * only the devices and the start of the RAM matter. */
void fwtree_read(const uint8_t *tree, uint32_t size, const struct fwtree_board *board);

/* Writes the contradictions between the tree that was read and `board` to `findings`, and returns
 * their number. What the tree does not have contradicts nothing. */
unsigned fwtree_compare(const struct fwtree_board *board, struct fwtree_finding *findings);

#endif
