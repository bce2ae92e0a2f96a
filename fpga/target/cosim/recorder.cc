// SPDX-License-Identifier: Apache-2.0
// See recorder.h.
#include "recorder.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr unsigned num_pins = 32;
constexpr uint64_t cycle_ns = 10;

char level_name(bool level, bool driven)
{
    if (!driven)
        return 'z';
    return level ? '1' : '0';
}

} // namespace

Recorder::Recorder(const std::string &name)
{
    if (name.empty())
        return;
    file_ = fopen(name.c_str(), "w");
    if (file_ == nullptr)
        throw std::runtime_error("pins=" + name + ": " + strerror(errno));
    fprintf(file_, "$timescale 1 ns $end\n$scope module pins $end\n");
    for (unsigned n = 0; n < num_pins; n++)
        fprintf(file_, "$var wire 1 %c pin%u $end\n", '!' + n, n);
    fprintf(file_, "$upscope $end\n$enddefinitions $end\n#0\n");
    for (unsigned n = 0; n < num_pins; n++)
        fprintf(file_, "z%c\n", '!' + n);
}

Recorder::~Recorder()
{
    if (file_ != nullptr)
        fclose(file_);
}

void Recorder::record(uint32_t levels, uint32_t driven, uint64_t time)
{
    uint32_t changed = (levels ^ levels_) | (driven ^ driven_);
    levels_ = levels;
    driven_ = driven;
    if (file_ == nullptr || changed == 0)
        return;
    fprintf(file_, "#%" PRIu64 "\n", time * cycle_ns);
    for (unsigned n = 0; n < num_pins; n++)
        if ((changed >> n & 1) != 0)
            fprintf(file_, "%c%c\n", level_name(levels >> n & 1, driven >> n & 1), '!' + n);
    fflush(file_);
}

} // namespace cosim
