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

#include "faulty.h"
#include "fdt.h"
#include "hcall.h"
#include "ipc.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rt.h"
#include "timer.h"
#include "uart.h"

#define FAULTY_LINE 64U
#define FAULTY_STREAM 4000U

static volatile bool faulty_trapped;
static bool faulty_quiet; /* too many exceptions to tell of each */
static unsigned long faulty_alive;
static uint64_t faulty_number; /* in the next message of burst and stream */
static bool faulty_listens = true;
static uint32_t faulty_message_irq; /* source of messages, or 0: a software interrupt */

void faulty_be_quiet(void)
{
    faulty_quiet = true;
}

void faulty_caught(unsigned long cause, unsigned long address, unsigned long pc)
{
    if (!faulty_quiet) {
        print("faulty: caught exception %lu stval 0x%lx sepc 0x%lx\n", cause, address, pc);
    }
    faulty_trapped = true;
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
        print("faulty: message from %u.%u: %ld bytes, sum %lu, first %llu.\n", from.vm, from.vcpu, size, sum,
              (unsigned long long)message[0]);
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

static void faulty_read(unsigned long address)
{
    (void)arch_load(address);
    faulty_report("read");
}

/* Says what is there: whether memory is as new after a restart. */
static void faulty_peek(unsigned long address)
{
    uint32_t value = arch_load(address);

    print("faulty: word at 0x%lx is 0x%x\n", address, value);
    faulty_trapped = false;
}

static void faulty_jump(unsigned long address)
{
    arch_call(address);
    faulty_report("jump");
}

static void faulty_write(unsigned long address)
{
    arch_store(address, 0xbadc0deU);
    faulty_report("write");
}

static void faulty_fatal(unsigned long address)
{
    print("faulty: reading 0x%lx with the trap vector nowhere\n", address);
    machine_lose_vector();
    (void)arch_load(address);
    for (;;) {
    }
}

static void faulty_wild(unsigned long address)
{
    print("faulty: jumping to 0x%lx with the trap vector nowhere\n", address);
    machine_lose_vector();
    arch_call(address);
    for (;;) {
    }
}

static void faulty_reset(unsigned long address)
{
    (void)address;
    print("faulty: cold reboot\n");
    machine_reboot();
    print("faulty: reboot was refused\n");
}

static void faulty_warm(unsigned long address)
{
    (void)address;
    print("faulty: warm reboot\n");
    arch_warm_reboot();
    print("faulty: reboot was refused\n");
}

static void faulty_shutdown(unsigned long address)
{
    (void)address;
    print("faulty: shutdown\n");
    machine_shutdown(false);
}

/* An external interrupt controller knows no mask, so what would interrupt is silenced, too. */
static void faulty_let_nothing_in(void)
{
    machine_interrupts(false);
    machine_wake_by_timer(false);
    machine_wake_by_uart(false);
    machine_wake_by_message(false);
    uart_enable_rx_interrupt(false);
    timer_set(UINT64_MAX);
}

static void faulty_spin(unsigned long address)
{
    (void)address;
    print("faulty: spinning with interrupts off\n");
    faulty_let_nothing_in();
    for (;;) {
    }
}

/* What the call returns: the error, and the period in milliseconds. The guest pets by itself whenever it wakes. */
static void faulty_pet(unsigned long address)
{
    struct sbi_ret pet = hcall_watchdog_pet();

    (void)address;
    print("faulty: petting: error %ld value %ld\n", pet.error, pet.value);
}

static void faulty_sleep(unsigned long address)
{
    (void)address;
    print("faulty: sleeping with nothing to wake it\n");
    faulty_let_nothing_in();
    for (;;) {
        machine_wait();
    }
}

void faulty_flood_line(char line[FAULTY_FLOOD_LINE], unsigned long number, unsigned long lines)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    if (number < lines) {
        (void)print_buffer(line, FAULTY_FLOOD_LINE, "faulty: flood %lu %s\n", number,
                           text + number % (sizeof(text) - 1));
    } else {
        (void)print_buffer(line, FAULTY_FLOOD_LINE, "faulty: flood is over\n");
    }
}

/* As fast as it can. */
static void faulty_flood(unsigned long lines)
{
    static char line[FAULTY_FLOOD_LINE];

    for (unsigned long i = 0; i <= lines; i++) {
        faulty_flood_line(line, i, lines);
        print("%s", line);
    }
}

void faulty_print_errors(const char *what, const long *errors, size_t count)
{
    print("faulty: %s returned", what);
    for (size_t i = 0; i < count; i++) {
        print(" %ld", errors[i]);
    }
    print("\n");
}

static void faulty_calls(unsigned long address)
{
    long errors[ARCH_BAD_CALLS];

    arch_bad_calls(address, errors);
    faulty_print_errors("bad calls", errors, ARCH_BAD_CALLS);
}

static struct ipc_peer faulty_peer(unsigned long to)
{
    return (struct ipc_peer){.vm = to & 0xffffU, .vcpu = (unsigned int)(to >> 16)};
}

/* Numbered messages to VM `to` & 0xffff, VCPU `to` >> 16: ten, more than its queue has room for. */
static void faulty_burst(unsigned long to)
{
    long errors[10];

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        errors[i] = ipc_send(faulty_peer(to), &faulty_number, sizeof(faulty_number));
        faulty_number += errors[i] == 0;
    }
    faulty_print_errors("burst", errors, sizeof(errors) / sizeof(errors[0]));
}

/* The same, FAULTY_STREAM of them, each as often as it takes. */
static void faulty_stream(unsigned long to)
{
    const uint64_t end = faulty_number + FAULTY_STREAM;
    unsigned long full = 0;
    long error = 0;

    while (faulty_number < end && (error == 0 || error == IPC_NOT_NOW)) {
        error = ipc_send(faulty_peer(to), &faulty_number, sizeof(faulty_number));
        faulty_number += error == 0;
        full += error == IPC_NOT_NOW;
    }
    print("faulty: streamed up to %llu, queue full %lu times, at last %ld\n", (unsigned long long)faulty_number, full,
          error);
}

/* For ever: the largest messages to two VMs in turn, taken or not. The VMs are bits 0 to 7 and 8 to 15 of `to`. */
static void faulty_spam(unsigned long to)
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
static void faulty_tell(unsigned long size)
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
static void faulty_messages(unsigned long address)
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
        ipc_send(good, (void *)(uintptr_t)~7UL, 8), /* NOLINT(performance-no-int-to-ptr) */
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

static void faulty_ring(unsigned long vm)
{
    long error = ipc_ring(0, (unsigned int)vm);

    faulty_print_errors("ring", &error, 1);
}

/* Does not listen to messages until told again. */
static void faulty_deaf(unsigned long deaf)
{
    faulty_listens = deaf != 1;
    if (faulty_message_irq != 0) {
        arch_listen(faulty_message_irq, faulty_listens);
    }
    print("faulty: %s messages\n", faulty_listens ? "listens to" : "ignores");
    faulty_hear();
}

/* App `which` >> 8 of VM `which` & 0xff. */
static void faulty_launch(unsigned long which)
{
    struct sbi_ret ret = rt_launch_app(which & 0xffU, which >> 8, 0);
    const long returned[] = {ret.error, ret.value};

    faulty_print_errors("launch", returned, 2);
}

static void faulty_delete(unsigned long app)
{
    const long error = rt_delete_app(app).error;

    faulty_print_errors("delete", &error, 1);
}

static void faulty_id(unsigned long address)
{
    struct sbi_ret id = hcall_get_id();

    (void)address;
    print("faulty: HCALL_INFO_GET_ID error %ld value %ld, in assembly %ld\n", id.error, id.value, hcall_get_id_asm());
}

static void faulty_help(unsigned long address);

static const struct faulty_command faulty_commands[] = {
    {"help", "this list", faulty_help},
    {"read", "[address] load a word, with a handler", faulty_read},
    {"peek", "[address] load a word and print it", faulty_peek},
    {"write", "[address] store a word, with a handler", faulty_write},
    {"jump", "[address] call an address, with a handler", faulty_jump},
    {"fatal", "[address] load a word, trap vector nowhere", faulty_fatal},
    {"wild", "[address] jump, trap vector nowhere", faulty_wild},
    {"reset", "reboot", faulty_reset},
    {"warm", "the other kind of reboot", faulty_warm},
    {"shutdown", "shutdown", faulty_shutdown},
    {"spin", "loop with interrupts off", faulty_spin},
    {"pet", "pet the watchdog", faulty_pet},
    {"sleep", "sleep with nothing to wake it", faulty_sleep},
    {"flood", "[lines] print so many numbered lines (hexadecimal) without a pause", faulty_flood},
    {"calls", "[address] calls of firmware and hypervisor with bad arguments", faulty_calls},
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

static void faulty_help_on(const struct faulty_command *command)
{
    print("faulty: %-9s%s\n", command->name, command->help);
}

static void faulty_help(unsigned long address)
{
    (void)address;
    for (unsigned int i = 0; i < FAULTY_COMMANDS; i++) {
        faulty_help_on(&faulty_commands[i]);
    }
    for (const struct faulty_command *command = arch_commands; command->name != NULL; command++) {
        faulty_help_on(command);
    }
}

/* Hexadecimal number, with or without 0x; no digits at all: PLATFORM_HOLE. */
static unsigned long faulty_parse_address(const char *text)
{
    unsigned long value = 0;
    unsigned int digits = 0;

    if (text[0] == '0' && text[1] == 'x') {
        text += 2;
    }
    for (; *text != '\0'; text++, digits++) {
        char lower = (char)(*text | 0x20);

        if (*text >= '0' && *text <= '9') {
            value = value << 4 | (unsigned long)(*text - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            value = value << 4 | (unsigned long)(lower - 'a' + 10);
        } else {
            break;
        }
    }
    return digits == 0 ? PLATFORM_HOLE : value;
}

static bool faulty_is(const struct faulty_command *command, const char *line, size_t length)
{
    return strlen(command->name) == length && strncmp(command->name, line, length) == 0;
}

static const struct faulty_command *faulty_find(const char *line, size_t length)
{
    for (unsigned int i = 0; i < FAULTY_COMMANDS; i++) {
        if (faulty_is(&faulty_commands[i], line, length)) {
            return &faulty_commands[i];
        }
    }
    for (const struct faulty_command *command = arch_commands; command->name != NULL; command++) {
        if (faulty_is(command, line, length)) {
            return command;
        }
    }
    return NULL;
}

static void faulty_run(const char *line)
{
    const struct faulty_command *command;
    size_t length = 0;

    while (line[length] != '\0' && line[length] != ' ' && line[length] != ':') {
        length++;
    }
    if (length == 0) {
        return;
    }
    command = faulty_find(line, length);
    if (command != NULL) {
        command->run(faulty_parse_address(line[length] == '\0' ? "" : line + length + 1));
    } else {
        print("faulty: no command '%s'; try help\n", line);
    }
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

    if (faulty_alive != 0 && machine_time() < next) {
        return;
    }
    print("faulty: alive %lu\n", faulty_alive++);
    next = machine_time() + PLATFORM_TIMEBASE_HZ;
    timer_set(next);
}

/*
 * Interrupts only end the sleep: none is handled here, so the guest has no handler to get wrong. Where an interrupt has to
 * be taken to be rid of it, the SDK's handler turns the UART's off.
 */
static void faulty_wait(unsigned long hart)
{
    uart_enable_rx_interrupt(true);
    machine_wait();
    if (faulty_message_irq == 0) {
        machine_take_message();
        faulty_hear();
    }
    for (uint32_t source = machine_claim(hart); source != 0; source = machine_claim(hart)) {
        if (source == faulty_message_irq) {
            faulty_hear();
        } else {
            faulty_input();
        }
        machine_complete(hart, source);
    }
}

static void faulty_find_messages(const void *fdt)
{
    uint32_t length;
    const uint8_t *cell = fdt_property(fdt, "messages", "interrupts", &length);

    if (cell != NULL && length == 4) {
        faulty_message_irq = cell[3];
        arch_listen(faulty_message_irq, true);
    }
}

static void faulty_begin(unsigned long hart, const void *fdt)
{
    arch_init(hart);
    uart_init();
    (void)timer_init();
    faulty_heartbeat();
    machine_uart_interrupt(hart, true);
    faulty_find_messages(fdt);
    machine_wake_by_timer(true);
    machine_wake_by_uart(true);
    machine_wake_by_message(true);
}

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    char command[FAULTY_LINE];

    faulty_begin(hart, fdt);
    if (fdt_bootarg(fdt, "do", command, sizeof(command)) != NULL) {
        faulty_run(command);
    }
    for (;;) {
        faulty_wait(hart);
        (void)hcall_watchdog_pet();
        faulty_heartbeat();
    }
}
