/* SPDX-License-Identifier: Apache-2.0 */
/* The debugger's session: interfaces between the files of debug. frames.c receives, session.c
 * executes, answers.c sends. */
#ifndef SESSION_H
#define SESSION_H

#include "debug_abi.h"

#define DEBUG_MORE 0xff /* for internal use, never sent */

/* Executes a request with `size` bytes of data. Sets the answer's error and data, and returns the
 * data's size. Error DEBUG_MORE: call again for the rest. On the console's CPU only. */
unsigned session_request(const struct debug_request *request, unsigned size,
                         struct debug_answer *answer);

/* --- answers.c --- */

#define DEBUG_CHECK_SIZE 4U
#define DEBUG_MARK_SIZE 3U
#define DEBUG_NONCE_SIZE 8U
#define ANSWER_FRAME_MAX                                                                          \
    (DEBUG_MARK_SIZE + 2U * (DEBUG_NONCE_SIZE + sizeof(struct debug_answer) + DEBUG_CHECK_SIZE) + \
     2U)

/* Starts a session: its frames carry `nonce`. */
void answers_begin(uint64_t nonce);

/* Writes the frame of an answer of `size` bytes to `text`, of ANSWER_FRAME_MAX characters; returns
 * the frame's length. */
unsigned answer_frame(char *text, const struct debug_answer *answer, unsigned size);

/* Sends a frame without a request. DEBUG_OK: the tool then reads the status. */
void answer_event(enum debug_error error);

/* --- frames.c --- */

extern const struct console_part frames_part;

#endif
