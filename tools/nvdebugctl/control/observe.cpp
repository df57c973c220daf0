// SPDX-License-Identifier: MIT OR GPL-2.0
#include "observe.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "nvdebug/nvdebug.hpp"
#include "state/state.hpp"

namespace nvdebugctl {
namespace {

// The first part of this file finds the runlist and the TSG of a channel or TSG that the user
// named.

/// The runlists on which the targets may be. Each list is read once.
class Lists {
  public:
    /// Reads the runlists that @p targets name, or all runlists if a target names none.
    static Outcome<Lists> read(const nvdebug::Gpu &gpu, std::span<const nvdebug::Target> targets,
                               nvdebug::Detail detail = nvdebug::Detail::brief);

    /// Returns the list that holds @p target. Fails if no list holds it, or more than one.
    Outcome<const nvdebug::Runlist *> holder(const nvdebug::Target &target,
                                             nvdebug::Listed kind) const;

  private:
    std::vector<nvdebug::Runlist> lists_;
};

using nvdebug::Channel;
using nvdebug::EngineState;
using nvdebug::Gpu;
using nvdebug::Runlist;
using nvdebug::Target;

bool may_be_on(const Target &target, std::uint32_t runlist) {
    return !target.runlist || *target.runlist == runlist;
}

const Channel *find_channel(const Runlist &runlist, std::uint32_t id) {
    for (const nvdebug::ListedChannel &listed : channels_of(runlist))
        if (listed.channel->id == id)
            return listed.channel;
    return nullptr;
}

using Kind = Observation::Kind;

/// Returns the ids of all runlists of the GPU. Fails if it shows none, or if a target names a
/// runlist that the GPU lacks.
Outcome<std::vector<std::uint32_t>> known_runlists(const nvdebug::Gpu &gpu,
                                                   std::span<const Target> targets) {
    auto info = gpu.info();
    if (!info)
        return tl::unexpected(Failure(info.error()));
    if (info->runlists.empty())
        return no_runlists(gpu);
    for (const Target &target : targets)
        if (target.runlist && !std::ranges::count(info->runlists, *target.runlist))
            return no_runlist(gpu.folder(), info->runlists, *target.runlist);
    return std::move(info->runlists);
}

Outcome<Lists> Lists::read(const nvdebug::Gpu &gpu, std::span<const Target> targets,
                           nvdebug::Detail detail) {
    const auto ids = known_runlists(gpu, targets);
    if (!ids)
        return tl::unexpected(ids.error());
    Lists lists;
    for (const std::uint32_t id : *ids) {
        const auto wanted = [id](const Target &target) { return may_be_on(target, id); };
        if (std::ranges::none_of(targets, wanted))
            continue;
        auto runlist = gpu.runlist(id, detail);
        if (!runlist)
            return tl::unexpected(Failure(runlist.error()));
        if (runlist->torn)
            return fail(nvdebug::ErrorCode::busy,
                        fmt::format("{} kept moving while it was read; try again",
                                    gpu.path(fmt::format("runlist{}", id))));
        lists.lists_.push_back(std::move(*runlist));
    }
    return lists;
}

Outcome<const Runlist *> Lists::holder(const Target &target, nvdebug::Listed kind) const {
    const auto found = nvdebug::holder_of(lists_, target, kind);
    return found ? Outcome<const Runlist *>(*found) : tl::unexpected(Failure(found.error()));
}

/// Returns the context of a channel; nullptr: the list shows none. The list may print it below
/// another channel that has the same context.
const nvdebug::Context *context_of(const Runlist &runlist, const Channel &channel) {
    const Channel *holder = &channel;
    // A reference leads to a channel that was printed in full, so there are at most two steps.
    for (int step = 0; step < 2 && holder && holder->instance; ++step) {
        const nvdebug::InstanceBlock &block = *holder->instance;
        if (block.context)
            return &*block.context;
        const auto other = block.same_as_channel ? block.same_as_channel : block.context_as_channel;
        holder = other ? find_channel(runlist, *other) : nullptr;
    }
    return holder && holder->instance && holder->instance->context ? &*holder->instance->context
                                                                   : nullptr;
}

using Observations = std::vector<Observation>;

Json listed_tsgs(const Runlist &runlist) {
    Json ids = Json::array();
    for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(runlist))
        ids.push_back(tsg.id);
    return ids;
}

Observation of_runlist(std::uint32_t id, std::string property, Json value) {
    return {Kind::runlist, {std::nullopt, id}, std::move(property), std::move(value)};
}

/// Returns the target with the runlist that holds it.
Target place_in(const Runlist &runlist, const Target &target) {
    return {runlist.id, target.id};
}

/// Fails if one of the runlists does not exist. So a wrong request is refused before anything is
/// written.
Outcome<void> all_exist(const Gpu &gpu, const Ids &ids) {
    Targets targets;
    for (const std::uint32_t id : ids)
        targets.push_back({id, 0});
    const auto known = known_runlists(gpu, targets);
    return known ? Outcome<void>{} : tl::unexpected(known.error());
}

} // namespace

Observe enabled(const Gpu &gpu, Targets channels) {
    return [&gpu, channels = std::move(channels)]() -> Outcome<Observations> {
        const auto lists = Lists::read(gpu, channels);
        if (!lists)
            return tl::unexpected(lists.error());
        Observations seen;
        for (const Target &target : channels) {
            const auto holder = lists->holder(target, nvdebug::Listed::channel);
            if (!holder)
                return tl::unexpected(holder.error());
            seen.push_back({Kind::channel, place_in(**holder, target), "enabled",
                            or_null(find_channel(**holder, target.id)->enabled)});
        }
        return seen;
    };
}

Observe compute_preemption(const Gpu &gpu, Target channel) {
    return [&gpu, channel]() -> Outcome<Observations> {
        const Targets one{channel};
        const auto lists = Lists::read(gpu, one, nvdebug::Detail::full);
        if (!lists)
            return tl::unexpected(lists.error());
        const auto holder = lists->holder(channel, nvdebug::Listed::channel);
        if (!holder)
            return tl::unexpected(holder.error());
        const nvdebug::Context *context = context_of(**holder, *find_channel(**holder, channel.id));
        return Observations{{Kind::channel, place_in(**holder, channel), "compute_preemption",
                             context ? or_null(context->compute_preemption) : Json()}};
    };
}

Observe on_engines(const Gpu &gpu, Targets tsgs) {
    return [&gpu, tsgs = std::move(tsgs)]() -> Outcome<Observations> {
        const auto lists = Lists::read(gpu, tsgs);
        if (!lists)
            return tl::unexpected(lists.error());
        Targets places;
        for (const Target &target : tsgs) {
            const auto holder = lists->holder(target, nvdebug::Listed::tsg);
            if (!holder)
                return tl::unexpected(holder.error());
            places.push_back(place_in(**holder, target));
        }
        const auto states = gpu.engine_states();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const Target &place : places) {
            const nvdebug::Occupant tsg{nvdebug::Occupant::Kind::tsg, place.id};
            Json engines = Json::array();
            for (const EngineState &state : *states)
                if (state.runlist == place.runlist && state.current == tsg)
                    engines.push_back(state.engine);
            seen.push_back({Kind::tsg, place, "on_engines", std::move(engines)});
        }
        return seen;
    };
}

Observe timeslice(const Gpu &gpu, Target tsg) {
    return [&gpu, tsg]() -> Outcome<Observations> {
        const Targets one{tsg};
        const auto lists = Lists::read(gpu, one);
        if (!lists)
            return tl::unexpected(lists.error());
        const auto holder = lists->holder(tsg, nvdebug::Listed::tsg);
        if (!holder)
            return tl::unexpected(holder.error());
        const auto tsgs = nvdebug::tsgs_of(**holder);
        const auto listed = std::ranges::find(tsgs, tsg.id, &nvdebug::ListedTsg::id);
        return Observations{{Kind::tsg, place_in(**holder, tsg), "timeslice_us",
                             microseconds(listed->headers.front()->timeslice_ns)}};
    };
}

Observe listed_beside(const Gpu &gpu, Target tsg) {
    return [&gpu, tsg, home = tsg.runlist]() mutable -> Outcome<Observations> {
        if (!home) {
            const Targets one{tsg};
            const auto lists = Lists::read(gpu, one);
            if (!lists)
                return tl::unexpected(lists.error());
            const auto holder = lists->holder(tsg, nvdebug::Listed::tsg);
            if (!holder)
                return tl::unexpected(holder.error());
            home = (*holder)->id;
        }
        // The TSG may be only on the driver's list, which a list of the module's has replaced.
        return listed(gpu, {*home})();
    };
}

Observe listed(const Gpu &gpu, Ids runlists) {
    return [&gpu, runlists = std::move(runlists)]() -> Outcome<Observations> {
        if (auto exist = all_exist(gpu, runlists); !exist)
            return tl::unexpected(exist.error());
        Observations seen;
        for (const std::uint32_t id : runlists) {
            const auto runlist = gpu.runlist(id, nvdebug::Detail::brief);
            if (!runlist)
                return tl::unexpected(Failure(runlist.error()));
            seen.push_back(of_runlist(id, "listed_tsgs", listed_tsgs(*runlist)));
        }
        return seen;
    };
}

Observe running(const Gpu &gpu, Ids runlists) {
    return [&gpu, runlists = std::move(runlists)]() -> Outcome<Observations> {
        if (auto exist = all_exist(gpu, runlists); !exist)
            return tl::unexpected(exist.error());
        const auto states = gpu.engine_states();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const std::uint32_t id : runlists) {
            Json occupants = Json::array();
            for (const EngineState &state : *states)
                if (state.runlist == id && state.current)
                    occupants.push_back(occupant(state.current));
            seen.push_back(of_runlist(id, "running", std::move(occupants)));
        }
        return seen;
    };
}

Observe scheduling(const Gpu &gpu, Ids runlists) {
    return [&gpu, runlists = std::move(runlists)]() -> Outcome<Observations> {
        if (auto exist = all_exist(gpu, runlists); !exist)
            return tl::unexpected(exist.error());
        const auto states = gpu.scheduling();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const std::uint32_t id : runlists) {
            const auto state = states->find(id);
            seen.push_back(of_runlist(id, "scheduling",
                                      state == states->end() ? Json() : Json(state->second)));
        }
        return seen;
    };
}

} // namespace nvdebugctl
