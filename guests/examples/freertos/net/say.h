/* SPDX-License-Identifier: Apache-2.0 */
/* Console output of the tasks in guests with FreeRTOS and lwIP. */
#ifndef SAY_H
#define SAY_H

/** Prints a line that no other task's output divides. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
