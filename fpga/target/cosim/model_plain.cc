// SPDX-License-Identifier: Apache-2.0
// The model by plain functions, for tests of software on this machine: one fabric in each process.
#include "model.h"
#include "plain.h"

namespace
{

cosim::TestMemory memory;

cosim::Model &model()
{
    static cosim::Model one(memory, "");
    return one;
}

} // namespace

/// Resets the fabric. `translate` returns a pointer to 8 bytes at a host-physical address, or null.
PUBLIC void fabric_reset(cosim::Translate translate)
{
    memory.translate = translate;
    model().reset();
}

PUBLIC uint64_t fabric_read(uint64_t offset, unsigned bytes)
{
    cosim::Access access{false, offset, bytes, 0};
    model().access(access);
    return access.data;
}

PUBLIC void fabric_write(uint64_t offset, unsigned bytes, uint64_t value)
{
    cosim::Access access{true, offset, bytes, value};
    model().access(access);
}

PUBLIC void fabric_step(unsigned cycles)
{
    for (unsigned n = 0; n < cycles; n++)
        model().step();
}

/// As cosim::Model::interrupts().
PUBLIC unsigned fabric_interrupts()
{
    return model().interrupts();
}
