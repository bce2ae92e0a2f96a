/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a guest's store again: what the queues of virtual devices need, whose work ends with the
 * store that began it. */
#include "arch_virtio.h"

#include "internal.h"

#define INSN_LONG 3U

/* exit_mmio_store() adds the instruction's length to sepc afterwards. The instruction is fetched
 * once more, because the common case, a store that is done, then costs nothing. */
void arch_store_again(void)
{
    ulong pc = csr_read(CSR_SEPC);
    uint32_t insn;

    if (guest_fetch(pc, &insn)) {
        csr_write(CSR_SEPC, pc - ((insn & INSN_LONG) == INSN_LONG ? 4U : 2U));
    }
}
