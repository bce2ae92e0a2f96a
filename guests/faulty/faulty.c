/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that misbehaves on demand, for tests of isolation and lifecycle.
 *
 * Prints `faulty: alive <n>` at its start (n = 0) and every second, so that a restart shows as a new `alive 0` and a
 * stop as silence. Takes commands as lines on the UART, or one at its start as boot argument `do=command:argument`
 * (a colon for the blank). `help` lists them. An address is hexadecimal; without one it is PLATFORM_HOLE.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "hcall.h"
#include "ipc.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "rt.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define FAULTY_LINE 64U
#define FAULTY_NOWHERE (PLATFORM_HOLE + 0x1000UL)
#define FAULTY_STACK 4096U
#define FAULTY_NO_HART ~0UL
#define FAULTY_STREAM 4000U

struct faulty_command {
    const char *name;
    const char *help;
    void (*run)(uint64_t address);
};

static volatile bool faulty_trapped;
static bool faulty_quiet;               /* too many exceptions to tell of each */
static volatile uint64_t faulty_return; /* where a jump to nowhere comes back to */
static unsigned long faulty_hart;
static volatile unsigned long faulty_other; /* hart that has come up, or FAULTY_NO_HART */
static unsigned long faulty_alive;
static uint64_t faulty_number; /* in the next message of burst and stream */
static bool faulty_listens = true;
static uint32_t faulty_message_irq; /* source of messages, or 0: a software interrupt */
static uint8_t faulty_stack[FAULTY_STACK] __attribute__((aligned(16)));

static bool faulty_handler(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    if (!faulty_quiet) {
        print("faulty: caught exception %lu stval 0x%lx sepc 0x%lx\n", cause, stval, frame->sepc);
    }
    faulty_trapped = true;
    if (cause == CAUSE_INSTRUCTION_ACCESS) {
        frame->sepc = faulty_return; /* the instruction itself cannot be looked at */
    } else {
        frame->sepc += trap_instruction_length(frame->sepc);
    }
    return true;
}

/* Everything that waits: what was sent, as its size, sum and first word, and doorbells. */
static void faulty_hear(void)
{
    static uint64_t message[IPC_MESSAGE_MAX / 8];
    struct ipc_peer from = {0};
    uint32_t rung;

    if (!faulty_listens) {
        return;
    }
    for (long size = ipc_receive(message, sizeof(message), &from); size > 0;
         size = ipc_receive(message, sizeof(message), &from)) {
        const uint8_t *bytes = (const uint8_t *)message;
        unsigned long sum = 0;

        for (long i = 0; i < size; i++) {
            sum += bytes[i];
        }
        print("faulty: message from %u.%u: %ld bytes, sum %lu, first %lu.\n", from.vm, from.vcpu, size, sum,
              message[0]);
    }
    rung = ipc_doorbells();
    if (rung != 0) {
        print("faulty: doorbells 0x%x\n", rung);
    }
}

static void faulty_report(const char *what)
{
    print("faulty: %s %s, carrying on\n", what, faulty_trapped ? "trapped" : "went through");
    faulty_trapped = false;
}

static void faulty_read(uint64_t address)
{
    (void)*(volatile uint32_t *)(uintptr_t)address;
    faulty_report("read");
}

/* Says what is there: whether memory is as new after a restart. */
static void faulty_peek(uint64_t address)
{
    uint32_t value = *(volatile uint32_t *)(uintptr_t)address;

    print("faulty: word at 0x%lx is 0x%x\n", address, value);
    faulty_trapped = false;
}

static void faulty_write(uint64_t address)
{
    *(volatile uint32_t *)(uintptr_t)address = 0xbadc0deU;
    faulty_report("write");
}

/* Calls `address`; whatever happens there, the handler comes back to the label. */
static void faulty_jump(uint64_t address)
{
    __asm__ volatile("la   t0, 1f\n\t"
                     "sd   t0, %[back]\n\t"
                     "jalr %[target]\n"
                     "1:"
                     : [back] "=m"(faulty_return)
                     : [target] "r"(address)
                     : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
                       "memory");
    faulty_report("jump");
}

/* From here on a trap ends in a trap, for ever: the vector cannot be fetched. */
static void faulty_lose_vector(void)
{
    csr_clear_sstatus(SSTATUS_SIE);
    csr_write_stvec(FAULTY_NOWHERE);
}

static void faulty_fatal(uint64_t address)
{
    print("faulty: reading 0x%lx with the trap vector nowhere\n", address);
    faulty_lose_vector();
    (void)*(volatile uint32_t *)(uintptr_t)address;
    for (;;) {
    }
}

static void faulty_wild(uint64_t address)
{
    print("faulty: jumping to 0x%lx with the trap vector nowhere\n", address);
    faulty_lose_vector();
    __asm__ volatile("jr %0" : : "r"(address));
    for (;;) {
    }
}

static void faulty_reset(uint64_t address)
{
    (void)address;
    print("faulty: cold reboot\n");
    (void)sbi_system_reset(SBI_RESET_COLD, SBI_RESET_NO_REASON);
    print("faulty: reboot was refused\n");
}

static void faulty_warm(uint64_t address)
{
    (void)address;
    print("faulty: warm reboot\n");
    (void)sbi_system_reset(SBI_RESET_WARM, SBI_RESET_NO_REASON);
    print("faulty: reboot was refused\n");
}

static void faulty_shutdown(uint64_t address)
{
    (void)address;
    print("faulty: shutdown\n");
    sbi_shutdown(SBI_RESET_NO_REASON);
}

static void faulty_spin(uint64_t address)
{
    (void)address;
    print("faulty: spinning with interrupts off\n");
    csr_clear_sstatus(SSTATUS_SIE);
    csr_write_sie(0);
    for (;;) {
    }
}

/* What the call returns: the error, and the period in milliseconds. The guest pets by itself whenever it wakes. */
static void faulty_pet(uint64_t address)
{
    struct sbi_ret pet = hcall_watchdog_pet();

    (void)address;
    print("faulty: petting: error %ld value %ld\n", pet.error, pet.value);
}

static void faulty_sleep(uint64_t address)
{
    (void)address;
    print("faulty: sleeping with nothing to wake it\n");
    csr_write_sie(0);
    for (;;) {
        csr_wait_for_interrupt();
    }
}

/* As fast as it can: numbered lines whose every character is known, so that a lost or strange one shows. */
static void faulty_flood(uint64_t lines)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (uint64_t i = 0; i < lines; i++) {
        print("faulty: flood %lu %s\n", i, text + i % (sizeof(text) - 1));
    }
    print("faulty: flood is over\n");
}

static void faulty_print_errors(const char *what, const long *errors, size_t count)
{
    print("faulty: %s returned", what);
    for (size_t i = 0; i < count; i++) {
        print(" %ld", errors[i]);
    }
    print("\n");
}

/* For ever: faults, interrupts to itself, timers that are due, fences, output, a message taken, all as fast as they go. */
static void faulty_storm(uint64_t address)
{
    static uint8_t message[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    struct sbi_harts own = {.mask = 1UL << faulty_hart, .base = 0};
    struct ipc_peer from;

    print("faulty: storming\n");
    faulty_quiet = true;
    for (unsigned long n = 1;; n++) {
        (void)*(volatile uint32_t *)(uintptr_t)address;
        (void)sbi_send_ipi(own);
        csr_clear_sip(SIE_SOFT);
        timer_set(0);
        (void)sbi_call(SBI_EXT_RFENCE, 1, own.mask, own.base, 0);
        (void)sbi_call(HCALL_EXTENSION, n % 64, address, ~0UL, n);
        (void)ipc_receive(message, sizeof(message), &from);
        if (n % 1000 == 0) {
            print("faulty: stormed %lu\n", n);
        }
    }
}

/* Calls the SBI has never heard of, and known ones with arguments that cannot be right: all must come back. */
static void faulty_calls(uint64_t address)
{
    struct sbi_harts nobody = {.mask = ~0UL, .base = 1000};
    long errors[] = {
        sbi_call(0x12345678UL, 0, 0, 0, 0).error,
        sbi_call(SBI_EXT_BASE, 1000, 0, 0, 0).error,
        sbi_call(HCALL_EXTENSION, 1000, address, address, address).error,
        sbi_send_ipi(nobody).error,
        sbi_hart_start(1000, address, 0).error,
        sbi_system_reset((enum sbi_reset_type)1000, SBI_RESET_NO_REASON).error,
    };

    faulty_print_errors("bad calls", errors, sizeof(errors) / sizeof(errors[0]));
}

/*
 * Debug console calls with buffers that are not memory, or reach beyond all of it. Apart from the others because
 * OpenSBI 1.6 believes the address and does not come back: natively this ends the guest.
 */
static void faulty_console(uint64_t address)
{
    long errors[] = {
        sbi_call(SBI_EXT_DBCN, 0, 4096, address, 0).error, sbi_call(SBI_EXT_DBCN, 1, 4096, address, 0).error,
        sbi_call(SBI_EXT_DBCN, 0, ~0UL, address, 0).error, sbi_call(SBI_EXT_DBCN, 1, ~0UL, address, 0).error,
        sbi_call(SBI_EXT_DBCN, 0, 1, address, ~0UL).error, sbi_call(SBI_EXT_DBCN, 0, ~0UL, ~0UL, ~0UL).error,
    };

    faulty_print_errors("bad console calls", errors, sizeof(errors) / sizeof(errors[0]));
}

static void faulty_other_hart(unsigned long hart, void *argument)
{
    (void)argument;
    faulty_other = hart;
}

/* The other hart only says that it runs, in memory: two of them at the UART would mix their lines. */
static void faulty_smp(uint64_t address)
{
    static struct hart_boot boot = {.stack_top = faulty_stack + FAULTY_STACK, .function = faulty_other_hart};
    unsigned long other = faulty_hart == 0 ? 1 : 0;
    uint64_t end = csr_read_time() + PLATFORM_TIMEBASE_HZ;
    long error;

    (void)address;
    faulty_other = FAULTY_NO_HART;
    error = sbi_hart_start(other, (uintptr_t)hart_entry, (uintptr_t)&boot).error;
    while (error == SBI_SUCCESS && faulty_other == FAULTY_NO_HART && csr_read_time() < end) {
    }
    if (faulty_other == other) {
        print("faulty: hart %lu alive\n", other);
    } else {
        print("faulty: hart %lu did not start: error %ld\n", other, error);
    }
}

static struct ipc_peer faulty_peer(uint64_t to)
{
    return (struct ipc_peer){.vm = to & 0xffffU, .vcpu = (unsigned int)(to >> 16)};
}

/* Numbered messages to VM `to` & 0xffff, VCPU `to` >> 16: ten, more than its queue has room for. */
static void faulty_burst(uint64_t to)
{
    long errors[10];

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        errors[i] = ipc_send(faulty_peer(to), &faulty_number, sizeof(faulty_number));
        faulty_number += errors[i] == 0;
    }
    faulty_print_errors("burst", errors, sizeof(errors) / sizeof(errors[0]));
}

/* The same, FAULTY_STREAM of them, each as often as it takes. */
static void faulty_stream(uint64_t to)
{
    const uint64_t end = faulty_number + FAULTY_STREAM;
    unsigned long full = 0;
    long error = 0;

    while (faulty_number < end && (error == 0 || error == IPC_NOT_NOW)) {
        error = ipc_send(faulty_peer(to), &faulty_number, sizeof(faulty_number));
        faulty_number += error == 0;
        full += error == IPC_NOT_NOW;
    }
    print("faulty: streamed up to %lu, queue full %lu times, at last %ld\n", faulty_number, full, error);
}

/* For ever: the largest messages to two VMs in turn, taken or not. The VMs are bits 0 to 7 and 8 to 15 of `to`. */
static void faulty_spam(uint64_t to)
{
    static uint8_t message[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    unsigned long sent = 0;

    print("faulty: spamming\n");
    for (unsigned long n = 1;; n++) {
        const struct ipc_peer peer = {.vm = (unsigned int)(n % 2 != 0 ? to & 0xffU : to >> 8 & 0xffU)};

        sent += ipc_send(peer, message, sizeof(message)) == 0;
        if (n % 100000 == 0) {
            print("faulty: spammed %lu, %lu taken\n", n, sent);
        }
    }
}

/* One message of `size` bytes (hexadecimal) to VM 1, each byte its place. */
static void faulty_tell(uint64_t size)
{
    static uint8_t message[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    long error;

    for (unsigned int i = 0; i < IPC_MESSAGE_MAX; i++) {
        message[i] = (uint8_t)i;
    }
    error = ipc_send((struct ipc_peer){.vm = 1}, message, size);
    faulty_print_errors("tell", &error, 1);
}

/* Calls of messages and doorbells with what cannot be right, mostly to VM 1. */
static void faulty_messages(uint64_t address)
{
    static uint64_t buffer[IPC_MESSAGE_MAX / 8];
    const struct ipc_peer good = {.vm = 1}, self = {.vm = 0}, no_vm = {.vm = 15}, no_vcpu = {.vm = 1, .vcpu = 8};
    const struct ipc_peer off = {.vm = 1, .vcpu = 1};
    struct ipc_peer from;
    long errors[] = {
        ipc_send(good, buffer, 0),
        ipc_send(good, buffer, IPC_MESSAGE_MAX + 1),
        ipc_send(good, buffer, ~0UL),
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): that is the point */
        ipc_send(good, (void *)(uintptr_t)address, 8),
        ipc_send(good, (void *)0, 8),
        ipc_send(self, buffer, 8),
        ipc_send(no_vm, buffer, 8),
        ipc_send(no_vcpu, buffer, 8),
        ipc_send(off, buffer, 8),
        ipc_receive((void *)0, 8, &from),
        ipc_ring(0, 15),
        ipc_ring(31, 1),
        ipc_ring(0, 2),
    };

    faulty_print_errors("bad messages", errors, sizeof(errors) / sizeof(errors[0]));
}

static void faulty_ring(uint64_t vm)
{
    long error = ipc_ring(0, (unsigned int)vm);

    faulty_print_errors("ring", &error, 1);
}

/* Does not listen to messages until told again. */
static void faulty_deaf(uint64_t deaf)
{
    faulty_listens = deaf != 1;
    if (faulty_message_irq != 0) {
        plic_enable(plic_context(faulty_hart), faulty_message_irq, faulty_listens);
    }
    print("faulty: %s messages\n", faulty_listens ? "listens to" : "ignores");
    faulty_hear();
}

/* App `which` >> 8 of VM `which` & 0xff. */
static void faulty_launch(uint64_t which)
{
    struct sbi_ret ret = rt_launch_app(which & 0xffU, which >> 8, 0);
    const long returned[] = {ret.error, ret.value};

    faulty_print_errors("launch", returned, 2);
}

static void faulty_delete(uint64_t app)
{
    const long error = rt_delete_app(app).error;

    faulty_print_errors("delete", &error, 1);
}

static void faulty_id(uint64_t address)
{
    struct sbi_ret id = hcall_get_id();

    (void)address;
    print("faulty: HCALL_INFO_GET_ID error %ld value %ld, in assembly %ld\n", id.error, id.value, hcall_get_id_asm());
}

/* What takes a console longest: lines of one character, or of as many as it shows, and of any length between. */
static void faulty_shout(uint64_t length)
{
    static char text[128];

    for (unsigned int i = 0; i < sizeof(text); i++) {
        text[i] = length != 0 && i % length == length - 1 ? '\n' : (char)('a' + i % 26);
    }
    print("faulty: shouting\n");
    for (;;) {
        (void)sbi_call(SBI_EXT_DBCN, 0, sizeof(text), (uintptr_t)text, 0);
    }
}

static void faulty_help(uint64_t address);

static const struct faulty_command faulty_commands[] = {
    {"help", "this list", faulty_help},
    {"read", "[address] load a word, with a handler", faulty_read},
    {"peek", "[address] load a word and print it", faulty_peek},
    {"write", "[address] store a word, with a handler", faulty_write},
    {"jump", "[address] call an address, with a handler", faulty_jump},
    {"fatal", "[address] load a word, trap vector nowhere", faulty_fatal},
    {"wild", "[address] jump, trap vector nowhere", faulty_wild},
    {"reset", "SBI cold reboot", faulty_reset},
    {"warm", "SBI warm reboot", faulty_warm},
    {"shutdown", "SBI shutdown", faulty_shutdown},
    {"spin", "loop with interrupts off", faulty_spin},
    {"pet", "pet the watchdog", faulty_pet},
    {"sleep", "WFI with nothing enabled", faulty_sleep},
    {"flood", "[lines] print so many numbered lines (hexadecimal) without a pause", faulty_flood},
    {"shout", "[length] debug console writes without end, in lines of so many characters", faulty_shout},
    {"storm", "[address] faults, IPIs, timers, fences and calls without end", faulty_storm},
    {"calls", "[address] SBI calls with bad arguments", faulty_calls},
    {"console", "[address] debug console calls with bad buffers (natively fatal)", faulty_console},
    {"smp", "start another hart and see it run", faulty_smp},
    {"burst", "[VM | VCPU << 16] send ten messages", faulty_burst},
    {"stream", "[VM | VCPU << 16] send thousands of messages, each until it is taken", faulty_stream},
    {"spam", "[VM | other VM << 8] send messages to both without end", faulty_spam},
    {"tell", "[size] send VM 1 a message", faulty_tell},
    {"messages", "[address] calls of messages with bad arguments", faulty_messages},
    {"ring", "[VM] ring the doorbell of shared region 0", faulty_ring},
    {"deaf", "[1] listen to messages, or not", faulty_deaf},
    {"launch", "[VM | app << 8] launch an RT app", faulty_launch},
    {"delete", "[app] delete an RT app", faulty_delete},
    {"id", "hypercall for the VM's id", faulty_id},
};

#define FAULTY_COMMANDS (sizeof(faulty_commands) / sizeof(faulty_commands[0]))

static void faulty_help(uint64_t address)
{
    (void)address;
    for (unsigned int i = 0; i < FAULTY_COMMANDS; i++) {
        print("faulty: %-9s%s\n", faulty_commands[i].name, faulty_commands[i].help);
    }
}

/* Hexadecimal number, with or without 0x; no digits at all: PLATFORM_HOLE. */
static uint64_t faulty_parse_address(const char *text)
{
    uint64_t value = 0;
    unsigned int digits = 0;

    if (text[0] == '0' && text[1] == 'x') {
        text += 2;
    }
    for (; *text != '\0'; text++, digits++) {
        char lower = (char)(*text | 0x20);

        if (*text >= '0' && *text <= '9') {
            value = value << 4 | (uint64_t)(*text - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            value = value << 4 | (uint64_t)(lower - 'a' + 10);
        } else {
            break;
        }
    }
    return digits == 0 ? PLATFORM_HOLE : value;
}

static void faulty_run(const char *line)
{
    size_t length = 0;

    while (line[length] != '\0' && line[length] != ' ' && line[length] != ':') {
        length++;
    }
    if (length == 0) {
        return;
    }
    for (unsigned int i = 0; i < FAULTY_COMMANDS; i++) {
        const struct faulty_command *command = &faulty_commands[i];

        if (strlen(command->name) == length && strncmp(command->name, line, length) == 0) {
            command->run(faulty_parse_address(line[length] == '\0' ? "" : line + length + 1));
            return;
        }
    }
    print("faulty: no command '%s'; try help\n", line);
}

/* Characters that have come in; a whole line runs. */
static void faulty_input(void)
{
    static char line[FAULTY_LINE];
    static size_t used;

    for (int c = uart_get(); c >= 0; c = uart_get()) {
        if (c == '\r' || c == '\n') {
            line[used] = '\0';
            used = 0;
            faulty_run(line);
        } else if (used + 1 < FAULTY_LINE) {
            line[used++] = (char)c;
        }
    }
}

static void faulty_heartbeat(void)
{
    static uint64_t next;

    if (faulty_alive != 0 && csr_read_time() < next) {
        return;
    }
    print("faulty: alive %lu\n", faulty_alive++);
    next = csr_read_time() + PLATFORM_TIMEBASE_HZ;
    timer_set(next);
}

/* Interrupts only end the WFI: sstatus.SIE stays off, so the guest has no handler to get wrong. */
static void faulty_wait(uint32_t context)
{
    csr_wait_for_interrupt();
    if (faulty_message_irq == 0) {
        csr_clear_sip(SIE_SOFT);
        faulty_hear();
    }
    for (uint32_t source = plic_claim(context); source != 0; source = plic_claim(context)) {
        if (source == faulty_message_irq) {
            faulty_hear();
        } else {
            faulty_input();
        }
        plic_complete(context, source);
    }
}

static void faulty_find_messages(const void *fdt, uint32_t context)
{
    uint32_t length;
    const uint8_t *cell = fdt_property(fdt, "messages", "interrupts", &length);

    if (cell != NULL && length == 4) {
        faulty_message_irq = cell[3];
        plic_set_priority(faulty_message_irq, 1);
        plic_enable(context, faulty_message_irq, true);
    }
}

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    char command[FAULTY_LINE];
    uint32_t context = plic_context(hart);

    faulty_hart = hart;
    uart_init();
    (void)timer_init();
    trap_set_exception(faulty_handler);
    faulty_heartbeat();
    plic_set_priority(PLATFORM_UART_IRQ, 1);
    plic_set_threshold(context, 0);
    plic_enable(context, PLATFORM_UART_IRQ, true);
    uart_enable_rx_interrupt(true);
    faulty_find_messages(fdt, context);
    csr_write_sie(SIE_TIMER | SIE_EXTERNAL | SIE_SOFT);
    if (fdt_bootarg(fdt, "do", command, sizeof(command)) != NULL) {
        faulty_run(command);
    }
    for (;;) {
        faulty_wait(context);
        (void)hcall_watchdog_pet();
        faulty_heartbeat();
    }
}
