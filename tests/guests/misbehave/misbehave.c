/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that misbehaves on demand, for tests of isolation and of the VM lifecycle.
 *
 * Prints `misbehave: alive <n>` at its start (n = 0) and every second, so that a restart shows as a
 * new `alive 0` and a stop as silence. Reads commands as lines from the UART, and one at its start
 * from boot argument `do=command:argument` (with a colon for the blank). `help` lists the commands.
 * Addresses are hexadecimal, by default PLATFORM_HOLE.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fdt.h"
#include "hcall.h"
#include "ipc.h"
#include "machine.h"
#include "misbehave.h"
#include "platform.h"
#include "print.h"
#include "rt.h"
#include "timer.h"
#include "uart.h"

#define MISBEHAVE_LINE 64U
#define MISBEHAVE_STREAM 4000U

static volatile bool misbehave_trapped;
static bool misbehave_quiet; /* do not print each exception */
static unsigned long misbehave_alive;
static uint64_t misbehave_number; /* number in the next message of burst and stream */
static bool misbehave_listens = true;
static uint32_t misbehave_message_irq; /* interrupt source of messages; 0: a software interrupt */

void misbehave_be_quiet(void)
{
    misbehave_quiet = true;
}

void misbehave_caught(unsigned long cause, unsigned long address, unsigned long pc)
{
    if (!misbehave_quiet) {
        print("misbehave: caught exception %lu stval 0x%lx sepc 0x%lx\n", cause, address, pc);
    }
    misbehave_trapped = true;
}

/* Receives all pending messages, printing size, sum and first word of each, and doorbells. */
static void misbehave_receive(void)
{
    static uint64_t message[IPC_MESSAGE_MAX / 8];
    struct ipc_peer from = {0};
    uint32_t rung;

    if (!misbehave_listens) {
        return;
    }
    for (long size = ipc_receive(message, sizeof(message), &from); size > 0;
         size = ipc_receive(message, sizeof(message), &from)) {
        const uint8_t *bytes = (const uint8_t *)message;
        unsigned long sum = 0;

        for (long i = 0; i < size; i++) {
            sum += bytes[i];
        }
        print("misbehave: message from %u.%u: %ld bytes, sum %lu, first %llu.\n", from.vm,
              from.vcpu, size, sum, (unsigned long long)message[0]);
    }
    rung = ipc_doorbells();
    if (rung != 0) {
        print("misbehave: doorbells 0x%x\n", rung);
    }
}

static void misbehave_report(const char *what)
{
    print("misbehave: %s %s, carrying on\n", what, misbehave_trapped ? "trapped" : "went through");
    misbehave_trapped = false;
}

static void misbehave_read(unsigned long address)
{
    (void)arch_load(address);
    misbehave_report("read");
}

/* Prints a word, to see whether memory is cleared by a restart. */
static void misbehave_peek(unsigned long address)
{
    uint32_t value = arch_load(address);

    print("misbehave: word at 0x%lx is 0x%x\n", address, value);
    misbehave_trapped = false;
}

static void misbehave_jump(unsigned long address)
{
    arch_call(address);
    misbehave_report("jump");
}

static void misbehave_write(unsigned long address)
{
    arch_store(address, 0xbadc0deU);
    misbehave_report("write");
}

static void misbehave_fatal(unsigned long address)
{
    print("misbehave: reading 0x%lx with an invalid trap vector\n", address);
    machine_lose_vector();
    (void)arch_load(address);
    for (;;) {
    }
}

static void misbehave_wild(unsigned long address)
{
    print("misbehave: jumping to 0x%lx with an invalid trap vector\n", address);
    machine_lose_vector();
    arch_call(address);
    for (;;) {
    }
}

static void misbehave_reset(unsigned long address)
{
    (void)address;
    print("misbehave: cold reboot\n");
    machine_reboot();
    print("misbehave: reboot was refused\n");
}

static void misbehave_warm(unsigned long address)
{
    (void)address;
    print("misbehave: warm reboot\n");
    arch_warm_reboot();
    print("misbehave: reboot was refused\n");
}

static void misbehave_shutdown(unsigned long address)
{
    (void)address;
    print("misbehave: shutdown\n");
    machine_shutdown(false);
}

/* With an external interrupt controller nothing can be masked, so the sources are disabled, too. */
static void misbehave_disable_interrupts(void)
{
    machine_interrupts(false);
    machine_wake_by_timer(false);
    machine_wake_by_uart(false);
    machine_wake_by_message(false);
    uart_enable_rx_interrupt(false);
    timer_set(UINT64_MAX);
}

static void misbehave_spin(unsigned long address)
{
    (void)address;
    print("misbehave: spinning with interrupts off\n");
    misbehave_disable_interrupts();
    for (;;) {
    }
}

/*
 * Prints the error and the period in milliseconds. The main loop pets the watchdog at every
 * wake-up, too.
 */
static void misbehave_pet(unsigned long address)
{
    struct hcall_ret pet = hcall_watchdog_pet();

    (void)address;
    print("misbehave: petting: error %ld value %lu\n", pet.error, pet.value);
}

static void misbehave_sleep(unsigned long address)
{
    (void)address;
    print("misbehave: sleeping with nothing to wake it\n");
    misbehave_disable_interrupts();
    for (;;) {
        machine_wait();
    }
}

void misbehave_flood_line(char line[MISBEHAVE_FLOOD_LINE], unsigned long number,
                          unsigned long lines)
{
    static const char text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    if (number < lines) {
        (void)print_buffer(line, MISBEHAVE_FLOOD_LINE, "misbehave: flood %lu %s\n", number,
                           text + number % (sizeof(text) - 1));
    } else {
        (void)print_buffer(line, MISBEHAVE_FLOOD_LINE, "misbehave: flood is over\n");
    }
}

/* Prints the lines as fast as possible. */
static void misbehave_flood(unsigned long lines)
{
    static char line[MISBEHAVE_FLOOD_LINE];

    for (unsigned long i = 0; i <= lines; i++) {
        misbehave_flood_line(line, i, lines);
        print("%s", line);
    }
}

void misbehave_print_errors(const char *what, const long *errors, size_t count)
{
    print("misbehave: %s returned", what);
    for (size_t i = 0; i < count; i++) {
        print(" %ld", errors[i]);
    }
    print("\n");
}

static void misbehave_calls(unsigned long address)
{
    long errors[ARCH_BAD_CALLS];

    arch_bad_calls(address, errors);
    misbehave_print_errors("bad calls", errors, ARCH_BAD_CALLS);
}

static struct ipc_peer misbehave_peer(unsigned long to)
{
    return (struct ipc_peer){.vm = to & 0xffffU, .vcpu = (unsigned int)(to >> 16)};
}

/* Sends ten numbered messages, more than its queue holds, to VM `to` & 0xffff, VCPU `to` >> 16. */
static void misbehave_burst(unsigned long to)
{
    long errors[10];

    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        errors[i] = ipc_send(misbehave_peer(to), &misbehave_number, sizeof(misbehave_number));
        misbehave_number += errors[i] == 0;
    }
    misbehave_print_errors("burst", errors, sizeof(errors) / sizeof(errors[0]));
}

/* Sends MISBEHAVE_STREAM numbered messages, each retried until it is accepted. */
static void misbehave_stream(unsigned long to)
{
    const uint64_t end = misbehave_number + MISBEHAVE_STREAM;
    unsigned long full = 0;
    long error = 0;

    while (misbehave_number < end && (error == 0 || error == IPC_ERR_NOT_NOW)) {
        error = ipc_send(misbehave_peer(to), &misbehave_number, sizeof(misbehave_number));
        misbehave_number += error == 0;
        full += error == IPC_ERR_NOT_NOW;
    }
    print("misbehave: streamed up to %llu, queue full %lu times, at last %ld\n",
          (unsigned long long)misbehave_number, full, error);
}

/*
 * Sends messages of maximum size to two VMs alternately, without end. The VMs are bits 0 to 7 and 8
 * to 15 of `to`.
 */
static void misbehave_saturate(unsigned long to)
{
    static uint8_t message[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    unsigned long sent = 0;

    print("misbehave: saturating\n");
    for (unsigned long n = 1;; n++) {
        const struct ipc_peer peer = {
            .vm = (unsigned int)(n % 2 != 0 ? to & 0xffU : to >> 8 & 0xffU)};

        sent += ipc_send(peer, message, sizeof(message)) == 0;
        if (n % 100000 == 0) {
            print("misbehave: sent %lu, %lu taken\n", n, sent);
        }
    }
}

/* Sends a message of `size` bytes (hexadecimal) to VM 1, each byte equal to its index. */
static void misbehave_tell(unsigned long size)
{
    static uint8_t message[IPC_MESSAGE_MAX] __attribute__((aligned(8)));
    long error;

    for (unsigned int i = 0; i < IPC_MESSAGE_MAX; i++) {
        message[i] = (uint8_t)i;
    }
    error = ipc_send((struct ipc_peer){.vm = 1}, message, size);
    misbehave_print_errors("tell", &error, 1);
}

/* Message and doorbell calls with invalid arguments, mostly to VM 1. */
static void misbehave_messages(unsigned long address)
{
    static uint64_t buffer[IPC_MESSAGE_MAX / 8];
    const struct ipc_peer good = {.vm = 1}, self = {.vm = 0}, no_vm = {.vm = 15},
                          no_vcpu = {.vm = 1, .vcpu = 8};
    const struct ipc_peer off = {.vm = 1, .vcpu = 1};
    struct ipc_peer from;
    long errors[] = {
        ipc_send(good, buffer, 0),
        ipc_send(good, buffer, IPC_MESSAGE_MAX + 1),
        ipc_send(good, buffer, ~0UL),
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): intended */
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

    misbehave_print_errors("bad messages", errors, sizeof(errors) / sizeof(errors[0]));
}

static void misbehave_ring(unsigned long vm)
{
    long error = ipc_ring(0, (unsigned int)vm);

    misbehave_print_errors("ring", &error, 1);
}

/* Stops or resumes listening to messages. */
static void misbehave_ignore(unsigned long ignored)
{
    misbehave_listens = ignored != 1;
    if (misbehave_message_irq != 0) {
        arch_listen(misbehave_message_irq, misbehave_listens);
    }
    print("misbehave: %s messages\n", misbehave_listens ? "listens to" : "ignores");
    misbehave_receive();
}

/* App `which` >> 8 of VM `which` & 0xff. */
static void misbehave_launch(unsigned long which)
{
    struct hcall_ret ret = rt_launch_app(which & 0xffU, which >> 8, 0);
    const long returned[] = {ret.error, (long)ret.value};

    misbehave_print_errors("launch", returned, 2);
}

static void misbehave_delete(unsigned long app)
{
    const long error = rt_delete_app(app).error;

    misbehave_print_errors("delete", &error, 1);
}

static void misbehave_id(unsigned long address)
{
    struct hcall_ret id = hcall_get_id();

    (void)address;
    print("misbehave: HCALL_INFO_GET_ID error %ld value %lu, in assembly %ld\n", id.error, id.value,
          hcall_get_id_asm());
}

static void misbehave_help(unsigned long address);

static const struct misbehave_command misbehave_commands[] = {
    {"help", "this list", misbehave_help},
    {"read", "[address] load a word, with a handler", misbehave_read},
    {"peek", "[address] load a word and print it", misbehave_peek},
    {"write", "[address] store a word, with a handler", misbehave_write},
    {"jump", "[address] call an address, with a handler", misbehave_jump},
    {"fatal", "[address] load a word with an invalid trap vector", misbehave_fatal},
    {"wild", "[address] jump with an invalid trap vector", misbehave_wild},
    {"reset", "reboot", misbehave_reset},
    {"warm", "the other kind of reboot", misbehave_warm},
    {"shutdown", "shutdown", misbehave_shutdown},
    {"spin", "loop with interrupts off", misbehave_spin},
    {"pet", "pet the watchdog", misbehave_pet},
    {"sleep", "sleep with nothing to wake it", misbehave_sleep},
    {"flood", "[lines] print that many numbered lines (hexadecimal) without a pause",
     misbehave_flood},
    {"calls", "[address] calls of firmware and hypervisor with bad arguments", misbehave_calls},
    {"burst", "[VM | VCPU << 16] send ten messages", misbehave_burst},
    {"stream", "[VM | VCPU << 16] send thousands of messages, each until it is accepted",
     misbehave_stream},
    {"saturate", "[VM | other VM << 8] send messages to both without end", misbehave_saturate},
    {"tell", "[size] send VM 1 a message", misbehave_tell},
    {"messages", "[address] calls of messages with bad arguments", misbehave_messages},
    {"ring", "[VM] ring the doorbell of shared region 0", misbehave_ring},
    {"ignore", "[1] ignore messages; without 1: listen to them", misbehave_ignore},
    {"launch", "[VM | app << 8] launch an RT app", misbehave_launch},
    {"delete", "[app] delete an RT app", misbehave_delete},
    {"id", "hypercall for the VM's id", misbehave_id},
};

#define MISBEHAVE_COMMANDS (sizeof(misbehave_commands) / sizeof(misbehave_commands[0]))

static void misbehave_help_on(const struct misbehave_command *command)
{
    print("misbehave: %-9s%s\n", command->name, command->help);
}

static void misbehave_help(unsigned long address)
{
    (void)address;
    for (unsigned int i = 0; i < MISBEHAVE_COMMANDS; i++) {
        misbehave_help_on(&misbehave_commands[i]);
    }
    for (const struct misbehave_command *command = arch_commands; command->name != NULL;
         command++) {
        misbehave_help_on(command);
    }
}

/* Parses a hexadecimal number, with or without 0x; without digits: PLATFORM_HOLE. */
static unsigned long misbehave_parse_address(const char *text)
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

static bool misbehave_is(const struct misbehave_command *command, const char *line, size_t length)
{
    return strlen(command->name) == length && strncmp(command->name, line, length) == 0;
}

static const struct misbehave_command *misbehave_find(const char *line, size_t length)
{
    for (unsigned int i = 0; i < MISBEHAVE_COMMANDS; i++) {
        if (misbehave_is(&misbehave_commands[i], line, length)) {
            return &misbehave_commands[i];
        }
    }
    for (const struct misbehave_command *command = arch_commands; command->name != NULL;
         command++) {
        if (misbehave_is(command, line, length)) {
            return command;
        }
    }
    return NULL;
}

static void misbehave_run(const char *line)
{
    const struct misbehave_command *command;
    size_t length = 0;

    while (line[length] != '\0' && line[length] != ' ' && line[length] != ':') {
        length++;
    }
    if (length == 0) {
        return;
    }
    command = misbehave_find(line, length);
    if (command != NULL) {
        command->run(misbehave_parse_address(line[length] == '\0' ? "" : line + length + 1));
    } else {
        print("misbehave: no command '%s'; try help\n", line);
    }
}

/* Reads the received characters; runs each complete line. */
static void misbehave_input(void)
{
    static char line[MISBEHAVE_LINE];
    static size_t used;

    for (int c = uart_get(); c >= 0; c = uart_get()) {
        if (c == '\r' || c == '\n') {
            line[used] = '\0';
            used = 0;
            misbehave_run(line);
        } else if (used + 1 < MISBEHAVE_LINE) {
            line[used++] = (char)c;
        }
    }
}

static void misbehave_heartbeat(void)
{
    static uint64_t next;

    if (misbehave_alive != 0 && machine_time() < next) {
        return;
    }
    print("misbehave: alive %lu\n", misbehave_alive++);
    next = machine_time() + PLATFORM_TIMEBASE_HZ;
    timer_set(next);
}

/*
 * Interrupts only end the wait; the guest installs no interrupt handler. Where an interrupt must be
 * taken to clear it, the SDK's handler masks the UART's interrupt.
 */
static void misbehave_wait(unsigned long hart)
{
    uart_enable_rx_interrupt(true);
    machine_wait();
    if (misbehave_message_irq == 0) {
        machine_take_message();
        misbehave_receive();
    }
    for (uint32_t source = machine_claim(hart); source != 0; source = machine_claim(hart)) {
        if (source == misbehave_message_irq) {
            misbehave_receive();
        } else {
            misbehave_input();
        }
        machine_complete(hart, source);
    }
}

static void misbehave_find_messages(const void *fdt)
{
    uint32_t length;
    const uint8_t *cell = fdt_property(fdt, "messages", "interrupts", &length);

    if (cell != NULL && length == 4) {
        misbehave_message_irq = cell[3];
        arch_listen(misbehave_message_irq, true);
    }
}

static void misbehave_begin(unsigned long hart, const void *fdt)
{
    arch_init(hart);
    uart_init();
    (void)timer_init();
    misbehave_heartbeat();
    machine_uart_interrupt(hart, true);
    misbehave_find_messages(fdt);
    machine_wake_by_timer(true);
    machine_wake_by_uart(true);
    machine_wake_by_message(true);
}

int main(unsigned long hart, const void *fdt);

int main(unsigned long hart, const void *fdt)
{
    char command[MISBEHAVE_LINE];

    misbehave_begin(hart, fdt);
    if (fdt_bootarg(fdt, "do", command, sizeof(command)) != NULL) {
        misbehave_run(command);
    }
    for (;;) {
        misbehave_wait(hart);
        (void)hcall_watchdog_pet();
        misbehave_heartbeat();
    }
}
