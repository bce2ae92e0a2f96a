// SPDX-License-Identifier: Apache-2.0
// The other end of the Ethernet device's wire: a switch that reflects frames between the VMs, as
// the device expects, and a host that answers ARP and ping. All frames are written to a file for
// Wireshark.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace cosim
{

using Frame = std::vector<uint8_t>; // without preamble and FCS

class Wire
{
  public:
    /// `pcap`: empty, or the name of a file. Throws std::runtime_error if it cannot be written.
    explicit Wire(const std::string &pcap);
    ~Wire();
    Wire(const Wire &) = delete;

    /// One cycle: takes what the device sends, {enable, error, data}, and returns what it receives.
    uint16_t cycle(uint16_t sent, uint64_t time);
    /// The device receives what it sends, in the same cycle, instead of what others send.
    void set_loop(bool loop);
    /// Sends bytes to the device, as they are: with preamble and FCS, or not.
    void inject(const Frame &bytes);
    /// Frames that the device has sent without damage.
    unsigned frames() const;
    /// A frame is on the wire, or will be.
    bool active() const;

  private:
    void finish(uint64_t time);
    void deliver(const Frame &frame, uint64_t time);
    void record(const Frame &frame, uint64_t time);

    FILE *pcap_ = nullptr;
    Frame sending_; // with preamble and FCS
    bool loop_ = false;
    bool bad_ = false;          // an error was signalled in it
    std::deque<Frame> waiting_; // with preamble and FCS
    size_t position_ = 0;       // in the first waiting frame
    unsigned frames_ = 0;
    unsigned gap_ = 0; // cycles before the next one
};

} // namespace cosim
