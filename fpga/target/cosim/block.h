// SPDX-License-Identifier: Apache-2.0
// A Verilated block of the chip for programs in C++: one access to its registers at a time, a
// memory for its DMA, its interrupt lines.
#pragma once

#include <cstdint>

namespace cosim
{

/// The memory that blocks read and write as bus managers.
class Memory
{
  public:
    virtual ~Memory() = default;
    /// Reads 8 bytes at a host-physical address, a multiple of 8. Returns false where there is no
    /// RAM.
    virtual bool read(uint64_t address, uint64_t &data) = 0;
    /// Writes those of the 8 bytes whose bit in `strobes` is set. Returns false where there is no
    /// RAM.
    virtual bool write(uint64_t address, uint64_t data, unsigned strobes) = 0;
};

/// An access to a block's register port.
struct Access {
    bool write;
    uint64_t offset; // from the start of the block's addresses, a multiple of `bytes`
    unsigned bytes;  // 1, 2, 4 or 8
    uint64_t data;   // written, or read
};

class Block
{
  public:
    static constexpr uint64_t forever = UINT64_MAX;

    virtual ~Block() = default;
    /// Resets the block. Statistics and waveforms go on.
    virtual void reset() = 0;
    /// Simulates one cycle.
    virtual void step() = 0;
    /// Time passes in which nothing can change, at most idle().
    virtual void skip(uint64_t cycles) = 0;
    /// Makes an access, which takes a few cycles; returns false if the block answers with an error.
    virtual bool access(Access &access) = 0;

    /// Cycles simulated, resets included.
    virtual uint64_t cycles() const = 0;
    /// Cycles in which nothing changes without an access; `forever`: nothing ever does.
    virtual uint64_t idle() const = 0;
    /// Bit 0: the manager's line. Bit 1 + n: VM n's.
    virtual unsigned interrupts() const = 0;
    /// Violations of the AXI protocol by the block since its reset.
    virtual unsigned complaints() const = 0;
};

/// Sets the memory of all blocks of this process: Verilator calls back by plain functions.
void use_memory(Memory &memory);

} // namespace cosim
