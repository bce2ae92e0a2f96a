/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys after the console's escape key do. */
#include "arch.h"
#include "console.h"
#include "sched.h"
#include "system.h"
#include "vm.h"

/* CPU time of the VM since the last list, in per mille of one CPU. */
static struct {
    ticks_t when;
    ticks_t used[SYSIMAGE_MAX_VMS];
} listed; /* owner: keys_list(); the console's interrupt comes to one CPU only */

static ticks_t vm_runtime(const struct vm *vm)
{
    ticks_t sum = 0;

    spin_lock(&sched_lock); /* runtime and since move together */
    for (unsigned i = 0; i < vm->total; i++) {
        const struct vcpu *v = &vm->vcpus[i];

        sum += v->runtime + (v->state == VCPU_RUNNING ? arch_time() - v->cpu->since : 0);
    }
    spin_unlock(&sched_lock);
    return sum;
}

static void keys_list(void)
{
    ticks_t now = arch_time();
    ticks_t span = now - listed.when + 1;

    console_log("  nr name      state     vcpus   cpu   memory  starts  restarts");
    for (unsigned i = 0; i < hyp.nvms; i++) {
        struct vm *vm = &hyp.vms[i];
        ticks_t used = vm_runtime(vm);
        ulong permille = (ulong)((used - listed.used[i]) * 1000U / span);
        uint64_t ram = 0;

        for (unsigned r = 0; r < vm->memmap.count; r++) {
            ram += vm->memmap.regions[r].kind == SYSIMAGE_REGION_RAM ? vm->memmap.regions[r].size : 0;
        }
        listed.used[i] = used;
        console_log("%c %2u %-9s %-9s %u/%u  %4lu.%lu%%  %4lu MB  %6u  %u%s%s", vm == console_focus() ? '*' : ' ',
                    i + 1, vm->config->name, vm_state_name(vm), vm->on, vm->nvcpus, permille / 10U, permille % 10U,
                    (ulong)(ram >> 20), vm->starts, vm->restarts, vm->restarts != 0 ? ", last " : "",
                    vm_reason_name(vm->restarted));
    }
    listed.when = now;
}

static void keys_focus(struct vm *vm)
{
    console_set_focus(vm);
    console_log("keyboard: %s", vm->config->name);
}

static void keys_stop(struct vm *vm, bool restart)
{
    if (vm_stop(vm, VM_REASON_CONSOLE, restart)) {
        vm_conclude(vm); /* unless some CPU still has to leave it */
    } else if (restart && vm_start(vm)) {
        console_log("%s starts", vm->config->name);
    } else {
        console_log("%s is %s already", vm->config->name, vm_state_name(vm));
    }
}

static void keys_start(struct vm *vm)
{
    bool started = vm_start(vm);

    console_log(started ? "%s starts" : "%s is not stopped", vm->config->name);
}

static void keys_help(void)
{
    console_log("Ctrl-T then  h  this help          l  list VMs          q  quit");
    console_log("             1 to 9, n  give the keyboard to that VM, the next VM");
    console_log("             s  stop    g  start   r  restart the VM that has the keyboard (%s)",
                console_focus()->config->name);
    console_log("             Ctrl-T  send Ctrl-T itself");
}

static void keys_number(unsigned number)
{
    if (number >= 1 && number <= hyp.nvms) {
        keys_focus(&hyp.vms[number - 1]);
    } else {
        console_log("there is no VM %u; this system has 1 to %u", number, hyp.nvms);
    }
}

void console_command(char key)
{
    struct vm *vm = console_focus();

    switch (key) {
    case 'n':
        keys_focus(&hyp.vms[(vm->id + 1) % hyp.nvms]);
        return;
    case 'l':
        keys_list();
        return;
    case 's':
        keys_stop(vm, false);
        return;
    case 'r':
        keys_stop(vm, true);
        return;
    case 'g':
        keys_start(vm);
        return;
    case 'q':
        console_log("bye");
        console_drain();
        arch_shutdown(false);
    default:
        break;
    }
    if (key >= '0' && key <= '9') {
        keys_number((unsigned)(key - '0'));
    } else {
        keys_help();
    }
}
