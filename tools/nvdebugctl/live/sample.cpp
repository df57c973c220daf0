// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sample.hpp"

#include <chrono>

#include "cli/text.hpp"

namespace nvdebugctl {

Sampler::Sampler(nvdebug::Gpu gpu, std::uint64_t pace, bool lists_shown)
    : gpu_(std::move(gpu)), states_(gpu_), pace_(pace), lists_shown_(lists_shown) {}

/// Returns the time of a sample. In a capture this is the time at which the capture was made.
static std::string time_of(const nvdebug::Tree &tree) {
    const auto facts = tree.facts();
    const auto captured = facts.find("captured_at");
    return tree.source() == nvdebug::Source::file && captured != facts.end()
               ? captured->second
               : format_utc(std::chrono::system_clock::now());
}

Sample Sampler::take() {
    if (taken_++; taken_ % pace_ == 1 % pace_)
        read_owners();
    Sample sample{taken_, time_of(gpu_.tree()), states_.read(), {}, lists_number_};
    if (lists_shown_) {
        sample.lists = lists_;
        sample.no_lists = no_lists_;
    }
    sample.owners = owners_;
    sample.no_owners = no_owners_;
    return sample;
}

void Sampler::read_owners() {
    owners_ = {};
    no_owners_.reset();
    nvdebug::Result<nvdebug::Owners> owners;
    if (has_owners_)
        owners = gpu_.owners();
    has_owners_ = has_owners_ && (owners || !is_absent(owners.error()));
    if (lists_shown_ || (has_owners_ && owners))
        read_lists();
    if (!owners && has_owners_) {
        no_owners_ = owners.error();
        no_owners_->sentence =
            "which processes the tasks are is not shown: " + no_owners_->sentence;
    }
    if (has_owners_ && owners)
        for (const auto &[id, list] : lists_)
            if (list)
                owners_.add(*list, *owners);
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
    if (sample.no_owners)
        errors.push_back(*sample.no_owners);
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
