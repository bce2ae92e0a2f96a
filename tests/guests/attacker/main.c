/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that attacks the hypervisor and other VMs, for tests/e2e/test_attacks.py. It reads the
 * number of an attack from its UART, runs the attack and, if the attack returns, compares the
 * result with the expected one; then it reboots, so that attacks do not affect each other. `list`
 * prints the table.
 */
#include <stdarg.h>
#include <string.h>

#include "attacker.h"
#include "machine.h"
#include "print.h"
#include "uart.h"

#define LINE 32U

int main(unsigned long hart, const void *fdt);

#define ATTACK(name, ends, must, function, argument) {#name, ends, must, function, argument},
static const struct attack attacks[] = {
#include "attacks.def"
};
#undef ATTACK

#define ATTACKS (sizeof(attacks) / sizeof(attacks[0]))

void spin(uint64_t ticks)
{
    uint64_t start = machine_time();

    while (machine_time() - start < ticks) {
    }
}

/* xorshift64 (Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003). */
uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void judge(struct verdict *v, bool right, const char *format, ...)
{
    va_list list;

    v->tried++;
    if (!right && v->wrong++ == 0) {
        va_start(list, format);
        (void)print_buffer_args(v->first, sizeof(v->first), format, list);
        va_end(list);
    }
}

/* Sleeps until a character is received. Claims and completes interrupts that no attack handles. */
static char read_char(void)
{
    int c = uart_get();

    while (c < 0) {
        uint32_t source;

        uart_enable_rx_interrupt(true);
        machine_wait();
        source = machine_claim(0);
        if (source != 0) {
            machine_complete(0, source);
        }
        c = uart_get();
    }
    return (char)c;
}

static void read_line(char *line)
{
    size_t used = 0;

    for (char c = read_char(); c != '\r'; c = read_char()) {
        if (used + 1 < LINE) {
            line[used++] = c;
        }
    }
    line[used] = '\0';
}

static void listen(void)
{
    machine_uart_interrupt(0, true);
    machine_wake_by_uart(true); /* ends the wait; no interrupt is handled */
    uart_enable_rx_interrupt(true);
}

/* Restores the interrupt state from before the input. */
static void listen_no_more(void)
{
    uart_enable_rx_interrupt(false);
    machine_uart_interrupt(0, false);
    machine_wake_by_uart(false);
}

static void attack(unsigned long n)
{
    const struct attack *a = &attacks[n];
    static struct verdict v;

    print("attacker: %lu %s begins, expected: %s\n", n, a->name, a->must);
    a->run(&v, a->argument);
    if (a->ends != RETURNS) {
        judge(&v, false, "it came back");
    }
    /* Starts a new line: firmware output may lack a final newline. */
    if (v.wrong == 0) {
        print("\nattacker: %lu %s: as expected, %lu tried\n", n, a->name, v.tried);
    } else {
        print("\nattacker: %lu %s: WRONG in %lu of %lu: %s\n", n, a->name, v.wrong, v.tried,
              v.first);
    }
    machine_reboot();
}

static void list(void)
{
    for (unsigned long n = 0; n < ATTACKS; n++) {
        print("attacker: %lu %s expected: %s\n", n, attacks[n].name, attacks[n].must);
    }
}

static void run_command(const char *line)
{
    unsigned long n = 0;

    if (strcmp(line, "list") == 0) {
        list();
        return;
    }
    for (const char *c = line; *c >= '0' && *c <= '9'; c++) {
        n = n * 10 + (unsigned long)(*c - '0');
    }
    if (n < ATTACKS && line[0] != '\0') {
        listen_no_more();
        attack(n);
    }
    print("attacker: no attack '%s'\n", line);
}

int main(unsigned long hart, const void *fdt)
{
    char line[LINE];

    (void)hart;
    (void)fdt;
    uart_init();
    guard_init();
    for (;;) {
        listen();
        print("attacker: ready\n");
        read_line(line);
        run_command(line);
    }
}
