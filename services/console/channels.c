/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys for a program at the other end of the console, after Ctrl-T and
 * CONSOLE_MARK:
 *   +        unfiltered output of all VMs, with marks (CONSOLE_CHANNELS)
 *   -        line by line again
 *   A .. P   typed characters go to that VM: A is the first
 *   .        typed characters go to the VM with the keyboard
 */
#include "console_parts.h"
#include "system.h"

bool channels_typed(char c)
{
    unsigned vm = (unsigned)(unsigned char)c - 'A';

    if (c == '+') {
        console_set_mode(CONSOLE_CHANNELS);
    } else if (c == '-') {
        console_set_mode(CONSOLE_LINES);
        console_log("keyboard: %s", console_focus()->config->name);
    } else if (c == '.') {
        console_type_to(NULL);
    } else if (vm < hyp.nvms) {
        console_type_to(&hyp.vms[vm]);
    }
    return false;
}
