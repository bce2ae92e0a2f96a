/* SPDX-License-Identifier: Apache-2.0 */
/* The task that polls the self-checks of all parts of the demo, and prints their rounds and the
 * verdict (check.h). Owns the list of the parts. */
#include "FreeRTOS.h"
#include "check.h"
#include "console.h"
#include "print.h"
#include "task.h"

#define CHECKER_PARTS (sizeof(checker_parts) / sizeof(checker_parts[0]))
#define CHECKER_LINE 160U
#define CHECKER_PERIOD pdMS_TO_TICKS(1000)
/* checker_own_ticks() without progress after which a part is stuck */
#define CHECKER_STALLED pdMS_TO_TICKS(20000)
#define CHECKER_QUIET 5U /* checks per report after the parts have passed */

static struct check *const checker_parts[] = {
    &queue_check, &timer_check, &mutex_check, &fft_check, &chaos_check, &registers_check,
};

void checker_print(void)
{
    char line[CHECKER_LINE];
    size_t used = 0;

    for (unsigned int i = 0; i < CHECKER_PARTS; i++) {
        const struct check *part = checker_parts[i];

        used +=
            print_buffer(line + used, sizeof(line) - used, ", %s %lu", part->name, part->rounds);
    }
    console_print("freertos: up %lu s%s\n", xTaskGetTickCount() / configTICK_RATE_HZ, line);
}

/*
 * Ticks during which this guest had the processor. Other guests or a busy host take the rest, in
 * which no part can make progress.
 */
static unsigned long checker_own_ticks(void)
{
    return (unsigned long)xTaskGetTickCount() - port_late_ticks();
}

/* checker_own_ticks() since the last progress of this part. */
static unsigned long checker_stalled(unsigned int part)
{
    static unsigned long rounds[CHECKER_PARTS];
    static unsigned long since[CHECKER_PARTS];
    unsigned long now = checker_own_ticks();

    if (checker_parts[part]->rounds != rounds[part] || since[part] == 0) {
        rounds[part] = checker_parts[part]->rounds;
        since[part] = now;
    }
    return now - since[part];
}

/* True: all parts have completed their rounds. Sets *wrong to the first part with an error. */
static bool checker_poll(struct check **wrong)
{
    bool done = true;

    *wrong = NULL;
    for (unsigned int i = 0; i < CHECKER_PARTS; i++) {
        struct check *part = checker_parts[i];

        if (checker_stalled(i) > CHECKER_STALLED) {
            check_fail(part, "no progress after round", part->rounds);
        }
        if (part->error != NULL && *wrong == NULL) {
            *wrong = part;
        }
        done = done && part->rounds >= part->needed;
    }
    return done;
}

/* Reports if most ticks since the last report were late, which delays the verdict. */
static void checker_report_late(void)
{
    static unsigned long ticks_before, late_before;
    unsigned long ticks = (unsigned long)xTaskGetTickCount(), late = port_late_ticks();

    if (late - late_before > (ticks - ticks_before) / 2) {
        console_print("freertos: %lu of %lu ticks came late: the host is too slow, or other guests "
                      "take the time\n",
                      late - late_before, ticks - ticks_before);
    }
    ticks_before = ticks;
    late_before = late;
}

/* Prints the verdict: a pass once, a failure repeatedly so that it stays visible. */
static void checker_report(const struct check *wrong, bool first_pass)
{
    checker_print();
    if (wrong != NULL) {
        console_print("freertos: self-check FAILED: %s: %s %lu\n", wrong->name, wrong->error,
                      wrong->value);
    } else if (first_pass) {
        console_print("freertos: self-check passed\n");
    }
}

static void checker_task(void *argument)
{
    TickType_t wake = xTaskGetTickCount();
    bool known = false; /* verdict reached */
    bool failed = false;

    (void)argument;
    for (unsigned int look = 1;; look++) {
        struct check *wrong;
        bool done;

        (void)xTaskDelayUntil(&wake, CHECKER_PERIOD);
        done = checker_poll(&wrong);
        if (!known) {
            checker_report_late();
        }
        if (!known || (wrong != NULL && !failed) || look % CHECKER_QUIET == 0) {
            checker_report(wrong, done && !known);
        }
        failed = wrong != NULL;
        known = known || done || failed;
    }
}

void checker_start(void)
{
    check_create_task(checker_task, "checker", NULL, PRIORITY_CHECKER);
}
