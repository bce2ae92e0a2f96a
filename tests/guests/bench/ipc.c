/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between two VMs on one hart, roles ipc-send and ipc-receive. First the cost of each
 * call, while the other VM is ready but not running. Then delivery: from before the sender's call,
 * after which the sender waits, to the task of the waiting receiver that the message is addressed
 * to.
 */
#include "ipc.h"

#include "bench.h"
#include "csr.h"
#include "hcall.h"
#include "print.h"
#include "sbi.h"

#define IPC_SIZES 5U
#define IPC_TASKS 2U
#define IPC_PORTS 4U

/*
 * Header of each message: its addressee in the receiving guest, in six bytes, and instret of the
 * call.
 */
struct ipc_bench_message {
    uint16_t task;
    uint16_t port;
    uint16_t length;
    uint16_t unused;
    uint64_t called;
    uint64_t rest[14];
};

typedef struct bench_sample (*ipc_sample_fn)(uintptr_t address, uint64_t argument);
typedef void (*ipc_port_fn)(const struct ipc_bench_message *message);

static const unsigned int ipc_sizes[IPC_SIZES] = {20, 40, 60, 80, 100};
static const char *const ipc_send_metrics[IPC_SIZES] = {
    "riscv.ipc.send.20", "riscv.ipc.send.40",  "riscv.ipc.send.60",
    "riscv.ipc.send.80", "riscv.ipc.send.100",
};
static const char *const ipc_receive_metrics[IPC_SIZES] = {
    "riscv.ipc.recv.20", "riscv.ipc.recv.40",  "riscv.ipc.recv.60",
    "riscv.ipc.recv.80", "riscv.ipc.recv.100",
};
static const char *const ipc_delivery_metrics[IPC_SIZES] = {
    "riscv.ipc.delivery.20", "riscv.ipc.delivery.40",  "riscv.ipc.delivery.60",
    "riscv.ipc.delivery.80", "riscv.ipc.delivery.100",
};

static struct ipc_bench_message ipc_message;
static struct ipc_peer ipc_peer; /* the other VM's VCPU 0 */
static uint64_t ipc_samples[BENCH_SAMPLES_MAX];
static uint64_t ipc_arrived; /* instret on arrival at the message's task */

static void ipc_expect(const char *what, long got, long expected)
{
    if (got != expected) {
        bench_fail(what, (uint64_t)got, (uint64_t)expected);
    }
}

/* Sends one byte, which tells the other VM to continue. */
static void ipc_signal(void)
{
    static const uint8_t go = 1;
    long error = IPC_ERR_NOT_RUNNING;

    while (error == IPC_ERR_NOT_RUNNING) { /* the receiver may still be starting */
        error = ipc_send(ipc_peer, &go, sizeof(go));
    }
    ipc_expect("ipc signal", error, 0);
}

/*
 * Waits for a message; returns its size, or an error. Clears the interrupt first, so that none is
 * missed.
 */
static long ipc_await(void *buffer, size_t room)
{
    struct ipc_peer from;
    long size;

    for (;;) {
        csr_clear_sip(SIE_SOFT);
        size = ipc_receive(buffer, room, &from);
        if (size != IPC_ERR_NOT_NOW) {
            return size;
        }
        csr_wait_for_interrupt();
    }
}

static void ipc_await_signal(void)
{
    uint8_t go;
    long size = ipc_await(&go, sizeof(go));

    ipc_expect("ipc signal", size, sizeof(go));
}

/*
 * Sends and counts one message. True if it had to wait for space: then the message enters an empty
 * ring.
 */
static bool ipc_send_once(unsigned int size, const char *metric, uint64_t *instructions)
{
    uint64_t argument = size | (uint64_t)ipc_peer.vm << 32;
    struct bench_sample sample = sample_ipc_send((uintptr_t)&ipc_message, argument);
    bool waited = false;

    while ((long)sample.value == IPC_ERR_NOT_NOW || (long)sample.value == IPC_ERR_NOT_RUNNING) {
        waited = true;
        sample = sample_ipc_send((uintptr_t)&ipc_message, argument);
    }
    ipc_expect(metric, (long)sample.value, 0);
    *instructions = sample.instructions;
    return waited;
}

/* The receiver never waits here: it empties a full ring only after this VM's slice has ended. */
static void ipc_measure_send(unsigned int size, const char *metric)
{
    uint64_t ignored;

    for (unsigned int i = 0; i < BENCH_WARMUP; i++) {
        (void)ipc_send_once(size, metric, &ignored);
    }
    for (unsigned int i = 0; i < BENCH_SAMPLES; i++) {
        (void)ipc_send_once(size, metric, &ipc_samples[i]);
    }
    bench_report(metric, "instructions", ipc_samples, BENCH_SAMPLES);
}

/*
 * Only messages that find the ring empty, which notify the receiver. As many messages as in
 * ipc_measure_send().
 */
static void ipc_measure_first(unsigned int size, const char *metric)
{
    unsigned int count = 0;

    for (unsigned int i = 0; i < BENCH_WARMUP + BENCH_SAMPLES; i++) {
        count += ipc_send_once(size, metric, &ipc_samples[count]);
    }
    bench_report(metric, "instructions", ipc_samples, count);
}

/* Receives as many messages as are sent for a metric. Reports nothing if `metric` is NULL. */
static void ipc_measure_receive(unsigned int size, const char *metric)
{
    for (unsigned int i = 0; i < BENCH_WARMUP + BENCH_SAMPLES; i++) {
        struct bench_sample sample =
            sample_ipc_receive((uintptr_t)&ipc_message, sizeof(ipc_message));

        while ((long)sample.value == IPC_ERR_NOT_NOW) {
            sample = sample_ipc_receive((uintptr_t)&ipc_message, sizeof(ipc_message));
        }
        ipc_expect("ipc receive", (long)sample.value, (long)(size | (uint64_t)ipc_peer.vm << 16));
        if (i >= BENCH_WARMUP) {
            ipc_samples[i - BENCH_WARMUP] = sample.instructions;
        }
    }
    if (metric != NULL) {
        bench_report(metric, "instructions", ipc_samples, BENCH_SAMPLES);
    }
}

static void ipc_port_stray(const struct ipc_bench_message *message)
{
    bench_fail("riscv.ipc.delivery: unexpected port", message->port, 3);
}

static void ipc_port_measured(const struct ipc_bench_message *message)
{
    ipc_arrived = csr_read_instret();
    ipc_arrived -= message->called;
}

/* The ports of the guest's tasks, for the message handler. */
static const ipc_port_fn ipc_ports[IPC_TASKS][IPC_PORTS] = {
    {ipc_port_stray, ipc_port_stray, ipc_port_stray, ipc_port_stray},
    {ipc_port_stray, ipc_port_stray, ipc_port_stray, ipc_port_measured},
};

static void ipc_dispatch(const struct ipc_bench_message *message, long size)
{
    if (message->task >= IPC_TASKS || message->port >= IPC_PORTS || message->length != size) {
        bench_fail("riscv.ipc.delivery: header", message->length, (uint64_t)size);
    }
    ipc_ports[message->task][message->port](message);
}

static void ipc_measure_delivery(const char *metric)
{
    for (unsigned int i = 0; i < BENCH_WARMUP + BENCH_SAMPLES; i++) {
        long size = ipc_await(&ipc_message, sizeof(ipc_message));

        ipc_dispatch(&ipc_message, size);
        if (i >= BENCH_WARMUP) {
            ipc_samples[i - BENCH_WARMUP] = ipc_arrived;
        }
        ipc_signal();
    }
    bench_report(metric, "instructions", ipc_samples, BENCH_SAMPLES);
    ipc_signal(); /* the report has been printed */
}

static void ipc_deliver(unsigned int size, ipc_sample_fn take)
{
    ipc_message.length = (uint16_t)size;
    for (unsigned int i = 0; i < BENCH_WARMUP + BENCH_SAMPLES; i++) {
        struct bench_sample sample =
            take((uintptr_t)&ipc_message, size | (uint64_t)ipc_peer.vm << 32);

        ipc_expect("ipc deliver", (long)sample.value, 0);
        ipc_await_signal();
    }
    ipc_await_signal();
}

static _Noreturn void ipc_finish(void)
{
    print("BENCH done\n");
    sbi_shutdown(SBI_RESET_NO_REASON);
}

static void ipc_begin(void)
{
    struct hcall_ret id = hcall_get_id();

    ipc_expect("ipc: id", id.error, HCALL_OK);
    ipc_peer.vm = 1U - (unsigned int)id.value;
    csr_write_sie(SIE_SOFT);
    ipc_message.task = 1;
    ipc_message.port = 3;
    for (unsigned int i = 0; i < sizeof(ipc_message.rest) / sizeof(ipc_message.rest[0]); i++) {
        ipc_message.rest[i] = i;
    }
}

_Noreturn void bench_run_ipc_send(void)
{
    ipc_begin();
    for (unsigned int i = 0; i < IPC_SIZES; i++) {
        ipc_measure_send(ipc_sizes[i], ipc_send_metrics[i]);
    }
    ipc_measure_first(ipc_sizes[IPC_SIZES - 1], "riscv.ipc.send.first.100");
    ipc_await_signal();
    for (unsigned int i = 0; i < IPC_SIZES; i++) {
        ipc_deliver(ipc_sizes[i], sample_ipc_deliver);
    }
    ipc_deliver(ipc_sizes[IPC_SIZES - 1], sample_ipc_deliver_wfi);
    ipc_finish();
}

_Noreturn void bench_run_ipc_receive(void)
{
    ipc_begin();
    for (unsigned int i = 0; i < IPC_SIZES; i++) {
        ipc_measure_receive(ipc_sizes[i], ipc_receive_metrics[i]);
    }
    ipc_measure_receive(ipc_sizes[IPC_SIZES - 1], NULL);
    ipc_signal();
    for (unsigned int i = 0; i < IPC_SIZES; i++) {
        ipc_measure_delivery(ipc_delivery_metrics[i]);
    }
    ipc_measure_delivery("riscv.ipc.delivery.wfi.100");
    ipc_finish();
}
