// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Marks of goals, in recordings that `nvdebugctl record` makes while goals are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/marks.hpp"
#include "tools/nvqos/failure.hpp"
#include "tools/nvqos/goals.hpp"

namespace nvqos {

/// Sends marks to recorders: a burst, and a few a second after it. Further marks are left out, and
/// a mark has their number. Goals must be kept on time, so nothing waits for a recorder: a recorder
/// with a full queue does not get the mark. Several threads may add marks; one thread sends them.
class Marks {
  public:
    static constexpr std::uint64_t interval_ns =
        250'000'000; ///< between two marks, or two searches for recorders
    static constexpr std::size_t burst = 32, most_at_once = 8;
    /// Any user can make a socket that looks like a recorder's, so the number of recorders is
    /// limited.
    static constexpr std::size_t most_recorders = 16;

    using Clock = std::function<std::uint64_t()>; ///< as nvdebug::base::monotonic_ns()

    explicit Marks(Warn warn, Clock clock = nvdebug::base::monotonic_ns);
    Marks(const Marks &) = delete;
    Marks &operator=(const Marks &) = delete;
    /// Sends the marks that are left, and waits 100 ms at most.
    ~Marks();

    /// Notes a mark, which send() sends.
    void add(std::uint32_t gpu, const std::string &text);
    /// Looks for recorders if there is something to send and the last look was interval_ns ago. If
    /// none runs, the marks are dropped.
    void send();

  private:
    bool may_add(std::uint64_t now);
    void add_left_out(bool all);
    /// Takes at most @p count marks, the oldest first.
    std::vector<nvdebug::base::Mark> take(std::size_t count);
    void send_to(const std::vector<std::string> &recorders,
                 const std::vector<nvdebug::base::Mark> &marks,
                 std::chrono::steady_clock::time_point deadline);

    const Warn warn_;
    const Clock clock_;
    std::mutex lock_; ///< of what follows, up to earned_until_
    std::vector<nvdebug::base::Mark> waiting_;
    std::map<std::uint32_t, std::uint64_t> left_out_; ///< by GPU
    std::uint64_t earned_until_ = 0; ///< marks are counted as one each interval_ns up to then
    std::uint64_t search_at_ = 0;
    std::uint64_t missed_ = 0; ///< marks that a recorder did not get because its queue was full
};

/// Marks the goals of one GPU as they begin, fail and end.
class GoalMarks {
  public:
    /// @param marks outlives this object; nullptr: no marks are made
    GoalMarks(Marks *marks, std::uint32_t gpu) : marks_(marks), gpu_(gpu) {}

    /// Marks each goal that begins, is replaced or ends.
    void set(const Goals &goals);
    /// Adds a mark if the goal is not kept any more, or is kept again.
    void keep(std::size_t tenant, bool kept);
    /// Marks the first pause for a cap.
    void pause(std::size_t tenant);

  private:
    struct Goal {
        Tenant tenant;
        bool kept = true, was_paused = false;
    };

    void add(const Tenant &tenant, const std::string &text);

    Marks *marks_;
    std::uint32_t gpu_;
    std::vector<Goal> goals_; ///< by tenant; the last one is `others`
};

} // namespace nvqos
