// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file One decision for all GPUs of a machine: what each tenant gets on each GPU in the next
/// epoch.
///
/// A plan is made whenever an epoch ends on one of the GPUs, whose times are those of its own
/// clock. Each GPU carries out its own part of it when its epoch ends. So a GPU that answers late,
/// or not at all, is planned for by the last state that it had, and keeps no other GPU waiting.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "controller.hpp"

namespace qos {

/// The state of one GPU at the end of an epoch, from which the next epoch is planned.
struct GpuView {
    std::uint32_t gpu = 0; ///< its number
    Settings settings = {};
    std::vector<Entrant> entrants = {}; ///< by tenant; with 0 TSGs it is not there
    std::vector<Account> accounts = {}; ///< by tenant
    std::vector<Observation> seen = {}; ///< by tenant, in the epoch that ends; empty: none ends
};

/// Plans the next epoch on all GPUs. Returns a plan for each, in their order.
///
/// For now goals are of one GPU each, so each GPU is planned by next_epoch() alone. A rule that
/// moves time between GPUs, for the ranks of one job, belongs here.
std::vector<Plan> plan(std::span<const GpuView> gpus);

/// Returns what the plan has for the GPU of the view: a Governor's way to a plan.
using Planner = std::function<Plan(GpuView)>;
/// Plans a GPU as if it were the only one.
Plan plan_alone(const GpuView &gpu);

} // namespace qos
