// SPDX-License-Identifier: Apache-2.0
// The Verilated shared devices with a flash, a wire of the Ethernet device and pads, for programs
// in C++.
#pragma once

#include "block.h"
#include "wire.h"

#include <memory>
#include <string>

namespace cosim
{

/// What is connected to the devices. Empty names: nothing.
struct SharedOptions {
    std::string uart;  // file for what the UART sends
    std::string typed; // file whose next line the UART receives after each '?' that it has sent
    std::string
        flash; // file with the content of the flash, up to 16 MiB; it is written back at the end
    std::string pcap;   // file for the frames on the wire
    std::string pins;   // file for the levels of the pins (VCD)
    std::string screen; // file for the last frame on the screen (PPM); a frame is sent every 10 ms
};

class Shared : public Block
{
  public:
    /// The devices after a reset. `memory` must live as long. Throws std::runtime_error for a file
    /// that cannot be used.
    Shared(Memory &memory, const SharedOptions &options);
    ~Shared() override;

    void reset() override;
    void step() override;
    void skip(uint64_t cycles) override;
    bool access(Access &access) override;
    uint64_t cycles() const override;
    uint64_t idle() const override;
    unsigned interrupts() const override;
    unsigned complaints() const override;

    /// The time base, cycles.
    uint64_t time() const;
    /// Levels of the pads.
    uint32_t pins() const;
    Wire &wire();
    /// The memory answers later by so many cycles, up to 255.
    void set_latency(unsigned cycles);
    /// The UART receives these bytes.
    void type(const std::string &bytes);

    class State;

  private:
    std::unique_ptr<State> state_;
};

} // namespace cosim
