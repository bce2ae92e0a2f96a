/* SPDX-License-Identifier: Apache-2.0 */
/* Hypercalls with invalid arguments: each returns its error and has no effect. */
#include "attacker.h"
#include "hcall.h"
#include "ipc.h"
#include "rt.h"

void try_call(struct verdict *v, const struct call *call)
{
    struct hcall_ret ret = hcall_call(call->number, call->a0, call->a1, call->a2);

    judge(v, ret.error == call->error, "%lu(0x%lx, 0x%lx, 0x%lx): %ld", call->number, call->a0,
          call->a1, call->a2, ret.error);
}

void try_calls(struct verdict *v, const struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        try_call(v, &calls[i]);
    }
}

void hcall_unknown(struct verdict *v, uint64_t arg)
{
    static const uint8_t numbers[] = {HCALL_NUMBERS}; /* of abi/ */
    bool known[300] = {false};

    (void)arg;
    for (unsigned i = 0; i < sizeof(numbers); i++) {
        known[numbers[i]] = true;
    }
    for (unsigned long n = 0; n < 300; n++) {
        if (!known[n]) {
            try_call(v, &(struct call){n, ALL, ALL, ALL, HCALL_ERR_NOT_SUPPORTED});
        }
    }
    for (unsigned long bit = 64; bit != 0; bit <<= 1) {
        try_call(v, &(struct call){bit, 0, 0, 0, HCALL_ERR_NOT_SUPPORTED});
        try_call(v, &(struct call){0 - bit, 0, 0, 0, HCALL_ERR_NOT_SUPPORTED});
    }
    judge(v, hcall_get_id().value == VM_ATTACKER, "it is another VM now");
    judge(v, hcall_watchdog_pet().error == HCALL_ERR_DENIED, "it has a watchdog");
}

#define IPC(function, a0, a1, a2, error) {HCALL_IPC_##function, a0, a1, a2, error}

/* Receivers that do not exist or are not allowed; invalid sizes. */
void ipc_destinations(struct verdict *v, uint64_t arg)
{
    static const struct call calls[] = {
        IPC(SEND_MSG, VM_WITNESS, RAM_BASE, 8, HCALL_ERR_DENIED),
        IPC(SEND_MSG, VM_ATTACKER, RAM_BASE, 8, HCALL_ERR_DENIED),
        IPC(SEND_MSG, 3, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 15, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 31, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 32, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 34, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 66, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 0xffff, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 2UL | 0x2UL << 16, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 2UL | 0xffffUL << 16, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 2UL | BIT(32), RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, 2UL | TOP_BIT, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, ALL, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 0, IPC_ERR_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 129, IPC_ERR_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 4096, IPC_ERR_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, BIT(32), IPC_ERR_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, TOP_BIT, IPC_ERR_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, ALL, IPC_ERR_SIZE),
        IPC(SEND_WAIT, VM_WITNESS, RAM_BASE, 8, HCALL_ERR_DENIED),
        IPC(SEND_WAIT, 3, RAM_BASE, 8, HCALL_ERR_INVALID_PARAM),
        IPC(SEND_WAIT, VM_TICKER, RAM_BASE, ALL, IPC_ERR_SIZE),
        IPC(RECV_MSG, RAM_BASE, 128, 0, IPC_ERR_NOT_NOW),
        IPC(RECV_MSG, ELSEWHERE, ALL, 0, IPC_ERR_NOT_NOW),
        IPC(RING, 0, VM_WITNESS, 0, HCALL_ERR_DENIED),
        IPC(RING, 1, VM_TICKER, 0, HCALL_ERR_DENIED),
        IPC(RING, 32, VM_TICKER, 0, HCALL_ERR_DENIED),
        IPC(RING, ALL, VM_TICKER, 0, HCALL_ERR_DENIED),
        IPC(RING, BIT(32), VM_TICKER, 0, HCALL_ERR_DENIED),
        IPC(RING, 0, 3, 0, HCALL_ERR_INVALID_PARAM),
        IPC(RING, 0, ALL, 0, HCALL_ERR_INVALID_PARAM),
        IPC(RING, 0, BIT(32) | VM_TICKER, 0, HCALL_ERR_INVALID_PARAM),
    };

    (void)arg;
    try_calls(v, calls, LENGTH_OF(calls));
    judge(v, ipc_doorbells() == 0, "a doorbell has rung");
}

/* Messages from memory that does not belong to the guest. */
void ipc_send_pointers(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {2, 7, 8, 16, 127, 128};

    (void)arg;
    for (size_t s = 0; s < LENGTH_OF(sizes); s++) {
        const unsigned long addresses[] = BAD_ADDRESSES(sizes[s]);

        for (size_t n = 0; n < LENGTH_OF(addresses); n++) {
            const unsigned long address = addresses[n];

            try_call(v, &(struct call)IPC(SEND_MSG, VM_TICKER, address, sizes[s],
                                          HCALL_ERR_INVALID_ADDRESS));
            try_call(v, &(struct call)IPC(SEND_WAIT, VM_TICKER, address, sizes[s],
                                          HCALL_ERR_INVALID_ADDRESS));
        }
    }
}

void fill_message(void *message, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)message)[i] = (uint8_t)(i / 8 + 1);
    }
}

void await_answer(struct verdict *v, const void *message, unsigned long size)
{
    uint64_t end = machine_time() + 200UL * MS;
    long error = ipc_send((struct ipc_peer){VM_TICKER, 0}, message, size);

    judge(v, error == 0, "sending: %ld", error);
    while (!arch_message_waits() && machine_time() < end) {
    }
    machine_take_message();
}

/* Receiving into an invalid buffer fails and leaves the message in the queue. */
void ipc_receive_pointers(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {8, 13, 128};

    (void)arg;
    for (size_t s = 0; s < LENGTH_OF(sizes); s++) {
        static uint64_t message[IPC_MESSAGE_MAX / 8];
        uint64_t buffer[IPC_MESSAGE_MAX / 8 + 1] = {0};
        struct ipc_peer from = {0};

        fill_message(message, sizeof(message));
        await_answer(v, message, sizes[s]);
        const unsigned long addresses[] = BAD_ADDRESSES(sizes[s]);

        for (size_t n = 0; n < LENGTH_OF(addresses); n++) {
            const unsigned long address = addresses[n];

            try_call(v, &(struct call)IPC(RECV_MSG, address, ALL, 0, HCALL_ERR_INVALID_ADDRESS));
        }
        for (unsigned long room = 0; room < sizes[s]; room++) {
            try_call(v, &(struct call)IPC(RECV_MSG, hcall_address(buffer), room, 0, IPC_ERR_SIZE));
        }
        judge(v,
              buffer[0] == 0 && ipc_receive(buffer, ALL, &from) == (long)sizes[s] &&
                  from.vm == VM_TICKER,
              "the message of %lu bytes is gone", sizes[s]);
        judge(v, ((uint8_t *)buffer)[sizes[s]] == 0 && buffer[0] == UINT64_C(0x0101010101010101),
              "it is another one");
    }
}

static const void *flood_message(void)
{
    static uint64_t message[IPC_MESSAGE_MAX / 8];

    fill_message(message, sizeof(message));
    return message;
}

void flood_once(void)
{
    (void)ipc_send((struct ipc_peer){VM_TICKER, 0}, flood_message(), IPC_MESSAGE_MAX);
    (void)ipc_ring(0, VM_TICKER);
}

void flood(struct verdict *v)
{
    const void *message = flood_message();

    for (unsigned int n = 0; n < 20000; n++) {
        long error = ipc_send((struct ipc_peer){VM_TICKER, 0}, message, IPC_MESSAGE_MAX);

        judge(v, error == 0 || error == IPC_ERR_NOT_NOW, "message %u: %ld", n, error);
        error = ipc_ring(0, VM_TICKER);
        judge(v, error == RING_ERROR, "doorbell: %ld", error);
    }
}

/* Floods the ticker from one sender. */
void ipc_flood(struct verdict *v, uint64_t arg)
{
    (void)arg;
    flood(v);
}

/* As many hypercalls as possible in some milliseconds. */
void hcall_flood(struct verdict *v, uint64_t arg)
{
    static const struct call calls[] = {
        {HCALL_INFO_GET_ID, 0, 0, 0, 0},
        {63, ALL, ALL, ALL, HCALL_ERR_NOT_SUPPORTED},
        {HCALL_IPC_DOORBELLS, 0, 0, 0, 0},
        {HCALL_RT_DELETE_APP, 0, 0, 0, HCALL_ERR_INVALID_PARAM},
    };
    uint64_t end = machine_time() + 10UL * MS;

    (void)arg;
    for (size_t n = 0; machine_time() < end; n++) {
        try_call(v, &calls[n % LENGTH_OF(calls)]);
    }
}

/* Every call but the one that sleeps, with pseudo-random arguments. */
void hcall_random(struct verdict *v, uint64_t arg)
{
    uint64_t state = 99;

    (void)arg;
    for (unsigned int n = 0; n < 20000; n++) {
        unsigned long number = (unsigned long)(random_next(&state) % 66U);
        uint64_t a0 = random_next(&state), a1 = random_next(&state), a2 = random_next(&state);
        struct hcall_ret ret =
            hcall_call(number == HCALL_IPC_SEND_WAIT ? 0 : number, (unsigned long)(a0 >> a2 % 64),
                       (unsigned long)(a1 >> a0 % 64), (unsigned long)(a2 >> a1 % 64));

        judge(v, ret.error <= 0 && ret.error >= HCALL_ERR_BAD_RANGE, "%lu: %ld", number, ret.error);
    }
}
