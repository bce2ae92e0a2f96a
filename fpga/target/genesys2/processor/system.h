/* SPDX-License-Identifier: Apache-2.0 */
/* What LiteX's boot program needs to know about the processor's caches. */
#ifndef SYSTEM_H
#define SYSTEM_H

void flush_l2_cache(void);
void busy_wait(unsigned int ms);
void busy_wait_us(unsigned int us);

static inline void flush_cpu_icache(void)
{
    __asm__ volatile("fence.i" ::: "memory");
}

/* LiteX's devices write DRAM beside the data cache. It is write-through, so switching it off and on
 * loses nothing and discards every line. */
static inline void flush_cpu_dcache(void)
{
    __asm__ volatile("fence\n\tcsrwi %0, 0\n\tcsrwi %0, 1\n\tfence" ::"i"(TESSERA_DATA_CACHE)
                     : "memory");
}

#endif
