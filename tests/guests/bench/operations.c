/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a guest on hypervisor or firmware, in a table. */
#include <stdbool.h>

#include "bench.h"
#include "csr.h"
#include "hcall.h"
#include "platform.h"
#include "plic.h"
#include "uart.h"

#define BENCH_UART(reg) (PLATFORM_UART_BASE + (uintptr_t)(reg))
#define BENCH_LSR_IDLE 0x60U /* receiver and transmitter empty */

struct bench_operation {
    const char *metric;
    struct bench_sample (*take)(uintptr_t address, uint64_t argument);
    uintptr_t address;
    uint64_t argument;
    uint64_t expected;     /* value of a sample */
    void (*prepare)(void); /* before each sample, or NULL */
    void (*finish)(void);  /* after each sample, or NULL */
};

static uint32_t bench_context;

/* The transmitter is empty, so that enabling its interrupt raises it immediately, each time. */
static void bench_raise_uart(void)
{
    uart_write(UART_IER, 0);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
}

static void bench_drop_uart(void)
{
    uart_write(UART_IER, 0);
}

static void bench_claim_rest(void)
{
    plic_complete(bench_context, PLATFORM_UART_IRQ);
    uart_write(UART_IER, 0);
}

static void bench_raise_and_claim(void)
{
    uint32_t source;

    bench_raise_uart();
    source = plic_claim(bench_context);
    if (source != PLATFORM_UART_IRQ) {
        bench_fail("claim before riscv.plic.complete", source, PLATFORM_UART_IRQ);
    }
}

static void bench_clear_ipi(void)
{
    csr_clear_sip(SIE_SOFT);
}

static void bench_measure(const struct bench_operation *operation)
{
    static uint64_t samples[BENCH_SAMPLES_MAX];

    for (unsigned int i = 0; i < BENCH_WARMUP + BENCH_SAMPLES; i++) {
        struct bench_sample sample;

        if (operation->prepare != NULL) {
            operation->prepare();
        }
        sample = operation->take(operation->address, operation->argument);
        if (operation->finish != NULL) {
            operation->finish();
        }
        if (sample.value != operation->expected) {
            bench_fail(operation->metric, sample.value, operation->expected);
        }
        if (i >= BENCH_WARMUP) {
            samples[i - BENCH_WARMUP] = sample.instructions;
        }
    }
    bench_report(operation->metric, "instructions", samples, BENCH_SAMPLES);
}

/* The call as a C program makes it: with the loads of a6 and a7, and whatever the compiler adds. */
static struct bench_sample bench_hcall_c(uintptr_t address, uint64_t argument)
{
    uint64_t before = csr_read_instret();
    struct hcall_ret id = hcall_get_id();
    uint64_t after = csr_read_instret();

    (void)address;
    (void)argument;
    return (struct bench_sample){.instructions = after - before, .value = (uint64_t)id.error};
}

static void bench_run_hypercalls(void)
{
    static const struct bench_operation in_assembly = {
        .metric = "riscv.hypercall.null",
        .take = sample_hcall_get_id,
    };
    static const struct bench_operation in_c = {
        .metric = "riscv.hypercall.null.c",
        .take = bench_hcall_c,
    };

    if (hcall_present()) {
        bench_measure(&in_assembly);
        bench_measure(&in_c);
    }
}

static void bench_run_sbi(unsigned long hart)
{
    const struct bench_operation operations[] = {
        {.metric = "riscv.sbi.base", .take = sample_sbi_version},
        {.metric = "riscv.sbi.set_timer", .take = sample_sbi_set_timer, .argument = UINT64_MAX},
        {.metric = "riscv.sbi.ipi_self",
         .take = sample_sbi_ipi,
         .argument = hart,
         .finish = bench_clear_ipi},
        {.metric = "riscv.sbi.ipi_self.handler", .take = sample_sbi_ipi_handler, .argument = hart},
        {.metric = "riscv.wfi.pending", .take = sample_wfi},
    };

    for (unsigned int i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        bench_measure(&operations[i]);
    }
}

static void bench_run_uart(void)
{
    static const struct bench_operation operations[] = {
        {.metric = "riscv.mmio.uart_load",
         .take = sample_load8,
         .address = BENCH_UART(UART_LSR),
         .expected = BENCH_LSR_IDLE},
        {.metric = "riscv.mmio.uart_store.scr",
         .take = sample_store8,
         .address = BENCH_UART(UART_SCR),
         .argument = 0x5a},
        {.metric = "riscv.mmio.uart_load.scr",
         .take = sample_load8,
         .address = BENCH_UART(UART_SCR),
         .expected = 0x5a},
    };

    for (unsigned int i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        bench_measure(&operations[i]);
    }
}

static void bench_run_plic(void)
{
    uintptr_t claim = (uintptr_t)plic_claim_register(bench_context);
    uintptr_t enables = (uintptr_t)plic_enables(bench_context, PLATFORM_UART_IRQ);
    uintptr_t priority = (uintptr_t)plic_priority(PLATFORM_UART_IRQ);
    const struct bench_operation operations[] = {
        {.metric = "riscv.plic.claim_complete",
         .take = sample_claim_serve_complete,
         .address = claim,
         .argument = PLATFORM_UART_BASE + UART_IER,
         .expected = PLATFORM_UART_IRQ,
         .prepare = bench_raise_uart},
        /* the line is still high: the interrupt is pending again */
        {.metric = "riscv.plic.claim_complete.again",
         .take = sample_claim_complete,
         .address = claim,
         .expected = PLATFORM_UART_IRQ,
         .prepare = bench_raise_uart,
         .finish = bench_drop_uart},
        {.metric = "riscv.plic.claim",
         .take = sample_load32,
         .address = claim,
         .expected = PLATFORM_UART_IRQ,
         .prepare = bench_raise_uart,
         .finish = bench_claim_rest},
        {.metric = "riscv.plic.complete",
         .take = sample_store32,
         .address = claim,
         .argument = PLATFORM_UART_IRQ,
         .prepare = bench_raise_and_claim,
         .finish = bench_drop_uart},
        {.metric = "riscv.plic.claim.none", .take = sample_load32, .address = claim},
        {.metric = "riscv.plic.priority_load",
         .take = sample_load32,
         .address = priority,
         .expected = 1},
        {.metric = "riscv.plic.enable_store",
         .take = sample_store32,
         .address = enables,
         .argument = UINT64_C(1) << PLATFORM_UART_IRQ},
    };

    plic_set_priority(PLATFORM_UART_IRQ, 1);
    plic_set_threshold(bench_context, 0);
    *plic_enables(bench_context, PLATFORM_UART_IRQ) = UINT32_C(1) << PLATFORM_UART_IRQ;
    for (unsigned int i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        /* A claim left by the previous operation would be counted in this one. */
        while (plic_claim(bench_context) != 0) {
            plic_complete(bench_context, PLATFORM_UART_IRQ);
        }
        bench_measure(&operations[i]);
    }
}

void bench_run_operations(unsigned long hart)
{
    static const struct bench_operation empty = {.metric = "riscv.bench.baseline",
                                                 .take = sample_empty};

    bench_context = plic_context(hart);
    bench_measure(&empty);
    bench_run_hypercalls();
    bench_run_sbi(hart);
    bench_run_uart();
    bench_run_plic();
}
