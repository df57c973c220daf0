// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "check/rules.hpp"
#include "ids.hpp"
#include "tree/words.hpp"

namespace nvdebugctl {

namespace {

std::string name_of(const nvdebug::Occupant &occupant) {
    return fmt::format("{} {}", occupant.kind == nvdebug::Occupant::Kind::tsg ? "TSG" : "channel",
                       occupant.id);
}

bool holds(const nvdebug::Runlist &list, const nvdebug::Occupant &occupant) {
    if (occupant.kind == nvdebug::Occupant::Kind::channel)
        return std::ranges::any_of(nvdebug::channels_of(list), [&](const auto &listed) {
            return listed.channel->id == occupant.id;
        });
    return std::ranges::any_of(list.items, [&](const nvdebug::RunlistItem &item) {
        auto *tsg = std::get_if<nvdebug::Tsg>(&item);
        return tsg && tsg->id == occupant.id;
    });
}

/** What is wrong with a list in itself. */
std::vector<std::string> defects_of(const nvdebug::Runlist &list) {
    std::vector<std::string> defects;
    if (!list.channels)
        defects.push_back("its aperture is invalid");
    for (const nvdebug::RunlistItem &item : list.items)
        if (auto *tsg = std::get_if<nvdebug::Tsg>(&item); tsg && tsg->truncated)
            defects.push_back(fmt::format("TSG {} announces {} but {} follow", tsg->id,
                                          count_of(tsg->length, "channel"), tsg->channels.size()));
        else if (auto *unknown = std::get_if<nvdebug::UnknownEntry>(&item))
            defects.push_back(fmt::format("entry {} is neither TSG nor channel", unknown->index));
    return defects;
}

/** Why what is listed is not, or not yet, what Host goes round. */
std::vector<std::string> doubts_about(const nvdebug::Runlist &list, const State &state) {
    std::vector<std::string> doubts;
    if (list.torn)
        doubts.push_back("it moved while it was read (torn)");
    if (list.pending)
        doubts.push_back("a newer list was submitted and is not taken over yet (pending)");
    if (state.scheduling && list.entries > 0)
        if (auto found = state.scheduling->find(list.id);
            found != state.scheduling->end() && !found->second)
            doubts.push_back("scheduling is off, so that nothing of it is chosen");
    if (state.now)
        for (const nvdebug::EngineState &engine : *state.now)
            if (engine.runlist == list.id && engine.current && !list.torn &&
                !holds(list, *engine.current))
                doubts.push_back(fmt::format("{} has {}, which is not on it", engine.engine,
                                             name_of(*engine.current)));
    return doubts;
}

std::map<std::uint32_t, std::vector<std::string>> engines_of(const State &state) {
    std::map<std::uint32_t, std::vector<std::string>> engines;
    for (const auto &[runlist, listed] : nvdebug::engines_by_runlist(*state.engines))
        for (const nvdebug::Engine *engine : listed)
            engines[runlist].push_back(engine->name);
    return engines;
}

/** `runlist 0: TSG 10 on GR0` of each runlist with somebody active. */
std::vector<std::string> active_now(const State &state) {
    std::map<std::uint32_t, std::vector<std::string>> active;
    for (const nvdebug::EngineState &engine : *state.now)
        if (engine.runlist && engine.current)
            active[*engine.runlist].push_back(
                fmt::format("{} on {}", name_of(*engine.current), engine.engine));
    std::vector<std::string> parts;
    for (const auto &[runlist, names] : active)
        parts.push_back(fmt::format("runlist {}: {}", runlist, fmt::join(names, ", ")));
    return parts;
}

using Groups = std::vector<std::vector<std::uint32_t>>;

/** PBDMAs that serve more than one runlist (up to Pascal) feed one channel at a time. */
std::map<std::uint32_t, std::set<std::uint32_t>> shared_pbdmas(const State &state) {
    std::map<std::uint32_t, std::set<std::uint32_t>> serves;
    for (const nvdebug::Engine &engine : *state.engines)
        for (std::uint32_t pbdma : engine.pbdmas)
            if (engine.runlist)
                serves[pbdma].insert(*engine.runlist);
    std::erase_if(serves, [](const auto &entry) { return entry.second.size() < 2; });
    return serves;
}

/** Joins the groups that have a runlist of @p together. */
void join_groups(Groups &groups, const std::set<std::uint32_t> &together) {
    std::vector<std::uint32_t> joined;
    std::erase_if(groups, [&](const std::vector<std::uint32_t> &group) {
        if (std::ranges::none_of(group, [&](auto id) { return together.contains(id); }))
            return false;
        joined.insert(joined.end(), group.begin(), group.end());
        return true;
    });
    std::ranges::sort(joined);
    if (!joined.empty())
        groups.push_back(std::move(joined));
}

void say_who_shares(Finding &finding, const Facts &facts, const nvdebug::RunlistGroups &by_copies) {
    for (const auto &group : by_copies.groups)
        if (group.size() > 1) {
            finding.raise(Verdict::attention);
            finding.say(fmt::format("Runlists {} contend for physical copy engines (R8).",
                                    fold_ids(group)));
            finding.evidence.push_back(
                {file_of(facts, "copy_topology"), "PCEs of several LCEs: see R8"});
        }
    for (const auto &[pbdma, runlists] : shared_pbdmas(facts.state)) {
        std::vector<std::uint32_t> ids(runlists.begin(), runlists.end());
        finding.raise(Verdict::attention);
        finding.say(fmt::format("Runlists {} are fed by one PBDMA, number {}, a channel at a time.",
                                fold_ids(ids), pbdma));
    }
}

} // namespace

Finding lists_are_whole(const Facts &facts) {
    Finding finding{"Is every channel that may run on a runlist, and are the lists whole?",
                    "",
                    Verdict::ok,
                    {}};
    if (without_lists(finding, facts))
        return finding;
    std::size_t filled = 0, empty = 0;
    std::vector<std::string> problems;
    for (const auto &[id, list] : facts.state.runlists) {
        if (!list)
            continue;
        (list->entries > 0 ? filled : empty)++;
        std::vector<std::string> found = defects_of(*list),
                                 doubts = doubts_about(*list, facts.state);
        // A torn list mixes old and new: what is wrong with it may never have been so.
        if (!found.empty())
            finding.raise(list->torn ? Verdict::unknown : Verdict::trouble);
        if (!doubts.empty())
            finding.raise(list->torn ? Verdict::unknown : Verdict::attention);
        found.insert(found.end(), doubts.begin(), doubts.end());
        for (const std::string &problem : found)
            problems.push_back(fmt::format("runlist {}: {}", id, problem));
        if (list->entries > 0 || !found.empty())
            finding.evidence.push_back(
                {file_of(facts, runlist_file(id)),
                 fmt::format("Entries: {}, Pending: {}, Snapshot: {}", list->entries,
                             list->pending ? 1 : 0, list->torn ? "torn" : "consistent")});
    }
    finding.say(fmt::format("{} with entries, {} empty. Only listed channels are chosen; one that "
                            "is on no list is not seen here, enabled or not.",
                            count_of(filled, "runlist"), empty));
    if (!problems.empty())
        finding.say(fmt::format("Not as it should be: {}.", fmt::join(problems, "; ")));
    note_unread_lists(finding, facts);
    return finding;
}

Finding one_task_per_engine(const Facts &facts) {
    Finding finding{"How many tasks can be active at once on each runlist, and who is now?",
                    "",
                    Verdict::ok,
                    {}};
    const State &state = facts.state;
    if (!state.engines) {
        give_up(finding, state.engines.error());
        return finding;
    }
    std::vector<std::string> wide;
    for (const auto &[runlist, names] : engines_of(state))
        if (names.size() > 1)
            wide.push_back(fmt::format("{} on runlist {} ({})", names.size(), runlist,
                                       fmt::join(names, ", ")));
    finding.say(wide.empty() ? std::string("One on each.")
                             : fmt::format("Up to {}, one for each engine; one on each other "
                                           "runlist.",
                                           fmt::join(wide, ", ")));
    if (!state.now) {
        give_up(finding, state.now.error());
    } else {
        auto active = active_now(state);
        std::string who = active.empty() ? "nobody" : fmt::format("{}", fmt::join(active, "; "));
        finding.say(fmt::format("Active now: {}.", who));
        finding.evidence.push_back({file_of(facts, "engines"), "current: " + who});
        std::vector<std::string> hidden;
        for (const nvdebug::EngineState &engine : *state.now)
            if (!engine.status)
                hidden.push_back(engine.engine);
        if (!hidden.empty()) {
            finding.raise(Verdict::unknown);
            finding.say(
                fmt::format("Not public on this chip: who is on {}.", fmt::join(hidden, ", ")));
        }
    }
    if (!state.spaces) {
        give_up(finding, state.spaces.error());
        return finding;
    }
    for (const nvdebug::SharedTsg &tsg : nvdebug::shared_tsgs(*state.spaces)) {
        finding.raise(Verdict::attention);
        finding.say(fmt::format("TSG {} on runlist {} has {} (MPS): its clients run side by side "
                                "and count as one task.",
                                tsg.tsg, tsg.runlist, count_of(tsg.spaces, "address space")));
        finding.evidence.push_back(
            {file_of(facts, "contexts"), fmt::format("runlist {} tsg {}: shared yes, spaces {}",
                                                     tsg.runlist, tsg.tsg, tsg.spaces)});
    }
    return finding;
}

Finding runlists_limit_independence(const Facts &facts) {
    Finding finding{"How many tasks can run independently of each other?", "", Verdict::ok, {}};
    const State &state = facts.state;
    if (!state.engines) {
        give_up(finding, state.engines.error());
        return finding;
    }
    nvdebug::RunlistGroups by_copies =
        nvdebug::independent_runlists(*state.engines, facts.copy ? &*facts.copy : nullptr);
    Groups groups = by_copies.groups;
    for (const auto &[pbdma, runlists] : shared_pbdmas(state))
        join_groups(groups, runlists);
    std::size_t runlists = engines_of(state).size();
    finding.evidence.push_back({file_of(facts, "device_info"), count_of(runlists, "runlist")});
    finding.say(groups.size() == runlists
                    ? fmt::format("{}, as many as there are runlists.", runlists)
                    : fmt::format("{} of {}, since some runlists share hardware.", groups.size(),
                                  count_of(runlists, "runlist")));
    say_who_shares(finding, facts, by_copies);
    bool has_lces = std::ranges::any_of(
        *state.engines, [](const nvdebug::Engine &engine) { return engine.type == "LCE"; });
    if (!by_copies.copy_known && has_lces) {
        finding.raise(Verdict::unknown);
        finding.say("It may be fewer: the wiring of the copy engines is not known (R8).");
    }
    std::vector<std::string> crowded;
    for (const RunlistView &runlist : make_tree(state))
        if (auto tasks = runnable(runlist); tasks.size() > 1) {
            crowded.push_back(fmt::format("{} on runlist {}", tasks.size(), runlist.id));
            finding.evidence.push_back({file_of(facts, runlist_file(runlist.id)),
                                        count_of(tasks.size(), "TSG") + " that may run"});
        }
    if (!crowded.empty()) {
        finding.raise(Verdict::attention);
        finding.say(fmt::format("Tasks that take turns now: {}.", fmt::join(crowded, ", ")));
    }
    note_unread_lists(finding, facts);
    return finding;
}

} // namespace nvdebugctl
