// SPDX-License-Identifier: MIT OR GPL-2.0
#include "residency.hpp"

#include <algorithm>
#include <functional>

namespace nvdebugctl {

Residency::Residency(std::size_t window) : window_(window) {}

void Residency::add(const Sample &sample) {
    if (!sample.engines)
        return;
    for (const nvdebug::EngineState &engine : *sample.engines) {
        if (engine.status.value_or("unreadable") == "unreadable")
            continue;
        auto &seen = seen_[engine.engine];
        seen.resize(samples_);
        seen.push_back(Seen{engine.current, engine.busy});
    }
    const bool full = samples_ == window_;
    samples_ += !full;
    for (auto &[engine, seen] : seen_) {
        if (full)
            seen.pop_front();
        seen.resize(samples_);
    }
}

std::vector<const Residency::Seen *> Residency::history(const std::string &engine) const {
    std::vector<const Seen *> history(samples_);
    if (const auto found = seen_.find(engine); found != seen_.end())
        std::ranges::transform(found->second, history.begin(),
                               [](const auto &seen) { return seen ? &*seen : nullptr; });
    return history;
}

std::optional<EngineResidency> Residency::of(const std::string &engine) const {
    std::size_t known = 0, known_busy = 0, busy = 0;
    std::map<std::pair<nvdebug::Occupant::Kind, std::uint32_t>, std::size_t> count;
    const auto found = seen_.find(engine);
    if (found == seen_.end())
        return std::nullopt;
    for (const std::optional<Seen> &seen : found->second) {
        if (!seen)
            continue;
        ++known;
        if (seen->who)
            ++count[{seen->who->kind, seen->who->id}];
        known_busy += seen->busy.has_value();
        busy += seen->busy.value_or(false);
    }
    if (known < 2)
        return std::nullopt;
    EngineResidency result;
    for (const auto &[who, times] : count)
        result.parts.push_back(
            {{who.first, who.second}, static_cast<double>(times) / static_cast<double>(known)});
    std::ranges::stable_sort(result.parts, std::greater{}, &EngineResidency::Part::part);
    if (known_busy > 0)
        result.busy = static_cast<double>(busy) / static_cast<double>(known_busy);
    return result;
}

} // namespace nvdebugctl
