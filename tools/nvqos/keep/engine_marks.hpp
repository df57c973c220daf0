// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Processes that mark that they are busy or idle (include/nvdebug/engine_mark.h), for the
/// threads of the GPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "lib/qos/goal.hpp"

namespace nvqos {

/// Marks come from any process, so that they are used only for the process that the kernel names as
/// their sender, and only while it has a task on the GPU. The lock is held for a look at a map.
class EngineMarks {
  public:
    /// A mark is forgotten after so long. An engine that dies or hangs is then known by the record of
    /// switches alone, and a busy one marks its requests more often.
    static constexpr qos::Ns lasts = 10 * qos::second;
    /// So many processes are kept. The one without a mark for longest makes room for another.
    static constexpr std::size_t most = 256;

    /// Takes a mark. Returns whether the process' state is another one than before.
    /// @param text `busy` or `idle`; all else is left out
    bool take(std::uint32_t pid, std::string_view text, qos::Ns now) {
        if (text != "busy" && text != "idle")
            return false;
        const std::scoped_lock held(lock_);
        const auto before = find(pid, now);
        if (!states_.contains(pid) && states_.size() >= most)
            states_.erase(std::ranges::min_element(states_, {},
                                                   [](const auto &one) { return one.second.at; }));
        states_[pid] = {text == "busy", now};
        return before != (text == "busy");
    }
    /// Returns whether the process has a request; empty: it makes no marks.
    std::optional<bool> busy(std::uint32_t pid, qos::Ns now) const {
        const std::scoped_lock held(lock_);
        return find(pid, now);
    }

  private:
    struct State {
        bool busy;
        qos::Ns at;
    };

    std::optional<bool> find(std::uint32_t pid, qos::Ns now) const {
        const auto state = states_.find(pid);
        return state == states_.end() || now - state->second.at >= lasts
                   ? std::nullopt
                   : std::optional(state->second.busy);
    }

    mutable std::mutex lock_;
    std::map<std::uint32_t, State> states_; ///< by process
};

} // namespace nvqos
