// SPDX-License-Identifier: Apache-2.0
// See model.h. The fabric without HW tasks is one Verilated class (fabric_cosim.sv), each HW task
// is another: an object for each region and task, evaluated only when cosim_region.sv calls it.
#include "model.h"

#include "Vfabric_cosim.h"
#include "Vfabric_cosim__Dpi.h"
#include "tasks.h"

#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <stdexcept>

#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace cosim
{

namespace
{

constexpr unsigned reset_cycles = 8;
constexpr unsigned calm_cycles =
    64; // the longest reaction of the fabric to an access: its search list
constexpr unsigned access_limit = 1000; // cycles; an access takes 5
constexpr uint64_t half_period_ns = 5;
constexpr uint64_t fnv_offset = 14695981039346656037u;
constexpr uint64_t fnv_prime = 1099511628211u;

Model::State *model; // the only one, for the functions that Verilator calls

} // namespace

class Model::State
{
  public:
    State(Memory &memory, const std::string &waves);
    ~State();
    void reset();
    void step();
    bool access(Access &access);
    Region region(unsigned number) const;
    void clock_task(unsigned region, unsigned held, bool rst_n, const uint32_t *request,
                    uint32_t *response);
    void settle_task(unsigned region, const uint32_t *request, uint32_t *response);

    // Before the objects that belong to it.
    VerilatedContext context;
    Vfabric_cosim top;
    std::map<unsigned, Sorter> sorters; // by their numbers
    uint64_t cycles = 0;
    unsigned calm = 0; // cycles without activity
    bool hashing = false;
    uint64_t hash = fnv_offset;

  private:
    static constexpr unsigned regions_ = std::extent<decltype(Vfabric_cosim::region_o.m_storage)>();
    void mix(uint64_t value)
    {
        hash = (hash ^ value) * fnv_prime;
    }
    void mix_cycle();
    void edge(bool level);

    std::array<TaskSet, regions_> tasks_;
    std::array<Task *, regions_> held_{}; // the task of a region, or none
#if VM_TRACE_FST
    VerilatedFstC waves_;
#endif

    friend class Model;
};

Model::State::State(Memory &memory, const std::string &waves) : top(&context, "fabric")
{
    model = this;
    use_memory(memory);
    for (unsigned r = 0; r < regions_; r++)
        tasks_[r].create(context, r);
    for (unsigned s = 0; s < COSIM_SORTERS; s++)
        sorters.try_emplace(s, context, s);
    if (!waves.empty()) {
#if VM_TRACE_FST
        context.traceEverOn(true);
        top.trace(&waves_, 99);
        for (TaskSet &set : tasks_)
            set.trace(waves_);
        waves_.open(waves.c_str());
        if (!waves_.isOpen())
            throw std::runtime_error(waves + ": cannot be written");
#else
        throw std::runtime_error(
            "this model has no waveforms: expected the one that `make cosim FST=1` builds");
#endif
    }
    reset();
}

Model::State::~State()
{
    Verilated::threadContextp(&context); // another block's may be destroyed already
    top.final();
#if VM_TRACE_FST
    waves_.close();
#endif
    model = nullptr;
}

void Model::State::edge(bool level)
{
    top.clk_i = level;
    top.eval();
    context.timeInc(half_period_ns);
#if VM_TRACE_FST
    if (waves_.isOpen())
        waves_.dump(context.time());
#endif
}

void Model::State::reset()
{
    top.access_i = 0;
    top.rst_ni = 0;
    held_ = {};
    for (unsigned n = 0; n < reset_cycles; n++)
        step();
    top.rst_ni = 1;
    for (unsigned n = 0; n < reset_cycles; n++) {
        step(); // fabric_top releases its own reset some cycles later
    }
    calm = 0;
}

void Model::State::step()
{
    edge(false); // inputs must not change with the rising edge
    edge(true);
    cycles++;
    calm = top.active_o ? 0 : calm + (calm < calm_cycles);
    if (hashing)
        mix_cycle();
}

void Model::State::mix_cycle()
{
    mix(top.bus_valid_o | static_cast<uint64_t>(top.config_o) << 8 |
        static_cast<uint64_t>(top.irq_manager_o) << 16 | static_cast<uint64_t>(top.irq_vm_o) << 32);
    mix(top.bus_addr_o);
    mix(top.bus_data_o);
    mix(top.access_data_o);
    for (unsigned r = 0; r < regions_; r++)
        mix(top.region_o[r]);
}

bool Model::State::access(Access &access)
{
    top.access_i = 1;
    top.access_write_i = access.write;
    top.access_addr_i = access.offset;
    top.access_size_i = static_cast<CData>(__builtin_ctz(access.bytes));
    top.access_data_i = access.data;
    calm = 0;
    for (unsigned n = 0; n < access_limit; n++) {
        step();
        top.access_i = 0;
        calm = 0;
        if (top.access_done_o) {
            access.data = top.access_data_o;
            return top.access_resp_o == 0;
        }
    }
    throw std::runtime_error("the fabric does not answer an access");
}

Region Model::State::region(unsigned number) const
{
    uint32_t bits = top.region_o[number];
    bool configuring = (top.config_o & 1) != 0 && top.config_o >> 1 == number;
    return {bits & 7u,       (bits >> 3 & 1u) != 0, bits >> 4 & 15u,
            bits >> 8 & 15u, bits >> 12 & 255u,     configuring};
}

void Model::State::clock_task(unsigned region, unsigned held, bool rst_n, const uint32_t *request,
                              uint32_t *response)
{
    Task *task = tasks_[region].find(held);
    if (task != held_[region] && task != nullptr)
        task->reset();
    held_[region] = task;
    if (task != nullptr)
        task->clock(rst_n, request, response);
    else
        memset(response, 0, response_words * sizeof *response);
}

void Model::State::settle_task(unsigned region, const uint32_t *request, uint32_t *response)
{
    if (held_[region] != nullptr)
        held_[region]->settle(request, response);
    else
        memset(response, 0, response_words * sizeof *response);
}

Model::Model(Memory &memory, const std::string &waves)
    : state_(std::make_unique<State>(memory, waves))
{
}

Model::~Model() = default;

void Model::reset()
{
    state_->reset();
}

void Model::step()
{
    state_->step();
}

void Model::skip(uint64_t)
{
}

bool Model::access(Access &access)
{
    return state_->access(access);
}

uint64_t Model::cycles() const
{
    return state_->cycles;
}

uint64_t Model::idle() const
{
    return state_->calm < calm_cycles ? 0 : forever;
}

unsigned Model::interrupts() const
{
    return state_->top.irq_manager_o | static_cast<unsigned>(state_->top.irq_vm_o) << 1;
}

unsigned Model::regions() const
{
    return State::regions_;
}

Region Model::region(unsigned number) const
{
    return state_->region(number);
}

unsigned Model::complaints() const
{
    return state_->top.complaints_o;
}

uint64_t Model::hash() const
{
    return state_->hash;
}

void Model::start_hash()
{
    state_->hashing = true;
}

} // namespace cosim

// ---- Called by fabric_cosim.sv ----

#if COSIM_SPLIT

void cosim_task_clock(unsigned region, unsigned held, svBit rst_n, const svBitVecVal *request,
                      svBitVecVal *response)
{
    cosim::model->clock_task(region, held, rst_n, request, response);
}

void cosim_task_settle(unsigned region, const svBitVecVal *request, svBitVecVal *response)
{
    cosim::model->settle_task(region, request, response);
}

void cosim_sorter_clock(unsigned inputs, unsigned long long key, unsigned order, unsigned value,
                        unsigned *state, unsigned long long *head_key)
{
    cosim::Sorter &sorter = cosim::model->sorters.at(inputs >> 5);

    sorter.clock(inputs, key, order, value);
    *state = sorter.state();
    *head_key = sorter.head_key();
}

#endif
