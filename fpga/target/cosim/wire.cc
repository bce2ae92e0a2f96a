// SPDX-License-Identifier: Apache-2.0
// See wire.h.
#include "wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr uint16_t enable = 0x200, error = 0x100;
constexpr unsigned gap_cycles = 12;
constexpr size_t preamble_bytes = 7, fcs_bytes = 4, least_bytes = 60, header_bytes = 14,
                 tag_bytes = 4;
constexpr uint8_t preamble = 0x55, start = 0xd5;
constexpr uint64_t cycle_ns = 10;

// The host: 192.168.76.1.
constexpr std::array<uint8_t, 6> host_mac = {0x02, 0x54, 0x53, 0x00, 0x00, 0x01};
constexpr std::array<uint8_t, 4> host_ip = {192, 168, 76, 1};

uint32_t crc32(const uint8_t *bytes, size_t number)
{
    uint32_t crc = 0xffffffff;
    for (size_t n = 0; n < number; n++) {
        crc ^= bytes[n];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

Frame on_wire(Frame frame)
{
    frame.resize(std::max(frame.size(), least_bytes));
    uint32_t sum = crc32(frame.data(), frame.size());
    for (unsigned n = 0; n < fcs_bytes; n++)
        frame.push_back(static_cast<uint8_t>(sum >> 8 * n));
    Frame whole(preamble_bytes, preamble);
    whole.push_back(start);
    whole.insert(whole.end(), frame.begin(), frame.end());
    return whole;
}

/// The frame without preamble and FCS, or nothing if it is damaged.
std::optional<Frame> off_wire(const Frame &bytes)
{
    auto begin = std::find(bytes.begin(), bytes.end(), start);
    if (begin == bytes.end() ||
        bytes.end() - begin < static_cast<long>(1 + least_bytes + fcs_bytes))
        return {};
    Frame frame(begin + 1, bytes.end() - fcs_bytes);
    Frame again = on_wire(frame);
    if (!std::equal(again.end() - fcs_bytes, again.end(), bytes.end() - fcs_bytes))
        return {};
    return frame;
}

uint16_t word(const Frame &frame, size_t at)
{
    return static_cast<uint16_t>(frame[at] << 8 | frame[at + 1]);
}

/// The ones' complement sum of RFC 1071 over an even number of bytes.
uint16_t checksum(const Frame &frame, size_t begin, size_t end)
{
    uint32_t sum = 0;
    for (size_t at = begin; at + 1 < end; at += 2)
        sum += word(frame, at);
    if ((end - begin) % 2 != 0)
        sum += static_cast<uint32_t>(frame[end - 1] << 8);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

void put(Frame &frame, size_t at, uint16_t value)
{
    frame[at] = static_cast<uint8_t>(value >> 8);
    frame[at + 1] = static_cast<uint8_t>(value);
}

template <size_t N> bool equals(const Frame &frame, size_t at, const std::array<uint8_t, N> &bytes)
{
    return frame.size() >= at + N &&
           std::equal(bytes.begin(), bytes.end(), frame.begin() + static_cast<long>(at));
}

template <size_t N> void copy(Frame &frame, size_t at, const std::array<uint8_t, N> &bytes)
{
    std::copy(bytes.begin(), bytes.end(), frame.begin() + static_cast<long>(at));
}

/// The answer with the addresses of both ends exchanged; a VLAN tag stays.
Frame answer_to(const Frame &frame)
{
    Frame answer = frame;
    std::copy(frame.begin() + 6, frame.begin() + 12, answer.begin());
    copy(answer, 6, host_mac);
    return answer;
}

/// Answers an ARP request for the host (RFC 826).
std::optional<Frame> answer_arp(const Frame &frame, size_t at)
{
    constexpr size_t bytes = 28, operation = 6, sender = 8, target = 18, target_ip = 24;
    if (frame.size() < at + bytes || word(frame, at + operation) != 1 ||
        !equals(frame, at + target_ip, host_ip))
        return {};
    Frame answer = answer_to(frame);
    put(answer, at + operation, 2);
    std::copy_n(frame.begin() + static_cast<long>(at + sender), 10,
                answer.begin() + static_cast<long>(at + target));
    copy(answer, at + sender, host_mac);
    copy(answer, at + sender + 6, host_ip);
    return answer;
}

/// Answers an echo request to the host (RFC 792).
std::optional<Frame> answer_echo(const Frame &frame, size_t at)
{
    constexpr size_t least = 20, length = 2, protocol = 9, source = 12, destination = 16;
    constexpr uint8_t icmp = 1, echo = 8;
    if (frame.size() < at + least || frame[at + protocol] != icmp ||
        !equals(frame, at + destination, host_ip))
        return {};
    size_t data = at + 4u * (frame[at] & 15u), end = at + word(frame, at + length);
    if (end > frame.size() || data + 8 > end || frame[data] != echo ||
        checksum(frame, data, end) != 0)
        return {};
    Frame answer = answer_to(frame);
    std::copy_n(frame.begin() + static_cast<long>(at + source), 4,
                answer.begin() + static_cast<long>(at + destination));
    copy(answer, at + source, host_ip);
    put(answer, data, 0);
    put(answer, data + 2, 0);
    put(answer, data + 2, checksum(answer, data, end));
    return answer;
}

std::optional<Frame> answer_of_host(const Frame &frame)
{
    constexpr uint16_t tagged = 0x8100, arp = 0x0806, ipv4 = 0x0800;
    size_t at = word(frame, header_bytes - 2) == tagged ? header_bytes + tag_bytes : header_bytes;
    switch (word(frame, at - 2)) {
    case arp:
        return answer_arp(frame, at);
    case ipv4:
        return answer_echo(frame, at);
    default:
        return {};
    }
}

struct PcapHeader {
    uint32_t magic = 0xa1b23c4d; // times in ns
    uint16_t major = 2, minor = 4;
    uint32_t zone = 0, accuracy = 0, most = 65535, link = 1; // Ethernet
};

struct PcapRecord {
    uint32_t seconds, ns, kept, bytes;
};

} // namespace

Wire::Wire(const std::string &pcap)
{
    if (pcap.empty())
        return;
    pcap_ = fopen(pcap.c_str(), "wb");
    if (pcap_ == nullptr)
        throw std::runtime_error("pcap=" + pcap + ": " + strerror(errno));
    PcapHeader header;
    fwrite(&header, sizeof header, 1, pcap_);
}

Wire::~Wire()
{
    if (pcap_ != nullptr)
        fclose(pcap_);
}

void Wire::record(const Frame &frame, uint64_t time)
{
    if (pcap_ == nullptr)
        return;
    constexpr uint64_t second = 1000000000;
    uint64_t ns = time * cycle_ns;
    auto bytes = static_cast<uint32_t>(frame.size());
    PcapRecord record = {static_cast<uint32_t>(ns / second), static_cast<uint32_t>(ns % second),
                         bytes, bytes};
    fwrite(&record, sizeof record, 1, pcap_);
    fwrite(frame.data(), 1, frame.size(), pcap_);
    fflush(pcap_);
}

void Wire::deliver(const Frame &frame, uint64_t time)
{
    record(frame, time);
    waiting_.push_back(on_wire(frame));
}

/// A frame of the device is over.
void Wire::finish(uint64_t time)
{
    std::optional<Frame> frame = bad_ ? std::nullopt : off_wire(sending_);
    sending_.clear();
    bad_ = false;
    if (!frame)
        return;
    frames_++;
    record(*frame, time);
    if (!equals(*frame, 0, host_mac))
        waiting_.push_back(on_wire(*frame));
    std::optional<Frame> answer = answer_of_host(*frame);
    if (answer)
        deliver(*answer, time);
}

void Wire::set_loop(bool loop)
{
    loop_ = loop;
}

uint16_t Wire::cycle(uint16_t sent, uint64_t time)
{
    if (loop_)
        return sent;
    if ((sent & enable) != 0) {
        sending_.push_back(static_cast<uint8_t>(sent));
        bad_ = bad_ || (sent & error) != 0;
    } else if (!sending_.empty()) {
        finish(time);
    }
    if (gap_ != 0) {
        gap_--;
        return 0;
    }
    if (waiting_.empty())
        return 0;
    uint16_t received = enable | waiting_.front()[position_++];
    if (position_ == waiting_.front().size()) {
        waiting_.pop_front();
        position_ = 0;
        gap_ = gap_cycles;
    }
    return received;
}

void Wire::inject(const Frame &bytes)
{
    waiting_.push_back(bytes);
}

unsigned Wire::frames() const
{
    return frames_;
}

bool Wire::active() const
{
    return !sending_.empty() || !waiting_.empty() || gap_ != 0;
}

} // namespace cosim
