// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_tasks.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "cli/json.hpp"
#include "nvdebug/answers.hpp"
#include "nvdebug/task.hpp"
#include "state.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::ErrorCode;
using nvdebug::OwnersOnLists;

/// A task: one process, several processes that share TSGs (MPS), or a TSG whose process is not
/// known.
struct Task {
    std::set<std::uint32_t> pids;
    std::vector<nvdebug::Target> tsgs = {};
    std::optional<double> share = {};
};

/// Takes a part of the answer. Returns nothing if this chip or source has no such thing. Another
/// error is kept.
template <typename T>
std::optional<T> part(GpuTasks &found, const std::string &what, nvdebug::Result<T> result) {
    if (result)
        return std::move(*result);
    nvdebug::Error error = std::move(result).error();
    error.sentence = what + " is not shown: " + error.sentence;
    if (error.code == ErrorCode::denied)
        found.notes.push_back(std::move(error.sentence));
    else if (!is_absent(error))
        found.errors.push_back(std::move(error));
    return std::nullopt;
}

std::optional<nvdebug::Runlist> list_of_gr0(const nvdebug::Gpu &gpu, GpuTasks &found) {
    const char *const what = "what timeslices give to tasks";
    const auto engines = part(found, what, gpu.engines());
    if (!engines)
        return std::nullopt;
    const auto gr0 = std::ranges::find(*engines, "GR0", &nvdebug::Engine::name);
    if (gr0 == engines->end() || !gr0->runlist)
        return std::nullopt;
    auto list = part(found, what, gpu.runlist(*gr0->runlist, nvdebug::Detail::brief));
    if (list && list->torn)
        found.errors.push_back({ErrorCode::busy, 0, gpu.path(runlist_file(list->id)),
                                std::string(what) + " is not shown: the list of gpu" +
                                    std::to_string(gpu.index()) +
                                    " moved each time it was read; try again"});
    return list;
}

/// Returns the tasks of a list, in the order of the list.
std::vector<Task> tasks_of(const OwnersOnLists &owned, const nvdebug::Runlist &list) {
    std::vector<Task> tasks;
    for (const nvdebug::TsgShare &tsg : nvdebug::expected_shares(list)) {
        const nvdebug::Target target{list.id, tsg.tsg};
        const auto sharers = owned.sharers(target);
        auto at = sharers.empty() ? tasks.end() : std::ranges::find(tasks, sharers, &Task::pids);
        if (at == tasks.end())
            at = tasks.insert(tasks.end(), {.pids = sharers, .share = 0.0});
        at->tsgs.push_back(target);
        at->share = at->share && tsg.share ? std::optional(*at->share + *tsg.share) : std::nullopt;
    }
    return tasks;
}

Json to_json(const Task &task, const nvdebug::Owners &owners) {
    Json processes = Json::array(), tsgs = Json::array();
    for (const nvdebug::Process &one : owners.processes)
        if (task.pids.contains(one.pid))
            processes.push_back(process(&one));
    for (const nvdebug::Target &tsg : task.tsgs)
        tsgs.push_back(to_string(tsg));
    return {{"processes", std::move(processes)},
            {"tsgs", std::move(tsgs)},
            {"expected_share_percent", percent(task.share)}};
}

} // namespace

nvdebug::Result<GpuTasks> read_gpu_tasks(const nvdebug::Gpu &gpu) {
    GpuTasks found;
    auto list = list_of_gr0(gpu, found);
    auto owners = part(found, "which processes the tasks are", gpu.owners());
    if (!list && !owners)
        return found;
    if (owners)
        if (const std::string over = passed_over(*owners); !over.empty())
            found.notes.push_back("there may be more tasks: " + over);
    std::vector<nvdebug::Runlist> lists;
    if (list)
        lists.push_back(std::move(*list));
    const OwnersOnLists owned(owners ? std::move(*owners) : nvdebug::Owners(), std::move(lists));
    std::vector<Task> tasks;
    if (!owned.lists().empty())
        tasks = tasks_of(owned, owned.lists().front());
    std::ranges::stable_sort(tasks, std::greater{}, &Task::share);
    std::set<std::uint32_t> shown;
    for (const Task &task : tasks)
        shown.insert(task.pids.begin(), task.pids.end());
    for (const nvdebug::Process &process : owned.owners().processes)
        if (!shown.contains(process.pid) && !tsgs_of(owned.owners(), process.pid).empty())
            tasks.push_back({.pids = {process.pid}});
    found.tasks = Json::array();
    for (const Task &task : tasks)
        found.tasks.push_back(to_json(task, owned.owners()));
    return found;
}

} // namespace nvdebugctl
