// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "check.hpp"
#include "cli/text.hpp"
#include "state/copy_wiring.hpp"

namespace nvdebugctl {

namespace {

/// The number of compute channels that CUDA makes in each context by default (RTAS 2024, Sec. V.B).
constexpr std::size_t default_compute_channels = 8;

struct Census {
    std::set<std::uint32_t> all, disabled, faulted, nonexistent;
    bool torn = false;
};

Census count_channels(const nvdebug::Runlist &list) {
    Census census{.torn = list.torn};
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list)) {
        const nvdebug::Channel &channel = *listed.channel;
        census.all.insert(channel.id);
        if (channel.error)
            census.nonexistent.insert(channel.id);
        if (channel.enabled == std::optional(false))
            census.disabled.insert(channel.id);
        if (channel.pbdma_faulted.value_or(false) || channel.engine_faulted.value_or(false))
            census.faulted.insert(channel.id);
    }
    return census;
}

std::string folded(const std::set<std::uint32_t> &ids) {
    return fold_ids(std::vector<std::uint32_t>(ids.begin(), ids.end()));
}

/// Returns `31, 50 on runlist 0` for each runlist on which the set is not empty.
std::string by_runlist(const std::map<std::uint32_t, Census> &census,
                       std::set<std::uint32_t> Census::*which) {
    std::vector<std::string> parts;
    for (const auto &[runlist, counted] : census)
        if (!(counted.*which).empty())
            parts.push_back(fmt::format("{} on runlist {}", folded(counted.*which), runlist));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::size_t total(const std::map<std::uint32_t, Census> &census,
                  std::set<std::uint32_t> Census::*which) {
    std::size_t sum = 0;
    for (const auto &[runlist, counted] : census)
        sum += (counted.*which).size();
    return sum;
}

void add_evidence(Finding &finding, const Facts &facts, std::uint32_t runlist,
                  const Census &census) {
    std::string values = count_of(census.all.size(), "channel");
    if (!census.disabled.empty())
        values += fmt::format("; Enabled is 0 of {}", folded(census.disabled));
    if (!census.faulted.empty())
        values += fmt::format("; PBDMA Faulted or ENG Faulted is 1 of {}", folded(census.faulted));
    if (!census.nonexistent.empty())
        values += fmt::format("; no such channel: {}", folded(census.nonexistent));
    finding.evidence.push_back({file_of(facts, runlist_file(runlist)), values});
}

bool all_read(const Facts &facts) {
    return std::ranges::all_of(facts.state.runlists,
                               [](const auto &entry) { return entry.second.has_value(); });
}

bool serves_graphics(const State &state, std::uint32_t runlist) {
    if (state.engines)
        for (const nvdebug::Engine &engine : *state.engines)
            if (engine.type == "GR" && engine.runlist == runlist)
                return true;
    return false;
}

std::size_t enabled_channels(const SpaceView &space) {
    std::size_t count = 0;
    for (const nvdebug::Channel *channel : space.channels)
        count += channel->enabled.value_or(false);
    return count;
}

/// Groups the tasks of a runlist by their number of enabled channels.
std::map<std::size_t, std::vector<std::string>> tasks_by_channels(const RunlistView &runlist) {
    std::map<std::size_t, std::vector<std::string>> tasks;
    for (const TsgView &tsg : runlist.tsgs)
        for (const SpaceView &space : tsg.spaces) {
            std::string name = name_of(tsg);
            if (tsg.shared.value_or(false) && !space.veids.empty())
                name += fmt::format(" VEID {}", fold_ids(space.veids));
            if (std::size_t count = enabled_channels(space))
                tasks[count].push_back(name);
        }
    return tasks;
}

std::string listed(const std::map<std::size_t, std::vector<std::string>> &tasks) {
    std::vector<std::string> parts;
    for (const auto &[count, names] : tasks)
        parts.push_back(fmt::format("{}: {}", count_of(count, "channel"), fmt::join(names, ", ")));
    return fmt::format("{}", fmt::join(parts, "; "));
}

} // namespace

Finding channels_are_the_way_in(const Facts &facts) {
    Finding finding{"Through which channels can work reach an engine?"};
    if (without_lists(finding, facts))
        return finding;
    std::map<std::uint32_t, Census> census;
    for (const auto &[id, list] : facts.state.runlists)
        if (list && !list->items.empty()) {
            census[id] = count_channels(*list);
            add_evidence(finding, facts, id, census[id]);
        }
    std::size_t all = total(census, &Census::all), disabled = total(census, &Census::disabled);
    if (all == 0)
        finding.say(all_read(facts) ? "None: no runlist holds a channel, so no work can run."
                                    : "None of the runlists that could be read holds a channel.");
    else if (disabled == 0)
        finding.say(fmt::format("{} on {}, each enabled.", count_of(all, "channel"),
                                count_of(census.size(), "runlist")));
    else {
        finding.raise(Verdict::attention);
        finding.say(fmt::format("{} of {} listed channels; the others are disabled, and their work "
                                "waits until they are enabled: {}.",
                                all - disabled, all, by_runlist(census, &Census::disabled)));
    }
    if (total(census, &Census::faulted)) {
        finding.raise(Verdict::trouble);
        finding.say(fmt::format("Faulted, so that they run no more until their driver clears that: "
                                "{}.",
                                by_runlist(census, &Census::faulted)));
    }
    if (total(census, &Census::nonexistent)) {
        bool certain = std::ranges::any_of(census, [](const auto &entry) {
            return !entry.second.torn && !entry.second.nonexistent.empty();
        });
        finding.raise(certain ? Verdict::trouble : Verdict::unknown);
        finding.say(fmt::format("Listed, but this GPU has no such channel: {}.",
                                by_runlist(census, &Census::nonexistent)));
    }
    note_unread_lists(finding, facts);
    return finding;
}

Finding channels_limit_streams(const Facts &facts) {
    Finding finding{"How many streams can a compute task use before they wait for each other?"};
    std::map<std::size_t, std::vector<std::string>> few;
    std::size_t tasks = 0;
    if (!facts.state.engines) {
        give_up(finding, facts.state.engines.error().sentence);
        return finding;
    }
    if (without_lists(finding, facts))
        return finding;
    for (const RunlistView &runlist : make_tree(facts.state)) {
        auto counted = tasks_by_channels(runlist);
        if (!serves_graphics(facts.state, runlist.id) || counted.empty())
            continue;
        for (const auto &[count, names] : counted) {
            tasks += names.size();
            if (count < default_compute_channels)
                few[count].insert(few[count].end(), names.begin(), names.end());
        }
        finding.evidence.push_back({file_of(facts, runlist_file(runlist.id)), listed(counted)});
    }
    if (tasks == 0)
        finding.say("No task has an enabled channel on a runlist with a graphics/compute engine.");
    else if (few.empty())
        finding.say(fmt::format("At least {}, CUDA's default, in each of {}.",
                                default_compute_channels, count_of(tasks, "task")));
    else {
        finding.raise(Verdict::note);
        finding.say(
            fmt::format("As many as it has enabled channels; one more, and unrelated "
                        "streams get false dependencies. Fewer than {}, CUDA's default: {}.",
                        default_compute_channels, listed(few)));
    }
    if (!facts.state.spaces && tasks != 0)
        finding.say("Clients of an MPS server are counted together, since `contexts` could not be "
                    "read.");
    note_unread_lists(finding, facts);
    return finding;
}

namespace {

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

/// Returns the defects that a list shows without comparison to other state.
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

/// Returns the reasons why Host may not be scheduling from exactly this list.
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

/// Returns `runlist 0: TSG 10 on GR0` for each runlist with an active TSG.
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

void add_sharers(Finding &finding, const Facts &facts) {
    std::vector<nvdebug::Engine> engines = *facts.state.engines;
    for (nvdebug::Engine &engine : engines)
        engine.pbdmas.clear();
    for (const auto &group :
         nvdebug::independent_runlists(engines, facts.copy ? &*facts.copy : nullptr).groups)
        if (group.size() > 1) {
            finding.raise(Verdict::note);
            finding.say(fmt::format("Runlists {} contend for physical copy engines (R8).",
                                    fold_ids(group)));
            finding.evidence.push_back(
                {file_of(facts, "copy_topology"), "PCEs of several LCEs: see R8"});
        }
    for (const nvdebug::SharedPbdma &shared : nvdebug::shared_pbdmas(*facts.state.engines)) {
        finding.raise(Verdict::note);
        finding.say(fmt::format("Runlists {} are fed by one PBDMA, number {}, a channel at a time.",
                                fold_ids(shared.runlists), shared.pbdma));
    }
}

} // namespace

Finding lists_are_whole(const Facts &facts) {
    Finding finding{"Is every channel that may run on a runlist, and are the lists whole?"};
    std::vector<nvdebug::Error> unread;
    for (const auto &[id, list] : facts.state.runlists)
        if (!list)
            unread.push_back(list.error());
    for (const std::string &sentence : sentences_of(unread))
        give_up(finding, sentence);
    if (unread.size() == facts.state.runlists.size()) {
        if (unread.empty())
            without_lists(finding, facts);
        return finding;
    }
    std::size_t filled = 0, empty = 0;
    std::vector<std::string> problems;
    for (const auto &[id, list] : facts.state.runlists) {
        if (!list)
            continue;
        (list->entries > 0 ? filled : empty)++;
        std::vector<std::string> found = defects_of(*list),
                                 doubts = doubts_about(*list, facts.state);
        // A torn list mixes old and new entries, so its defects may never have existed.
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
    return finding;
}

Finding one_task_per_engine(const Facts &facts) {
    Finding finding{"How many tasks can be active at once on each runlist, and which are now?"};
    const State &state = facts.state;
    if (!state.engines) {
        give_up(finding, state.engines.error().sentence);
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
        give_up(finding, state.now.error().sentence);
    } else {
        auto active = active_now(state);
        std::string tasks = active.empty() ? "none" : fmt::format("{}", fmt::join(active, "; "));
        finding.say(fmt::format("Active now: {}.", tasks));
        finding.evidence.push_back({file_of(facts, "engines"), "current: " + tasks});
        std::vector<std::string> hidden;
        for (const nvdebug::EngineState &engine : *state.now)
            if (!engine.status)
                hidden.push_back(engine.engine);
        if (!hidden.empty()) {
            finding.raise(Verdict::unknown);
            finding.say(
                fmt::format("The task on {} is not public on this chip.", fmt::join(hidden, ", ")));
        }
    }
    if (!state.spaces) {
        give_up(finding, state.spaces.error().sentence);
        return finding;
    }
    for (const nvdebug::SharedTsg &tsg : nvdebug::shared_tsgs(*state.spaces)) {
        finding.raise(Verdict::note);
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
    Finding finding{"How many tasks can run independently of each other?"};
    const State &state = facts.state;
    if (!state.engines) {
        give_up(finding, state.engines.error().sentence);
        return finding;
    }
    const nvdebug::RunlistGroups answer =
        nvdebug::independent_runlists(*state.engines, facts.copy ? &*facts.copy : nullptr);
    const std::size_t runlists = engines_of(state).size();
    finding.evidence.push_back({file_of(facts, "device_info"), count_of(runlists, "runlist")});
    finding.say(answer.groups.size() == runlists
                    ? fmt::format("{}, as many as there are runlists.", runlists)
                    : fmt::format("{}, though there are {}.", answer.groups.size(),
                                  count_of(runlists, "runlist")));
    if (!answer.unable.empty())
        finding.say(fmt::format("Nothing can run on runlist{} {}, whose only engines are copy "
                                "engines without a physical one (R8).",
                                answer.unable.size() == 1 ? "" : "s", fold_ids(answer.unable)));
    add_sharers(finding, facts);
    bool has_lces = std::ranges::any_of(
        *state.engines, [](const nvdebug::Engine &engine) { return engine.type == "LCE"; });
    if (!answer.copy_known && has_lces) {
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
        finding.raise(Verdict::note);
        finding.say(fmt::format("Tasks that take turns now: {}.", fmt::join(crowded, ", ")));
    }
    note_unread_lists(finding, facts);
    return finding;
}

namespace {

std::string wiring_of(const nvdebug::LogicalCopyEngine &lce) {
    std::string text = fmt::format("{}: pces {}", lce.name,
                                   lce.pces ? fmt::format("{:#x}", lce.pces) : std::string("-"));
    return lce.shares ? fmt::format("{}, shares {}", text, *lce.shares) : text;
}

std::vector<std::string> wirings(const nvdebug::CopyTopology &copy,
                                 const std::vector<std::string> &names) {
    std::vector<std::string> parts;
    for (const nvdebug::LogicalCopyEngine &lce : copy.lces)
        if (std::ranges::count(names, lce.name))
            parts.push_back(wiring_of(lce));
    return parts;
}

/// Returns whether a list has work for this LCE. If an LCE without PCEs alone serves a list, the
/// list's channels wait for ever.
bool has_work(const State &state, const nvdebug::LogicalCopyEngine &lce) {
    if (!lce.runlist)
        return false;
    auto found = state.runlists.find(*lce.runlist);
    if (found == state.runlists.end() || !found->second || found->second->torn ||
        found->second->items.empty())
        return false;
    return state.engines && std::ranges::count_if(*state.engines, [&](const auto &engine) {
                                return engine.runlist == lce.runlist;
                            }) == 1;
}

void add_engines_without_copy(Finding &finding, const Facts &facts) {
    std::vector<std::string> idle, stuck;
    for (const nvdebug::LogicalCopyEngine &lce : facts.copy->lces)
        if (nvdebug::pces_of(*facts.copy, lce) == 0)
            (has_work(facts.state, lce) ? stuck : idle).push_back(lce.name);
    if (!idle.empty())
        finding.say(
            fmt::format("Without a PCE, so unable to copy now: {}.", fmt::join(idle, ", ")));
    if (!stuck.empty()) {
        finding.raise(Verdict::trouble);
        finding.say(fmt::format("Without a PCE, though channels wait on its runlist: {}.",
                                fmt::join(stuck, ", ")));
    }
    std::vector<std::string> both = idle;
    both.insert(both.end(), stuck.begin(), stuck.end());
    if (!both.empty())
        finding.evidence.push_back(
            {file_of(facts, "copy_topology"),
             fmt::format("{}", fmt::join(wirings(*facts.copy, both), "; "))});
}

void explain_unknown_wiring(Finding &finding, const Facts &facts) {
    bool has_lces = facts.state.engines &&
                    std::ranges::any_of(*facts.state.engines, [](const nvdebug::Engine &engine) {
                        return engine.type == "LCE";
                    });
    bool no_file = is_absent(facts.copy.error());
    if (no_file && facts.state.engines && !has_lces) {
        finding.say("None: copy engines are physical ones on this chip.");
        return;
    }
    if (!no_file) {
        give_up(finding, facts.copy.error().sentence);
        return;
    }
    finding.raise(Verdict::unknown);
    finding.say("No public register of this chip shows which physical copy engines an LCE uses; "
                "take copies on different LCEs to contend.");
    if (facts.state.info)
        if (auto *feature = facts.state.info->feature("copy_topology"))
            finding.evidence.push_back(
                {file_of(facts, "info"),
                 fmt::format("feature copy_topology: no ({})", feature->reason)});
}

} // namespace

Finding runlists_serve_several_engines(const Facts &facts) {
    Finding finding{"Which engines share a runlist, so that their tasks wait for each other?"};
    if (!facts.state.engines) {
        give_up(finding, facts.state.engines.error().sentence);
        return finding;
    }
    std::vector<std::string> shared, crowded;
    for (const RunlistView &runlist : make_tree(facts.state)) {
        if (runlist.engines.size() < 2)
            continue;
        std::string names = fmt::format("{}", fmt::join(runlist.engines, ", "));
        shared.push_back(fmt::format("{} (runlist {})", names, runlist.id));
        finding.evidence.push_back(
            {file_of(facts, "device_info"), fmt::format("runlist {}: {}", runlist.id, names)});
        if (auto tasks = runnable(runlist); tasks.size() > 1)
            crowded.push_back(fmt::format("{} on runlist {}", tasks.size(), runlist.id));
    }
    if (shared.empty())
        finding.say("None: each runlist serves one engine.");
    else
        finding.say(fmt::format("{}.", fmt::join(shared, "; ")));
    if (!crowded.empty()) {
        finding.raise(Verdict::note);
        finding.say(fmt::format("Tasks there, whichever of these engines they use: {}; a lock for "
                                "each engine does not keep them apart.",
                                fmt::join(crowded, ", ")));
    }
    note_unread_lists(finding, facts);
    return finding;
}

Finding engines_have_one_runlist(const Facts &facts) {
    Finding finding{"Is each engine on one runlist only?"};
    if (!facts.state.engines) {
        give_up(finding, facts.state.engines.error().sentence);
        return finding;
    }
    std::map<std::string, std::set<std::uint32_t>> runlists;
    std::vector<std::string> not_driven;
    for (const nvdebug::Engine &engine : *facts.state.engines)
        if (engine.runlist)
            runlists[engine.name].insert(*engine.runlist);
        else
            not_driven.push_back(engine.name);
    // A second source is the runlist that each engine's own status names.
    if (facts.state.now)
        for (const nvdebug::EngineState &engine : *facts.state.now)
            if (engine.runlist)
                runlists[engine.engine].insert(*engine.runlist);
    std::vector<std::string> several;
    for (const auto &[engine, ids] : runlists)
        if (ids.size() > 1)
            several.push_back(fmt::format("{} on {}", engine, fmt::join(ids, " and ")));
    finding.evidence.push_back(
        {file_of(facts, "device_info"),
         fmt::format("{} with a runlist, {} without", count_of(runlists.size(), "engine"),
                     not_driven.size())});
    if (several.empty())
        finding.say(fmt::format("Yes, each of {}.", count_of(runlists.size(), "engine")));
    else {
        finding.raise(Verdict::trouble);
        finding.say(
            fmt::format("No: {}. The device table contradicts itself.", fmt::join(several, "; ")));
    }
    if (!not_driven.empty())
        finding.say(fmt::format("Host does not drive {}.", fmt::join(not_driven, ", ")));
    return finding;
}

Finding copy_engines_share_physical_ones(const Facts &facts) {
    Finding finding{"Which copy engines run on the same physical ones, though on other runlists?"};
    if (!facts.copy) {
        explain_unknown_wiring(finding, facts);
        return finding;
    }
    std::vector<nvdebug::CopyContention> contentions = nvdebug::copy_contention(*facts.copy);
    if (contentions.empty())
        finding.say("None: no physical copy engine (PCE) works for two logical ones (LCEs).");
    for (const nvdebug::CopyContention &contention : contentions) {
        finding.raise(Verdict::note);
        auto pces = bits_of(contention.pces);
        finding.say(fmt::format("{} contend for PCE{} {}.", fmt::join(contention.lces, ", "),
                                pces.size() == 1 ? "" : "s", fold_ids(pces)));
        finding.evidence.push_back(
            {file_of(facts, "copy_topology"),
             fmt::format("{}", fmt::join(wirings(*facts.copy, contention.lces), "; "))});
    }
    add_engines_without_copy(finding, facts);
    return finding;
}

} // namespace nvdebugctl
