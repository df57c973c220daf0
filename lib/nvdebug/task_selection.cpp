// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/process.hpp"
#include "nvdebug/task.hpp"

#include <algorithm>

namespace nvdebug {
namespace {

bool is_below(std::string_view cgroup, std::string_view path) {
    return cgroup.starts_with(path) &&
           (cgroup.size() == path.size() || path.ends_with('/') || cgroup[path.size()] == '/');
}

} // namespace

bool is_selected(const TaskSelection &selection, const Process &process) {
    const auto holds = [](const auto &wanted, auto fits) { return !wanted || fits(*wanted); };
    const auto is = [&](const std::optional<std::string> &wanted,
                        const std::optional<std::string> &value) {
        return !wanted || wanted == value;
    };
    return !selection.empty() &&
           (selection.pids.empty() || std::ranges::count(selection.pids, process.pid)) &&
           is(selection.command, process.command) &&
           holds(selection.container,
                 [&](const std::string &begin) {
                     const auto container = container_of(process);
                     return container && container->starts_with(begin);
                 }) &&
           is(selection.pod, selection.pod ? pod_of(process) : std::nullopt) &&
           is(selection.job, selection.job ? job_of(process) : std::nullopt) &&
           holds(selection.cgroup,
                 [&](const std::string &path) {
                     return is_below(process.cgroup.value_or(""), path);
                 }) &&
           holds(selection.ancestor,
                 [&](std::uint32_t pid) { return descends_from(process.pid, pid); });
}

std::vector<std::uint32_t> select(const TaskSelection &selection, const Owners &owners) {
    std::set<std::uint32_t> with;
    for (const OwnedChannel &channel : owners.channels)
        with.insert(channel.pid);
    std::vector<std::uint32_t> pids;
    for (const Process &process : owners.processes)
        if (with.contains(process.pid) && is_selected(selection, process))
            pids.push_back(process.pid);
    return pids;
}

std::optional<std::uint32_t> parent_of(std::uint32_t pid) {
    return base::parent_of(pid);
}

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
    return base::descends_from(pid, ancestor);
}

} // namespace nvdebug
