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
    if (holders.empty())
        return family->cgroups().empty() && family->has_ended();
    return std::ranges::none_of(
        holders, [](const Holder &holder) { return nvdebug::base::lives(holder.birth); });
}

Outcome<void> HeldTenants::expect_room() const {
    std::size_t count = 0;
    for (const HeldTenant &held : all_)
        count += std::max<std::size_t>(1, held.holders.size());
    if (count < most)
        return {};
    return fail(bad_usage, fmt::format("there are {} tenants and holders already, and no more are "
                                       "kept: release one",
                                       most));
}

Outcome<void> HeldTenants::put_back(HeldTenant tenant) {
    if (auto room = expect_room(); !room)
        return room;
    all_.push_back(std::move(tenant));
    next_search_ = 0;
    return {};
}

bool HeldTenants::drop_ended_holders() {
    bool any = false;
    for (HeldTenant &held : all_) {
        if (held.holders.size() < 2 || held.has_ended())
            continue;
        std::set<std::string> left, gone;
        std::erase_if(held.holders, [&](const Holder &holder) {
            const bool ended = !nvdebug::base::lives(holder.birth);
            (ended ? gone : left).insert(holder.cgroups.begin(), holder.cgroups.end());
            any = any || ended;
            return ended;
        });
        for (const std::string &cgroup : gone)
            if (!left.contains(cgroup))
                held.family->remove_cgroup(cgroup);
    }
    return any;
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
    const bool is_new = at == all_.end(), joins = request.verb == Request::Verb::join;
    const auto is_holder = [&](const Holder &one) { return one.birth == holder; };
    const bool adds_holder = is_new || std::ranges::none_of(at->holders, is_holder);
    if (!is_new && at->is_joined != joins)
        return fail(bad_usage,
                    fmt::format("{} was made by '{}': ask in that way, or take another name",
                                request.name, joins ? "hold" : "join"));
    if (!is_new && !joins && (holder ? adds_holder : !at->holders.empty()))
        return fail(bad_usage, request.name + " is held for another holder: release it first, or "
                                              "take another name, or 'join' from the first one on");
    if (!is_new && (at->goal != request.goal || at->gpus != gpus))
        return fail(bad_usage,
                    fmt::format("{} is held with another goal ({}) or for other GPUs: release it "
                                "first, or take another name",
                                request.name, text_of(at->goal)));
    // A request for more processes may leave gang= out.
    if (!is_new && request.gang && at->gang != *request.gang)
        return fail(bad_usage, fmt::format("{} is held with gang={}: release it first, or take "
                                           "another name",
                                           request.name, text_of(at->gang)));
    if (is_new || (adds_holder && holder))
        if (const auto room = expect_room(); !room)
            return tl::unexpected(room.error());
    if (!is_new && at->family->cgroups().size() + request.cgroups.size() > most_cgroups)
        return fail(bad_usage,
                    fmt::format("{} would have more than {} cgroups: name one above them",
                                request.name, most_cgroups));
    if (is_new) {
        all_.push_back({.name = request.name,
                        .goal = request.goal,
                        .goal_word = request.goal_word,
                        .gpus = std::move(gpus),
                        .family = std::make_shared<Family>(),
                        .is_joined = joins,
                        .since = now,
                        .gang = request.gang.value_or(Gang::on)});
        at = all_.end() - 1;
    }
    if (adds_holder && holder)
        at->holders.push_back({*holder, {}});
    for (const Birth &root : roots)
        at->family->add(root);
    for (const std::string &cgroup : request.cgroups)
        at->family->add_cgroup(cgroup);
    if (const auto asks = std::ranges::find_if(at->holders, is_holder); asks != at->holders.end())
        asks->cgroups.insert(request.cgroups.begin(), request.cgroups.end());
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
