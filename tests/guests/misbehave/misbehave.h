/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that misbehaves on demand: shared declarations, and its interface to riscv/ and mips/. */
#ifndef MISBEHAVE_H
#define MISBEHAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct misbehave_command {
    const char *name;
    const char *help;
    void (*run)(unsigned long address);
};

/** Records an exception in the handler and prints it. */
void misbehave_caught(unsigned long cause, unsigned long address, unsigned long pc);

/** Exceptions are no longer printed. */
void misbehave_be_quiet(void);

/** Prints `misbehave: WHAT returned` and the numbers. */
void misbehave_print_errors(const char *what, const long *errors, size_t count);

#define MISBEHAVE_FLOOD_LINE 96U

/**
 * Line `number` of a flood. Every character is predictable, so that a test finds lost or foreign
 * characters. The line after the last announces the end.
 */
void misbehave_flood_line(char line[MISBEHAVE_FLOOD_LINE], unsigned long number,
                          unsigned long lines);

/* --- provided by the architecture --- */

/** Commands of this architecture only, terminated by an entry without name. */
extern const struct misbehave_command arch_commands[];

/**
 * Called first: installs an exception handler that calls misbehave_caught() and skips the
 * instruction.
 */
void arch_init(unsigned long hart);

/** One access, which is skipped if it traps. */
uint32_t arch_load(unsigned long address);
void arch_store(unsigned long address, uint32_t value);

/** Calls code at `address`; also returns if the code cannot be fetched. */
void arch_call(unsigned long address);

/** Requests a warm reboot, if the architecture has one; returns if it is refused. */
void arch_warm_reboot(void);

#define ARCH_BAD_CALLS 6U

/** Unknown calls, and known calls with invalid arguments: all must return an error. */
void arch_bad_calls(unsigned long address, long errors[ARCH_BAD_CALLS]);

/** Enables the interrupt line of messages, if they have one. */
void arch_listen(uint32_t line, bool on);

#endif
