// SPDX-License-Identifier: Apache-2.0
// The Verilated fabric with its HW tasks, for programs in C++: one access to its registers at a
// time, a memory for its DMA, its interrupt lines. One model for each process, because Verilator
// calls back into it by plain functions.
#pragma once

#include "block.h"

#include <cstdint>
#include <memory>
#include <string>

namespace cosim
{

/// What a region does.
struct Region {
    unsigned state;  // as in PRR_STATUS: idle, busy, preempt, switch, reconfig, hold
    bool has_client; // vm and device are valid
    unsigned vm;
    unsigned device;
    unsigned task;    // 0: none
    bool configuring; // the ICAP writes it

    bool operator!=(const Region &other) const
    {
        return state != other.state || has_client != other.has_client || vm != other.vm ||
               device != other.device || task != other.task || configuring != other.configuring;
    }
};

class Model : public Block
{
  public:
    /// The fabric after a reset. `memory` must live as long as the model. `waves`: empty, or the
    /// name of a file for waveforms (FST), if the model was built for this; otherwise it throws
    /// std::runtime_error.
    Model(Memory &memory, const std::string &waves);
    ~Model() override;

    void reset() override;
    void step() override;
    void skip(uint64_t cycles) override;
    bool access(Access &access) override;
    uint64_t cycles() const override;
    uint64_t idle() const override;
    unsigned interrupts() const override;
    unsigned complaints() const override;

    unsigned regions() const;
    Region region(unsigned number) const;
    /// A hash over the memory port, the answers to accesses, the interrupt lines and the regions in
    /// every cycle since start_hash().
    uint64_t hash() const;
    /// Computes the hash from the next cycle on; costs time.
    void start_hash();

    class State;

  private:
    std::unique_ptr<State> state_;
};

} // namespace cosim
