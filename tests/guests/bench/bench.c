/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmarks that run natively under OpenSBI and, unmodified, in a VM; the difference is the cost
 * of the hypervisor. Boot argument `role=switch`: one of the two VMs that measure a VM switch;
 * `role=ipc-send` and `role=ipc-receive`: the two VMs that measure messages; `role=hang`: a guest
 * that hangs; `role=ticker`: a guest that waits for its timer. Prints `BENCH {json}` lines, then
 * `BENCH done`, and shuts down.
 */
#include "bench.h"

#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "hcall.h"
#include "print.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

int main(unsigned long hart, const void *fdt);

static void bench_run_role(const char *role, const void *fdt)
{
    if (strcmp(role, "switch") == 0) {
        bench_run_switch(fdt);
    } else if (strcmp(role, "ipc-send") == 0) {
        bench_run_ipc_send();
    } else if (strcmp(role, "ipc-receive") == 0) {
        bench_run_ipc_receive();
    } else if (strcmp(role, "hang") == 0) {
        bench_run_hang(fdt);
    } else if (strcmp(role, "ticker") == 0) {
        bench_run_ticker();
    }
}

int main(unsigned long hart, const void *fdt)
{
    char role[16];
    unsigned long version;

    uart_init();
    if (!trap_probe_instret()) {
        print("BENCH failed: instret cannot be read here (scounteren, hcounteren or mcounteren "
              "forbids it)\n");
        sbi_shutdown(SBI_RESET_SYSTEM_FAILURE);
    }
    (void)timer_init();
    if (fdt_bootarg(fdt, "role", role, sizeof(role)) != NULL) {
        bench_run_role(role, fdt);
    }
    version = sbi_spec_version();
    print("bench: %s, SBI %lu.%lu, timer by %s\n",
          hcall_present() ? "in a Tessera VM" : "no known hypervisor", version >> 24,
          version & 0xffffffUL, timer_is_direct() ? "stimecmp" : "SBI");
    if (bench_entry_instret != 0) {
        bench_report("riscv.bench.entry", "instructions", &bench_entry_instret, 1);
    }
    bench_run_operations(hart);
    bench_run_timer();
    bench_run_queue();
    print("BENCH done\n");
    sbi_shutdown(SBI_RESET_NO_REASON);
}
