/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that misbehaves on demand: what its files share, and what it asks of an architecture (riscv/, mips/). */
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

/** Tells of an exception that came to the handler, and notes it. */
void misbehave_caught(unsigned long cause, unsigned long address, unsigned long pc);

/** From here on exceptions are too many to tell of each. */
void misbehave_be_quiet(void);

/** `misbehave: WHAT returned` and the numbers. */
void misbehave_print_errors(const char *what, const long *errors, size_t count);

#define MISBEHAVE_FLOOD_LINE 96U

/**
 * Line `number` of a flood. Every character is predictable, so that a test finds lost or foreign
 * characters. The line after the last announces the end.
 */
void misbehave_flood_line(char line[MISBEHAVE_FLOOD_LINE], unsigned long number, unsigned long lines);

/* --- what an architecture provides --- */

/** Commands that only it has; the last one has no name. */
extern const struct misbehave_command arch_commands[];

/** Called first: its handler of exceptions, each of which it reports by misbehave_caught() and gets by. */
void arch_init(unsigned long hart);

/** One access; past it when it has trapped. */
uint32_t arch_load(unsigned long address);
void arch_store(unsigned long address, uint32_t value);

/** Calls code; comes back when that cannot even be fetched. */
void arch_call(unsigned long address);

/** Asks for a reset of the other kind, if there are two; returns if that is refused. */
void arch_warm_reboot(void);

#define ARCH_BAD_CALLS 6U

/** Calls that nobody has heard of, and known ones with arguments that cannot be right: all come back with an error. */
void arch_bad_calls(unsigned long address, long errors[ARCH_BAD_CALLS]);

/** Lets the line of the interrupt controller through that messages come by, if they have one. */
void arch_listen(uint32_t line, bool on);

#endif
