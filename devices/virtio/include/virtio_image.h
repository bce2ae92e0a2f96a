/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section of the system image that describes the functions on each VM's virtual PCI bus
 * (docs/networking.md). The image builder has checked it; the component
 * checks counts, bounds and memory again at boot. Arrays lie at offsets from the start of the
 * section, 8-byte aligned.
 */
#ifndef VIRTIO_IMAGE_H
#define VIRTIO_IMAGE_H

#include <stdint.h>

#define VIRTIO_IMAGE_TAG 0x49435056U /* "VPCI" in memory order: sysimage_section.tag */

#define VIRTIO_MAX_FUNCTIONS 32U       /* in all VMs */
#define VIRTIO_MAX_FUNCTIONS_PER_VM 8U /* device numbers of its bus: 0 .. 7 */
#define VIRTIO_MAX_NETWORKS 16U
#define VIRTIO_CONSOLE_PORTS 4U
#define VIRTIO_CONSOLE_NAME 32U /* bytes of a line's name, and of the 0 behind it */

/* Guest-physical addresses, the same for all VMs; the interrupt of function n is VIRTIO_IRQ + n. */
#define VIRTIO_ECAM 0x30000000U    /* configuration space of bus 0 */
#define VIRTIO_ECAM_SIZE 0x100000U /* 32 devices of 8 functions, 4 KiB each */
#define VIRTIO_BARS 0x40000000U    /* BAR 0 of function n is at VIRTIO_BARS + n * VIRTIO_BAR_SIZE */
#define VIRTIO_BAR_SIZE 0x4000U
/* of the machine's bus, in all VMs: it has four interrupt lines */
#define VIRTIO_MAX_HOST_FUNCTIONS 4U
/* BARs of function n, if it is the machine's: from VIRTIO_HOST_BARS + n * VIRTIO_HOST_WINDOW on */
#define VIRTIO_HOST_BARS 0x41000000U
#define VIRTIO_HOST_WINDOW 0x200000U
#define VIRTIO_IRQ 24U /* sources 24 to 31 of the VM's interrupt controller */

/* What a function is: the device type of virtio 1.2, section 5, or a number of our own. */
enum virtio_image_kind {
    VIRTIO_IMAGE_NET = 1,
    VIRTIO_IMAGE_BLOCK = 2,
    VIRTIO_IMAGE_CONSOLE = 3,
    VIRTIO_IMAGE_ENTROPY = 4,
    VIRTIO_IMAGE_SOCKET = 19,
    VIRTIO_IMAGE_CRYPTO = 20,
    VIRTIO_IMAGE_DISK_SERVER = 63, /* DISK_SERVER_TYPE */
    VIRTIO_IMAGE_IVSHMEM = 0x110,
    VIRTIO_IMAGE_ACCELERATOR = 0x111,
    VIRTIO_IMAGE_HOST = 0x112,        /* a function of the machine's own PCI bus */
    VIRTIO_IMAGE_HARDWARE_IO = 0x113, /* the VM's devices shared by hardware */
};

#define VIRTIO_IMAGE_READ_ONLY (1U << 0) /* of a disk */
/* NET: behind it are all addresses that no NIC of its segment has */
#define VIRTIO_IMAGE_UPLINK (1U << 1)
#define VIRTIO_IMAGE_SERVED (1U << 2) /* of a disk: a server has it */
/* ACCELERATOR, HARDWARE_IO: BAR 2 is the VM's memory for DMA */
#define VIRTIO_IMAGE_DMA (1U << 3)
/* NET: frames of its network may be long segments without a checksum; of all its NICs */
#define VIRTIO_IMAGE_OFFLOADS (1U << 4)

struct virtio_image {
    /* struct virtio_image_function[], in the order of their VMs and slots */
    uint32_t nfunctions, functions_offset;
};

/* A function of a VM. Fields that its kind does not name are 0. */
struct virtio_image_function {
    uint32_t vm; /* number of the VM in the system */
    /* device number on the VM's bus, 0 .. VIRTIO_MAX_FUNCTIONS_PER_VM - 1, consecutive */
    uint32_t slot;
    uint32_t kind;             /* enum virtio_image_kind */
    uint32_t flags;            /* VIRTIO_IMAGE_* */
    uint64_t mac;              /* NET: MAC address, its first byte in bits 47:40 */
    uint32_t network;          /* NET: 0 .. VIRTIO_MAX_NETWORKS - 1 */
    uint32_t vlan;             /* NET: 1 .. 4094; 0 without a VLAN */
    uint32_t frames_per_ms;    /* NET: frames that the VM may send in each ms, 0: no limit */
    uint32_t multicast_per_ms; /* NET: of them to group addresses, 0: no limit */
    uint32_t cid;              /* SOCKET: context id of the VM, 3 .. 0xfffffffe, unique */
    uint32_t peers;            /* SOCKET: bit n: may exchange packets with VM n */
    uint32_t shared;           /* IVSHMEM: id of the shared region, BAR 2 */
    uint32_t ports;            /* CONSOLE: 1 .. VIRTIO_CONSOLE_PORTS */
    uint32_t server;           /* BLOCK with SERVED: the DISK_SERVER, by its number in this array */
    uint32_t unused;
    /* BLOCK: host-physical start of the disk's memory, 2 MiB aligned; SERVED: offset in the
     * server's disk, in bytes */
    uint64_t disk;
    /* BLOCK: bytes, a multiple of 512; memory is reserved in units of 2 MiB */
    uint64_t disk_size;
    /* BLOCK: offset of the first content from the image's header, 4 KiB aligned; 0: zeros */
    uint64_t content;
    uint64_t content_size; /* BLOCK: bytes of it, at most disk_size */
    /* ACCELERATOR: number of the VM's device of the fabric, whose page is BAR 0 */
    uint32_t device;
    /* the subsystem id: ACCELERATOR: number of its HW task; HARDWARE_IO: bit n: the VM has page n
     * of BAR 0 */
    uint32_t task;
    /* CONSOLE, for each of VIRTIO_CONSOLE_PORTS: the function, by its number in this array, and the
     * port that are the other end of the line; and the line's name, of VIRTIO_CONSOLE_NAME bytes
     * with zeros behind it. */
    uint16_t other_functions[4], other_ports[4];
    char names[128];
    /* HOST: host-physical address of the function's configuration space, 4 KiB aligned */
    uint64_t config;
    /* HOST: that of VIRTIO_HOST_WINDOW bytes of the machine's bus, for its BARs only, aligned to
     * their number */
    uint64_t window;
    /* HOST: source of its INTA at the machine's interrupt controller, of no other device */
    uint32_t irq;
    uint32_t unit; /* CRYPTO: 1 + number of the fabric's client that is its unit; 0: it has none */
};
_Static_assert(sizeof(((struct virtio_image_function *)0)->names) ==
                       VIRTIO_CONSOLE_PORTS * VIRTIO_CONSOLE_NAME &&
                   sizeof(((struct virtio_image_function *)0)->other_ports) ==
                       VIRTIO_CONSOLE_PORTS * sizeof(uint16_t),
               "literal sizes, which tests read");

#endif
