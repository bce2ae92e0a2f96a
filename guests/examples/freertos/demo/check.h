/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-checks of the demo: each part counts its correct rounds and records the first error. The
 * checker (checker.c) reports on the console.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>

struct check {
    const char *name;
    unsigned long needed;          /* correct rounds required to pass */
    volatile unsigned long rounds; /* correct rounds so far */
    const char *volatile error;    /* first error, or NULL */
    volatile unsigned long value;  /* value of the first error */
};

/* The parts, each with the function that creates its tasks (before the scheduler starts). */
extern struct check queue_check;
extern struct check timer_check;
extern struct check mutex_check;
extern struct check fft_check;
extern struct check chaos_check;
extern struct check registers_check;

void queue_check_start(void);
void timer_check_start(void);
void mutex_check_start(void);
void fft_check_start(void);
void chaos_check_start(void);
void registers_check_start(void);

/** Makes the producer skip a number, to test the failure report. */
void queue_check_spoil(void);

/** Counts a correct round. Called by one task per part, or by several under a lock. */
static inline void check_pass(struct check *check)
{
    check->rounds = check->rounds + 1;
}

/** Records a failure; only the first is kept. */
static inline void check_fail(struct check *check, const char *what, unsigned long value)
{
    if (check->error == (const char *)0) {
        check->value = value;
        check->error = what;
    }
}

/* Priorities, high to low; arithmetic is lowest, so that all others preempt it. */
#define PRIORITY_CHECKER 5
#define PRIORITY_CONSOLE 4
#define PRIORITY_CONSUMER 3
#define PRIORITY_PRODUCER 2
#define PRIORITY_MUTEX 2 /* plus and minus one */
#define PRIORITY_ARITHMETIC 1

#define TASK_STACK PORT_TASK_STACK

/** Creates a task or ends the guest as failed. */
void check_create_task(void (*function)(void *), const char *name, void *argument,
                       unsigned long priority);

/** Creates the task that monitors all parts. */
void checker_start(void);

/** Prints one line about all parts. */
void checker_print(void);

#endif
