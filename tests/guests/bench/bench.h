/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of hypervisor operations in instructions, counted by the guest.
 *
 * A sample is the difference of two reads of instret around the operation, without any correction.
 * The second read counts itself: ten nops give 11, an empty pair gives 1 (reported as
 * riscv.bench.baseline), and an ecall gives 2 plus all instructions of firmware and hypervisor.
 * (QEMU counts a load or store that faults and is emulated as 0.) Meaningful under `-icount
 * shift=0,sleep=off` on one hart.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_WARMUP 10U
#define BENCH_SAMPLES 100U
#define BENCH_TIMER_SAMPLES 200U
#define BENCH_SAMPLES_MAX 200U

/* Result of one sample, in a0 and a1. */
struct bench_sample {
    uint64_t instructions;
    uint64_t value; /* result of the operation, to be checked */
};

/*
 * The operations (samples.S). Unused arguments are ignored. All run with interrupts off and leave
 * them off.
 */
struct bench_sample sample_empty(uintptr_t address, uint64_t argument);
/* value: the error */
struct bench_sample sample_hcall_get_id(uintptr_t address, uint64_t argument);
/* value: the error */
struct bench_sample sample_sbi_version(uintptr_t address, uint64_t argument);
/* deadline in argument; value: error */
struct bench_sample sample_sbi_set_timer(uintptr_t address, uint64_t argument);
/* hart in argument; value: the error */
struct bench_sample sample_sbi_ipi(uintptr_t address, uint64_t argument);
/* up to the handler's first read */
struct bench_sample sample_sbi_ipi_handler(uintptr_t address, uint64_t argument);
struct bench_sample sample_wfi(uintptr_t address, uint64_t argument);
struct bench_sample sample_load8(uintptr_t address, uint64_t argument);
struct bench_sample sample_store8(uintptr_t address, uint64_t argument);
struct bench_sample sample_load32(uintptr_t address, uint64_t argument);
struct bench_sample sample_store32(uintptr_t address, uint64_t argument);
/* argument: the UART's IER */
struct bench_sample sample_claim_serve_complete(uintptr_t address, uint64_t argument);
/* value: source claimed */
struct bench_sample sample_claim_complete(uintptr_t address, uint64_t argument);
/* argument: size | VM << 32; value: error */
struct bench_sample sample_ipc_send(uintptr_t address, uint64_t argument);
/* the same with HCALL_IPC_SEND_WAIT */
struct bench_sample sample_ipc_deliver(uintptr_t address, uint64_t argument);
/* with HCALL_IPC_SEND_MSG and WFI */
struct bench_sample sample_ipc_deliver_wfi(uintptr_t address, uint64_t argument);
/* Buffer size in argument; value: the call's value, or its error. */
struct bench_sample sample_ipc_receive(uintptr_t address, uint64_t argument);

/*
 * Arms the timer and spins; returns instret and time at the start of the handler (timer_latency.S).
 */
struct bench_at {
    uint64_t instret;
    uint64_t time;
};
struct bench_at sample_timer_sstc(uint64_t deadline);
struct bench_at sample_timer_sbi(uint64_t deadline);

/* Reads time, then instret (timer_latency.S). */
struct bench_at sample_clock(void);

/* Spins reading instret until two reads lie more than `threshold` apart (switch_loop.S). */
struct bench_gap {
    uint64_t before; /* last read before the gap */
    uint64_t after;  /* first read after it */
};
struct bench_gap switch_wait_gap(uint64_t threshold);

/*
 * instret at the guest's first instructions (entry.S); 0 when the hart does not let the guest read
 * it.
 */
extern uint64_t bench_entry_instret;

/** Sorts `count` samples and prints their BENCH line. */
void bench_report(const char *metric, const char *unit, uint64_t *samples, size_t count);

/** Prints the mismatch and ends the guest as failed. */
_Noreturn void bench_fail(const char *metric, uint64_t value, uint64_t expected);

/* The parts of the measurement. */
void bench_run_operations(unsigned long hart);
void bench_run_timer(void);
_Noreturn void bench_run_switch(const void *fdt);
_Noreturn void bench_run_ipc_send(void);
_Noreturn void bench_run_ipc_receive(void);
void bench_run_hang(const void *fdt);
_Noreturn void bench_run_ticker(void);

/** Reports riscv.rt.queue.insert.N and .take.N for N = 1, 2, 4 .. 64 RT-VCPUs. */
void bench_run_queue(void);

#endif
