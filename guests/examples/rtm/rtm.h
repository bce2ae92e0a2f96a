/* SPDX-License-Identifier: Apache-2.0 */
/* A real-time manager: makes RT apps of what its boot arguments or its keyboard say, and tells how they fare. */
#ifndef RTM_H
#define RTM_H

#include <stdbool.h>
#include <stdint.h>

#include "rt.h"
#include "rtm_size.h"

#define RTM_STACK 1024U

struct rtm_app;

/* What an app shall do: times in microseconds, work in instructions a job. */
struct rtm_spec {
    uint32_t period_us, budget_us, deadline_us, cpu;
    uint64_t work;
    void (*duty)(struct rtm_app *app); /* called once a job; NULL: none */
    unsigned int peer;                 /* of rtm_speak: VM that it sends to */
};

/* Messages of an app; written by the app. */
struct rtm_mail {
    volatile uint64_t count; /* heard or sent */
    volatile uint64_t last;  /* the number in the last of them */
    volatile uint64_t odd;   /* heard out of order, or refused */
};

/* One app. The app itself writes what its jobs saw; the manager reads it. */
struct rtm_app {
    struct rt_task task;
    struct rtm_spec spec;
    unsigned long id;
    bool alive; /* created; launched perhaps by another VM */
    struct rtm_mail mail;
    volatile uint64_t first;    /* ticks: its first release; 0 until the manager knows, and its jobs are not measured */
    volatile uint64_t jobs;     /* that have begun */
    volatile uint64_t late_max; /* ticks from release to the job's first instructions, when it is sure which release */
    volatile uint32_t late[RTM_BUCKETS];     /* how often that was n ticks; the last bucket: or more */
    volatile uint32_t response[RTM_BUCKETS]; /* the same from release to the job's end, in 1/64 of the period */
    uint8_t stack[RTM_STACK] __attribute__((aligned(16)));
};

extern struct rtm_app rtm_apps[RTM_APPS]; /* owner: apps.c */

/** Creates and launches an app, first released at `first` (ticks of time). Says so, or why not. */
bool rtm_start(const struct rtm_spec *spec, uint64_t first);

/** Creates an app for another VM to launch; nobody knows when its first release is, and its jobs are not measured. */
bool rtm_create(const struct rtm_spec *spec);

/** Duty: takes all messages that wait, each with a number, and sees that they are in order. */
void rtm_hear(struct rtm_app *app);

/** Duty: sends VCPU 0 of VM `peer` a number, the next if the last was taken. */
void rtm_speak(struct rtm_app *app);

/** A line about an app's messages if it has such a duty. */
void rtm_list_mail(const struct rtm_app *app);

/** Deletes app `id`. */
bool rtm_end(unsigned long id);

/** One line for each app that is alive. */
void rtm_list(void);

/** The sums over all apps. */
struct rt_stats rtm_total(void);

/** Machine-readable: a line `RTAPP {json}` for each app, with its histograms. */
void rtm_dump(void);

/**
 * Reads `period:budget:deadline:work[:cpu]` in decimal, cpu 0 if absent. Returns where it stopped (a comma or the end),
 * or NULL where it is malformed.
 */
const char *rtm_parse_spec(const char *text, struct rtm_spec *spec);

/** A line from the keyboard. */
void rtm_command(const char *line);

/** Role `latency`: for the benchmark, see latency.c. */
_Noreturn void rtm_latency(void);

#endif
