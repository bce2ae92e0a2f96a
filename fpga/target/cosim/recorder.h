// SPDX-License-Identifier: Apache-2.0
// The levels of the pins in a file for wave viewers: IEEE 1364, value change dump.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace cosim
{

class Recorder
{
  public:
    /// `name`: empty, or the name of a file. Throws std::runtime_error if it cannot be written.
    explicit Recorder(const std::string &name);
    ~Recorder();
    Recorder(const Recorder &) = delete;
    /// Levels, and which pins are driven, from a time on, cycles.
    void record(uint32_t levels, uint32_t driven, uint64_t time);

  private:
    FILE *file_ = nullptr;
    uint32_t levels_ = 0, driven_ = 0;
};

} // namespace cosim
