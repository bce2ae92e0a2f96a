// SPDX-License-Identifier: Apache-2.0
// The model by plain functions, for tests of software on this machine: one fabric in each process.
#include "model.h"

#include <cstring>

#define PUBLIC extern "C" __attribute__((visibility("default")))

namespace
{

using Translate = void *(*)(uint64_t address);

/// What a test's function translates to pointers.
class TestMemory : public cosim::Memory
{
  public:
    bool read(uint64_t address, uint64_t &data) override
    {
        const void *at = translate(address);
        if (at != nullptr)
            memcpy(&data, at, sizeof data);
        return at != nullptr;
    }

    bool write(uint64_t address, uint64_t data, unsigned strobes) override
    {
        char *at = static_cast<char *>(translate(address));
        for (unsigned n = 0; n < 8 && at != nullptr; n++)
            if ((strobes >> n & 1) != 0)
                at[n] = static_cast<char>(data >> 8 * n);
        return at != nullptr;
    }

    Translate translate = nullptr;
};

TestMemory memory;

cosim::Model &model()
{
    static cosim::Model one(memory, "");
    return one;
}

} // namespace

/// Resets the fabric. `translate` returns a pointer to 8 bytes at a host-physical address, or null.
PUBLIC void fabric_reset(Translate translate)
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
