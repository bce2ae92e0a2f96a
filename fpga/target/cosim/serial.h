// SPDX-License-Identifier: Apache-2.0
// The other end of the UART's line: 8 data bits, no parity, 1 stop bit. What arrives goes to a
// file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>

namespace cosim
{

class Serial
{
  public:
    /// Empty, or the names of files: for what arrives; with lines of which one is typed after each
    /// '?' that arrives. Throws std::runtime_error if one of them cannot be used.
    Serial(const std::string &name, const std::string &typed);
    /// For a file that is open; it is closed with the line.
    explicit Serial(FILE *file);
    ~Serial();
    Serial(const Serial &) = delete;

    /// One cycle: takes the level of the device's output, and returns that of its input.
    bool cycle(bool level, unsigned bit_cycles);
    void type(const std::string &bytes);
    /// A byte is on the line, or will be.
    bool active() const;

  private:
    void take(bool level, unsigned bit_cycles);
    bool give(unsigned bit_cycles);
    void receive(uint8_t byte);

    FILE *file_ = nullptr;
    std::ifstream lines_;
    unsigned taken_ = 0; // cycles of the byte that arrives; 0: none
    unsigned arriving_ = 0;
    std::deque<uint8_t> waiting_;
    unsigned given_ = 0; // cycles of the first waiting byte
};

} // namespace cosim
