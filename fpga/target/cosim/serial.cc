// SPDX-License-Identifier: Apache-2.0
// See serial.h.
#include "serial.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr unsigned bits = 10; // with start and stop

} // namespace

Serial::Serial(const std::string &name, const std::string &typed)
{
    if (!typed.empty()) {
        lines_.open(typed);
        if (!lines_)
            throw std::runtime_error("typed=" + typed + ": " + strerror(errno));
    }
    if (name.empty())
        return;
    file_ = fopen(name.c_str(), "wb");
    if (file_ == nullptr)
        throw std::runtime_error("uart=" + name + ": " + strerror(errno));
}

Serial::Serial(FILE *file) : file_(file)
{
}

Serial::~Serial()
{
    if (file_ != nullptr)
        fclose(file_);
}

void Serial::receive(uint8_t byte)
{
    if (file_ != nullptr) {
        fputc(byte, file_);
        fflush(file_);
    }
    std::string line;
    if (byte == '?' && lines_.is_open() && std::getline(lines_, line))
        type(line + "\n");
}

/// Samples each bit in its middle.
void Serial::take(bool level, unsigned bit_cycles)
{
    if (taken_ == 0 && level)
        return;
    unsigned bit = taken_ / bit_cycles;
    bool middle = taken_ % bit_cycles == bit_cycles / 2;
    taken_++;
    if (middle && bit != 0 && bit < bits - 1)
        arriving_ |= static_cast<unsigned>(level) << (bit - 1);
    if (middle && bit == bits - 1) {
        receive(static_cast<uint8_t>(arriving_));
        taken_ = 0;
        arriving_ = 0;
    }
}

bool Serial::give(unsigned bit_cycles)
{
    if (waiting_.empty())
        return true;
    unsigned bit = given_++ / bit_cycles;
    if (bit == bits) {
        waiting_.pop_front();
        given_ = 0;
        return true;
    }
    return bit == bits - 1 || (bit != 0 && (waiting_.front() >> (bit - 1) & 1u) != 0);
}

bool Serial::cycle(bool level, unsigned bit_cycles)
{
    take(level, bit_cycles);
    return give(bit_cycles);
}

void Serial::type(const std::string &bytes)
{
    waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
}

bool Serial::active() const
{
    return taken_ != 0 || !waiting_.empty();
}

} // namespace cosim
