/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system image: what the image builder writes and the hypervisor reads.
 *
 *   +--------------------+ load address of the hypervisor (platform/<board>)
 *   | hypervisor         |   text, rodata, data, bss
 *   +--------------------+ next 4 KiB boundary: symbol __hyp_end
 *   | sysimage_header    |   all offsets below count from here
 *   | tables             |   sysimage_vm[], then the arrays each VM points to; sections
 *   +--------------------+ config_size
 *   | payloads           |   guest images and device trees, each 4 KiB aligned
 *   | SYSIMAGE_END       |   the last 8 bytes, to detect a truncated image
 *   +--------------------+ total_size
 *
 * The builder has checked everything. The hypervisor checks bounds, counts and checksum again,
 * because an image can be damaged or truncated when it is transferred to the board. All fields are
 * little-endian and naturally aligned; there are no pointers and no text to parse.
 */
#ifndef SYSIMAGE_H
#define SYSIMAGE_H

#include <stdint.h>

#define SYSIMAGE_MAGIC UINT64_C(0x3141524553534554) /* "TESSERA1" in memory order */
#define SYSIMAGE_END UINT64_C(0x444e455353455431)   /* "1TESSEND" in memory order */
#define SYSIMAGE_VERSION 8U

#define SYSIMAGE_QUANTUM_MAX_US 1000000U

/* Limits of a build of the hypervisor; the builder refuses systems that exceed them. The first four
 * are lower in builds for boards with little memory. */
#ifndef SYSIMAGE_MAX_VMS
#define SYSIMAGE_MAX_VMS 16U
#define SYSIMAGE_MAX_RT_APPS 64U /* in all VMs */
#define SYSIMAGE_MAX_VCPUS 96U   /* RT apps are VCPUs, too */
#define SYSIMAGE_MAX_HARTS 8U
#endif
#define SYSIMAGE_MAX_VCPUS_PER_VM 8U
#define SYSIMAGE_MAX_REGIONS 8U /* per VM */
#define SYSIMAGE_MAX_SHARED 32U /* shared regions in all VMs */
#define SYSIMAGE_MAX_LOADS 8U   /* per VM */
#define SYSIMAGE_MAX_IRQS 8U    /* pass-through interrupts per VM */
#define SYSIMAGE_MAX_SECTIONS 16U
#define SYSIMAGE_MAX_FIXUPS 176U /* per VM: two per feature and VCPU */
#define SYSIMAGE_NAME_LEN 16U    /* with the terminating NUL */
#define SYSIMAGE_MAX_TRACE_KIB 16384U
#define SYSIMAGE_SEED_SIZE 32U /* bytes, of the machine's seed, a VM's, and a key */
#define SYSIMAGE_MAX_IRQS_PER_MS 1000U
#define SYSIMAGE_IRQ_BURST 4U /* size of the token bucket of a rate-limited source, interrupts */

/* At the start of the image, 4 KiB aligned. */
struct sysimage_header {
    uint64_t magic;       /* SYSIMAGE_MAGIC */
    uint32_t version;     /* SYSIMAGE_VERSION */
    uint32_t checksum;    /* CRC-32 (IEEE, as zlib's) of bytes 16 .. config_size-1 */
    uint64_t total_size;  /* bytes, with payloads and SYSIMAGE_END; a multiple of 8 */
    uint32_t config_size; /* bytes of header and tables */
    uint32_t nharts;      /* harts the system uses: 1 .. SYSIMAGE_MAX_HARTS */
    uint32_t nvms;        /* 1 .. SYSIMAGE_MAX_VMS */
    uint32_t vms_offset;  /* struct sysimage_vm[nvms] */
    uint32_t quantum_us;  /* best-effort quantum, microseconds: 100 .. SYSIMAGE_QUANTUM_MAX_US */
    /* bit n hides the machine's optional feature n, as the architecture numbers them */
    uint32_t machine_mask;
    uint64_t timebase_hz; /* frequency of the machine's time counter, from the board file */
    /* worst-case cost of a release to the interrupted RT app, nanoseconds */
    uint32_t rt_release_ns;
    uint32_t rt_switch_ns;  /* worst-case cost of its context switches to a job, nanoseconds */
    uint32_t rt_blocked_ns; /* longest time between two polling points of a CPU, nanoseconds */
    /* KiB of trace for each hart, 0 .. SYSIMAGE_MAX_TRACE_KIB; they follow ram_size */
    uint32_t trace_kib;
    uint64_t ram_base;      /* host RAM for VMs, for a last check of every hpa */
    uint64_t ram_size;      /* a multiple of 2 MiB */
    char name[32];          /* NUL-terminated name of the system */
    uint32_t be_reserve_us; /* CPU time reserved for best effort, microseconds */
    /* in any interval of this length on any hart; be_reserve_us .. 1000000 */
    uint32_t be_late_us;
    uint32_t nsections, sections_offset; /* struct sysimage_section[]; 0 .. SYSIMAGE_MAX_SECTIONS */
};

/* A component's own data within config_size. The component defines and checks their format
 * (sysimage_section()). */
struct sysimage_section {
    /* four characters in memory order, unique; the component's header defines its own */
    uint32_t tag;
    uint32_t offset;   /* from the image's header, 8-byte aligned */
    uint32_t size;     /* bytes, not 0 */
    uint32_t reserved; /* 0 */
};

#define SYSIMAGE_DEVICES_TAG 0x56454456U /* "VDEV" in memory order */

/* A record of the section SYSIMAGE_DEVICES_TAG: a device that a component emulates for a VM. */
struct sysimage_device {
    uint32_t kind;     /* not 0; the component's header defines its own */
    uint32_t vm;       /* 0 .. nvms-1 */
    uint64_t gpa;      /* of its registers; a multiple of 4 KiB */
    uint32_t irq;      /* guest source, 1 .. 31; 0: none */
    uint32_t reserved; /* 0 */
};

#define SYSIMAGE_VM_AUTOSTART (1U << 0)     /* starts at boot; otherwise from the console */
#define SYSIMAGE_VM_RESTART_FATAL (1U << 1) /* a fatal trap restarts the VM; otherwise stops it */
/* has the keyboard at boot; the first such VM, else VM 0 */
#define SYSIMAGE_VM_FOCUS (1U << 2)

struct sysimage_vm {
    char name[SYSIMAGE_NAME_LEN]; /* NUL-terminated, unique */
    uint32_t flags;               /* SYSIMAGE_VM_* */
    uint32_t colour;              /* ANSI foreground: 31 .. 37 or 91 .. 97 */
    uint32_t nvcpus;              /* 1 .. SYSIMAGE_MAX_VCPUS_PER_VM */
    /* RT apps it may have, each a VCPU after its nvcpus; 0: not an RT-VM */
    uint32_t rt_apps;
    uint32_t rt_launchers; /* bit n: VM n may launch its apps */
    uint32_t uart_irq;     /* guest source of the emulated UART, 1 .. 31; 0: polled only */
    uint32_t send_to;      /* bit n: may send messages to VM n */
    /* guest source of messages to VCPU 0, 1 .. 31; 0: software interrupt */
    uint32_t message_irq;
    /* watchdog period, after which the VM restarts unless petted; 0: none */
    uint32_t watchdog_ms;
    uint32_t restart_pause_max_ms; /* longest backoff before a restart of a failing VM; 0: none */
    uint64_t entry;                /* guest-physical address of VCPU 0's first instruction */
    /* guest-physical address of the device tree that VCPU 0 gets at entry, 0: none */
    uint64_t dtb;
    /* guest-physical address of the emulated ns16550a page, 0: none */
    uint64_t uart;
    /* guest-physical address of the emulated interrupt controller, 0: none */
    uint64_t irqchip;
    uint32_t nregions, regions_offset; /* struct sysimage_region[], the first of them RAM */
    uint32_t nloads, loads_offset;     /* struct sysimage_load[] */
    uint32_t nirqs, irqs_offset;       /* struct sysimage_irq[] */
    uint32_t nfixups, fixups_offset;   /* struct sysimage_fixup[] */
    uint32_t rt_harts;                 /* bit n: its apps may be pinned to hart n */
    uint32_t rt_share_max;             /* percent of each of these harts for its apps, 1 .. 100 */
    uint32_t rt_budget_max_us;         /* an app's longest budget, microseconds */
    uint32_t rt_period_max_us;         /* an app's longest period, microseconds */
    /* guest-physical address of the emulated test finisher, 0: none */
    uint64_t finisher;
    uint64_t rtc; /* guest-physical address of the emulated RTC, 0: none */
    /* guest-physical address of the device tree's seed (SYSIMAGE_SEED_SIZE), 0: none */
    uint64_t seed;
    uint32_t rtc_irq; /* guest source of the RTC's alarm, 1 .. 31; 0: none */
    /* rate limit of pass-through sources, 1 .. SYSIMAGE_MAX_IRQS_PER_MS; 0: none */
    uint32_t irqs_per_ms;
};

/* The VM's VCPUs: its guest's harts, then those that components run. */
static inline unsigned sysimage_vcpus(const struct sysimage_vm *vm)
{
    return vm->nvcpus + vm->rt_apps;
}

enum sysimage_region_kind {
    /* read, write, execute; cleared at every start; 2 MiB aligned (gpa, hpa, size) */
    SYSIMAGE_REGION_RAM = 0,
    /* a passed-through device: read, write; 4 KiB aligned; all within one 2 MiB of gpa */
    SYSIMAGE_REGION_MMIO = 1,
    /* Memory shared by several VMs, in the table of each with the same hpa, size and id: read,
     * write; cleared once at boot; 2 MiB aligned. */
    SYSIMAGE_REGION_SHARED = 2,
    /* RAM of the VM for its devices' DMA: read, write; otherwise as RAM. A VM that has some gives
     * its devices no other memory. */
    SYSIMAGE_REGION_DMA = 3,
};

struct sysimage_region {
    uint64_t gpa;  /* guest-physical start; below 2^41 */
    uint64_t hpa;  /* host-physical start */
    uint64_t size; /* bytes, not 0 */
    uint32_t kind; /* enum sysimage_region_kind */
    /* MMIO: offset of a 32-bit register that resets the device when 0 is written, done at start and
     * stop of the VM; 0: none. SHARED: the region's id, 0 .. SYSIMAGE_MAX_SHARED-1. */
    uint32_t detail;
};

/* A payload copied into the VM's RAM at every start; the rest of its RAM is zero. Loads do not
 * overlap. */
struct sysimage_load {
    uint64_t gpa;    /* 8-byte aligned, inside one RAM region */
    uint64_t offset; /* from the header, 4 KiB aligned */
    uint64_t size;   /* bytes; the payload is padded with zeros to a multiple of 8 */
    uint64_t words;  /* its checksum, the padding included: see struct word_sums */
    uint64_t sums;   /* as `words` */
};

/* A host interrupt passed through to the VM: host source `host` appears as source `guest` of the
 * emulated interrupt controller. */
struct sysimage_irq {
    uint32_t host;
    uint32_t guest; /* 1 .. 31 */
};

/* If the machine lacks `feature`, `size` bytes at offset `offset` of load number `load` (the device
 * tree) are replaced after each copy, so that the device tree does not describe the feature. */
struct sysimage_fixup {
    uint32_t feature;  /* in the architecture's numbering */
    uint32_t load;     /* index of the load */
    uint32_t offset;   /* bytes from the load's start */
    uint32_t size;     /* 1 .. sizeof(bytes) */
    uint8_t bytes[16]; /* what they are replaced with */
};

#endif
