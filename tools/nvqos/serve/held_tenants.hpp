// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tenants that were asked for over the socket.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "request.hpp"

namespace nvqos {

/// Returns the time of CLOCK_MONOTONIC, by which requests and goals are scheduled.
[[nodiscard]] qos::Ns monotonic_now();

struct HeldTenant {
    std::string name;
    qos::Goal goal;
    std::vector<std::uint32_t> gpus; ///< empty: all
    std::shared_ptr<Family> family;
    std::optional<nvdebug::base::Birth> holder;
    qos::Ns since;
    bool is_elsewhere = false; ///< it uses a GPU that its goal is not for, and this was said

    bool is_on(std::uint32_t gpu) const;
    /// Has its holder ended, or without one all of its processes?
    bool has_ended() const;
};

class HeldTenants {
  public:
    static constexpr std::size_t most = 1000;

    enum class Added { tenant, processes };
    /// A new tenant, or more processes of one that has the same goal, GPUs and holder. Fails, and
    /// changes nothing, if a process is not there or the name stands for something else.
    /// @param gpus what Request::gpus means
    Outcome<Added> add(const Request &request, std::vector<std::uint32_t> gpus, qos::Ns now);
    void remove(const std::string &name);
    /// nullptr: there is none.
    const HeldTenant *find(const std::string &name) const;
    const std::vector<HeldTenant> &all() const { return all_; }
    /// Notes HeldTenant::is_elsewhere of the tenant with the family, and returns it; nullptr: there is
    /// none.
    const HeldTenant *note_elsewhere(const std::shared_ptr<Family> &family);

    /// Looks for processes that descend from those of tenants, where that is due, in another
    /// thread. Returns whether any were found since the last call, also by others.
    bool look(qos::Ns now);

  private:
    std::vector<HeldTenant> all_; ///< the oldest first
    qos::Ns next_look_ = 0;
    std::future<qos::Ns> looking_; ///< how long it took
    std::uint64_t found_ = 0;      ///< Family::found() of all
};

} // namespace nvqos
