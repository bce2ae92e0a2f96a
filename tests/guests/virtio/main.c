/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the drivers of the virtual PCI functions that the VM has. The last line is:
 *
 *      virtio: done, 0 wrong
 *
 * Boot arguments:
 *   role=echo     the network device returns each frame to its address, with the addresses swapped,
 *                 `count` frames (0: never ends)
 *   role=send     it sends `count` frames (default 100) of `size` bytes (default 100), and checks
 *                 that each comes back
 *   peer=n        to 02:00:00:00:00:n (decimal; default 2)
 *   sleep=1       the network device is used by interrupts, otherwise polled
 *   mmio=1        the network device is the first one on MMIO
 *   vsock=echo    the socket device returns a stream until it ends
 *   vsock=send    it sends a MiB to the VM with context id `cid` (default 3), and compares what
 *                 comes back
 *   console=echo  the console returns what it receives, up to a byte 0
 *   console=send  it sends 64 KiB to its other end, and compares what comes back
 *   partner=n     the VM with which ivshmem is tested, which runs this guest, too
 */
#include "fdt.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "virtio_test.h"

int main(unsigned long hart, const void *fdt);

static unsigned int (*const tests[])(struct test *) = {check_rng,   check_blk,     check_ivshmem,
                                                       check_vsock, check_console, check_net};
static unsigned int wrong;

void must(bool holds, const char *what)
{
    if (!holds) {
        wrong++;
        print("virtio: wrong: %s\n", what);
    }
}

int main(unsigned long hart, const void *fdt)
{
    static struct test test;
    unsigned int found = 0;

    uart_init();
    (void)timer_init();
    test.fdt = fdt;
    test.hart = hart;
    if (pci_open(&test.bus, fdt)) {
        for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
            found += tests[i](&test);
        }
    }
    must(found != 0, "functions that the drivers know");
    print("virtio: done, %u wrong\n", wrong);
    return 0;
}
