/* SPDX-License-Identifier: Apache-2.0 */
/* Start and stop of a VM: windows for DMA, requests, a framebuffer. Its rights stay from boot
 * on. */
#include "atomic.h"
#include "component.h"
#include "fabric_windows.h"
#include "io.h"

/* The VM's memory is cleared at its start, so the framebuffer begins black. */
static void show(const struct io_client *c)
{
    ulong page = io_page(c->number, IO_DISPLAY);

    io_write(page + FABRIC_SCREEN_BASE, c->config->framebuffer);
    io_write(page + FABRIC_SCREEN_FORMAT,
             IO_PUT(FABRIC_SCREEN_FORMAT_STRIDE, io_line_bytes(c->config->rect.width)) |
                 IO_PUT(FABRIC_SCREEN_FORMAT_ON, 1));
}

/* The VM's next life begins; its requests were removed at the end of the last one, or at boot. */
static void io_vm_reset(struct vm *vm)
{
    struct io_client *c = io_client_of(vm);

    if (c != NULL) {
        atomic_store_relaxed(&c->stopping, false);
        fabric_windows_open(io_windows(c->number), &vm->memmap);
        if (io_shows(c)) {
            show(c);
        }
    }
}
ON_VM_RESET(io_vm_reset);

/* One step; true if it was the last. None of the VM's VCPUs runs, so it submits nothing any more. A
 * memory access that has begun ends in the windows that were open; BUSY tells when the last one is
 * over. */
static bool stop_step(struct io_client *c)
{
    if (!c->stopping) {
        atomic_store_relaxed(&c->stopping, true);
        io_write(FABRIC_SHARED_FLUSH, IO_PUT(FABRIC_SHARED_FLUSH_VM, c->number));
        fabric_windows_close(io_windows(c->number));
        return false;
    }
    return (io_read(FABRIC_SHARED_BUSY) >> c->number & 1U) == 0;
}

static bool io_vm_stop(struct vm *vm)
{
    struct io_client *c = io_client_of(vm);

    return c == NULL || stop_step(c);
}
ON_VM_STOP(io_vm_stop);
