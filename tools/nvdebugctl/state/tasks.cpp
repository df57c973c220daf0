// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tasks.hpp"

#include <algorithm>
#include <array>
#include <pwd.h>

#include "cli/json.hpp"
#include "state.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {

using nvdebug::OwnedChannel;
using nvdebug::Owners;
using nvdebug::Runlist;

namespace {

/** Its name where there is one, as ps(1) has it. */
std::string user_name(std::uint32_t uid) {
    constexpr std::size_t longest = 4096;
    std::array<char, longest> text{};
    passwd entry{}, *found = nullptr;
    getpwuid_r(uid, &entry, text.data(), text.size(), &found);
    return found ? printable(found->pw_name) : std::to_string(uid);
}

} // namespace

Json head_of(const Context &context, const nvdebug::Process &process) {
    const bool here = context.gpu().tree().source() == nvdebug::Source::driver;
    Json user;
    if (process.uid)
        user = here ? user_name(*process.uid) : std::to_string(*process.uid);
    return {{"pid", process.pid},
            {"user", user},
            {"uid", or_null(process.uid)},
            {"command", or_null(process.command)},
            {"container", or_null(nvdebug::container_of(process))},
            {"cgroup", or_null(process.cgroup)}};
}

Places find_listed(const std::vector<Runlist> &lists, const Owners &owners) {
    Places found;
    for (const Runlist &list : lists)
        for (const auto &[channel, tsg, entries] : nvdebug::channels_of(list)) {
            if (!nvdebug::owner_of(owners, *channel))
                continue;
            for (const OwnedChannel &owned : owners.channels)
                if (owned.instance_place == channel->instance_place)
                    found[&owned] = {list.id, tsg ? std::optional(tsg->id) : std::nullopt, channel,
                                     tsg};
        }
    return found;
}

std::vector<Task> tasks_of(const Owners &owners, const nvdebug::Process &process) {
    std::vector<Task> tasks;
    std::map<std::pair<std::uint32_t, std::optional<std::uint32_t>>, std::size_t> known;
    for (const OwnedChannel &owned : owners.channels) {
        if (owned.pid != process.pid)
            continue;
        const auto [at, fresh] = known.try_emplace({owned.client, owned.tsg}, tasks.size());
        if (fresh || !owned.tsg)
            tasks.emplace_back();
        tasks[owned.tsg ? at->second : tasks.size() - 1].push_back(&owned);
    }
    return tasks;
}

const Listed *place_of(const Task &task, const Places &places) {
    for (const OwnedChannel *channel : task)
        if (const auto found = places.find(channel); found != places.end())
            return &found->second;
    return nullptr;
}

Json timeslice_of(const Task &task, const Places &places) {
    const Listed *const place = place_of(task, places);
    if (place && place->header)
        return microseconds(place->header->timeslice_ns);
    const auto asked = task.front()->timeslice_ns;
    // For the driver a microsecond has 1,024 ns (docs/hardware.md).
    return asked ? microseconds(*asked / 1000 * 1024) : Json();
}

std::vector<Runlist> lists_of_tasks(Context &context) {
    auto lists = read_runlists(context, nvdebug::Detail::brief);
    if (lists)
        return std::move(*lists);
    nvdebug::Error error = lists.error().error;
    error.sentence = "which runlist and TSG it is, is not shown: " + error.sentence;
    context.missing(std::move(error));
    return {};
}

void say_passed_over(Context &context, const Owners &owners) {
    if (owners.denied || owners.refused)
        context.missing({nvdebug::ErrorCode::denied, 0, context.gpu().path("owners"),
                         "not all of it is shown: " + passed_over(owners)});
    else if (const std::string over = passed_over(owners); !over.empty())
        context.note("there may be more: " + over);
}

} // namespace nvdebugctl
