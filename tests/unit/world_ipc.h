/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and shared memory in the world of world.h. VM i may send where `send_to[i]` says; region 0 is shared by `sharers`. */
#ifndef WORLD_IPC_H
#define WORLD_IPC_H

#include "world.h"

#define WORLD_SHARED_GPA UINT64_C(0xc0000000)
#define WORLD_SHARED_SIZE UINT64_C(0x200000)

/* Gives VM `i` of an image that world_image_make() has made the shared region; to be sealed. */
void world_image_share(struct world_image *image, unsigned i);

/* Boots one VM per CPU, all started, each with `vcpus` VCPUs of which VCPU 0 runs. False if core refused. */
bool world_ipc_boot(unsigned nvms, unsigned vcpus, const uint32_t *send_to, const uint32_t *message_irq,
                    uint32_t sharers);

/* A hypercall of VM `vm`'s VCPU 0, which is woken if it sleeps; WORLD_NO_CALLER if it cannot be. */
long world_call(unsigned vm, ulong number, ulong a0, ulong a1, ulong a2, uint64_t *value);

/* Interrupt lines of the VM's controller that are high. */
uint32_t world_lines(unsigned vm);

/* A sender has put its message into the VM's inbox, and sets the line only when the VM loads its memory for its next life,
 * its devices reset. */
void world_late_sender(unsigned vm);

#endif
