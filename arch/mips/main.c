/* SPDX-License-Identifier: Apache-2.0 */
/* Boot, from boot.S to the first VCPU, and the end: panic and shutdown. An error before the first
 * VCPU runs is printed and ends the machine. Owns mips_cpu, the only struct cpu. */
#include "arch.h"
#include "console.h"
#include "internal.h"
#include "platform.h"
#include "system.h"
#include "version.h"

/* For boot.S and trap.S. */
void boot_first(void);
void hypervisor_panic(ulong sp) __attribute__((noreturn));

struct cpu mips_cpu;

static void boot_failed(const char *what, const char *detail) __attribute__((noreturn));

static void boot_failed(const char *what, const char *detail)
{
    console_log("error: %s%s", what, detail);
    console_drain();
    arch_shutdown(true);
}

void hypervisor_panic(ulong sp)
{
    console_seize();
    console_log(
        "error: the hypervisor itself trapped: cause %lx at 0x%lx, address 0x%lx, stack 0x%lx",
        cp0_read(CP0_CAUSE), cp0_read(CP0_NESTEDEPC), cp0_read(CP0_BADVADDR), sp);
    console_drain();
    arch_shutdown(true);
}

/* Ends the program by MIPS UHI, which simulators and debuggers serve. Without one, debug.S stops
 * the CPU. */
void arch_shutdown(bool failure)
{
    register ulong number __asm__("$25") = 1;
    register ulong code __asm__("$4") = failure ? 1 : 0;

    if (failure) {
        platform_fail();
    }
    for (;;) {
        __asm__ volatile("sdbbp 1" ::"r"(number), "r"(code) : "memory");
    }
}

/* Checks for mandatory features. Returns NULL, or what is missing. */
static const char *probe(void)
{
    ulong config3 = cp0_read(CP0_CONFIG3);

    if ((config3 & CONFIG3_VZ) == 0) {
        return "the virtualization module (VZ)";
    }
    if (((config3 & CONFIG3_VEIC) != 0) != BOARD_EIC) {
        return BOARD_EIC ? "an external interrupt controller"
                         : "interrupts without an external controller";
    }
    if (tlb_guest_ids() == 0) {
        return "GuestIDs of two bits";
    }
    return (cp0_read(CP0_SRSCTL) >> SRSCTL_HSS_SHIFT & SRSCTL_SET) == 0 ? "a GPR shadow set" : NULL;
}

/* Guests read 0 in watch registers and performance counters, so their Config1 must not name
 * them. */
static void hide_features(void)
{
    gcp0_write(CP0_CONFIG1, gcp0_read(CP0_CONFIG1) & ~(ulong)(CONFIG1_PC | CONFIG1_WR));
}

static const struct sysimage_header *boot_image(void)
{
    extern const char __hyp_end[];
    const struct sysimage_header *image = (const struct sysimage_header *)(const void *)__hyp_end;
    const char *wrong = sysimage_check(image, UINT64_C(1) << 28);

    if (wrong != NULL) {
        boot_failed("the system image cannot be used: ", wrong);
    }
    if (image->trace_kib != 0 || image->nharts != 1) {
        boot_failed("the system image cannot be used: ", "it needs a trace or several CPUs");
    }
    return image;
}

void boot_first(void)
{
    const char *wrong;

    platform_uart_init();
    console_open();
    wrong = probe();
    if (wrong != NULL) {
        boot_failed("this machine lacks ", wrong);
    }
    tlb_init();
    vcpu_init();
    hide_features();
    bank_init(cp0_read(CP0_SRSCTL) >> SRSCTL_HSS_SHIFT & SRSCTL_SET);
    wrong = system_init(boot_image());
    if (wrong != NULL) {
        boot_failed("cannot set up the system: ", wrong);
    }
    cpu_init();
    console_log("Tessera on %s: system %s, %u VMs, quantum %u us, %lu GPR shadow sets, "
                "version " TESSERA_VERSION,
                platform.name, hyp.image->name, hyp.nvms, hyp.image->quantum_us,
                (cp0_read(CP0_SRSCTL) >> SRSCTL_HSS_SHIFT & SRSCTL_SET) + 1U);
    system_start();
}
