// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tenants that are held by requests over the socket.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "request.hpp"

namespace nvqos {

/// Returns the time of CLOCK_MONOTONIC, by which requests and goals are scheduled.
[[nodiscard]] qos::Ns monotonic_now();

/// A process that has a part in a tenant until it ends.
struct Holder {
    nvdebug::base::Birth birth;
    std::set<std::string> cgroups; ///< the cgroups in its requests
};

/// A tenant that a request has asked for, until it is released or its holders end.
struct HeldTenant {
    std::string name;
    qos::Goal goal;
    std::string goal_word;           ///< Request::goal_word
    std::vector<std::uint32_t> gpus; ///< empty: all
    std::shared_ptr<Family> family;
    std::vector<Holder> holders = {}; ///< one at most, unless it is joined
    bool is_joined = false; ///< it was made by `join`, so that it may have several holders
    qos::Ns since;
    Gang gang = Gang::on;
    bool is_elsewhere = false; ///< it uses a GPU without its goal, and a warning was printed

    bool is_on(std::uint32_t gpu) const;
    /// Returns whether its holders have ended, or without a holder all of its processes.
    bool has_ended() const;
};

class HeldTenants {
  public:
    /// So many tenants and holders there may be: all are looked at in each epoch. So many cgroups
    /// one tenant may have.
    static constexpr std::size_t most = 1000, most_cgroups = 1000;

    enum class Added { tenant, processes };
    /// Adds a tenant, or processes of a tenant with the same goal, GPUs and holder, and with `join`
    /// also a holder. Fails, and changes nothing, if a process is not there or the name stands for
    /// something else.
    /// @param gpus what Request::gpus means
    Outcome<Added> add(const Request &request, std::vector<std::uint32_t> gpus, qos::Ns now);
    /// Adds a tenant that an earlier nvqos had. Fails if there are too many.
    Outcome<void> put_back(HeldTenant tenant);
    void remove(const std::string &name);
    /// Removes the holders that have ended, with the cgroups that they alone have named, from
    /// tenants that have other holders. Returns whether there were any.
    bool drop_ended_holders();
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
    /// Fails if there is no room for one more tenant or holder.
    Outcome<void> expect_room() const;

    std::vector<HeldTenant> all_; ///< the oldest first
    qos::Ns next_search_ = 0;
    std::future<qos::Ns> searching_; ///< the time that the search took
    std::uint64_t found_ = 0;        ///< Family::found() of all
};

} // namespace nvqos
