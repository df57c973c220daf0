// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Marks of engines (include/nvdebug/engine_mark.h), for the threads of the GPUs: which
/// processes are busy or idle, and what their requests took.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/qos/goal.hpp"

namespace nvqos {

/// What the requests of an engine took in the last minute.
struct EngineTimes {
    std::size_t requests = 0; ///< of which a first token was made, or is late
    /// The percentiles of the goal: the time to the first token, and the mean time of a request's
    /// later tokens. Empty: there is no goal for it, or no such request.
    std::optional<qos::Ns> ttft = {}, tpot = {};

    bool is_kept(const qos::Goal &goal) const {
        return (!ttft || *ttft <= goal.ttft.most) && (!tpot || *tpot <= goal.tpot.most);
    }
};

/// Marks come from any process, so that they are used only for the process that the kernel names as
/// their sender, and only while it has a task on the GPU. All times are those at which marks were
/// read. The lock is held for a look at bounded lists.
class EngineMarks {
  public:
    /// A process is busy or idle for so long after its last mark. An engine that dies or hangs is then
    /// judged by the record of switches alone.
    static constexpr qos::Ns lasts = 10 * qos::second;
    /// Requests are judged for so long, and a request that is open for longer is forgotten.
    static constexpr qos::Ns window = 60 * qos::second;
    /// So many processes are kept. The one without a mark for longest makes room for another.
    static constexpr std::size_t most = 256;
    /// So many open requests of a process are kept, and so many times. Further requests are left out.
    static constexpr std::size_t most_requests = 4096;

    /// Takes a mark. Returns whether the process is busy or idle in place of what it was.
    /// @param text `busy`, `idle`, `request ID`, `first ID` or `end ID TOKENS`; all else is left out
    bool take(std::uint32_t pid, std::string_view text, qos::Ns now);
    /// Returns whether the process has a request; empty: it makes no marks.
    std::optional<bool> busy(std::uint32_t pid, qos::Ns now) const;
    /// Returns what the requests of processes took; empty: none was marked lately. A request that has
    /// waited for its first token for longer than the goal counts with that time.
    std::optional<EngineTimes> times(std::span<const std::uint32_t> pids, const qos::Goal &goal,
                                     qos::Ns now) const;

  private:
    struct Open {
        qos::Ns arrived;
        std::optional<qos::Ns> first = {};
    };
    /// Times with the moments at which they were known.
    using Took = std::deque<std::pair<qos::Ns, qos::Ns>>;
    struct State {
        bool busy = false;
        qos::Ns at = 0; ///< the last mark
        std::map<std::string, Open, std::less<>> open = {};
        Took ttft = {}, tpot = {};
    };

    bool take_request(State &state, std::string_view text, qos::Ns now) const;
    std::optional<bool> find(std::uint32_t pid, qos::Ns now) const;

    mutable std::mutex lock_;
    std::map<std::uint32_t, State> states_; ///< by process
};

} // namespace nvqos
