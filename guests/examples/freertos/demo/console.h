/* SPDX-License-Identifier: Apache-2.0 */
/* The console of the demo: whole lines out, from any task; commands in, by interrupt. */
#ifndef CONSOLE_H
#define CONSOLE_H

/** Prints formatted text (print.h) of up to 200 characters in one piece. From tasks only. */
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Creates the command task and turns the UART's receive interrupt on. */
void console_start(unsigned long hart);

/** Runs one command line (commands.c). */
void command_run(const char *line);

#endif
