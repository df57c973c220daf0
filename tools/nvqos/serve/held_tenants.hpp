// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tenants that are held by requests over the socket.
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

/// A tenant that a request has asked for, until it is released or its holder ends.
struct HeldTenant {
    std::string name;
    qos::Goal goal;
    std::vector<std::uint32_t> gpus; ///< empty: all
    std::shared_ptr<Family> family;
    std::optional<nvdebug::base::Birth> holder;
    qos::Ns since;
    bool is_gang = true;       ///< Tenant::is_gang
    bool is_elsewhere = false; ///< it uses a GPU without its goal, and a warning was printed

    bool is_on(std::uint32_t gpu) const;
    /// Returns whether its holder has ended, or without a holder all of its processes.
    bool has_ended() const;
};

class HeldTenants {
  public:
    static constexpr std::size_t most = 1000;

    enum class Added { tenant, processes };
    /// Adds a tenant, or processes of a tenant with the same goal, GPUs and holder. Fails, and
    /// changes nothing, if a process is not there or the name stands for something else.
    /// @param gpus what Request::gpus means
    Outcome<Added> add(const Request &request, std::vector<std::uint32_t> gpus, qos::Ns now);
    void remove(const std::string &name);
    /// Returns the tenant of that name; nullptr: there is none.
    const HeldTenant *find(const std::string &name) const;
    const std::vector<HeldTenant> &all() const { return all_; }
    /// Sets HeldTenant::is_elsewhere of the tenant with the family, and returns the tenant;
    /// nullptr: there is none.
    const HeldTenant *note_elsewhere(const std::shared_ptr<Family> &family);

    /// Begins a search for descendants of the tenants' processes in another thread, if one is due.
    /// Returns whether this or another search has found any since the last call.
    bool follow_processes(qos::Ns now);

  private:
    std::vector<HeldTenant> all_; ///< the oldest first
    qos::Ns next_search_ = 0;
    std::future<qos::Ns> searching_; ///< the time that the search took
    std::uint64_t found_ = 0;        ///< Family::found() of all
};

} // namespace nvqos
