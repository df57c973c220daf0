// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Names of pods for threads that must not wait for a folder.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pod_names.hpp"

namespace nvdebug::base {

/// Reads names of pods (PodNames) in a thread of its own. Any thread may ask.
class PodNameThread {
  public:
    /// So many ids there are at most; further ones have no name.
    static constexpr std::size_t most_ids = 20'000;
    /// An id is forgotten if it was not asked for in this time.
    static constexpr std::chrono::minutes keeps{10};

    /// Starts the thread, which takes over the signals that are blocked in the caller.
    explicit PodNameThread(std::vector<std::string> folders);
    PodNameThread(const PodNameThread &) = delete;
    PodNameThread &operator=(const PodNameThread &) = delete;
    ~PodNameThread();

    /// Returns the name if it is known. Else the thread looks for it, and a later call may have it.
    [[nodiscard]] std::optional<PodName> find(const Identity &id);
    /// Waits until each id that find() was called with has been looked for, but not for longer than
    /// @p patience. Returns whether that was so.
    bool wait(std::chrono::milliseconds patience);

  private:
    using Clock = std::chrono::steady_clock;
    struct Asked {
        Clock::time_point last;
        bool is_looked_for = false;
    };

    void run();
    std::set<std::string> take_ids();

    std::mutex mutex_; ///< protects the members below, and is held for a copy at most
    std::condition_variable changed_;
    std::map<std::string, Asked> asked_; ///< by id
    bool is_asked_ = false;              ///< find() was called since the last look
    std::size_t waiting_ = 0;            ///< ids that have not been looked for
    bool ending_ = false;
    PodNames known_; ///< a copy of the thread's, for find()

    std::thread thread_; ///< the last member, because it uses the others
};

} // namespace nvdebug::base
