// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Carries out what is asked over the socket, on all GPUs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "held_tenants.hpp"
#include "tools/nvqos/keep/gpu_thread.hpp"

namespace nvqos {

class RequestHandler {
  public:
    using Gpus = std::vector<std::unique_ptr<GpuThread>>;

    /// By GPU, of those on which goals are kept.
    using Reports = std::map<std::uint32_t, Report>;

    /// What is referred to outlives it. @param fixed goals that were typed or are in the file
    /// @param last of each GPU
    /// @param warn of tenants that use other GPUs than those that their goal is for
    RequestHandler(const Gpus &gpus, const Goals &fixed, const Reports &last, Warn warn)
        : gpus_(gpus), fixed_(fixed), last_(last), warn_(std::move(warn)) {}

    /// `ok …`, `refused …` or `error …`
    std::string answer(const std::string &line, qos::Ns now);
    /// Releases tenants that have ended, and follows processes of others. At least once an epoch.
    void tend(qos::Ns now);
    /// What a GPU's tenants are to have: those that are held stand before the fixed ones.
    Goals goals_on(std::uint32_t gpu, const Goals &fixed) const;

  private:
    std::string hold(const Request &request, qos::Ns now);
    std::string answer_on(const HeldTenant &held) const;
    std::string list(qos::Ns now) const;
    std::string status() const;
    /// By GPU.
    using Uses = std::vector<std::pair<std::uint32_t, std::vector<FamilyUse>>>;
    Uses uses() const;
    static std::string sentence_of(const HeldTenant &held, const Uses &all);
    Outcome<std::vector<std::uint32_t>> gpus_of(const Request &request) const;
    /// Fails if all GPUs on which the tenant is to be held are left out now.
    Outcome<void> expect_any(const std::vector<std::uint32_t> &wanted) const;
    /// Takes the goals of the registry to all GPUs, or to none.
    Outcome<void> apply();
    void remove(const std::string &name);
    void look_elsewhere();

    const Gpus &gpus_;
    const Goals &fixed_;
    const Reports &last_;
    const Warn warn_;
    HeldTenants tenants_;
    qos::Ns looked_elsewhere_ = 0;
};

} // namespace nvqos
