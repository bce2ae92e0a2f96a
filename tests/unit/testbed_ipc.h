/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and shared memory in the world of world.h. VM i may send where `send_to[i]` says; region 0 is shared by `sharers`. */
#ifndef TESTBED_IPC_H
#define TESTBED_IPC_H

#include "testbed.h"

#define TESTBED_SHARED_GPA UINT64_C(0xc0000000)
#define TESTBED_SHARED_SIZE UINT64_C(0x200000)

/* Gives VM `i` of an image that testbed_image_make() has made the shared region; to be sealed. */
void testbed_image_share(struct testbed_image *image, unsigned i);

/* Boots one VM per CPU, all started, each with `vcpus` VCPUs of which VCPU 0 runs. False if core refused. */
bool testbed_ipc_boot(unsigned nvms, unsigned vcpus, const uint32_t *send_to, const uint32_t *message_irq,
                      uint32_t sharers);

/* A hypercall of VM `vm`'s VCPU 0, which is woken if it sleeps; TESTBED_NO_CALLER if it cannot be. */
long testbed_call(unsigned vm, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* Interrupt lines of the VM's controller that are high. */
uint32_t testbed_lines(unsigned vm);

/* A sender has put its message into the VM's inbox, and sets the line only when the VM loads its memory for its next life,
 * its devices reset. */
void testbed_late_sender(unsigned vm);

#endif
