// SPDX-License-Identifier: MIT OR GPL-2.0
#include "held_tenants.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "lib/base/marks.hpp"
#include "lib/base/task_name.hpp"

namespace nvqos {
namespace {

using nvdebug::base::Birth;
using qos::Ns;

/// Pauses between two reads of all processes: at least the first, and so many times as long as a
/// read took, so that reading takes a hundredth of the time.
constexpr Ns shortest_pause = 500 * qos::ms, pauses = 100;

Outcome<Birth> living(const char *key, std::uint32_t pid) {
    const auto state = nvdebug::base::state_of(pid);
    if (!state || state->has_ended)
        return fail(bad_usage,
                    fmt::format("{}={}: there is no such process, or it has ended", key, pid));
    return state->birth;
}

} // namespace

Ns monotonic_now() {
    return static_cast<Ns>(nvdebug::base::monotonic_ns());
}

bool HeldTenant::is_on(std::uint32_t gpu) const {
    return gpus.empty() || std::ranges::find(gpus, gpu) != gpus.end();
}

bool HeldTenant::has_ended() const {
    return holder ? !nvdebug::base::lives(*holder)
                  : family->cgroups().empty() && family->has_ended();
}

Outcome<HeldTenants::Added> HeldTenants::add(const Request &request,
                                             std::vector<std::uint32_t> gpus, Ns now) {
    std::vector<Birth> roots;
    for (const std::uint32_t pid : request.pids) {
        const auto root = living("pid", pid);
        if (!root)
            return tl::unexpected(root.error());
        roots.push_back(*root);
    }
    std::optional<Birth> holder;
    if (request.holder) {
        const auto found = living("holder", *request.holder);
        if (!found)
            return tl::unexpected(found.error());
        holder = *found;
    }
    // A path of another cgroup namespace does no harm if the request names processes as well.
    for (const std::string &cgroup : request.cgroups)
        if (nvdebug::base::is_cgroup(cgroup) == false &&
            (roots.empty() || nvdebug::base::has_first_cgroup_namespace()))
            return fail(bad_usage,
                        fmt::format("cgroup={}: there is no such cgroup here; /proc/PID/cgroup has "
                                    "that of a process",
                                    cgroup));
    std::ranges::sort(gpus);
    auto at = std::ranges::find(all_, request.name, &HeldTenant::name);
    const bool is_new = at == all_.end();
    if (is_new) {
        if (all_.size() >= most)
            return fail(bad_usage,
                        fmt::format("there are {} tenants already, and no more are kept: "
                                    "release one",
                                    most));
        all_.push_back({request.name, request.goal, std::move(gpus), std::make_shared<Family>(),
                        holder, now, request.is_gang.value_or(true)});
        at = all_.end() - 1;
    } else if (at->holder != holder) {
        return fail(bad_usage, request.name + " is held for another holder: release it first, or "
                                              "take another name");
    } else if (at->goal != request.goal || at->gpus != gpus) {
        return fail(bad_usage,
                    fmt::format("{} is held with another goal ({}) or for other GPUs: release it "
                                "first, or take another name",
                                request.name, text_of(at->goal)));
    }
    // A request for more processes may leave gang= out.
    if (request.is_gang && at->is_gang != *request.is_gang)
        return fail(bad_usage, fmt::format("{} is held with gang={}: release it first, or take "
                                           "another name",
                                           request.name, at->is_gang ? "on" : "off"));
    for (const Birth &root : roots)
        at->family->add(root);
    for (const std::string &cgroup : request.cgroups)
        at->family->add_cgroup(cgroup);
    next_search_ = 0;
    return is_new ? Added::tenant : Added::processes;
}

void HeldTenants::remove(const std::string &name) {
    std::erase_if(all_, [&](const HeldTenant &held) { return held.name == name; });
}

const HeldTenant *HeldTenants::find(const std::string &name) const {
    const auto found = std::ranges::find(all_, name, &HeldTenant::name);
    return found == all_.end() ? nullptr : &*found;
}

const HeldTenant *HeldTenants::note_elsewhere(const std::shared_ptr<Family> &family) {
    const auto found = std::ranges::find(all_, family, &HeldTenant::family);
    if (found == all_.end())
        return nullptr;
    found->is_elsewhere = true;
    return &*found;
}

bool HeldTenants::follow_processes(Ns now) {
    if (searching_.valid() &&
        searching_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        const Ns took = searching_.get();
        // If add() has asked for a search since this one began, that search is due now.
        if (next_search_ > now)
            next_search_ = now + std::max(shortest_pause, pauses * took);
    }
    std::uint64_t found = 0;
    std::vector<std::shared_ptr<Family>> families;
    for (const HeldTenant &held : all_) {
        found += held.family->found();
        families.push_back(held.family);
    }
    if (!all_.empty() && !searching_.valid() && now >= next_search_) {
        next_search_ = std::numeric_limits<Ns>::max();
        searching_ = std::async(std::launch::async, [families = std::move(families)] {
            const Ns began = monotonic_now();
            look_for_descendants(families);
            return monotonic_now() - began;
        });
    }
    return std::exchange(found_, found) != found;
}

} // namespace nvqos
