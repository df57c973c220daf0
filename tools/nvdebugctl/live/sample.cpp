// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sample.hpp"

#include <chrono>

#include "cli/text.hpp"

namespace nvdebugctl {

Sampler::Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace)
    : gpu_(std::move(gpu)), states_(gpu_), list_pace_(list_pace) {}

/// Of a capture, when that was made.
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
