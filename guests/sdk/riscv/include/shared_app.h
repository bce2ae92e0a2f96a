/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RT app (rt.h) that uses a shared device, with its times from the kernel's arguments:
 * `period=`, `budget=`, `deadline=` us. These functions are the steps of its start. A step that
 * fails prints a line with the guest's name and the reason.
 */
#ifndef GUEST_SHARED_APP_H
#define GUEST_SHARED_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "rt.h"
#include "shared.h"

#define SHARED_APP_STACK 4096U

/** Has the app's stack, so it must stay where it is once the app is created. `task`, `guest` and
 * the times are the caller's. */
struct shared_app {
    uint8_t stack[SHARED_APP_STACK] __attribute__((aligned(16)));
    struct rt_task task;
    const char *guest;                          /* of the lines that are printed */
    uint32_t period_us, budget_us, deadline_us; /* if the kernel's arguments have no such words */
    unsigned long id;
    unsigned long longest_us; /* of a request to the declared device, beside all other VMs */
};

/** Creates the app, which is not launched yet. */
bool shared_app_create(struct shared_app *app, const void *fdt);

/** Declares that each job has one request to `device`, which takes at most `us` while no other VM
 * uses the device (rt_use_device()). */
bool shared_app_declare(struct shared_app *app, enum shared_number device, uint32_t us);

/** Launches the app; its first release is now. */
bool shared_app_launch(const struct shared_app *app);

#endif
