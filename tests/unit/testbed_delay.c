/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the state of the manager of accelerators from a section of an image, and returns its bounds
 * (testbed_delay.h). Owns the accelerators. */
#include "testbed_delay.h"

#include <string.h>

#include "accel.h"
#include "host.h"
#include "resource.h"
#include "system.h"

#define DELAY_ACCELS 64U

static struct accel delay_accels[DELAY_ACCELS]; /* owner: testbed_delay_set() */

static void set_streams(const struct accel_image *image)
{
    const struct accel_image_bitstream *b = accel_table(image->bitstreams_offset);

    for (unsigned i = 0; i < image->nbitstreams; i++) {
        accels.streams[b[i].device][b[i].region] = &b[i];
        accels.usable[b[i].device] |= (uint8_t)(1U << b[i].region);
    }
}

static void set_clients(const struct accel_image *image)
{
    const struct accel_image_client *c = accel_table(image->clients_offset);

    for (unsigned i = 0; i < image->nclients; i++) {
        struct vm *vm = &hyp.vms[c[i].vm];

        accels.clients[i] = (struct accel_vm){.vm = vm, .config = &c[i], .number = i};
        vm->vcpus[0].data[COMPONENT_ACCEL] = &accels.clients[i];
    }
}

void testbed_delay_set(const void *section)
{
    const struct accel_image *image = section;
    const struct accel_image_accel *rows;

    memset(&accels, 0, sizeof(accels));
    accels.image = image;
    accels.nregions = image->regions;
    set_streams(image);
    set_clients(image);
    rows = accel_table(image->accels_offset);
    for (unsigned i = 0; i < image->naccels && i < DELAY_ACCELS; i++) {
        struct accel_vm *c = &accels.clients[rows[i].client];

        delay_accels[i] = (struct accel){.client = c,
                                         .config = &rows[i],
                                         .present = true,
                                         .priority = rows[i].priority,
                                         .model = rows[i].model};
        c->accels[rows[i].device] = &delay_accels[i];
    }
    accel_delay_init();
}

unsigned testbed_delay_bound(unsigned vm, unsigned device, uint64_t job, uint64_t *longest,
                             uint64_t *kept)
{
    struct resource_wait wait = {0};
    enum resource_answer answer = resource_bound(&hyp.vms[vm], device, job, &wait);

    *longest = wait.longest;
    *kept = wait.kept;
    return answer;
}
