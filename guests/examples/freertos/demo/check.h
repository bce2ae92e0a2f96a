/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo checks itself: each part counts the rounds it has completed and found right, and says so at the first one
 * that is not. The checker (checker.c) reports on the console.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>

struct check {
    const char *name;
    unsigned long needed;          /* rounds after which this part counts as working */
    volatile unsigned long rounds; /* completed, right */
    const char *volatile error;    /* what went wrong first, or NULL */
    volatile unsigned long value;  /* a number that goes with it */
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

/** Makes the producer skip a number, to see the failure reported. */
void queue_check_spoil(void);

/** One more round was right. One task per part calls it, or several under a lock of their own. */
static inline void check_pass(struct check *check)
{
    check->rounds = check->rounds + 1;
}

/** The first failure is kept. */
static inline void check_fail(struct check *check, const char *what, unsigned long value)
{
    if (check->error == (const char *)0) {
        check->value = value;
        check->error = what;
    }
}

/* Priorities, high to low; arithmetic is lowest, so that everybody preempts it. */
#define PRIORITY_CHECKER 5
#define PRIORITY_CONSOLE 4
#define PRIORITY_CONSUMER 3
#define PRIORITY_PRODUCER 2
#define PRIORITY_MUTEX 2 /* and one up and down */
#define PRIORITY_ARITHMETIC 1

#define TASK_STACK PORT_TASK_STACK

/** Creates a task or ends the guest as failed. */
void check_create_task(void (*function)(void *), const char *name, void *argument, unsigned long priority);

/** The task that watches all parts. */
void checker_start(void);

/** One line about all parts. */
void checker_print(void);

#endif
