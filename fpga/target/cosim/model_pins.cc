// SPDX-License-Identifier: Apache-2.0
// model.h without its optimizations, as the base of the figure cosim.speedup: fabric_sim in one
// class, whose AXI ports are pins that C++ drives, so that each cycle takes two evaluations.
#include "model.h"

#include "Vfabric_sim.h"
#include "verilated.h"

#include <deque>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr unsigned reset_cycles = 8;
constexpr unsigned access_limit = 1000;
constexpr unsigned beat_bytes = 8;
constexpr unsigned axi_error = 3;
constexpr size_t most_bursts = 4;

struct Burst {
    unsigned id;
    uint64_t address;
    unsigned beats; // left
    unsigned response;
};

} // namespace

class Model::State
{
  public:
    explicit State(Memory &memory) : memory_(memory), top_(&context_, "fabric")
    {
        reset();
    }

    void reset();
    void step();
    bool access(Access &access);

    uint64_t cycles = 0;

  private:
    void take_requests();
    void take_data();
    void take_write();
    void take_read();
    void drive_memory();
    bool take_answer(Access &access);

    Memory &memory_;
    VerilatedContext context_;
    Vfabric_sim top_;
    std::deque<Burst> reads_, writes_, answers_;

    friend class Model;
};

void Model::State::reset()
{
    top_.rst_ni = 0;
    for (unsigned n = 0; n < reset_cycles; n++) {
        step();
    }
    top_.rst_ni = 1;
    for (unsigned n = 0; n < reset_cycles; n++) {
        step(); // as in model.cc
    }
    top_.s_axi_bready = 1;
    top_.s_axi_rready = 1;
}

/// One cycle: the transfers of this cycle are known before the edge; the memory's outputs change
/// after it.
void Model::State::step()
{
    top_.clk_i = 0;
    top_.eval();
    take_requests();
    take_data();
    top_.clk_i = 1;
    top_.eval();
    drive_memory();
    cycles++;
}

void Model::State::take_requests()
{
    if (top_.m_axi_arvalid && top_.m_axi_arready) {
        reads_.push_back({top_.m_axi_arid, top_.m_axi_araddr, top_.m_axi_arlen + 1u, 0});
    }
    if (top_.m_axi_awvalid && top_.m_axi_awready) {
        writes_.push_back({top_.m_axi_awid, top_.m_axi_awaddr, top_.m_axi_awlen + 1u, 0});
    }
}

void Model::State::take_data()
{
    if (top_.m_axi_wvalid && top_.m_axi_wready) {
        take_write();
    }
    if (top_.m_axi_rvalid && top_.m_axi_rready) {
        take_read();
    }
    if (top_.m_axi_bvalid && top_.m_axi_bready) {
        answers_.pop_front();
    }
}

void Model::State::take_write()
{
    Burst &burst = writes_.front();

    if (!memory_.write(burst.address, top_.m_axi_wdata, top_.m_axi_wstrb)) {
        burst.response = axi_error;
    }
    burst.address += beat_bytes;
    burst.beats--;
    if (burst.beats == 0) {
        answers_.push_back(burst);
        writes_.pop_front();
    }
}

void Model::State::take_read()
{
    Burst &burst = reads_.front();

    burst.address += beat_bytes;
    burst.beats--;
    if (burst.beats == 0) {
        reads_.pop_front();
    }
}

void Model::State::drive_memory()
{
    top_.m_axi_arready = reads_.size() < most_bursts;
    top_.m_axi_awready = writes_.size() < most_bursts;
    top_.m_axi_wready = !writes_.empty();
    top_.m_axi_rvalid = !reads_.empty();
    if (!reads_.empty()) {
        uint64_t data = 0;
        bool there = memory_.read(reads_.front().address, data);
        top_.m_axi_rid = static_cast<CData>(reads_.front().id);
        top_.m_axi_rdata = data;
        top_.m_axi_rresp = there ? 0 : axi_error;
        top_.m_axi_rlast = reads_.front().beats == 1;
    }
    top_.m_axi_bvalid = !answers_.empty();
    if (!answers_.empty()) {
        top_.m_axi_bid = static_cast<CData>(answers_.front().id);
        top_.m_axi_bresp = static_cast<CData>(answers_.front().response);
    }
}

bool Model::State::access(Access &access)
{
    unsigned lane = access.offset % beat_bytes;

    top_.s_axi_awvalid = access.write;
    top_.s_axi_wvalid = access.write;
    top_.s_axi_arvalid = !access.write;
    top_.s_axi_awaddr = access.offset;
    top_.s_axi_araddr = access.offset;
    top_.s_axi_awsize = static_cast<CData>(__builtin_ctz(access.bytes));
    top_.s_axi_arsize = top_.s_axi_awsize;
    top_.s_axi_awburst = 1;
    top_.s_axi_arburst = 1;
    top_.s_axi_wdata = access.data << 8 * lane;
    top_.s_axi_wstrb = static_cast<CData>(((1u << access.bytes) - 1) << lane);
    top_.s_axi_wlast = 1;
    for (unsigned n = 0; n < access_limit; n++) {
        top_.clk_i = 0;
        top_.eval();
        bool aw = top_.s_axi_awready, w = top_.s_axi_wready, ar = top_.s_axi_arready;
        bool done = take_answer(access);
        step();
        top_.s_axi_awvalid &= !aw;
        top_.s_axi_wvalid &= !w;
        top_.s_axi_arvalid &= !ar;
        if (done) {
            return true;
        }
    }
    throw std::runtime_error("the fabric does not answer an access");
}

bool Model::State::take_answer(Access &access)
{
    if (top_.s_axi_rvalid) {
        access.data = top_.s_axi_rdata >> 8 * (access.offset % beat_bytes);
    }
    return top_.s_axi_rvalid || top_.s_axi_bvalid;
}

Model::Model(Memory &memory, const std::string &) : state_(std::make_unique<State>(memory))
{
}

Model::~Model() = default;

void Model::step()
{
    state_->step();
}

void Model::reset()
{
    state_->reset();
}

void Model::skip(uint64_t)
{
}

uint64_t Model::idle() const
{
    return 0; // never skipped
}

unsigned Model::interrupts() const
{
    return 0; // not read here
}

bool Model::access(Access &access)
{
    return state_->access(access);
}

uint64_t Model::cycles() const
{
    return state_->cycles;
}

unsigned Model::complaints() const
{
    return 0; // not checked here
}

uint64_t Model::hash() const
{
    return 0; // not computed here: the ports take other cycles
}

void Model::start_hash()
{
}

} // namespace cosim
