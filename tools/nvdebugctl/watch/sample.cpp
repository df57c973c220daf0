// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch/sample.hpp"

#include <chrono>

#include "utc.hpp"

namespace nvdebugctl {

Sampler::Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace)
    : gpu_(std::move(gpu)), list_pace_(list_pace) {}

Sample Sampler::take() {
    if (taken_++ % list_pace_ == 0)
        read_lists();
    return {taken_, format_utc(std::chrono::system_clock::now()), gpu_.engine_states(), lists_,
            lists_number_};
}

void Sampler::read_lists() {
    lists_number_ = taken_;
    lists_.clear();
    auto info = gpu_.info();
    if (!info)
        return;
    for (std::uint32_t id : info->runlists)
        lists_.emplace(id, gpu_.runlist(id, nvdebug::Detail::brief));
}

std::vector<nvdebug::Error> errors_of(const Sample &sample) {
    std::vector<nvdebug::Error> errors;
    if (!sample.engines)
        errors.push_back(sample.engines.error());
    for (const auto &[id, list] : sample.lists)
        if (!list)
            errors.push_back(list.error());
    return errors;
}

} // namespace nvdebugctl
