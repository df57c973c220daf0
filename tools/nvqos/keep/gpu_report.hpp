// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The report on the goals of one GPU at the end of an epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine_marks.hpp"
#include "launches.hpp"
#include "lib/base/pod_names.hpp"
#include "lib/qos/dependence.hpp"
#include "lib/qos/why_not.hpp"
#include "lib/qos/window_keeper.hpp"

namespace nvqos {

/// Tasks of a tenant with a limit of launches in flight.
struct Limited {
    std::size_t tasks = 0;
    std::uint32_t launches = 0; ///< the smallest limit; 0: no task has one
};

/// Another tenant that can break a goal.
struct Condition {
    std::string tenant; ///< its name
    qos::Dependence::Why why;
};

using qos::WhyNot;

/// The tasks of a tenant that are in one container or pod.
struct TasksInContainer {
    nvdebug::Identity id; ///< has a container or a pod
    std::size_t tasks = 0;
    std::optional<nvdebug::base::PodName> name = {}; ///< empty: not known, or not looked for so far
};

/// A tenant in a line of a report. The last line has all tasks without a tenant.
struct TenantReport {
    std::string name; ///< `others`: tasks without a tenant
    qos::Goal goal;
    qos::Record record;
    qos::Ns credit;
    qos::Lever lever;
    std::size_t tasks;        ///< processes with a context
    std::int64_t tsgs;        ///< TSGs that compete for the GPU
    std::uint64_t violations; ///< epochs in which the goal was not kept, since nvqos began
    std::int64_t waits = 0;   ///< between turns while it had work, since nvqos began
    std::optional<qos::Ns> wait_p99 = {}; ///< of these waits; empty: there were too few
    qos::Ns longest_wait = 0;
    std::size_t held = 0; ///< tasks whose timeslices and pauses are set
    Limited limited = {};
    std::size_t paced = 0;                 ///< tasks whose launches are counted or held for a speed
    std::optional<Pace> pace = {};         ///< if its speed is kept by launches
    int tpcs = 0;                          ///< TPCs that its paced tasks have; 0: all
    std::optional<Requests> requests = {}; ///< of a service, if nvtaskset started it
    std::optional<EngineTimes> engine = {}; ///< with Goal::is_marked(); empty: no marks lately
    std::vector<Condition> depends = {};
    std::optional<qos::Part> got = {}; ///< of the last second; empty: not known, or too little time
    bool is_measured = false; ///< record.kept was measured over a second, and is no forecast
    std::optional<WhyNot> why_not = {}; ///< empty: the second counts, by its numbers
    bool is_gang = false;               ///< with tasks on several GPUs: they wait for each other
    bool is_on_other_nodes = false;     ///< Gang::nodes
    /// On all GPUs; empty: it is no gang, or is alone on its GPUs.
    std::optional<qos::GangReport> gang = {};
    /// So many of its containers are shown one by one at most.
    static constexpr std::size_t most_containers = 64;
    std::vector<TasksInContainer> containers = {}; ///< by the numbers of their first tasks
};

/// Returns whether the goal was kept over the last second. Empty: it has no process, so that there
/// was nothing to keep, or its turns could not be seen, or another tenant can break the goal and
/// nothing was measured so far.
inline std::optional<bool> kept(const TenantReport &tenant) {
    if (!tenant.record.kept)
        return false;
    if (tenant.why_not == WhyNot::cannot_be_seen || tenant.why_not == WhyNot::no_marks)
        return std::nullopt;
    return tenant.tasks && (tenant.depends.empty() || tenant.is_measured) ? std::optional(true)
                                                                          : std::nullopt;
}

/// Calls to the driver of one kind, and for how long the GPU's thread waited for them.
struct Calls {
    std::uint64_t count = 0;
    qos::Ns time = 0;
};

struct Report {
    std::uint32_t gpu;
    qos::EpochRecord epoch;
    std::vector<TenantReport> tenants;
    std::uint64_t lost; ///< switches that the driver did not record, since nvqos began
    /// If promises do not fit (EpochRecord::overcommitted): since when, UTC, and the reason.
    std::string cut_since = {}, why_cut = {};
    /// Since goals are kept on the GPU: reads of the record of switches, and requests for a task, of
    /// which those for several tasks are waited for at once.
    Calls reads = {}, requests = {};
};

} // namespace nvqos
