/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real-time manager: creates RT apps from boot arguments or commands, and reports their
 * statistics.
 */
#ifndef RTM_H
#define RTM_H

#include <stdbool.h>
#include <stdint.h>

#include "rt.h"
#include "rtm_size.h"

#define RTM_STACK 1024U

struct rtm_app;

/* Parameters of an app: times in microseconds, work in instructions per job. */
struct rtm_spec {
    uint32_t period_us, budget_us, deadline_us, cpu;
    uint64_t work;
    void (*duty)(struct rtm_app *app); /* called once per job; NULL: none */
    unsigned int peer;                 /* receiving VM of rtm_send */
};

/* Message statistics; written by the app. */
struct rtm_mail {
    volatile uint64_t count; /* received or sent */
    volatile uint64_t last;  /* number in the last message */
    volatile uint64_t odd;   /* received out of order, or refused */
};

/* One app. The app writes its measurements; the manager reads them. */
struct rtm_app {
    struct rt_task task;
    struct rtm_spec spec;
    unsigned long id;
    bool alive; /* created; possibly launched by another VM */
    struct rtm_mail mail;
    /* first release in ticks; 0: not known, jobs are not measured */
    volatile uint64_t first;
    volatile uint64_t jobs; /* started jobs */
    /* most ticks from release to the job's first instructions */
    volatile uint64_t late_max;
    volatile uint32_t late[RTM_BUCKETS]; /* histogram of it in ticks; last bucket: or more */
    /* histogram from release to end of job, in 1/64 of the period */
    volatile uint32_t response[RTM_BUCKETS];
    uint8_t stack[RTM_STACK] __attribute__((aligned(16)));
};

extern struct rtm_app rtm_apps[RTM_APPS]; /* owner: apps.c */

/** Creates and launches an app with first release `first` (ticks of time); prints the result. */
bool rtm_start(const struct rtm_spec *spec, uint64_t first);

/**
 * Creates an app for another VM to launch. Its first release is unknown, so its jobs are not
 * measured.
 */
bool rtm_create(const struct rtm_spec *spec);

/** Duty: receives all pending messages and checks the order of their numbers. */
void rtm_receive(struct rtm_app *app);

/** Duty: sends a number to VCPU 0 of VM `peer`; increments it if the message was accepted. */
void rtm_send(struct rtm_app *app);

/** Prints a line about an app's messages if it has such a duty. */
void rtm_list_mail(const struct rtm_app *app);

/** Deletes app `id`. */
bool rtm_end(unsigned long id);

/** Prints one line for each live app. */
void rtm_list(void);

/** Sums of the statistics of all apps. */
struct rt_stats rtm_total(void);

/** Machine-readable: a line `RTAPP numbers` for each app, and its histograms. */
void rtm_dump(void);

/**
 * Reads `period:budget:deadline:work[:cpu]` in decimal, cpu 0 if absent. Returns the position after
 * the spec (a comma or the end), or NULL if the spec is malformed.
 */
const char *rtm_parse_spec(const char *text, struct rtm_spec *spec);

/** Executes a command line. */
void rtm_command(const char *line);

/** Role `latency`, for the benchmark; see latency.c. */
_Noreturn void rtm_latency(void);

#endif
