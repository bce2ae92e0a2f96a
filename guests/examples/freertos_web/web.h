/* SPDX-License-Identifier: Apache-2.0 */
/* The web server of the guest freertos_web. */
#ifndef WEB_H
#define WEB_H

/** Serves one connection on port 80 after the other. Call from a task, while lwIP runs. */
_Noreturn void web_serve(void);

#endif
