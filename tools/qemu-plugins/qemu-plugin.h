/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of QEMU's plugin interface that our plugins use. Debian's package contains no header, so
 * it is declared here. QEMU checks the version of the interface: PLUGIN_VERSION is set on the
 * compiler's command line (tools/tessera/bench/count.py).
 */
#ifndef TESSERA_QEMU_PLUGIN_H
#define TESSERA_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*translated)(qemu_plugin_id_t id,
                                                              struct qemu_plugin_tb *block));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            void (*execute)(unsigned int cpu, void *data),
                                            int flags, void *data);
/* The accesses for which QEMU calls back, and the kind of an access. */
#define PLUGIN_MEM_WRITES 2
#define PLUGIN_MEM_ALL 3
typedef uint32_t qemu_plugin_meminfo_t;
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
                                      void (*access)(unsigned int cpu, qemu_plugin_meminfo_t info,
                                                     uint64_t address, void *data),
                                      int flags, int which, void *data);

/* The instruction's word; the upper half of a compressed one is 0. Version 3 of the interface
 * changed its type. */
#if PLUGIN_VERSION >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction, void *word, size_t size);

static inline uint32_t plugin_word(const struct qemu_plugin_insn *instruction)
{
    uint32_t word = 0;

    qemu_plugin_insn_data(instruction, &word, sizeof(word));
    return (word & 3U) == 3U ? word : word & 0xffffU;
}
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

static inline uint32_t plugin_word(const struct qemu_plugin_insn *instruction)
{
    uint32_t word = 0;

    memcpy(&word, qemu_plugin_insn_data(instruction),
           qemu_plugin_insn_size(instruction) == 4 ? 4 : 2);
    return word;
}
#endif

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    void (*end)(qemu_plugin_id_t id, void *data), void *data);

__attribute__((visibility("default"))) extern int qemu_plugin_version;
__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

#endif
