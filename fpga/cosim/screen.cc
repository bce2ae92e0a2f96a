// SPDX-License-Identifier: Apache-2.0
// See screen.h.
#include "screen.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace cosim
{

Screen::Screen(const std::string &name)
{
    if (name.empty())
        return;
    file_ = fopen(name.c_str(), "wb");
    if (file_ == nullptr)
        throw std::runtime_error("screen=" + name + ": " + strerror(errno));
}

Screen::~Screen()
{
    if (file_ == nullptr)
        return;
    write();
    fclose(file_);
}

void Screen::take(bool vsync, bool visible, uint32_t color)
{
    if (visible) {
        for (unsigned shift = 24; shift != 0; shift -= 8)
            pixels_.push_back(static_cast<uint8_t>(color >> (shift - 8)));
        column_++;
    } else if (column_ != 0) {
        width_ = column_;
        column_ = 0;
    }
    if (vsync && !pixels_.empty()) {
        last_ = pixels_;
        pixels_.clear();
    }
}

void Screen::write()
{
    const std::vector<uint8_t> &frame = pixels_.size() < last_.size() ? last_ : pixels_;
    rewind(file_);
    fprintf(file_, "P6 %zu %zu 255\n", width_, width_ == 0 ? 0 : frame.size() / 3 / width_);
    fwrite(frame.data(), 1, frame.size(), file_);
    fflush(file_);
}

} // namespace cosim
