// SPDX-License-Identifier: Apache-2.0
// The picture on the screen: a file always has the last complete frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

class Screen
{
  public:
    /// `name`: empty, or the name of a file. Throws std::runtime_error if it cannot be written.
    explicit Screen(const std::string &name);
    bool wanted() const
    {
        return !name_.empty();
    }
    /// A pixel: visible, its colour.
    void take(bool visible, uint32_t color);
    /// A frame is over.
    void finish();
    /// The frame that has begun does not end.
    void reset();

  private:
    void write() const;

    std::string name_;
    std::vector<uint8_t> pixels_, last_; // three bytes each: of this frame, of the last one
    size_t width_ = 0, column_ = 0;
};

} // namespace cosim
