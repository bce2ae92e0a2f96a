/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates random calls and arguments from seed, stream and number only, so that each is
 * reproducible.
 */
#include <string.h>

#include "accel_abi.h"
#include "csr.h"
#include "emit.h"
#include "fabric_map.h"
#include "fuzz.h"
#include "hcall.h"
#include "ipc_abi.h"
#include "platform.h"
#include "rt.h"
#include "sbi.h"

#define A0 10U
#define A1 11U
#define T1 6U
#define JR_T1 (0x00000067U | T1 << 15)
#define C_NOP 0x00010000U /* after a 16-bit instruction */
#define SHAPE 6U

/* --- arguments --- */

/* Mostly `size`, otherwise a plausible size. */
static uint64_t mostly(struct random *r, uint64_t size)
{
    return random_below(r, 8) != 0 ? size : fuzz_size(r);
}

static uint64_t params_size(struct random *r)
{
    return mostly(r, sizeof(struct rt_params));
}

static uint64_t stats_size(struct random *r)
{
    return mostly(r, sizeof(struct rt_stats));
}

static uint64_t accel_info_size(struct random *r)
{
    return mostly(r, sizeof(struct accel_info));
}

static uint64_t accel_stats_size(struct random *r)
{
    return mostly(r, sizeof(struct accel_stats));
}

static uint64_t accel_region_size(struct random *r)
{
    return mostly(r, sizeof(struct accel_region));
}

static uint64_t accel_client_size(struct random *r)
{
    return mostly(r, sizeof(struct accel_client));
}

static uint64_t accel_overlay_size(struct random *r)
{
    return mostly(r, sizeof(struct accel_overlay));
}

static uint64_t params_address(struct random *r)
{
    return random_below(r, 3) != 0 ? (uintptr_t)fuzz_buffer : fuzz_address(r);
}

static uint64_t vm(struct random *r)
{
    return random_below(r, 5);
}

/* Mostly the own VM. */
static uint64_t own_vm(struct random *r)
{
    return random_below(r, 3) != 0 ? ~0UL : vm(r);
}

static uint64_t destination(struct random *r)
{
    return random_below(r, 4) | random_below(r, 7) << 16;
}

/* The number of an app, hart or region. */
static uint64_t index(struct random *r)
{
    return random_below(r, 16) == 0 ? ~0UL : random_below(r, 6);
}

static uint64_t deadline(struct random *r)
{
    return random_below(r, 2) != 0 ? csr_read_time() + random_below(r, 100000) : random_next(r);
}

static uint64_t harts(struct random *r)
{
    return random_next(r) & 7U;
}

static uint64_t first_hart(struct random *r)
{
    return random_below(r, 3) == 0 ? ~0UL : random_below(r, 3);
}

static uint64_t entry(struct random *r)
{
    return random_below(r, 4) != 0 ? (uintptr_t)fuzz_hart_entry : fuzz_address(r);
}

static uint64_t zero(struct random *r)
{
    (void)r;
    return 0;
}

/* An argument for a letter of the shapes below. */
static uint64_t argument(struct random *r, char what)
{
    static const struct {
        char letter;
        uint64_t (*make)(struct random *);
    } kinds[] = {
        {'a', fuzz_address},
        {'b', first_hart},
        {'c', params_size},
        {'d', destination},
        {'e', entry},
        {'g', stats_size},
        {'i', index},
        {'m', harts},
        {'o', own_vm},
        {'p', params_address},
        {'s', fuzz_size},
        {'t', deadline},
        {'v', vm},
        {'0', zero},
        {'n', accel_info_size},
        {'q', accel_stats_size},
        {'r', accel_region_size},
        {'w', accel_client_size},
        {'y', accel_overlay_size},
    };

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && random_below(r, 64) != 0; i++) {
        if (kinds[i].letter == what) {
            return kinds[i].make(r);
        }
    }
    return fuzz_any(r);
}

static void arguments(struct fuzz_call *call, struct random *r, const char *shape)
{
    for (unsigned i = 0; i < SHAPE; i++) {
        call->a[i] = argument(r, *shape != '\0' ? *shape++ : 'x');
    }
}

/* Mostly admissible parameters of an app, in the buffer that CREATE is likely to read. */
static void parameters(struct random *r)
{
    struct rt_params p = {
        .entry = random_below(r, 16) != 0 ? (uintptr_t)fuzz_app_entry : fuzz_address(r),
        .stack = random_below(r, 4) != 0 ? (uintptr_t)fuzz_buffer : fuzz_address(r),
        .arg = fuzz_any(r),
        .period_us = (uint32_t)(100 + random_below(r, 3000)),
        .cpu = random_below(r, 4) != 0 ? 0 : (uint32_t)random_below(r, 3)};

    p.budget_us = 1 + (uint32_t)random_below(r, p.period_us / 8);
    p.deadline_us = p.budget_us + (uint32_t)random_below(r, p.period_us - p.budget_us + 1);
    if (random_below(r, 6) == 0) {
        uint32_t *const times[] = {&p.period_us, &p.budget_us, &p.deadline_us, &p.cpu};

        *times[random_below(r, 4)] = (uint32_t)fuzz_any(r);
    }
    memcpy(fuzz_buffer, &p, sizeof(p));
}

/* --- calls --- */

struct shape {
    uint64_t number; /* of the hypercall, or of the SBI extension */
    const char *arguments;
};

static const struct shape hcalls[] = {
    {HCALL_INFO_GET_ID, ""},
    {HCALL_WATCHDOG_PET, ""},
    {HCALL_RT_CREATE_APP, "pc"},
    {HCALL_RT_LAUNCH_APP, "oit"},
    {HCALL_RT_DELETE_APP, "i"},
    {HCALL_RT_END_JOB, ""},
    {HCALL_RT_GET_STATS, "iag"},
    {HCALL_IPC_SEND_MSG, "das"},
    {HCALL_IPC_RECV_MSG, "as"},
    {HCALL_IPC_RING, "iv"},
    {HCALL_IPC_DOORBELLS, ""},
    {HCALL_IPC_SEND_WAIT, "das"},
    {HCALL_ACCEL_ENUMERATE, "ian"},
    {HCALL_ACCEL_REQUEST, "i"},
    {HCALL_ACCEL_RELEASE, "i"},
    {HCALL_ACCEL_STATUS, "i"},
    {HCALL_ACCEL_GET_STATS, "iaq"},
    {HCALL_ACCEL_EVENTS, ""},
    {HCALL_ACCEL_SET_PRIORITY, "ii"},
    {HCALL_ACCEL_SET_MODEL, "ii"},
    {HCALL_ACCEL_GET_REGION, "iar"},
    {HCALL_ACCEL_GET_CLIENT, "iaw"},
    {HCALL_ACCEL_APPLY_OVERLAY, "i"},
    {HCALL_ACCEL_REMOVE_OVERLAY, "i"},
    {HCALL_ACCEL_OVERLAY_STATUS, "iay"},
    {HCALL_RT_USE_DEVICE, "iii"},
};
#define HCALLS (sizeof(hcalls) / sizeof(hcalls[0]))

static bool has_shape(uint64_t number)
{
    for (unsigned i = 0; i < HCALLS; i++) {
        if (hcalls[i].number == number) {
            return true;
        }
    }
    return false;
}

/* Any hypercall of abi/. One without a shape gets arbitrary arguments. */
static struct shape any_hcall(struct random *r)
{
    static const uint8_t numbers[] = {HCALL_NUMBERS};
    uint64_t n = random_below(r, sizeof(numbers)), others = HCALLS;

    for (unsigned i = 0; i < sizeof(numbers) && n >= HCALLS; i++) {
        if (!has_shape(numbers[i]) && others++ == n) {
            return (struct shape){numbers[i], ""};
        }
    }
    return hcalls[n % HCALLS];
}

static void make_hcall(struct fuzz_call *call, struct random *r)
{
    struct shape s = any_hcall(r);
    uint64_t odd = random_below(r, 12);

    if (s.number == HCALL_RT_CREATE_APP) {
        parameters(r);
    }
    arguments(call, r, s.arguments);
    call->code[0] = INSN_ECALL;
    if (odd == 0) {
        call->a[6] = random_below(r, 70);
    } else {
        call->a[6] = odd == 1 ? fuzz_any(r) : s.number;
    }
    call->a[7] = HCALL_EXTENSION;
}

static uint64_t function(struct random *r, uint64_t extension)
{
    uint64_t fid = random_below(r, 16) == 0 ? fuzz_any(r) : random_below(r, 4);

    /* Makes a reset, and a stop of the hart, less likely: both restart the stream. */
    if ((extension == SBI_EXT_SRST && fid == 0) || (extension == SBI_EXT_HSM && fid == 1)) {
        return random_below(r, 8) == 0 ? fid : 2;
    }
    return fid;
}

#define SBI_LEGACY_CLEAR_IPI 3U
#define SBI_LEGACY_SHUTDOWN 8U

static void make_sbi(struct fuzz_call *call, struct random *r)
{
    static const struct shape shapes[] = {
        {SBI_EXT_BASE, "x"},
        {SBI_EXT_TIME, "t"},
        {SBI_EXT_IPI, "mb"},
        {SBI_EXT_RFENCE, "mbasx"},
        {SBI_EXT_RFENCE, "mbasx"},
        {SBI_EXT_HSM, "ie"},
        {SBI_EXT_HSM, "00"},
        {SBI_EXT_SRST, "ii"},
        {SBI_EXT_DBCN, "sa0"},
        {0, "t"},
        {1, "x"},
        {2, ""},
        {3, ""},
        {4, "a"},
        {5, "a"},
        {6, "aas"},
        {7, "aasx"},
        {8, ""},
        {0x53555350, "0ea"},
        {0x504d55, "iax"},
        {0x43505043, "x"},
        {0x4e41434c, "0a0"},
        {0x535441, "a00"},
    };
    const struct shape *s = &shapes[random_below(r, sizeof(shapes) / sizeof(shapes[0]))];

    arguments(call, r, s->arguments);
    call->code[0] = INSN_ECALL;
    call->a[7] = random_below(r, 30) == 0 ? random_next(r) : s->number;
    /* rare, as the reset in function() */
    if (call->a[7] == SBI_LEGACY_SHUTDOWN && random_below(r, 32) != 0) {
        call->a[7] = SBI_LEGACY_CLEAR_IPI;
    }
    call->a[6] = function(r, call->a[7]);
}

#define CSR_SATP 0x180U
#define SATP_ONE_IN 50U

/* Reads and writes, with a register or an immediate; a1 is the value. */
static void make_csr(struct fuzz_call *call, struct random *r)
{
    static const uint16_t near[] = {0x100, 0x104, 0x105, 0x106, 0x10a, 0x140, 0x141, 0x142, 0x143,
                                    0x144, 0x14d, 0x180, 0x200, 0x204, 0x244, 0x24d, 0x280, 0x600,
                                    0x602, 0x603, 0x605, 0x606, 0x60a, 0x645, 0x680, 0x64a, 0xc00,
                                    0xc01, 0xc02, 0xc03, 0xe12, 0x001, 0x003, 0x015, 0x5a8, 0x7a0};
    uint32_t csr = random_below(r, 2) != 0 ? near[random_below(r, sizeof(near) / sizeof(near[0]))]
                                           : (uint32_t)random_below(r, 0x1000);
    uint32_t funct3 = 1 + (uint32_t)random_below(r, 3) + (random_below(r, 4) == 0 ? 4U : 0U);
    uint32_t source = random_below(r, 3) == 0 ? 0 : A1;

    /* A random satp costs the attacker a watchdog period. */
    csr = csr == CSR_SATP && random_below(r, SATP_ONE_IN) != 0 ? 0x140 : csr;
    call->code[0] = insn_csr(funct3, A0, csr, source);
    call->a[1] = fuzz_any(r);
}

static uint64_t device_address(struct random *r)
{
    static const uint32_t plic[] = {0,      0x1000,   0x1080,   0x2000,   0x2080,
                                    0x2100, 0x200000, 0x201000, 0x5ffff8, 0x600000};

    switch (random_below(r, 5)) {
    case 0:
        return PLATFORM_UART_BASE + random_below(r, 16);
    case 3: /* the fabric; beyond the VM's own devices there is nothing */
        return ACCEL_PAGES + random_below(r, 0x200000) - 0x100000;
    case 1:
        return PLATFORM_UART_BASE + random_below(r, 0x2000);
    case 2:
        return PLATFORM_PLIC_BASE + plic[random_below(r, sizeof(plic) / sizeof(plic[0]))] +
               random_below(r, 0x90);
    default:
        return fuzz_address(r);
    }
}

/*
 * A load or store of a1 at a0 of any size: signed or unsigned, compressed, atomic, floating-point.
 */
static uint32_t access(struct random *r)
{
    static const uint32_t compressed[] = {0x410cU, 0x610cU, 0xc10cU, 0xe10cU, 0x210cU, 0xa10cU};

    switch (random_below(r, 8)) {
    case 0:
        return C_NOP | compressed[random_below(r, 6)];
    case 1: /* AMO, LR or SC, any function */
        return 0x2fU | A1 << 7 | (2 + (uint32_t)random_below(r, 2)) << 12 | A0 << 15 | A1 << 20 |
               (uint32_t)random_below(r, 32) << 27;
    case 2:
        return insn_i(OPCODE_LOAD_FP, 2 + (uint32_t)random_below(r, 2), 1, A0, 0);
    case 3:
    case 4:
        return insn_s(OPCODE_STORE, (uint32_t)random_below(r, 8), A0, A1, 0);
    default:
        return insn_i(OPCODE_LOAD, (uint32_t)random_below(r, 8), A1, A0, 0);
    }
}

static void make_mmio(struct fuzz_call *call, struct random *r)
{
    call->code[0] = access(r);
    call->a[0] = device_address(r);
    call->a[1] = random_below(r, 2) != 0 ? random_next(r) : fuzz_any(r);
    /* Stores only to devices and unmapped addresses: in memory they could damage the attacker. */
    if ((call->a[0] >> 28 & 0xfU) >= 8) {
        call->code[0] = insn_i(OPCODE_LOAD, (uint32_t)random_below(r, 8), A1, A0, 0);
    }
}

static uint64_t one(struct random *r)
{
    return random_below(r, 16) != 0 ? 1 : fuzz_any(r);
}

static uint64_t command(struct random *r)
{
    return random_below(r, 3) == 0 ? random_below(r, 9) : 0; /* most others are misbehaviour */
}

/* A store to a register of one of the VM's devices of the fabric, or of one that it does not
 * have. */
static void make_accel(struct fuzz_call *call, struct random *r)
{
    static const struct {
        uint32_t offset, width; /* funct3 of the store */
        uint64_t (*value)(struct random *);
    } registers[] = {
        {FABRIC_IF_START, 2, one},           {FABRIC_IF_START, 2, one},
        {FABRIC_IF_START, 2, one},           {FABRIC_IF_OVER, 2, one},
        {FABRIC_IF_CMD, 2, command},         {FABRIC_IF_DATA_ADDR, 3, fuzz_address},
        {FABRIC_IF_DATA_SIZE, 2, fuzz_size}, {FABRIC_IF_RESULT, 3, fuzz_address},
        {FABRIC_IF_INT_CTRL, 2, fuzz_any},   {FABRIC_IF_STAT, 2, fuzz_any},
        {FABRIC_IF_CUSTOM, 2, fuzz_size},
    };
    unsigned which = (unsigned)random_below(r, sizeof(registers) / sizeof(registers[0]));
    uint64_t device = random_below(r, 12) == 0 ? random_below(r, 64) : random_below(r, 2);

    call->a[0] = ACCEL_PAGES + device * ACCEL_PAGE + registers[which].offset;
    call->a[1] = registers[which].value(r);
    call->code[0] = insn_s(OPCODE_STORE, registers[which].width, A0, A1, 0);
}

/* Instructions of the hypervisor and the firmware, and reserved ones. */
static void make_other(struct fuzz_call *call, struct random *r)
{
    static const uint32_t others[] = {
        INSN_WFI,
        0x30200073U /* mret */,
        0x00100073U /* ebreak */,
        0x12000073U /* sfence.vma */,
        0x22000073U /* hfence.vvma */,
        0x62000073U /* hfence.gvma */,
        0x16000073U /* sinval.vma */,
        0x18000073U /* sfence.w.inval */,
        0x26000073U /* hinval.vvma */,
        0x6c0545f3U /* hlv.d a1, (a0) */,
        0x60054573U /* hlv.b a0, (a0) */,
        0x6eb54073U /* hsv.d a1, (a0) */,
        0x643545f3U /* hlvx.hu a1, (a0) */,
        0x0000100fU /* fence.i */,
        0x0ff0000fU /* fence */,
        0x00052 << 12 | 0x200fU /* cbo.inval (a0) */,
        0x0015200fU /* cbo.clean (a0) */,
        0x0045200fU /* cbo.zero (a0) */,
        0x7b200073U /* dret */,
        0U,
        ~0U,
    };

    call->code[0] = others[random_below(r, sizeof(others) / sizeof(others[0]))];
    call->a[0] = device_address(r);
    call->a[1] = fuzz_any(r);
}

void fuzz_make(struct fuzz_call *call, uint64_t seed, unsigned slot, uint64_t number)
{
    static const struct {
        void (*make)(struct fuzz_call *, struct random *);
        enum fuzz_kind kind;
    } kinds[] = {
        {make_hcall, FUZZ_HCALL}, {make_hcall, FUZZ_HCALL}, {make_hcall, FUZZ_HCALL},
        {make_sbi, FUZZ_SBI},     {make_sbi, FUZZ_SBI},     {make_csr, FUZZ_CSR},
        {make_csr, FUZZ_CSR},     {make_mmio, FUZZ_MMIO},   {make_mmio, FUZZ_MMIO},
        {make_accel, FUZZ_MMIO},  {make_other, FUZZ_OTHER},
    };
    struct random r = random_from(random_stir(seed) ^ random_stir((uint64_t)slot << 56 | number));
    unsigned which = (unsigned)random_below(&r, sizeof(kinds) / sizeof(kinds[0]));

    for (unsigned i = 0; i < 8; i++) {
        call->a[i] = random_next(&r);
    }
    call->kind = kinds[which].kind;
    kinds[which].make(call, &r);
    call->code[1] = JR_T1;
}
