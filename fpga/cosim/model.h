// SPDX-License-Identifier: Apache-2.0
// The Verilated fabric with its HW tasks, for programs in C++: one access to its registers at a
// time, a memory for its DMA, its interrupt lines. One model for each process, because Verilator
// calls back into it by plain functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace cosim
{

/// The memory that the fabric reads and writes as a bus manager.
class Memory
{
  public:
    virtual ~Memory() = default;
    /// Reads 8 bytes at a host-physical address, a multiple of 8. Returns false where there is no RAM.
    virtual bool read(uint64_t address, uint64_t &data) = 0;
    /// Writes those of the 8 bytes whose bit in `strobes` is set. Returns false where there is no RAM.
    virtual bool write(uint64_t address, uint64_t data, unsigned strobes) = 0;
};

/// An access to the fabric's register port.
struct Access {
    bool write;
    uint64_t offset; // from the start of the fabric's addresses, a multiple of `bytes`
    unsigned bytes;  // 1, 2, 4 or 8
    uint64_t data;   // written, or read
};

/// What a region does.
struct Region {
    unsigned state;  // as in PRR_STATUS: idle, busy, preempt, switch, reconfig, hold
    bool has_client; // vm and device are valid
    unsigned vm;
    unsigned device;
    unsigned task;    // 0: none
    bool configuring; // the configuration port writes it

    bool operator!=(const Region &other) const
    {
        return state != other.state || has_client != other.has_client || vm != other.vm || device != other.device ||
               task != other.task || configuring != other.configuring;
    }
};

class Model
{
  public:
    /// The fabric after a reset. `memory` must live as long as the model. `waves`: empty, or the
    /// name of a file for waveforms (FST), if the model was built for this; otherwise it throws
    /// std::runtime_error.
    Model(Memory &memory, const std::string &waves);
    ~Model();

    /// Resets the fabric. The statistics and the waveforms go on.
    void reset();
    /// Simulates one cycle.
    void step();
    /// Makes an access, which takes a few cycles; returns false if the fabric answers with an error.
    bool access(Access &access);

    /// Cycles simulated, resets included.
    uint64_t cycles() const;
    /// Nothing changes without an access until this is true again.
    bool active() const;
    /// Bit 0: the manager's line. Bit 1 + n: VM n's.
    unsigned interrupts() const;
    unsigned regions() const;
    Region region(unsigned number) const;
    /// Violations of the AXI protocol by the fabric since its reset.
    unsigned complaints() const;
    /// A hash over the memory port, the answers to accesses, the interrupt lines and the regions in every
    /// cycle since start_hash().
    uint64_t hash() const;
    /// Computes the hash from the next cycle on; costs time.
    void start_hash();

    class State;

  private:
    std::unique_ptr<State> state_;
};

} // namespace cosim
