// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Carries out the requests over the socket, on all GPUs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "changes.hpp"
#include "held_tenants.hpp"
#include "tools/nvqos/keep/gpu_thread.hpp"
#include "tools/nvqos/keep/node_clock.hpp"

namespace nvqos {

class RequestHandler {
  public:
    using Gpus = std::vector<std::unique_ptr<GpuThread>>;

    /// The last report of each GPU on which goals are kept, by the GPU's number.
    using Reports = std::map<std::uint32_t, Report>;

    /// @param gpus, fixed, last, clock outlive this object
    /// @param fixed goals of the command line and the file
    /// @param clock for tenants with tasks on other nodes
    /// @param warn gets sentences about tenants that are refused, or that use other GPUs than their goal is for
    RequestHandler(const Gpus &gpus, const Goals &fixed, const Reports &last,
                   const ClockJudge &clock, Warn warn)
        : gpus_(gpus), fixed_(fixed), last_(last), clock_(clock), warn_(std::move(warn)) {}

    /// Returns `ok …`, `refused …` or `error …`. After `ok` to `watch`, changes are collected.
    std::string answer(const std::string &line, qos::Ns now);
    /// Returns the changes since the last call, each a line with its newline.
    /// @param is_watched whether anybody gets them; if not, none are collected until `watch`
    std::string take_changes(bool is_watched);
    /// Holds the tenants again that an earlier nvqos has saved in the file, as far as their holders
    /// live and their goals can be kept, and warns of the others. Saves its own there from now on.
    void keep_in(const std::string &file, qos::Ns now);
    /// Saves the tenants, with the processes that they have now.
    void save();
    /// Releases tenants that have ended, and follows the processes of the others. Is to be called
    /// at least once an epoch.
    void tend(qos::Ns now);
    /// Returns the goals on a GPU. Held tenants stand before the fixed ones.
    Goals goals_on(std::uint32_t gpu, const Goals &fixed) const;
    /// Fails if held tenants that share GPUs cannot have their parts beside @p fixed, although those of
    /// each GPU can be kept (refusal_of_clash()).
    Outcome<void> expect_no_clash(const Goals &fixed) const;

  private:
    std::string hold(const Request &request, qos::Ns now);
    std::string answer_on(const HeldTenant &held) const;
    std::string list(qos::Ns now) const;
    std::string status() const;
    std::string gpus() const;
    WatchedState watched_state() const;
    /// Returns why a saved tenant cannot be held; empty: it can.
    std::string why_not_again(const HeldTenant &held) const;
    /// The use of each tenant, by the GPU's number.
    using Uses = std::vector<std::pair<std::uint32_t, std::vector<FamilyUse>>>;
    Uses uses() const;
    static std::string sentence_of(const HeldTenant &held, const Uses &all);
    /// Returns `gpu=0 asked=share:30% got=31.2% …` for each GPU of the tenant.
    static std::string words_of(const HeldTenant &held, const Uses &all);
    Outcome<std::vector<std::uint32_t>> gpus_of(const Request &request) const;
    /// Fails if all GPUs on which the tenant is to be held are left out now.
    Outcome<void> expect_any(const std::vector<std::uint32_t> &wanted) const;
    /// Sets the goals of held tenants on all GPUs. After a failure, forget() puts the former ones back.
    Outcome<void> apply();
    /// @param what Changes::add_end()
    void remove(const char *what, const std::string &name);
    void forget(const std::string &name);
    void warn_of_other_gpus();
    void warn_of_refusal(const std::string &name, const std::string &sentence);

    const Gpus &gpus_;
    const Goals &fixed_;
    const Reports &last_;
    const ClockJudge &clock_;
    const Warn warn_;
    HeldTenants tenants_;
    Changes changes_;
    std::string file_; ///< in which tenants are saved; empty: they are not
    bool has_warned_of_file_ = false;
    std::map<std::string, std::string> refused_; ///< the last refusal of each name that is not held
    qos::Ns looked_at_ = 0; ///< when other GPUs and changes were last looked at
};

} // namespace nvqos
