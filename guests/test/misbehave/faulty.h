/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that misbehaves on demand: what its files share, and what it asks of an architecture (riscv/, mips/). */
#ifndef FAULTY_H
#define FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct faulty_command {
    const char *name;
    const char *help;
    void (*run)(unsigned long address);
};

/** Tells of an exception that came to the handler, and notes it. */
void faulty_caught(unsigned long cause, unsigned long address, unsigned long pc);

/** From here on exceptions are too many to tell of each. */
void faulty_be_quiet(void);

/** `faulty: WHAT returned` and the numbers. */
void faulty_print_errors(const char *what, const long *errors, size_t count);

#define FAULTY_FLOOD_LINE 96U

/** Line `number` of a flood: every character is known, so that a lost or strange one shows. The last one tells its end. */
void faulty_flood_line(char line[FAULTY_FLOOD_LINE], unsigned long number, unsigned long lines);

/* --- what an architecture provides --- */

/** Commands that only it has; the last one has no name. */
extern const struct faulty_command arch_commands[];

/** Called first: its handler of exceptions, each of which it reports by faulty_caught() and gets by. */
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
