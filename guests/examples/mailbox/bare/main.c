/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bare-metal client of the mailbox, for machines that are too small for Linux. The server is
 * FreeRTOS (guests/examples/mailbox/freertos). Commands are lines on the UART; the answer to each
 * ends with `status 0`, or with an error message and `status 1`.
 *
 * Boot argument: mailbox=<address>, hexadecimal address of the shared memory.
 */
#include <stdbool.h>
#include <string.h>

#include "client.h"
#include "hcall.h"
#include "ipc.h"
#include "machine.h"
#include "place.h"
#include "platform.h"
#include "print.h"
#include "random.h"
#include "timer.h"
#include "uart.h"

#define BARE_LINE 96U
#define BARE_TICKS_MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define BARE_LINES 400U  /* more than both rings hold */
#define BARE_LENGTHS 77U /* number of line lengths, from 0 */

int main(unsigned long hart, const void *fdt);

static struct client client;
static unsigned int region; /* number of the shared memory; owner: main() */

/* Owner: bare_random(). */
static struct comparison {
    struct random random; /* generates the lines sent, again */
    unsigned int line;
    size_t length, at;
    char text[BARE_LINE]; /* expected answer to this line */
    unsigned long wrong;  /* wrong characters */
} comparison;

int64_t client_now_ms(void)
{
    return (int64_t)(machine_time() / BARE_TICKS_MS);
}

void client_ring(uint32_t vm)
{
    (void)ipc_ring(region, vm); /* fails if the server's VM does not run */
}

void client_wait(int64_t until)
{
    machine_wake_by_message(true);
    machine_wake_by_timer(true);
    timer_set((uint64_t)until * BARE_TICKS_MS);
    while (ipc_doorbells() == 0 && client_now_ms() < until) {
        machine_wait();
        /* before the doorbells are read: one that rings later interrupts again */
        machine_take_message();
    }
    machine_wake_by_timer(false);
    machine_wake_by_message(false);
}

static void bare_print(const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uart_put_text(text[i]);
    }
}

static void bare_ignore(const char *text, size_t count)
{
    (void)text;
    (void)count;
}

/* --- random lines, and the check of their answers --- */

static size_t bare_make_line(struct random *random, unsigned int number, char *text)
{
    size_t length = number * 37U % BARE_LENGTHS;

    for (size_t i = 0; i < length; i++) {
        text[i] = (char)(' ' + random_below(random, '~' - ' ' + 1));
    }
    text[length] = '\n';
    return length + 1;
}

static void bare_make_answer(void)
{
    struct comparison *c = &comparison;
    size_t number = print_buffer(c->text, sizeof(c->text), "%u: ", ++c->line);

    c->length = number + bare_make_line(&c->random, c->line, c->text + number);
    c->at = 0;
    for (size_t i = number; i < c->length; i++) {
        c->text[i] =
            (char)(c->text[i] >= 'a' && c->text[i] <= 'z' ? c->text[i] - 'a' + 'A' : c->text[i]);
    }
}

static void bare_compare(const char *text, size_t count)
{
    struct comparison *c = &comparison;

    for (size_t i = 0; i < count; i++) {
        if (c->at == c->length) {
            bare_make_answer();
        }
        c->wrong += text[i] != c->text[c->at++];
    }
}

static const char *bare_random(const char *words)
{
    static uint64_t seed;
    struct random random = random_from(seed);
    const char *wrong = NULL;
    char text[BARE_LINE];

    (void)words;
    comparison = (struct comparison){.random = random_from(seed++)};
    for (unsigned int i = 1; i <= BARE_LINES && wrong == NULL; i++) {
        wrong = client_send(&client, text, bare_make_line(&random, i, text));
    }
    if (wrong == NULL) {
        wrong = client_receive_rest(&client);
    }
    print("random: %u lines, %lu characters wrong\n", comparison.line, comparison.wrong);
    return wrong;
}

/* --- other commands --- */

static const char *bare_half(const char *words)
{
    return client_send(&client, words, strlen(words));
}

static const char *bare_line(const char *words)
{
    const char *wrong = bare_half(words);

    return wrong != NULL ? wrong : client_send(&client, "\n", 1);
}

static const char *bare_words(const char *words)
{
    const char *wrong = bare_line(words);

    return wrong != NULL ? wrong : client_receive_rest(&client);
}

static const char *bare_yes(const char *words)
{
    const char *wrong;

    do {
        wrong = bare_line(words);
    } while (wrong == NULL);
    return wrong;
}

static const char *bare_reboot(const char *words)
{
    (void)words;
    machine_reboot();
    return "the reboot was refused";
}

static const struct command {
    const char *name;
    const char *help;
    const char *(*run)(const char *words);
    void (*answer)(const char *text, size_t count); /* NULL: the command opens no session */
} commands[] = {
    {"mailbox", "WORDS: send a line, print the answer", bare_words, bare_print},
    {"half", "WORDS: send a line without its end, and leave", bare_half, bare_ignore},
    {"yes", "WORDS: send a line again and again, until something goes wrong", bare_yes,
     bare_ignore},
    {"random", "send many lines and compare the answers", bare_random, bare_compare},
    {"reboot", "restart this guest", bare_reboot, NULL},
};

#define BARE_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *bare_run(const struct command *command, const char *words)
{
    const char *wrong = NULL;

    if (command->answer != NULL) {
        client.answer = command->answer;
        wrong = client_begin(&client);
    }
    return wrong != NULL ? wrong : command->run(words);
}

static void bare_help(void)
{
    for (size_t i = 0; i < BARE_COMMANDS; i++) {
        print("%-9s%s\n", commands[i].name, commands[i].help);
    }
}

static void bare_command(const char *line)
{
    size_t length = 0;

    while (line[length] != '\0' && line[length] != ' ') {
        length++;
    }
    for (size_t i = 0; i < BARE_COMMANDS; i++) {
        const struct command *command = &commands[i];

        if (strlen(command->name) == length && strncmp(command->name, line, length) == 0) {
            const char *wrong = bare_run(command, line + length + (line[length] == ' '));

            if (wrong != NULL) {
                print("mailbox: %s\n", wrong);
            }
            print("status %d\n", wrong != NULL);
            return;
        }
    }
    bare_help();
}

/* Sleeps until a character is received. No interrupt is handled: they only end the wait. */
static void bare_wait_for_key(void)
{
    uint32_t source;

    uart_enable_rx_interrupt(true);
    machine_wait();
    uart_enable_rx_interrupt(false);
    source = machine_claim(0);
    if (source != 0) {
        machine_complete(0, source);
    }
}

static void bare_keyboard(void)
{
    static char line[BARE_LINE];
    static size_t used;

    for (int c = uart_get(); c >= 0; c = uart_get()) {
        if (c == '\r' || c == '\n') {
            line[used] = '\0';
            used = 0;
            bare_command(line);
        } else if (used + 1 < sizeof(line)) {
            line[used++] = (char)c;
        }
    }
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart;
    uart_init();
    (void)timer_init();
    machine_uart_interrupt(0, true);
    machine_wake_by_uart(true);
    client.box = place_of_mailbox(fdt);
    client.vm = (uint32_t)hcall_call(HCALL_INFO_GET_ID, 0, 0, 0).value;
    if (client.box == NULL || !place_region(fdt, &region)) {
        print("client: no boot argument mailbox=<address, hexadecimal>, or no shared memory\n");
        return 1;
    }
    print("client: ready\n");
    for (;;) {
        bare_keyboard();
        bare_wait_for_key();
    }
}
