// SPDX-License-Identifier: Apache-2.0
// Runs a program on the simulated SoC: soc_sim [--cycles=N] [--latency=N] [--input=FILE]
// [--uart=FILE] ADDRESS:FILE... Files are loaded into DRAM before the core starts; what the core's
// UART sends goes to standard output, what the shared UART sends to a file. Ends when the program
// says so, with its code, or after N cycles, with 124.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <getopt.h>
#include <sys/mman.h>

#include "Vsoc_sim.h"
#include "serial.h"
#include "verilated.h"

namespace
{

constexpr uint64_t dram_base = 0x8000'0000, dram_size = 0x4000'0000;
constexpr unsigned bit_cycles = 16; // the fastest lines
constexpr int reset_cycles = 10, timed_out = 124, usage_error = 2;
constexpr char usage[] =
    "usage: soc_sim [--cycles=N] [--latency=N] [--input=FILE] [--uart=FILE] ADDRESS:FILE...";
uint8_t *dram; // owner: main

uint8_t *dram_at(uint64_t address)
{
    if (address < dram_base || address >= dram_base + dram_size)
        throw std::runtime_error("address outside of DRAM: " + std::to_string(address));
    return dram + (address - dram_base);
}

struct Options {
    uint64_t cycles = UINT64_MAX;
    unsigned latency = 1; // of DRAM, 1 to 200 cycles
    std::string input, uart = "/dev/null";
    std::vector<std::string> files;
};

std::string content(const std::string &name)
{
    std::ifstream file(name, std::ios::binary);
    if (!file)
        throw std::runtime_error(name + ": " + strerror(errno));
    return {std::istreambuf_iterator<char>(file), {}};
}

void load(const std::string &what)
{
    size_t colon = what.find(':'), end = 0;
    uint64_t address = colon == std::string::npos ? 0 : std::stoull(what, &end, 0);
    if (end != colon || colon == std::string::npos)
        throw std::runtime_error(what + ": expected ADDRESS:FILE");
    auto bytes = content(what.substr(colon + 1));
    if (bytes.empty())
        throw std::runtime_error(what + ": the file is empty");
    dram_at(address + bytes.size() - 1);
    memcpy(dram_at(address), bytes.data(), bytes.size());
}

Options parse(int argc, char **argv)
{
    static const option known[] = {{"cycles", required_argument, nullptr, 'c'},
                                   {"latency", required_argument, nullptr, 'l'},
                                   {"input", required_argument, nullptr, 'i'},
                                   {"uart", required_argument, nullptr, 'u'},
                                   {nullptr, 0, nullptr, 0}};
    Options options;
    for (;;) {
        int found = getopt_long(argc, argv, "", known, nullptr);
        if (found == -1)
            break;
        if (found == 'c')
            options.cycles = std::stoull(optarg);
        else if (found == 'l')
            options.latency = static_cast<unsigned>(std::stoul(optarg));
        else if (found == 'i')
            options.input = optarg;
        else if (found == 'u')
            options.uart = optarg;
        else
            throw std::invalid_argument(usage);
    }
    if (options.latency < 1 || options.latency > 200)
        throw std::invalid_argument("--latency: expected 1 to 200 cycles");
    options.files.assign(argv + optind, argv + argc);
    return options;
}

int run(const Options &options)
{
    VerilatedContext context;
    Vsoc_sim soc(&context);
    cosim::Serial console(stdout), shared(options.uart, "");
    if (!options.input.empty())
        console.type(content(options.input));
    uint64_t cycle = 0;
    soc.rx_i = 1;
    soc.latency_i = static_cast<uint8_t>(options.latency);
    for (; cycle < options.cycles && soc.ends_o == 0 && !context.gotFinish(); cycle++) {
        soc.rst_ni = cycle >= reset_cycles;
        soc.clk_i = 1;
        soc.eval();
        soc.clk_i = 0;
        soc.eval();
        soc.rx_i = console.cycle(soc.rst_ni == 0 || soc.tx_o != 0, bit_cycles);
        shared.cycle(soc.rst_ni == 0 || soc.shared_tx_o != 0, bit_cycles);
    }
    soc.final();
    if (soc.ends_o == 0)
        std::cerr << "soc_sim: the program did not end within " << cycle << " cycles\n";
    return soc.ends_o != 0 ? soc.code_o : timed_out;
}

} // namespace

extern "C" uint64_t soc_memory_read(uint64_t address)
{
    uint64_t data;
    memcpy(&data, dram_at(address & ~UINT64_C(7)), sizeof data);
    return data;
}

extern "C" void soc_memory_write(uint64_t address, uint64_t data, uint8_t strobes)
{
    uint8_t *at = dram_at(address & ~UINT64_C(7));
    for (unsigned i = 0; i < 8; i++)
        if ((strobes >> i & 1) != 0)
            at[i] = static_cast<uint8_t>(data >> 8 * i);
}

int main(int argc, char **argv)
{
    void *memory = mmap(nullptr, dram_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("soc_sim: memory for DRAM");
        return usage_error;
    }
    dram = static_cast<uint8_t *>(memory);
    try {
        Options options = parse(argc, argv);
        for (const auto &file : options.files)
            load(file);
        return run(options);
    } catch (const std::exception &error) {
        std::cerr << "soc_sim: " << error.what() << '\n';
        return usage_error;
    }
}
