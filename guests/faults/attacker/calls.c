/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the SBI and of the hypervisor with arguments that cannot be right: each has its error, and changes nothing. */
#include "faults.h"
#include "hcall.h"
#include "ipc.h"
#include "platform.h"
#include "rt.h"
#include "sbi.h"

#define ALL (~0UL)
#define LAST_OF(array) (sizeof(array) / sizeof((array)[0]))
#define NOT_SUPPORTED (-2L)
#define INVALID (-3L)
#define DENIED (-4L)
#define BAD_ADDRESS (-5L)
#define AVAILABLE (-6L)
#define BAD_SIZE (-11L)

/* Addresses at which no buffer of `size` bytes is the guest's: nothing, others' memory, devices, the last bytes outside,
 * and around the end of the address space. */
static uint64_t bad_address(unsigned int n, uint64_t size)
{
    const uint64_t addresses[] = {
        0,
        1,
        REAL_FIRMWARE,
        REAL_HYPERVISOR,
        REAL_HYPERVISOR + 0x40000,
        REAL_WITNESS,
        REAL_TICKER + 0x210000,
        REAL_OWN,
        PLATFORM_UART_BASE,
        PLATFORM_PLIC_BASE,
        RAM_BASE - 1,
        RAM_BASE - 8,
        RAM_BASE - size,
        RAM_END,
        RAM_END - size + 1,
        RAM_END - 1,
        (RAM_END - size + 8) & ~7UL, /* aligned: the hypervisor has a short way for that */
        SHARED_BASE - 1,
        SHARED_END - size + 1,
        SHARED_END,
        RAM_BASE + (1UL << 32),
        RAM_BASE + (1UL << 41),
        RAM_BASE + (1UL << 63),
        ALL,
        ALL - 7,
        0 - size,
        0 - size + 1,
        1UL << 63,
    };

    return n < LAST_OF(addresses) ? addresses[n] : ALL;
}

#define BAD_ADDRESSES 28U

struct call {
    unsigned long extension, function, a0, a1, a2;
    long error;
};

static void try_call(struct verdict *v, const struct call *c)
{
    struct sbi_ret ret = sbi_call(c->extension, c->function, c->a0, c->a1, c->a2);

    judge(v, ret.error == c->error, "0x%lx.%lu(0x%lx, 0x%lx, 0x%lx): %ld", c->extension, c->function, c->a0, c->a1,
          c->a2, ret.error);
}

static void try_calls(struct verdict *v, const struct call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        try_call(v, &calls[i]);
    }
}

/* --- the SBI --- */

/* Extensions that are not there, and functions of those that are. */
void sbi_unknown(struct verdict *v, uint64_t arg)
{
    static const unsigned long there[] = {SBI_EXT_BASE, SBI_EXT_TIME, SBI_EXT_IPI,  SBI_EXT_RFENCE,
                                          SBI_EXT_HSM,  SBI_EXT_SRST, SBI_EXT_DBCN, HCALL_EXTENSION};
    static const unsigned long first[] = {7, 1, 1, 3, 4, 1, 3, 64};
    uint64_t state = 7;

    (void)arg;
    for (unsigned long e = 3; e < 0x10; e++) {
        try_call(v, &(struct call){e, 0, ALL, ALL, ALL, NOT_SUPPORTED});
    }
    for (unsigned int n = 0; n < 500; n++) {
        try_call(v, &(struct call){random_next(&state) | 1UL << 40, n, ALL, ALL, ALL, NOT_SUPPORTED});
    }
    for (size_t e = 0; e < LAST_OF(there); e++) {
        try_call(v, &(struct call){there[e] | 1UL << 32, 0, 0, 0, 0, NOT_SUPPORTED});
        try_call(v, &(struct call){there[e], ALL, ALL, ALL, ALL, NOT_SUPPORTED});
        try_call(v, &(struct call){there[e], 1UL << 63, 0, 0, 0, NOT_SUPPORTED});
        for (unsigned long f = first[e]; f < 300; f++) {
            try_call(v, &(struct call){there[e], f, ALL, ALL, ALL, NOT_SUPPORTED});
        }
    }
}

/* Harts that are not there, in every way in which a mask and a base can name them. */
void sbi_harts(struct verdict *v, uint64_t arg)
{
    static const struct sbi_harts nobody[] = {{1, 2},  {4, 0},         {2, 1},       {ALL, 0},         {1UL << 63, 0},
                                              {1, 64}, {1, 1UL << 63}, {1, ALL - 1}, {ALL, 1UL << 32}, {3, 1}};

    (void)arg;
    for (size_t i = 0; i < LAST_OF(nobody); i++) {
        struct call call = {SBI_EXT_IPI, 0, nobody[i].mask, nobody[i].base, 0, INVALID};

        try_call(v, &call);
        call.extension = SBI_EXT_RFENCE;
        for (call.function = 0; call.function < 3; call.function++) {
            try_call(v, &call);
        }
    }
    judge(v, (csr_read_sip() & SIE_SOFT) == 0, "an interrupt has come");
}

void sbi_hsm(struct verdict *v, uint64_t arg)
{
    static const struct call calls[] = {
        {SBI_EXT_HSM, 0, 0, RAM_BASE, 0, AVAILABLE},
        {SBI_EXT_HSM, 0, 2, RAM_BASE, 0, INVALID},
        {SBI_EXT_HSM, 0, ALL, RAM_BASE, 0, INVALID},
        {SBI_EXT_HSM, 0, 1UL << 32, RAM_BASE, 0, INVALID},
        {SBI_EXT_HSM, 2, 2, 0, 0, INVALID},
        {SBI_EXT_HSM, 2, ALL, 0, 0, INVALID},
        {SBI_EXT_HSM, 2, 1UL << 63, 0, 0, INVALID},
        {SBI_EXT_HSM, 3, 1, 0, 0, INVALID},
        {SBI_EXT_HSM, 3, 0x80000000, 0, 0, NOT_SUPPORTED},
        {SBI_EXT_HSM, 3, 0x80000001, 0, 0, INVALID},
        {SBI_EXT_HSM, 3, 0x7fffffff, 0, 0, INVALID},
    };

    (void)arg;
    try_calls(v, calls, LAST_OF(calls));
    for (unsigned int n = 0; n < BAD_ADDRESSES; n++) {
        uint64_t entry = bad_address(n, 4);

        try_call(v, &(struct call){SBI_EXT_HSM, 0, 1, entry, entry, BAD_ADDRESS});
    }
    judge(v, sbi_hart_status(1).value == 1, "the second hart has started");
}

void sbi_reset(struct verdict *v, uint64_t arg)
{
    static const struct call calls[] = {
        {SBI_EXT_SRST, 0, 3, 0, 0, INVALID},          {SBI_EXT_SRST, 0, 0xffffffff, 0, 0, INVALID},
        {SBI_EXT_SRST, 0, 0xf0000000, 0, 0, INVALID}, {SBI_EXT_SRST, 0, 0, 2, 0, INVALID},
        {SBI_EXT_SRST, 0, 1, 0xe0000000, 0, INVALID}, {SBI_EXT_SRST, 0, 2, 0xffffffff, 0, INVALID},
        {SBI_EXT_SRST, 0, ALL, ALL, ALL, INVALID},    {SBI_EXT_SRST, 1, 0, 0, 0, NOT_SUPPORTED},
    };

    (void)arg;
    try_calls(v, calls, LAST_OF(calls));
}

/* The debug console's buffers; arg: 0 writes, 1 reads. */
void sbi_console(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {1, 2, 16, 64, 4096};
    static const unsigned long huge[] = {RAM_SIZE + 1, 1UL << 32, 1UL << 63, ALL, ALL - RAM_BASE, 0 - RAM_BASE};

    for (size_t s = 0; s < LAST_OF(sizes); s++) {
        for (unsigned int n = 0; n < BAD_ADDRESSES; n++) {
            uint64_t address = bad_address(n, sizes[s]);
            bool inside = sizes[s] == 1 && (address - RAM_BASE < RAM_SIZE || address - SHARED_BASE < SHARED_SIZE);

            if (!inside) {
                try_call(v, &(struct call){SBI_EXT_DBCN, arg, sizes[s], address, 0, INVALID});
            }
            try_call(v, &(struct call){SBI_EXT_DBCN, arg, sizes[s], RAM_BASE, n + 1, INVALID});
        }
    }
    for (size_t s = 0; s < LAST_OF(huge); s++) {
        try_call(v, &(struct call){SBI_EXT_DBCN, arg, huge[s], RAM_BASE, 0, INVALID});
        try_call(v, &(struct call){SBI_EXT_DBCN, arg, huge[s], RAM_BASE, ALL, INVALID});
    }
}

/* Every extension with numbers that look random, but for those that end or print something. */
void sbi_random(struct verdict *v, uint64_t arg)
{
    static const unsigned long extensions[] = {SBI_EXT_TIME, SBI_EXT_IPI, SBI_EXT_RFENCE, SBI_EXT_BASE,
                                               HCALL_EXTENSION};
    uint64_t state = 99;

    (void)arg;
    for (unsigned int n = 0; n < 20000; n++) {
        uint64_t extension = extensions[n % LAST_OF(extensions)];
        uint64_t function = random_next(&state) % 66;
        uint64_t a0 = random_next(&state), a1 = random_next(&state), a2 = random_next(&state);
        struct sbi_ret ret;

        ret = sbi_call(extension, function == HCALL_IPC_SEND_WAIT ? 0 : function, a0 >> a2 % 64, a1 >> a0 % 64,
                       a2 >> a1 % 64);
        judge(v, ret.error <= 0 && ret.error >= -11, "0x%lx.%lu: %ld", extension, function, ret.error);
    }
}

/* --- the hypervisor's own --- */

void hcall_unknown(struct verdict *v, uint64_t arg)
{
    uint64_t known = 3UL | 0x1fUL << 16 | 0x1fUL << 32;

    (void)arg;
    for (unsigned long n = 0; n < 300; n++) {
        if (n >= 64 || (known >> n & 1U) == 0) {
            try_call(v, &(struct call){HCALL_EXTENSION, n, ALL, ALL, ALL, NOT_SUPPORTED});
        }
    }
    for (unsigned int bit = 6; bit < 64; bit++) {
        try_call(v, &(struct call){HCALL_EXTENSION, 1UL << bit, 0, 0, 0, NOT_SUPPORTED});
        try_call(v, &(struct call){HCALL_EXTENSION, 0 - (1UL << bit), 0, 0, 0, NOT_SUPPORTED});
    }
    judge(v, hcall_get_id().value == (long)VM_ATTACKER, "it is another VM now");
    judge(v, hcall_watchdog_pet().error == DENIED, "it has a watchdog");
}

#define IPC(function, a0, a1, a2, error) {HCALL_EXTENSION, HCALL_IPC_##function, a0, a1, a2, error}

/* Receivers that are not there or not allowed, sizes that cannot be. */
void ipc_destinations(struct verdict *v, uint64_t arg)
{
    static const struct call calls[] = {
        IPC(SEND_MSG, VM_WITNESS, RAM_BASE, 8, DENIED),
        IPC(SEND_MSG, VM_ATTACKER, RAM_BASE, 8, DENIED),
        IPC(SEND_MSG, 3, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 15, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 31, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 32, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 34, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 66, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 0xffff, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 2UL | 0x2UL << 16, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 2UL | 0xffffUL << 16, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 2UL | 1UL << 32, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, 2UL | 1UL << 63, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, ALL, RAM_BASE, 8, INVALID),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 0, BAD_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 129, BAD_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 4096, BAD_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 1UL << 32, BAD_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, 1UL << 63, BAD_SIZE),
        IPC(SEND_MSG, VM_TICKER, RAM_BASE, ALL, BAD_SIZE),
        IPC(SEND_WAIT, VM_WITNESS, RAM_BASE, 8, DENIED),
        IPC(SEND_WAIT, 3, RAM_BASE, 8, INVALID),
        IPC(SEND_WAIT, VM_TICKER, RAM_BASE, ALL, BAD_SIZE),
        IPC(RECV_MSG, RAM_BASE, 128, 0, IPC_NOT_NOW),
        IPC(RECV_MSG, REAL_WITNESS, ALL, 0, IPC_NOT_NOW),
        IPC(RING, 0, VM_WITNESS, 0, DENIED),
        IPC(RING, 1, VM_TICKER, 0, DENIED),
        IPC(RING, 32, VM_TICKER, 0, DENIED),
        IPC(RING, ALL, VM_TICKER, 0, DENIED),
        IPC(RING, 1UL << 32, VM_TICKER, 0, DENIED),
        IPC(RING, 0, 3, 0, INVALID),
        IPC(RING, 0, ALL, 0, INVALID),
        IPC(RING, 0, 1UL << 32 | VM_TICKER, 0, INVALID),
    };

    (void)arg;
    try_calls(v, calls, LAST_OF(calls));
    judge(v, ipc_doorbells() == 0, "a doorbell has rung");
}

/* Messages out of memory that is not the guest's. */
void ipc_send_pointers(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {2, 7, 8, 16, 127, 128};

    (void)arg;
    for (size_t s = 0; s < LAST_OF(sizes); s++) {
        for (unsigned int n = 0; n < BAD_ADDRESSES; n++) {
            const uint64_t address = bad_address(n, sizes[s]);

            try_call(v, &(struct call)IPC(SEND_MSG, VM_TICKER, address, sizes[s], BAD_ADDRESS));
            try_call(v, &(struct call)IPC(SEND_WAIT, VM_TICKER, address, sizes[s], BAD_ADDRESS));
        }
    }
}

/* A message of the ticker, which answers what it was sent. */
static void await_message(struct verdict *v, unsigned long size)
{
    static uint64_t message[IPC_MESSAGE_MAX / 8];
    uint64_t end = csr_read_time() + 200UL * MS;
    long error;

    for (size_t i = 0; i < LAST_OF(message); i++) {
        message[i] = 0x0101010101010101UL * (i + 1);
    }
    error = ipc_send((struct ipc_peer){VM_TICKER, 0}, message, size);
    judge(v, error == 0, "sending: %ld", error);
    while ((csr_read_sip() & SIE_SOFT) == 0 && csr_read_time() < end) {
    }
    csr_clear_sip(SIE_SOFT);
}

/* A message that waits goes nowhere where it may not, and is there afterwards. */
void ipc_receive_pointers(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {8, 13, 128};

    (void)arg;
    for (size_t s = 0; s < LAST_OF(sizes); s++) {
        uint64_t buffer[IPC_MESSAGE_MAX / 8 + 1] = {0};
        struct ipc_peer from = {0};

        await_message(v, sizes[s]);
        for (unsigned int n = 0; n < BAD_ADDRESSES; n++) {
            const uint64_t address = bad_address(n, sizes[s]);

            try_call(v, &(struct call)IPC(RECV_MSG, address, ALL, 0, BAD_ADDRESS));
        }
        for (unsigned long room = 0; room < sizes[s]; room++) {
            try_call(v, &(struct call)IPC(RECV_MSG, (uintptr_t)buffer, room, 0, BAD_SIZE));
        }
        judge(v, buffer[0] == 0 && ipc_receive(buffer, ALL, &from) == (long)sizes[s] && from.vm == VM_TICKER,
              "the message of %lu bytes is gone", sizes[s]);
        judge(v, ((uint8_t *)buffer)[sizes[s]] == 0 && buffer[0] == 0x0101010101010101UL, "it is another one");
    }
}

static void flood(struct verdict *v)
{
    static uint64_t message[IPC_MESSAGE_MAX / 8];

    for (size_t i = 0; i < LAST_OF(message); i++) {
        message[i] = 0x0101010101010101UL * (i + 1);
    }
    for (unsigned int n = 0; n < 20000; n++) {
        long error = ipc_send((struct ipc_peer){VM_TICKER, 0}, message, IPC_MESSAGE_MAX);

        judge(v, error == 0 || error == IPC_NOT_NOW, "message %u: %ld", n, error);
        error = ipc_ring(0, VM_TICKER);
        judge(v, error == 0, "doorbell: %ld", error);
    }
}

static struct verdict floods[2];
static volatile bool flooded;

static void flood_too(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    flood(&floods[1]);
    flooded = true;
}

/* By every sender that the VM has. */
void ipc_flood(struct verdict *v, uint64_t arg)
{
    (void)arg;
    flooded = false;
    judge(v, second_hart(flood_too), "the second hart does not start");
    flood(v);
    while (!flooded) {
    }
    judge(v, floods[1].wrong == 0, "second hart: %s", floods[1].first);
    v->tried += floods[1].tried;
}

/* As many calls as it can in some milliseconds; arg: which. */
void call_flood(struct verdict *v, uint64_t arg)
{
    static const struct call calls[] = {
        {HCALL_EXTENSION, HCALL_INFO_GET_ID, 0, 0, 0, 0},
        {HCALL_EXTENSION, 63, ALL, ALL, ALL, NOT_SUPPORTED},
        {SBI_EXT_BASE, 3, SBI_EXT_HSM, 0, 0, 0},
        {SBI_EXT_BASE, 4, 0, 0, 0, 0},
        {SBI_EXT_TIME, 0, ALL, 0, 0, 0},
        {SBI_EXT_RFENCE, 1, 1, 0, 0, 0},
        {SBI_EXT_HSM, 2, 1, 0, 0, 0},
        {SBI_EXT_DBCN, 0, 0, 0, 0, 0},
        {HCALL_EXTENSION, HCALL_IPC_DOORBELLS, 0, 0, 0, 0},
        {HCALL_EXTENSION, HCALL_RT_DELETE_APP, 0, 0, 0, INVALID},
    };
    uint64_t end = csr_read_time() + 10UL * MS;

    (void)arg;
    for (size_t n = 0; csr_read_time() < end; n++) {
        try_call(v, &calls[n % LAST_OF(calls)]);
    }
}

/* --- interrupts without end --- */

static volatile unsigned long interrupts;

static void again_soft(void)
{
    csr_clear_sip(SIE_SOFT);
    interrupts++;
    if (interrupts < 20000) {
        (void)sbi_send_ipi((struct sbi_harts){.mask = 3, .base = 0});
    }
}

static void other_takes(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    csr_write_sie(SIE_SOFT);
    csr_set_sstatus(SSTATUS_SIE);
    for (;;) {
        csr_wait_for_interrupt();
    }
}

/* Two harts interrupt each other and themselves, each time that they are. */
void ipi_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    trap_set_interrupt(IRQ_SOFT, again_soft);
    judge(v, second_hart(other_takes), "the second hart does not start");
    csr_write_sie(SIE_SOFT);
    (void)sbi_send_ipi((struct sbi_harts){.mask = 3, .base = 0});
    csr_set_sstatus(SSTATUS_SIE);
    spin(15UL * MS);
    csr_clear_sstatus(SSTATUS_SIE);
    judge(v, interrupts > 100, "only %lu interrupts came", interrupts);
    v->tried += interrupts;
}

static void again_timer(void)
{
    interrupts++;
    (void)sbi_set_timer(csr_read_time() + interrupts % 3);
    if (interrupts > 20000) {
        csr_write_sie(0);
    }
}

/* Timers that are always due. */
void timer_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    trap_set_interrupt(IRQ_TIMER, again_timer);
    csr_write_sie(SIE_TIMER);
    (void)sbi_set_timer(0);
    csr_set_sstatus(SSTATUS_SIE);
    spin(10UL * MS);
    csr_clear_sstatus(SSTATUS_SIE);
    judge(v, interrupts > 100, "only %lu interrupts came", interrupts);
    v->tried += interrupts;
    (void)sbi_set_timer(ALL);
}

/* The second hart is started, stopped and fenced over and over. */
static void other_ends(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    interrupts++;
}

void hart_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned int n = 0; n < 60; n++) {
        judge(v, second_hart(other_ends), "start %u", n);
        (void)sbi_remote_fence_i((struct sbi_harts){.mask = 3, .base = 0});
        while (sbi_hart_status(1).value != 1) {
            (void)sbi_remote_sfence_vma((struct sbi_harts){.mask = ALL, .base = ALL}, 0, ALL);
        }
    }
    judge(v, interrupts == 60, "%lu lives", interrupts);
}
