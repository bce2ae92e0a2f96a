/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of the hypervisor's own lines, for the code that sends them. Caller holds console_lock,
 * except of log_waiting(), whose result may then be old. */
#ifndef CONSOLE_LOG_H
#define CONSOLE_LOG_H

#include "lib.h"
#include "spinlock.h"
#include "types.h"

extern struct spinlock console_lock; /* guards the whole console; owner: console_log.c */

/* The next number in the order of lines; not 0. */
unsigned log_order(void);

/* Number of the hypervisor's lines that are not shown yet. */
unsigned log_waiting(void);

/* Number of the hypervisor's first line in the order, 0 if there is none. */
unsigned log_due(void);

/* Starts the text of that line; log_done() removes it. */
void log_begin(struct text *t);
void log_done(void);

/* While `hold`, lines posted from now on are not shown. */
void log_hold(bool hold);

#endif
