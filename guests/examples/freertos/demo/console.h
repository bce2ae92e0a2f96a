/* SPDX-License-Identifier: Apache-2.0 */
/* The console of the demo: line output from any task, interrupt-driven command input. */
#ifndef CONSOLE_H
#define CONSOLE_H

/**
 * Prints formatted text (print.h) of up to 200 characters without interleaving. From tasks only.
 */
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Creates the command task and enables the UART's receive interrupt. */
void console_start(unsigned long hart);

/** Runs one command line (commands.c). */
void command_run(const char *line);

#endif
