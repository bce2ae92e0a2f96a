// SPDX-License-Identifier: Apache-2.0
// The functions that cosim_memory.sv calls, of every Verilated class.
#include "block.h"

#include "svdpi.h"

extern "C" unsigned cosim_read(unsigned long long address, unsigned long long *data);
extern "C" unsigned cosim_write(unsigned long long address, unsigned long long data,
                                unsigned strobes);

namespace
{

constexpr unsigned axi_error = 3; // DECERR: no memory at this address

cosim::Memory *memory;

} // namespace

void cosim::use_memory(Memory &used)
{
    memory = &used;
}

unsigned cosim_read(unsigned long long address, unsigned long long *data)
{
    uint64_t read = 0;
    bool there = memory->read(address, read);
    *data = read;
    return there ? 0 : axi_error;
}

unsigned cosim_write(unsigned long long address, unsigned long long data, unsigned strobes)
{
    return memory->write(address, data, strobes) ? 0 : axi_error;
}
