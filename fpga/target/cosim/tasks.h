// SPDX-License-Identifier: Apache-2.0
// The parts of the fabric that are Verilated classes of their own: the HW tasks of a region, and
// the sorters. Requests and responses of a task are the packed structs of region_pkg.sv, whose
// layout only the RTL knows.
#pragma once

#include "verilated.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#if COSIM_SPLIT
#include "Vhwtask_aes128.h"
#include "Vhwtask_fft1024.h"
#include "Vhwtask_fft512.h"
#include "Vhwtask_g722.h"
#include "Vhwtask_probe.h"
#include "Vhwtask_qam16.h"
#include "Vhwtask_qam64.h"
#include "Vsort_port.h"
#endif
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace cosim
{

#if COSIM_SPLIT
constexpr size_t request_words = sizeof(Vhwtask_qam16::req_i) / sizeof(EData);
constexpr size_t response_words = sizeof(Vhwtask_qam16::rsp_o) / sizeof(EData);
#else
constexpr size_t response_words = 1;
#endif

/// A HW task.
class Task
{
  public:
    virtual ~Task() = default;
    virtual void reset() = 0;
    /// One rising edge of the clock with this request; the response after the edge.
    virtual void clock(bool rst_n, const uint32_t *request, uint32_t *response) = 0;
    /// The response to another request, without an edge.
    virtual void settle(const uint32_t *request, uint32_t *response) = 0;
#if VM_TRACE_FST
    virtual void trace(VerilatedFstC &waves) = 0;
#endif
};

#if COSIM_SPLIT
/// A HW task of the Verilated class `V`.
template <class V> class VerilatedTask : public Task
{
  public:
    VerilatedTask(VerilatedContext &context, const std::string &name) : top_(&context, name.c_str())
    {
        reset();
    }
    ~VerilatedTask() override
    {
        top_.final();
    }

    void reset() override
    {
        top_.clk_i = 0;
        top_.load_i = 0;
        top_.rst_ni = 0;
        top_.eval();
    }

    void clock(bool rst_n, const uint32_t *request, uint32_t *response) override
    {
        top_.rst_ni = rst_n;
        load(request, 0);
        top_.load_i = 0;
        top_.clk_i = 1;
        top_.eval();
        memcpy(response, &top_.rsp_o, sizeof top_.rsp_o);
    }

    void settle(const uint32_t *request, uint32_t *response) override
    {
        load(request, top_.clk_i);
        top_.load_i = 0;
        top_.eval();
        memcpy(response, &top_.rsp_o, sizeof top_.rsp_o);
    }

#if VM_TRACE_FST
    void trace(VerilatedFstC &waves) override
    {
        top_.trace(&waves, 99);
    }
#endif

  private:
    void load(const uint32_t *request, CData clk)
    {
        memcpy(&top_.req_i, request, sizeof top_.req_i);
        top_.load_i = 1;
        top_.clk_i = clk;
        top_.eval();
    }

    V top_;
};
#endif

/// The objects of all HW tasks in one region, by the numbers of fabric_pkg.sv.
class TaskSet
{
  public:
    void create(VerilatedContext &context, unsigned region)
    {
#if COSIM_SPLIT
        std::string prefix = "region" + std::to_string(region) + "_";
        tasks_[1] = std::make_unique<VerilatedTask<Vhwtask_qam16>>(context, prefix + "qam16");
        tasks_[2] = std::make_unique<VerilatedTask<Vhwtask_qam64>>(context, prefix + "qam64");
        tasks_[3] = std::make_unique<VerilatedTask<Vhwtask_fft512>>(context, prefix + "fft512");
        tasks_[4] = std::make_unique<VerilatedTask<Vhwtask_fft1024>>(context, prefix + "fft1024");
        tasks_[5] = std::make_unique<VerilatedTask<Vhwtask_aes128>>(context, prefix + "aes128");
        tasks_[6] = std::make_unique<VerilatedTask<Vhwtask_g722>>(context, prefix + "g722");
        tasks_[probe] = std::make_unique<VerilatedTask<Vhwtask_probe>>(context, prefix + "probe");
#else
        (void)context;
        (void)region;
#endif
    }

    /// The task of this number; none for 0, the probe for a number of no task.
    Task *find(unsigned number)
    {
        return tasks_[number < probe ? number : probe].get();
    }

#if VM_TRACE_FST
    void trace(VerilatedFstC &waves)
    {
        for (auto &task : tasks_) {
            if (task) {
                task->trace(waves);
            }
        }
    }
#endif

  private:
    static constexpr unsigned probe = 7;
    std::unique_ptr<Task> tasks_[probe + 1];
};

/// A sorter behind its port.
class Sorter
{
  public:
#if COSIM_SPLIT
    Sorter(VerilatedContext &context, unsigned index)
        : top_(&context, ("sorter" + std::to_string(index)).c_str())
    {
    }

    /// One rising edge of the clock; `inputs` and state() as in replace/sort_port.sv.
    void clock(unsigned inputs, uint64_t key, unsigned order, unsigned value)
    {
        top_.rst_ni = inputs >> 4 & 1u;
        top_.command_i = inputs >> 3 & 1u;
        top_.op_i = inputs & 7u;
        top_.key_i = key;
        top_.order_i = order;
        top_.value_i = static_cast<SData>(value);
        top_.clk_i = 0;
        top_.eval();
        top_.clk_i = 1;
        top_.eval();
    }

    uint32_t state() const
    {
        return top_.status_o | static_cast<uint32_t>(top_.waiting_o) << 2 |
               static_cast<uint32_t>(top_.head_valid_o) << 3 |
               static_cast<uint32_t>(top_.count_o) << 4 |
               static_cast<uint32_t>(top_.head_value_o) << 13;
    }

    uint64_t head_key() const
    {
        return top_.head_key_o;
    }

  private:
    Vsort_port top_;
#else
    Sorter(VerilatedContext &, unsigned)
    {
    }
#endif
};

} // namespace cosim
