// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/cgroup.hpp"
#include "lib/base/process.hpp"
#include "lib/base/task_name.hpp"
#include "nvdebug/task.hpp"

#include <algorithm>

namespace nvdebug {
namespace {

bool begins(const std::optional<std::string> &id, const std::string &begin) {
    return id && id->starts_with(begin);
}

/// Returns whether a process belongs to the job `17`, or to the step `17.0` of it.
bool is_of_job(const Identity &id, std::string_view wanted) {
    const std::size_t dot = wanted.find('.');
    return id.job == wanted.substr(0, dot) &&
           (dot == wanted.npos || id.step == wanted.substr(dot + 1));
}

} // namespace

bool is_selected(const TaskSelection &selection, const Process &process) {
    const auto holds = [](const auto &wanted, auto fits) { return !wanted || fits(*wanted); };
    const Identity id = identity_of(process);
    return !selection.empty() &&
           (selection.pids.empty() || std::ranges::count(selection.pids, process.pid)) &&
           holds(selection.command,
                 [&](const std::string &name) {
                     return process.command == name.substr(0, base::command_bytes);
                 }) &&
           holds(selection.container,
                 [&](const std::string &begin) { return begins(id.container, begin); }) &&
           holds(selection.pod, [&](const std::string &begin) { return begins(id.pod, begin); }) &&
           holds(selection.job, [&](const std::string &job) { return is_of_job(id, job); }) &&
           holds(selection.cgroup,
                 [&](const std::string &path) {
                     return base::is_below(process.cgroup.value_or(""), path);
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
