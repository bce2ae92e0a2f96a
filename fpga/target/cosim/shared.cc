// SPDX-License-Identifier: Apache-2.0
// See shared.h.
#include "shared.h"

#include "Vio_cosim.h"
#include "Vio_cosim__Dpi.h"
#include "recorder.h"
#include "screen.h"
#include "serial.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr unsigned reset_cycles = 8;
constexpr unsigned calm_cycles = 64;    // longer than any reaction to an access
constexpr unsigned access_limit = 1000; // cycles; an access takes 5
constexpr unsigned flash_bytes = 16 << 20;
constexpr uint64_t no_rest = (UINT64_C(1) << 48) - 1;
constexpr uint8_t erased = 0xff;
constexpr uint64_t frame_cycles =
    1000000; // 10 ms, from one frame to the next while VMs show other pictures
constexpr uint64_t still_cycles = 10 * frame_cycles; // otherwise: pixels may have changed in memory
constexpr uint64_t vm_pages = 0x100000; // the pages of the VMs, each of a VM and a device
constexpr unsigned page_bits = 12, devices_of_vm = 16, display = 5;

/// The level of a pad is that of its driver. Pads 2n and 2n + 1 are connected; an undriven wire is
/// low.
uint32_t wired(uint32_t levels, uint32_t driven)
{
    constexpr uint32_t even = 0x55555555;
    uint32_t high = levels & driven;
    uint32_t pairs = (high & even) | (high >> 1 & even);
    return pairs | pairs << 1;
}

/// A VM shows another picture, or waits for a frame.
bool asks_for_frame(const Access &access)
{
    return access.write && access.offset >= vm_pages &&
           (access.offset >> page_bits) % devices_of_vm == display;
}

} // namespace

class Shared::State
{
  public:
    State(Memory &memory, const SharedOptions &options);
    ~State();
    void reset();
    void step();
    uint64_t next_frame() const;
    bool access(Access &access);
    void load_flash();
    void save_flash() const;

    Serial serial; // these four may refuse their files: before the objects of Verilator
    Wire wire;
    Recorder recorder;
    Screen screen;
    VerilatedContext context;
    Vio_cosim top;
    std::string flash;
    uint64_t cycles = 0;
    uint64_t time = 0; // the time base: cycles outside of resets
    uint64_t last_frame = 0;
    bool asked = false; // for a frame, since the last one began
    unsigned calm = 0;  // cycles without activity
};

Shared::State::State(Memory &memory, const SharedOptions &options)
    : serial(options.uart, options.typed), wire(options.pcap), recorder(options.pins),
      screen(options.screen), top(&context, "shared"), flash(options.flash)
{
    use_memory(memory);
    top.latency_i = 0;
    reset();
    load_flash();
}

Shared::State::~State()
{
    save_flash();
    Verilated::threadContextp(&context); // another block's may be destroyed already
    top.final();
}

void Shared::State::load_flash()
{
    if (flash.empty())
        return;
    FILE *file = fopen(flash.c_str(), "a+b"); // makes a file that does not exist
    if (file == nullptr)
        throw std::runtime_error("flash=" + flash + ": " + strerror(errno));
    rewind(file);
    svSetScope(svGetScopeFromName("shared.io_cosim"));
    for (unsigned at = 0; at < flash_bytes; at++) {
        int byte = fgetc(file);
        cosim_flash_set(at, byte == EOF ? erased : static_cast<uint8_t>(byte));
    }
    bool longer = fgetc(file) != EOF; // it is written back, and must not lose its end
    fclose(file);
    if (longer)
        throw std::runtime_error("flash=" + flash + ": expected a file of at most 16 MiB");
}

void Shared::State::save_flash() const
{
    if (flash.empty())
        return;
    FILE *file = fopen(flash.c_str(), "wb");
    svSetScope(svGetScopeFromName("shared.io_cosim"));
    for (unsigned at = 0; at < flash_bytes && file != nullptr; at++)
        fputc(cosim_flash_get(at), file);
    if (file == nullptr || fclose(file) != 0)
        fprintf(stderr, "fabric: flash=%s: the flash is not saved: %s\n", flash.c_str(),
                strerror(errno));
}

void Shared::State::reset()
{
    uint64_t before = time;
    top.access_i = 0;
    top.rx_i = 1;
    top.rst_ni = 0;
    for (unsigned n = 0; n < reset_cycles; n++)
        step();
    top.rst_ni = 1;
    for (unsigned n = 0; n < reset_cycles; n++)
        step(); // io_top releases its own reset some cycles later
    time = before;
    calm = 0;
    screen.reset();
}

/// The time of the next frame. A frame takes many cycles, so few are sent while nothing changes on
/// the screen.
uint64_t Shared::State::next_frame() const
{
    return last_frame + (asked ? frame_cycles : still_cycles);
}

void Shared::State::step()
{
    top.time_i = time;
    top.frame_i = screen.wanted() && time >= next_frame();
    if (top.frame_i) {
        last_frame = time;
        asked = false;
    }
    top.clk_i = 0; // inputs must not change with the rising edge
    top.eval();
    top.clk_i = 1;
    top.eval();
    cycles++;
    time++;
    top.received_i = wire.cycle(top.sent_o, time);
    top.rx_i = serial.cycle(top.tx_o, top.bit_cycles_o);
    top.pin_i = wired(top.pin_o, top.pin_oe_o);
    recorder.record(top.pin_o, top.pin_oe_o, time);
    if (screen.wanted()) {
        if ((top.screen_o & 2) != 0)
            screen.take((top.screen_o & 1) != 0, top.color_o);
        if (top.frame_ends_o)
            screen.finish();
    }
    calm = top.active_o || wire.active() || serial.active() ? 0 : calm + (calm < calm_cycles);
}

bool Shared::State::access(Access &access)
{
    top.access_i = 1;
    top.access_write_i = access.write;
    top.access_addr_i = access.offset;
    top.access_size_i = static_cast<CData>(__builtin_ctz(access.bytes));
    top.access_data_i = access.data;
    asked = asked || asks_for_frame(access);
    for (unsigned n = 0; n < access_limit; n++) {
        step();
        top.access_i = 0;
        calm = 0;
        if (top.access_done_o) {
            access.data = top.access_data_o;
            return top.access_resp_o == 0;
        }
    }
    throw std::runtime_error("the shared devices do not answer an access");
}

Shared::Shared(Memory &memory, const SharedOptions &options)
    : state_(std::make_unique<State>(memory, options))
{
}

Shared::~Shared() = default;

void Shared::reset()
{
    state_->reset();
}

void Shared::step()
{
    state_->step();
}

void Shared::skip(uint64_t cycles)
{
    state_->time += cycles;
    state_->top.time_i = state_->time;
    state_->top.eval();
}

bool Shared::access(Access &access)
{
    return state_->access(access);
}

uint64_t Shared::cycles() const
{
    return state_->cycles;
}

/// Commands of pins, and frames, begin some cycles before their time.
uint64_t Shared::idle() const
{
    if (state_->calm < calm_cycles)
        return 0;
    uint64_t rest = state_->top.rest_o == no_rest ? forever : state_->top.rest_o;
    if (state_->screen.wanted())
        rest = std::min(rest, std::max(state_->next_frame(), state_->time) - state_->time);
    if (rest == forever)
        return forever;
    return rest > calm_cycles ? rest - calm_cycles : 0;
}

unsigned Shared::interrupts() const
{
    return state_->top.irq_manager_o | static_cast<unsigned>(state_->top.irq_vm_o) << 1;
}

unsigned Shared::complaints() const
{
    return state_->top.complaints_o;
}

uint64_t Shared::time() const
{
    return state_->time;
}

uint32_t Shared::pins() const
{
    return state_->top.pin_i;
}

void Shared::type(const std::string &bytes)
{
    state_->calm = 0;
    state_->serial.type(bytes);
}

void Shared::set_latency(unsigned cycles)
{
    state_->top.latency_i = static_cast<CData>(cycles);
}

Wire &Shared::wire()
{
    return state_->wire;
}

} // namespace cosim
