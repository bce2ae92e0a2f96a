/* SPDX-License-Identifier: Apache-2.0 */
/* Boot, from the firmware's jump to the first VCPU. The boot hart does all of it alone; other harts
 * start afterwards and initialize only themselves. Also the panic of a hart. */
#include "arch.h"
#include "atomic.h"
#include "component.h"
#include "console.h"
#include "internal.h"
#include "platform.h"
#include "system.h"
#include "version.h"

/* For boot.S and trap.S. */
void boot_first(ulong hartid, ulong tree);
void boot_other(ulong hartid);
void hypervisor_panic(ulong sp) __attribute__((noreturn));

/* JAL without a link, `distance` bytes forward, less than 2 KiB (Unprivileged ISA, section
 * 2.5.1). */
#define INSN_JAL_FORWARD(distance) (0x6fU | (distance) << 20)

#define TREE_MAGIC 0xd00dfeedUL

static void boot_failed(const char *what, const char *detail) __attribute__((noreturn));

static void boot_failed(const char *what, const char *detail)
{
    console_log("error: %s%s", what, detail);
    console_drain();
    arch_shutdown(true);
}

/* Runs on the panic stack, which belongs to no hart: cpu_self() is a zeroed struct cpu, good enough
 * for locks. */
void hypervisor_panic(ulong sp)
{
    console_seize();
    console_log(
        "error: the hypervisor itself trapped: cause %lu at 0x%lx, address 0x%lx, stack 0x%lx",
        csr_read(CSR_SCAUSE), csr_read(CSR_SEPC), csr_read(CSR_STVAL), sp);
    console_drain();
    arch_shutdown(true);
}

static ulong big_endian_32(const uint8_t *p)
{
    return (ulong)p[0] << 24 | (ulong)p[1] << 16 | (ulong)p[2] << 8 | p[3];
}

ulong boot_tree_size(ulong tree)
{
    const uint8_t *header = (const uint8_t *)tree;

    return big_endian_32(header) == TREE_MAGIC ? big_endian_32(header + 4) : 0;
}

/* A device tree (a1) inside the hypervisor or the system image has overwritten them: OpenSBI's
 * fw_jump puts the tree at a fixed address. In VM memory a tree does no harm. */
static void boot_check_tree(ulong tree)
{
    extern const char __text_start[], __hyp_end[];
    const struct sysimage_header *image = (const struct sysimage_header *)(const void *)__hyp_end;
    ulong start = (ulong)__text_start;
    ulong end =
        (ulong)image + (image->magic == SYSIMAGE_MAGIC ? image->total_size : sizeof(*image));
    ulong size = tree < end && tree >= start - TREE_LARGEST ? boot_tree_size(tree) : 0;

    if (size != 0 && memmap_overlap(tree, size, start, end - start)) {
        console_log("error: the firmware's device tree at 0x%lx to 0x%lx overlaps the hypervisor "
                    "and its image at "
                    "0x%lx to 0x%lx; it must be placed elsewhere",
                    tree, tree + size - 1U, start, end - 1U);
        console_drain();
        arch_shutdown(true);
    }
}

/* Takes the seed from the firmware's device tree before VM memory overwrites the tree. Only trees
 * in RAM above the hypervisor's start are read: other addresses may be unreadable or devices. */
static void boot_seed(ulong tree, const struct sysimage_header *image)
{
    extern const char __text_start[];
    ulong start = (ulong)__text_start, end = image->ram_base + image->ram_size, size;

    if (tree % 8U == 0 && tree >= start && tree < end && end - tree > TREE_HEADER) {
        size = boot_tree_size(tree);
        if (size >= TREE_HEADER && size <= TREE_LARGEST && size <= end - tree) {
            probe_seed(tree, size);
        }
    }
}

static const struct sysimage_header *boot_image(void)
{
    extern const char __hyp_end[];
    const struct sysimage_header *image = (const struct sysimage_header *)(const void *)__hyp_end;
    const char *wrong = sysimage_check(image, UINT64_C(1) << 30);

    if (wrong != NULL) {
        boot_failed("the system image cannot be used: ", wrong);
    }
    return image;
}

/* Replaces four-byte instructions by jumps; `patches`: pairs of an address and the jump's target.
 * Called while text is still writable, before translation is enabled. */
static void boot_patch(uint16_t *const (*patches)[2], unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint16_t *place = patches[i][0];
        uint32_t jump = INSN_JAL_FORWARD((uint32_t)((ulong)patches[i][1] - (ulong)place));

        place[0] = (uint16_t)jump;
        place[1] = (uint16_t)(jump >> 16);
    }
    __asm__ volatile("fence.i" ::: "memory");
}

static void boot_patches(const struct sysimage_header *image)
{
    extern uint16_t *const trap_patches[3][2], *const no_timer_patches[2][2];

    if (image->trace_kib != 0) {
        boot_patch(trap_patches, ARRAY_SIZE(trap_patches));
    }
    if (!riscv_facts.sstc) {
        boot_patch(no_timer_patches, ARRAY_SIZE(no_timer_patches));
    }
}

static void boot_harts(void)
{
    extern uint32_t boot_done;

    for (unsigned i = 1; i < hyp.ncpus; i++) {
        if (!arch_cpu_start(i)) {
            console_log("error: hart %u of %u does not start; the machine has too few harts for "
                        "this system",
                        i, hyp.ncpus);
            console_drain();
            arch_shutdown(true);
        }
    }
    atomic_store_release(&boot_done, 1U);
}

void boot_first(ulong hartid, ulong tree)
{
    const struct sysimage_header *image;
    const char *wrong;

    components_boot_tree(tree, NULL);
    platform_uart_init();
    console_open();
    if (!probe_hypervisor()) {
        boot_failed("this machine's harts lack the H extension (hypervisor)",
                    "; QEMU has it with -cpu rv64,h=true");
    }
    boot_check_tree(tree);
    image = boot_image();
    wrong = probe_machine(image);
    if (wrong != NULL) {
        boot_failed("this machine lacks ", wrong);
    }
    components_boot_tree(tree, image);
    boot_seed(tree, image);
    boot_patches(image);
    hyp.image = image;
    hyp.wall_clock = platform_wall_clock();
    wrong = hostmap_init(image);
    if (wrong == NULL) {
        hostmap_enable();
        hostmap_window(cpu_get(0));
        probe_paging();
        wrong = system_init(image);
    }
    if (wrong != NULL) {
        boot_failed("cannot set up the system: ", wrong);
    }
    hart_init(cpu_get(0), hartid);
    plic_init();
    console_log(
        "Tessera on %s: system %s, %u VMs on %u harts, quantum %u us%s, version " TESSERA_VERSION,
        platform.name, image->name, hyp.nvms, hyp.ncpus, image->quantum_us,
        riscv_facts.sstc ? ", Sstc" : "");
    system_start();
    boot_harts();
}

void boot_other(ulong hartid)
{
    struct cpu *cpu = cpu_self();

    hostmap_enable();
    hart_init(cpu, hartid);
    hostmap_window(cpu);
    plic_hart_init(hartid);
}
