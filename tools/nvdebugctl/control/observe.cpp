// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/observe.hpp"

#include <algorithm>

#include "control/locate.hpp"
#include "json_types.hpp"

namespace nvdebugctl {
namespace {

using nvdebug::EngineState;
using nvdebug::Gpu;
using nvdebug::Runlist;
using nvdebug::Target;
using nvdebug::Tsg;
using Observations = std::vector<Observation>;
using Found = Lists::Found;
using Kind = Observation::Kind;

Json listed_tsgs(const Runlist &runlist) {
    Json ids = Json::array();
    for (const nvdebug::RunlistItem &item : runlist.items)
        if (const Tsg *tsg = std::get_if<Tsg>(&item))
            ids.push_back(tsg->id);
    return ids;
}

Observation of_runlist(std::uint32_t id, std::string property, Json value) {
    return {Kind::runlist, {std::nullopt, id}, std::move(property), std::move(value)};
}

/** Each TSG where it is now; fails unless each is on exactly one list. */
Outcome<std::vector<std::pair<Target, Found>>> find_tsgs(const Lists &lists, const Targets &tsgs) {
    std::vector<std::pair<Target, Found>> places;
    for (const Target &target : tsgs) {
        const auto found = lists.tsg(target);
        if (auto clear = unambiguous_tsg(target, found); !clear)
            return tl::unexpected(clear.error());
        places.emplace_back(Target{found[0].runlist->id, target.id}, found[0]);
    }
    return places;
}

/** Do all of @p ids have a file? Requests for others are refused before anything is written. */
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
        const auto info = gpu.info();
        if (!info)
            return tl::unexpected(Failure(info.error()));
        const auto lists = Lists::read(gpu, channels);
        if (!lists)
            return tl::unexpected(lists.error());
        Observations seen;
        for (const Target &target : channels) {
            const auto found = lists->channel(target);
            if (auto clear =
                    unambiguous_channel(target, info->ids_per_runlist.value_or(true), found);
                !clear)
                return tl::unexpected(clear.error());
            // of one that no list holds, the files do not show the state
            const Target place = found.empty() ? target : Target{found[0].runlist->id, target.id};
            seen.push_back({Kind::channel, place, "enabled",
                            found.empty() ? Json() : or_null(found[0].channel->enabled)});
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
        const auto found = lists->channel(channel);
        if (auto clear = unambiguous_channel(channel, true, found); !clear)
            return tl::unexpected(clear.error());
        if (found.empty())
            return Observations{{Kind::channel, channel, "compute_preemption", Json()}};
        const Target place{found[0].runlist->id, channel.id};
        const nvdebug::Context *context = context_of(*found[0].runlist, *found[0].channel);
        return Observations{{Kind::channel, place, "compute_preemption",
                             context ? or_null(context->compute_preemption) : Json()}};
    };
}

Observe on_engines(const Gpu &gpu, Targets tsgs) {
    return [&gpu, tsgs = std::move(tsgs)]() -> Outcome<Observations> {
        const auto lists = Lists::read(gpu, tsgs);
        if (!lists)
            return tl::unexpected(lists.error());
        const auto places = find_tsgs(*lists, tsgs);
        if (!places)
            return tl::unexpected(places.error());
        const auto states = gpu.engine_states();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const auto &[place, found] : *places) {
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
        const auto places = find_tsgs(*lists, one);
        if (!places)
            return tl::unexpected(places.error());
        const auto &[place, found] = places->front();
        return Observations{
            {Kind::tsg, place, "timeslice_us", microseconds(found.tsg->timeslice_ns)}};
    };
}

Observe listed_beside(const Gpu &gpu, Target tsg) {
    return [&gpu, tsg, home = tsg.runlist]() mutable -> Outcome<Observations> {
        if (!home) {
            const Targets one{tsg};
            const auto lists = Lists::read(gpu, one);
            if (!lists)
                return tl::unexpected(lists.error());
            const auto found = lists->tsg(tsg);
            if (auto clear = unambiguous_tsg(tsg, found); !clear)
                return tl::unexpected(clear.error());
            home = found[0].runlist->id;
        }
        // it may be on the driver's list alone, which a list of the module's own has replaced
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
