/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Malicious page tables. Each maps the guest's memory unchanged by a page of 1 GiB (0x8000_0000 to
 * 0xc000_0000); the target of an attack is mapped at WINDOW, by a separate table.
 */
#include <string.h>

#include "attacker.h"
#include "platform.h"
#include "sbi.h"

#define ENTRIES 512U
#define PTE_V 0x01UL
#define PTE_R 0x02UL
#define PTE_W 0x04UL
#define PTE_X 0x08UL
#define PTE_U 0x10UL
#define PTE_RWX (PTE_R | PTE_W | PTE_X)
#define PTE_AD 0xc0UL
#define PTE_LEAF (PTE_V | PTE_RWX | PTE_AD)
#define PTE_UPPER 0xffc0000000000000UL /* reserved, Svpbmt, Svnapot */
#define SATP_SV39 (8UL << 60)
#define PAGE 0x1000UL
#define MEGA 0x200000UL
#define GIGA 0x40000000UL
#define WINDOW 0x1000000000UL /* otherwise unused: entry 64 of the root */
#define WINDOW_ENTRY (WINDOW / GIGA)
#define CAUSE_NO_OTHER 64UL /* not a cause */
#define PATTERN 0x7e55e7a0cafef00dUL

static uint64_t root[ENTRIES] __attribute__((aligned(4096)));
static uint64_t middle[ENTRIES] __attribute__((aligned(4096)));
static uint64_t leaves[ENTRIES] __attribute__((aligned(4096)));
static volatile uint64_t own_page[ENTRIES] __attribute__((aligned(4096)));

static uint64_t pte(uint64_t address, uint64_t flags)
{
    return address / PAGE << 10 | flags;
}

static void forget(void)
{
    __asm__ volatile("sfence.vma" ::: "memory");
}

static void set_satp(uint64_t value)
{
    __asm__ volatile("csrw satp, %0\n\tsfence.vma" ::"r"(value) : "memory");
}

/* Turns translation on, with nothing mapped at WINDOW. */
static void paging_on(void)
{
    memset(root, 0, sizeof(root));
    memset(middle, 0, sizeof(middle));
    memset(leaves, 0, sizeof(leaves));
    root[2] = pte(2 * GIGA, PTE_LEAF);
    root[0] = pte(0, PTE_LEAF); /* the guest's devices */
    root[WINDOW_ENTRY] = pte((uintptr_t)middle, PTE_V);
    middle[0] = pte((uintptr_t)leaves, PTE_V);
    set_satp(SATP_SV39 | (uintptr_t)root / PAGE);
}

static void paging_off(void)
{
    set_satp(0);
}

/*
 * For load, store, fetch; the last is allowed for all: QEMU reports a failed second-stage walk as a
 * load.
 */
static const uint64_t access_faults[4] = {CAUSE_LOAD_ACCESS, CAUSE_STORE_ACCESS,
                                          CAUSE_INSTRUCTION_ACCESS, CAUSE_NO_OTHER};
static const uint64_t walk_faults[4] = {CAUSE_LOAD_ACCESS, CAUSE_STORE_ACCESS,
                                        CAUSE_INSTRUCTION_ACCESS, CAUSE_LOAD_ACCESS};
static const uint64_t page_faults[4] = {CAUSE_LOAD_PAGE, CAUSE_STORE_PAGE, CAUSE_FETCH_PAGE,
                                        CAUSE_NO_OTHER};

/* Checks the causes of a load, store and fetch at a virtual address. */
static void try_all(struct verdict *v, const char *what, uint64_t address, const uint64_t causes[4])
{
    static const uint32_t words[3] = {WORD_LD, WORD_SD, WORD_JR};

    forget();
    for (unsigned int i = 0; i < 3; i++) {
        struct caught c = try_word(SUPERVISOR, words[i], address, PATTERN);

        judge(v, (c.cause == causes[i] || c.cause == causes[3]) && (i == 2 || c.stval == address),
              "%s 0x%lx: cause %ld, stval 0x%lx", what, address, (long)c.cause, c.stval);
    }
}

/* Page tables that map addresses outside the guest's memory, with pages of every size. */
void pages_elsewhere(struct verdict *v, uint64_t arg)
{
    static const uint64_t places[] = {REAL_FIRMWARE, REAL_HYPERVISOR,   REAL_WITNESS, REAL_TICKER,
                                      REAL_OWN,      RAM_END,           0x100000,     SHARED_END,
                                      1UL << 41,     (1UL << 56) - MEGA};

    (void)arg;
    paging_on();
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        leaves[0] = pte(places[i], PTE_LEAF);
        try_all(v, "small page at", WINDOW, access_faults);
        middle[1] = pte(places[i] & ~(MEGA - 1), PTE_LEAF);
        try_all(v, "2 MiB page at", WINDOW + MEGA + places[i] % MEGA, access_faults);
        root[WINDOW_ENTRY + 1] = pte(places[i] & ~(GIGA - 1), PTE_LEAF);
        try_all(v, "1 GiB page at", WINDOW + GIGA + places[i] % GIGA, access_faults);
    }
    paging_off();
}

/*
 * Tables outside the guest's memory below a valid root: an access fault of the access that caused
 * the walk.
 */
void tables_elsewhere(struct verdict *v, uint64_t arg)
{
    static const uint64_t places[] = {REAL_FIRMWARE,   REAL_HYPERVISOR,   REAL_HYPERVISOR + 0x40000,
                                      REAL_WITNESS,    REAL_TICKER,       RAM_END,
                                      RAM_BASE - PAGE, SHARED_END,        0,
                                      1UL << 41,       (1UL << 56) - PAGE};

    (void)arg;
    paging_on();
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        middle[0] = pte(places[i], PTE_V);
        try_all(v, "last table elsewhere,", WINDOW + 8, walk_faults);
        root[WINDOW_ENTRY + 1] = pte(places[i], PTE_V);
        try_all(v, "middle table elsewhere,", WINDOW + GIGA + 8, walk_faults);
    }
    paging_off();
}

/*
 * Tables in the guest's devices: a walk must not access a register. Offsets in a table differ from
 * that of the access.
 */
void tables_in_devices(struct verdict *v, uint64_t arg)
{
    static const uint64_t places[] = {PLATFORM_UART_BASE, PLATFORM_PLIC_BASE,
                                      PLATFORM_PLIC_BASE + 0x1000, PLATFORM_PLIC_BASE + 0x201000};

    (void)arg;
    paging_on();
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        middle[0] = pte(places[i], PTE_V);
        for (uint64_t page = 0; page < 64; page++) {
            try_all(v, "table in a device,", WINDOW + page * PAGE + 0x808, walk_faults);
        }
    }
    paging_off();
}

/* The root outside the guest's memory: even the trap vector cannot be fetched. arg: its address. */
void root_elsewhere(struct verdict *v, uint64_t arg)
{
    (void)v;
    set_satp(SATP_SV39 | arg / PAGE);
}

/* Invalid tables: cycles, unmapped pointers, misaligned large pages, reserved bits. */
void tables_wrong(struct verdict *v, uint64_t arg)
{
    (void)arg;
    paging_on();
    root[WINDOW_ENTRY + 1] = pte((uintptr_t)root, PTE_V);
    try_all(v, "round", WINDOW + GIGA + (WINDOW_ENTRY + 1) * MEGA + (WINDOW_ENTRY + 1) * PAGE,
            page_faults);
    middle[1] = pte((uintptr_t)middle, PTE_V);
    try_all(v, "round below", WINDOW + MEGA + PAGE, page_faults);
    root[WINDOW_ENTRY + 2] = pte(RAM_BASE, PTE_LEAF);
    try_all(v, "1 GiB page not aligned", WINDOW + 2 * GIGA, page_faults);
    middle[2] = pte(RAM_BASE + PAGE, PTE_LEAF);
    try_all(v, "2 MiB page not aligned", WINDOW + 2 * MEGA, page_faults);
    leaves[3] = pte(RAM_BASE, PTE_V | PTE_W | PTE_AD);
    try_all(v, "written but not read", WINDOW + 3 * PAGE, page_faults);
    leaves[4] = pte(RAM_BASE, PTE_LEAF) | 1UL << 54;
    try_all(v, "reserved bit", WINDOW + 4 * PAGE, page_faults);
    leaves[5] = pte(RAM_BASE, PTE_V);
    try_all(v, "a table too deep", WINDOW + 5 * PAGE, page_faults);
    try_all(v, "not canonical", 1UL << 39, page_faults);
    paging_off();
}

static bool is_own(uint64_t address)
{
    return address - RAM_BASE < RAM_SIZE || address - SHARED_BASE < SHARED_SIZE ||
           address - PLATFORM_UART_BASE < UART_SIZE || address - PLATFORM_PLIC_BASE < PLIC_SIZE;
}

/* Random entries: each load gives a page fault, an access fault, or data of the guest's memory. */
void tables_garbage(struct verdict *v, uint64_t arg)
{
    uint64_t state = 0x9e3779b97f4a7c15UL;

    (void)arg;
    paging_on();
    for (unsigned int n = 0; n < 3000; n++) {
        uint64_t entry = random_next(&state);
        struct caught c;

        /* half of them are valid leaves in the first 4 GiB, to try more than reserved bits */
        entry = n % 2 == 0 ? entry
                           : (entry & ~PTE_UPPER & ~(0xffffffUL << 30)) | PTE_V | PTE_R | PTE_AD;
        leaves[0] = entry;
        forget();
        c = try_word(SUPERVISOR, WORD_LW, WINDOW + 0x100, 0);
        judge(v,
              c.cause == CAUSE_LOAD_PAGE || c.cause == CAUSE_LOAD_ACCESS ||
                  (c.cause == CAUSE_NONE && is_own((entry & ~PTE_UPPER) >> 10 << 12 | 0x100)),
              "entry 0x%lx: cause %ld", entry, (long)c.cause);
    }
    paging_off();
}

/* --- tables that change during a walk --- */

static volatile bool change;

static void change_tables(unsigned long hart, void *argument)
{
    volatile uint64_t *entry = &leaves[0];
    uint64_t state = 42;

    (void)hart;
    (void)argument;
    while (change) {
        *entry = pte((uintptr_t)own_page, PTE_LEAF);
        *entry = pte(REAL_HYPERVISOR, PTE_LEAF);
        for (uint64_t wait = random_next(&state) % 64; wait > 0; wait--) {
            __asm__ volatile("");
        }
        *entry = pte(REAL_WITNESS, PTE_LEAF);
        *entry = random_next(&state) & ~PTE_UPPER;
    }
}

/* While the other hart changes the entry, an access reads the guest's page or faults. */
void tables_changing(struct verdict *v, uint64_t arg)
{
    uint64_t end;

    (void)arg;
    own_page[1] = PATTERN;
    paging_on();
    change = true;
    judge(v, second_hart(change_tables), "the second hart does not start");
    end = csr_read_time() + 15UL * MS;
    /* in real time, few accesses fit into the period */
    while (csr_read_time() < end || v->tried < 2000) {
        struct caught c;

        forget();
        c = try_word(SUPERVISOR, WORD_LD, WINDOW + 8, 0);
        judge(v,
              c.cause == CAUSE_LOAD_PAGE || c.cause == CAUSE_LOAD_ACCESS ||
                  (c.cause == CAUSE_NONE &&
                   (c.value == PATTERN || is_own((leaves[0] & ~PTE_UPPER) >> 10 << 12))),
              "cause %ld, value 0x%lx", (long)c.cause, c.value);
    }
    change = false;
    second_hart_ended();
    paging_off();
}

/* --- remote fences --- */

static volatile uint64_t other_page[ENTRIES] __attribute__((aligned(4096)));
/* number of reads of WINDOW by the second hart, and the last value */
static volatile uint64_t reads, last_read;

static void keep_reading(unsigned long hart, void *argument)
{
    (void)hart;
    (void)argument;
    set_satp(SATP_SV39 | (uintptr_t)root / PAGE);
    while (change) {
        last_read = *(volatile uint64_t *)(WINDOW + 8);
        __asm__ volatile("fence" ::: "memory");
        reads++;
    }
}

/* Waits for a complete new read by the second hart, which a busy host may delay for long. */
static bool await_read(void)
{
    uint64_t before = reads, end = csr_read_time() + 5000UL * MS;

    while (reads - before < 2 && csr_read_time() < end) {
    }
    return reads - before >= 2;
}

/* Remaps a page used by both harts: after the fence, the other hart must see the new page only. */
void remote_fences(struct verdict *v, uint64_t arg)
{
    (void)arg;
    own_page[1] = 0;
    other_page[1] = 1;
    paging_on();
    leaves[0] = pte((uintptr_t)own_page, PTE_LEAF);
    change = true;
    judge(v, second_hart(keep_reading), "the second hart does not start");
    for (uint64_t n = 1; n <= 100; n++) {
        leaves[0] = pte(n % 2 != 0 ? (uintptr_t)other_page : (uintptr_t)own_page, PTE_LEAF);
        __asm__ volatile("fence" ::: "memory");
        judge(v,
              sbi_remote_sfence_vma((struct sbi_harts){.mask = 2, .base = 0}, WINDOW, PAGE).error ==
                  0,
              "no fence");
        judge(v, await_read(), "fence %lu: the other hart stands still", n);
        judge(v, last_read == n % 2, "fence %lu: the other hart still sees the page before", n);
    }
    change = false;
    second_hart_ended();
    paging_off();
}

/* Maps the pages of the code, of its page table and of the UART at WINDOW, for `mode`. */
static void map_code(enum mode mode)
{
    uint64_t flags = PTE_LEAF | (mode == USER ? PTE_U : 0);

    leaves[0] = pte((uintptr_t)own_page, flags);
    leaves[1] = pte((uintptr_t)leaves, flags);
    leaves[2] = pte(PLATFORM_UART_BASE, flags);
    forget();
}

/*
 * Code unmaps its own page and then accesses a device, while the TLB still holds the page: the
 * hypervisor cannot read the instruction to emulate. The guest gets a page fault of the fetch, in
 * the mode in which it ran, or the register.
 */
void code_gone(struct verdict *v, uint64_t arg)
{
    volatile uint32_t *code = (volatile uint32_t *)own_page;
    enum mode mode = (arg & BY_USER) != 0 ? USER : SUPERVISOR;

    code[0] = 0x0005b023U; /* sd zero, 0(a1): the entry of the code's page */
    code[1] = 0x00554503U; /* lbu a0, 5(a0): the UART's status */
    code[2] = mode == USER ? WORD_ECALL : WORD_RET;
    paging_on();
    for (unsigned int n = 0; n < 200; n++) {
        struct caught c;

        map_code(mode);
        __asm__ volatile("fence.i" ::: "memory");
        c = guarded(mode, WINDOW, WINDOW + 2 * PAGE, WINDOW + PAGE);
        judge(v,
              c.cause == CAUSE_NONE ||
                  ((c.cause == CAUSE_FETCH_PAGE || (mode == USER && c.cause == CAUSE_ECALL_U)) &&
                   c.sepc >= WINDOW && c.sepc < WINDOW + 16 &&
                   ((c.sstatus & SSTATUS_SPP) == 0) == (mode == USER)),
              "cause %ld at 0x%lx, sstatus 0x%lx", (long)c.cause, c.sepc, c.sstatus);
    }
    paging_off();
}

/*
 * Switches and flushes address spaces as fast as possible; each maps another page at the same
 * address.
 */
void address_spaces(struct verdict *v, uint64_t arg)
{
    volatile uint64_t *page = (volatile uint64_t *)RAM_FREE;

    (void)arg;
    paging_on();
    for (uint64_t n = 0; n < 2000; n++) {
        uint64_t at = n % 64 * PAGE;
        struct caught c;

        page[at / sizeof(*page)] = n;
        leaves[0] = pte(RAM_FREE + at, PTE_LEAF);
        set_satp(SATP_SV39 | n % 0x10000 << 44 | (uintptr_t)root / PAGE);
        c = try_word(SUPERVISOR, WORD_LD, WINDOW, 0);
        judge(v, c.cause == CAUSE_NONE && c.value == n, "%lu: cause %ld, value %lu", n,
              (long)c.cause, c.value);
    }
    paging_off();
}

/*
 * An illegal instruction in a page that only the TLB still holds: firmware that emulates it cannot
 * read it, and takes a page fault of its own while it handles the guest's trap. Whatever the
 * firmware makes of that, the trap belongs to the guest: its handler runs, with the guest's memory.
 * The vector is at an address where the hypervisor maps nothing: an entry with the hypervisor's
 * rights faults.
 */
void stale_fetch(struct verdict *v, uint64_t arg)
{
    enum mode mode = (arg & BY_USER) != 0 ? USER : SUPERVISOR;
    uint64_t vector = csr_read_stvec();
    struct caught c;

    paging_on();
    root[WINDOW_ENTRY + 1] = pte(2 * GIGA, PTE_LEAF);
    own_page[0] = mode == USER ? WORD_ECALL : WORD_RET; /* the second word is 0 */
    __asm__ volatile("fence.i" ::: "memory");
    for (unsigned n = 0; n < 20; n++) {
        leaves[0] = pte((uintptr_t)own_page, PTE_V | PTE_X | PTE_AD | (mode == USER ? PTE_U : 0));
        forget();
        csr_write_stvec(WINDOW + GIGA + (vector - 2 * GIGA));
        (void)guarded(mode, WINDOW, 0, 0);
        *(volatile uint64_t *)leaves = 0;
        c = guarded(mode, WINDOW + 4, 0, 0);
        csr_write_stvec(vector);
        judge(v,
              c.sepc == WINDOW + 4 && (c.cause == CAUSE_ILLEGAL_INSTRUCTION ||
                                       c.cause == CAUSE_FETCH_PAGE || c.cause == CAUSE_LOAD_PAGE),
              "cause %ld at 0x%lx", (long)c.cause, c.sepc);
    }
    paging_off();
}
