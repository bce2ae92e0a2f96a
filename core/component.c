/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the functions of all components (component.h), and registers what core itself has as one,
 * such as its hypercalls. Owns component_users, the lists of the components that have the functions
 * which are called often; constant after boot. */
#include "component.h"

#include "hypercall.h"

static const struct hcall_entry calls[] = {
    {HCALL_INFO_GET_ID, info_get_id, NULL},
    {HCALL_WATCHDOG_PET, watchdog_pet, NULL},
    {HCALL_INFO_GET_VERSION, info_get_version, NULL},
    {0, NULL, NULL},
};

COMPONENT(core, .hypercalls = calls);

struct component_users component_users;

/* Appends `c` to a list if it has the function. */
static void add_user(const struct component **list, const struct component *c, bool has)
{
    unsigned n = 0;

    while (list[n] != NULL) {
        n++;
    }
    list[n] = has ? c : NULL;
}

void components_boot_tree(ulong tree, const struct sysimage_header *image)
{
    FOR_EACH_COMPONENT(c)
    {
        if (c->boot_tree != NULL) {
            c->boot_tree(tree, image);
        }
    }
}

bool components_boot_seed(uint8_t *tree, uint32_t size)
{
    bool done = false;

    FOR_EACH_COMPONENT(c)
    {
        if (c->boot_seed != NULL && !done) {
            done = c->boot_seed(tree, size);
        }
    }
    return done;
}

bool components_make_key(uint32_t *key, uint32_t number)
{
    bool done = false;

    FOR_EACH_COMPONENT(c)
    {
        if (c->make_key != NULL && !done) {
            done = c->make_key(key, number);
        }
    }
    return done;
}

const char *components_boot(void)
{
    const char *wrong = NULL;

    component_users = (struct component_users){{NULL}, {NULL}, {NULL}};
    FOR_EACH_COMPONENT(c)
    {
        add_user(component_users.vcpu_start, c, c->vcpu_start != NULL);
        add_user(component_users.vcpu_stop, c, c->vcpu_stop != NULL);
        add_user(component_users.write_fault, c, c->write_fault != NULL);
        if (c->boot != NULL && wrong == NULL) {
            wrong = c->boot();
        }
    }
    return wrong;
}

void components_vm_start(struct vm *vm)
{
    FOR_EACH_COMPONENT(c)
    {
        if (c->vm_start != NULL) {
            c->vm_start(vm);
        }
    }
}

void components_vm_loaded(const struct vm *vm, unsigned step)
{
    FOR_EACH_COMPONENT(c)
    {
        if (c->vm_loaded != NULL) {
            c->vm_loaded(vm, step);
        }
    }
}

void components_vm_reset(struct vm *vm)
{
    FOR_EACH_COMPONENT(c)
    {
        if (c->vm_reset != NULL) {
            c->vm_reset(vm);
        }
    }
}

bool components_vm_stop(struct vm *vm)
{
    bool done = true;

    FOR_EACH_COMPONENT(c)
    {
        if (c->vm_stop != NULL) {
            done = c->vm_stop(vm) && done;
        }
    }
    return done;
}

void components_cpu_sync(void)
{
    FOR_EACH_COMPONENT(c)
    {
        if (c->cpu_sync != NULL) {
            c->cpu_sync();
        }
    }
}

enum resource_answer resource_bound(const struct vm *vm, ulong number, ticks_t job,
                                    struct resource_wait *wait)
{
    enum resource_answer answer = RESOURCE_UNKNOWN;

    FOR_EACH_COMPONENT(c)
    {
        if (c->resource_bound != NULL && answer == RESOURCE_UNKNOWN) {
            answer = c->resource_bound(vm, number, job, wait);
        }
    }
    return answer;
}
