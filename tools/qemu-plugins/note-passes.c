/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A QEMU plugin that writes a line for each pass of some instructions of the hypervisor, and for
 * each of the hypervisor's accesses to a device: the number of instructions that the hart has
 * executed before it, and what happened. The differences are the costs of the phases of a path
 * through the hypervisor and its guests. A hart that sleeps in WFI executes nothing.
 *
 * Arguments, numbers in hexadecimal: start=, the first instruction of the hypervisor's text; place=
 * for each instruction to note; device= and size=, the address range of a device; out=FILE. A line
 * of OUT: "<executed> pass|load|store <address>". One hart.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu-plugin.h"

#define MAX_PLACES 32U

int qemu_plugin_version = PLUGIN_VERSION;

static uint64_t executed;
static uint64_t places[MAX_PLACES];
static unsigned int place_count;
static uint64_t text_start, device, device_size;
static uintptr_t text_host; /* where QEMU keeps the hypervisor's text */
static FILE *out;

static void count(unsigned int cpu, void *data)
{
    (void)cpu;
    (void)data;
    executed++;
}

static void note(unsigned int cpu, void *data)
{
    (void)cpu;
    fprintf(out, "%" PRIu64 " pass %" PRIx64 "\n", executed, *(const uint64_t *)data);
}

/* The hypervisor maps devices at their physical addresses. */
static void note_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)cpu;
    (void)data;
    if (address - device < device_size) {
        fprintf(out, "%" PRIu64 " %s %" PRIx64 "\n", executed,
                qemu_plugin_mem_is_store(info) ? "store" : "load", address);
    }
}

/* The place at `address`, or NULL. */
static uint64_t *place_at(uint64_t address)
{
    for (unsigned int i = 0; i < place_count; i++) {
        if (places[i] == address) {
            return &places[i];
        }
    }
    return NULL;
}

/* Recognises the hypervisor's text by its host address in QEMU, because guests use the same virtual
 * addresses. */
static void instruction_translated(struct qemu_plugin_insn *instruction)
{
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    uintptr_t host = (uintptr_t)qemu_plugin_insn_haddr(instruction);
    uint64_t *place = place_at(address);

    if (text_host == 0 && address == text_start) {
        text_host = host;
    }
    if (text_host != 0 && host - text_host == (uintptr_t)(address - text_start)) {
        if (place != NULL) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, note, 0, place);
        }
        qemu_plugin_register_vcpu_mem_cb(instruction, note_access, 0, PLUGIN_MEM_ALL, NULL);
    }
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, count, 0, NULL);
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        instruction_translated(qemu_plugin_tb_get_insn(block, i));
    }
}

static void end(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    fclose(out);
}

static void argument(const char *word)
{
    if (strncmp(word, "start=", 6) == 0) {
        text_start = strtoull(word + 6, NULL, 16);
    } else if (strncmp(word, "place=", 6) == 0 && place_count < MAX_PLACES) {
        places[place_count++] = strtoull(word + 6, NULL, 16);
    } else if (strncmp(word, "device=", 7) == 0) {
        device = strtoull(word + 7, NULL, 16);
    } else if (strncmp(word, "size=", 5) == 0) {
        device_size = strtoull(word + 5, NULL, 16);
    } else if (strncmp(word, "out=", 4) == 0) {
        out = fopen(word + 4, "w");
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        argument(argv[i]);
    }
    if (text_start == 0 || out == NULL) {
        fprintf(stderr, "note-passes: expected start= and a writable out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    qemu_plugin_register_atexit_cb(id, end, NULL);
    return 0;
}
