// SPDX-License-Identifier: MIT OR GPL-2.0
#include "family.hpp"

#include <algorithm>
#include <map>

#include "lib/base/cgroup.hpp"

namespace nvqos {

using nvdebug::base::Birth;
using nvdebug::base::ProcessState;

bool Family::knows(const nvdebug::Process &process) const {
    return std::ranges::any_of(cgroups_,
                               [&](const std::string &path) {
                                   return nvdebug::base::is_below(process.cgroup.value_or(""),
                                                                  path);
                               }) ||
           (process.started && members_.contains({process.pid, *process.started}));
}

bool Family::has(const nvdebug::Process &process) {
    if (knows(process))
        return true;
    if (!process.started || members_.empty())
        return false;
    const Birth self{process.pid, *process.started};
    constexpr int deepest = 1000; // a bound, as processes come and go meanwhile
    auto at = nvdebug::base::state_of(process.pid);
    for (int depth = 0; depth < deepest && at && at->parent; depth++) {
        at = nvdebug::base::state_of(at->parent);
        if (at && members_.contains(at->birth)) {
            members_.insert(self);
            return true;
        }
    }
    return false;
}

void Family::look(std::span<const ProcessState> all) {
    std::map<std::uint32_t, const ProcessState *> by_pid;
    for (const ProcessState &one : all)
        by_pid.emplace(one.birth.pid, &one);
    std::erase_if(members_, [&](const Birth &member) {
        const auto now = by_pid.find(member.pid);
        return now == by_pid.end() || now->second->birth != member;
    });
    // Of each, up to a member or to one of which it is known.
    std::map<std::uint32_t, bool> known;
    for (const ProcessState &one : all) {
        std::vector<const ProcessState *> path;
        bool belongs = false;
        for (const ProcessState *at = &one; path.size() <= all.size();) {
            const auto before = known.find(at->birth.pid);
            belongs = before != known.end() ? before->second : members_.contains(at->birth);
            path.push_back(at);
            const auto parent = by_pid.find(at->parent);
            if (belongs || before != known.end() || parent == by_pid.end())
                break;
            at = parent->second;
        }
        for (const ProcessState *const each : path) {
            known[each->birth.pid] = belongs;
            if (belongs)
                members_.insert(each->birth);
        }
    }
}

bool Family::has_ended() const {
    return std::ranges::none_of(members_, nvdebug::base::lives);
}

} // namespace nvqos
