// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Passes tenants from the threads of the GPUs to the conductor of windows, and reports back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/qos/window_keeper.hpp"

namespace nvqos {

/// Has the tenants of each GPU for the conductor, and what the conductor knows of gangs for
/// reports. The lock is held for copies alone.
class GangBoard {
  public:
    using Clock = std::chrono::steady_clock;
    using Tenants = std::map<std::uint32_t, std::vector<qos::TenantOnGpu>>; ///< by GPU
    using Reports = std::map<std::string, qos::GangReport>;                 ///< by Tenants::keys()

    /// Sets the tenants that have tasks on a GPU which can be changed. Without any, the GPU has no
    /// windows.
    void set(std::uint32_t gpu, std::vector<qos::TenantOnGpu> tenants) {
        change([&] {
            tenants_[gpu] = std::move(tenants);
            version_++;
        });
    }
    /// Returns the report on a gang; empty: the tenant is none, or is alone on its GPUs.
    std::optional<qos::GangReport> report(const std::string &tenant) const {
        const std::scoped_lock held(lock_);
        const auto at = reports_.find(tenant);
        return at == reports_.end() ? std::nullopt : std::optional(at->second);
    }

    /// Sets whether the clock agrees with those of other nodes.
    void set_clock(bool is_usable) {
        change([&] {
            is_clock_usable_ = is_usable;
            version_++;
        });
    }

    // The conductor calls the following.

    bool is_clock_usable() const {
        const std::scoped_lock held(lock_);
        return is_clock_usable_;
    }

    /// Returns the tenants, and a number that changes with them.
    std::pair<Tenants, std::uint64_t> tenants() const {
        const std::scoped_lock held(lock_);
        return {tenants_, version_};
    }
    /// Waits until the tenants are others than those of @p version. Returns false at the end.
    bool wait_for_others(std::uint64_t version, Clock::time_point until) const {
        return wait(until, [&] { return version_ != version; });
    }
    void put(Reports reports) {
        const std::scoped_lock held(lock_);
        reports_ = std::move(reports);
    }
    /// Ends all waits.
    void end() {
        change([&] { ends_ = true; });
    }
    /// Has the conductor look at the GPUs again.
    void ring() {
        change([&] { version_++; });
    }
    /// Calls @p function under the lock, and looks at the conditions of waits again.
    template <typename Function>
    void change(const Function &function) {
        locked(function);
        wake();
    }
    /// Returns what @p function returns under the lock. No wait ends because of that.
    template <typename Function>
    auto locked(const Function &function) const {
        const std::scoped_lock held(lock_);
        return function();
    }
    /// Looks at the conditions of waits again.
    void wake() const { changed_.notify_all(); }
    /// Waits until the condition is true, which is called under the lock. Returns false at the end.
    template <typename Condition>
    bool wait(Clock::time_point until, const Condition &condition) const {
        std::unique_lock held(lock_);
        changed_.wait_until(held, until, [&] { return ends_ || condition(); });
        return !ends_;
    }

  private:
    mutable std::mutex lock_; ///< of all that follows, and of answers to the conductor
    mutable std::condition_variable changed_;
    Tenants tenants_;
    std::uint64_t version_ = 0;
    Reports reports_;
    bool is_clock_usable_ = false;
    bool ends_ = false;
};

} // namespace nvqos
