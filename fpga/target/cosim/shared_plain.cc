// SPDX-License-Identifier: Apache-2.0
// The shared devices by plain functions, for tests of hardware and software on this machine.
#include "plain.h"
#include "shared.h"

#include <algorithm>

namespace
{

cosim::TestMemory memory;

// Not destroyed at the end of the process, when Verilator's own variables and the test's functions
// are gone.
cosim::Shared *shared;

} // namespace

/// Makes the devices, after a reset. `translate` returns a pointer to 8 bytes at a host-physical
/// address, or null. The names are those of cosim::SharedOptions, or empty.
PUBLIC void shared_make(cosim::Translate translate, const char *flash, const char *pcap,
                        const char *pins, const char *screen, const char *uart)
{
    memory.translate = translate;
    delete shared;
    shared = nullptr;
    shared = new cosim::Shared(memory, cosim::SharedOptions{uart, "", flash, pcap, pins, screen});
}

PUBLIC void shared_reset()
{
    shared->reset();
}

/// Reads a register at an offset from the start of the devices' addresses. Returns false on a bus
/// error.
PUBLIC bool shared_read(uint64_t offset, unsigned bytes, uint64_t *value)
{
    cosim::Access access{false, offset, bytes, 0};
    bool fine = shared->access(access);
    *value = access.data;
    return fine;
}

PUBLIC bool shared_write(uint64_t offset, unsigned bytes, uint64_t value)
{
    cosim::Access access{true, offset, bytes, value};
    return shared->access(access);
}

/// Simulates cycles; skips those in which nothing changes.
PUBLIC void shared_step(uint64_t cycles)
{
    while (cycles > 0) {
        uint64_t skipped = std::min(shared->idle(), cycles);
        if (skipped != 0)
            shared->skip(skipped);
        else
            shared->step();
        cycles -= std::max<uint64_t>(skipped, 1);
    }
}

/// Simulates cycles until a condition holds: an interrupt line in `lines` is high. Returns those
/// that are left.
PUBLIC unsigned shared_wait(unsigned lines, unsigned cycles)
{
    while (cycles > 0 && (shared->interrupts() & lines) == 0) {
        shared->step();
        cycles--;
    }
    return cycles;
}

/// As cosim::Block::interrupts().
PUBLIC unsigned shared_interrupts()
{
    return shared->interrupts();
}

PUBLIC unsigned shared_complaints()
{
    return shared->complaints();
}

PUBLIC uint64_t shared_time()
{
    return shared->time();
}

/// Cycles that were simulated, not skipped.
PUBLIC uint64_t shared_cycles()
{
    return shared->cycles();
}

PUBLIC uint32_t shared_pins()
{
    return shared->pins();
}

PUBLIC void shared_receive(const uint8_t *bytes, size_t number)
{
    shared->wire().inject(cosim::Frame(bytes, bytes + number));
}

PUBLIC unsigned shared_sent()
{
    return shared->wire().frames();
}

/// The wire of the Ethernet device ends in itself.
PUBLIC void shared_loop(bool loop)
{
    shared->wire().set_loop(loop);
}

/// As cosim::Shared::set_latency().
PUBLIC void shared_latency(unsigned cycles)
{
    shared->set_latency(cycles);
}

/// The UART receives these bytes.
PUBLIC void shared_type(const char *bytes)
{
    shared->type(bytes);
}
