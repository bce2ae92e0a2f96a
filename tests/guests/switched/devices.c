/* SPDX-License-Identifier: Apache-2.0 */
/* Rare accesses: to the console, whose loads and stores the hypervisor emulates, and to addresses
 * without memory. */
#include "machine.h"
#include "switched.h"

/* at the start of a word; the processor reads a byte of it, whatever the width */
#define MCR (PLATFORM_UART_BASE + 4U)
#define SCR (PLATFORM_UART_BASE + 7U) /* at the end of that word */
#define MCR_BITS 0x3U
#define BEFORE 0xa1b2c3d4U

static uint8_t load(uintptr_t address)
{
    return *(volatile uint8_t *)address;
}

static void store(uintptr_t address, uint8_t value)
{
    *(volatile uint8_t *)address = value;
}

#define LOAD(op, address, before)                                                 \
    __extension__({                                                               \
        uint32_t value_ = (before);                                               \
        __asm__ volatile(".set push\n\t.set noat\n\t" op " %0, 0(%1)\n\t.set pop" \
                         : "+r"(value_)                                           \
                         : "r"(address)                                           \
                         : "memory");                                             \
        value_;                                                                   \
    })

#define STORE(op, address, value) (void)LOAD(op, address, value)

/* LL, LWL and LWR. */
void console_partial_loads(struct result *r)
{
    store(MCR, MCR_BITS);
    expect(r, LOAD("ll", MCR, 0) == MCR_BITS, LOAD("ll", MCR, 0));
    expect(r, LOAD("lwr", MCR, BEFORE) == MCR_BITS, LOAD("lwr", MCR, BEFORE));
    expect(r, LOAD("lwr", MCR + 1U, BEFORE) == (BEFORE & 0xff000000U),
           LOAD("lwr", MCR + 1U, BEFORE));
    expect(r, LOAD("lwr", MCR + 3U, BEFORE) == (BEFORE & 0xffffff00U),
           LOAD("lwr", MCR + 3U, BEFORE));
    expect(r, LOAD("lwl", MCR + 3U, BEFORE) == MCR_BITS, LOAD("lwl", MCR + 3U, BEFORE));
    expect(r, LOAD("lwl", MCR, BEFORE) == (MCR_BITS << 24 | (BEFORE & 0x00ffffffU)),
           LOAD("lwl", MCR, BEFORE));
}

/* SWL, SWR and SC. */
void console_partial_stores(struct result *r)
{
    STORE("swl", SCR, 0x56000001U);
    expect(r, load(SCR) == 0x56, load(SCR));
    expect(r, load(MCR) == 1, load(MCR));
    STORE("swl", MCR, 0x02000056U);
    expect(r, load(SCR) == 0x56, load(SCR));
    expect(r, load(MCR) == 2, load(MCR));
    STORE("swr", SCR, 0x00000078U);
    expect(r, load(SCR) == 0x78, load(SCR));
    expect(r, load(MCR) == 2, load(MCR));
    STORE("swr", MCR, 0x9a000003U);
    expect(r, load(SCR) == 0x9a, load(SCR));
    expect(r, load(MCR) == 3, load(MCR));
    (void)LOAD("ll", MCR, 0);
    expect(r, LOAD("sc", MCR, 1) == 1, 0);
    expect(r, load(MCR) == 1, load(MCR));
}

#define CODE_PAGE 0x00400000U
#define CODE_AT ((PLATFORM_UART_BASE + 7U) & 0xffcU)
#define WORDS 2048U

/* A load of the console at the page offset at which its instruction lies in a mapped page. */
void console_load_at_own_offset(struct result *r)
{
    static volatile uint32_t code[WORDS] __attribute__((aligned(8192)));
    uint32_t (*run)(uint32_t unused, uintptr_t address) =
        (uint32_t (*)(uint32_t, uintptr_t))(CODE_PAGE + CODE_AT);

    code[CODE_AT / 4U] = 0x90a20000U; /* lbu $2, 0($5) */
    code[CODE_AT / 4U + 1U] = 0x03e00008U;
    code[CODE_AT / 4U + 2U] = 0;
    __asm__ volatile("synci 0(%0)\n\tsync" : : "r"(&code[CODE_AT / 4U]) : "memory");
    mmu_map(CODE_PAGE, (uintptr_t)code);
    store(MCR, MCR_BITS);
    expect(r, run(0, MCR) == MCR_BITS, run(0, MCR));
    mmu_init();
}

static uint32_t exceptions;

static bool skip(struct trap_frame *frame, uint32_t code)
{
    (void)code;
    exceptions++;
    frame->epc += 4;
    return true;
}

/* CACHE and SYNCI of addresses without memory have no effect. */
void caches_nowhere(struct result *r)
{
    static const uintptr_t addresses[] = {0x90000000U, 0x9f000000U, 0xb0000000U,
                                          PLATFORM_UART_BASE};

    trap_set_exception(skip);
    for (unsigned int i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        exceptions = 0;
        __asm__ volatile("cache 0x10, 0(%0)\n\tcache 0x11, 0(%0)\n\tcache 0x15, 0(%0)\n\tcache "
                         "0x19, 0(%0)\n\tsynci 0(%0)"
                         :
                         : "r"(addresses[i])
                         : "memory");
        expect(r, exceptions == 0, exceptions);
    }
    trap_set_exception(NULL);
}
