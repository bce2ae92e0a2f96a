// SPDX-License-Identifier: Apache-2.0
// The picture on the screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace cosim
{

class Screen
{
  public:
    /// `name`: empty, or the name of a file. Throws std::runtime_error if it cannot be written.
    explicit Screen(const std::string &name);
    ~Screen();
    Screen(const Screen &) = delete;
    bool wanted() const
    {
        return file_ != nullptr;
    }
    /// A pixel: in vertical sync, visible, its colour.
    void take(bool vsync, bool visible, uint32_t color);
    /// Writes the last complete frame.
    void write();

  private:
    FILE *file_ = nullptr;
    std::vector<uint8_t> pixels_, last_; // three bytes each: of this frame, of the last one
    size_t width_ = 0, column_ = 0;
};

} // namespace cosim
