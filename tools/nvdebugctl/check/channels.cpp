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

/** CUDA makes so many channels for compute in each context by default (RTAS 2024, Sec. V.B). */
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

/** `runlist 0: 31, 50` of each runlist whose set is not empty. */
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

/** Tasks of a runlist, by how many enabled channels each has. */
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
    Finding finding{"Through which channels can work reach an engine?", "", Verdict::ok, {}};
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
                                "waits until somebody enables them: {}.",
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
    Finding finding{"How many streams can a compute task use before they wait for each other?",
                    "",
                    Verdict::ok,
                    {}};
    std::map<std::size_t, std::vector<std::string>> few;
    std::size_t tasks = 0;
    if (!facts.state.engines) {
        give_up(finding, facts.state.engines.error());
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
        finding.raise(Verdict::attention);
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

} // namespace nvdebugctl
