/* SPDX-License-Identifier: Apache-2.0 */
/* Start and stop of a VM: windows for DMA, requests, a framebuffer. Its rights stay from boot
 * on. */
#include "atomic.h"
#include "fabric_windows.h"
#include "shared.h"

/* The VM's memory is cleared at its start, so the framebuffer begins black. */
static void show(const struct shared_client *c)
{
    ulong page = shared_page(c->number, SHARED_DISPLAY);

    shared_write(page + FABRIC_SCREEN_BASE, c->config->framebuffer);
    shared_write(page + FABRIC_SCREEN_FORMAT,
                 SHARED_PUT(FABRIC_SCREEN_FORMAT_STRIDE, shared_line_bytes(c->config->rect.width)) |
                     SHARED_PUT(FABRIC_SCREEN_FORMAT_ON, 1));
}

/* The VM's next life begins; its requests were removed at the end of the last one, or at boot. */
void shared_vm_reset(struct vm *vm)
{
    struct shared_client *c = shared_client_of(vm);

    if (c != NULL) {
        atomic_store_relaxed(&c->stopping, false);
        fabric_windows_open(shared_windows(c->number), &vm->memmap);
        if (shared_has_framebuffer(c)) {
            show(c);
        }
    }
}

/* One step; true if it was the last. None of the VM's VCPUs runs, so it submits nothing any more. A
 * memory access that has begun ends in the windows that were open; BUSY tells when the last one is
 * over. */
static bool stop_step(struct shared_client *c)
{
    if (!c->stopping) {
        atomic_store_relaxed(&c->stopping, true);
        shared_write(FABRIC_SHARED_FLUSH, SHARED_PUT(FABRIC_SHARED_FLUSH_VM, c->number));
        fabric_windows_close(shared_windows(c->number));
        return false;
    }
    return (shared_read(FABRIC_SHARED_BUSY) >> c->number & 1U) == 0;
}

bool shared_vm_stop(struct vm *vm)
{
    struct shared_client *c = shared_client_of(vm);

    return c == NULL || stop_step(c);
}
