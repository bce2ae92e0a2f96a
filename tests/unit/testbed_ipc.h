/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and shared memory in the testbed. */
#ifndef TESTBED_IPC_H
#define TESTBED_IPC_H

#include "testbed.h"

#define TESTBED_SHARED_GPA UINT64_C(0xc0000000)
#define TESTBED_SHARED_SIZE UINT64_C(0x200000)

/* Gives VM `i` of an image of testbed_image_make() the shared region; the caller must seal the
 * image. */
void testbed_image_share(struct testbed_image *image, unsigned i);

/* Boots and starts one VM per CPU, each with `vcpus` VCPUs of which VCPU 0 runs. VM i may send to
 * the VMs in the mask send_to[i]; the VMs in the mask `sharers` share region 0. False if core
 * refuses the image. */
bool testbed_ipc_boot(unsigned nvms, unsigned vcpus, const uint32_t *send_to,
                      const uint32_t *message_irq, uint32_t sharers);

/* A hypercall of VCPU 0 of VM `vm`, which is woken if it is blocked; TESTBED_NO_CALLER if it cannot
 * run. */
long testbed_call(unsigned vm, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* The asserted lines of the VM's interrupt controller. */
uint32_t testbed_lines(unsigned vm);

/* A sender that has queued its message raises the line only while the VM is being reloaded, after
 * its devices were reset. */
void testbed_late_sender(unsigned vm);
bool testbed_late_sender_came(void);

#endif
