/* SPDX-License-Identifier: Apache-2.0 */
/* The one debugger's session, as the files of debug know it. */
#ifndef SESSION_H
#define SESSION_H

#include "debug_abi.h"

#define DEBUG_MORE 0xff /* never sent */

/* Does what a request of `size` bytes of data asks for; fills in the answer's error and data, and returns the size of
 * the data. Error DEBUG_MORE: it is to be called again for the rest. On the CPU that has the console. */
unsigned session_request(const struct debug_request *request, unsigned size, struct debug_answer *answer);

/* Tells the tool to look at the status. */
void frames_event(void);

/* Begins a session's frames: what follows is marked with `nonce`. */
void frames_begin(uint64_t nonce);

#endif
