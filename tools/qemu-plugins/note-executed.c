/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plugin that records which of the hypervisor's instructions were executed, and whether each
 * one was followed by the next one or by another: for a conditional branch, its direction
 * (docs/coverage.md).
 *
 * Arguments: start=0x..., end=0x... of the hypervisor's text, whose first instruction is the
 * hypervisor's entry; out=FILE, to which the plugin appends a line at each first occurrence, so
 * that no data is lost when QEMU is killed:
 *   ADDRESS x     executed
 *   ADDRESS n     followed by the next instruction
 *   ADDRESS j     followed by another one
 * Interrupts are disabled in the hypervisor; instructions of the firmware are ignored.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu-plugin.h"

#define MAX_CPUS 16U
#define STEP 2U /* alignment of instructions */

int qemu_plugin_version = PLUGIN_VERSION;

enum {
    EXECUTED,
    NEXT,
    JUMPED
};
static const char letters[] = "xnj";

struct cpu {
    bool started;
    /* address of the last instruction, and of the one that follows it in memory */
    uint64_t last, next;
};

static struct cpu cpus[MAX_CPUS];
static unsigned char *seen; /* a bit for each letter; index (address - text_start) / STEP */
static uint8_t *sizes;      /* of instructions, in bytes; same index */
static uint64_t text_start, text_end;
static uintptr_t text_host; /* host address of the hypervisor's text in QEMU; 0: not known yet */
static FILE *out;

static void note(uint64_t address, unsigned what)
{
    unsigned char *flags = &seen[(address - text_start) / STEP];

    if ((*flags & 1U << what) == 0) {
        *flags |= (unsigned char)(1U << what);
        fprintf(out, "%" PRIx64 " %c\n", address, letters[what]);
        fflush(out);
    }
}

static void execute(unsigned int id, void *data)
{
    struct cpu *cpu = &cpus[id % MAX_CPUS];
    uint64_t address = text_start + (uintptr_t)data;

    if (cpu->started) {
        note(cpu->last, address == cpu->next ? NEXT : JUMPED);
    }
    note(address, EXECUTED);
    *cpu = (struct cpu){true, address, address + sizes[(uintptr_t)data / STEP]};
}

/* Recognises the hypervisor's text by its host address in QEMU, because guests use the same virtual
 * addresses. */
static void instruction_translated(struct qemu_plugin_insn *instruction)
{
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    uintptr_t host = (uintptr_t)qemu_plugin_insn_haddr(instruction),
              offset = (uintptr_t)(address - text_start);

    if (text_host == 0 && address == text_start) {
        text_host = host;
    }
    if (text_host != 0 && address >= text_start && address < text_end &&
        host - text_host == offset) {
        sizes[offset / STEP] = (uint8_t)qemu_plugin_insn_size(instruction);
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, execute, 0, (void *)offset);
    }
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        instruction_translated(qemu_plugin_tb_get_insn(block, i));
    }
}

static void argument(const char *word)
{
    if (strncmp(word, "start=", 6) == 0) {
        text_start = strtoull(word + 6, NULL, 16);
    } else if (strncmp(word, "end=", 4) == 0) {
        text_end = strtoull(word + 4, NULL, 16);
    } else if (strncmp(word, "out=", 4) == 0) {
        out = fopen(word + 4, "a");
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        argument(argv[i]);
    }
    if (text_end <= text_start || out == NULL) {
        fprintf(stderr, "note-executed: expected start=0x..., end=0x... and a writable out=FILE\n");
        return 1;
    }
    seen = calloc((text_end - text_start) / STEP + 1, sizeof(*seen));
    sizes = calloc((text_end - text_start) / STEP + 1, sizeof(*sizes));
    if (seen == NULL || sizes == NULL) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
