/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for buffers of accelerators and shared devices, in VMs that have a part for them
 * (`dma-memory`). */
#ifndef GUEST_DMA_H
#define GUEST_DMA_H

#include <stddef.h>

/** Start and size of this memory; NULL: the devices access all memory of the VM. */
void *dma_memory(const void *fdt, size_t *bytes);

#endif
