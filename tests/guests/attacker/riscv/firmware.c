/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI calls with invalid arguments, which must return an error and have no effect; interrupt
 * storms.
 */
#include "attacker.h"
#include "hcall.h"
#include "ipc_abi.h"
#include "platform.h"
#include "rt.h"
#include "sbi.h"

struct firmware_call {
    unsigned long extension, function, a0, a1, a2;
    long error;
};

static void firmware_call(struct verdict *v, const struct firmware_call *c)
{
    struct sbi_ret ret = sbi_call(c->extension, c->function, c->a0, c->a1, c->a2);

    judge(v, ret.error == c->error, "0x%lx.%lu(0x%lx, 0x%lx, 0x%lx): %ld", c->extension,
          c->function, c->a0, c->a1, c->a2, ret.error);
}

static void firmware_calls(struct verdict *v, const struct firmware_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        firmware_call(v, &calls[i]);
    }
}

/* --- the SBI --- */

/* Unknown extensions, and unknown functions of known ones. */
void sbi_unknown(struct verdict *v, uint64_t arg)
{
    static const unsigned long there[] = {SBI_EXT_BASE,   SBI_EXT_TIME,   SBI_EXT_IPI,
                                          SBI_EXT_RFENCE, SBI_EXT_HSM,    SBI_EXT_SRST,
                                          SBI_EXT_DBCN,   HCALL_EXTENSION};
    static const unsigned long first[] = {7, 1, 1, 3, 4, 1, 3, 64};
    uint64_t state = 7;

    (void)arg;
    for (unsigned long e = 9; e < 0x10; e++) { /* below: SBI v0.1 */
        firmware_call(v, &(struct firmware_call){e, 0, ALL, ALL, ALL, HCALL_ERR_NOT_SUPPORTED});
    }
    for (unsigned int n = 0; n < 500; n++) {
        firmware_call(v, &(struct firmware_call){random_next(&state) | 1UL << 40, n, ALL, ALL, ALL,
                                                 HCALL_ERR_NOT_SUPPORTED});
    }
    for (size_t e = 0; e < LENGTH_OF(there); e++) {
        firmware_call(
            v, &(struct firmware_call){there[e] | 1UL << 32, 0, 0, 0, 0, HCALL_ERR_NOT_SUPPORTED});
        firmware_call(
            v, &(struct firmware_call){there[e], ALL, ALL, ALL, ALL, HCALL_ERR_NOT_SUPPORTED});
        firmware_call(
            v, &(struct firmware_call){there[e], 1UL << 63, 0, 0, 0, HCALL_ERR_NOT_SUPPORTED});
        for (unsigned long f = first[e]; f < 300; f++) {
            firmware_call(
                v, &(struct firmware_call){there[e], f, ALL, ALL, ALL, HCALL_ERR_NOT_SUPPORTED});
        }
    }
}

/* A call of SBI v0.1, which may raise an exception. */
static struct caught legacy_call(unsigned long number, unsigned long pointer)
{
    static volatile uint32_t code[3];

    code[0] = 0x00000893U | (uint32_t)number << 20; /* li a7, number */
    code[1] = WORD_ECALL;
    code[2] = WORD_RET;
    __asm__ volatile("fence.i" ::: "memory");
    return guarded(SUPERVISOR, (uintptr_t)code, pointer, 0);
}

/* Hart masks at addresses outside the guest's memory, and masks with nonexistent harts. */
void sbi_legacy(struct verdict *v, uint64_t arg)
{
    static const unsigned long addresses[] = BAD_ADDRESSES(8UL);
    static unsigned long mask;

    (void)arg;
    for (unsigned long number = 4; number < 8; number++) {
        for (size_t n = 1; n < LENGTH_OF(addresses); n++) { /* the first, 0, means all harts */
            struct caught c = legacy_call(number, addresses[n]);

            judge(
                v,
                c.cause == CAUSE_LOAD_ACCESS && c.stval == addresses[n] && c.value == addresses[n],
                "%lu(0x%lx): cause %ld, stval 0x%lx", number, addresses[n], (long)c.cause, c.stval);
        }
        for (unsigned int hart = 2; hart < 64; hart++) {
            mask = 1UL << hart | 1UL;
            judge(v,
                  legacy_call(number, (uintptr_t)&mask).value ==
                      (unsigned long)HCALL_ERR_INVALID_PARAM,
                  "%lu to hart %u", number, hart);
        }
    }
    judge(v, (csr_read_sip() & SIE_SOFT) == 0, "an interrupt has come");
}

/* Nonexistent harts, in every combination of mask and base. */
void sbi_harts(struct verdict *v, uint64_t arg)
{
    static const struct sbi_harts bad_harts[] = {
        {1, 2},  {4, 0},         {2, 1},       {ALL, 0},         {1UL << 63, 0},
        {1, 64}, {1, 1UL << 63}, {1, ALL - 1}, {ALL, 1UL << 32}, {3, 1}};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(bad_harts); i++) {
        struct firmware_call call = {SBI_EXT_IPI,       0, bad_harts[i].mask,
                                     bad_harts[i].base, 0, HCALL_ERR_INVALID_PARAM};

        firmware_call(v, &call);
        call.extension = SBI_EXT_RFENCE;
        for (call.function = 0; call.function < 3; call.function++) {
            firmware_call(v, &call);
        }
    }
    judge(v, (csr_read_sip() & SIE_SOFT) == 0, "an interrupt has come");
}

void sbi_hsm(struct verdict *v, uint64_t arg)
{
    static const struct firmware_call calls[] = {
        {SBI_EXT_HSM, 0, 0, RAM_BASE, 0, HCALL_ERR_ALREADY_AVAILABLE},
        {SBI_EXT_HSM, 0, 2, RAM_BASE, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 0, ALL, RAM_BASE, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 0, 1UL << 32, RAM_BASE, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 2, 2, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 2, ALL, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 2, 1UL << 63, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 3, 1, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 3, 0x80000000, 0, 0, HCALL_ERR_NOT_SUPPORTED},
        {SBI_EXT_HSM, 3, 0x80000001, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_HSM, 3, 0x7fffffff, 0, 0, HCALL_ERR_INVALID_PARAM},
    };
    static const unsigned long entries[] = BAD_ADDRESSES(4UL);

    (void)arg;
    firmware_calls(v, calls, LENGTH_OF(calls));
    for (size_t n = 0; n < LENGTH_OF(entries); n++) {
        firmware_call(v, &(struct firmware_call){SBI_EXT_HSM, 0, 1, entries[n], entries[n],
                                                 HCALL_ERR_INVALID_ADDRESS});
    }
    judge(v, sbi_hart_status(1).value == 1, "the second hart has started");
}

void sbi_reset(struct verdict *v, uint64_t arg)
{
    static const struct firmware_call calls[] = {
        {SBI_EXT_SRST, 0, 3, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 0, 0xffffffff, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 0, 0xf0000000, 0, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 0, 0, 2, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 0, 1, 0xe0000000, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 0, 2, 0xffffffff, 0, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 0, ALL, ALL, ALL, HCALL_ERR_INVALID_PARAM},
        {SBI_EXT_SRST, 1, 0, 0, 0, HCALL_ERR_NOT_SUPPORTED},
    };

    (void)arg;
    firmware_calls(v, calls, LENGTH_OF(calls));
}

/* Invalid buffers of the debug console; arg: 0 writes, 1 reads. */
void sbi_console(struct verdict *v, uint64_t arg)
{
    static const unsigned long sizes[] = {1, 2, 16, 64, 4096};
    static const unsigned long huge[] = {RAM_SIZE + 1, 1UL << 32,      1UL << 63,
                                         ALL,          ALL - RAM_BASE, 0 - RAM_BASE};

    for (size_t s = 0; s < LENGTH_OF(sizes); s++) {
        const unsigned long addresses[] = BAD_ADDRESSES(sizes[s]);

        for (size_t n = 0; n < LENGTH_OF(addresses); n++) {
            unsigned long address = addresses[n];
            bool inside = sizes[s] == 1 &&
                          (address - RAM_BASE < RAM_SIZE || address - SHARED_BASE < SHARED_SIZE);

            if (!inside) {
                firmware_call(v, &(struct firmware_call){SBI_EXT_DBCN, arg, sizes[s], address, 0,
                                                         HCALL_ERR_INVALID_PARAM});
            }
            firmware_call(v, &(struct firmware_call){SBI_EXT_DBCN, arg, sizes[s], RAM_BASE, n + 1,
                                                     HCALL_ERR_INVALID_PARAM});
        }
    }
    for (size_t s = 0; s < LENGTH_OF(huge); s++) {
        firmware_call(v, &(struct firmware_call){SBI_EXT_DBCN, arg, huge[s], RAM_BASE, 0,
                                                 HCALL_ERR_INVALID_PARAM});
        firmware_call(v, &(struct firmware_call){SBI_EXT_DBCN, arg, huge[s], RAM_BASE, ALL,
                                                 HCALL_ERR_INVALID_PARAM});
    }
}

/* Every extension with pseudo-random arguments, except calls that end the VM or print. */
void sbi_random(struct verdict *v, uint64_t arg)
{
    static const unsigned long extensions[] = {SBI_EXT_TIME, SBI_EXT_IPI, SBI_EXT_RFENCE,
                                               SBI_EXT_BASE, HCALL_EXTENSION};
    uint64_t state = 99;

    (void)arg;
    for (unsigned int n = 0; n < 20000; n++) {
        uint64_t extension = extensions[n % LENGTH_OF(extensions)];
        uint64_t function = random_next(&state) % 66;
        uint64_t a0 = random_next(&state), a1 = random_next(&state), a2 = random_next(&state);
        struct sbi_ret ret;

        ret = sbi_call(extension, function == HCALL_IPC_SEND_WAIT ? 0 : function, a0 >> a2 % 64,
                       a1 >> a0 % 64, a2 >> a1 % 64);
        judge(v, ret.error <= 0 && ret.error >= HCALL_ERR_BAD_RANGE, "0x%lx.%lu: %ld", extension,
              function, ret.error);
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

/* Floods the ticker from all VCPUs of the VM. */
void ipc_flood_harts(struct verdict *v, uint64_t arg)
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

/* As many calls as possible in some milliseconds; arg: the call. */
void call_flood(struct verdict *v, uint64_t arg)
{
    static const struct firmware_call calls[] = {
        {HCALL_EXTENSION, HCALL_INFO_GET_ID, 0, 0, 0, 0},
        {HCALL_EXTENSION, 63, ALL, ALL, ALL, HCALL_ERR_NOT_SUPPORTED},
        {SBI_EXT_BASE, 3, SBI_EXT_HSM, 0, 0, 0},
        {SBI_EXT_BASE, 4, 0, 0, 0, 0},
        {SBI_EXT_TIME, 0, ALL, 0, 0, 0},
        {SBI_EXT_RFENCE, 1, 1, 0, 0, 0},
        {SBI_EXT_HSM, 2, 1, 0, 0, 0},
        {SBI_EXT_DBCN, 0, 0, 0, 0, 0},
        {HCALL_EXTENSION, HCALL_IPC_DOORBELLS, 0, 0, 0, 0},
        {HCALL_EXTENSION, HCALL_RT_DELETE_APP, 0, 0, 0, HCALL_ERR_INVALID_PARAM},
    };
    uint64_t end = csr_read_time() + 10UL * MS;

    (void)arg;
    for (size_t n = 0; csr_read_time() < end; n++) {
        firmware_call(v, &calls[n % LENGTH_OF(calls)]);
    }
}

/* --- interrupt storms --- */

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

/* Two harts send IPIs to each other and to themselves on each IPI. */
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

/* Timers that have always expired. */
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

/* Starts, stops and fences the second hart repeatedly. */
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

#define LEGACY_SFENCE_VMA 6UL
#define KEPT 0x1234567UL /* in a1, which legacy calls preserve */

/* Both harts execute remote fences for each other without a pause. */
static void fence(struct verdict *v)
{
    for (unsigned int n = 0; n < 1000; n++) {
        struct sbi_harts both = {.mask = 3, .base = 0};
        struct sbi_ret ret;

        if (n % 3 == 2) {
            ret = sbi_call(LEGACY_SFENCE_VMA, 0, (uintptr_t)&both.mask, KEPT, 0);
            judge(v, ret.value == (long)KEPT, "fence %u: a1 is %ld", n, ret.value);
        } else {
            ret = n % 3 == 0 ? sbi_remote_sfence_vma(both, 0, ALL) : sbi_remote_fence_i(both);
        }
        judge(v, ret.error == 0, "fence %u: %ld", n, ret.error);
    }
}

static struct verdict fences_too;

static void other_fences(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    fence(&fences_too);
    flooded = true;
}

void fence_storm(struct verdict *v, uint64_t arg)
{
    (void)arg;
    flooded = false;
    judge(v, second_hart(other_fences), "the second hart does not start");
    while (!flooded) {
        fence(v);
    }
    judge(v, fences_too.wrong == 0, "second hart: %s", fences_too.first);
    v->tried += fences_too.tried;
}

static void job_stops_its_hart(void *argument)
{
    (void)argument;
    app_jobs++;
    (void)sbi_hart_stop();
    app_jobs += 1000;
}

void app_stops_its_hart(struct verdict *v, uint64_t arg)
{
    (void)arg;
    app_ends_by(v, job_stops_its_hart);
}
