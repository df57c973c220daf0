// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A sample: everything that `watch` reads of a GPU at one moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/nvdebug.hpp"
#include "state/state.hpp"
#include "state/task_owners.hpp"

namespace nvdebugctl {

struct Sample {
    std::uint64_t number; ///< from 1
    std::string time;     ///< UTC, ISO 8601 with milliseconds
    nvdebug::Result<std::vector<nvdebug::EngineState>> engines;
    std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>>
        lists; ///< as of sample lists_number, because lists are read less often
    std::uint64_t lists_number;
    std::optional<nvdebug::Error> no_lists = std::nullopt; ///< why the GPU's lists are not known
    /// The processes of tasks, also as of sample lists_number; empty: the source knows no process.
    TaskOwners owners = {};
    std::optional<nvdebug::Error> no_owners = std::nullopt; ///< why the owners could not be read
};

class Sampler {
  public:
    /// @param pace lists and owners are read in one of so many samples, beginning with the first;
    /// at least 1
    /// @param lists_shown false: lists are read only if they lead to processes
    Sampler(nvdebug::Gpu gpu, std::uint64_t pace, bool lists_shown);

    [[nodiscard]] Sample take();

  private:
    void read_lists();
    void read_owners();

    nvdebug::Gpu gpu_;
    EngineStates states_;
    std::uint64_t pace_, taken_ = 0, lists_number_ = 0;
    bool lists_shown_, has_owners_ = true; ///< false: the source knows no processes
    decltype(Sample::lists) lists_;
    TaskOwners owners_;
    std::optional<nvdebug::Error> no_lists_, no_owners_;
};

/// Returns the errors of the files that this sample could not read.
[[nodiscard]] std::vector<nvdebug::Error> errors_of(const Sample &sample);

struct ListSummary {
    std::size_t tsgs, channels, enabled, busy;
};

/// Counts what is on a list. A repeated TSG counts once.
[[nodiscard]] ListSummary summarize(const nvdebug::Runlist &list);

} // namespace nvdebugctl
