// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Messages about controls to the recorders (nvdebugctl record) that run on this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nvdebug::base {

/// CLOCK_MONOTONIC, the clock of marks.
std::uint64_t monotonic_ns();

struct Mark {
    std::string gpu; ///< `gpu0`
    std::string text;
    std::uint64_t at_ns = monotonic_ns();
};

/// Addresses of the recorders that run now, those of other users among them. Empty also if they
/// cannot be listed.
std::vector<std::string> running_recorders();

/// Returns false if the recorder's queue was full until @p deadline, which may be over: then it
/// does not wait. True also for a recorder that has ended.
bool send_mark(const std::string &recorder, const Mark &mark,
               std::chrono::steady_clock::time_point deadline = {});

/// Sends @p text to every running recorder; none is no error. Recorders with a full queue get
/// 100 ms in all to empty it.
/// @param gpu `gpu0`
/// @return how many did not receive it
std::size_t notify_recorders(const std::string &gpu, const std::string &text);

/// A sentence about recorders that did not receive a message.
[[nodiscard]] std::string missed_mark_sentence(std::size_t recorders);

struct ReceivedMark {
    std::string gpu, text;
    std::uint64_t monotonic_ns;
    std::uint32_t pid; ///< of the sender, from the kernel
};

/// The socket by which a recorder receives marks.
class MarkSocket {
  public:
    MarkSocket();
    MarkSocket(const MarkSocket &) = delete;
    MarkSocket &operator=(const MarkSocket &) = delete;
    ~MarkSocket();

    /// Messages since the last call, of root and the same user only; those of others are discarded.
    /// At most so many messages a call: the rest waits for the next.
    [[nodiscard]] std::vector<ReceivedMark> take();
    static constexpr std::size_t most_at_once = 64;
    /// Messages of others that were discarded: while they come, marks may not get through.
    std::uint64_t refused() const { return refused_; }
    /// Is readable when a message has come; below 0: none can come.
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
    std::uint64_t refused_ = 0;
};

} // namespace nvdebug::base
