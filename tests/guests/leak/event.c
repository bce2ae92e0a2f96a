/* SPDX-License-Identifier: Apache-2.0 */
/* Events between the two loops of a spin: waits, calls, faults, device accesses. */
#include "hcall.h"
#include "ipc.h"
#include "leak.h"
#include "platform.h"
#include "sbi.h"
#include "uart.h"

#define LW_A1_A0 0x00052583U    /* lw a1, 0(a0) */
#define LBU_A1_7_A0 0x00754583U /* lbu a1, 7(a0) */
#define SB_A1_7_A0 0x00b503a3U  /* sb a1, 7(a0) */
#define CSRR_A1_HSTATUS 0x600025f3U
#define NOT_MAPPED 0x40000000UL
#define CAUSE_LOAD_PAGE 13UL
#define HSM_SUSPEND 3UL
#define NO_EXTENSION 0x12345UL
#define NO_HCALL 63UL
#define SBI_VERSION 0x02000000UL

_Static_assert(UART_SCR == 7, "the instructions' offset");

static struct leak_event nothing(struct leak *l)
{
    (void)l;
    return (struct leak_event){.instruction = INSN_NOP};
}

static struct leak_event wfi(struct leak *l)
{
    (void)l;
    return (struct leak_event){.instruction = INSN_WFI, .waits = true};
}

/* A call with a known result. */
static struct leak_event call(uint64_t a7, uint64_t a6, uint64_t a0, long error, uint64_t value)
{
    return (struct leak_event){.instruction = INSN_ECALL,
                               .fixed = true,
                               .a0 = a0,
                               .a6 = a6,
                               .a7 = a7,
                               .changes = {true, true},
                               .known = {true, true},
                               .after = {(uint64_t)error, value}};
}

static struct leak_event suspend(struct leak *l)
{
    struct leak_event e = call(SBI_EXT_HSM, HSM_SUSPEND, 0, 0, 0);

    (void)l;
    e.waits = true;
    return e;
}

static struct leak_event get_id(struct leak *l)
{
    return call(HCALL_EXTENSION, HCALL_INFO_GET_ID, leak_value(l), 0, l->vm);
}

static struct leak_event no_hcall(struct leak *l)
{
    return call(HCALL_EXTENSION, NO_HCALL, leak_value(l), HCALL_ERR_NOT_SUPPORTED, 0);
}

static struct leak_event no_extension(struct leak *l)
{
    return call(NO_EXTENSION, leak_value(l), leak_value(l), HCALL_ERR_NOT_SUPPORTED, 0);
}

static struct leak_event base(struct leak *l)
{
    return call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, leak_value(l), 0, SBI_VERSION);
}

/* A remote fence on all harts of this VM. */
static struct leak_event fence(struct leak *l)
{
    struct leak_event e =
        call(SBI_EXT_RFENCE, 1 + random_below(&l->random, 2), leak_value(l), 0, 0);

    e.a1 = ~0UL;
    return e;
}

/* An IPI to all harts of this VM. */
static struct leak_event interrupt(struct leak *l)
{
    struct leak_event e = call(SBI_EXT_IPI, 0, leak_value(l), 0, 0);

    e.a1 = ~0UL;
    e.soft = true;
    return e;
}

/* Receives a message; check_message() in spin.c checks it. */
static struct leak_event receive(struct leak *l)
{
    struct leak_event e = call(HCALL_EXTENSION, HCALL_IPC_RECV_MSG, (uintptr_t)l->inbox, 0, 0);

    e.a1 = sizeof(l->inbox);
    e.known[0] = false;
    e.known[1] = false;
    e.takes = true;
    return e;
}

/* Sends a message to another VM; the VCPU may then yield the hart. */
static struct leak_event send(struct leak *l)
{
    bool wait = random_below(&l->random, 2) != 0;
    uint64_t number = wait ? HCALL_IPC_SEND_WAIT : HCALL_IPC_SEND_MSG;
    struct leak_event e = call(HCALL_EXTENSION, number, l->send_to, 0, 0);

    if (l->send_to == LEAK_NOBODY) {
        return nothing(l);
    }
    for (unsigned i = 0; i < LEAK_MESSAGE; i++) {
        l->message[i] = leak_value(l);
    }
    e.a1 = (uintptr_t)l->message;
    e.known[0] = false; /* the receiver's queue may be full */
    e.waits = wait;
    return e;
}

static struct leak_event fault(uint64_t address, uint64_t cause)
{
    return (struct leak_event){
        .instruction = LW_A1_A0, .fixed = true, .a0 = address, .cause = cause, .tval = address};
}

static struct leak_event hole(struct leak *l)
{
    (void)l;
    return fault(PLATFORM_HOLE, 5);
}

static struct leak_event page_fault(struct leak *l)
{
    (void)l;
    return fault(NOT_MAPPED, CAUSE_LOAD_PAGE);
}

static struct leak_event privileged(struct leak *l)
{
    (void)l;
    return (struct leak_event){.instruction = CSRR_A1_HSTATUS, .cause = 2, .tval = CSRR_A1_HSTATUS};
}

static struct leak_event uart_load(struct leak *l)
{
    if (!l->devices) {
        return nothing(l);
    }
    return (struct leak_event){.instruction = LBU_A1_7_A0,
                               .fixed = true,
                               .a0 = PLATFORM_UART_BASE,
                               .changes = {false, true},
                               .known = {false, true},
                               .after = {0, l->scratch}};
}

static struct leak_event uart_store(struct leak *l)
{
    struct leak_event e = {
        .instruction = SB_A1_7_A0, .fixed = true, .a0 = PLATFORM_UART_BASE, .a1 = leak_value(l)};

    if (!l->devices) {
        return nothing(l);
    }
    l->scratch = (uint8_t)e.a1;
    return e;
}

struct leak_event leak_event(struct leak *l)
{
    static struct leak_event (*const events[])(struct leak *) = {
        nothing,   nothing, wfi,  suspend, get_id,     no_hcall,   no_extension, base,       fence,
        interrupt, receive, send, hole,    page_fault, privileged, uart_load,    uart_store,
    };
    struct leak_event e = events[random_below(&l->random, sizeof(events) / sizeof(events[0]))](l);

    /* Unused arguments are random, but an event that fixes registers fixes all four. */
    e.a1 = e.fixed && e.a1 == 0 ? leak_value(l) : e.a1;
    e.a6 = e.a6 == 0 && e.a7 == 0 ? leak_value(l) : e.a6;
    e.a7 = e.a7 == 0 ? leak_value(l) : e.a7;
    return e;
}
