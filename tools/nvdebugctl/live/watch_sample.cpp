// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <chrono>
#include <functional>

#include "cli/text.hpp"
#include "watch.hpp"

namespace nvdebugctl {

Sampler::Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace)
    : gpu_(std::move(gpu)), states_(gpu_), list_pace_(list_pace) {}

/** Of a capture, when that was made. */
static std::string time_of(const nvdebug::Tree &tree) {
    const auto facts = tree.facts();
    const auto captured = facts.find("captured_at");
    return tree.source() == nvdebug::Source::file && captured != facts.end()
               ? captured->second
               : format_utc(std::chrono::system_clock::now());
}

Sample Sampler::take() {
    if (taken_++; list_pace_ > 0 && taken_ % list_pace_ == 1 % list_pace_)
        read_lists();
    return {taken_, time_of(gpu_.tree()), states_.read(), lists_, lists_number_, no_lists_};
}

void Sampler::read_lists() {
    lists_number_ = taken_;
    lists_.clear();
    no_lists_.reset();
    auto info = gpu_.info();
    if (!info) {
        no_lists_ = info.error();
        return;
    }
    for (std::uint32_t id : info->runlists)
        lists_.emplace(id, gpu_.runlist(id, nvdebug::Detail::brief));
}

std::vector<nvdebug::Error> errors_of(const Sample &sample) {
    std::vector<nvdebug::Error> errors;
    if (!sample.engines)
        errors.push_back(sample.engines.error());
    if (sample.no_lists)
        errors.push_back(*sample.no_lists);
    for (const auto &[id, list] : sample.lists)
        if (!list)
            errors.push_back(list.error());
    return errors;
}

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
    std::size_t told = 0, told_busy = 0, busy = 0;
    std::map<std::pair<nvdebug::Occupant::Kind, std::uint32_t>, std::size_t> count;
    const auto found = seen_.find(engine);
    if (found == seen_.end())
        return std::nullopt;
    for (const std::optional<Seen> &seen : found->second) {
        if (!seen)
            continue;
        ++told;
        if (seen->who)
            ++count[{seen->who->kind, seen->who->id}];
        told_busy += seen->busy.has_value();
        busy += seen->busy.value_or(false);
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

ListSummary summarize(const nvdebug::Runlist &list) {
    ListSummary summary{};
    summary.tsgs = nvdebug::tsgs_of(list).size();
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list)) {
        ++summary.channels;
        summary.enabled += listed.channel->enabled.value_or(false);
        summary.busy += listed.channel->busy.value_or(false);
    }
    return summary;
}

} // namespace nvdebugctl
