/* SPDX-License-Identifier: Apache-2.0 */
/* Operator commands: keys after the console's escape key, and the list of VMs. Owns the list in
 * progress, which only the CPU that takes the UART's interrupts uses. */
#include "arch.h"
#include "component.h"
#include "console_parts.h"
#include "sched.h"
#include "system.h"
#include "vm.h"

/* Resets the terminal after a VM had it alone: cancels a sequence, leaves the alternate screen,
 * resets scroll region, origin mode, attributes, insert mode, application keys and reports of
 * mouse, focus and pasting; enables line wrap, cursor and ASCII in UTF-8; moves to the last
 * line. */
#define KEY_ALONE 'a'
#define TERMINAL_RESTORE                                                                           \
    "\030\033[?1049l\033[?1;6;9;1000;1002;1003;1004;1005;1006;1015;2004l\033[r\033[0m\033[4l\033[" \
    "?7;25h\033>"                                                                                  \
    "\033(B\017\033%G\033[999H\r\n"

#define KEY_VMS 'l'
#define LISTS_LATER 8U /* more than there are lists */

/* The list of VMs in progress, with CPU time since the last list in per mille of one CPU. One line
 * per step: computing all of them at once would delay interrupts. */
static struct {
    bool at_work;            /* a list is being printed */
    char key;                /* of the list in progress */
    char later[LISTS_LATER]; /* keys of the lists to be printed next, each once */
    unsigned waiting;        /* valid ones in `later` */
    /* index of the next VM in the list, 0 for the first; position in a component's list */
    unsigned next;
    const struct console_list *list; /* of a component, or NULL: of VMs */
    ticks_t now, before;             /* when this list of VMs and the last one were begun */
    ticks_t used[SYSIMAGE_MAX_VMS];  /* CPU time of each VM at the last list */
} listed; /* owner: this file; only one CPU takes the console's interrupts */

static ticks_t vm_runtime(const struct vm *vm)
{
    ticks_t sum = 0;

    spin_lock(&sched_lock); /* runtime and since change together */
    for (const struct vcpu *v = vm->vcpus; v < &vm->vcpus[vm->total]; v++) {
        sum += v->runtime;
    }
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        const struct vcpu *v = cpu_slice_owner(cpu_get(i));

        sum += v != NULL && v->vm == vm ? arch_time() - cpu_get(i)->since : 0;
    }
    spin_unlock(&sched_lock);
    return sum;
}

static uint64_t vm_ram(const struct vm *vm)
{
    uint64_t ram = 0;

    for (unsigned r = 0; r < vm->memmap.count; r++) {
        ram += vm->memmap.regions[r].kind == SYSIMAGE_REGION_RAM ? vm->memmap.regions[r].size : 0;
    }
    return ram;
}

#define SMALL_RAM (UINT64_C(4) << 20) /* below this, in KB, of at most four digits */
#define VM_LINE(unit) "%c %2u %-9s %-9s %u/%u  %4lu.%lu%%  %4lu " unit "  %6u  %u %s"

static void list_vm(const struct vm *vm)
{
    ticks_t used = vm_runtime(vm);
    uint64_t ram = vm_ram(vm);
    bool small = ram < SMALL_RAM;
    ulong permille =
        (ulong)((used - listed.used[vm->id]) * 1000U / (listed.now - listed.before + 1));

    listed.used[vm->id] = used;
    console_log(small ? VM_LINE("KB") : VM_LINE("MB"), vm == console_focus() ? '*' : ' ',
                vm->id + 1, vm->config->name, vm_state_name(vm), vm->on, vm->total, permille / 10U,
                permille % 10U, (ulong)(small ? ram >> 10 : ram >> 20), vm->starts, vm->restarts,
                vm_reason_name(vm->restarted));
}

static bool has_list(const struct component *c)
{
    return c->console != NULL && c->console->list.line != NULL;
}

/* The list that a component has for the key, or NULL. */
static const struct console_list *list_of(char key)
{
    FOR_EACH_COMPONENT(c)
    {
        if (has_list(c) && c->console->list.key == key) {
            return &c->console->list;
        }
    }
    return NULL;
}

static void list_begin(char key)
{
    listed.key = key;
    listed.list = list_of(key);
    listed.next = 0;
    listed.at_work = true;
    if (listed.list == NULL) {
        console_log("  nr name      state     vcpus   cpu   memory  starts  restarts");
        listed.before = listed.now;
        listed.now = arch_time();
    }
}

/* Remembers a list that is requested while another one is printed. */
static void list_later(char key)
{
    bool known = key == listed.key;

    for (unsigned i = 0; i < listed.waiting; i++) {
        known |= listed.later[i] == key;
    }
    if (!known && listed.waiting < LISTS_LATER) {
        listed.later[listed.waiting++] = key;
    }
}

/* Ends the list in progress and begins the next one. */
static void list_end(void)
{
    char key = listed.later[0];

    listed.at_work = false;
    if (listed.waiting == 0) {
        return;
    }
    listed.waiting--;
    for (unsigned i = 0; i < listed.waiting; i++) {
        listed.later[i] = listed.later[i + 1U];
    }
    list_begin(key);
}

/* Prints a list. False if the key is not that of a list. */
static bool keys_list(char key)
{
    if (key != KEY_VMS && list_of(key) == NULL) {
        return false;
    }
    if (listed.at_work) {
        list_later(key);
    } else {
        list_begin(key);
    }
    return true;
}

static bool keys_list_step(unsigned waiting)
{
    if (waiting > 1) {
        return false;
    }
    if (listed.list != NULL) {
        listed.next = listed.list->line(listed.next);
    } else {
        list_vm(&hyp.vms[listed.next]);
        listed.next = (listed.next + 1U) % hyp.nvms;
    }
    if (listed.next == 0) {
        list_end();
    }
    return true;
}

static void keys_focus(struct vm *vm)
{
    console_set_focus(vm);
    console_log("keyboard: %s", vm->config->name);
}

static void keys_start(struct vm *vm)
{
    if (vm_start(vm)) {
        console_log("%s starts", vm->config->name);
    } else {
        console_log("%s is %s already", vm->config->name, vm_state_name(vm));
    }
}

static void keys_stop(struct vm *vm, bool restart)
{
    if (vm_stop(vm, VM_REASON_CONSOLE, restart)) {
        return; /* reported once it has stopped */
    }
    if (restart) {
        keys_start(vm);
    } else {
        console_log("%s is %s already", vm->config->name, vm_state_name(vm));
    }
}

/* For a terminal. A program on the host instead requests all VMs' bytes and shows those of one. */
static void keys_alone(const struct vm *vm)
{
    console_log("%s has the terminal alone; Ctrl-T a returns", vm->config->name);
    console_set_mode(CONSOLE_ALONE);
}

/* Returns the terminal to all VMs. False if no VM had it alone. */
static bool keys_shared(void)
{
    ulong lost = console_end_alone(TERMINAL_RESTORE, sizeof(TERMINAL_RESTORE) - 1U);

    if (lost == CONSOLE_NOT_ALONE) {
        return false;
    }
    console_log("keyboard: %s; %lu characters of other VMs are lost", console_focus()->config->name,
                lost);
    return true;
}

static void keys_help(void)
{
    console_log("Ctrl-T then  h  this help          l  list VMs          q  quit");
    console_log("             1 to 9, n  give the keyboard to that VM, the next VM");
    console_log("             s  stop    g  start   r  restart the VM that has the keyboard (%s)",
                console_focus()->config->name);
    console_log("             a  give it the terminal alone, and back");
    FOR_EACH_COMPONENT(c)
    {
        if (has_list(c)) {
            console_log("             %c  %s", c->console->list.key, c->console->list.what);
        }
    }
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

/* Keys for the VM with the keyboard. False if `key` is none of them. */
static bool keys_about(struct vm *vm, char key)
{
    switch (key) {
    case 's':
        keys_stop(vm, false);
        return true;
    case 'r':
        keys_stop(vm, true);
        return true;
    case 'g':
        keys_start(vm);
        return true;
    case KEY_ALONE:
        keys_alone(vm);
        return true;
    default:
        return false;
    }
}

static void keys_command(char key)
{
    struct vm *vm = console_focus();

    if ((keys_shared() && key == KEY_ALONE) || keys_about(vm, key)) {
        return;
    }
    switch (key) {
    case 'n':
        keys_focus(&hyp.vms[(vm->id + 1) % hyp.nvms]);
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
    } else if (!keys_list(key)) {
        keys_help();
    }
}

const struct console_part keys_part = {
    .key = {CONSOLE_MARK, channels_typed},
    .commands = {keys_command, keys_list_step, &listed.at_work},
};
