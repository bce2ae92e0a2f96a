/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storage VM: it owns a disk of the machine (virtio on MMIO) and serves parts of it to other VMs,
 * as their disks (virtio-blk with `served-by` in the system file). It keeps nothing in memory: a
 * request is answered when the machine's disk has done it. If that disk or the server's device
 * fails, the guest reboots, which resets both; then it is given again what it has not answered.
 * Without a disk of the machine, it serves one of its own PCI bus.
 */
#include "disk_server.h"
#include "machine.h"
#include "plic.h"
#include "print.h"
#include "timer.h"
#include "uart.h"
#include "virtio_blk.h"

#define ERRORS_SHOWN 8U

int main(unsigned long hart, const void *fdt);

static struct virtio_blk disk;
static struct disk_server server;
static unsigned int errors;

/* VIRTIO_OK, or what is wrong: VIRTIO_BROKEN if the disk has failed. */
static int serve(const struct disk_request *request, uint8_t *data)
{
    switch (request->type) {
    case DISK_READ:
        return virtio_blk_read(&disk, request->sector, data, request->bytes / VIRTIO_BLK_SECTOR);
    case DISK_WRITE:
        return virtio_blk_write(&disk, request->sector, data, request->bytes / VIRTIO_BLK_SECTOR);
    case DISK_FLUSH:
        return virtio_blk_flush(&disk);
    default:
        return VIRTIO_INVALID;
    }
}

static int serve_next(const struct disk_request *request, uint8_t *data)
{
    int result = serve(request, data);

    if (result != VIRTIO_OK && errors++ < ERRORS_SHOWN) {
        print("storage: disk %u, request of type %u at sector %llu: error %d\n", request->disk,
              request->type, (unsigned long long)request->sector, result);
    }
    if (result == VIRTIO_BROKEN) {
        return result;
    }
    return disk_server_answer(&server, request, result == VIRTIO_OK ? DISK_OK : DISK_ERROR);
}

static void clear(void *argument)
{
    (void)argument;
    (void)virtio_isr(&disk.device);
    (void)virtio_isr(&server.device);
}

static void sleep_until_request(unsigned long hart)
{
    virtqueue_interrupt(&server.requests, true);
    if (!virtqueue_used(&server.requests)) {
        plic_wait(server.device.irq, hart, clear, NULL);
    }
    virtqueue_interrupt(&server.requests, false);
}

static bool open_devices(const void *fdt)
{
    static struct pci_bus bus;
    bool has_bus = pci_open(&bus, fdt);
    int result = virtio_blk_open_mmio(&disk, fdt);

    if (result == VIRTIO_NO_DEVICE && has_bus) {
        result = virtio_blk_open(&disk, &bus, 0);
    }
    if (result != VIRTIO_OK) {
        print("storage: expected a disk of the machine (\"devices\" of the VM) or of the PCI bus: "
              "error %d\n",
              result);
        return false;
    }
    result = has_bus ? disk_server_open(&server, &bus) : VIRTIO_NO_DEVICE;
    if (result != VIRTIO_OK) {
        print("storage: expected a disk-server on the VM's PCI bus: error %d\n", result);
        return false;
    }
    return true;
}

int main(unsigned long hart, const void *fdt)
{
    int result = VIRTIO_OK;

    uart_init();
    (void)timer_init();
    if (!open_devices(fdt)) {
        return 1;
    }
    virtio_sleep_on(&disk.device, hart);
    print("storage: ready, a disk of %llu sectors%s\n", (unsigned long long)disk.sectors,
          disk.flushes ? "" : " that needs no flush");
    while (result == VIRTIO_OK && !server.requests.broken) {
        struct disk_request request;
        uint8_t *data = disk_server_next(&server, &request);

        if (data == NULL) {
            sleep_until_request(hart);
        } else {
            result = serve_next(&request, data);
        }
    }
    print("storage: a device has failed\n");
    machine_reboot();
    return 1;
}
