// SPDX-License-Identifier: MIT OR GPL-2.0
#include "check/rules.hpp"

#include <array>
#include <fmt/format.h>
#include <map>

#include "ids.hpp"

namespace nvdebugctl {

const char *name_of(Verdict verdict) {
    static constexpr const char *names[] = {"ok", "unknown", "attention", "trouble"};
    return names[static_cast<int>(verdict)];
}

Facts read_facts(const nvdebug::Gpu &gpu) {
    return {read_state(gpu), gpu.copy_topology()};
}

std::vector<nvdebug::Error> errors_of(const Facts &facts) {
    std::vector<nvdebug::Error> errors = errors_of(facts.state);
    if (!facts.copy && facts.copy.error().code != nvdebug::ErrorCode::unsupported)
        errors.push_back(facts.copy.error());
    return errors;
}

std::span<const Rule> rules() {
    static constexpr std::array<Rule, 8> table = {{
        {"R1", channels_are_the_way_in},
        {"R2", channels_limit_streams},
        {"R3", lists_are_whole},
        {"R4", one_task_per_engine},
        {"R5", runlists_limit_independence},
        {"R6", runlists_serve_several_engines},
        {"R7", engines_have_one_runlist},
        {"R8", copy_engines_share_physical_ones},
    }};
    return table;
}

std::string file_of(const Facts &facts, const std::string &name) {
    return facts.state.folder + "/" + name;
}

void give_up(Finding &finding, const nvdebug::Error &error) {
    finding.raise(Verdict::unknown);
    finding.say(fmt::format("Cannot be said: {}.", error.sentence));
}

void note_unread_lists(Finding &finding, const Facts &facts) {
    // Sentences of lists that fail alike differ in the path alone.
    std::map<std::string, std::vector<std::uint32_t>> failing;
    for (const auto &[id, list] : facts.state.runlists)
        if (!list) {
            std::string reason = list.error().sentence;
            if (const std::size_t at = reason.find(list.error().path); at != reason.npos)
                reason.erase(at, list.error().path.size());
            failing[reason].push_back(id);
        }
    for (const auto &[reason, ids] : failing) {
        finding.raise(Verdict::unknown);
        finding.say(fmt::format("Cannot be said of runlist{} {}: {}.", ids.size() > 1 ? "s" : "",
                                fold_ids(ids),
                                facts.state.runlists.at(ids.front()).error().sentence));
    }
}

bool without_lists(Finding &finding, const Facts &facts) {
    for (const auto &[id, list] : facts.state.runlists)
        if (list)
            return false;
    finding.raise(Verdict::unknown);
    if (facts.state.runlists.empty())
        finding.say("Cannot be said: no runlists are shown of this GPU.");
    note_unread_lists(finding, facts);
    return true;
}

std::vector<const TsgView *> runnable(const RunlistView &runlist) {
    std::vector<const TsgView *> tasks;
    for (const TsgView &tsg : runlist.tsgs)
        if (tsg.may_run.value_or(true))
            tasks.push_back(&tsg);
    return tasks;
}

} // namespace nvdebugctl
