// SPDX-License-Identifier: Apache-2.0
// Drives the model with random work, in the way of a hypervisor and its guests: requests,
// configurations, jobs of all HW tasks, preemptions, faults, the sorter. With an even seed one of
// the tasks is the probe, which misbehaves. Prints a hash over every cycle, and the speed. The same
// program with the tasks in one class must print the same hash.
//
//   lockstep CYCLES SEED [hash]
#include "fabric_map.h"
#include "model.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace
{

constexpr unsigned vms = 4, devices = 6, regions = 3, sorters = 4;
constexpr unsigned probe = 9; // a number of no HW task
constexpr uint64_t ram = 0x80000000;
constexpr size_t ram_bytes = 1 << 20;
constexpr uint64_t vm_bytes = 0x20000, half = vm_bytes / 2; // input and output of a VM
constexpr uint64_t bitstream = ram + vms * vm_bytes;
constexpr uint64_t guest_in = 0x40000000, guest_out = 0x50000000;
enum State {
    idle,
    busy,
    preempt,
    switching,
    reconfig,
    hold
};

class Ram : public cosim::Memory
{
  public:
    Ram() : bytes(ram_bytes)
    {
    }

    bool read(uint64_t address, uint64_t &data) override
    {
        if (address - ram > ram_bytes - 8)
            return false;
        memcpy(&data, &bytes[address - ram], 8);
        return true;
    }

    bool write(uint64_t address, uint64_t data, unsigned strobes) override
    {
        if (address - ram > ram_bytes - 8)
            return false;
        for (unsigned n = 0; n < 8; n++)
            if ((strobes >> n & 1) != 0)
                bytes[address - ram + n] = static_cast<uint8_t>(data >> 8 * n);
        return true;
    }

    std::vector<uint8_t> bytes;
};

/// A hypervisor that serves whatever the regions need, and guests that keep their devices busy.
class Load
{
  public:
    explicit Load(uint64_t seed) : model_(memory_, ""), random_(seed), probes_(seed % 2 == 0)
    {
        for (uint8_t &byte : memory_.bytes)
            byte = static_cast<uint8_t>(next());
    }

    cosim::Model &model()
    {
        return model_;
    }

    void prepare()
    {
        for (unsigned n = 0; n < devices; n++)
            put(FABRIC_REGS_DEVICE + FABRIC_REGS_DEVICE_STRIDE * n,
                (n == 0 && probes_ ? probe : n + 1) | (n / 2) << 8);
        for (unsigned vm = 0; vm < vms; vm++) {
            window(vm, 0, guest_in | 1, ram + vm * vm_bytes);
            window(vm, 1, guest_out | 2, ram + vm * vm_bytes + half);
        }
        put(FABRIC_REGS_STOP_TIME, 5000);
    }

    /// One look at everything, as often as a hypervisor's interrupt would have it.
    void serve()
    {
        put(FABRIC_REGS_IRQ_STATUS, get(FABRIC_REGS_IRQ_STATUS));
        if ((get(FABRIC_REGS_NEW_SOLUTION) >> FABRIC_REGS_NEW_SOLUTION_VALID_LSB & 1) != 0)
            put(FABRIC_REGS_NEW_SOLUTION_POP, 1);
        for (unsigned r = 0; r < regions; r++)
            serve_region(r);
        for (unsigned vm = 0; vm < vms; vm++)
            for (unsigned device = 0; device < devices; device++)
                serve_guest(vm, device);
        if (chance(20))
            put(FABRIC_REGS_REQUEST, next() % vms | (next() % devices) << 4 | (next() & 15) << 8);
        if (chance(2))
            put(FABRIC_REGS_PRR_STOP + FABRIC_REGS_PRR_STOP_STRIDE * (next() % regions), 1);
        if (chance(20))
            use_sorter();
        if (chance(2))
            put(FABRIC_REGS_CANCEL, next() % vms | (next() % devices) << 4);
    }

    void run(uint64_t cycles)
    {
        for (uint64_t n = 0; n < cycles; n++)
            model_.step();
    }

    uint64_t next()
    {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return random_ >> 11;
    }

    unsigned jobs = 0, configurations = 0;

  private:
    bool chance(unsigned percent)
    {
        return next() % 100 < percent;
    }

    uint64_t get(uint64_t offset)
    {
        return get(offset, 8);
    }

    uint64_t get(uint64_t offset, unsigned bytes)
    {
        cosim::Access access{false, offset, bytes, 0};
        model_.access(access);
        return access.data;
    }

    void put(uint64_t offset, uint64_t data)
    {
        put(offset, data, 8);
    }

    void put(uint64_t offset, uint64_t data, unsigned bytes)
    {
        cosim::Access access{true, offset, bytes, data};
        model_.access(access);
    }

    void window(unsigned vm, unsigned number, uint64_t guest, uint64_t host)
    {
        uint64_t at =
            FABRIC_WINDOWS + vm * FABRIC_VM_WINDOWS_STRIDE + number * FABRIC_WINDOW_STRIDE;
        put(at + FABRIC_WINDOW_GUEST, guest);
        put(at + FABRIC_WINDOW_SIZE, half);
        put(at + FABRIC_WINDOW_HOST, host);
    }

    /// Any command, and looks at its outcome and the head at once.
    void use_sorter()
    {
        put(FABRIC_REGS_SORT_KEY, next() % 64);
        put(FABRIC_REGS_SORT_COMMAND, next() % 4 | (next() % 24) << 16);
        get(FABRIC_REGS_SORT_STATUS);
        get(FABRIC_REGS_SORT_HEAD_KEY);
        get(FABRIC_REGS_SORT_HEAD);
        use_sorters();
    }

    /// The same by the registers of a sorter. Few keys, so that orders decide.
    void use_sorters()
    {
        uint64_t sorter = next() % sorters;
        uint64_t registers = FABRIC_SORTERS + sorter * FABRIC_SORTER_STRIDE;
        uint64_t put_at = FABRIC_SORT_PUT + sorter * FABRIC_SORT_PUT_STRIDE;
        put(put_at + (next() % 64) * FABRIC_SORT_PUT_VALUE_STRIDE +
                (next() % 32) * FABRIC_SORT_PUT_ORDER_STRIDE,
            next() % 8);
        if (chance(30))
            put(registers + FABRIC_SORTER_REMOVE, next() % 64);
        if (chance(10))
            put(registers + FABRIC_SORTER_ORDER, next() & 0xffffffffu);
        for (unsigned offset = 0; offset < FABRIC_SORTER_SPAN; offset += 8)
            if (offset != FABRIC_SORTER_REMOVE)
                get(registers + offset);
    }

    void serve_region(unsigned r)
    {
        uint64_t status = get(FABRIC_REGS_PRR_STATUS + FABRIC_REGS_PRR_STATUS_STRIDE * r);
        if ((status & 7) == reconfig && (get(FABRIC_REGS_ICAP_STATUS) & 1) == 0)
            configure(r, static_cast<unsigned>(status >> 32 & 255));
        if ((status & 7) == hold && (status >> 6 & 1) == 0)
            put(FABRIC_REGS_PRR_CONNECT + FABRIC_REGS_PRR_CONNECT_STRIDE * r,
                1 | (status >> 8 & 255) << 4);
    }

    void configure(unsigned r, unsigned task)
    {
        uint32_t words[64] = {
            0x53494d42, r << 24 | task << 16, 64 - 5, 0, 0xc5u << 24 | r << 16 | task << 8, 64 - 7};
        words[3] = crc(words, 3);
        words[63] = crc(words + 4, 64 - 5);
        if (chance(5))
            words[63] ^= 1; // refused at its end
        memcpy(&memory_.bytes[bitstream - ram], words, sizeof words);
        put(FABRIC_REGS_ICAP_ADDR, bitstream);
        put(FABRIC_REGS_ICAP_LENGTH, sizeof words);
        put(FABRIC_REGS_ICAP_START, r);
        configurations++;
    }

    static uint32_t crc(const uint32_t *words, size_t count)
    {
        uint32_t sum = ~0u;
        for (size_t n = 0; n < 32 * count; n++)
            sum = sum >> 1 ^ (0xedb88320u & -((sum ^ words[n / 32] >> n % 32) & 1));
        return ~sum;
    }

    void serve_guest(unsigned vm, unsigned device)
    {
        uint64_t page = FABRIC_IFS + FABRIC_IF_STRIDE * (16 * vm + device);
        uint64_t stat = get(page + FABRIC_IF_STAT, 4);
        if ((stat & 4) != 0)
            put(page + FABRIC_IF_OVER, 1, 4);
        if ((stat & 15) == 1)
            start(page, device);
    }

    void start(uint64_t page, unsigned device)
    {
        static const unsigned unit[devices] = {1,  1, 4, 4,
                                               16, 2}; // bytes that a task's input is a multiple of
        put(page + FABRIC_IF_CMD, device == 4 || (device == 0 && probes_) ? next() & 7 : 0, 4);
        put(page + FABRIC_IF_DATA_ADDR,
            chance(3) ? guest_in + half - 64 : guest_in); // past the end of the window
        put(page + FABRIC_IF_DATA_SIZE, (1 + next() % 2000) * unit[device], 4);
        put(page + FABRIC_IF_RESULT, guest_out);
        put(page + FABRIC_IF_INT_CTRL, 3, 4);
        for (unsigned n = 0; n < 8; n++)
            put(page + FABRIC_IF_CUSTOM + FABRIC_IF_CUSTOM_STRIDE * n, next(), 4);
        put(page + FABRIC_IF_START, 1, 4);
        jobs++;
    }

    Ram memory_;
    cosim::Model model_;
    uint64_t random_;
    bool probes_; // device 0 is the probe, whose commands are misbehaviours, instead of QAM16
};

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: lockstep CYCLES SEED [hash]\n");
        return 2;
    }
    uint64_t cycles = strtoull(argv[1], nullptr, 0);
    Load load(strtoull(argv[2], nullptr, 0));
    if (argc > 3)
        load.model().start_hash();
    load.prepare();
    clock_t start = clock();
    uint64_t first = load.model().cycles();
    while (load.model().cycles() < cycles) {
        load.serve();
        load.run(200 + load.next() % 800);
    }
    double seconds = static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
    double speed = static_cast<double>(load.model().cycles() - first) / seconds;
    printf("{\"cycles\": %" PRIu64 ", \"hash\": \"%016" PRIx64
           "\", \"jobs\": %u, \"configurations\": %u, "
           "\"complaints\": %u, \"cycles_per_s\": %.0f}\n",
           load.model().cycles(), load.model().hash(), load.jobs, load.configurations,
           load.model().complaints(), speed);
    return 0;
}
