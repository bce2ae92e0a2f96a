/* SPDX-License-Identifier: Apache-2.0 */
/* The debugger's session: interfaces between the files of debug. */
#ifndef SESSION_H
#define SESSION_H

#include "debug_abi.h"

#define DEBUG_MORE 0xff /* for internal use, never sent */

/* Executes a request with `size` bytes of data. Sets the answer's error and data, and returns the
 * data's size. Error DEBUG_MORE: call again for the rest. On the console's CPU only. */
unsigned session_request(const struct debug_request *request, unsigned size,
                         struct debug_answer *answer);

/* Notifies the tool, which then reads the status. */
void frames_event(void);

/* Starts a session: its frames carry `nonce`. */
void frames_begin(uint64_t nonce);

/* --- frames.c --- */

extern const struct console_part frames_part;

#endif
