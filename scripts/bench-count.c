/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of QEMU that counts the instructions a machine executes, and notes the count each time it comes by one
 * address: "from the first instruction of the kernel to power-off" without asking anybody inside.
 *
 * Why not read a counter: QEMU 7.2 ends with exit() when the machine is switched off, so nothing can be asked then; and
 * stopping it at a breakpoint (gdbstub) makes `-icount sleep=off` hang in 7.2 and in 10.0.
 *
 * Arguments: address=0x..., out=FILE. At QEMU's end FILE holds one JSON object:
 *   {"instructions": <executed>, "passed": [<count when the instruction at `address` was about to be executed>, ...]}
 * An instruction that traps counts, time asleep in WFI does not.
 *
 * QEMU ships no header for plugins in Debian's package, so what is used of the interface is declared here. It carries a
 * number, which QEMU checks: PLUGIN_VERSION is given on the compiler's command line (scripts/tessera/bench_count.py).
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PASSED 16U

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *block));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            void (*execute)(unsigned int cpu, void *data), int flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*end)(qemu_plugin_id_t id, void *data), void *data);

__attribute__((visibility("default"))) extern int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info,
                                                               int argc, char **argv);

int qemu_plugin_version = PLUGIN_VERSION;

static uint64_t executed;
static uint64_t passed[MAX_PASSED];
static unsigned int passed_count;
static uint64_t address;
static const char *out_name;

static void count_one(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    executed++;
}

static void count_pass(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    if (passed_count < MAX_PASSED) {
        passed[passed_count++] = executed;
    }
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);

        if (qemu_plugin_insn_vaddr(instruction) == address) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_pass, 0, NULL);
        }
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_one, 0, NULL);
    }
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
    fprintf(out, "{\"instructions\": %" PRIu64 ", \"passed\": [", executed);
    for (unsigned int i = 0; i < passed_count; i++) {
        fprintf(out, "%s%" PRIu64, i == 0 ? "" : ", ", passed[i]);
    }
    fprintf(out, "]}\n");
    fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "address=", 8) == 0) {
            address = strtoull(argv[i] + 8, NULL, 0);
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            out_name = strdup(argv[i] + 4);
        }
    }
    if (out_name == NULL) {
        fprintf(stderr, "bench-count: wants out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, count_end, NULL);
    return 0;
}
