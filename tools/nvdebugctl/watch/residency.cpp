// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch/residency.hpp"

#include <algorithm>

namespace nvdebugctl {

Residency::Residency(std::size_t window) : window_(window) {}

void Residency::add(const Sample &sample) {
    if (!sample.engines)
        return;
    auto &latest = seen_.emplace_back();
    for (const nvdebug::EngineState &engine : *sample.engines)
        if (engine.status.value_or("unreadable") != "unreadable")
            latest[engine.engine] = {engine.current, engine.busy};
    if (seen_.size() > window_)
        seen_.pop_front();
}

std::optional<EngineResidency> Residency::of(const std::string &engine) const {
    std::size_t told = 0, told_busy = 0, busy = 0;
    std::map<std::pair<nvdebug::Occupant::Kind, std::uint32_t>, std::size_t> count;
    for (const auto &sample : seen_) {
        auto found = sample.find(engine);
        if (found == sample.end())
            continue;
        ++told;
        if (const auto &who = found->second.who)
            ++count[{who->kind, who->id}];
        told_busy += found->second.busy.has_value();
        busy += found->second.busy.value_or(false);
    }
    if (told < 2)
        return std::nullopt;
    EngineResidency result;
    for (const auto &[who, times] : count)
        result.parts.push_back(
            {{who.first, who.second}, static_cast<double>(times) / static_cast<double>(told)});
    std::ranges::stable_sort(result.parts, std::greater{}, &EngineResidency::Part::part);
    if (told_busy > 0)
        result.busy = static_cast<double>(busy) / static_cast<double>(told_busy);
    return result;
}

} // namespace nvdebugctl
