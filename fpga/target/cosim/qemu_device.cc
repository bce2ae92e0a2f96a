// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric as a device of QEMU's machine `virt`, loaded with -plugin (docs/fabric.md). The plugin
// interface only brings this code into QEMU's process; the device is made with QEMU's own
// functions, which a QEMU that was built with loadable modules exports. Hence the licence of this
// file, the only one that uses them.
//
// QEMU calls everything here with its lock held: accesses, timers, reset, and the end of the run.
#include "model.h"
#include "shared.h"

#include "fabric_map.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// ---- What we use of QEMU, declared here because distributions ship no headers of it ----

namespace
{

// Structures of QEMU are opaque, and larger than they have been in any version.
struct alignas(64) MemoryRegion {
    char opaque[4096];
};
struct alignas(64) Timer {
    char opaque[512];
};
struct Notifier {
    void (*notify)(Notifier *, void *);
    void *node[2];
};
// Attributes of an access are a struct of at most 8 bytes, passed in one register.
using Attributes = uint64_t;
using Result = uint32_t; // MemTxResult
constexpr Result result_ok = 0, result_error = 1;

// The first members of MemoryRegionOps, whose layout is the same in QEMU 3.1 to 10.0.
struct RegionOps {
    uint64_t (*read)(void *, uint64_t, unsigned);
    void (*write)(void *, uint64_t, uint64_t, unsigned);
    Result (*read_with_attrs)(void *, uint64_t, uint64_t *, unsigned, Attributes);
    Result (*write_with_attrs)(void *, uint64_t, uint64_t, unsigned, Attributes);
    int endianness;
    struct {
        unsigned min, max;
        bool unaligned;
        bool (*accepts)(void *, uint64_t, unsigned, bool, Attributes);
    } valid;
    struct {
        unsigned min, max;
        bool unaligned;
    } impl;
};
constexpr int little_endian = 2;
constexpr int virtual_clock = 1;
constexpr int word_size = 2; // MemOp: 4 bytes, little-endian
constexpr const char *plic_type = "riscv.sifive.plic";

// The pages of the PLIC's contexts in the machine `virt`, each with a register for claim and
// complete.
constexpr uint64_t plic_base = 0xc000000, contexts = 0x200000, contexts_span = 0x400000;
constexpr uint64_t context_page = 0x1000, complete_register = 4;

struct Qemu {
    void (*qemu_add_machine_init_done_notifier)(Notifier *);
    void (*memory_region_init_io)(MemoryRegion *, void *, const RegionOps *, void *, const char *,
                                  uint64_t);
    void (*memory_region_add_subregion_overlap)(void *, uint64_t, MemoryRegion *, int);
    Result (*memory_region_dispatch_read)(void *, uint64_t, uint64_t *, int, Attributes);
    Result (*memory_region_dispatch_write)(void *, uint64_t, uint64_t, int, Attributes);
    void *(*sysbus_mmio_get_region)(void *, int);
    void *(*get_system_memory)();
    void *(*object_resolve_path_type)(const char *, const char *, bool *);
    void *(*qdev_get_gpio_in)(void *, int);
    void (*qemu_set_irq)(void *, int);
    void (*timer_init_full)(Timer *, void *, int, int, int, void (*)(void *), void *);
    void (*timer_mod_ns)(Timer *, int64_t);
    int64_t (*qemu_clock_get_ns)(int);
    Result (*address_space_rw)(void *, uint64_t, Attributes, void *, uint64_t, bool);
    void *address_space_memory; // a variable
    bool (*cpu_physical_memory_is_io)(uint64_t);
    void (*qemu_register_reset)(void (*)(void *), void *);
    int *use_icount; // a variable
} qemu;

#define QEMU_SYMBOL(name) {#name, reinterpret_cast<void **>(&qemu.name)}
struct Symbol {
    const char *name;
    void **place;
};
const Symbol symbols[] = {
    QEMU_SYMBOL(qemu_add_machine_init_done_notifier),
    QEMU_SYMBOL(memory_region_init_io),
    QEMU_SYMBOL(memory_region_add_subregion_overlap),
    QEMU_SYMBOL(memory_region_dispatch_read),
    QEMU_SYMBOL(memory_region_dispatch_write),
    QEMU_SYMBOL(sysbus_mmio_get_region),
    QEMU_SYMBOL(get_system_memory),
    QEMU_SYMBOL(object_resolve_path_type),
    QEMU_SYMBOL(qdev_get_gpio_in),
    QEMU_SYMBOL(qemu_set_irq),
    QEMU_SYMBOL(timer_init_full),
    QEMU_SYMBOL(timer_mod_ns),
    QEMU_SYMBOL(qemu_clock_get_ns),
    QEMU_SYMBOL(address_space_rw),
    QEMU_SYMBOL(address_space_memory),
    QEMU_SYMBOL(cpu_physical_memory_is_io),
    QEMU_SYMBOL(qemu_register_reset),
    QEMU_SYMBOL(use_icount),
};

/// Runs `work`; an exception ends QEMU with its message.
template <class Work> void guarded(Work work)
{
    try {
        work();
    } catch (const std::exception &error) {
        fprintf(stderr, "fabric: %s\n", error.what());
        exit(1);
    }
}

/// Finds QEMU's functions; returns the names of those that are missing.
std::string find_symbols()
{
    std::string missing;
    for (const Symbol &symbol : symbols) {
        *symbol.place = dlsym(RTLD_DEFAULT, symbol.name);
        if (*symbol.place == nullptr)
            missing += std::string(" ") + symbol.name;
    }
    return missing;
}

// ---- Options ----

struct Options {
    uint64_t base = 0x18000000;
    uint64_t irq =
        20; // PLIC input of the manager's line; the VMs' follow, and those of the shared devices
    bool shared = false;  // with the shared devices
    uint64_t period = 0;  // ns of virtual time for each cycle; 0: by the clock
    uint64_t quantum = 0; // cycles from one look at the interrupt lines to the next
    std::string trace, stats, waves;
    cosim::SharedOptions ends;
};

constexpr uint64_t span = FABRIC_SPAN + FABRIC_SHARED_SIZE;
constexpr uint64_t quantum_min = 10, quantum_max = 1000000, quantum_default = 100;
constexpr uint64_t period_counted = 10;    // ns: 100 MHz
constexpr uint64_t period_host = 10000;    // ns: a clock that the model keeps up with
constexpr uint64_t period_max = 100000000; // ns

uint64_t number_of(const std::string &name, const std::string &text, uint64_t least, uint64_t most)
{
    char *end = nullptr;
    uint64_t value = strtoull(text.c_str(), &end, 0);
    if (text.empty() || *end != '\0' || text[0] == '-' || value < least || value > most)
        throw std::runtime_error("option " + name + "=" + text + ": expected a number from " +
                                 std::to_string(least) + " to " + std::to_string(most));
    return value;
}

Options options_of(int argc, char **argv)
{
    Options found;
    const std::map<std::string, std::function<void(const std::string &)>> known = {
        {"base",
         [&](const std::string &text) {
             found.base = number_of("base", text, 0, UINT64_MAX - span);
         }},
        {"irq", [&](const std::string &text) { found.irq = number_of("irq", text, 1, 84); }},
        {"shared",
         [&](const std::string &text) { found.shared = number_of("shared", text, 0, 1) != 0; }},
        {"period",
         [&](const std::string &text) { found.period = number_of("period", text, 1, period_max); }},
        {"quantum",
         [&](const std::string &text) {
             found.quantum = number_of("quantum", text, quantum_min, quantum_max);
         }},
        {"trace", [&](const std::string &text) { found.trace = text; }},
        {"stats", [&](const std::string &text) { found.stats = text; }},
        {"waves", [&](const std::string &text) { found.waves = text; }},
        {"uart", [&](const std::string &text) { found.ends.uart = text; }},
        {"typed", [&](const std::string &text) { found.ends.typed = text; }},
        {"flash", [&](const std::string &text) { found.ends.flash = text; }},
        {"pcap", [&](const std::string &text) { found.ends.pcap = text; }},
        {"pins", [&](const std::string &text) { found.ends.pins = text; }},
        {"screen", [&](const std::string &text) { found.ends.screen = text; }},
    };
    for (int n = 0; n < argc; n++) {
        std::string word = argv[n];
        size_t equals = word.find('=');
        auto option = known.find(word.substr(0, equals));
        if (equals == std::string::npos || option == known.end())
            throw std::runtime_error(
                "unknown option '" + word +
                "': expected base=, irq=, period=, quantum=, shared=, trace=, stats=, waves=, "
                "uart=, typed=, flash=, pcap=, pins= or screen=");
        option->second(word.substr(equals + 1));
    }
    return found;
}

// ---- The device ----

/// The machine's RAM. Everything else, devices included, is an error for the fabric.
class Ram : public cosim::Memory
{
  public:
    bool read(uint64_t address, uint64_t &data) override
    {
        return transfer(address, &data, sizeof data, false);
    }

    bool write(uint64_t address, uint64_t data, unsigned strobes) override
    {
        if (strobes == 0xff)
            return transfer(address, &data, sizeof data, true);
        bool done = true;
        for (unsigned n = 0; n < sizeof data; n++)
            if ((strobes >> n & 1u) != 0)
                done = transfer(address + n, reinterpret_cast<char *>(&data) + n, 1, true) && done;
        return done;
    }

  private:
    static bool transfer(uint64_t address, void *data, uint64_t bytes, bool write)
    {
        if (qemu.cpu_physical_memory_is_io(address))
            return false;
        return qemu.address_space_rw(qemu.address_space_memory, address, 0, data, bytes, write) ==
               result_ok;
    }
};

// Interrupt lines of the two blocks: the manager's and those of their VMs.
constexpr unsigned fabric_lines = 5, shared_lines = 7;

/// A block, its time, and its interrupt lines.
class Part
{
  public:
    Part(cosim::Block &block, uint64_t base, unsigned num_lines)
        : base_(base), block_(block), lines_(num_lines), start_(block.cycles())
    {
    }

    /// Connects its lines to inputs of the PLIC.
    void connect(void *plic, uint64_t first)
    {
        for (void *&line : lines_)
            line = qemu.qdev_get_gpio_in(plic, static_cast<int>(first++));
    }
    uint64_t now() const
    {
        return block_.cycles() - start_ + skipped_;
    }
    void reset();
    template <class Seen> void catch_up(uint64_t target, Seen seen);
    /// An access at an offset from the start of the fabric's addresses.
    bool access(cosim::Access &access);
    uint64_t idle() const
    {
        return block_.idle();
    }
    /// Sets the lines.
    void drive();
    unsigned num_lines() const
    {
        return static_cast<unsigned>(lines_.size());
    }
    /// QEMU's PLIC takes the rise of a line for a request.
    void raise_again(uint64_t line)
    {
        if ((levels_ >> line & 1u) != 0)
            qemu.qemu_set_irq(lines_[line], 1);
    }
    uint64_t simulated() const
    {
        return block_.cycles();
    }
    uint64_t complaints() const
    {
        return complaints_ + block_.complaints();
    }

    uint64_t skipped() const
    {
        return skipped_;
    }
    uint64_t lead() const
    {
        return lead_;
    }

  private:
    uint64_t base_; // offset of its registers
    cosim::Block &block_;
    std::vector<void *> lines_;
    unsigned levels_ = 0;
    uint64_t start_;       // block's cycles before virtual time began
    uint64_t skipped_ = 0; // cycles in which nothing could change
    uint64_t lead_ = 0, complaints_ = 0;
};

/// A reset of the machine. It takes no virtual time.
void Part::reset()
{
    uint64_t before = block_.cycles();
    complaints_ += block_.complaints();
    block_.reset();
    start_ += block_.cycles() - before;
    drive();
}

/// Simulates up to a time; calls `seen` after each cycle.
template <class Seen> void Part::catch_up(uint64_t target, Seen seen)
{
    if (now() > target && now() - target > lead_)
        lead_ = now() - target;
    while (now() < target) {
        uint64_t skipped = std::min(block_.idle(), target - now());
        if (skipped != 0) {
            skipped_ += skipped;
            block_.skip(skipped);
        } else {
            block_.step();
            seen();
        }
    }
}

bool Part::access(cosim::Access &access)
{
    cosim::Access own = access;
    own.offset -= base_;
    bool fine = block_.access(own);
    access.data = own.data;
    return fine;
}

void Part::drive()
{
    unsigned levels = block_.interrupts();
    for (unsigned n = 0; n < lines_.size(); n++)
        if (((levels ^ levels_) >> n & 1u) != 0)
            qemu.qemu_set_irq(lines_[n], static_cast<int>(levels >> n & 1u));
    levels_ = levels;
}

class Device
{
  public:
    explicit Device(Options options);
    ~Device();

    /// Once QEMU has made the machine.
    void attach();
    void reset();
    Result access(cosim::Access &access);
    void tick();
    Result read_context(uint64_t offset, uint64_t *data);
    Result write_context(uint64_t offset, uint64_t data);

  private:
    int64_t ns() const
    {
        return qemu.qemu_clock_get_ns(virtual_clock);
    }
    Part &part_at(uint64_t offset)
    {
        return offset < FABRIC_SHARED || parts_.size() == 1 ? parts_.front() : parts_.back();
    }
    void catch_up();
    void arm();
    void raise_again(uint64_t line);
    void note_regions();
    void write_stats() const;

    Options options_;
    Ram ram_;
    cosim::Model model_;
    std::unique_ptr<cosim::Shared> shared_;
    std::vector<Part> parts_; // the accelerators, and the shared devices if there are any
    MemoryRegion region_{}, contexts_{};
    void *plic_ = nullptr; // its memory region
    Timer timer_{};
    std::vector<cosim::Region> seen_;
    FILE *trace_ = nullptr;
    uint64_t accesses_ = 0, errors_ = 0, ticks_ = 0;
};

const char *const state_names[] = {"idle", "busy", "preempt", "switch", "reconfig", "hold"};

Device *device;

Device::Device(Options options) : options_(std::move(options)), model_(ram_, options_.waves)
{
    parts_.emplace_back(model_, 0, fabric_lines);
    if (options_.shared) {
        shared_ = std::make_unique<cosim::Shared>(ram_, options_.ends);
        parts_.emplace_back(*shared_, FABRIC_SHARED, shared_lines);
    }
    seen_.resize(model_.regions(), cosim::Region{0, false, 0, 0, 0, false});
    if (!options_.trace.empty()) {
        trace_ = fopen(options_.trace.c_str(), "w");
        if (trace_ == nullptr)
            throw std::runtime_error("trace=" + options_.trace + ": " + strerror(errno));
        fprintf(trace_, "ns region state vm device task configuring\n");
    }
    if (!options_.stats.empty())
        write_stats(); // fails now rather than at the end
}

Device::~Device()
{
    if (trace_ != nullptr)
        fclose(trace_);
    if (!options_.stats.empty())
        write_stats();
}

Result read_callback(void *, uint64_t offset, uint64_t *data, unsigned bytes, Attributes)
{
    cosim::Access access{false, offset, bytes, 0};
    Result result = result_error;
    guarded([&] { result = device->access(access); });
    *data = bytes < 8 ? access.data & ((UINT64_C(1) << 8 * bytes) - 1) : access.data;
    return result;
}

Result write_callback(void *, uint64_t offset, uint64_t data, unsigned bytes, Attributes)
{
    cosim::Access access{true, offset, bytes, data};
    Result result = result_error;
    guarded([&] { result = device->access(access); });
    return result;
}

Result read_context_callback(void *, uint64_t offset, uint64_t *data, unsigned, Attributes)
{
    return device->read_context(offset, data);
}

Result write_context_callback(void *, uint64_t offset, uint64_t data, unsigned, Attributes)
{
    return device->write_context(offset, data);
}

void Device::attach()
{
    static const RegionOps context_ops = {nullptr,
                                          nullptr,
                                          read_context_callback,
                                          write_context_callback,
                                          little_endian,
                                          {4, 4, false, nullptr},
                                          {4, 4, false}};
    static const RegionOps ops = {nullptr,        nullptr,       read_callback,
                                  write_callback, little_endian, {1, 8, false, nullptr},
                                  {1, 8, false}};
    void *plic = qemu.object_resolve_path_type("", plic_type, nullptr);
    if (plic == nullptr)
        throw std::runtime_error(std::string("this machine has no PLIC (") + plic_type +
                                 "); expected -M virt");
    if (options_.period == 0)
        options_.period = *qemu.use_icount != 0 ? period_counted : period_host;
    if (options_.quantum == 0)
        options_.quantum = quantum_default;
    qemu.memory_region_init_io(&region_, nullptr, &ops, nullptr, "tessera-fabric",
                               options_.shared ? span : FABRIC_SPAN);
    qemu.memory_region_add_subregion_overlap(qemu.get_system_memory(), options_.base, &region_, 1);
    plic_ = qemu.sysbus_mmio_get_region(plic, 0);
    qemu.memory_region_init_io(&contexts_, nullptr, &context_ops, nullptr, "tessera-plic-contexts",
                               contexts_span);
    qemu.memory_region_add_subregion_overlap(qemu.get_system_memory(), plic_base + contexts,
                                             &contexts_, 1);
    uint64_t first = options_.irq;
    for (Part &part : parts_) {
        part.connect(plic, first);
        first += part.num_lines();
    }
    qemu.timer_init_full(
        &timer_, nullptr, virtual_clock, 1, 0, [](void *) { device->tick(); }, nullptr);
    qemu.qemu_register_reset([](void *) { device->reset(); }, nullptr);
    note_regions();
}

void Device::reset()
{
    for (Part &part : parts_)
        part.reset();
    note_regions();
}

/// Simulates up to virtual time.
void Device::catch_up()
{
    uint64_t target = static_cast<uint64_t>(ns()) / options_.period;
    parts_.front().catch_up(target, [this] { note_regions(); });
    if (shared_)
        parts_.back().catch_up(target, [] {});
}

void Device::arm()
{
    uint64_t idle = cosim::Block::forever;
    for (const Part &part : parts_)
        idle = std::min(idle, part.idle());
    if (idle != cosim::Block::forever)
        qemu.timer_mod_ns(&timer_, ns() + static_cast<int64_t>(std::max(options_.quantum, idle) *
                                                               options_.period));
}

Result Device::access(cosim::Access &access)
{
    catch_up();
    bool fine = part_at(access.offset).access(access);
    accesses_++;
    errors_ += fine ? 0 : 1;
    note_regions();
    for (Part &part : parts_)
        part.drive();
    arm();
    return fine ? result_ok : result_error;
}

Result Device::read_context(uint64_t offset, uint64_t *data)
{
    return qemu.memory_region_dispatch_read(plic_, contexts + offset, data, word_size, 0);
}

/// QEMU's PLIC takes the rise of a line for a request. A PLIC looks at the level when an interrupt
/// is completed: a line that is high because of another event or device interrupts again. So lines
/// are raised again then.
Result Device::write_context(uint64_t offset, uint64_t data)
{
    Result result = qemu.memory_region_dispatch_write(plic_, contexts + offset, data, word_size, 0);
    if (offset % context_page == complete_register)
        raise_again(data - options_.irq);
    return result;
}

void Device::raise_again(uint64_t line)
{
    for (Part &part : parts_) {
        if (line < part.num_lines()) {
            part.raise_again(line);
            return;
        }
        line -= part.num_lines();
    }
}

void Device::tick()
{
    ticks_++;
    catch_up();
    for (Part &part : parts_)
        part.drive();
    arm();
}

void Device::note_regions()
{
    if (trace_ == nullptr)
        return;
    for (unsigned n = 0; n < seen_.size(); n++) {
        cosim::Region region = model_.region(n);
        if (!(region != seen_[n]))
            continue;
        seen_[n] = region;
        fprintf(trace_, "%" PRIu64 " %u %s ", parts_.front().now() * options_.period, n,
                region.state < std::size(state_names) ? state_names[region.state] : "unknown");
        if (region.has_client)
            fprintf(trace_, "%u %u", region.vm, region.device);
        else
            fprintf(trace_, "- -");
        fprintf(trace_, " %u %d\n", region.task, region.configuring);
        fflush(trace_);
    }
}

void Device::write_stats() const
{
    FILE *file = fopen(options_.stats.c_str(), "w");
    if (file == nullptr)
        throw std::runtime_error("stats=" + options_.stats + ": " + strerror(errno));
    uint64_t simulated = 0, skipped = 0, lead = 0, complaints = 0;
    for (const Part &part : parts_) {
        simulated += part.simulated();
        skipped += part.skipped();
        lead = std::max(lead, part.lead());
        complaints += part.complaints();
    }
    fprintf(file,
            "{\"cycles_simulated\": %" PRIu64 ", \"cycles_skipped\": %" PRIu64
            ", \"accesses\": %" PRIu64 ", \"access_errors\": %" PRIu64 ", \"timer_calls\": %" PRIu64
            ", \"lead_cycles\": %" PRIu64 ", \"axi_complaints\": %" PRIu64
            ", \"period_ns\": %" PRIu64 ", \"quantum_cycles\": %" PRIu64 "}\n",
            simulated, skipped, accesses_, errors_, ticks_, lead, complaints, options_.period,
            options_.quantum);
    fclose(file);
}

void attach_callback(Notifier *, void *)
{
    guarded([] { device->attach(); });
}

/// Not QEMU's own callback: it comes after the destructors of this object's variables.
void exit_callback()
{
    guarded([] {
        delete device;
        device = nullptr;
    });
}

Notifier machine_done = {attach_callback, {}};

} // namespace

// ---- QEMU's plugin interface ----

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int qemu_plugin_version;
int qemu_plugin_version = PLUGIN_VERSION;

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);
int qemu_plugin_install(uint64_t, const void *, int argc, char **argv)
{
    std::string missing = find_symbols();
    if (!missing.empty()) {
        fprintf(stderr,
                "fabric: this QEMU does not export:%s. Expected a QEMU that was built with "
                "loadable modules, such as "
                "Debian's 7.2 or 10.0\n",
                missing.c_str());
        return 1;
    }
    guarded([&] { device = new Device(options_of(argc, argv)); });
    qemu.qemu_add_machine_init_done_notifier(&machine_done);
    atexit(exit_callback);
    return 0;
}
