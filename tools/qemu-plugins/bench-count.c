/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plugin that counts the instructions that a machine executes, and records the count at each
 * pass of one address: "from the first instruction of the kernel to power-off", without support by
 * the guest.
 *
 * Reading a counter is not possible: QEMU 7.2 ends with exit() when the machine powers off, and
 * stopping it at a breakpoint (gdbstub) makes `-icount sleep=off` hang in 7.2 and in 10.0.
 *
 * Arguments: address=0x..., out=FILE. At QEMU's end FILE holds one JSON object:
 *   {"instructions": <executed>, "passed": [<count when the instruction at `address` was about to
 * be executed>, ...]} With last=0x... also, for each of these passes, the number of instructions
 * since the last one at that address, both excluded: "since": [...]. With pause=0x...:0x...:0x...
 * this number excludes a called function: from the instruction at the first address until the next
 * instruction in the range from the second address to, not including, the third. An instruction
 * that traps counts, time asleep in WFI does not.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu-plugin.h"

#define MAX_PASSED 16U

int qemu_plugin_version = PLUGIN_VERSION;

static uint64_t executed;
static uint64_t passed[MAX_PASSED];
static unsigned int passed_count;
static uint64_t address, last;
static uint64_t since; /* instructions since `last`, without the excluded ones */
static uint64_t passed_since[MAX_PASSED];
static uint64_t pause_at, resume_first, resume_behind;
static bool paused;
static const char *out_name;

static void count_one(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    executed++;
}

static void count_since(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    since += !paused;
}

static void count_last(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    since = 0;
}

static void count_pause(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    paused = true;
}

static void count_resume(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    paused = false;
}

static void count_pass(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    if (passed_count < MAX_PASSED) {
        passed_since[passed_count] = since;
        passed[passed_count++] = executed;
    }
}

static void interval_translated(struct qemu_plugin_insn *instruction, uint64_t at)
{
    if (pause_at != 0 && at == pause_at) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_pause, 0, NULL);
    }
    if (at >= resume_first && at < resume_behind) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_resume, 0, NULL);
    }
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, at == last ? count_last : count_since, 0,
                                           NULL);
}

/* Registers the callbacks of the instruction at `at`, in the order in which QEMU calls them. */
static void instruction_translated(struct qemu_plugin_insn *instruction, uint64_t at)
{
    if (at == address) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_pass, 0, NULL);
    }
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_one, 0, NULL);
    if (last != 0) {
        interval_translated(instruction, at);
    }
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);

        instruction_translated(instruction, qemu_plugin_insn_vaddr(instruction));
    }
}

static void write_passes(FILE *out, const char *name, const uint64_t *numbers)
{
    fprintf(out, ", \"%s\": [", name);
    for (unsigned int i = 0; i < passed_count; i++) {
        fprintf(out, "%s%" PRIu64, i == 0 ? "" : ", ", numbers[i]);
    }
    fprintf(out, "]");
}

static void count_end(qemu_plugin_id_t id, void *data)
{
    FILE *out = fopen(out_name, "w");

    (void)id;
    (void)data;
    if (out == NULL) {
        fprintf(stderr, "bench-count: %s cannot be written\n", out_name);
        return;
    }
    fprintf(out, "{\"instructions\": %" PRIu64, executed);
    write_passes(out, "passed", passed);
    if (last != 0) {
        write_passes(out, "since", passed_since);
    }
    fprintf(out, "}\n");
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "address=", 8) == 0) {
            address = strtoull(argv[i] + 8, NULL, 0);
        } else if (strncmp(argv[i], "last=", 5) == 0) {
            last = strtoull(argv[i] + 5, NULL, 0);
        } else if (strncmp(argv[i], "pause=", 6) == 0) {
            char *end;

            pause_at = strtoull(argv[i] + 6, &end, 0);
            resume_first = strtoull(end + 1, &end, 0);
            resume_behind = strtoull(end + 1, NULL, 0);
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            out_name = strdup(argv[i] + 4);
        }
    }
    if (out_name == NULL) {
        fprintf(stderr, "bench-count: expected out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, count_end, NULL);
    return 0;
}
