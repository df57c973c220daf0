// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Messages about controls to the recorders (nvdebugctl record) that run on this machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace nvdebug::base {

/// Returns CLOCK_MONOTONIC in ns, the clock of marks.
std::uint64_t monotonic_ns();

struct Mark {
    std::string gpu; ///< `gpu0`
    std::string text;
    std::uint64_t at_ns = monotonic_ns();
};

/// Returns the addresses of the recorders that run now, also of recorders of other users. Empty if
/// the addresses cannot be listed.
std::vector<std::string> running_recorders();

/// Sends a mark to a recorder. Returns false if the recorder's queue was full until @p deadline; a
/// deadline in the past means no waiting. Returns true if the recorder has ended.
bool send_mark(const std::string &recorder, const Mark &mark,
               std::chrono::steady_clock::time_point deadline = {});

/// Sends @p text to every running recorder, if there is any. Recorders with a full queue get 100 ms
/// in all to empty it.
///
/// @param gpu `gpu0`
/// @return how many recorders did not receive it
std::size_t notify_recorders(const std::string &gpu, const std::string &text);

/// Returns a sentence about recorders that did not receive a message.
[[nodiscard]] std::string missed_mark_sentence(std::size_t recorders);

struct ReceivedMark {
    std::string gpu, text;
    std::uint64_t monotonic_ns;
    std::uint32_t pid; ///< of the sender, from the kernel
};

/// The socket by which a recorder or nvqos receives marks.
class MarkSocket {
  public:
    MarkSocket();
    /// Binds a path to which every user may write, and takes marks of all users. A socket of an ended
    /// program is replaced. What cannot be bound has no descriptor.
    explicit MarkSocket(const std::string &path);
    MarkSocket(const MarkSocket &) = delete;
    MarkSocket &operator=(const MarkSocket &) = delete;
    ~MarkSocket();

    /// Returns the messages since the last call. A recorder's are from root and from this user, and
    /// messages of other users are discarded. A call takes at most @ref most_at_once messages; the next call takes the
    /// rest.
    [[nodiscard]] std::vector<ReceivedMark> take();
    static constexpr std::size_t most_at_once = 64;
    /// Returns how many messages of other users were discarded. While these come, they may crowd
    /// out marks.
    std::uint64_t refused() const { return refused_; }
    /// Returns a descriptor that is readable when a message has come; below 0: no message can come.
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
    std::string path_ = {}; ///< to be removed; empty: there is none
    std::uint64_t refused_ = 0;
};

} // namespace nvdebug::base
