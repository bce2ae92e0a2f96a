/* SPDX-License-Identifier: Apache-2.0 */
/* What RISC-V boards say about themselves, compared with the firmware's device tree: fills in
 * struct fwtree_board from platform.h, the board's header and the system image, lets
 * services/fwtree compare, and reports the findings. At boot, on the boot hart; owns no state. */
#include "arch.h"
#include "board.h"
#include "console.h"
#include "fwtree.h"
#include "internal.h"
#include "lib.h"
#include "platform.h"
#include "sysimage.h"

#define SBI_LEGACY_PUTCHAR 1UL

/* By the firmware's console, where the board's UART is missing or has other registers. */
static void print_by_firmware(const char *fmt, const ulong *args)
{
    struct text t;
    int c;

    text_begin(&t, fmt, args);
    for (c = text_next(&t); c != TEXT_END; c = text_next(&t)) {
        sbi_call(SBI_LEGACY_PUTCHAR, 0, (ulong)c, 0, 0);
    }
    sbi_call(SBI_LEGACY_PUTCHAR, 0, '\n', 0, 0);
}

static void report(const struct fwtree_finding *f)
{
    const char *kind = f->fatal ? "error" : "warning";
    const char *fmt =
        f->address
            ? "%s: the firmware's device tree contradicts the board %s: %s: 0x%lx, expected 0x%lx"
            : "%s: the firmware's device tree contradicts the board %s: %s: %lu, expected %lu";

    if (f->uart) {
        print_by_firmware(fmt, (const ulong[]){(ulong)kind, (ulong)platform.name, (ulong)f->what,
                                               f->found, f->expected});
    } else {
        console_log(fmt, kind, platform.name, f->what, f->found, f->expected);
        console_drain();
    }
}

static void describe_system(struct fwtree_board *board, const struct sysimage_header *image)
{
    board->ram_end =
        image->ram_base + image->ram_size + ((uint64_t)image->trace_kib * image->nharts << 10);
    board->timebase_hz = image->timebase_hz;
    board->harts = image->nharts;
}

/* The tree may be anywhere, also in RAM that the board's file does not have, or unreadable. */
static void read_tree(ulong tree, const struct fwtree_board *board)
{
    bool there = tree != 0 && tree % 8U == 0 && probe_readable(tree, TREE_HEADER);
    ulong size = there ? boot_tree_size(tree) : 0;

    there = size >= TREE_HEADER && size <= TREE_LARGEST && probe_readable(tree, size);
    fwtree_read((const uint8_t *)tree, there ? (uint32_t)size : 0, board);
}

void fwtree_check(ulong tree, const struct sysimage_header *image)
{
    extern const char __text_start[];
    struct fwtree_board board = {
        .uart = {{"ns16550a", "ns16550"},
                 platform.uart.base,
                 platform.uart_irq,
                 UART_NS16550_STRIDE,
                 sizeof(UART_NS16550_REG)},
        .irqchip = {{"riscv,plic0", "sifive,plic-1.0.0"},
                    "riscv,ndev",
                    platform.irqchip.base,
                    platform.irq_count - 1U},
        .ram = (ulong)__text_start,
    };
    struct fwtree_finding findings[FWTREE_FINDINGS];
    unsigned count;
    bool fits = true;

    if (image == NULL) {
        read_tree(tree, &board);
    } else {
        describe_system(&board, image);
    }
    count = fwtree_compare(&board, findings);
    for (unsigned i = 0; i < count; i++) {
        if (findings[i].uart || image != NULL) {
            report(&findings[i]);
            fits = fits && !findings[i].fatal;
        }
    }
    if (!fits) {
        arch_shutdown(true);
    }
}
