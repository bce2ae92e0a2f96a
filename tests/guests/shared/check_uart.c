/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on the shared UART, and input. Words of the kernel's arguments: `letter=` of the lines;
 * `lines=` their number (20); `marked=` every how many lines one has a question mark, to which the
 * terminal of the tests answers the VM with the focus; `questions=` of the VM, each of which a line
 * of input answers; without them the VM must not receive anything.
 */
#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "shared_test.h"
#include "shared_uart.h"

#define LINES 20 /* without the word `lines=` */
#define TEXT 64U
#define PATIENCE (PLATFORM_TIMEBASE_HZ / 200U) /* ticks: 5 ms */

static struct shared_uart uart;

/* Reads a line; false: it does not come. */
static bool read_line(char *text, size_t size)
{
    uint64_t end = machine_time() + PATIENCE;
    size_t length = 0;

    while (machine_time() < end && length < size - 1U) {
        int byte = shared_uart_get(&uart);

        if (byte == '\n') {
            text[length] = '\0';
            return true;
        }
        if (byte >= 0) {
            text[length++] = (char)byte;
        }
    }
    return false;
}

static void ask(unsigned long number)
{
    char answer[TEXT], text[2U * TEXT];

    print_buffer(text, sizeof(text), "question %lu?\n", number);
    shared_uart_write(&uart, text);
    must(read_line(answer, sizeof(answer)), "a line of input");
    print_buffer(text, sizeof(text), "answer %lu: %s\n", number, answer);
    shared_uart_write(&uart, text);
}

static void write_lines(unsigned long lines, char letter, unsigned long marked)
{
    char text[TEXT];

    for (unsigned long i = 0; i < lines; i++) {
        const char *mark = marked != 0 && i % marked == 0 ? "?" : "";

        print_buffer(text, sizeof(text), "line %lu of %c%c%c%c%c%c%c%c%s\n", i, letter, letter,
                     letter, letter, letter, letter, letter, letter, mark);
        shared_uart_write(&uart, text);
    }
}

void check_uart(const void *fdt, unsigned long hart)
{
    char letter[2], text[TEXT];
    unsigned long questions = fdt_bootarg_number(fdt, "questions", 0);

    (void)hart;
    must(shared_uart_open(&uart, fdt) == SHARED_OK, "open the UART");
    must(fdt_bootarg(fdt, "letter", letter, sizeof(letter)) != NULL, "a letter");
    write_lines(fdt_bootarg_number(fdt, "lines", LINES), letter[0],
                fdt_bootarg_number(fdt, "marked", 0));
    for (unsigned long i = 0; i < questions; i++) {
        ask(i);
    }
    must(questions != 0 || !read_line(text, sizeof(text)), "no input for a VM without the focus");
    must(shared_uart_get(&uart) < 0, "no further input");
    print("shared: UART tested\n");
}
