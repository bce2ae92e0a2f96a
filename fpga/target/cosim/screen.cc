// SPDX-License-Identifier: Apache-2.0
// See screen.h.
#include "screen.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace cosim
{

Screen::Screen(const std::string &name) : name_(name)
{
    if (name.empty())
        return;
    FILE *file = fopen(name.c_str(), "wb");
    if (file == nullptr)
        throw std::runtime_error("screen=" + name + ": " + strerror(errno));
    fclose(file);
}

void Screen::take(bool visible, uint32_t color)
{
    if (visible) {
        for (unsigned shift = 24; shift != 0; shift -= 8)
            pixels_.push_back(static_cast<uint8_t>(color >> (shift - 8)));
        column_++;
    } else if (column_ != 0) {
        width_ = column_;
        column_ = 0;
    }
}

void Screen::finish()
{
    pixels_.swap(last_);
    if (pixels_ != last_)
        write();
    reset();
}

void Screen::reset()
{
    pixels_.clear();
    column_ = 0;
}

/// Replaces the file, so that a program that reads it meanwhile sees a whole frame.
void Screen::write() const
{
    std::string part = name_ + ".new";
    FILE *file = fopen(part.c_str(), "wb");
    if (file == nullptr)
        throw std::runtime_error("screen=" + part + ": " + strerror(errno));
    fprintf(file, "P6 %zu %zu 255\n", width_, last_.size() / 3 / width_);
    fwrite(last_.data(), 1, last_.size(), file);
    if (fclose(file) != 0 || rename(part.c_str(), name_.c_str()) != 0)
        throw std::runtime_error("screen=" + name_ + ": " + strerror(errno));
}

} // namespace cosim
