// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "check/rules.hpp"
#include "ids.hpp"
#include "pictures/copy_wiring.hpp"

namespace nvdebugctl {

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

/** A channel on a list that only an LCE without PCEs serves waits for ever. */
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

void say_which_cannot_copy(Finding &finding, const Facts &facts) {
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
    bool no_file = facts.copy.error().code == nvdebug::ErrorCode::unsupported;
    if (no_file && facts.state.engines && !has_lces) {
        finding.say("None: copy engines are physical ones on this chip.");
        return;
    }
    if (!no_file) {
        give_up(finding, facts.copy.error());
        return;
    }
    finding.raise(Verdict::unknown);
    finding.say("No public register of this chip tells which physical copy engines an LCE uses; "
                "take copies on different LCEs to contend.");
    if (facts.state.info)
        if (auto *feature = facts.state.info->feature("copy_topology"))
            finding.evidence.push_back(
                {file_of(facts, "info"),
                 fmt::format("feature copy_topology: no ({})", feature->reason)});
}

} // namespace

Finding runlists_serve_several_engines(const Facts &facts) {
    Finding finding{"Which engines share a runlist, so that their tasks wait for each other?",
                    "",
                    Verdict::ok,
                    {}};
    if (!facts.state.engines) {
        give_up(finding, facts.state.engines.error());
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
        finding.raise(Verdict::attention);
        finding.say(fmt::format("Tasks there, whichever of these engines they use: {}; a lock for "
                                "each engine does not keep them apart.",
                                fmt::join(crowded, ", ")));
    }
    note_unread_lists(finding, facts);
    return finding;
}

Finding engines_have_one_runlist(const Facts &facts) {
    Finding finding{"Is each engine on one runlist only?", "", Verdict::ok, {}};
    if (!facts.state.engines) {
        give_up(finding, facts.state.engines.error());
        return finding;
    }
    std::map<std::string, std::set<std::uint32_t>> runlists;
    std::vector<std::string> not_driven;
    for (const nvdebug::Engine &engine : *facts.state.engines)
        if (engine.runlist)
            runlists[engine.name].insert(*engine.runlist);
        else
            not_driven.push_back(engine.name);
    // The second source: which list the engine itself says it serves.
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
    Finding finding{"Which copy engines run on the same physical ones, though on other runlists?",
                    "",
                    Verdict::ok,
                    {}};
    if (!facts.copy) {
        explain_unknown_wiring(finding, facts);
        return finding;
    }
    std::vector<nvdebug::CopyContention> contentions = nvdebug::copy_contention(*facts.copy);
    if (contentions.empty())
        finding.say("None: no physical copy engine (PCE) works for two logical ones (LCEs).");
    for (const nvdebug::CopyContention &contention : contentions) {
        finding.raise(Verdict::attention);
        auto pces = bits_of(contention.pces);
        finding.say(fmt::format("{} contend for PCE{} {}.", fmt::join(contention.lces, ", "),
                                pces.size() == 1 ? "" : "s", fold_ids(pces)));
        finding.evidence.push_back(
            {file_of(facts, "copy_topology"),
             fmt::format("{}", fmt::join(wirings(*facts.copy, contention.lces), "; "))});
    }
    say_which_cannot_copy(finding, facts);
    return finding;
}

} // namespace nvdebugctl
