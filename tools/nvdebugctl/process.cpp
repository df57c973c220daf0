// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <map>

#include "json.hpp"
#include "state.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::OwnedChannel;
using nvdebug::Owners;
using nvdebug::Runlist;

/** Where the hardware has a channel. */
struct Listed {
    std::uint32_t runlist;
    std::optional<std::uint32_t> tsg;
};

/** Of each channel in @p owners: what list holds it, if any. */
std::map<const OwnedChannel *, Listed> find_listed(const std::vector<Runlist> &lists,
                                                   const Owners &owners) {
    std::map<const OwnedChannel *, Listed> found;
    for (const Runlist &list : lists)
        for (const auto &[channel, tsg, entries] : nvdebug::channels_of(list)) {
            if (!nvdebug::owner_of(owners, *channel))
                continue;
            for (const OwnedChannel &owned : owners.channels)
                if (owned.instance_place == channel->instance_place)
                    found[&owned] = {list.id, tsg ? std::optional(tsg->id) : std::nullopt};
        }
    return found;
}

/** The channels of a TSG as its client knows it. */
using Task = std::vector<const OwnedChannel *>;

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

Json row(const nvdebug::Process &process, const Task &task,
         const std::map<const OwnedChannel *, Listed> &lists) {
    const OwnedChannel *const first = task.empty() ? nullptr : task.front();
    const auto at = std::ranges::find_if(
        task, [&](const OwnedChannel *channel) { return lists.contains(channel); });
    const Listed *const listed = at == task.end() ? nullptr : &lists.at(*at);
    return {{"pid", process.pid},
            {"command", or_null(process.command)},
            {"container", or_null(nvdebug::container_of(process))},
            {"cgroup", or_null(process.cgroup)},
            {"runlist", listed ? Json(listed->runlist) : Json()},
            {"tsg", listed ? or_null(listed->tsg) : Json()},
            {"timeslice_us",
             first && first->timeslice_ns ? microseconds(*first->timeslice_ns) : Json()},
            {"channels", first ? Json(task.size()) : Json()},
            {"client", first ? hex(first->client) : Json()},
            {"client_tsg", first ? hex(first->tsg) : Json()}};
}

/** Lists that can be read; none is no failure: that is for root, the rest is not. */
std::vector<Runlist> lists_of(Context &context) {
    auto lists = read_runlists(context, nvdebug::Detail::brief);
    if (lists)
        return std::move(*lists);
    nvdebug::Error error = lists.error().error;
    error.sentence = "which runlist and TSG it is, is not shown: " + error.sentence;
    context.missing(std::move(error));
    return {};
}

Outcome<Document> list(Context &context) {
    const auto owners = context.gpu().owners();
    if (!owners)
        return tl::unexpected(Failure(owners.error()));
    if (owners->denied || owners->refused)
        context.missing({nvdebug::ErrorCode::denied, 0, context.gpu().path("owners"),
                         "not all of it is shown: " + passed_over(*owners)});
    else if (const std::string over = passed_over(*owners); !over.empty())
        context.note("there may be more: " + over);
    std::map<const OwnedChannel *, Listed> listed;
    if (!owners->channels.empty())
        listed = find_listed(lists_of(context), *owners);
    Json rows = Json::array();
    for (const nvdebug::Process &process : owners->processes) {
        const std::vector<Task> tasks = tasks_of(*owners, process);
        if (tasks.empty())
            rows.push_back(row(process, {}, listed));
        for (const Task &task : tasks)
            rows.push_back(row(process, task, listed));
    }
    return Document{rows};
}

} // namespace

std::vector<Command> process_commands() {
    return {
        {.object = "process",
         .verb = "list",
         .help = "processes that have the GPU open, and the TSGs that they made",
         .columns =
             {{"pid", "number of the process", "uint"},
              {"command", "name of its command, at most 15 bytes; null: it has none", "string?"},
              {"container", "id of the container that its cgroup names; null: none", "string?",
               false},
              {"cgroup", "its cgroup; null: not known", "string?", false},
              {"runlist", "runlist that holds the TSG; null: none does now, or not known", "uint?"},
              {"tsg", "id of the TSG; null: no list holds it now, or not known", "uint?"},
              {"timeslice_us",
               "timeslice of the TSG as the driver was asked for it, in microseconds; null: no "
               "TSG is known of this process",
               "number?"},
              {"channels", "how many channels the process made in the TSG; null: none is known",
               "uint?"},
              {"client", "the driver's name of the process' client; null: none is known", "address",
               false},
              {"client_tsg", "the client's name of the TSG, no hardware id; null: none is known",
               "address", false}},
         .data = "TSGs by process, the oldest process first; a process of which none is known has "
                 "one row",
         .notes = {"Only NVIDIA's driver tells this (--from driver), and captures of it. Root sees "
                   "every process; others see their own, without runlist and id of the TSGs.",
                   "A process without TSG has none on this GPU, or names its objects in a way that "
                   "is not known (seen with CUDA only)."},
         .examples = {{"sudo nvdebugctl --from driver process list", "who is on this GPU"},
                      {"nvdebugctl --from driver process list --csv --columns pid,timeslice_us",
                       "timeslices of your own tasks, for a script"}},
         .run = list},
    };
}

} // namespace nvdebugctl
