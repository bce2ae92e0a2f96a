// SPDX-License-Identifier: Apache-2.0
// What the models by plain functions share: tests of this machine load them into Python.
#pragma once

#include "block.h"

#include <cstring>

#define PUBLIC extern "C" __attribute__((visibility("default")))

namespace cosim
{

using Translate = void *(*)(uint64_t address);

/// What a test's function translates to pointers; null: no memory.
class TestMemory : public Memory
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

} // namespace cosim
