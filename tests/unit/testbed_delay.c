/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed_delay.h"

#include <string.h>

#include "host.h"
#include "resource.h"
#include "system.h"
#include "vdm.h"

#define DELAY_ACCELS 64U

static struct accel delay_accels[DELAY_ACCELS]; /* owner: testbed_delay_set() */

static void set_streams(const struct vdm_image *image)
{
    const struct vdm_image_bitstream *b = vdm_table(image->bitstreams_offset);

    for (unsigned i = 0; i < image->nbitstreams; i++) {
        vdm.streams[b[i].device][b[i].region] = &b[i];
        vdm.usable[b[i].device] |= (uint8_t)(1U << b[i].region);
    }
}

static void set_clients(const struct vdm_image *image)
{
    const struct vdm_image_client *c = vdm_table(image->clients_offset);

    for (unsigned i = 0; i < image->nclients; i++) {
        struct vm *vm = &hyp.vms[c[i].vm];

        vdm.clients[i] = (struct vdm_client){.vm = vm, .config = &c[i], .number = i};
        vm->vcpus[0].data[COMPONENT_ACCEL] = &vdm.clients[i];
    }
}

void testbed_delay_set(const void *section)
{
    const struct vdm_image *image = section;
    const struct vdm_image_accel *rows;

    memset(&vdm, 0, sizeof(vdm));
    vdm.image = image;
    vdm.nregions = image->regions;
    set_streams(image);
    set_clients(image);
    rows = vdm_table(image->accels_offset);
    for (unsigned i = 0; i < image->naccels && i < DELAY_ACCELS; i++) {
        struct vdm_client *c = &vdm.clients[rows[i].client];

        delay_accels[i] = (struct accel){.client = c,
                                         .config = &rows[i],
                                         .present = true,
                                         .priority = rows[i].priority,
                                         .model = rows[i].model};
        c->accels[rows[i].device] = &delay_accels[i];
    }
    vdm_delay_init();
}

unsigned testbed_delay_bound(unsigned vm, unsigned device, uint64_t *longest, uint64_t *kept)
{
    struct resource_wait wait = {0};
    enum resource_answer answer = resource_bound(&hyp.vms[vm], device, 0, &wait);

    *longest = wait.longest;
    *kept = wait.kept;
    return answer;
}
