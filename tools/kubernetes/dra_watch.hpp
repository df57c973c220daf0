// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Follows nvqos over `watch` (docs/qos.md): its GPUs, its tenants, and whether goals are kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "nvqos_state.hpp"

namespace nvdebug::kubernetes {

using Clock = std::chrono::steady_clock;

/// What is known of nvqos.
struct NvqosView {
    Outcome<NvqosState> state; ///< fails while no nvqos answers
    /// By GPU and tenant: whether the goal is kept. A goal that cannot be judged is missing.
    std::map<std::pair<std::uint32_t, std::string>, bool> kept = {};
    /// By GPU: when a goal was last seen not kept.
    std::map<std::uint32_t, Clock::time_point> last_not_kept = {};
};

/// Watches in a thread of its own, because an nvqos that hangs must stop nothing else.
class NvqosWatch {
  public:
    using Read = std::function<Outcome<NvqosState>()>;
    using Take = std::function<void(const NvqosView &)>;
    /// Calls @p read in the thread when nvqos answers again, when tenants or GPUs change, and every
    /// 5 s; and @p take after each read and each change.
    NvqosWatch(std::string socket, Read read, Take take);
    /// Waits for the thread, which may be waiting for an answer of nvqos.
    ~NvqosWatch();
    NvqosWatch(const NvqosWatch &) = delete;
    NvqosWatch &operator=(const NvqosWatch &) = delete;

  private:
    void follow();
    void follow_connection(int connection);
    /// Reads the goals that are not kept now; changes are known from then on.
    void read_status();
    /// Returns true if the tenants or GPUs have to be read again.
    bool take_line(const std::string &line);
    void read();
    void note(std::uint32_t gpu, const std::string &name, std::optional<bool> kept);
    /// Returns false if the watch is to end.
    bool waits(std::chrono::milliseconds time);

    const std::string socket_;
    const Read read_;
    const Take take_;
    // Of the thread alone:
    NvqosView view_;
    std::string why_ended_; ///< the reason for which the last connection has ended

    int ending_;         ///< an eventfd, readable once the thread is to end
    std::thread thread_; // the last member, because it uses the others
};

} // namespace nvdebug::kubernetes
